//! What completes an outcome for those who look at it: hooks that nobody waited for, and hooks that
//! were not worth a look.

use std::sync::Arc;
use std::time::Duration;

use tenter::core::diagnostic::Severity;
use tenter::core::plan::Plan;
use tenter::{Event, Finished, HookReport, Message, Outcome, Session, Status};

/// How long detached hooks get after the outcome is there. Each has a time of its own, too.
pub(crate) const GRACE: Duration = Duration::from_mins(1);

/// Whether hooks of it still run behind it.
pub(crate) fn has_detached(outcome: &Outcome) -> bool {
    outcome.hooks.iter().any(|report| report.detached)
}

/// Adds reports of hooks that keep an event from nobody, where there are no others.
pub(crate) fn add_left_out(outcome: &mut Outcome, session: &Session, event: &Event) {
    if outcome.hooks.is_empty() {
        outcome.hooks = left_out(&session.plan(event));
    }
}

/// Puts what became of detached hooks in the place of what was known of them before.
pub(crate) fn add_detached(outcome: &mut Outcome, finished: Finished) {
    let mut waiting: Vec<&mut HookReport> = outcome
        .hooks
        .iter_mut()
        .filter(|report| report.detached && report.status == Status::Ok)
        .collect();
    for mut detached in finished.outcomes {
        outcome.messages.append(&mut detached.messages);
        let Some(report) = detached.hooks.pop() else { continue };
        if let Some(at) = waiting.iter().position(|one| Arc::ptr_eq(&one.hook, &report.hook)) {
            *waiting.swap_remove(at) = report;
        }
    }
    for report in waiting {
        report.status = Status::Cancelled;
        let name = report.hook.name.clone();
        outcome.messages.push(Message {
            level: Severity::Warning,
            text: format!("hook `{name}` was ended before it was done"),
            hook: Some(name),
        });
    }
}

/// Reports of hooks that keep an event from nobody: it was not worth a look at them.
fn left_out(plan: &Plan) -> Vec<HookReport> {
    let skipped = plan.hooks.iter().filter_map(|planned| Some((planned, planned.skip?)));
    skipped
        .map(|(planned, skip)| HookReport::new(Arc::clone(&planned.hook), Status::Skipped(skip)))
        .collect()
}
