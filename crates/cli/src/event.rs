//! The event that a command is about, from the command line, a file or stdin.
//!
//! Owns which of the three it is. Reading the object is the library's.

use tenter::core::event::{Event, EventKind, Origin};
use tenter::core::json::{Fields, Json};
use tenter::hosts::codec::Host;
use tenter::hosts::names;
use tenter::hosts::native::input::{EventError, read_event};

use crate::args::EventArgs;
use crate::error::CliError;
use crate::world::{self, World};

/// The session of an event that names none.
pub(crate) const SESSION: &str = "cli";

/// Finds the event and reads it.
///
/// # Errors
/// There is none, or what there is is no event.
pub(crate) fn resolve(args: &EventArgs, host: &Host, world: &World) -> Result<Event, CliError> {
    let defaults = Origin {
        host: host.profile.name.into(),
        session_id: SESSION.into(),
        cwd: world.cwd().to_string_lossy().into_owned(),
        ..Origin::default()
    };
    let given = args.event.as_deref();
    let read = |text: &str, given: Option<&str>, place: Option<&str>| {
        let event = if args.wire {
            host.codec.read(text, given, &defaults)
        } else {
            read_event(text, given, &defaults)
        };
        event.map_err(|error| unreadable(&error, given, place))
    };
    if let Some(file) = &args.event_file {
        let text = world::read_file("event file", file)?;
        let place = file.display().to_string();
        return read(&text, given, Some(&place));
    }
    if args.tool.is_some() || args.input.is_some() {
        let fields = from_arguments(args)?;
        let given = given.or_else(|| args.tool.is_some().then_some("PreToolUse"));
        return read(fields.as_text(), given, None);
    }
    if world::stdin_is_terminal() {
        // Nobody wants to type JSON. What needs no fields can do without.
        return match given {
            Some(name) => read("{}", Some(name), None),
            None => Err(no_event()),
        };
    }
    let text = world::read_stdin()?;
    read(&text, given, Some("stdin"))
}

fn no_event() -> CliError {
    CliError::usage("no event was given")
        .hint("`tenter fire PreToolUse --tool Bash --input '{\"command\":\"ls\"}'` is one")
        .hint("or pipe a JSON event to stdin, or name a file with --event-file")
}

/// The object that the arguments describe.
fn from_arguments(args: &EventArgs) -> Result<Json, CliError> {
    let input = match &args.input {
        None => Json::empty_object(),
        Some(text) => Json::parse(text).map_err(|error| {
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            CliError::bad_input(format!(
                "--input:{}:{}: this is not JSON: {what}",
                error.line(),
                error.column()
            ))
            .hint("quote it for the shell, as in --input '{\"command\":\"ls\"}'")
        })?,
    };
    let Some(tool) = &args.tool else {
        if !input.is_object() {
            return Err(CliError::bad_input(
                "--input without --tool is the event itself, and an event is an object",
            )
            .hint("as in --input '{\"prompt\":\"hello\"}'"));
        }
        return Ok(input);
    };
    let mut fields = Fields::new();
    fields.push("tool_name", Json::string(tool));
    fields.push("tool_input", input);
    if let Some(response) = &args.response {
        // A text need not be quoted twice.
        let value = Json::parse(response).unwrap_or_else(|_| Json::string(response));
        fields.push("tool_response", value);
    }
    Ok(fields.to_json())
}

fn unreadable(error: &EventError, given: Option<&str>, place: Option<&str>) -> CliError {
    let message = match (place, error) {
        (Some(place), EventError::NotJson { what, line, column }) => {
            format!("{place}:{line}:{column}: the event is not JSON: {what}")
        }
        (Some(place), _) => format!("{place}: {error}"),
        (None, _) => error.to_string(),
    };
    let cli = CliError::bad_input(message).hint(error.help());
    let kind = given.and_then(names::event_kind);
    match (error, kind) {
        (EventError::Empty, Some(kind)) if is_complete_without_fields(&kind) => {
            cli.hint(format!("for a {kind} event without fields add `--input '{{}}'`"))
        }
        (EventError::Missing { field: "tool_name", .. }, Some(kind)) if place.is_none() => {
            cli.hint(format!("as in `{kind} --tool Bash --input '{{\"command\":\"ls\"}}'`"))
        }
        (EventError::Missing { field: "prompt", .. }, Some(kind)) if place.is_none() => {
            cli.hint(format!("as in `{kind} --input '{{\"prompt\":\"hello\"}}'`"))
        }
        _ => cli,
    }
}

fn is_complete_without_fields(kind: &EventKind) -> bool {
    read_event("{}", Some(kind.name()), &Origin::default()).is_ok()
}
