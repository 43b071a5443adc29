//! One `[[case]]`: its surroundings, its events, what is expected of them and checked afterwards.

use std::collections::HashMap;
use std::ops::Range;

use tenter_core::event::Origin;
use tenter_core::json::{Fields, Json};
use toml::de::{DeTable, DeValue};

use super::super::reader::{Item, Reader, Table, shown};
use super::{After, Case, Expect, Step, count, needed, read_hooks, read_setting, tables, value};
use crate::native::input::{EventError, read_event};
use crate::native::keys::Section;

pub(super) fn read_cases(reader: &mut Reader<'_>, item: &Item<'_, '_>) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut lines: HashMap<String, usize> = HashMap::new();
    for (at, (table, span)) in tables(reader, item).into_iter().enumerate() {
        let Some(case) = read_case(reader, table, &span, at) else { continue };
        if let Some(line) = lines.insert(case.name.clone(), case.position.line) {
            reader.error(
                "test.same-name",
                span,
                format!("the case in line {line} is named `{}` too", shown(&case.name)),
                "give each case a name of its own, so that reports say which one failed",
            );
        }
        cases.push(case);
    }
    cases
}

fn read_case(
    reader: &mut Reader<'_>,
    table: &DeTable<'_>,
    span: &Range<usize>,
    at: usize,
) -> Option<Case> {
    let mark = reader.mark();
    let table = Table::new(Section::Case, table);
    let is_misspelt = unknown_keys(reader, &table);
    let name = needed(reader, &table, "name", span);
    let setting = read_setting(reader, &table);
    let pointer = format!("#/case/{at}/hook");
    let hooks = read_hooks(reader, table.get("hook").as_ref(), &pointer);
    let max_ms = count(reader, table.get("max_ms").as_ref());
    let after = read_after(reader, table.get("after").as_ref());
    let steps = match table.get("step") {
        Some(item) => read_steps(reader, &table, &item),
        None => read_step(reader, &table, span, is_misspelt).into_iter().collect(),
    };
    let says_nothing = steps.iter().all(|step| step.expect.is_none() && step.max_ms.is_none());
    let is_sound = reader.errors_since(mark).next().is_none();
    if is_sound && !steps.is_empty() && says_nothing && after.is_empty() && max_ms.is_none() {
        reader.error(
            "test.nothing-expected",
            span.clone(),
            "the case expects nothing, so it cannot fail",
            "write `expect`, as in `expect = { decision = \"none\" }`, or `after`",
        );
    }
    let name = name?.text.to_owned();
    let position = reader.position(span.clone());
    Some(Case { name, position, setting, hooks, steps, max_ms, after })
}

fn read_steps(reader: &mut Reader<'_>, case: &Table<'_, '_>, item: &Item<'_, '_>) -> Vec<Step> {
    for name in ["event", "event_json", "expect"] {
        if let Some(beside) = case.get(name) {
            reader.error(
                "test.beside-steps",
                beside.key_span,
                format!("the case has steps and, beside them, `{name}`"),
                "write it in a step of its own: `[[case.step]]`",
            );
        }
    }
    let tables = tables(reader, item);
    if tables.is_empty() && item.value.get_ref().is_array() {
        reader.error(
            "test.no-event",
            item.value.span(),
            "the list of steps is empty",
            format!("as in `{}`", item.key.example),
        );
    }
    let mut steps = Vec::with_capacity(tables.len());
    for (table, span) in tables {
        let table = Table::new(Section::Step, table);
        let is_misspelt = unknown_keys(reader, &table);
        steps.extend(read_step(reader, &table, &span, is_misspelt));
    }
    steps
}

/// Says which keys are not known, and whether one of them was probably meant to be the event.
fn unknown_keys(reader: &mut Reader<'_>, table: &Table<'_, '_>) -> bool {
    let mut is_misspelt = false;
    for (name, _) in table.unknown() {
        let meant = reader.unknown_key(table.section(), name);
        is_misspelt |= matches!(meant, Some("event" | "event_json" | "step"));
    }
    is_misspelt
}

/// What cases without steps and steps have alike. Where the event `is_misspelt` it is not missing.
fn read_step(
    reader: &mut Reader<'_>,
    table: &Table<'_, '_>,
    span: &Range<usize>,
    is_misspelt: bool,
) -> Option<Step> {
    let expect = table.get("expect").and_then(|item| Expect::read(reader, &item));
    // That of a case is for all its events.
    let is_step = table.section() == Section::Step;
    let max_ms = if is_step { count(reader, table.get("max_ms").as_ref()) } else { None };
    let event = match (table.get("event"), table.get("event_json")) {
        (Some(event), Some(json)) => {
            let line = reader.position(event.key_span).line;
            reader.error(
                "test.two-events",
                json.key_span,
                format!("there is an `event_json` and, in line {line}, an `event`"),
                "keep one of them",
            );
            return None;
        }
        (Some(item), None) => read_table(reader, &item)?,
        (None, Some(item)) => {
            let text = reader.text_of(Some(&item))?;
            check(reader, text.text, text.span)?
        }
        (None, None) if is_misspelt => return None,
        (None, None) => {
            reader.error(
                "test.no-event",
                span.clone(),
                format!("{} has no `event`", table.section().as_str()),
                "write `event = { hook_event_name = \"PreToolUse\", tool_name = \"Bash\", tool_input = { command = \"ls\" } }`",
            );
            return None;
        }
    };
    Some(Step { position: reader.position(span.clone()), event, expect, max_ms })
}

fn read_table(reader: &mut Reader<'_>, item: &Item<'_, '_>) -> Option<Json> {
    let DeValue::Table(_) = item.value.get_ref() else {
        reader.wrong_type(item);
        return None;
    };
    let tree = value::tree(reader, item.value)?;
    check(reader, Json::from_serialize(&tree).as_text(), item.value.span())
}

/// The event of a text, with its name if that can be told, if it is one.
fn check(reader: &mut Reader<'_>, text: &str, span: Range<usize>) -> Option<Json> {
    let named = with_name(text);
    let text = named.as_ref().map_or(text, Json::as_text);
    let error = match (read_event(text, None, &Origin::default()), Json::parse(text)) {
        (Ok(_), Ok(event)) => return Some(event),
        (Err(error), _) => error,
        (Ok(_), Err(_)) => EventError::Empty,
    };
    let help = match &error {
        EventError::NoName | EventError::Empty => {
            "add `hook_event_name`, as in `hook_event_name = \"PreToolUse\"`".to_owned()
        }
        other => other.help(),
    };
    reader.error("test.bad-event", span, error.to_string(), help);
    None
}

/// The event with a name, if it has none and is about a tool: then it is the one before a tool runs,
/// as on the command line.
fn with_name(text: &str) -> Option<Json> {
    let mut fields = Json::parse(text).ok()?.to_fields()?;
    if fields.get("hook_event_name").is_some() || fields.get("tool_name").is_none() {
        return None;
    }
    let mut named = Fields::new();
    named.push("hook_event_name", Json::string("PreToolUse"));
    let members: Vec<_> =
        fields.iter().map(|(key, value)| (key.to_owned(), value.clone())).collect();
    for (key, value) in members {
        named.push(key, value);
    }
    fields = named;
    Some(fields.to_json())
}

fn read_after(reader: &mut Reader<'_>, item: Option<&Item<'_, '_>>) -> Vec<After> {
    let Some(item) = item else { return Vec::new() };
    let mut commands = Vec::new();
    for (table, span) in tables(reader, item) {
        let table = Table::new(Section::After, table);
        for (name, _) in table.unknown() {
            reader.unknown_key(Section::After, name);
        }
        let exit = table.get("exit");
        let code = count(reader, exit.as_ref()).unwrap_or(0);
        let Some(code) = u8::try_from(code).ok() else {
            reader.error(
                "test.bad-value",
                exit.map_or(span, |item| item.value.span()),
                format!("no program exits with {code}"),
                "write a number from 0 to 255",
            );
            continue;
        };
        let Some(command) = needed(reader, &table, "command", &span) else { continue };
        commands.push(After {
            position: reader.position(command.span),
            command: command.text.to_owned(),
            exit: i32::from(code),
        });
    }
    commands
}
