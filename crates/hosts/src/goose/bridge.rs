//! What Goose tells its hooks, and what they can do there.
//!
//! Facts are from its source and documentation of August 2026; no run of ours has shown them. It reads
//! the output of two events and throws that of all others away. Plain text is a failure of the hook.

use serde_json::json;
use tenter_core::event::EventKind as E;

use crate::bridge::Power::Deny;
use crate::bridge::{
    Answer, Bridge, EventRow, InputForm, McpName, ResultForm, Saying, Shape, ToolRow, Tools, Wire,
    Word,
};

const PATH: Shape = Shape::Key("path", "file_path");
const EDITS: &[Shape] = &[
    PATH,
    Shape::Key("old_str", "old_string"),
    Shape::Key("new_str", "new_string"),
    Shape::Key("file_text", "content"),
];

/// Goose.
pub static BRIDGE: Bridge = Bridge {
    name: "goose",
    title: "Goose",
    seen: "source of August 2026",
    events: EVENTS,
    wire: &Wire {
        event: &[&["event"], &["hook_event_name"]],
        cwd: &[&["working_dir"], &["cwd"]],
        call: &[&["tool_call_id"]],
        response: &[&["tool_output"]],
        prompt: &[&["message"]],
        ..Wire::STANDARD
    },
    tools: &Tools {
        rows: &[
            ToolRow::new("developer__shell", "Bash", &[]),
            ToolRow::new("shell", "Bash", &[]),
            ToolRow::new("developer__text_editor", "Read", EDITS).when("command", "view"),
            ToolRow::new("developer__text_editor", "Write", EDITS).when("command", "write"),
            ToolRow::new("developer__text_editor", "Edit", EDITS),
        ],
        mcp: McpName::Between("__"),
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
    EventRow::new("UserPromptSubmit", &E::UserPromptSubmit, &[]),
    EventRow::new("PreToolUse", &E::PreToolUse, &[Deny]),
    EventRow::new("PostToolUse", &E::PostToolUse, &[]),
    EventRow::new("PostToolUseFailure", &E::PostToolUseFailure, &[]),
    EventRow::new("Stop", &E::Stop, &[Deny]),
    EventRow::new("SessionEnd", &E::SessionEnd, &[]),
    EventRow::only_here("PreToolUseResult", &[]),
];

fn say(saying: &Saying<'_>) -> Answer {
    match saying.word {
        Word::Deny => Answer::json(&json!({ "decision": "block", "reason": saying.reason })),
        _ => Answer::nothing(),
    }
}
