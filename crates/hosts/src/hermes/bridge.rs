//! What Hermes Agent tells its hooks, and what they can do there.
//!
//! Facts were seen in runs of 0.19.0. Exit codes mean nothing; one form of JSON stops a tool.

use serde_json::json;
use tenter_core::event::EventKind as E;

use crate::bridge::Power::Deny;
use crate::bridge::{
    Answer, Bridge, EventRow, InputForm, McpName, ResultForm, Saying, Shape, ToolRow, Tools, Wire,
    Word,
};

const PATH: Shape = Shape::Key("path", "file_path");

/// Hermes Agent.
pub static BRIDGE: Bridge = Bridge {
    name: "hermes",
    title: "Hermes Agent",
    seen: "0.19.0",
    events: EVENTS,
    wire: &Wire {
        call: &[&["extra", "tool_call_id"]],
        response: &[&["extra", "result"]],
        failed: &[&["extra", "error_type"]],
        ..Wire::STANDARD
    },
    tools: &Tools {
        rows: &[
            ToolRow::new("terminal", "Bash", &[]),
            ToolRow::new("read_file", "Read", &[PATH]),
            ToolRow::new("write_file", "Write", &[PATH]),
            ToolRow::new("patch", "Edit", &[PATH]),
            ToolRow::new("search_files", "Grep", &[]),
        ],
        mcp: McpName::Single,
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
    EventRow::new("on_session_start", &E::SessionStart, &[]),
    EventRow::new("pre_tool_call", &E::PreToolUse, &[Deny]),
    EventRow::new("post_tool_call", &E::PostToolUse, &[]),
    EventRow::new("on_session_end", &E::SessionEnd, &[]),
    EventRow::new("pre_approval_request", &E::PermissionRequest, &[]).not_installed(),
    EventRow::new("subagent_start", &E::SubagentStart, &[]).not_installed(),
    EventRow::new("subagent_stop", &E::SubagentStop, &[]).not_installed(),
    EventRow::only_here("pre_llm_call", &[]),
    EventRow::only_here("post_llm_call", &[]),
];

fn say(saying: &Saying<'_>) -> Answer {
    match saying.word {
        Word::Deny => Answer::json(&json!({ "decision": "block", "reason": saying.reason })),
        _ => Answer::nothing(),
    }
}
