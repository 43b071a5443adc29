//! What Factory Droid tells its hooks, and what they can do there.
//!
//! Facts were seen in runs of `droid exec` 0.215.0 unless a comment says otherwise. The first hook
//! with a decision wins there, so no `allow` is ever said: it would undo the denial of a later one.

use tenter_core::event::EventKind as E;

use crate::bridge::Power::{Context, Deny, Halt, Message, Rewrite};
use crate::bridge::{
    Answer, Bridge, EventRow, InputForm, McpName, ResultForm, Saying, Shape, Standard, ToolRow,
    Tools, Wire,
};

/// Factory Droid.
pub static BRIDGE: Bridge = Bridge {
    name: "droid",
    title: "Factory Droid",
    seen: "0.215.0",
    events: EVENTS,
    wire: &Wire::STANDARD,
    tools: &Tools {
        rows: &[
            ToolRow::new("Execute", "Bash", &[]),
            ToolRow::new("Create", "Write", &[]),
            ToolRow::new("MultiEdit", "Edit", &[]),
            ToolRow::new("ApplyPatch", "Edit", &[Shape::Key("input", "patch")]),
            ToolRow::new("FetchUrl", "WebFetch", &[]),
            ToolRow::new("Task", "Agent", &[]),
        ],
        mcp: McpName::Standard,
    },
    inputs: InputForm::Whole,
    results: ResultForm::SameShape,
    project_variables: &["FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    reads_stderr: false,
    only_top_keys: None,
    install: Some(super::install::INSTALL),
    say,
};

static EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", &E::SessionStart, &[Context, Message]),
    // By its documentation; it did not fire in `exec`.
    EventRow::new("UserPromptSubmit", &E::UserPromptSubmit, &[Deny, Context, Message]),
    // `ask` lets the tool run where nobody can be asked; context does not arrive.
    EventRow::new("PreToolUse", &E::PreToolUse, &[Deny, Rewrite, Halt, Message]),
    // A block is passed over; context arrives as a message of the user.
    EventRow::new("PostToolUse", &E::PostToolUse, &[Context, Message]),
    EventRow::new("Notification", &E::Notification, &[]),
    // A block sends the turn on for ever, and `continue: false` does not end it.
    EventRow::new("Stop", &E::Stop, &[Deny, Message]),
    EventRow::new("SubagentStop", &E::SubagentStop, &[Deny]),
    EventRow::new("PreCompact", &E::PreCompact, &[]),
    EventRow::new("SessionEnd", &E::SessionEnd, &[]),
];

fn say(saying: &Saying<'_>) -> Answer {
    let mut answer = Standard::default();
    saying.decide(&mut answer);
    if let Some(input) = saying.rewrite {
        answer.set_own("updatedInput", input.to_value());
    }
    answer.rest(saying);
    answer.answer(saying.row.own)
}
