//! What Codex CLI tells its hooks, and what they can do there.
//!
//! Facts were seen in runs of 0.171.0 unless a comment says otherwise. Its reader of answers is
//! strict: one key that it does not know, a denial without a reason, an `ask`, or an `allow` without a
//! changed input voids the whole answer, and the tool runs. So each answer here holds exactly what its
//! event takes.

use serde_json::json;
use tenter_core::event::EventKind as E;

use crate::bridge::Power::{Context, Deny, Halt, Message, Rewrite};
use crate::bridge::{
    Answer, Bridge, EventRow, InputForm, McpName, ResultForm, Saying, Shape, Standard, ToolRow,
    Tools, Wire, Word,
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
    inputs: InputForm::Whole,
    results: ResultForm::Text,
    // It sets none.
    project_variables: &[],
    reads_stderr: false,
    only_top_keys: Some(&["description", "hooks"]),
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
    let kind = saying.row.kind();
    let mut answer = Standard::default();
    match (&kind, saying.word) {
        (E::PreToolUse, Word::Deny) => answer.permission(Word::Deny, saying.reason),
        (E::PreToolUse, _) => {
            if let Some(input) = saying.rewrite {
                answer.permission(Word::Allow, "");
                answer.set_own("updatedInput", input.to_value());
            }
        }
        (E::PermissionRequest, Word::Deny) => {
            answer.set_own("decision", json!({ "behavior": "deny", "message": saying.reason }));
        }
        (_, Word::Deny) => answer.block(saying.reason),
        _ => {}
    }
    if kind == E::PostToolUse
        && let Some(content) = saying.content
    {
        // An empty reason voids the answer.
        answer.block(if content.trim().is_empty() { "(no output)" } else { content });
    }
    answer.rest(saying);
    answer.answer(saying.row.own)
}
