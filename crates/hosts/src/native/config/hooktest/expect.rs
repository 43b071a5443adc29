//! What is expected of an outcome: a partial match on its JSON.
//!
//! Objects match by the keys that are given, lists element by element and in length. A table of
//! `contains`, `matches`, `one_of` or `null` alone stands for a value, unless the value is an object.

use std::fmt::Write as _;

use regex::Regex;
use serde_json::{Number, Value as Tree};
use tenter_core::suggest::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::reader::{Item, Reader, in_file_order, type_name};
use super::value;

/// How much of a value is shown.
const MOST_SHOWN: usize = 300;
/// How much is shown before the place where two long texts differ.
const BEFORE: usize = 40;

/// What is expected of an outcome.
#[derive(Debug, Clone, Default)]
pub struct Expect {
    keys: Vec<(String, Pattern)>,
    absent: Vec<String>,
}

/// What one value is to be.
#[derive(Debug, Clone)]
enum Pattern {
    Scalar(Tree),
    List(Vec<Pattern>),
    Table {
        keys: Vec<(String, Pattern)>,
        /// What the table stands for where the value is no object; empty if it stands for itself.
        matchers: Vec<Matcher>,
    },
}

/// What stands for a value.
#[derive(Debug, Clone)]
enum Matcher {
    Contains(Box<Pattern>),
    Matches(Regex),
    OneOf(Vec<Pattern>),
    Null,
    Text(String),
}

/// A place where an outcome is not what is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The way to the value, such as `hooks.0.status`; empty for the whole.
    pub path: String,
    /// What is expected there.
    pub expected: String,
    /// What is there.
    pub actual: String,
}

impl Expect {
    /// Reads an `expect`; `None` if any of it is wrong.
    pub(super) fn read(reader: &mut Reader<'_>, item: &Item<'_, '_>) -> Option<Self> {
        let DeValue::Table(table) = item.value.get_ref() else {
            reader.wrong_type(item);
            return None;
        };
        let mark = reader.mark();
        let mut expect = Self::default();
        for (name, value) in in_file_order(table) {
            if name.get_ref() == "absent" {
                expect.absent = read_absent(reader, value);
            } else if let Some(pattern) = pattern(reader, value) {
                expect.keys.push((name.get_ref().clone().into_owned(), pattern));
            }
        }
        reader.errors_since(mark).next().is_none().then_some(expect)
    }

    /// Every place where a value is not what is expected; empty if it matches.
    pub fn mismatches(&self, actual: &Tree) -> Vec<Mismatch> {
        let mut found = Vec::new();
        compare_keys(&self.keys, actual, "", &mut found);
        for path in &self.absent {
            let parts: Vec<_> = path.split('.').collect();
            if let Some(value) = find(actual, &parts) {
                found.push(Mismatch {
                    path: path.clone(),
                    expected: "nothing there".into(),
                    actual: shown(value),
                });
            }
        }
        found
    }
}

fn read_absent(reader: &mut Reader<'_>, value: &Spanned<DeValue<'_>>) -> Vec<String> {
    let paths = match value.get_ref() {
        DeValue::Array(items) => {
            items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
        }
        _ => None,
    };
    let paths: Option<Vec<String>> = paths;
    let paths = paths.filter(|paths| paths.iter().all(|path| !path.is_empty()));
    paths.unwrap_or_else(|| {
        reader.error(
            "test.wrong-type",
            value.span(),
            "`absent` is a list of paths that must not exist",
            "as in `absent = [\"payload.mark\", \"hooks.0.skip\"]`",
        );
        Vec::new()
    })
}

fn pattern(reader: &mut Reader<'_>, value: &Spanned<DeValue<'_>>) -> Option<Pattern> {
    match value.get_ref() {
        DeValue::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| pattern(reader, item)).collect();
            items.into_iter().collect::<Option<_>>().map(Pattern::List)
        }
        DeValue::Table(table) => table_pattern(reader, table, value),
        _ => value::scalar(reader, value).map(Pattern::Scalar),
    }
}

fn table_pattern(
    reader: &mut Reader<'_>,
    table: &DeTable<'_>,
    value: &Spanned<DeValue<'_>>,
) -> Option<Pattern> {
    let mut keys = Vec::with_capacity(table.len());
    let mut whole = true;
    for (name, value) in in_file_order(table) {
        match pattern(reader, value) {
            Some(pattern) => keys.push((name.get_ref().clone().into_owned(), pattern)),
            None => whole = false,
        }
    }
    if !whole {
        return None;
    }
    let matchers = if value::is_repetition(table) {
        vec![Matcher::Text(value::repetition(reader, table, value)?)]
    } else if is_matcher(table) {
        let mut matchers = Vec::with_capacity(keys.len());
        for ((name, value), (_, pattern)) in in_file_order(table).into_iter().zip(&keys) {
            matchers.push(matcher(reader, name.get_ref(), value, pattern)?);
        }
        matchers
    } else {
        Vec::new()
    };
    Some(Pattern::Table { keys, matchers })
}

fn is_matcher(table: &DeTable<'_>) -> bool {
    let is_null = table.len() == 1
        && table.get("null").is_some_and(|null| null.get_ref().as_bool() == Some(true));
    let mut names = table.iter().map(|(name, _)| name.get_ref());
    is_null
        || (!table.is_empty()
            && names.all(|name| matches!(&**name, "contains" | "matches" | "one_of")))
}

fn matcher(
    reader: &mut Reader<'_>,
    name: &str,
    value: &Spanned<DeValue<'_>>,
    pattern: &Pattern,
) -> Option<Matcher> {
    match (name, value.get_ref(), pattern) {
        ("null", ..) => return Some(Matcher::Null),
        ("contains", ..) => return Some(Matcher::Contains(Box::new(pattern.clone()))),
        ("one_of", _, Pattern::List(items)) => return Some(Matcher::OneOf(items.clone())),
        ("matches", DeValue::String(text), _) => match Regex::new(text) {
            Ok(regex) => return Some(Matcher::Matches(regex)),
            Err(error) => {
                let error = error.to_string();
                let what = error.lines().last().unwrap_or_default();
                let what = what.trim_start_matches("error: ").to_owned();
                reader.error(
                    "test.bad-regex",
                    value.span(),
                    format!("this is no regex: {what}"),
                    "write a single-quoted text, and `\\` before a character that is meant as such",
                );
            }
        },
        _ => {
            let expected = if name == "one_of" { "a list of values" } else { "a regex in a text" };
            reader.error(
                "test.wrong-type",
                value.span(),
                format!("`{name}` is {}, and {expected} is expected", type_name(value.get_ref())),
                "as in `{ one_of = [\"ask\", \"deny\"] }` or `{ matches = '^exit \\d' }`",
            );
        }
    }
    None
}

fn below(path: &str, part: impl std::fmt::Display) -> String {
    if path.is_empty() { part.to_string() } else { format!("{path}.{part}") }
}

fn compare_keys(keys: &[(String, Pattern)], actual: &Tree, path: &str, found: &mut Vec<Mismatch>) {
    for (key, pattern) in keys {
        let path = below(path, key);
        match actual.get(key) {
            Some(value) => compare(pattern, value, &path, found),
            None => found.push(Mismatch {
                path,
                expected: pattern.shown(),
                actual: no_such_key(key, actual),
            }),
        }
    }
}

fn no_such_key(key: &str, actual: &Tree) -> String {
    let keys = actual.as_object().into_iter().flat_map(|object| object.keys());
    match nearest(key, keys.map(String::as_str)) {
        Some(meant) => format!("no such key; there is `{meant}`"),
        None => "no such key".into(),
    }
}

fn compare(pattern: &Pattern, actual: &Tree, path: &str, found: &mut Vec<Mismatch>) {
    match (pattern, actual) {
        (Pattern::Table { keys, .. }, Tree::Object(_)) => compare_keys(keys, actual, path, found),
        (Pattern::List(patterns), Tree::Array(values)) => {
            if patterns.len() != values.len() {
                found.push(Mismatch {
                    path: path.to_owned(),
                    expected: elements(patterns.len()),
                    actual: format!("{}: {}", elements(values.len()), shown_list(values)),
                });
            }
            for (at, (pattern, value)) in patterns.iter().zip(values).enumerate() {
                compare(pattern, value, &below(path, at), found);
            }
        }
        _ if pattern.holds(actual) => {}
        (Pattern::Scalar(Tree::String(expected)), Tree::String(actual)) => {
            let (expected, actual) = where_they_differ(expected, actual);
            found.push(Mismatch { path: path.to_owned(), expected, actual });
        }
        _ => found.push(Mismatch {
            path: path.to_owned(),
            expected: pattern.shown(),
            actual: shown(actual),
        }),
    }
}

fn elements(count: usize) -> String {
    if count == 1 { "1 element".into() } else { format!("{count} elements") }
}

/// A list for a report. Of what has a name, such as hooks, the name and what became of it are enough.
fn shown_list(values: &[Tree]) -> String {
    let named = |value: &Tree| {
        let name = value.get("name")?.as_str()?;
        let status = value.get("skip").or_else(|| value.get("status")).and_then(Tree::as_str);
        Some(status.map_or_else(|| name.to_owned(), |status| format!("{name} ({status})")))
    };
    match values.iter().map(named).collect::<Option<Vec<_>>>() {
        Some(known) => cut(&known.join(", ")),
        None => cut(&Tree::Array(values.to_vec()).to_string()),
    }
}

impl Pattern {
    /// Whether a value is what is expected.
    fn holds(&self, actual: &Tree) -> bool {
        match (self, actual) {
            (Self::Scalar(Tree::Number(expected)), Tree::Number(actual)) => {
                same_number(expected, actual)
            }
            (Self::Scalar(expected), actual) => expected == actual,
            (Self::Table { matchers, .. }, value) if !value.is_object() => {
                !matchers.is_empty() && matchers.iter().all(|matcher| matcher.holds(value))
            }
            _ => {
                let mut found = Vec::new();
                match (self, actual) {
                    (Self::Table { .. }, Tree::Object(_)) | (Self::List(_), Tree::Array(_)) => {
                        compare(self, actual, "", &mut found);
                        found.is_empty()
                    }
                    _ => false,
                }
            }
        }
    }

    /// As it stands in a report.
    fn shown(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        cut(&out)
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Scalar(value) => out.push_str(&value.to_string()),
            Self::List(items) => write_list(items, out),
            Self::Table { keys, matchers } if matchers.is_empty() => {
                out.push('{');
                for (at, (key, pattern)) in keys.iter().enumerate() {
                    let comma = if at > 0 { "," } else { "" };
                    // Writing to a `String` does not fail.
                    let _ = write!(out, "{comma}{}:", Tree::from(key.as_str()));
                    pattern.write(out);
                }
                out.push('}');
            }
            Self::Table { matchers, .. } => {
                for (at, matcher) in matchers.iter().enumerate() {
                    out.push_str(if at > 0 { " and " } else { "" });
                    matcher.write(out);
                }
            }
        }
    }
}

fn write_list(items: &[Pattern], out: &mut String) {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        item.write(out);
    }
    out.push(']');
}

impl Matcher {
    fn holds(&self, actual: &Tree) -> bool {
        match (self, actual) {
            (Self::Null, value) => value.is_null(),
            (Self::Text(expected), Tree::String(actual)) => expected == actual,
            (Self::Matches(regex), Tree::String(actual)) => regex.is_match(actual),
            (Self::OneOf(patterns), value) => patterns.iter().any(|pattern| pattern.holds(value)),
            (Self::Contains(pattern), Tree::Array(values)) => {
                values.iter().any(|value| pattern.holds(value))
            }
            (Self::Contains(pattern), Tree::String(actual)) => match &**pattern {
                Pattern::Scalar(Tree::String(part)) => actual.contains(part.as_str()),
                Pattern::Table { matchers, .. } => match matchers.as_slice() {
                    [Self::Text(part)] => actual.contains(part.as_str()),
                    _ => false,
                },
                _ => false,
            },
            (Self::Text(_) | Self::Matches(_) | Self::Contains(_), _) => false,
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Text(text) => out.push_str(&shown_text(text)),
            Self::Matches(regex) => {
                // Writing to a `String` does not fail.
                let _ = write!(out, "matches /{regex}/");
            }
            Self::OneOf(patterns) => {
                out.push_str("one of ");
                write_list(patterns, out);
            }
            Self::Contains(pattern) => {
                out.push_str("contains ");
                pattern.write(out);
            }
        }
    }
}

/// Whether two numbers are the same, however they are written.
fn same_number(a: &Number, b: &Number) -> bool {
    match (a.as_i128(), b.as_i128()) {
        (Some(a), Some(b)) => a == b,
        _ => a.as_f64() == b.as_f64(),
    }
}

/// The value at a path. A key may hold dots itself.
fn find<'v>(value: &'v Tree, path: &[&str]) -> Option<&'v Tree> {
    let Some((first, rest)) = path.split_first() else { return Some(value) };
    match value {
        Tree::Array(items) => find(items.get(first.parse::<usize>().ok()?)?, rest),
        Tree::Object(object) => (1..=path.len()).find_map(|taken| {
            let (key, rest) = path.split_at_checked(taken)?;
            find(object.get(&key.join("."))?, rest)
        }),
        _ => None,
    }
}

/// A value on one line, not all of it if it is long.
fn shown(value: &Tree) -> String {
    match value {
        Tree::String(text) => shown_text(text),
        value => cut(&value.to_string()),
    }
}

/// A text in quotes; of a long one its beginning and its length.
fn shown_text(text: &str) -> String {
    let mut rest = text.char_indices().skip(MOST_SHOWN);
    match rest.next() {
        None => Tree::from(text).to_string(),
        Some((at, _)) => {
            let start = text.get(..at).unwrap_or_default();
            format!("{}… ({} bytes)", Tree::from(start), text.len())
        }
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
    }
}

/// Two texts for a report; of long ones the part where they begin to differ.
fn where_they_differ(expected: &str, actual: &str) -> (String, String) {
    let is_long = |text: &str| text.chars().nth(MOST_SHOWN).is_some();
    if !is_long(expected) && !is_long(actual) {
        return (shown_text(expected), shown_text(actual));
    }
    let same = expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count();
    let part = |text: &str| {
        let skipped = same.saturating_sub(BEFORE);
        let part: String = text.chars().skip(skipped).take(2 * BEFORE).collect();
        format!("{} (from character {}, of {} bytes)", Tree::from(part), skipped + 1, text.len())
    };
    (part(expected), part(actual))
}
