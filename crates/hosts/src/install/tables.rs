//! Hooks in TOML files: a list of tables. What is foreign keeps its place, its comments and its bytes.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::{Closed, EditError, Install, Line, is_ours};

const HOOKS: &str = "hooks";

/// The file with entries of tenter.
pub(super) fn with(
    install: &Install,
    text: &str,
    host: &str,
    lines: &[Line],
) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let entries: Vec<Table> = lines.iter().map(|line| entry_of(install, line)).collect();
    let told = |table: &Table| table.iter().map(|(key, item)| format!("{key}={item}")).collect();
    let wanted: Vec<Vec<String>> = entries.iter().map(told).collect();
    let list = list_of(&mut document)?;
    let found: Vec<Vec<String>> =
        list.iter().filter(|one| is_tenter(one, host)).map(told).collect();
    if found == wanted {
        return Ok(text.to_owned());
    }
    list.retain(|one| !is_tenter(one, host));
    for entry in entries {
        list.push(entry);
    }
    Ok(document.to_string())
}

/// The file without entries of tenter.
pub(super) fn without(text: &str, host: &str) -> Result<String, EditError> {
    let mut document = parse(text)?;
    if !document.contains_key(HOOKS) {
        return Ok(text.to_owned());
    }
    let list = list_of(&mut document)?;
    let before = list.len();
    list.retain(|one| !is_tenter(one, host));
    if list.len() == before {
        return Ok(text.to_owned());
    }
    if list.is_empty() {
        document.remove(HOOKS);
    }
    Ok(document.to_string())
}

fn list_of(document: &mut DocumentMut) -> Result<&mut ArrayOfTables, EditError> {
    let item = document.entry(HOOKS).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    item.as_array_of_tables_mut().ok_or_else(|| EditError::Shape {
        place: HOOKS.into(),
        expected: "a list of tables, each under [[hooks]]",
    })
}

fn is_tenter(entry: &Table, host: &str) -> bool {
    let command = entry.get("command").and_then(Item::as_str);
    command.is_some_and(|command| is_ours(command, host))
}

fn entry_of(install: &Install, line: &Line) -> Table {
    let mut entry = Table::new();
    entry.insert("event", value(line.event));
    entry.insert("command", value(line.command.as_str()));
    if let Some(time) = line.timeout.and_then(|time| i64::try_from(time).ok()) {
        entry.insert("timeout", value(time));
    }
    if line.is_guard
        && let Closed::Text(key, word) = install.closed
    {
        entry.insert(key, value(word));
    }
    entry
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse::<DocumentMut>().map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        EditError::Unreadable {
            what: error.message().lines().next().unwrap_or_default().to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        }
    })
}
