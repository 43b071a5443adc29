//! One rule in the file: a text, or a table with the rule and examples that it is tried on.
//!
//! Owns: both forms. Does not own: the grammar of rules (`tenter_core::rules`), who tries examples.

use tenter_core::rules::{Example, Rule};
use toml::Spanned;
use toml::de::DeValue;

use super::reader::{Reader, Table, Text, text_in};
use crate::native::keys::Section;

/// What stands where a rule is expected.
#[derive(Debug)]
pub(super) struct Read<'t> {
    /// The rule, if its text is one.
    pub(super) rule: Option<Rule>,
    /// Its text, if there is one.
    pub(super) text: Option<Text<'t>>,
    /// Whether nothing is wrong with it.
    pub(super) sound: bool,
}

/// Reads a rule; `None` for a value that is neither a text nor a table. `code` is that of a text that
/// is no rule.
pub(super) fn read<'t>(
    reader: &mut Reader<'_>,
    value: &'t Spanned<DeValue<'_>>,
    code: &'static str,
) -> Option<Read<'t>> {
    let at = reader.mark();
    let (text, examples) = match value.get_ref() {
        DeValue::Table(table) => {
            let table = Table::new(Section::Rule, table);
            for (name, _) in table.unknown() {
                reader.unknown_key(Section::Rule, name);
            }
            let item = table.get("rule");
            if item.is_none() {
                reader.error(
                    code,
                    value.span(),
                    "the table has no `rule`",
                    "as in `{ rule = \"Bash(git push *)\", match = [\"git push origin\"] }`",
                );
            }
            let text = reader.text_of(item.as_ref());
            let mut examples = Vec::new();
            for (name, matches) in [("match", true), ("not_match", false)] {
                let item = table.get(name);
                for example in reader.texts(item.as_ref()).unwrap_or_default() {
                    examples.push(Example {
                        text: example.text.into(),
                        matches,
                        position: Some(reader.position(example.span)),
                    });
                }
            }
            (text, examples)
        }
        _ => (Some(text_in(value)?), Vec::new()),
    };
    let rule = text.as_ref().and_then(|text| match Rule::parse(text.text) {
        Ok(rule) if examples.is_empty() => Some(rule),
        Ok(rule) => Some(rule.with_examples(examples)),
        Err(error) => {
            let span = reader.inside(text, Some(error.span));
            reader.error(code, span, error.message, error.help);
            None
        }
    });
    let sound = reader.errors_since(at).next().is_none();
    Some(Read { rule, text, sound })
}
