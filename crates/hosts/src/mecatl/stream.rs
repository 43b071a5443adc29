//! What a client sees of the hooks of an event.
//!
//! Owns: from an outcome to the marks `info`, `blocked`, `modified` and `advisory`. Does not own: the
//! numbering of a client's stream; whoever writes that adds it.

use serde::Serialize;
use tenter_core::event::{Event, EventKind};
use tenter_core::outcome::{HookReport, Outcome, Status};
use tenter_core::verdict::Decision;

use super::profile::phase;

/// What a mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HookDecision {
    /// Something was ignored, or went wrong.
    Info,
    /// The hook blocks, or would where that means something.
    Blocked,
    /// The payload is another now.
    Modified,
    /// The hook has something to say about a tool call.
    Advisory,
}

/// One mark for a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StreamEvent {
    /// The phase.
    pub phase: &'static str,
    /// The tool, in the phases of tools.
    pub tool: String,
    /// What it says.
    pub decision: HookDecision,
    /// Why, for people.
    pub text: String,
    /// The call, in the phases of tools.
    pub call_id: String,
}

/// The marks of an event's hooks, in the order of the hooks. Nothing for phases that are told behind the
/// run, and nothing where the hooks have nothing to say.
pub fn stream_events(event: &Event, outcome: &Outcome) -> Vec<StreamEvent> {
    let Some(phase) = phase(&event.kind) else { return Vec::new() };
    let mark = |decision, text: &str| StreamEvent {
        phase,
        tool: event.tool_name().unwrap_or_default().to_owned(),
        decision,
        text: text.to_owned(),
        call_id: event.origin.call_id.clone().unwrap_or_default(),
    };
    let mut marks = Vec::new();
    let about_tool = event.tool_call().is_some();
    for report in &outcome.hooks {
        let failed = matches!(report.status, Status::Failed(_));
        let reason = report.reason.as_deref().unwrap_or_default();
        let annotates =
            matches!(event.kind, EventKind::PostToolUse | EventKind::PostToolUseFailure);
        match report.decision {
            // An annotation without a word is none (86).
            Decision::Deny if !(annotates && reason.is_empty()) => {
                marks.push(mark(HookDecision::Blocked, reason));
            }
            _ if failed => marks.push(mark(HookDecision::Info, reason)),
            _ => {}
        }
        if report.rewrite {
            marks.push(mark(HookDecision::Modified, "the hook has changed the payload"));
        }
        marks.extend(refused(report).map(|text| mark(HookDecision::Info, text)));
    }
    if about_tool {
        let said = outcome.messages.iter().filter(|message| {
            message.hook.is_some() && message.level == tenter_core::diagnostic::Severity::Info
        });
        marks.extend(said.map(|message| mark(HookDecision::Advisory, &message.text)));
    }
    marks
}

/// What a hook's answer held that was not applied.
fn refused(report: &HookReport) -> impl Iterator<Item = &str> {
    let told = report.diagnostics().iter().filter(|one| {
        one.code.starts_with("rewrite.")
            || matches!(one.code, "output.null-rewrite" | "output.broken-json")
    });
    told.map(|one| &*one.message)
}
