//! Hooks in a YAML file: below `hooks`, a list of entries for each event. Lines are put in and taken
//! out; all others stay as they are, byte for byte.
//!
//! A mapping in one line, in braces, is not edited: who writes that way is told what to add.

use super::{EditError, Line, is_ours};

const HOOKS: &str = "hooks";

/// The file with entries of tenter.
pub(super) fn with(text: &str, host: &str, lines: &[Line]) -> Result<String, EditError> {
    let mut rows = rows_of(&without(text, host)?);
    let at = match section(&rows)? {
        Section::Missing => {
            rows.push(format!("{HOOKS}:"));
            rows.len()
        }
        Section::Empty(at) => {
            if let Some(row) = rows.get_mut(at) {
                *row = format!("{HOOKS}:");
            }
            at + 1
        }
        Section::Block(at) => at + 1,
    };
    let indent = child_indent(&rows, at).unwrap_or(2);
    let pad = " ".repeat(indent);
    for line in lines.iter().rev() {
        let entry = [
            format!("{pad}  - command: {}", quoted(&line.command)),
            line.timeout.map_or_else(String::new, |time| format!("{pad}    timeout: {time}")),
        ];
        let entry = entry.into_iter().filter(|row| !row.is_empty());
        if let Some(row) = event_row(&rows, at, indent, line.event) {
            if rows.get(row).is_none_or(|own| !own.trim_end().ends_with(':')) {
                return Err(EditError::Shape {
                    place: format!("{HOOKS}.{}", line.event),
                    expected: "a list with a line for each entry",
                });
            }
            // Entries of one list have one indent.
            let first = rows.get(row + 1).filter(|next| next.trim_start().starts_with("- "));
            let shift = " ".repeat(first.map_or(indent + 2, |next| indent_of(next)));
            let entry = entry.map(|row| format!("{shift}{}", row.get(indent + 2..).unwrap_or("")));
            let below = rows.split_off(row + 1);
            rows.extend(entry.chain(below));
        } else {
            let below = rows.split_off(at);
            rows.push(format!("{pad}{}:", line.event));
            rows.extend(entry.chain(below));
        }
    }
    let result = joined(&rows);
    // The order in which lines are put in is no change.
    let is_same = sorted(&result) == sorted(text);
    Ok(if is_same { text.to_owned() } else { result })
}

/// The file without entries of tenter.
pub(super) fn without(text: &str, host: &str) -> Result<String, EditError> {
    let mut rows = rows_of(text);
    let Section::Block(hooks) = section(&rows)? else { return Ok(text.to_owned()) };
    let mut removed = false;
    let mut at = hooks + 1;
    while let Some(row) = rows.get(at) {
        let is_entry = row.trim_start().starts_with("- command:") && is_ours(row, host);
        if indent_of(row) == 0 && is_content(row) {
            break;
        }
        if !is_entry {
            at += 1;
            continue;
        }
        let indent = indent_of(row);
        let rest = rows.get(at + 1..).unwrap_or_default();
        let more = rest.iter().take_while(|row| is_content(row) && indent_of(row) > indent).count();
        rows.drain(at..=at + more);
        removed = true;
        // An event without entries goes, too.
        let own = at.checked_sub(1).filter(|own| *own > hooks);
        let is_alone = rows.get(at).is_none_or(|next| {
            !is_content(next) || indent_of(next) < indent || !next.trim_start().starts_with('-')
        });
        if let Some(own) = own
            && is_alone
            && rows
                .get(own)
                .is_some_and(|row| row.trim_end().ends_with(':') && indent_of(row) < indent)
        {
            rows.remove(own);
            at = own;
        }
    }
    if !removed {
        return Ok(text.to_owned());
    }
    if child_indent(&rows, hooks + 1).is_none() {
        rows.remove(hooks);
    }
    Ok(joined(&rows))
}

/// The part of the file that holds the hooks.
enum Section {
    Missing,
    /// It is there and holds nothing.
    Empty(usize),
    Block(usize),
}

fn section(rows: &[String]) -> Result<Section, EditError> {
    let flow = |line: usize| EditError::Unreadable {
        what:
            "hooks in braces are not edited: write them line by line, or add the entries yourself"
                .into(),
        line: line + 1,
        column: 1,
    };
    if let Some(line) = rows.iter().position(|row| row.starts_with(['{', '['])) {
        return Err(flow(line));
    }
    let Some(at) = rows.iter().position(|row| row.starts_with("hooks:")) else {
        return Ok(Section::Missing);
    };
    let value = rows.get(at).and_then(|row| row.strip_prefix("hooks:")).unwrap_or_default();
    let value = value.split(" #").next().unwrap_or_default().trim();
    match value {
        "" if child_indent(rows, at + 1).is_some() => Ok(Section::Block(at)),
        "" | "{}" | "null" | "~" => Ok(Section::Empty(at)),
        _ => Err(flow(at)),
    }
}

/// The indent of what stands below a row, if anything does.
fn child_indent(rows: &[String], at: usize) -> Option<usize> {
    let next = rows.get(at..)?.iter().find(|row| is_content(row))?;
    Some(indent_of(next)).filter(|indent| *indent > 0)
}

/// The row of an event.
fn event_row(rows: &[String], at: usize, indent: usize, event: &str) -> Option<usize> {
    let key = format!("{event}:");
    let below = rows.get(at..)?.iter().enumerate();
    below
        .take_while(|(_, row)| !is_content(row) || indent_of(row) > 0)
        .find(|(_, row)| indent_of(row) == indent && row.trim_start().starts_with(&key))
        .map(|(offset, _)| at + offset)
}

fn indent_of(row: &str) -> usize {
    row.len() - row.trim_start_matches(' ').len()
}

fn is_content(row: &str) -> bool {
    let row = row.trim();
    !row.is_empty() && !row.starts_with('#')
}

fn rows_of(text: &str) -> Vec<String> {
    text.lines().map(ToOwned::to_owned).collect()
}

fn joined(rows: &[String]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect::<Vec<_>>().concat()
}

fn sorted(text: &str) -> Vec<&str> {
    let mut rows: Vec<&str> = text.lines().collect();
    rows.sort_unstable();
    rows
}

/// A text in single quotes, in which nothing else is special.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
