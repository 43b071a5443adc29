//! What Cursor tells its hooks, and what they can do there.
//!
//! Facts are from its documentation of August 2026 and from reports of others who measured it; no run
//! of ours has shown them.

use serde_json::{Map, Value, json};
use tenter_core::event::EventKind as E;

use crate::bridge::Power::{Context, Deny, Message, Rewrite};
use crate::bridge::{
    Answer, Bridge, EventRow, InputForm, McpName, ResultForm, Saying, Shape, ToolRow, Tools, Wire,
    Word,
};

const PATH: Shape = Shape::Key("path", "file_path");

/// Cursor.
pub static BRIDGE: Bridge = Bridge {
    name: "cursor",
    title: "Cursor",
    seen: "documentation of August 2026",
    events: EVENTS,
    wire: &Wire {
        session: &[&["session_id"], &["conversation_id"]],
        // It may be there and empty. The process's own folder is `~/.cursor` for a user's hooks.
        cwd: &[&["cwd"], &["workspace_roots", "0"]],
        response: &[&["tool_output"]],
        ..Wire::STANDARD
    },
    tools: &Tools {
        rows: &[
            ToolRow::new("Shell", "Bash", &[]),
            ToolRow::new("Read", "Read", &[PATH]),
            ToolRow::new("Write", "Write", &[PATH, Shape::Key("contents", "content")]),
            ToolRow::new("Delete", "Edit", &[PATH]),
            ToolRow::new("Task", "Agent", &[]),
            ToolRow::new("TabRead", "Read", &[PATH]),
            ToolRow::new("TabWrite", "Write", &[PATH]),
        ],
        mcp: McpName::ToolAfter("MCP:"),
    },
    inputs: InputForm::Whole,
    results: ResultForm::SameShape,
    project_variables: &["CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    reads_stderr: false,
    only_top_keys: None,
    install: Some(super::install::INSTALL),
    say,
};

static EVENTS: &[EventRow] = &[
    EventRow::new("sessionStart", &E::SessionStart, &[Context]),
    EventRow::new("beforeSubmitPrompt", &E::UserPromptSubmit, &[Deny]),
    // `ask` is not enforced and `allow` is passed over. The events about shell commands, tool servers
    // and files fire for the same calls.
    EventRow::new("preToolUse", &E::PreToolUse, &[Deny, Rewrite]),
    EventRow::new("postToolUse", &E::PostToolUse, &[Context]),
    EventRow::new("postToolUseFailure", &E::PostToolUseFailure, &[]),
    EventRow::new("subagentStart", &E::SubagentStart, &[]),
    EventRow::new("subagentStop", &E::SubagentStop, &[Deny]),
    EventRow::new("preCompact", &E::PreCompact, &[Message]),
    EventRow::new("stop", &E::Stop, &[Deny]),
    EventRow::new("sessionEnd", &E::SessionEnd, &[]),
    EventRow::only_here("afterAgentResponse", &[]),
    EventRow::only_here("afterAgentThought", &[]),
    EventRow::only_here("beforeTabFileRead", &[]),
    EventRow::only_here("afterTabFileEdit", &[]),
    EventRow::only_here("workspaceOpen", &[]),
];

fn say(saying: &Saying<'_>) -> Answer {
    let mut top = Map::new();
    let mut set = |key: &str, value: Value| top.insert(key.into(), value);
    match (saying.row.kind(), saying.word) {
        (E::PreToolUse, Word::Deny) => {
            set("permission", json!("deny"));
            // The model was seen to read the first, and is promised the second.
            set("user_message", json!(saying.reason));
            set("agent_message", json!(saying.reason));
        }
        (E::UserPromptSubmit, Word::Deny) => {
            set("continue", json!(false));
            set("user_message", json!(saying.reason));
        }
        (_, Word::Deny) => {
            set("followup_message", json!(saying.reason));
        }
        _ => {}
    }
    if let Some(input) = saying.rewrite {
        set("permission", json!("allow"));
        set("updated_input", input.to_value());
    }
    if let Some(context) = saying.context {
        set("additional_context", json!(context));
    }
    if let Some(message) = saying.message {
        set("user_message", json!(message));
    }
    // With `failClosed` no output at all is a failure, and a failure stops the call.
    Answer::json(&Value::Object(top))
}
