//! What Qwen Code tells its hooks, and what they can do there.
//!
//! Facts were seen in runs of 0.24.4 unless a comment says otherwise. An `allow` of one hook undoes
//! another's denial there, so none is ever said. It reads stderr as an answer, too.

use tenter_core::event::EventKind as E;

use crate::bridge::Power::{Ask, Context, Deny, Message};
use crate::bridge::{
    Answer, Bridge, EventRow, InputForm, McpName, ResultForm, Saying, Shape, Standard, ToolRow,
    Tools, Wire,
};

/// Qwen Code.
pub static BRIDGE: Bridge = Bridge {
    name: "qwen",
    title: "Qwen Code",
    seen: "0.24.4",
    events: EVENTS,
    wire: &Wire::STANDARD,
    tools: &Tools {
        rows: &[
            ToolRow::new("run_shell_command", "Bash", &[]),
            ToolRow::new("read_file", "Read", &[Shape::Key("absolute_path", "file_path")]),
            ToolRow::new("read_many_files", "Read", &[Shape::Key("paths", "file_paths")]),
            ToolRow::new("write_file", "Write", &[]),
            ToolRow::new("edit", "Edit", &[]),
            ToolRow::new("glob", "Glob", &[]),
            ToolRow::new("grep_search", "Grep", &[]),
            ToolRow::new("agent", "Agent", &[]),
            ToolRow::new("web_fetch", "WebFetch", &[]),
            ToolRow::new("web_search", "WebSearch", &[]),
        ],
        mcp: McpName::Standard,
    },
    inputs: InputForm::Whole,
    results: ResultForm::SameShape,
    project_variables: &["QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    reads_stderr: true,
    only_top_keys: None,
    install: Some(super::install::INSTALL),
    say,
};

static EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", &E::SessionStart, &[Context, Message]),
    // The results of tools go back as a prompt without a text.
    EventRow::new("UserPromptSubmit", &E::UserPromptSubmit, &[Deny, Context, Message])
        .with_prompt(),
    EventRow::new("UserPromptExpansion", &E::UserPromptExpansion, &[]).not_installed(),
    // An ask that nobody can answer is a denial. Neither a changed input nor context is taken, and
    // `continue: false` ends nothing.
    EventRow::new("PreToolUse", &E::PreToolUse, &[Deny, Ask, Message]),
    // By its documentation; it did not fire without a person.
    EventRow::new("PermissionRequest", &E::PermissionRequest, &[Deny]),
    EventRow::new("PermissionDenied", &E::PermissionDenied, &[]).not_installed(),
    EventRow::new("PostToolUse", &E::PostToolUse, &[Context, Message]),
    EventRow::new("PostToolUseFailure", &E::PostToolUseFailure, &[Context, Message]),
    EventRow::new("PostToolBatch", &E::PostToolBatch, &[]).not_installed(),
    EventRow::new("Notification", &E::Notification, &[]),
    EventRow::new("SubagentStart", &E::SubagentStart, &[]),
    EventRow::new("SubagentStop", &E::SubagentStop, &[Deny]),
    // It gives up after eight continuations, and heeds no `continue: false`.
    EventRow::new("Stop", &E::Stop, &[Deny, Message]),
    EventRow::new("StopFailure", &E::StopFailure, &[]).not_installed(),
    EventRow::new("InstructionsLoaded", &E::InstructionsLoaded, &[]).not_installed(),
    EventRow::new("MessageDisplay", &E::MessageDisplay, &[]).not_installed(),
    EventRow::new("PreCompact", &E::PreCompact, &[]),
    EventRow::new("PostCompact", &E::PostCompact, &[]),
    // It never fires where the run was given a prompt.
    EventRow::new("SessionEnd", &E::SessionEnd, &[]),
    EventRow::only_here("TodoCreated", &[]),
    EventRow::only_here("TodoCompleted", &[]),
    EventRow::only_here("SessionDelete", &[]),
];

fn say(saying: &Saying<'_>) -> Answer {
    let mut answer = Standard::default();
    saying.decide(&mut answer);
    answer.rest(saying);
    answer.answer(saying.row.own)
}
