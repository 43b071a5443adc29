//! Values out of TOML with everything there is to say about them: types, places, unknown keys.
//!
//! Owns the list of diagnostics and the way from bytes to lines. What the values mean is the
//! business of the modules beside it.

use std::borrow::Cow;
use std::ops::Range;

use tenter_core::diagnostic::{Diagnostic, Position, Severity};
use tenter_core::suggest::nearest;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::canonical;
use super::{Dialect, FileId};
use crate::lines::Lines;
use crate::native::keys::{Key, Section, Value, joined};

/// A text in the file, and the bytes of its value.
#[derive(Debug, Clone)]
pub(super) struct Text<'t> {
    pub(super) text: &'t str,
    pub(super) span: Range<usize>,
}

/// One key of a table and its value.
#[derive(Debug, Clone)]
pub(super) struct Item<'t, 'i> {
    pub(super) key: &'static Key,
    pub(super) key_span: Range<usize>,
    pub(super) value: &'t Spanned<DeValue<'i>>,
}

/// The keys of one section.
#[derive(Debug)]
pub(super) struct Table<'t, 'i> {
    section: Section,
    members: &'t DeTable<'i>,
    /// A key that it has besides.
    more: Option<&'static Key>,
}

impl<'t, 'i> Table<'t, 'i> {
    pub(super) fn new(section: Section, table: &'t DeTable<'i>) -> Self {
        Self { section, members: table, more: None }
    }

    /// With one more key than the section has.
    pub(super) fn with(mut self, more: Option<&'static Key>) -> Self {
        self.more = more;
        self
    }

    pub(super) fn section(&self) -> Section {
        self.section
    }

    fn key(&self, name: &str) -> Option<&'static Key> {
        self.section.key(name).or_else(|| self.more.filter(|more| more.name == name))
    }

    /// The value of a key, if the file has it.
    pub(super) fn get(&self, name: &'static str) -> Option<Item<'t, 'i>> {
        #[cfg(test)]
        asked::note(self.section, name);
        let key = self.key(name)?;
        let (found, value) = self.members.get_key_value(name)?;
        Some(Item { key, key_span: found.span(), value })
    }

    /// The keys that the section does not have, in the order of the file.
    pub(super) fn unknown(&self) -> Vec<(&'t Spanned<DeString<'i>>, &'t Spanned<DeValue<'i>>)> {
        let mut unknown: Vec<_> =
            self.members.iter().filter(|(name, _)| self.key(name.get_ref()).is_none()).collect();
        unknown.sort_by_key(|(name, _)| name.span().start);
        unknown
    }
}

/// Reads values and collects what there is to say.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    text: &'a str,
    pub(super) file: FileId<'a>,
    pub(super) dialect: Dialect,
    lines: Lines<'a>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, file: FileId<'a>, dialect: Dialect) -> Self {
        Self { text, file, dialect, lines: Lines::new(text), diagnostics: Vec::new() }
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// The place of a byte range.
    pub(super) fn position(&self, span: Range<usize>) -> Position {
        self.lines.position(self.file.name, span)
    }

    /// How many diagnostics there are: a point in time to look back to.
    pub(super) fn mark(&self) -> usize {
        self.diagnostics.len()
    }

    /// The errors since a point in time.
    pub(super) fn errors_since(&self, mark: usize) -> impl Iterator<Item = &Diagnostic> {
        let since = self.diagnostics.get(mark..).unwrap_or_default();
        since.iter().filter(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// What was said as number `at`.
    pub(super) fn said(&self, at: usize) -> Option<&Diagnostic> {
        self.diagnostics.get(at)
    }

    pub(super) fn error(
        &mut self,
        code: &'static str,
        span: Range<usize>,
        message: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) {
        self.say(Diagnostic::error(code, one_line(message)), span, help);
    }

    pub(super) fn warning(
        &mut self,
        code: &'static str,
        span: Range<usize>,
        message: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) {
        self.say(Diagnostic::warning(code, one_line(message)), span, help);
    }

    fn say(&mut self, what: Diagnostic, span: Range<usize>, help: impl Into<Cow<'static, str>>) {
        let position = self.position(span);
        self.diagnostics.push(what.help(one_line(help)).at(position));
    }

    /// Everything that was said, in the order of the file.
    pub(super) fn finish(self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics;
        diagnostics.sort_by_key(|diagnostic| diagnostic.position.as_ref().map(|at| at.span.start));
        diagnostics
    }

    /// A key that the section does not have; gives the key that was probably meant.
    pub(super) fn unknown_key(
        &mut self,
        section: Section,
        name: &Spanned<DeString<'_>>,
    ) -> Option<&'static str> {
        let word = name.get_ref();
        let meant = nearest(word, section.keys().map(|key| key.name));
        let help = match (foreign_key(section, word), meant) {
            (Some(help), _) => Cow::Borrowed(help),
            (None, Some(meant)) => format!("did you mean `{meant}`?").into(),
            (None, None) => {
                let known: Vec<_> = section.keys().map(|key| key.name).collect();
                format!("{} knows {}", section.as_str(), joined(&known, "and")).into()
            }
        };
        let place = match section {
            Section::File => String::new(),
            other => format!(" in {}", other.as_str()),
        };
        self.error(
            unknown_code(section),
            name.span(),
            format!("unknown key `{}`{place}", shown(word)),
            help,
        );
        meant
    }

    /// A value of another type than its key has.
    pub(super) fn wrong_type(&mut self, item: &Item<'_, '_>) {
        let Item { key, value, .. } = item;
        self.error(
            type_code(key.section),
            value.span(),
            format!(
                "`{}` is {}, and {} is expected",
                key.name,
                type_name(value.get_ref()),
                key.value.expected()
            ),
            format!("as in `{}`", key.example),
        );
    }

    pub(super) fn flag(&mut self, item: Option<&Item<'_, '_>>) -> Option<bool> {
        let item = item?;
        let flag = item.value.get_ref().as_bool();
        if flag.is_none() {
            self.wrong_type(item);
        }
        flag
    }

    /// A whole number, however it is written.
    pub(super) fn integer(&mut self, item: &Item<'_, '_>) -> Option<i128> {
        let number = item.value.get_ref().as_integer();
        if number.is_none() {
            self.wrong_type(item);
        }
        // What does not fit is larger than anything that is known.
        number.map(|number| canonical::integer(number).unwrap_or(i128::MAX))
    }

    pub(super) fn text_of<'t>(&mut self, item: Option<&Item<'t, '_>>) -> Option<Text<'t>> {
        let item = item?;
        let text = text_in(item.value);
        if text.is_none() {
            self.wrong_type(item);
        }
        text
    }

    /// One text, or a list of texts; `None` if any of them is something else.
    pub(super) fn texts<'t>(&mut self, item: Option<&Item<'t, '_>>) -> Option<Vec<Text<'t>>> {
        let item = item?;
        if let Some(text) = text_in(item.value) {
            return Some(vec![text]);
        }
        self.list(Some(item))
    }

    /// A list of texts; `None` if it is no list or any of it is something else.
    pub(super) fn list<'t>(&mut self, item: Option<&Item<'t, '_>>) -> Option<Vec<Text<'t>>> {
        let item = item?;
        let (texts, all) = self.readable_list(item)?;
        all.then_some(texts)
    }

    /// The texts of a list, and whether it holds nothing else; `None` if it is no list.
    pub(super) fn readable_list<'t>(
        &mut self,
        item: &Item<'t, '_>,
    ) -> Option<(Vec<Text<'t>>, bool)> {
        let DeValue::Array(values) = item.value.get_ref() else {
            self.wrong_type(item);
            return None;
        };
        let mut texts = Vec::with_capacity(values.len());
        for value in values {
            match text_in(value) {
                Some(text) => texts.push(text),
                None => self.error(
                    type_code(item.key.section),
                    value.span(),
                    format!(
                        "`{}` holds {}, and texts are expected",
                        item.key.name,
                        type_name(value.get_ref())
                    ),
                    format!("as in `{}`", item.key.example),
                ),
            }
        }
        let all = texts.len() == values.len();
        Some((texts, all))
    }

    /// One of the words of a key.
    pub(super) fn word<T>(
        &mut self,
        item: Option<&Item<'_, '_>>,
        meaning: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let item = item?;
        let text = self.text_of(Some(item))?;
        let found = meaning(text.text);
        if found.is_none() {
            let words = match item.key.value {
                Value::Word(words) => words,
                _ => &[],
            };
            let meant = foreign_word(text.text).filter(|word| words.contains(word));
            let help = match meant.or_else(|| nearest(text.text, words.iter().copied())) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("write {}", item.key.value.expected()),
            };
            self.error(
                value_code(item.key.section),
                text.span,
                format!("`{}` cannot be `{}`", item.key.name, shown(text.text)),
                help,
            );
        }
        found
    }

    /// The texts of a table.
    pub(super) fn text_table<'t>(
        &mut self,
        item: Option<&Item<'t, '_>>,
    ) -> Option<Vec<(Text<'t>, Text<'t>)>> {
        let item = item?;
        let DeValue::Table(table) = item.value.get_ref() else {
            self.wrong_type(item);
            return None;
        };
        let mut pairs = Vec::with_capacity(table.len());
        for (name, value) in in_file_order(table) {
            match text_in(value) {
                Some(text) => pairs.push((Text { text: name.get_ref(), span: name.span() }, text)),
                None => self.error(
                    type_code(item.key.section),
                    value.span(),
                    format!(
                        "`{}` in `{}` is {}, and a text is expected",
                        shown(name.get_ref()),
                        item.key.name,
                        type_name(value.get_ref())
                    ),
                    format!("as in `{}`", item.key.example),
                ),
            }
        }
        Some(pairs)
    }

    /// The bytes of the file that a part of a text stands at. A text with escapes is meant whole.
    pub(super) fn inside(&self, text: &Text<'_>, part: Option<Range<usize>>) -> Range<usize> {
        let whole = text.span.clone();
        let (Some(part), Some(raw)) = (part, self.text.get(whole.clone())) else { return whole };
        for quote in ["\"\"\"", "'''", "\"", "'"] {
            let inner = raw.strip_prefix(quote).and_then(|raw| raw.strip_suffix(quote));
            if inner == Some(text.text) {
                let start = whole.start + quote.len();
                return start + part.start..start + part.end;
            }
        }
        whole
    }
}

/// The members of a table in the order of the file, which is not the order of the parser.
pub(super) fn in_file_order<'t, 'i>(
    table: &'t DeTable<'i>,
) -> Vec<(&'t Spanned<DeString<'i>>, &'t Spanned<DeValue<'i>>)> {
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(name, _)| name.span().start);
    members
}

pub(super) fn text_in<'t>(value: &'t Spanned<DeValue<'_>>) -> Option<Text<'t>> {
    value.get_ref().as_str().map(|text| Text { text, span: value.span() })
}

/// A value's type as one would say it.
pub(super) const fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(true) => "`true`",
        DeValue::Boolean(false) => "`false`",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// A text of the file in a message: one line, and not all of it if it is long.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut out: String = text.chars().take(LONGEST).collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    one_line(out).into_owned()
}

/// A text that may hold parts of the file, without the characters that steer a terminal.
fn one_line(text: impl Into<Cow<'static, str>>) -> Cow<'static, str> {
    let text = text.into();
    if text.chars().any(char::is_control) {
        text.chars()
            .map(|character| if character.is_control() { '\u{fffd}' } else { character })
            .collect()
    } else {
        text
    }
}

const fn unknown_code(section: Section) -> &'static str {
    match section {
        Section::Hook | Section::Reply => "hook.unknown-key",
        Section::File | Section::Permissions | Section::Rule | Section::Policy | Section::Env => {
            "config.unknown-key"
        }
        Section::TestFile | Section::Case | Section::Step | Section::After | Section::Content => {
            "test.unknown-key"
        }
    }
}

const fn type_code(section: Section) -> &'static str {
    match section {
        Section::Hook | Section::Reply => "hook.wrong-type",
        Section::File | Section::Permissions | Section::Rule | Section::Policy | Section::Env => {
            "config.wrong-type"
        }
        Section::TestFile | Section::Case | Section::Step | Section::After | Section::Content => {
            "test.wrong-type"
        }
    }
}

pub(super) const fn value_code(section: Section) -> &'static str {
    match section {
        Section::Hook | Section::Reply => "hook.bad-value",
        Section::File | Section::Permissions | Section::Rule | Section::Policy | Section::Env => {
            "config.bad-value"
        }
        Section::TestFile | Section::Case | Section::Step | Section::After | Section::Content => {
            "test.bad-value"
        }
    }
}

/// What to write instead of a key that is right in some other product.
fn foreign_key(section: Section, word: &str) -> Option<&'static str> {
    if section != Section::Hook {
        return home_of(section, word);
    }
    Some(match word {
        "args" | "arguments" => {
            "write the program and its arguments as one list, `command = [\"prog\", \"arg\"]`"
        }
        "type" | "kind" | "handler" => "leave it out: `command` or `reply` says how the hook runs",
        "async" | "background" => "write `detach = true`",
        "tool" | "tools" | "tool_name" | "pattern" => "write `matcher`",
        "when" | "condition" => "write `if`",
        "hooks" => "write `command` or `reply` in the entry itself, one entry a hook",
        "disabled" => "write `enabled = false`",
        "description" | "comment" => "write a comment: `# …`",
        _ => return None,
    })
}

/// Where a key belongs that stands outside its section, which TOML makes easy.
fn home_of(section: Section, word: &str) -> Option<&'static str> {
    let is_key = |home: Section| home != section && home.key(word).is_some();
    if Section::TEST.contains(&section) {
        return home_in_test(section, word);
    }
    if section == Section::Reply && is_key(Section::Hook) {
        Some("it is a key of the hook: write it beside `reply`")
    } else if is_key(Section::Hook) {
        Some("it belongs to a hook: write `[[hook]]` on a line above it")
    } else if is_key(Section::Permissions) {
        Some("write `[permissions]` on a line above it")
    } else if is_key(Section::Policy) {
        Some("write `[policy]` on a line above it")
    } else if is_key(Section::Env) {
        Some("write `[env]` on a line above it")
    } else {
        None
    }
}

/// Where a key of a test file belongs.
fn home_in_test(section: Section, word: &str) -> Option<&'static str> {
    let is_key = |home: Section| home != section && home.key(word).is_some();
    match section {
        Section::TestFile if is_key(Section::Case) => {
            Some("it belongs to a case: write `[[case]]` on a line above it")
        }
        Section::TestFile if is_key(Section::Hook) => {
            Some("it belongs to a hook: write `[[hook]]` on a line above it")
        }
        Section::Step if is_key(Section::Case) => {
            Some("it belongs to the case: write it above the first `[[case.step]]`")
        }
        Section::Case if is_key(Section::TestFile) => {
            Some("it holds for the whole file: write it above the first `[[case]]`")
        }
        Section::Case if is_key(Section::Hook) => {
            Some("it belongs to a hook: write `[[case.hook]]` on a line above it")
        }
        _ => None,
    }
}

/// What a word of another product is called here, where a key knows it.
fn foreign_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "block" | "reject" => "deny",
        "deny" | "fail" | "closed" | "error" => "block",
        "approve" | "ok" | "proceed" | "open" | "ignore" | "warn" | "continue" => "allow",
        "prompt" | "confirm" => "ask",
        "sequential" | "serial" => "sequence",
        _ => return None,
    })
}

/// In tests: the keys that the reader asked for.
#[cfg(test)]
pub(super) mod asked {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use super::Section;

    thread_local! {
        static ASKED: RefCell<BTreeSet<(Section, &'static str)>> = const { RefCell::new(BTreeSet::new()) };
    }

    pub(super) fn note(section: Section, name: &'static str) {
        ASKED.with_borrow_mut(|asked| asked.insert((section, name)));
    }

    pub(in crate::native::config) fn take() -> BTreeSet<(Section, &'static str)> {
        ASKED.take()
    }
}
