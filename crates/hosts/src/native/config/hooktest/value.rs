//! TOML values of a test file as JSON, and the files that it makes.

use serde_json::{Map, Number, Value as Tree};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::canonical;
use super::super::reader::{Item, Reader, Table, in_file_order, shown, type_name};
use super::NewFile;
use crate::native::keys::Section;

/// The longest text that a repetition makes, in bytes.
const LONGEST: usize = 64 * 1024 * 1024;

/// A value as JSON, with `{ repeat = "x", times = N }` in place of a long text.
pub(super) fn tree(reader: &mut Reader<'_>, value: &Spanned<DeValue<'_>>) -> Option<Tree> {
    match value.get_ref() {
        DeValue::Array(items) => {
            // All of it is read, so that everything that is wrong is said at once.
            let items: Vec<_> = items.iter().map(|item| tree(reader, item)).collect();
            items.into_iter().collect::<Option<_>>().map(Tree::Array)
        }
        DeValue::Table(table) if is_repetition(table) => {
            repetition(reader, table, value).map(Tree::String)
        }
        DeValue::Table(table) => {
            let mut object = Map::with_capacity(table.len());
            let mut whole = true;
            for (name, value) in in_file_order(table) {
                match tree(reader, value) {
                    Some(value) => _ = object.insert(name.get_ref().clone().into_owned(), value),
                    None => whole = false,
                }
            }
            whole.then_some(Tree::Object(object))
        }
        _ => scalar(reader, value),
    }
}

/// A value that holds no others.
pub(super) fn scalar(reader: &mut Reader<'_>, value: &Spanned<DeValue<'_>>) -> Option<Tree> {
    let number = match value.get_ref() {
        DeValue::String(text) => return Some(Tree::String(text.clone().into_owned())),
        DeValue::Boolean(flag) => return Some(Tree::Bool(*flag)),
        // JSON has no dates; a text is what programs send for them.
        DeValue::Datetime(time) => return Some(Tree::String(time.to_string())),
        DeValue::Integer(number) => canonical::integer(number).and_then(Number::from_i128),
        DeValue::Float(number) => number.as_str().parse().ok().and_then(Number::from_f64),
        DeValue::Array(_) | DeValue::Table(_) => None,
    };
    if number.is_none() {
        reader.error(
            "test.bad-value",
            value.span(),
            "JSON has no such number",
            "write a number of a usual size, or a text",
        );
    }
    number.map(Tree::Number)
}

/// Whether a table stands for a long text.
pub(super) fn is_repetition(table: &DeTable<'_>) -> bool {
    table.len() == 2 && table.contains_key("repeat") && table.contains_key("times")
}

/// The text of a repetition.
pub(super) fn repetition(
    reader: &mut Reader<'_>,
    table: &DeTable<'_>,
    value: &Spanned<DeValue<'_>>,
) -> Option<String> {
    let text = table.get("repeat").and_then(|text| text.get_ref().as_str());
    let times = table.get("times").and_then(|times| times.get_ref().as_integer());
    let times = times.and_then(canonical::integer).and_then(|times| usize::try_from(times).ok());
    let (Some(text), Some(times)) = (text, times) else {
        reader.error(
            "test.bad-value",
            value.span(),
            "a repetition is a text and a number of times",
            "as in `{ repeat = \"x\", times = 2097152 }`",
        );
        return None;
    };
    if text.len().checked_mul(times).is_none_or(|length| length > LONGEST) {
        reader.error(
            "test.bad-value",
            value.span(),
            format!("`{}` so many times is more than 64 MiB", shown(text)),
            "write a smaller number of times",
        );
        return None;
    }
    Some(text.repeat(times))
}

/// The files of `files` and `home_files`.
pub(super) fn read_files(reader: &mut Reader<'_>, item: Option<&Item<'_, '_>>) -> Vec<NewFile> {
    let Some(item) = item else { return Vec::new() };
    let DeValue::Table(table) = item.value.get_ref() else {
        reader.wrong_type(item);
        return Vec::new();
    };
    let mut files = Vec::with_capacity(table.len());
    for (name, value) in in_file_order(table) {
        let path = name.get_ref();
        if !is_inside(path) {
            reader.error(
                "test.bad-value",
                name.span(),
                format!("`{}` is no path of a file below that folder", shown(path)),
                "write a relative path without `..`, as in `src/a.txt`",
            );
        } else if let Some((content, mode)) = read_file(reader, item, value) {
            files.push(NewFile { path: path.clone().into_owned(), content, mode });
        }
    }
    files
}

/// Whether a path names something below the folder that it is relative to.
fn is_inside(path: &str) -> bool {
    let mut parts = path.split('/');
    !path.contains('\0')
        && !path.is_empty()
        && parts.all(|part| !part.is_empty() && part != "." && part != "..")
}

fn read_file(
    reader: &mut Reader<'_>,
    item: &Item<'_, '_>,
    value: &Spanned<DeValue<'_>>,
) -> Option<(String, Option<u32>)> {
    let table = match value.get_ref() {
        DeValue::String(text) => return Some((text.clone().into_owned(), None)),
        DeValue::Table(table) if is_repetition(table) => {
            return Some((repetition(reader, table, value)?, None));
        }
        DeValue::Table(table) => Table::new(Section::Content, table),
        other => {
            reader.error(
                "test.wrong-type",
                value.span(),
                format!(
                    "`{}` holds {}, and texts or tables are expected",
                    item.key.name,
                    type_name(other)
                ),
                format!("as in `{}`", item.key.example),
            );
            return None;
        }
    };
    for (name, _) in table.unknown() {
        reader.unknown_key(Section::Content, name);
    }
    let mode = table.get("mode");
    let mode = match reader.text_of(mode.as_ref()) {
        None => None,
        Some(text) => {
            let mode = u32::from_str_radix(text.text, 8).ok().filter(|mode| *mode <= 0o7777);
            if mode.is_none() {
                reader.error(
                    "test.bad-value",
                    text.span,
                    format!("`mode` cannot be `{}`", shown(text.text)),
                    "write an octal number, as in `mode = \"0755\"`",
                );
            }
            mode
        }
    };
    let Some(content) = table.get("content") else {
        reader.error(
            "test.missing",
            value.span(),
            "an entry of `files` has no `content`",
            "as in `{ content = \"text\", mode = \"0755\" }`",
        );
        return None;
    };
    let text = match content.value.get_ref() {
        DeValue::Table(table) if is_repetition(table) => repetition(reader, table, content.value)?,
        _ => reader.text_of(Some(&content))?.text.to_owned(),
    };
    Some((text, mode))
}
