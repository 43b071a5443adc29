//! A host's own hooks file as it stands: its entries, tenter's and everybody else's, and what is wrong
//! with them by that host's rules.
//!
//! | module | owns |
//! |---|---|
//! | `lint` | what of a file the host would not do as it was probably meant |
//! | `codes` | the findings, each with what the host does |
//!
//! Files in JSON alone are read. What the scripts of an entry are like on disk is for the caller to see.

mod codes;
mod lint;

#[cfg(test)]
mod tests;

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::{CollectOptions, parse_to_ast};

use crate::bridge::{self, Bridge};
use crate::install::{EditError, Form, Install, Spot, is_ours, strictness};

pub use codes::{CODES, Code};
pub use lint::{lint, scripts};

/// One entry of a host's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The host's name of the event, as it is written.
    pub event: Text,
    /// The matcher of the entry or of its group.
    pub matcher: Option<Text>,
    /// The command line; `None` where the entry has none, or none that is a text.
    pub command: Option<Text>,
    /// The time, as it is written.
    pub timeout: Option<Text>,
    /// The keys of the entry, with their places.
    pub keys: Vec<Text>,
    /// Whether the entry has the other form than the one that the host reads.
    pub is_misplaced: bool,
    /// The bytes of the entry.
    pub span: Range<usize>,
    /// Whether it is tenter.
    pub is_ours: bool,
}

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// What it says; a number as it is written.
    pub text: String,
    /// Its bytes in the file.
    pub span: Range<usize>,
}

/// A host's file, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostFile {
    /// The keys at the top.
    pub top: Vec<Text>,
    /// The names of events that stand there, with or without entries.
    pub events: Vec<Text>,
    /// The entries, in the order of the file.
    pub entries: Vec<Entry>,
}

/// The host whose file a path is by its name, and the place that it is.
pub fn by_path(path: &std::path::Path) -> Option<(&'static Bridge, &'static Spot)> {
    let is_json = |bridge: &&'static Bridge| bridge.install.is_some_and(|it| reads(&it));
    bridge::all().filter(is_json).find_map(|bridge| {
        let install = bridge.install.as_ref()?;
        let spots = || install.user.iter().chain(install.project);
        let spot = spots().find(|spot| {
            let name = std::path::Path::new(spot.folder).join(spot.file);
            // Of a file that lies in the project itself the name says too little.
            !spot.folder.is_empty() && path.ends_with(name)
        })?;
        Some((bridge, spot))
    })
}

/// Whether the files of this host can be read.
pub fn reads(install: &Install) -> bool {
    matches!(install.form, Form::Groups | Form::Flat { .. })
}

/// Reads a host's file.
///
/// # Errors
/// It is not JSON, or its hooks are no object.
pub fn read(bridge: &Bridge, spot: &Spot, text: &str) -> Result<HostFile, EditError> {
    let Some(install) = &bridge.install else { return Ok(HostFile::default()) };
    let options = CollectOptions::default();
    let parsed =
        parse_to_ast(text, &options, &strictness()).map_err(|error| EditError::of(&error))?;
    let Some(value) = parsed.value else { return Ok(HostFile::default()) };
    let Value::Object(top) = value else {
        return Err(EditError::Shape { place: "the file".into(), expected: "an object" });
    };
    let mut file = HostFile { top: keys_of(&top), ..HostFile::default() };
    let events = if spot.is_bare {
        &top
    } else {
        match member(&top, "hooks") {
            None => return Ok(file),
            Some(Value::Object(events)) => events,
            Some(_) => {
                return Err(EditError::Shape { place: "hooks".into(), expected: "an object" });
            }
        }
    };
    for property in &events.properties {
        let event = name_of(property);
        if let Value::Array(list) = &property.value {
            read_list(&mut file.entries, bridge.name, install.form, &event, list);
        }
        file.events.push(event);
    }
    Ok(file)
}

fn read_list(entries: &mut Vec<Entry>, host: &str, form: Form, event: &Text, list: &Array<'_>) {
    for element in &list.elements {
        let Value::Object(element) = element else { continue };
        let group = match member(element, "hooks") {
            Some(Value::Array(group)) => Some(group),
            _ => None,
        };
        let matcher = text_of(element, "matcher");
        let is_misplaced = group.is_some() != (form == Form::Groups);
        let (command, timeout) = match form {
            Form::Flat { command, timeout, .. } if group.is_none() => (command, timeout),
            _ => ("command", "timeout"),
        };
        let mut add = |handler: &Object<'_>| {
            let line = text_of(handler, command).or_else(|| text_of(handler, "command"));
            entries.push(Entry {
                event: event.clone(),
                matcher: matcher.clone(),
                timeout: text_of(handler, timeout),
                keys: keys_of(handler),
                is_misplaced,
                span: handler.range.start..handler.range.end,
                is_ours: line.as_ref().is_some_and(|line| is_ours(&line.text, host)),
                command: line,
            });
        };
        match group {
            Some(group) => {
                for handler in group.elements.iter().filter_map(Value::as_object) {
                    add(handler);
                }
            }
            None => add(element),
        }
    }
}

fn member<'a, 'text>(object: &'a Object<'text>, key: &str) -> Option<&'a Value<'text>> {
    object.properties.iter().find(|one| one.name.as_str() == key).map(|one| &one.value)
}

fn name_of(property: &jsonc_parser::ast::ObjectProp<'_>) -> Text {
    use jsonc_parser::common::Ranged as _;
    let range = property.name.range();
    Text { text: property.name.as_str().to_owned(), span: range.start..range.end }
}

fn keys_of(object: &Object<'_>) -> Vec<Text> {
    object.properties.iter().map(name_of).collect()
}

/// A text or a number, as a text.
fn text_of(object: &Object<'_>, key: &str) -> Option<Text> {
    match member(object, key)? {
        Value::StringLit(text) => Some(Text {
            text: text.value.clone().into_owned(),
            span: text.range.start..text.range.end,
        }),
        Value::NumberLit(number) => {
            Some(Text { text: number.value.to_owned(), span: number.range.start..number.range.end })
        }
        _ => None,
    }
}
