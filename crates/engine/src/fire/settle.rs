//! From answers to the outcome: merge, permission rules, contract, the budget of a Stop.

use std::time::{Duration, Instant};

use tenter_core::contract::{Block, OnFailure};
use tenter_core::diagnostic::Severity;
use tenter_core::event::{Event, Payload};
use tenter_core::hook::Level;
use tenter_core::json::Json;
use tenter_core::merge::{Merged, merge};
use tenter_core::outcome::{HookReport, Message, Outcome, Status};
use tenter_core::plan::Selection;
use tenter_core::verdict::Decision;

use crate::fire::speak::{add_reason, nameless_reason, speak, warn_of_skips};
use crate::fire::voices::Voices;
use crate::fire::{Answer, Board, Facts, Fire, is_judged};
use crate::spill;

/// An outcome with the reports of a board and nothing decided.
pub(super) fn shell(fire: &Fire<'_>, event: &Event, board: Board) -> Outcome {
    let mut outcome = Outcome::proceed(event.kind.clone());
    outcome.hooks = board.reports;
    warn_of_skips(fire.snapshot.host.profile, &mut outcome);
    outcome
}

/// Merges the hooks before one place, for the next hook of a sequence.
pub(super) fn merge_before(fire: &Fire<'_>, event: &Event, board: &mut Board, at: usize) -> Merged {
    board.answers.sort_by_key(|(at, _)| *at);
    let before = board.answers.partition_point(|(other, _)| *other < at);
    let voices = Voices::of(fire, &board.reports, board.answers.get(..before).unwrap_or_default());
    let original = event.rewritable(fire.contract.rewrites);
    merge(&voices.list(), original.as_ref(), fire.contract)
}

/// An outcome before recheck and permission rules.
pub(super) struct Draft {
    pub(super) outcome: Outcome,
    pub(super) answers: Vec<(usize, Answer)>,
    pub(super) merged: Merged,
    /// The levels of hooks that allow, with their places.
    pub(super) allowed_by: Vec<(usize, Level)>,
}

impl Draft {
    /// Whether guards have to be asked again because the payload is another now.
    pub(super) fn needs_recheck(&self, fire: &Fire<'_>) -> bool {
        fire.snapshot.host.profile.recheck
            && self.merged.payload.is_some()
            && !self.merged.withheld
            && fire.contract.block.stops_action()
            && self.outcome.decision != Decision::Deny
            && !self.outcome.halt
    }
}

/// Merges what the hooks said.
pub(super) fn draft(
    fire: &Fire<'_>,
    event: &Event,
    mut board: Board,
    selection: &Selection,
) -> Draft {
    let mut answers = std::mem::take(&mut board.answers);
    answers.sort_by_key(|(at, _)| *at);
    let mut outcome = shell(fire, event, board);
    fire.live.learn(&outcome.hooks, selection, fire.snapshot.host.profile, fire.contract);
    let original = event.rewritable(fire.contract.rewrites);
    let voices = Voices::of(fire, &outcome.hooks, &answers);
    let allowed_by = voices.allows();
    let merged = merge(&voices.list(), original.as_ref(), fire.contract);
    drop(voices);

    outcome.decision = merged.decision;
    if outcome.decision == Decision::Allow
        && !fire.snapshot.host.profile.permission.lets_hooks_allow()
    {
        outcome.decision = Decision::None;
    }
    outcome.halt = merged.halt;
    outcome.reason.clone_from(&merged.reason);
    if outcome.reason.is_none() && (outcome.decision.restricts() || outcome.halt) {
        outcome.reason = Some(nameless_reason(&outcome));
    }
    speak(fire, &mut outcome, &answers, &merged);
    waive(fire, event, &mut outcome, &merged);
    Draft { outcome, answers, merged, allowed_by }
}

/// Takes a question back that the user has answered for the rest of the session: about this very call,
/// and only what hooks ask in so many words. A hook that failed has not looked at it.
fn waive(fire: &Fire<'_>, event: &Event, outcome: &mut Outcome, merged: &Merged) {
    let asks = outcome.decision == Decision::Ask && !outcome.halt && merged.payload.is_none();
    let failed = |report: &HookReport| {
        matches!(report.status, Status::Failed(_) | Status::Cancelled)
            && report.hook.failure_policy(fire.contract) == OnFailure::Ask
    };
    if !asks
        || fire.contract.block != Block::StopsTool
        || outcome.hooks.iter().any(failed)
        || !fire.live.waivers.covers(event, &fire.snapshot.places.cwd)
    {
        return;
    }
    outcome.decision = Decision::None;
    let reason = outcome.reason.take().unwrap_or_default();
    let text = format!("the user has allowed this call for the session; a hook asks: {reason}");
    outcome.messages.push(Message { level: Severity::Info, text, hook: None });
}

/// Makes the outcome of hooks that had nothing to say. `ended` is when the last of them had not said
/// it: most events end here, so the clock is not read again.
pub(super) fn quiet(
    fire: &Fire<'_>,
    event: &Event,
    board: Board,
    selection: &Selection,
    duration: Duration,
) -> Outcome {
    let mut outcome = shell(fire, event, board);
    fire.live.learn(&outcome.hooks, selection, fire.snapshot.host.profile, fire.contract);
    judge(fire, event, None, None, &mut outcome);
    keep_to_the_budget(fire, event, &mut outcome);
    outcome.duration = duration;
    outcome
}

/// Makes the outcome: permission rules, contract, budget.
pub(super) fn conclude(fire: &Fire<'_>, event: &Event, draft: Draft, started: Instant) -> Outcome {
    let Draft { mut outcome, merged, allowed_by, .. } = draft;
    let highest = allowed_by.iter().map(|(_, level)| *level).min();
    judge(fire, event, merged.payload.as_ref(), highest, &mut outcome);

    // Where the action does not happen, a rewrite has nobody to go to, and most hosts deliver no
    // context.
    let stopped =
        fire.contract.block.stops_action() && (outcome.decision == Decision::Deny || outcome.halt);
    if stopped {
        for report in &mut outcome.hooks {
            report.rewrite = false;
        }
    } else {
        outcome.rewritten = merged.payload;
    }
    if !stopped || fire.contract.merge.context_of_stopped {
        let (spilled, notes) = spill::cap(
            spill::joined(merged.context, fire.contract),
            fire.contract,
            fire.snapshot,
            event,
        );
        outcome.context = spilled;
        outcome.messages.extend(notes);
    }
    // A reason goes the same way as a context, and may be all that a build printed.
    if let Some(reason) = outcome.reason.take() {
        let (capped, notes) = spill::cap(vec![reason], fire.contract, fire.snapshot, event);
        outcome.reason = capped.into_iter().next();
        outcome.messages.extend(notes);
    }
    keep_to_the_budget(fire, event, &mut outcome);
    outcome.duration = started.elapsed();
    outcome
}

/// The permission rules, on the effective input: deny before ask before allow. What an allow of a
/// hook answers is the profile's to say; it is never a deny.
fn judge(
    fire: &Fire<'_>,
    event: &Event,
    payload: Option<&Json>,
    allowed_by: Option<Level>,
    outcome: &mut Outcome,
) {
    if !is_judged(fire.contract) || !fire.snapshot.has_rules() || outcome.halt {
        return;
    }
    let permission = fire.snapshot.host.profile.permission;
    let payload = payload.filter(|_| permission.judges_rewrites());
    let rewritten = payload.map(|payload| event.with_rewritten(payload));
    let facts = Facts::new(fire.snapshot, rewritten.as_ref().unwrap_or(event));
    let Some((ruling, from_deny)) = facts.ruling(fire.snapshot) else { return };
    let (decision, level, words) = (ruling.decision, ruling.level, ruling.to_string());
    match decision {
        Decision::Deny if outcome.decision == Decision::Deny => add_reason(outcome, &words),
        Decision::Deny => decide(outcome, Decision::Deny, words),
        Decision::Ask => {
            // A deny rule that only may match asks, and no hook answers that.
            let answered = !from_deny
                && outcome.decision == Decision::Allow
                && allowed_by.is_some_and(|by| permission.answers(by, level));
            if outcome.decision == Decision::Ask {
                add_reason(outcome, &words);
            } else if outcome.decision < Decision::Ask && !answered {
                decide(outcome, Decision::Ask, words);
            }
        }
        Decision::Allow if outcome.decision == Decision::None => outcome.decision = Decision::Allow,
        _ => {}
    }
}

fn decide(outcome: &mut Outcome, decision: Decision, reason: String) {
    outcome.decision = decision;
    outcome.reason = Some(reason);
}

/// Whether hooks need not be asked, because they have sent this turn on as often as they may.
pub(super) fn is_spent(fire: &Fire<'_>, event: &Event) -> bool {
    let Payload::Stop(facts) = &event.payload else { return false };
    let contract = fire.contract;
    contract.block == Block::GoesOn && !contract.asks_when_spent && facts.blocks_left == Some(0)
}

/// The end of a turn that no hook was asked about.
pub(super) fn say_spent(fire: &Fire<'_>, event: &Event, outcome: &mut Outcome) {
    fire.stops.may_end(event);
    let budget = fire.snapshot.host.profile.stop_budget;
    let text = format!("the turn ends: hooks have sent it on {budget} times in a row");
    outcome.messages.push(Message { level: Severity::Warning, text, hook: None });
}

/// A block of a Stop sends the turn on, unless it did not end by itself or that has happened too
/// often in a row.
fn keep_to_the_budget(fire: &Fire<'_>, event: &Event, outcome: &mut Outcome) {
    if fire.contract.block != Block::GoesOn {
        return;
    }
    let Payload::Stop(facts) = &event.payload else { return };
    let blocks = outcome.decision == Decision::Deny && !outcome.halt;
    if !blocks {
        fire.stops.may_end(event);
        return;
    }
    let why = if facts.ended_by_itself() {
        let budget = fire.snapshot.host.profile.stop_budget;
        if fire.stops.block(event, budget) {
            return;
        }
        format!("the turn ends: hooks have sent it on {budget} times in a row")
    } else {
        fire.stops.may_end(event);
        let reason = facts.stop_reason.as_deref().unwrap_or_default();
        format!(
            "the turn ends: it did not end by itself ({reason}), so a block does not send it on"
        )
    };
    let reason = outcome.reason.take();
    outcome.decision = Decision::None;
    let text = reason.map_or_else(|| why.clone(), |reason| format!("{why}; a hook said: {reason}"));
    outcome.messages.push(Message { level: Severity::Warning, text, hook: None });
}
