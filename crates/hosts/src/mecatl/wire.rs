//! What a hook of mecatl reads: an object with five keys, the same five for every phase.

use tenter_core::event::{Event, EventKind, Origin, Payload, ResultPair, StopFacts, ToolCall};
use tenter_core::json::{Fields, Json, write_string};

use super::profile::{event_kind, phase};
use crate::native::input::{EventError, read_event, read_fields};

/// Writes an event as a hook reads it: one line, and every key is there whatever the phase (2).
pub(super) fn write(event: &Event) -> Vec<u8> {
    let phase = phase(&event.kind).unwrap_or_else(|| event.kind.name());
    hook_event(
        phase,
        event.tool_name().unwrap_or_else(|| tool_of_gate(&event.kind)),
        &input(event),
        &event.origin.session_id,
        event.origin.call_id.as_deref().unwrap_or_default(),
    )
}

/// The object on stdin and a line break. `input` is the payload of the phase; null is none.
pub fn hook_event(
    phase: &str,
    tool: &str,
    input: &Json,
    session_id: &str,
    call_id: &str,
) -> Vec<u8> {
    let mut text = String::with_capacity(input.as_text().len() + 128);
    for (start, value) in [("{\"Phase\":", phase), (",\"Tool\":", tool)] {
        text.push_str(start);
        write_string(value, &mut text);
    }
    text.push_str(",\"Input\":");
    text.push_str(input.as_text());
    for (start, value) in [(",\"SessionID\":", session_id), (",\"CallID\":", call_id)] {
        text.push_str(start);
        write_string(value, &mut text);
    }
    text.push_str("}\n");
    text.into_bytes()
}

/// The tool that asks at a gate of tasks (D8).
fn tool_of_gate(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::TaskCreated => "AddTask",
        EventKind::TaskCompleted => "CompleteTask",
        _ => "",
    }
}

/// A task as hooks of mecatl know it: who acts, the task, and all else that is known of it (B113).
fn task_input(task: &Json) -> Json {
    let Some(fields) = task.to_fields() else { return task.clone() };
    let mut input = Fields::new();
    input.push("by", fields.get("by").cloned().unwrap_or_else(Json::null));
    input.push("deps", fields.get("deps").cloned().unwrap_or_else(Json::null));
    if let Some(description) = fields.get("description") {
        input.push("description", description.clone());
    }
    if let Some(id) = fields.get("id").or_else(|| fields.get("task_id")) {
        input.push("task_id", id.clone());
    }
    let known = ["by", "deps", "description", "id", "task_id"];
    for (key, value) in fields.iter().filter(|(key, _)| !known.contains(key)) {
        input.push(key, value.clone());
    }
    input.to_json()
}

/// The task of such an input.
fn task_of(input: &Json) -> Json {
    let Some(mut fields) = input.to_fields() else { return input.clone() };
    let mut task = Fields::new();
    if let Some(id) = fields.remove("task_id") {
        fields.remove("id");
        task.push("id", id);
    }
    for (key, value) in fields.iter() {
        // That there are none is said by leaving them out.
        if !(key == "deps" && value.is_null()) {
            task.push(key, value.clone());
        }
    }
    task.to_json()
}

/// The payload of a phase.
pub fn input(event: &Event) -> Json {
    match &event.payload {
        Payload::Tool(call) => call.input.clone(),
        Payload::ToolResult { call, response, failed } => {
            let pair = ResultPair::of(response, *failed).to_json();
            let part = |key| pair.get(key).unwrap_or_else(Json::null);
            Fields::from_iter([
                ("args", call.input.clone()),
                ("content", part("content")),
                ("is_error", part("is_error")),
            ])
            .to_json()
        }
        Payload::Prompt(prompt) => one("prompt", Json::string(prompt)),
        Payload::Stop(facts) => {
            // Without a reason it has ended by itself.
            one("stop_reason", Json::string(facts.stop_reason.as_deref().unwrap_or("end_turn")))
        }
        Payload::Open => match event.kind {
            EventKind::TeammateIdle => {
                one("member", event.extra.get("teammate_name").cloned().unwrap_or_else(Json::null))
            }
            EventKind::TaskCreated | EventKind::TaskCompleted => {
                event.extra.get("task").map_or_else(Json::null, task_input)
            }
            _ => Json::null(),
        },
    }
}

fn one(key: &str, value: Json) -> Json {
    Fields::from_iter([(key, value)]).to_json()
}

/// Reads the object that mecatl writes to its hooks.
///
/// # Errors
/// The text is no such object.
pub fn read(text: &str, given: Option<&str>, defaults: &Origin) -> Result<Event, EventError> {
    let whole = Json::parse(text).ok().and_then(|whole| whole.to_fields());
    let Some(fields) = whole.filter(|fields| fields.get("Phase").is_some()) else {
        // The one reader of events says what is wrong with it.
        return read_event(text, given, defaults);
    };
    let text_at =
        |key: &str| fields.get(key).and_then(Json::as_str).map(std::borrow::Cow::into_owned);
    let Some(kind) = text_at("Phase").and_then(|name| event_kind(&name)) else {
        return read_event(text, given, defaults);
    };
    let input = fields.get("Input").cloned().unwrap_or_else(Json::null);
    let mut plain = Fields::new();
    plain.push("hook_event_name", Json::string(kind.name()));
    if let Some(session) = text_at("SessionID").filter(|id| !id.is_empty()) {
        plain.push("session_id", Json::string(&session));
    }
    if let Some(call) = text_at("CallID").filter(|id| !id.is_empty()) {
        plain.push("tool_use_id", Json::string(&call));
    }
    let part = |key| input.get(key).unwrap_or_else(Json::null);
    match kind {
        EventKind::PreToolUse | EventKind::PostToolUse => {
            plain.push("tool_name", Json::string(&text_at("Tool").unwrap_or_default()));
            if kind == EventKind::PreToolUse {
                plain
                    .push("tool_input", if input.is_null() { Json::empty_object() } else { input });
            } else {
                let args = part("args");
                plain.push("tool_input", if args.is_null() { Json::empty_object() } else { args });
                let pair = [("content", part("content")), ("is_error", part("is_error"))];
                plain.push("tool_response", Fields::from_iter(pair).to_json());
            }
        }
        EventKind::UserPromptSubmit => plain.push("prompt", part("prompt")),
        EventKind::Stop | EventKind::SubagentStop => plain.push("stop_reason", part("stop_reason")),
        EventKind::TeammateIdle => plain.push("teammate_name", part("member")),
        EventKind::TaskCreated | EventKind::TaskCompleted => plain.push("task", task_of(&input)),
        _ => {}
    }
    read_fields(plain, given, defaults)
}

/// An event of mecatl by its parts, for who embeds the profile.
pub fn event(
    phase: &str,
    tool: &str,
    input: Json,
    session_id: &str,
    call_id: &str,
) -> Option<Event> {
    let kind = event_kind(phase)?;
    let text = |key: &str| {
        input.get(key).as_ref().and_then(Json::as_str).map(std::borrow::Cow::into_owned)
    };
    let payload = match kind {
        EventKind::PreToolUse => Payload::Tool(ToolCall { name: tool.to_owned(), input }),
        EventKind::PostToolUse => {
            let part = |key| input.get(key).unwrap_or_else(Json::null);
            let pair = [("content", part("content")), ("is_error", part("is_error"))];
            Payload::ToolResult {
                call: ToolCall { name: tool.to_owned(), input: part("args") },
                failed: part("is_error").as_bool() == Some(true),
                response: Fields::from_iter(pair).to_json(),
            }
        }
        EventKind::UserPromptSubmit => Payload::Prompt(text("prompt")?),
        EventKind::Stop | EventKind::SubagentStop => {
            Payload::Stop(StopFacts { stop_reason: text("stop_reason"), ..StopFacts::default() })
        }
        EventKind::TeammateIdle => {
            let member = input.get("member").unwrap_or_else(Json::null);
            return Some(placed(
                Event::new(kind, Payload::Open).with_field("teammate_name", member),
                session_id,
                call_id,
            ));
        }
        EventKind::TaskCreated | EventKind::TaskCompleted => {
            return Some(placed(
                Event::new(kind, Payload::Open).with_field("task", task_of(&input)),
                session_id,
                call_id,
            ));
        }
        _ => Payload::Open,
    };
    Some(placed(Event::new(kind, payload), session_id, call_id))
}

fn placed(event: Event, session_id: &str, call_id: &str) -> Event {
    event.with_origin(Origin {
        session_id: session_id.to_owned(),
        call_id: (!call_id.is_empty()).then(|| call_id.to_owned()),
        ..Origin::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(event: &Event) -> String {
        String::from_utf8(write(event)).unwrap()
    }

    fn of(phase: &str, tool: &str, input: &str) -> Event {
        event(
            phase,
            tool,
            Json::parse(input).unwrap(),
            "s1",
            if tool.is_empty() { "" } else { "c1" },
        )
        .unwrap()
    }

    #[test]
    fn k1_k2_five_keys_stand_there_in_every_phase() {
        assert_eq!(
            line(&of("SessionStart", "", "null")),
            "{\"Phase\":\"SessionStart\",\"Tool\":\"\",\"Input\":null,\"SessionID\":\"s1\",\"CallID\":\"\"}\n"
        );
        assert_eq!(
            line(&of("PreToolUse", "bash", r#"{"command":"a && b < c"}"#)),
            "{\"Phase\":\"PreToolUse\",\"Tool\":\"bash\",\"Input\":{\"command\":\"a && b < c\"},\"SessionID\":\"s1\",\"CallID\":\"c1\"}\n"
        );
    }

    #[test]
    fn k3_k4_k5_k6_the_input_has_the_shape_of_its_phase() {
        for (phase, tool, shape) in [
            ("PreToolUse", "bash", r#"{"command":"ls"}"#),
            ("PostToolUse", "bash", r#"{"args":{"command":"ls"},"content":"a","is_error":false}"#),
            ("UserPromptSubmit", "", r#"{"prompt":"hi"}"#),
            ("Stop", "", r#"{"stop_reason":"end_turn"}"#),
            ("SubagentStop", "", r#"{"stop_reason":"error"}"#),
            ("TeammateIdle", "", r#"{"member":"ann"}"#),
            ("TaskCreated", "", r#"{"by":"ann","deps":[],"description":"d","task_id":"t1"}"#),
            ("TaskCompleted", "", r#"{"by":"ann","deps":null,"task_id":"t1","team_id":"red"}"#),
        ] {
            let event = of(phase, tool, shape);
            assert_eq!(input(&event).as_text(), shape, "{phase}");
            let read = read(&line(&event), None, &Origin::default()).unwrap();
            assert_eq!(line(&read), line(&event), "{phase}");
        }
    }

    #[test]
    fn b113_a_gate_names_its_tool_and_the_whole_task() {
        let task = r#"{"id":"t1","description":"d","by":"ann","assignee":"bob","team_id":"red"}"#;
        let event = Event::new(EventKind::TaskCompleted, Payload::Open)
            .with_field("task", Json::parse(task).unwrap());
        assert_eq!(
            line(&event),
            "{\"Phase\":\"TaskCompleted\",\"Tool\":\"CompleteTask\",\"Input\":{\"by\":\"ann\",\"deps\":null,\"description\":\"d\",\"task_id\":\"t1\",\"assignee\":\"bob\",\"team_id\":\"red\"},\"SessionID\":\"\",\"CallID\":\"\"}\n"
        );
    }

    #[test]
    fn what_is_no_event_of_mecatl_is_refused() {
        for text in ["", "[]", r#"{"Phase":"Notification"}"#, r#"{"Phase":5}"#] {
            assert!(read(text, None, &Origin::default()).is_err(), "{text}");
        }
        assert!(event("Notification", "", Json::null(), "s", "").is_none());
    }
}
