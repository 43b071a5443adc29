//! What a hook of hotl is given: the object on stdin, and its variable.
//!
//! The keys are hotl's own, in the order of the alphabet, as hotl writes them. Beside them stand
//! those that other hosts use, so that a script for one of them finds what it looks for (B45).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;

use tenter_core::event::{Agent, Event, EventKind, Origin, Payload, ResultPair};
use tenter_core::json::{Fields, Json, write_string};

use super::profile::{event_kind, event_name};
use crate::codec::{About, Shown};
use crate::native::input::{EventError, read_event, read_fields};

/// The variable that names the event.
pub const HOOK_EVENT: &str = "HOTL_HOOK_EVENT";

/// The variables that speak of one event. An entry's own table cannot set them (K46).
pub(super) const EVENT_VARIABLES: [&str; 1] = [HOOK_EVENT];

/// The actor of the main agent; a subagent is `child:` and its id (K87).
const MAIN: &str = "main";
const CHILD: &str = "child:";

/// hotl's keys and those that say the same elsewhere.
const KEYS: [(&str, &str); 6] = [
    ("tool", "tool_name"),
    ("input", "tool_input"),
    ("result", "tool_response"),
    ("kind", "notification_type"),
    ("detail", "message"),
    ("outcome", "last_assistant_message"),
];

/// Reads the object that hotl writes to its hooks.
///
/// # Errors
/// The text is no such object.
pub fn read(text: &str, given: Option<&str>, defaults: &Origin) -> Result<Event, EventError> {
    let given = given.map(standard_name);
    let given = given.as_deref();
    let Some(mut fields) = Json::parse(text).ok().and_then(|whole| whole.to_fields()) else {
        // The one reader of events says what is wrong with it.
        return read_event(text, given, defaults);
    };
    if fields.first_duplicate().is_some() {
        return read_fields(fields, given, defaults);
    }
    read_name(&mut fields)?;
    for (own, other) in KEYS {
        if let Some(value) = fields.remove(own)
            && fields.get(other).is_none()
        {
            fields.push(other, value);
        }
    }
    for made_for_hooks in ["truncated", "stop_blocks_left"] {
        fields.remove(made_for_hooks);
    }
    let actor = fields.remove("actor");
    let actor = actor.as_ref().and_then(Json::as_str).map(Cow::into_owned);
    let mut event = read_fields(fields, given, defaults)?;
    if let Some(id) = actor.as_deref().and_then(|actor| actor.strip_prefix(CHILD)) {
        let depth = u32::try_from(id.split('/').count()).unwrap_or(u32::MAX);
        let kind = event.origin.agent.take().and_then(|agent| agent.kind);
        event.origin.agent = Some(Agent { id: Some(id.to_owned()), kind, depth });
    }
    Ok(event)
}

/// Leaves one name of the event, the standard one. Two that mean different events are refused: two
/// readers would disagree.
fn read_name(fields: &mut Fields) -> Result<(), EventError> {
    let mut name: Option<String> = None;
    for key in ["hook_event_name", "hookEventName", "event"] {
        let Some(value) = fields.get(key).cloned() else { continue };
        let Some(found) = value.as_str() else { continue };
        let found = standard_name(&found).into_owned();
        match &name {
            Some(first) if *first != found => {
                return Err(EventError::OtherName { payload: found, given: first.clone() });
            }
            _ => name = Some(found),
        }
        fields.remove(key);
    }
    if let Some(name) = name {
        fields.push("hook_event_name", Json::string(&name));
    }
    Ok(())
}

fn standard_name(name: &str) -> Cow<'_, str> {
    event_kind(name).map_or(Cow::Borrowed(name), |kind| Cow::Owned(kind.name().to_owned()))
}

/// Writes an event as a hook reads it: one line.
pub(super) fn write(event: &Event, shown: &Shown<'_>) -> Vec<u8> {
    let origin = &event.origin;
    let mut members = Members::default();
    members.text("event", event_name(&event.kind));
    members.text("hookEventName", event.kind.name());
    members.text("hook_event_name", event.kind.name());
    members.text("session_id", &origin.session_id);
    members.text("cwd", &origin.cwd);
    members.text("actor", &actor(event));
    if let Some(id) = &origin.call_id {
        members.text("tool_use_id", id);
    }
    if !shown.truncated.is_empty() {
        members.json("truncated", &Json::from_serialize(&shown.truncated));
    }
    if let Some(call) = event.tool_call() {
        members.text("tool", &call.name);
        members.text("tool_name", &call.name);
        members.json("tool_input", &call.input);
    }
    match &event.payload {
        Payload::Tool(call) => members.json("input", &call.input),
        Payload::ToolResult { response, failed, .. } => {
            let result = ResultPair::of(response, *failed);
            members.text("result", &result.content);
            members.json("tool_response", &result.to_json());
        }
        Payload::Prompt(prompt) => members.text("prompt", prompt),
        Payload::Stop(facts) => {
            let last = facts.last_assistant_message.as_deref().unwrap_or_default();
            members.text("outcome", last);
            members.text("last_assistant_message", last);
            if let Some(reason) = &facts.stop_reason {
                members.text("stop_reason", reason);
            }
            members.json("stop_hook_active", &Json::from_serialize(&facts.stop_hook_active));
            // How often this end can still be blocked (B80).
            if let Some(left) = facts.blocks_left {
                members.json("stop_blocks_left", &Json::from_serialize(&left));
            }
        }
        Payload::Open => {}
    }
    if event.kind == EventKind::Notification {
        for (own, other) in [("kind", "notification_type"), ("detail", "message")] {
            let value = event.extra.get(other).cloned().unwrap_or_else(|| Json::string(""));
            members.json(own, &value);
            members.json(other, &value);
        }
    }
    if event.kind == EventKind::SessionEnd
        && let Some(reason) = event.extra.get("reason")
    {
        members.json("reason", reason);
    }
    members.finish()
}

fn actor(event: &Event) -> String {
    match event.origin.agent.as_ref().filter(|agent| agent.depth > 0) {
        None => MAIN.to_owned(),
        Some(agent) => format!("{CHILD}{}", agent.id.as_deref().unwrap_or_default()),
    }
}

/// The members of an object, in the order of the alphabet.
#[derive(Default)]
struct Members(BTreeMap<&'static str, String>);

impl Members {
    fn text(&mut self, key: &'static str, value: &str) {
        let mut text = String::with_capacity(value.len() + 2);
        write_string(value, &mut text);
        self.0.insert(key, text);
    }

    fn json(&mut self, key: &'static str, value: &Json) {
        self.0.insert(key, value.as_text().to_owned());
    }

    fn finish(self) -> Vec<u8> {
        let size: usize = self.0.iter().map(|(key, value)| key.len() + value.len() + 4).sum();
        let mut line = String::with_capacity(size + 3);
        for (key, value) in &self.0 {
            line.push(if line.is_empty() { '{' } else { ',' });
            write_string(key, &mut line);
            line.push(':');
            line.push_str(value);
        }
        line.push_str("}\n");
        line.into_bytes()
    }
}

/// The variables of a hook beside those of the session.
pub(super) fn variables(about: &About<'_>) -> Vec<(&'static str, OsString)> {
    vec![(HOOK_EVENT, event_name(&about.event.kind).into())]
}

#[cfg(test)]
mod tests {
    use tenter_core::event::StopFacts;

    use super::*;

    fn at(event: Event) -> Event {
        event.with_origin(Origin {
            session_id: "s".into(),
            cwd: "/w".into(),
            call_id: Some("c1".into()),
            ..Origin::default()
        })
    }

    fn line(event: &Event, truncated: &[String]) -> String {
        let bytes = write(event, &Shown { truncated, ..Shown::default() });
        String::from_utf8(bytes).unwrap()
    }

    /// Every event with the bytes that a hook reads.
    fn golden() -> Vec<(Event, &'static str)> {
        let input = Json::parse(r#"{"command":"a && b < c","z":1.0}"#).unwrap();
        let child = Agent { id: Some("A/B".into()), kind: None, depth: 2 };
        let mut of_child = at(Event::pre_tool("read", Json::empty_object()));
        of_child.origin.agent = Some(child);
        vec![
            (
                at(Event::pre_tool("bash", input.clone())),
                r#"{"actor":"main","cwd":"/w","event":"pre_tool","hookEventName":"PreToolUse","hook_event_name":"PreToolUse","input":{"command":"a && b < c","z":1.0},"session_id":"s","tool":"bash","tool_input":{"command":"a && b < c","z":1.0},"tool_name":"bash","tool_use_id":"c1"}"#,
            ),
            (
                of_child,
                r#"{"actor":"child:A/B","cwd":"/w","event":"pre_tool","hookEventName":"PreToolUse","hook_event_name":"PreToolUse","input":{},"session_id":"s","tool":"read","tool_input":{},"tool_name":"read","tool_use_id":"c1"}"#,
            ),
            (
                at(Event::post_tool("bash", Json::empty_object(), Json::string("o\"k"))),
                r#"{"actor":"main","cwd":"/w","event":"post_tool","hookEventName":"PostToolUse","hook_event_name":"PostToolUse","result":"o\"k","session_id":"s","tool":"bash","tool_input":{},"tool_name":"bash","tool_response":{"content":"o\"k","is_error":false},"tool_use_id":"c1"}"#,
            ),
            (
                at(Event::user_prompt("hi")),
                r#"{"actor":"main","cwd":"/w","event":"user_prompt","hookEventName":"UserPromptSubmit","hook_event_name":"UserPromptSubmit","prompt":"hi","session_id":"s","tool_use_id":"c1"}"#,
            ),
            (
                at(Event::notification("blocked", "run bash?")),
                r#"{"actor":"main","cwd":"/w","detail":"run bash?","event":"notification","hookEventName":"Notification","hook_event_name":"Notification","kind":"blocked","message":"run bash?","notification_type":"blocked","session_id":"s","tool_use_id":"c1"}"#,
            ),
            (
                at(Event::stop(StopFacts {
                    stop_reason: Some("complete".into()),
                    last_assistant_message: Some("done".into()),
                    stop_hook_active: true,
                    blocks_left: Some(2),
                })),
                r#"{"actor":"main","cwd":"/w","event":"stop","hookEventName":"Stop","hook_event_name":"Stop","last_assistant_message":"done","outcome":"done","session_id":"s","stop_blocks_left":2,"stop_hook_active":true,"stop_reason":"complete","tool_use_id":"c1"}"#,
            ),
            (
                at(Event::session_end("exit")),
                r#"{"actor":"main","cwd":"/w","event":"session_end","hookEventName":"SessionEnd","hook_event_name":"SessionEnd","reason":"exit","session_id":"s","tool_use_id":"c1"}"#,
            ),
        ]
    }

    #[test]
    fn k45_k87_every_event_has_its_bytes() {
        for (event, bytes) in golden() {
            assert_eq!(line(&event, &[]), format!("{bytes}\n"));
        }
    }

    #[test]
    fn what_is_written_is_read_as_the_same_event() {
        for (event, bytes) in golden() {
            let read = read(bytes, None, &Origin::default()).unwrap();
            assert_eq!(read.kind, event.kind);
            assert_eq!(read.origin, event.origin, "{bytes}");
            assert_eq!(line(&read, &[]), line(&without_made(event), &[]));
        }
    }

    /// The count of blocks is the engine's and not part of an event.
    fn without_made(mut event: Event) -> Event {
        if let Payload::Stop(facts) = &mut event.payload {
            facts.blocks_left = None;
        }
        event
    }

    #[test]
    fn b25_b28_a_hook_is_told_what_was_clipped() {
        let event = at(Event::pre_tool("bash", Json::empty_object()));
        let told = line(&event, &["command".into()]);
        assert!(told.ends_with(",\"tool_use_id\":\"c1\",\"truncated\":[\"command\"]}\n"), "{told}");
        assert_eq!(read(&told, None, &Origin::default()).unwrap(), event);
    }

    #[test]
    fn hotl_s_own_keys_are_enough() {
        let bare =
            r#"{"event":"pre_tool","hookEventName":"PreToolUse","input":{"a":1},"tool":"bash"}"#;
        let event = read(bare, Some("pre_tool"), &Origin::default()).unwrap();
        assert_eq!(event.tool_call().unwrap().input.as_text(), r#"{"a":1}"#);
        let stop = read(r#"{"event":"stop","outcome":"bye"}"#, None, &Origin::default()).unwrap();
        let Payload::Stop(facts) = stop.payload else { panic!("{stop:?}") };
        assert_eq!(facts.last_assistant_message.as_deref(), Some("bye"));
    }

    #[test]
    fn two_names_must_be_of_one_event() {
        let two = r#"{"event":"pre_tool","hookEventName":"PostToolUse","tool":"bash"}"#;
        let error = read(two, None, &Origin::default()).unwrap_err();
        assert!(matches!(error, EventError::OtherName { .. }), "{error}");
        assert!(read("[]", None, &Origin::default()).is_err());
        assert!(read(r#"{"event":"stop"}"#, Some("pre_tool"), &Origin::default()).is_err());
    }
}
