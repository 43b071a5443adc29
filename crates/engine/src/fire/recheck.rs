//! Asking guards again when others have changed the payload: no rewrite carries a call past a
//! guard.

use std::sync::Arc;

use futures_util::future::join_all;
use tenter_core::contract::OnFailure;
use tenter_core::diagnostic::Severity;
use tenter_core::event::Event;
use tenter_core::hook::Hook;
use tenter_core::json::Json;
use tenter_core::merge::{Said, Voice, merge};
use tenter_core::outcome::{Outcome, Recheck};
use tenter_core::verdict::Decision;

use crate::fire::one::{self, Asked};
use crate::fire::settle::Draft;
use crate::fire::speak::{add_reason, failure_message, failure_text, message};
use crate::fire::{Answer, Facts, Fire, Wire, skip_of};

/// Plans the event once more on its folded payload and asks the guards that match it. They may
/// only deny or ask. An allow was given for what its hook saw: it stands only if that is the folded
/// payload, or if its hook allows again.
pub(super) async fn recheck(fire: &Fire<'_>, event: &Event, draft: &mut Draft) {
    let Draft { outcome, answers, merged, allowed_by } = draft;
    let Some(folded) = &merged.payload else { return };
    let rewritten = event.with_rewritten(folded);
    let facts = Facts::new(fire.snapshot, &rewritten);
    let wire = Wire::new(&rewritten, &facts);
    let selection = fire.snapshot.select(&rewritten, fire.contract);
    let knows = |at: usize| knows_already(fire, event, folded, answers, at);
    let mut asked = Vec::new();
    for (at, slot) in selection.iter().enumerate() {
        let Some(hook) = fire.snapshot.table.get(slot.hook) else { continue };
        let ran_before = outcome.hooks.get(at).is_some_and(|report| report.status.ran());
        // `once` and strikes are about runs for an event, and this is still the same one.
        let live = (!ran_before).then_some(fire.live);
        let is_asked = hook.recheck
            && !hook.detach
            && hook.is_guard(fire.contract)
            && skip_of(fire.snapshot, live, *slot, hook, &facts, fire.contract).is_none()
            && !knows(at)
            && (ran_before || fire.claims.claim(slot.hook, hook));
        if is_asked {
            let asks = Asked::Borrowed(&rewritten, &wire);
            asked.push(one::run(fire, at, slot.hook, Arc::clone(hook), asks));
        }
    }
    let said = join_all(asked).await;
    allowed_by.retain(|(at, _)| {
        let again = said.iter().find(|(other, _)| other == at).map(|(_, answer)| answer);
        match again {
            Some(answer) => answer.failed.is_none() && answer.verdict.decision == Decision::Allow,
            None => knows(*at),
        }
    });
    if outcome.decision == Decision::Allow && allowed_by.is_empty() {
        outcome.decision = Decision::None;
    }
    for (at, answer) in said {
        if let Some(slot) = selection.get(at) {
            note(fire, outcome, at, slot.hook, answer);
        }
    }
}

/// Whether a hook's own view with its own rewrite is the folded payload already.
fn knows_already(
    fire: &Fire<'_>,
    event: &Event,
    folded: &Json,
    answers: &[(usize, Answer)],
    at: usize,
) -> bool {
    let Some((_, answer)) = answers.iter().find(|(other, _)| *other == at) else { return false };
    if answer.failed.is_some() || answer.cancelled {
        return false;
    }
    let saw = answer.saw.clone().or_else(|| event.rewritable(fire.contract.rewrites));
    let Some(saw) = saw else { return false };
    let level = tenter_core::hook::Level::Managed;
    let own =
        merge(&[Voice { level, said: Said::Verdict(&answer.verdict) }], Some(&saw), fire.contract);
    own.payload.as_ref().unwrap_or(&saw).same_value(folded)
}

/// What a guard says on the folded payload, in its report and in the outcome.
fn note(fire: &Fire<'_>, outcome: &mut Outcome, at: usize, index: usize, answer: Answer) {
    let Some(report) = outcome.hooks.get_mut(at) else { return };
    let hook: Arc<Hook> = Arc::clone(&report.hook);
    let mut decision = match (&answer.failed, answer.cancelled) {
        (None, false) => answer.verdict.decision,
        // A guard that fails here blocks as it would have at first; its own denial stands anyway.
        _ if answer.waived => Decision::None,
        _ => match hook.failure_policy(fire.contract) {
            OnFailure::Block => Decision::Deny,
            OnFailure::Ask => Decision::Ask.max(answer.verdict.decision),
            OnFailure::Allow => answer.verdict.decision,
        },
    };
    if answer.verdict.halt {
        decision = Decision::Deny;
    }
    if !decision.restricts() {
        decision = Decision::None;
    }
    let reason = match &answer.failed {
        Some(failed) => Some(failure_text(&hook, failed)),
        None if answer.cancelled => {
            Some(format!("hook `{}` was cancelled before it answered", hook.name))
        }
        None => answer.verdict.reason.as_deref().map(str::to_owned).or_else(|| {
            decision.restricts().then(|| {
                format!("hook `{}` says {} without a reason", hook.name, decision.as_str())
            })
        }),
    };

    let was_skipped = !report.status.ran();
    let failed = answer.failed.is_some() || answer.cancelled;
    // A hook that matches only now is no longer one that was skipped, and none that failed is ok.
    if was_skipped || failed {
        report.status = answer.status();
        report.duration = answer.duration;
        report.details().process.clone_from(&answer.process);
    }
    if was_skipped {
        let profile = fire.snapshot.host.profile;
        fire.live.learn_one(index, &hook, report.status, profile, fire.contract);
    }
    let details = report.details();
    details.diagnostics.extend(answer.diagnostics);
    details.recheck = Some(Recheck { decision, reason: reason.clone() });

    if let Some(text) = answer.verdict.message().filter(|_| !failed) {
        let said = message(Severity::Info, text, &hook.name);
        // It has often said the same the first time.
        if !outcome.messages.contains(&said) {
            outcome.messages.push(said);
        }
    }
    if let Some(failed) = &answer.failed {
        outcome.messages.push(failure_message(&hook, failed));
    }
    outcome.halt |= answer.verdict.halt;
    if decision > outcome.decision {
        outcome.decision = decision;
        outcome.reason = None;
    }
    if decision.restricts()
        && decision == outcome.decision
        && let Some(reason) = reason
    {
        add_reason(outcome, &reason);
    }
}
