//! What Crush tells its hooks, and what they can do there.
//!
//! Facts are from its source of August 2026, where its hooks were run by themselves. It has one event.
//! Its reader of answers is strict: one value of a wrong type voids the whole answer.

use serde_json::{Map, Value, json};
use tenter_core::event::EventKind as E;

use crate::bridge::Power::{Allow, Context, Deny, Halt, Rewrite};
use crate::bridge::{
    Answer, Bridge, EventRow, InputForm, McpName, ResultForm, Saying, ToolRow, Tools, Wire, Word,
};

/// Crush.
pub static BRIDGE: Bridge = Bridge {
    name: "crush",
    title: "Crush",
    seen: "source of August 2026",
    events: EVENTS,
    wire: &Wire { event: &[&["hook_event_name"], &["event"]], ..Wire::STANDARD },
    tools: &Tools {
        rows: &[
            ToolRow::new("bash", "Bash", &[]),
            ToolRow::new("view", "Read", &[]),
            ToolRow::new("write", "Write", &[]),
            ToolRow::new("edit", "Edit", &[]),
            ToolRow::new("multiedit", "Edit", &[]),
            ToolRow::new("grep", "Grep", &[]),
            ToolRow::new("glob", "Glob", &[]),
            ToolRow::new("fetch", "WebFetch", &[]),
            ToolRow::new("agentic_fetch", "WebFetch", &[]),
            ToolRow::new("agent", "Agent", &[]),
        ],
        mcp: McpName::Single,
    },
    // Keys are paths there, and a patch is laid over the input.
    inputs: InputForm::PlainPatch,
    results: ResultForm::SameShape,
    project_variables: &["CRUSH_PROJECT_DIR"],
    // What is there goes to its log.
    reads_stderr: false,
    only_top_keys: None,
    install: Some(super::install::INSTALL),
    say,
};

static EVENTS: &[EventRow] =
    &[EventRow::new("PreToolUse", &E::PreToolUse, &[Deny, Allow, Rewrite, Context, Halt])];

fn say(saying: &Saying<'_>) -> Answer {
    let mut top = Map::new();
    match saying.word {
        Word::Deny => {
            top.insert("decision".into(), json!("deny"));
        }
        Word::Allow if !saying.halt => {
            top.insert("decision".into(), json!("allow"));
        }
        _ => {}
    }
    if saying.halt {
        top.insert("halt".into(), json!(true));
    }
    if saying.halt || saying.word == Word::Deny {
        top.insert("reason".into(), json!(saying.reason));
    }
    if let Some(input) = saying.rewrite {
        top.insert("updated_input".into(), input.to_value());
    }
    if let Some(context) = saying.context {
        top.insert("context".into(), json!(context));
    }
    if top.is_empty() { Answer::nothing() } else { Answer::json(&Value::Object(top)) }
}
