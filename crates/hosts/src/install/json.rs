//! Hooks in JSON files: what is foreign keeps its place, its comments and its bytes.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};

use jsonc_parser::errors::ParseError;

use super::{Closed, EditError, Form, Install, Line, Position, Spot, is_ours};

/// The key under which hosts have their hooks.
const HOOKS: &str = "hooks";

/// The file with entries of tenter.
pub(super) fn with(
    install: &Install,
    spot: &Spot,
    text: &str,
    host: &str,
    lines: &[Line],
) -> Result<String, EditError> {
    if entries(install, spot, text, host)? == expected(install, lines) {
        return Ok(text.to_owned());
    }
    let root = parse(text)?;
    let top = root.object_value_or_create().ok_or_else(|| shape("", "an object"))?;
    // What held the entries of another tenter stays where it is, for those that come.
    if let Some(events) = events_of(spot, &top)? {
        for list in events.properties().iter().filter_map(CstObjectProp::array_value) {
            remove_ours(install, &list, host);
        }
    }
    if let Form::Flat { version: Some(version), .. } = install.form
        && top.get("version").is_none()
    {
        top.insert(0, "version", version.into());
    }
    let events = if spot.is_bare {
        top
    } else {
        top.object_value_or_create(HOOKS).ok_or_else(|| shape(HOOKS, "an object"))?
    };
    for line in lines {
        let list = events
            .array_value_or_create(line.event)
            .ok_or_else(|| shape(&format!("{HOOKS}.{}", line.event), "a list"))?;
        let entry = entry_of(install, line);
        match install.position {
            Position::First => list.insert(0, entry),
            Position::Last => list.append(entry),
        };
    }
    let mut text = root.to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// The file without entries of tenter.
pub(super) fn without(
    install: &Install,
    spot: &Spot,
    text: &str,
    host: &str,
) -> Result<String, EditError> {
    let root = parse(text)?;
    let Some(top) = root.object_value() else { return Ok(text.to_owned()) };
    let mut removed = false;
    if let Some(events) = events_of(spot, &top)? {
        for event in events.properties() {
            let Some(list) = event.array_value() else { continue };
            let before = list.elements().len();
            remove_ours(install, &list, host);
            removed |= list.elements().len() != before;
            if before > 0 && list.elements().is_empty() {
                event.remove();
            }
        }
        if removed
            && !spot.is_bare
            && events.properties().is_empty()
            && let Some(hooks) = top.get(HOOKS)
        {
            hooks.remove();
        }
    }
    Ok(if removed { root.to_string() } else { text.to_owned() })
}

fn remove_ours(install: &Install, list: &CstArray, host: &str) {
    for element in list.elements() {
        let Some(entry) = element.as_object() else { continue };
        match install.form {
            Form::Programs | Form::Tables | Form::Yaml => {}
            Form::Groups => {
                let Some(handlers) = entry.array_value(HOOKS) else { continue };
                let before = handlers.elements().len();
                for handler in handlers.elements() {
                    if command_of(&handler, "command").is_some_and(|line| is_ours(&line, host)) {
                        handler.remove();
                    }
                }
                if before > 0 && handlers.elements().is_empty() {
                    entry.remove();
                }
            }
            Form::Flat { command, .. } => {
                if command_of(&element, command).is_some_and(|line| is_ours(&line, host)) {
                    entry.remove();
                }
            }
        }
    }
}

/// What tells entries of tenter: event, command line, time, and whether they are closed.
type Told = (String, String, Option<u64>, bool);

fn expected(install: &Install, lines: &[Line]) -> Vec<Told> {
    let mut told: Vec<Told> = lines
        .iter()
        .map(|line| {
            let is_closed =
                line.is_guard && matches!(install.closed, Closed::Text(..) | Closed::True(_));
            (line.event.to_owned(), line.command.clone(), line.timeout, is_closed)
        })
        .collect();
    told.sort();
    told
}

/// The entries of tenter that stand in a file.
fn entries(install: &Install, spot: &Spot, text: &str, host: &str) -> Result<Vec<Told>, EditError> {
    let root = parse(text)?;
    let top = root.object_value();
    let events = top.map(|top| events_of(spot, &top)).transpose()?.flatten();
    let mut found = Vec::new();
    for event in events.iter().flat_map(CstObject::properties) {
        let (Some(name), Some(list)) = (event.decoded_name(), event.array_value()) else {
            continue;
        };
        for element in list.elements() {
            let (handlers, command, timeout) = match install.form {
                Form::Groups => {
                    let handlers = element.as_object().and_then(|group| group.array_value(HOOKS));
                    (handlers.map(|list| list.elements()).unwrap_or_default(), "command", "timeout")
                }
                Form::Flat { command, timeout, .. } => (vec![element], command, timeout),
                Form::Programs | Form::Tables | Form::Yaml => continue,
            };
            for handler in handlers {
                let Some(line) = command_of(&handler, command) else { continue };
                if !is_ours(&line, host) {
                    continue;
                }
                let Some(object) = handler.as_object() else { continue };
                let value = |key: &str| object.get(key).and_then(|prop| prop.value());
                let time = value(timeout).map(|value| value.to_string());
                let is_closed = match install.closed {
                    Closed::Text(key, word) => value(key)
                        .and_then(|value| value.as_string_lit()?.decoded_value().ok())
                        .is_some_and(|found| found == word),
                    Closed::True(key) => value(key)
                        .and_then(|value| value.as_boolean_lit())
                        .is_some_and(|found| found.value()),
                    _ => false,
                };
                found.push((
                    name.clone(),
                    line,
                    time.and_then(|text| text.parse().ok()),
                    is_closed,
                ));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn entry_of(install: &Install, line: &Line) -> CstInputValue {
    let text = |text: &str| CstInputValue::String(text.to_owned());
    let mut entry: Vec<(String, CstInputValue)> = Vec::new();
    let (command, timeout, is_typed) = match install.form {
        Form::Groups | Form::Programs | Form::Tables | Form::Yaml => ("command", "timeout", true),
        Form::Flat { command, timeout, typed, .. } => (command, timeout, typed),
    };
    if is_typed {
        entry.push(("type".into(), text("command")));
    }
    entry.push((command.into(), text(&line.command)));
    if let Some(time) = line.timeout {
        entry.push((timeout.into(), time.into()));
    }
    if line.is_guard {
        match install.closed {
            Closed::Text(key, word) => entry.push((key.into(), text(word))),
            Closed::True(key) => entry.push((key.into(), true.into())),
            _ => {}
        }
    }
    let entry = CstInputValue::Object(entry);
    match install.form {
        Form::Groups => {
            CstInputValue::Object(vec![(HOOKS.into(), CstInputValue::Array(vec![entry]))])
        }
        Form::Flat { .. } | Form::Programs | Form::Tables | Form::Yaml => entry,
    }
}

fn events_of(spot: &Spot, top: &CstObject) -> Result<Option<CstObject>, EditError> {
    if spot.is_bare {
        return Ok(Some(top.clone()));
    }
    match top.get(HOOKS) {
        None => Ok(None),
        Some(hooks) => match hooks.object_value() {
            Some(hooks) => Ok(Some(hooks)),
            None => Err(shape(HOOKS, "an object")),
        },
    }
}

fn command_of(handler: &CstNode, key: &str) -> Option<String> {
    handler.as_object()?.get(key)?.value()?.as_string_lit()?.decoded_value().ok()
}

/// What hosts take for JSON: comments and trailing commas do no harm.
pub(crate) fn strictness() -> ParseOptions {
    ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
        ..ParseOptions::default()
    }
}

fn parse(text: &str) -> Result<CstRootNode, EditError> {
    CstRootNode::parse(text, &strictness()).map_err(|error| EditError::of(&error))
}

impl EditError {
    /// A text that is no JSON.
    pub(crate) fn of(error: &ParseError) -> Self {
        let what = error.kind().to_string();
        let mut letters = what.chars();
        let first = letters.next().map(|letter| letter.to_lowercase().to_string());
        Self::Unreadable {
            what: first.unwrap_or_default() + letters.as_str(),
            line: error.line_display(),
            column: error.column_display(),
        }
    }
}

fn shape(place: &str, expected: &'static str) -> EditError {
    let place = if place.is_empty() { "the file" } else { place };
    EditError::Shape { place: place.to_owned(), expected }
}
