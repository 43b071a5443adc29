//! What a client sees of the hooks of an event.
//!
//! Owns: from an outcome to the marks `info`, `blocked`, `modified` and `advisory`. Does not own: the
//! numbering of a client's stream; whoever writes that adds it.

use serde::Serialize;
use tenter_core::contract::{Asks, Block, Contract, OnFailure};
use tenter_core::diagnostic::Severity;
use tenter_core::event::Event;
use tenter_core::outcome::{HookReport, Outcome, Status};
use tenter_core::verdict::Decision;

use super::profile::{PROFILE, phase};

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

/// The marks of an event's hooks, in the order of the hooks; none where they have nothing to say. A
/// question is none of them: it is asked (68).
pub fn stream_events(event: &Event, outcome: &Outcome) -> Vec<StreamEvent> {
    let Some(phase) = phase(&event.kind) else { return Vec::new() };
    let mark = |decision, text: &str| StreamEvent {
        phase,
        tool: event.tool_name().unwrap_or_default().to_owned(),
        decision,
        text: text.to_owned(),
        call_id: event.origin.call_id.clone().unwrap_or_default(),
    };
    let contract = PROFILE.contract(&event.kind);
    let mut marks = Vec::new();
    for report in &outcome.hooks {
        let reason = report.reason.as_deref().unwrap_or_default();
        if let Some(decision) = blocks(report, contract) {
            marks.push(mark(decision, reason));
        }
        if report.rewrite {
            marks.push(mark(HookDecision::Modified, "the hook has changed the payload"));
        }
        marks.extend(refused(report).map(|text| mark(HookDecision::Info, text)));
    }
    // A result may be kept from the model without a hook that rewrote it (90, 94).
    if outcome.rewritten.is_some() && !outcome.hooks.iter().any(|report| report.rewrite) {
        marks.push(mark(HookDecision::Modified, "the result is withheld"));
    }
    let about_tool = event.tool_call().is_some();
    let said = if about_tool { HookDecision::Advisory } else { HookDecision::Info };
    let messages = outcome.messages.iter();
    let messages = messages.filter(|one| one.hook.is_some() && one.level == Severity::Info);
    marks.extend(messages.map(|message| mark(said, &message.text)));
    marks
}

/// What a hook's block or failure is for a client.
fn blocks(report: &HookReport, contract: &Contract) -> Option<HookDecision> {
    let says = match report.decision {
        Decision::Ask if contract.merge.asks == Asks::Denies => Decision::Deny,
        said => said,
    };
    let failed = matches!(report.status, Status::Failed(_) | Status::Cancelled);
    let policy = report.hook.failure_policy(contract);
    match contract.block {
        // Told, and no more: a block without a word is none (101).
        Block::Nothing if says == Decision::Deny || failed => {
            report.reason.is_some().then_some(HookDecision::Info)
        }
        // An annotation without a word is none (86).
        Block::Annotates if says == Decision::Deny && !failed => {
            report.reason.is_some().then_some(HookDecision::Blocked)
        }
        _ if says == Decision::Deny && !failed => Some(HookDecision::Blocked),
        // An error that holds something up is a block, and is seen as one (37, 51).
        block if failed && policy == OnFailure::Block && block.stops_action() => {
            Some(HookDecision::Blocked)
        }
        _ if failed => Some(HookDecision::Info),
        _ => None,
    }
}

/// What a hook's answer held that was not applied or not understood.
fn refused(report: &HookReport) -> impl Iterator<Item = &str> {
    let told = report.diagnostics().iter().filter(|one| {
        one.code != "output.foreign-denial"
            && (one.code.starts_with("rewrite.") || one.code.starts_with("output."))
    });
    told.map(|one| &*one.message)
}
