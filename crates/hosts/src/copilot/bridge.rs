//! What GitHub Copilot CLI tells its hooks, and what they can do there.
//!
//! Facts were seen in runs of 1.0.102 unless a comment says otherwise. The case of an event's name in
//! the hooks file decides the form of payloads and answers: these are the names in camel case, whose
//! answers are flat.

use serde_json::{Map, Value, json};
use tenter_core::event::EventKind as E;

use crate::bridge::Power::{Allow, Ask, Context, Deny, Rewrite};
use crate::bridge::{
    Answer, Bridge, EventRow, InputForm, McpName, ResultForm, Saying, Shape, ToolRow, Tools, Wire,
    Word,
};

const PATH: Shape = Shape::Key("path", "file_path");

/// GitHub Copilot CLI.
pub static BRIDGE: Bridge = Bridge {
    name: "copilot",
    title: "GitHub Copilot CLI",
    seen: "1.0.102",
    events: EVENTS,
    wire: &Wire {
        event: &[&["hook_event_name"], &["hook_name"]],
        input: &[&["tool_args"], &["tool_input"]],
        response: &[&["tool_result"], &["tool_response"]],
        // The main agent has no parent.
        parent: &[&["parent_agent_id"]],
        ..Wire::STANDARD
    },
    tools: &Tools {
        rows: &[
            ToolRow::new("bash", "Bash", &[]),
            ToolRow::new("view", "Read", &[PATH]),
            ToolRow::new("create", "Write", &[PATH, Shape::Key("file_text", "content")]),
            ToolRow::new(
                "edit",
                "Edit",
                &[PATH, Shape::Key("old_str", "old_string"), Shape::Key("new_str", "new_string")],
            ),
            ToolRow::new(
                "str_replace_editor",
                "Edit",
                &[PATH, Shape::Key("old_str", "old_string"), Shape::Key("new_str", "new_string")],
            ),
            ToolRow::new("apply_patch", "Edit", &[Shape::Key("input", "patch")]),
            ToolRow::new("grep", "Grep", &[]),
            ToolRow::new("glob", "Glob", &[]),
            ToolRow::new("web_fetch", "WebFetch", &[]),
            ToolRow::new("task", "Agent", &[]),
        ],
        mcp: McpName::Between("-"),
    },
    inputs: InputForm::Whole,
    results: ResultForm::SameShape,
    project_variables: &["COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    reads_stderr: false,
    only_top_keys: None,
    install: Some(super::install::INSTALL),
    say,
};

static EVENTS: &[EventRow] = &[
    EventRow::new("sessionStart", &E::SessionStart, &[]),
    // Exit 2 does not stop a prompt, a block does.
    EventRow::new("userPromptSubmitted", &E::UserPromptSubmit, &[Deny]),
    // `continue: false` is passed over. An `allow` never beats another hook's denial.
    EventRow::new("preToolUse", &E::PreToolUse, &[Deny, Ask, Allow, Rewrite, Context]),
    // It fires though all tools were allowed; a later answer takes the place of an earlier one, so
    // nothing is allowed here.
    EventRow::new("permissionRequest", &E::PermissionRequest, &[Deny]),
    EventRow::new("postToolUse", &E::PostToolUse, &[Rewrite, Context]),
    EventRow::new("postToolUseFailure", &E::PostToolUseFailure, &[]),
    // It gives up after eight continuations.
    EventRow::new("agentStop", &E::Stop, &[Deny]),
    EventRow::new("subagentStart", &E::SubagentStart, &[]),
    EventRow::new("subagentStop", &E::SubagentStop, &[]),
    EventRow::new("preCompact", &E::PreCompact, &[]),
    EventRow::new("notification", &E::Notification, &[]),
    EventRow::new("sessionEnd", &E::SessionEnd, &[]),
    EventRow::only_here("errorOccurred", &[]),
];

fn say(saying: &Saying<'_>) -> Answer {
    let kind = saying.row.kind();
    let mut top = Map::new();
    let mut set = |key: &str, value: Value| top.insert(key.into(), value);
    match (&kind, saying.word) {
        (_, Word::Nothing) => {}
        (E::PreToolUse, word) => {
            let (name, reason) = match word {
                Word::Deny => ("deny", saying.reason),
                Word::Ask => ("ask", saying.reason),
                _ => ("allow", ""),
            };
            set("permissionDecision", json!(name));
            if !reason.is_empty() {
                set("permissionDecisionReason", json!(reason));
            }
        }
        (E::PermissionRequest, _) => {
            set("behavior", json!("deny"));
            set("message", json!(saying.reason));
        }
        _ => {
            set("decision", json!("block"));
            set("reason", json!(saying.reason));
        }
    }
    if let Some(rewrite) = saying.rewrite {
        let key = if kind == E::PostToolUse { "modifiedResult" } else { "modifiedArgs" };
        set(key, rewrite.to_value());
    }
    if let Some(context) = saying.context {
        set("additionalContext", json!(context));
    }
    if top.is_empty() { Answer::nothing() } else { Answer::json(&Value::Object(top)) }
}
