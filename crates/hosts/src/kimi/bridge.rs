//! What Kimi Code tells its hooks, and what they can do there.
//!
//! Facts are from its documentation of August 2026 and from reports; no run of ours has shown them. A
//! hook can deny and, at a prompt, add a text. It takes no other part of an answer.

use serde_json::json;
use tenter_core::event::EventKind as E;

use crate::bridge::Power::{Context, Deny};
use crate::bridge::{
    Answer, Bridge, EventRow, InputForm, McpName, ResultForm, Saying, Shape, ToolRow, Tools, Wire,
    Word,
};

const PATH: Shape = Shape::Key("path", "file_path");

/// Kimi Code.
pub static BRIDGE: Bridge = Bridge {
    name: "kimi",
    title: "Kimi Code",
    seen: "documentation of August 2026",
    events: EVENTS,
    wire: &Wire {
        call: &[&["tool_call_id"], &["tool_use_id"]],
        response: &[&["tool_output"]],
        ..Wire::STANDARD
    },
    tools: &Tools {
        rows: &[
            ToolRow::new("Shell", "Bash", &[]),
            ToolRow::new("Read", "Read", &[PATH]),
            ToolRow::new("ReadFile", "Read", &[PATH]),
            ToolRow::new("Write", "Write", &[PATH]),
            ToolRow::new("WriteFile", "Write", &[PATH]),
            ToolRow::new("Edit", "Edit", &[PATH]),
            ToolRow::new("StrReplaceFile", "Edit", &[PATH]),
        ],
        mcp: McpName::Standard,
    },
    inputs: InputForm::Whole,
    results: ResultForm::SameShape,
    project_variables: &[],
    reads_stderr: false,
    only_top_keys: None,
    install: Some(super::install::INSTALL),
    say,
};

static EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", &E::SessionStart, &[]),
    EventRow::new("UserPromptSubmit", &E::UserPromptSubmit, &[Deny, Context]),
    EventRow::new("PreToolUse", &E::PreToolUse, &[Deny]),
    EventRow::new("PermissionRequest", &E::PermissionRequest, &[]),
    EventRow::new("PostToolUse", &E::PostToolUse, &[]),
    EventRow::new("PostToolUseFailure", &E::PostToolUseFailure, &[]),
    EventRow::new("Notification", &E::Notification, &[]),
    EventRow::new("SubagentStart", &E::SubagentStart, &[]),
    EventRow::new("SubagentStop", &E::SubagentStop, &[]),
    EventRow::new("Stop", &E::Stop, &[Deny]),
    EventRow::new("PreCompact", &E::PreCompact, &[]),
    EventRow::new("PostCompact", &E::PostCompact, &[]),
    EventRow::new("SessionEnd", &E::SessionEnd, &[]),
    EventRow::only_here("PermissionResult", &[]),
    EventRow::only_here("Interrupt", &[]),
    EventRow::only_here("TurnStarted", &[]),
    EventRow::only_here("UserPromptQueued", &[]),
    EventRow::only_here("TaskStarted", &[]),
    EventRow::only_here("SessionHeartbeat", &[]),
];

fn say(saying: &Saying<'_>) -> Answer {
    match (saying.word, saying.context) {
        (Word::Deny, _) => Answer::exit_2(saying.reason),
        (_, Some(context)) => Answer::json(&json!({ "message": context })),
        _ => Answer::nothing(),
    }
}
