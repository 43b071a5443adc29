//! What a hook of Crush is given: the object on stdin, and its variables.

use std::ffi::OsString;

use tenter_core::event::{Event, EventKind, Origin, Payload};
use tenter_core::json::{Fields, Json, write_string};

use crate::codec::About;
use crate::native::input::{EventError, read_event, read_fields};

/// The name of the one event.
pub const EVENT_PRE_TOOL_USE: &str = "PreToolUse";

/// The variables that speak of one event.
pub(super) const EVENT_VARIABLES: [&str; 7] = [
    "CRUSH_EVENT",
    "CRUSH_TOOL_NAME",
    "CRUSH_SESSION_ID",
    "CRUSH_CWD",
    "CRUSH_PROJECT_DIR",
    "CRUSH_TOOL_INPUT_COMMAND",
    "CRUSH_TOOL_INPUT_FILE_PATH",
];

/// Variables that are always the same: who runs the hook, and that nobody is there to edit or to
/// turn pages.
const FIXED: [(&str, &str); 11] = [
    ("CRUSH", "1"),
    ("AGENT", "crush"),
    ("AI_AGENT", "crush"),
    ("TERM", "xterm-256color"),
    ("EDITOR", "false"),
    ("VISUAL", "false"),
    ("GIT_EDITOR", "false"),
    ("JJ_EDITOR", "false"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("JJ_PAGER", "cat"),
];

/// Reads the object that Crush writes to its hooks.
///
/// # Errors
/// The text is no such object.
pub fn read(text: &str, given: Option<&str>, defaults: &Origin) -> Result<Event, EventError> {
    let Some(mut fields) = Json::parse(text).ok().and_then(|whole| whole.to_fields()) else {
        // The one reader of events says what is wrong with it.
        return read_event(text, given, defaults);
    };
    if fields.first_duplicate().is_some() {
        return read_fields(fields, given, defaults);
    }
    // Crush says `event` where others say `hook_event_name`.
    if let (Some(name), None) = (fields.get("event").cloned(), fields.get("hook_event_name")) {
        fields.remove("event");
        fields.push("hook_event_name", name);
    }
    fields.remove("is_sub_agent");
    let agent = fields.remove("agent");
    if let Some(agent) = agent.filter(|_| fields.get("agent_id").is_none()) {
        for (key, flat) in [("id", "agent_id"), ("type", "agent_type")] {
            if let Some(value) = agent.get(key) {
                fields.push(flat, value);
            }
        }
    }
    if fields.get("tool_input").is_some_and(Json::is_null) {
        fields.remove("tool_input");
    }
    read_fields(fields, given, defaults)
}

/// The input of a tool as hooks are given it. What is empty or no JSON is an empty object.
pub fn tool_input(text: &str) -> Json {
    Json::parse(text).unwrap_or_else(|_| Json::empty_object())
}

/// The object that a hook reads on stdin, and a line break. `input` is the text that the model gave.
pub fn build_payload(event: &str, session_id: &str, cwd: &str, tool: &str, input: &str) -> Vec<u8> {
    payload(event, session_id, cwd, tool, &tool_input(input), None)
}

/// Writes an event as a hook reads it.
pub(super) fn write(event: &Event) -> Vec<u8> {
    let origin = &event.origin;
    let (tool, input) = match &event.payload {
        Payload::Tool(call) | Payload::ToolResult { call, .. } => {
            (call.name.as_str(), call.input.clone())
        }
        Payload::Prompt(_) | Payload::Stop(_) | Payload::Open => ("", Json::empty_object()),
    };
    let agent = origin.agent.as_ref().filter(|agent| agent.depth > 0).map(|agent| {
        let text = |text: &Option<String>| text.as_deref().map_or_else(Json::null, Json::string);
        Fields::from_iter([
            ("id", text(&agent.id)),
            ("type", text(&agent.kind)),
            ("depth", Json::from_serialize(&agent.depth)),
        ])
    });
    payload(event.kind.name(), &origin.session_id, &origin.cwd, tool, &input, agent)
}

fn payload(
    event: &str,
    session_id: &str,
    cwd: &str,
    tool: &str,
    input: &Json,
    agent: Option<Fields>,
) -> Vec<u8> {
    let names = event.len() + session_id.len() + cwd.len() + tool.len();
    let mut text = String::with_capacity(names + input.as_text().len() + 128);
    let members = [("event", event), ("session_id", session_id), ("cwd", cwd), ("tool_name", tool)];
    for (at, (key, value)) in members.into_iter().enumerate() {
        text.push(if at == 0 { '{' } else { ',' });
        write_string(key, &mut text);
        text.push(':');
        write_string(value, &mut text);
    }
    text.push_str(",\"tool_input\":");
    text.push_str(input.as_text());
    if let Some(agent) = agent {
        text.push_str(",\"is_sub_agent\":true,\"agent\":");
        agent.write_to(&mut text);
    }
    text.push_str("}\n");
    text.into_bytes()
}

/// The variables of a hook beside those of the session.
pub fn build_env(about: &About<'_>) -> Vec<(&'static str, OsString)> {
    let event = about.event;
    let mut variables: Vec<(&'static str, OsString)> =
        FIXED.iter().map(|(name, value)| (*name, OsString::from(value))).collect();
    let mut add = |name, value: &str| variables.push((name, OsString::from(value)));
    let kind =
        if event.kind == EventKind::PreToolUse { EVENT_PRE_TOOL_USE } else { event.kind.name() };
    add("CRUSH_EVENT", kind);
    add("CRUSH_TOOL_NAME", event.tool_name().unwrap_or_default());
    add("CRUSH_SESSION_ID", &event.origin.session_id);
    add("CRUSH_CWD", &event.origin.cwd);
    if let Some(call) = event.tool_call() {
        for (key, name) in
            [("command", "CRUSH_TOOL_INPUT_COMMAND"), ("file_path", "CRUSH_TOOL_INPUT_FILE_PATH")]
        {
            if let Some(value) = call.input.get(key) {
                add(name, &as_variable(&value));
            }
        }
    }
    variables.push(("CRUSH_PROJECT_DIR", about.project.to_owned()));
    variables
}

/// A text as it is, null as nothing, all else as its JSON.
fn as_variable(value: &Json) -> String {
    match value.as_str() {
        Some(text) => text.into_owned(),
        None if value.is_null() => String::new(),
        None => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use tenter_core::event::Agent;

    fn call(input: &str) -> Event {
        Event::pre_tool("bash", Json::parse(input).unwrap()).with_origin(Origin {
            session_id: "s".into(),
            cwd: "/w".into(),
            ..Origin::default()
        })
    }

    fn variable(event: &Event, name: &str) -> Option<String> {
        let about = About { event, project: OsStr::new("/p") };
        let found = build_env(&about).into_iter().find(|(known, _)| *known == name)?;
        found.1.into_string().ok()
    }

    #[test]
    fn stdin_is_one_object_and_one_line() {
        let event = call(r#"{"command":"a && b < c > d","z":1.0}"#);
        assert_eq!(
            String::from_utf8(write(&event)).unwrap(),
            concat!(
                r#"{"event":"PreToolUse","session_id":"s","cwd":"/w","tool_name":"bash","#,
                r#""tool_input":{"command":"a && b < c > d","z":1.0}}"#,
                "\n"
            )
        );
    }

    #[test]
    fn what_the_model_gave_and_is_no_json_is_an_empty_object() {
        for (text, input) in
            [("", "{}"), ("{oops", "{}"), ("  ", "{}"), (r#""text""#, r#""text""#), ("[1]", "[1]")]
        {
            let line = build_payload("PreToolUse", "", "/w", "bash", text);
            let line = String::from_utf8(line).unwrap();
            assert!(line.ends_with(&format!("\"tool_input\":{input}}}\n")), "{text}: {line}");
        }
    }

    #[test]
    fn a_subagent_shows_itself() {
        let mut event = call("{}");
        event.origin.agent =
            Some(Agent { id: Some("a1".into()), kind: Some("task".into()), depth: 1 });
        let line = String::from_utf8(write(&event)).unwrap();
        assert!(
            line.ends_with(
                "\"is_sub_agent\":true,\"agent\":{\"id\":\"a1\",\"type\":\"task\",\"depth\":1}}\n"
            ),
            "{line}"
        );
        assert_eq!(read(&line, None, &Origin::default()).unwrap(), event);
    }

    #[test]
    fn what_is_written_reads_back_as_the_same_event() {
        for input in [r#"{"command":"ls"}"#, "{}", r#""text""#, "[1,2]"] {
            let event = call(input);
            let line = String::from_utf8(write(&event)).unwrap();
            assert_eq!(read(&line, None, &Origin::default()).unwrap(), event, "{input}");
        }
        let given = read(r#"{"tool_name":"view"}"#, Some("PreToolUse"), &Origin::default());
        assert_eq!(given.unwrap().tool_call().unwrap().input.as_text(), "{}");
        for wrong in
            ["", "[]", "{\"event\":\"Nothing\"}", "{\"tool_name\":5,\"event\":\"PreToolUse\"}"]
        {
            assert!(read(wrong, None, &Origin::default()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_two_inputs_are_variables_where_the_top_level_has_them() {
        let event = call(r#"{"command":"ls","file_path":"/a"}"#);
        assert_eq!(variable(&event, "CRUSH_TOOL_INPUT_COMMAND").as_deref(), Some("ls"));
        assert_eq!(variable(&event, "CRUSH_TOOL_INPUT_FILE_PATH").as_deref(), Some("/a"));
        let nested = call(r#"{"a":{"command":"x"}}"#);
        assert_eq!(variable(&nested, "CRUSH_TOOL_INPUT_COMMAND"), None);
        assert_eq!(variable(&nested, "CRUSH_TOOL_INPUT_FILE_PATH"), None);
        for (value, shown) in
            [("5", "5"), ("null", ""), ("[1]", "[1]"), (r#"{"a":1}"#, r#"{"a":1}"#)]
        {
            let event = call(&format!(r#"{{"command":{value}}}"#));
            assert_eq!(variable(&event, "CRUSH_TOOL_INPUT_COMMAND").as_deref(), Some(shown));
        }
        assert_eq!(variable(&call(r#""command""#), "CRUSH_TOOL_INPUT_COMMAND"), None);
    }

    #[test]
    fn a_hook_knows_who_runs_it_and_for_what() {
        let event = call("{}");
        for (name, value) in [
            ("CRUSH", "1"),
            ("AGENT", "crush"),
            ("AI_AGENT", "crush"),
            ("CRUSH_EVENT", "PreToolUse"),
            ("CRUSH_TOOL_NAME", "bash"),
            ("CRUSH_SESSION_ID", "s"),
            ("CRUSH_CWD", "/w"),
            ("CRUSH_PROJECT_DIR", "/p"),
        ] {
            assert_eq!(variable(&event, name).as_deref(), Some(value), "{name}");
        }
    }
}
