//! What Claude Code tells its hooks, and what they can do there.
//!
//! Facts were seen in runs of 2.1.332 unless a comment says otherwise. Its answers are JSON with
//! exit 0: the reason then stands alone, where that of exit 2 comes behind the hook's whole command
//! line.

use serde_json::{Map, Value, json};
use tenter_core::event::EventKind as E;

use crate::bridge::Power::{Allow, Ask, Context, Deny, Halt, Message, Rewrite};
use crate::bridge::{
    Answer, Bridge, EventRow, InputForm, McpName, ResultForm, Saying, Standard, Tools, Wire, Word,
};

/// Claude Code.
pub static BRIDGE: Bridge = Bridge {
    name: "claude",
    title: "Claude Code",
    seen: "2.1.332",
    events: EVENTS,
    wire: &Wire::STANDARD,
    tools: &Tools { rows: &[], mcp: McpName::Standard },
    inputs: InputForm::Whole,
    results: ResultForm::SameShape,
    project_variables: &["CLAUDE_PROJECT_DIR"],
    // Behind exit 0 it goes to the debug log alone.
    reads_stderr: false,
    only_top_keys: None,
    install: Some(super::install::INSTALL),
    say,
};

/// Its events. What each lets a hook do is the documentation's table of exit codes and of output
/// fields.
static EVENTS: &[EventRow] = &[
    // Neither exit 2 nor `continue: false` stops a session.
    EventRow::new("SessionStart", &E::SessionStart, &[Context, Message]),
    // Everything it prints is discarded.
    EventRow::new("Setup", &E::Setup, &[]).not_installed(),
    EventRow::new("UserPromptSubmit", &E::UserPromptSubmit, &[Deny, Context, Halt, Message]),
    EventRow::new("UserPromptExpansion", &E::UserPromptExpansion, &[Deny, Context, Halt, Message])
        .not_installed(),
    EventRow::new("MessageDisplay", &E::MessageDisplay, &[]).not_installed(),
    EventRow::new(
        "PreToolUse",
        &E::PreToolUse,
        &[Deny, Ask, Allow, Rewrite, Context, Halt, Message],
    ),
    // Only its `decision` object counts there, and it has no question to put.
    EventRow::new(
        "PermissionRequest",
        &E::PermissionRequest,
        &[Deny, Allow, Rewrite, Halt, Message],
    ),
    EventRow::new("PermissionDenied", &E::PermissionDenied, &[]).not_installed(),
    EventRow::new("PostToolUse", &E::PostToolUse, &[Rewrite, Context, Halt, Message]),
    EventRow::new("PostToolUseFailure", &E::PostToolUseFailure, &[Context, Halt, Message]),
    EventRow::new("PostToolBatch", &E::PostToolBatch, &[Context, Halt, Message]).not_installed(),
    EventRow::new("Notification", &E::Notification, &[]),
    EventRow::new("SubagentStart", &E::SubagentStart, &[Context]),
    EventRow::new("SubagentStop", &E::SubagentStop, &[Deny, Halt, Message]),
    EventRow::new("TaskCreated", &E::TaskCreated, &[Deny]),
    EventRow::new("TaskCompleted", &E::TaskCompleted, &[Deny]),
    EventRow::new("Stop", &E::Stop, &[Deny, Halt, Message]),
    EventRow::new("StopFailure", &E::StopFailure, &[]).not_installed(),
    EventRow::new("TeammateIdle", &E::TeammateIdle, &[Deny, Halt]),
    EventRow::new("InstructionsLoaded", &E::InstructionsLoaded, &[]).not_installed(),
    EventRow::new("ConfigChange", &E::ConfigChange, &[Deny]).not_installed(),
    EventRow::new("CwdChanged", &E::CwdChanged, &[]).not_installed(),
    EventRow::new("DirectoryAdded", &E::DirectoryAdded, &[]).not_installed(),
    EventRow::new("FileChanged", &E::FileChanged, &[]).not_installed(),
    EventRow::new("WorktreeCreate", &E::WorktreeCreate, &[]).not_installed(),
    EventRow::new("WorktreeRemove", &E::WorktreeRemove, &[]).not_installed(),
    EventRow::new("PreCompact", &E::PreCompact, &[Deny]),
    EventRow::new("PostCompact", &E::PostCompact, &[]),
    EventRow::new("PreModelSwitch", &E::PreModelSwitch, &[Deny, Ask, Allow]).not_installed(),
    EventRow::new("PostModelSwitch", &E::PostModelSwitch, &[Context]).not_installed(),
    EventRow::new("SessionEnd", &E::SessionEnd, &[]),
    EventRow::new("Elicitation", &E::Elicitation, &[Deny]).not_installed(),
    EventRow::new("ElicitationResult", &E::ElicitationResult, &[Deny]).not_installed(),
    EventRow::new("PreSkillShellCommand", &E::PreSkillShellCommand, &[Deny]).not_installed(),
];

fn say(saying: &Saying<'_>) -> Answer {
    let kind = saying.row.kind();
    let mut answer = Standard::default();
    match kind {
        E::PreToolUse | E::PreModelSwitch => {
            // `continue: false` alone lets the tool run first.
            let stops = saying.halt && saying.word == Word::Nothing;
            answer.permission(if stops { Word::Deny } else { saying.word }, saying.reason);
            if let Some(input) = saying.rewrite {
                answer.set_own("updatedInput", input.to_value());
            }
        }
        E::PermissionRequest => {
            let mut decision = Map::new();
            if saying.word == Word::Deny || saying.halt {
                decision.insert("behavior".into(), json!("deny"));
                decision.insert("message".into(), json!(saying.reason));
                if saying.halt {
                    decision.insert("interrupt".into(), json!(true));
                }
            } else if saying.word == Word::Allow {
                decision.insert("behavior".into(), json!("allow"));
                if let Some(input) = saying.rewrite {
                    decision.insert("updatedInput".into(), input.to_value());
                }
            }
            if !decision.is_empty() {
                answer.set_own("decision", Value::Object(decision));
            }
        }
        // These have no field for a decision: their exit code is the decision.
        E::TaskCompleted
        | E::TeammateIdle
        | E::Elicitation
        | E::ElicitationResult
        | E::PreSkillShellCommand
            if saying.word == Word::Deny && !saying.halt =>
        {
            return Answer::exit_2(saying.reason);
        }
        _ if saying.word == Word::Deny => answer.block(saying.reason),
        _ => {}
    }
    if kind == E::PostToolUse
        && let Some(response) = saying.rewrite
    {
        answer.set_own("updatedToolOutput", response.to_value());
    }
    answer.rest(saying);
    answer.answer(saying.row.own)
}
