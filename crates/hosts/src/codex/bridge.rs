//! What Codex CLI tells its hooks, and what they can do there.
//!
//! Facts were seen in runs of 0.171.0 unless a comment says otherwise. Its reader of answers is
//! strict: one key that it does not know, a denial without a reason, an `ask`, or an `allow` without a
//! changed input voids the whole answer, and the tool runs. So each answer here holds exactly what its
//! event takes.

use serde_json::{Map, Value, json};
use tenter_core::event::EventKind as E;

use crate::bridge::Power::{Context, Deny, Halt, Message, Rewrite};
use crate::bridge::{
    Answer, Bridge, EventRow, McpName, ResultForm, Saying, Shape, ToolRow, Tools, Wire, Word,
};

/// Codex CLI.
pub static BRIDGE: Bridge = Bridge {
    name: "codex",
    title: "Codex CLI",
    seen: "0.171.0",
    events: EVENTS,
    wire: &Wire::STANDARD,
    tools: &Tools {
        rows: &[
            // Shell tools arrive as `Bash` already.
            ToolRow::new("apply_patch", "Edit", &[Shape::Key("command", "patch")]),
            ToolRow::new("spawn_agent", "Agent", &[Shape::Key("message", "prompt")]),
        ],
        mcp: McpName::Standard,
    },
    results: ResultForm::Text,
    // It sets none.
    project_variables: &[],
    reads_stderr: false,
    install: Some(super::install::INSTALL),
    say,
};

static EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", &E::SessionStart, &[Context, Halt, Message]),
    EventRow::new("UserPromptSubmit", &E::UserPromptSubmit, &[Deny, Context, Halt, Message]),
    // Neither `ask` nor a bare `allow` nor `continue: false` is accepted.
    EventRow::new("PreToolUse", &E::PreToolUse, &[Deny, Rewrite, Context, Message]),
    EventRow::new("PermissionRequest", &E::PermissionRequest, &[Deny, Message]),
    // A block puts its reason in the place of the result.
    EventRow::new("PostToolUse", &E::PostToolUse, &[Rewrite, Context, Halt, Message]),
    EventRow::new("SubagentStart", &E::SubagentStart, &[Context, Message]),
    EventRow::new("SubagentStop", &E::SubagentStop, &[Deny, Halt, Message]),
    EventRow::new("Stop", &E::Stop, &[Deny, Halt, Message]),
    EventRow::new("PreCompact", &E::PreCompact, &[Halt, Message]),
    EventRow::new("PostCompact", &E::PostCompact, &[Halt, Message]),
    EventRow::new("SessionEnd", &E::SessionEnd, &[]),
    EventRow::only_here("Interrupt", &[Message]),
    EventRow::only_here("PreModelRequest", &[]),
    EventRow::only_here("PostModelRequest", &[]),
];

fn say(saying: &Saying<'_>) -> Answer {
    if saying.is_nothing() {
        return Answer::nothing();
    }
    let kind = saying.row.kind();
    let mut top = Map::new();
    let mut own = Map::new();
    match (&kind, saying.word) {
        (E::PreToolUse, Word::Deny) => {
            own.insert("permissionDecision".into(), json!("deny"));
            own.insert("permissionDecisionReason".into(), json!(saying.reason));
        }
        (E::PreToolUse, _) => {
            if let Some(input) = saying.rewrite {
                own.insert("permissionDecision".into(), json!("allow"));
                own.insert("updatedInput".into(), input.to_value());
            }
        }
        (E::PermissionRequest, Word::Deny) => {
            own.insert("decision".into(), json!({ "behavior": "deny", "message": saying.reason }));
        }
        (_, Word::Deny) => {
            top.insert("decision".into(), json!("block"));
            top.insert("reason".into(), json!(saying.reason));
        }
        _ => {}
    }
    if kind == E::PostToolUse
        && let Some(content) = saying.content
    {
        // An empty reason voids the answer.
        let content = if content.trim().is_empty() { "(no output)" } else { content };
        top.insert("decision".into(), json!("block"));
        top.insert("reason".into(), json!(content));
    }
    if let Some(context) = saying.context {
        own.insert("additionalContext".into(), json!(context));
    }
    if saying.halt {
        top.insert("continue".into(), json!(false));
        top.insert("stopReason".into(), json!(saying.reason));
    }
    if let Some(message) = saying.message {
        top.insert("systemMessage".into(), json!(message));
    }
    if !own.is_empty() {
        own.insert("hookEventName".into(), json!(saying.row.own));
        top.insert("hookSpecificOutput".into(), Value::Object(own));
    }
    Answer::json(&Value::Object(top))
}
