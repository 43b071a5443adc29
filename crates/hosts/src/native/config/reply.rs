//! The fixed answer of a `reply` hook, and TOML tables as JSON objects.

use serde_json::{Map, Number, Value as Tree};
use tenter_core::json::Json;
use tenter_core::verdict::{Decision, Rewrite, Verdict};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::canonical;
use super::reader::{Item, Reader, Table, in_file_order};
use crate::native::keys::Section;

/// Reads a reply; `None` if any of it is wrong.
pub(super) fn read(reader: &mut Reader<'_>, item: &Item<'_, '_>) -> Option<Verdict> {
    let DeValue::Table(table) = item.value.get_ref() else {
        reader.wrong_type(item);
        return None;
    };
    let mark = reader.mark();
    let table = Table::new(Section::Reply, table);
    for (name, _) in table.unknown() {
        reader.unknown_key(Section::Reply, name);
    }
    let decision = reader.word(table.get("decision").as_ref(), |word| match word {
        "none" => Some(Decision::None),
        "allow" => Some(Decision::Allow),
        "ask" => Some(Decision::Ask),
        "defer" => Some(Decision::Defer),
        "deny" => Some(Decision::Deny),
        _ => None,
    });
    let mut verdict = Verdict::decide(decision.unwrap_or_default());
    verdict.halt = reader.flag(table.get("halt").as_ref()).unwrap_or(false);
    verdict.reason =
        reader.text_of(table.get("reason").as_ref()).map(|text| text.text.to_owned().into());
    if let Some(texts) = reader.texts(table.get("context").as_ref()) {
        let lines: Vec<_> = texts.iter().map(|text| text.text).collect();
        verdict = verdict.with_context(lines.join("\n"));
    }
    if let Some(text) = reader.text_of(table.get("message").as_ref()) {
        verdict = verdict.with_message(text.text);
    }
    let (patch, replace) = (table.get("patch"), table.get("replace"));
    if let (Some(patch), Some(replace)) = (&patch, &replace) {
        let at = reader.position(patch.key_span.clone());
        reader.error(
            "hook.two-rewrites",
            replace.key_span.clone(),
            format!(
                "the reply has `replace` and, in line {}, column {}, `patch`",
                at.line, at.column
            ),
            "keep one of them: `patch` changes some keys, `replace` all of them",
        );
    }
    let patch = patch.and_then(|item| object(reader, &item));
    let replace = replace.and_then(|item| object(reader, &item));
    if let Some(fields) = patch.and_then(|object| object.to_fields()) {
        verdict = verdict.with_rewrite(Rewrite::Patch(fields));
    } else if let Some(object) = replace {
        verdict = verdict.with_rewrite(Rewrite::Replace(object));
    }
    reader.errors_since(mark).next().is_none().then_some(verdict)
}

/// Reads a reply that a test file gives as JSON text.
pub(super) fn read_json(reader: &mut Reader<'_>, item: &Item<'_, '_>) -> Option<Verdict> {
    let read = reader.dialect.reply_json?;
    let text = reader.text_of(Some(item))?;
    match read(text.text) {
        Ok(verdict) => Some(verdict),
        Err(message) => {
            let help = format!("as in `{}`", item.key.example);
            reader.error("hook.bad-value", text.span, message, help);
            None
        }
    }
}

/// A table as a JSON object with its keys in the order of the file.
fn object(reader: &mut Reader<'_>, item: &Item<'_, '_>) -> Option<Json> {
    let DeValue::Table(table) = item.value.get_ref() else {
        reader.wrong_type(item);
        return None;
    };
    let tree = members(reader, table)?;
    let json = Json::from(Tree::Object(tree));
    // Whoever reads the payload gives up at a depth that TOML allows.
    if serde_json::from_str::<Tree>(json.as_text()).is_err() {
        reader.error(
            "hook.bad-value",
            item.value.span(),
            format!("`{}` nests too deep for JSON", item.key.name),
            "nest less",
        );
        return None;
    }
    Some(json)
}

fn members(reader: &mut Reader<'_>, table: &DeTable<'_>) -> Option<Map<String, Tree>> {
    let mut object = Map::with_capacity(table.len());
    for (name, value) in in_file_order(table) {
        object.insert(name.get_ref().clone().into_owned(), tree(reader, value)?);
    }
    Some(object)
}

fn tree(reader: &mut Reader<'_>, value: &Spanned<DeValue<'_>>) -> Option<Tree> {
    let number = match value.get_ref() {
        DeValue::String(text) => return Some(Tree::String(text.clone().into_owned())),
        DeValue::Boolean(flag) => return Some(Tree::Bool(*flag)),
        // JSON has no dates; a text is what programs send for them.
        DeValue::Datetime(time) => return Some(Tree::String(time.to_string())),
        DeValue::Array(items) => {
            let items: Option<Vec<_>> = items.iter().map(|item| tree(reader, item)).collect();
            return items.map(Tree::Array);
        }
        DeValue::Table(table) => return members(reader, table).map(Tree::Object),
        DeValue::Integer(number) => canonical::integer(number).and_then(Number::from_i128),
        DeValue::Float(number) => number.as_str().parse().ok().and_then(Number::from_f64),
    };
    if number.is_none() {
        reader.error(
            "hook.bad-value",
            value.span(),
            "JSON has no such number",
            "write a number of a usual size, or a text",
        );
    }
    number.map(Tree::Number)
}
