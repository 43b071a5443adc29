//! One event's way through the engine: plan, run, merge, recheck, contract, outcome.
//!
//! Owns the order of things. What a single hook does is in `one`, what all of them mean in
//! `voices` and `settle`, what is said about it in `speak`, the facts about the call that rules need
//! in `facts`.

mod facts;
mod one;
mod recheck;
mod settle;
mod speak;
mod voices;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tenter_core::contract::{Block, Contract, Runs};
use tenter_core::diagnostic::Diagnostic;
use tenter_core::event::Event;
use tenter_core::hook::{Handler, Hook, Level, Order};
use tenter_core::outcome::{HookReport, Outcome, Skip, Status};
use tenter_core::plan::{Plan, Planned, Selection, Slot};
use tenter_core::rules::Truth;
use tenter_core::verdict::{Decision, Verdict};

pub(crate) use facts::Facts;
pub(crate) use one::{Answer, Bounds, Wire};

use crate::runner::RunContext;
use crate::session::{Claims, Live};
use crate::snapshot::Snapshot;
use crate::stops::Stops;

/// Everything that the hooks of one event share.
pub(crate) struct Fire<'a> {
    pub(crate) snapshot: &'a Arc<Snapshot>,
    pub(crate) live: &'a Live,
    /// The runs of `once` hooks that this event has claimed.
    pub(crate) claims: Claims<'a>,
    pub(crate) stops: &'a Stops,
    pub(crate) cx: &'a RunContext,
    /// When all of it has to be over: the caller's deadline, or that of the event's own budget.
    pub(crate) deadline: Option<Instant>,
    pub(crate) contract: &'static Contract,
}

/// What the permission rules say about a call, and which of them says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Deny, ask or allow.
    pub decision: Decision,
    /// The list that the rule stands in: a deny rule that only may match gives an ask.
    pub list: Decision,
    /// The rule as written.
    pub rule: String,
    /// Its level.
    pub level: Level,
    /// Where it stands.
    pub source: String,
    /// The sentence for people.
    pub text: String,
}

/// What the permission rules alone say about an event.
pub(crate) fn judgement(snapshot: &Snapshot, event: &Event) -> Option<Judgement> {
    if snapshot.contract(&event.kind).block != Block::StopsTool {
        return None;
    }
    let facts = Facts::new(snapshot, event);
    let (ruling, _) = facts.ruling(snapshot)?;
    Some(Judgement {
        decision: ruling.decision,
        list: ruling.list,
        rule: ruling.rule.text().to_owned(),
        level: ruling.level,
        source: ruling.source.to_owned(),
        text: ruling.to_string(),
    })
}

/// Which hooks would run for an event, and for every other one why not.
pub(crate) fn plan(snapshot: &Snapshot, live: Option<&Live>, event: &Event) -> Plan {
    let contract = snapshot.contract(&event.kind);
    let facts = Facts::new(snapshot, event);
    let denied = denied_by_rule(snapshot, contract, &facts).is_some();
    let hooks = snapshot
        .select(event, contract)
        .iter()
        .filter_map(|slot| {
            let hook = snapshot.table.get(slot.hook)?;
            let skip = skip_of(snapshot, live, *slot, hook, &facts, contract);
            let skip = if denied { skip.or(Some(Skip::Permission)) } else { skip };
            Some(Planned { hook: Arc::clone(hook), skip })
        })
        .collect();
    Plan { hooks }
}

fn skip_of(
    snapshot: &Snapshot,
    live: Option<&Live>,
    slot: Slot,
    hook: &Hook,
    facts: &Facts<'_>,
    contract: &Contract,
) -> Option<Skip> {
    let holds = |rule: &tenter_core::rules::Rule| facts.holds(rule);
    snapshot.table.skip_of(slot, holds, |at| {
        live.and_then(|live| live.skip_of(at, hook, snapshot.host.profile, contract))
    })
}

/// Whether permission rules judge events with this contract: a tool is to run, or a human is to be
/// asked whether it may.
pub(crate) fn is_judged(contract: &Contract) -> bool {
    matches!(contract.block, Block::StopsTool | Block::AnswersNo)
}

/// A deny rule that holds for certain stops the call before any hook is asked.
fn denied_by_rule(snapshot: &Snapshot, contract: &Contract, facts: &Facts<'_>) -> Option<String> {
    if !is_judged(contract) || !snapshot.host.profile.permission.denies_first() {
        return None;
    }
    let ruling = facts.call_if_ruled(snapshot).and_then(|call| snapshot.rules.deny_only(&call))?;
    (ruling.decision == Decision::Deny && ruling.truth == Truth::Yes).then(|| ruling.to_string())
}

/// How far an event got without waiting.
pub(crate) enum Begun<'a> {
    /// All the way.
    Done(Outcome),
    /// Some hooks have still to be waited for.
    Waiting(Box<Waiting<'a>>),
}

/// An event whose quick hooks have answered.
pub(crate) struct Waiting<'a> {
    started: Instant,
    facts: Facts<'a>,
    selection: Selection,
    stage: Stage,
}

enum Stage {
    /// Hooks have still to run.
    Run {
        board: Board,
        /// The places of hooks that run at once.
        parallel: Vec<usize>,
        /// The places of hooks that wait for those before them.
        sequence: Vec<usize>,
    },
    /// Guards have still to be asked again.
    Recheck(Box<settle::Draft>),
}

/// Runs the hooks that need no waiting; most events need no more.
///
/// Nothing here is asynchronous, so an event whose hooks are functions and fixed answers costs no
/// state machine.
pub(crate) fn begin<'a>(
    fire: &Fire<'a>,
    event: &'a Event,
    detach: impl Fn(usize) -> bool,
) -> Begun<'a> {
    let started = Instant::now();
    let snapshot = fire.snapshot;
    let facts = Facts::new(snapshot, event);
    let selection = snapshot.select(event, fire.contract);
    let mut board = Board::new(selection.len());

    if let Some(words) = denied_by_rule(snapshot, fire.contract, &facts) {
        for slot in selection.iter() {
            let Some(hook) = snapshot.table.get(slot.hook) else { continue };
            let skip = skip_of(snapshot, Some(fire.live), *slot, hook, &facts, fire.contract);
            let status = Status::Skipped(skip.unwrap_or(Skip::Permission));
            board.reports.push(HookReport::new(Arc::clone(hook), status));
        }
        let mut outcome = settle::shell(fire, event, board);
        outcome.decision = Decision::Deny;
        outcome.reason = Some(words);
        outcome.duration = started.elapsed();
        return Begun::Done(outcome);
    }

    if settle::is_spent(fire, event) {
        for slot in selection.iter() {
            let Some(hook) = snapshot.table.get(slot.hook) else { continue };
            let skip = skip_of(snapshot, Some(fire.live), *slot, hook, &facts, fire.contract);
            let status = Status::Skipped(skip.unwrap_or(Skip::Stopped));
            board.reports.push(HookReport::new(Arc::clone(hook), status));
        }
        let mut outcome = settle::shell(fire, event, board);
        settle::say_spent(fire, event, &mut outcome);
        outcome.duration = started.elapsed();
        return Begun::Done(outcome);
    }

    let (mut parallel, mut sequence) = (Vec::new(), Vec::new());
    let mut last = started;
    for (at, slot) in selection.iter().enumerate() {
        let Some(hook) = snapshot.table.get(slot.hook) else { continue };
        let mut report = HookReport::new(Arc::clone(hook), Status::Ok);
        let mut answer = None;
        let in_turn = hook.order == Order::Sequence || fire.contract.runs == Runs::InTurn;
        if in_turn && !hook.detach && slot.skip.is_none() {
            report.status = Status::Skipped(Skip::Stopped);
            sequence.push(at);
        } else if let Some(skip) =
            skip_of(snapshot, Some(fire.live), *slot, hook, &facts, fire.contract)
        {
            report.status = Status::Skipped(skip);
        } else if !fire.claims.claim(slot.hook, hook) {
            report.status = Status::Skipped(Skip::Once);
        } else if hook.detach {
            report.detached = true;
            if !detach(slot.hook) {
                report.status = Status::Cancelled;
            }
        } else {
            match answer_now(fire, slot.hook, hook, event) {
                Now::Waits => parallel.push(at),
                answered => {
                    let now = Instant::now();
                    report.duration = now.duration_since(last);
                    last = now;
                    if let Now::Says(says) = answered {
                        answer = Some(*says);
                    }
                }
            }
        }
        board.reports.push(report);
        if let Some(answer) = answer {
            board.add(at, answer);
        }
    }
    let stage = if parallel.is_empty() && sequence.is_empty() {
        if board.answers.is_empty() {
            let duration = last.duration_since(started);
            return Begun::Done(settle::quiet(fire, event, board, &selection, duration));
        }
        let draft = settle::draft(fire, event, board, &selection);
        if !draft.needs_recheck(fire) {
            return Begun::Done(settle::conclude(fire, event, draft, started));
        }
        Stage::Recheck(Box::new(draft))
    } else {
        Stage::Run { board, parallel, sequence }
    };
    Begun::Waiting(Box::new(Waiting { started, facts, selection, stage }))
}

/// Waits for what [`begin`] did not finish.
pub(crate) async fn finish(fire: &Fire<'_>, event: &Event, waiting: Waiting<'_>) -> Outcome {
    let Waiting { started, facts, selection, stage } = waiting;
    let mut draft = match stage {
        Stage::Run { mut board, parallel, sequence } => {
            wait(fire, event, &facts, &selection, &mut board, &parallel, sequence).await;
            settle::draft(fire, event, board, &selection)
        }
        Stage::Recheck(draft) => *draft,
    };
    if draft.needs_recheck(fire) {
        recheck::recheck(fire, event, &mut draft).await;
    }
    settle::conclude(fire, event, draft, started)
}

/// Runs one hook of an event that nobody waits for. What it decides or rewrites has no effect.
pub(crate) async fn fire_detached(fire: &Fire<'_>, event: &Event, index: usize) -> Outcome {
    let started = Instant::now();
    let mut board = Board::new(1);
    let Some(hook) = fire.snapshot.table.get(index) else {
        return with_duration(settle::shell(fire, event, board), started);
    };
    let mut report = HookReport::new(Arc::clone(hook), Status::Ok);
    report.detached = true;
    board.reports.push(report);
    let facts = Facts::new(fire.snapshot, event);
    let wire = Wire::new(event, &facts);
    let asked = one::Asked::Borrowed(event, &wire);
    let (_, mut answer) = one::run(fire, 0, index, Arc::clone(hook), asked).await;
    if answer.verdict.decision.restricts()
        || answer.verdict.halt
        || answer.verdict.rewrite().is_some()
    {
        answer.diagnostics.push(
            Diagnostic::warning(
                "hook.detached",
                "nobody waits for it, so it cannot decide or rewrite",
            )
            .help("take `detach` out of its entry"),
        );
        answer.verdict = Verdict::none();
    }
    let profile = fire.snapshot.host.profile;
    fire.live.learn_one(index, hook, answer.status(), profile, fire.contract);
    let failure = answer.failed.as_ref().map(|failed| speak::failure_message(hook, failed));
    board.add(0, answer);
    let mut outcome = settle::shell(fire, event, board);
    outcome.messages.extend(failure);
    with_duration(outcome, started)
}

/// Runs what has to be waited for: parallel hooks at once, those of a sequence each when all
/// before it have ended.
async fn wait(
    fire: &Fire<'_>,
    event: &Event,
    facts: &Facts<'_>,
    selection: &Selection,
    board: &mut Board,
    parallel: &[usize],
    sequence: Vec<usize>,
) {
    let table = &fire.snapshot.table;
    let hook_at = |at: usize| {
        let slot = *selection.get(at)?;
        Some((slot, Arc::clone(table.get(slot.hook)?)))
    };
    let wire = Wire::new(event, facts);
    let mut running: FuturesUnordered<BoxFuture<'_, (usize, Answer)>> = FuturesUnordered::new();
    let mut open = parallel.to_vec();
    for at in parallel {
        if let Some((slot, hook)) = hook_at(*at) {
            running.push(Box::pin(one::run(
                fire,
                *at,
                slot.hook,
                hook,
                one::Asked::Borrowed(event, &wire),
            )));
        }
    }
    let mut sequence = sequence.into_iter().peekable();
    loop {
        while let Some(at) = sequence.next_if(|at| open.iter().all(|other| other > at)) {
            let Some((slot, hook)) = hook_at(at) else { continue };
            if let Some(asked) = step_of_sequence(fire, event, board, at, slot, &hook) {
                open.push(at);
                running.push(Box::pin(one::run(fire, at, slot.hook, hook, asked)));
            }
        }
        let Some((at, answer)) = running.next().await else { break };
        open.retain(|other| *other != at);
        board.add(at, answer);
    }
}

/// What the next hook of a sequence is asked, once all hooks before it have ended; `None` if it
/// does not run.
fn step_of_sequence<'a>(
    fire: &Fire<'a>,
    event: &Event,
    board: &mut Board,
    at: usize,
    slot: Slot,
    hook: &Arc<Hook>,
) -> Option<one::Asked<'a>> {
    let so_far = settle::merge_before(fire, event, board, at);
    let report = board.reports.get_mut(at)?;
    if so_far.decision == Decision::Deny || so_far.halt {
        return None; // The report says `stopped` already.
    }
    let event = match &so_far.payload {
        Some(payload) => event.with_rewritten(payload),
        None => event.clone(),
    };
    let facts = Facts::new(fire.snapshot, &event);
    if let Some(skip) = skip_of(fire.snapshot, Some(fire.live), slot, hook, &facts, fire.contract) {
        report.status = Status::Skipped(skip);
        return None;
    }
    if !fire.claims.claim(slot.hook, hook) {
        report.status = Status::Skipped(Skip::Once);
        return None;
    }
    report.status = Status::Ok;
    let paths = facts.payload_paths().to_vec();
    Some(one::Asked::Owned(Box::new(event), paths))
}

/// What a hook says that is asked without waiting.
enum Now {
    /// Nothing, as most hooks do.
    Silent,
    /// This.
    Says(Box<Answer>),
    /// It has to be waited for.
    Waits,
}

fn answer_now(fire: &Fire<'_>, index: usize, hook: &Hook, event: &Event) -> Now {
    if hook.failed.is_some() {
        return Now::Waits;
    }
    if hook.view.or(fire.contract.view).is_some() {
        return match one::answer_with_view(fire, index, hook, event) {
            Some(answer) if answer.counts_or_tells() => Now::Says(Box::new(answer)),
            Some(_) => Now::Silent,
            None => Now::Waits,
        };
    }
    let called = match &hook.handler {
        Handler::Reply(verdict) => Some(Ok((**verdict).clone())),
        Handler::Function => {
            let function = fire.snapshot.functions.get(index).and_then(Option::as_ref);
            function.and_then(|function| function.call_now(event))
        }
        Handler::Command(_) | Handler::Broken { .. } => None,
    };
    match called {
        Some(Ok(verdict)) if verdict.is_silent() => Now::Silent,
        Some(called) => Now::Says(Box::new(Answer::of_call(called))),
        None => Now::Waits,
    }
}

fn with_duration(mut outcome: Outcome, started: Instant) -> Outcome {
    outcome.duration = started.elapsed();
    outcome
}

/// What is known of the hooks of one event so far: a report for each, in configuration order, and
/// the answers of those that have something to say.
pub(crate) struct Board {
    reports: Vec<HookReport>,
    answers: Vec<(usize, Answer)>,
}

impl Board {
    fn new(size: usize) -> Self {
        Self { reports: Vec::with_capacity(size), answers: Vec::new() }
    }

    /// Writes an answer into the hook's report and keeps what counts for the merge.
    fn add(&mut self, at: usize, mut answer: Answer) {
        let Some(report) = self.reports.get_mut(at) else { return };
        report.status = answer.status();
        if answer.duration > Duration::ZERO {
            report.duration = answer.duration;
        }
        report.decision = answer.verdict.decision;
        report.halt = answer.verdict.halt;
        report.reason = match &answer.failed {
            Some(failed) => Some(failed.reason.clone().into()),
            None => answer.verdict.reason.clone(),
        };
        let context = answer.verdict.context().map(str::to_owned);
        let diagnostics = std::mem::take(&mut answer.diagnostics);
        let process = answer.process.take();
        if context.is_some() || !diagnostics.is_empty() || process.is_some() {
            let details = report.details();
            details.context = context;
            details.process = process;
            details.diagnostics = diagnostics;
        }
        if answer.counts() {
            self.answers.push((at, answer));
        }
    }
}
