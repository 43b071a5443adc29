//! `tenter fire`: runs the hooks for one event and shows the outcome.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::select_all;
use tenter::core::diagnostic::Severity;
use tenter::core::plan::Plan;
use tenter::{Event, Finished, HookReport, Message, Outcome, RunContext, Session, Status};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::args::FireArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::render::{human, json};
use crate::setup;
use crate::world::World;
use crate::{event, runtime};

/// How long detached hooks get after the outcome is there. Each has a time of its own, too.
const GRACE: Duration = Duration::from_mins(1);

/// Runs the command.
pub(crate) fn run(args: &FireArgs, world: &World, console: &mut Console) -> Result<u8, CliError> {
    let event = event::resolve(&args.event, world)?;
    let engine = setup::engine(&args.config, Some(Path::new(&event.origin.cwd)), world)?;
    setup::report(&engine.loaded(), console);

    let session = engine.session(event.origin.session_id.clone());
    let mut outcome = match outcome_of(&session, &event)? {
        Ok(outcome) => outcome,
        Err(code) => return Ok(code),
    };
    if outcome.hooks.is_empty() {
        outcome.hooks = left_out(&session.plan(&event));
    }

    let host = engine.host();
    let contract = host.profile.contract(&event.kind);
    if args.json {
        console.out(&json::outcome(&event, &outcome, contract, host.profile.name, args.io));
    } else {
        let width = console.width();
        let scene = human::Scene { event: &event, outcome: &outcome, contract, width, io: args.io };
        console.out(&human::draw(&scene));
        if outcome.hooks.is_empty() {
            console.hint(
                "`tenter list` shows what is loaded, `tenter init` writes a first hooks file",
            );
        }
    }
    Ok(outcome.exit_code())
}

/// Fires the event with what that takes. Without an outcome there is an exit code.
fn outcome_of(session: &Session, event: &Event) -> Result<Result<Outcome, u8>, CliError> {
    if session.answers_at_once(&event.kind) {
        // Nothing is waited for, so there is no runtime to build and no interrupt to listen for.
        if let Some(outcome) = session.fire(event).now_or_never() {
            return Ok(Ok(outcome));
        }
    }
    // What a hook starts and then leaves is found again, however far it went. Where the system
    // refuses, hooks are ended by their groups and by what can be found of them.
    let _ = tenter::become_subreaper();
    Ok(runtime::current_thread()?.block_on(fire(session, event)))
}

/// Fires the event and waits for what it left behind. The first interrupt ends the hooks and still
/// gives an outcome, the second gives none. Whoever else ends the program gets no outcome, but
/// nothing of the hooks is left. Without an outcome there is an exit code.
async fn fire(session: &Session, event: &Event) -> Result<Outcome, u8> {
    // Before any hook runs, so that no signal comes too early.
    let mut signals = Signals::listen();
    let cx = RunContext::new();
    let firing = session.fire_with(event, &cx);
    tokio::pin!(firing);
    let mut ended_by = None;
    let mut outcome = loop {
        tokio::select! {
            biased;
            outcome = &mut firing => break outcome,
            signal = signals.next() => {
                if cx.cancel.is_cancelled() && signal == SignalKind::interrupt() {
                    return Err(exit_code_of(signal));
                }
                if signal != SignalKind::interrupt() {
                    ended_by = Some(signal);
                }
                cx.cancel.cancel();
            }
        }
    };
    if outcome.hooks.iter().any(|report| report.detached) {
        let grace = if ended_by.is_some() { Duration::ZERO } else { GRACE };
        let finished = tokio::select! {
            biased;
            finished = session.finish(grace) => finished,
            signal = signals.next() => {
                if signal != SignalKind::interrupt() {
                    ended_by = Some(signal);
                }
                session.finish(Duration::ZERO).await
            }
        };
        add_detached(&mut outcome, finished);
    }
    match ended_by {
        Some(signal) => Err(exit_code_of(signal)),
        None => Ok(outcome),
    }
}

/// The exit code of a program that a signal has ended, as a shell gives it.
fn exit_code_of(signal: SignalKind) -> u8 {
    u8::try_from(128 + signal.as_raw_value()).unwrap_or(u8::MAX)
}

/// The signals that end a program, as long as it is asked for them.
struct Signals(Vec<(SignalKind, Signal)>);

impl Signals {
    /// From here on they no longer end the program, if the system lets us listen.
    fn listen() -> Self {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Self(kinds.into_iter().filter_map(|kind| Some((kind, signal(kind).ok()?))).collect())
    }

    async fn next(&mut self) -> SignalKind {
        let arrivals = self.0.iter_mut().map(|(kind, signal)| {
            let kind = *kind;
            Box::pin(async move {
                if signal.recv().await.is_none() {
                    std::future::pending::<()>().await;
                }
                kind
            })
        });
        let arrivals: Vec<_> = arrivals.collect();
        if arrivals.is_empty() {
            return std::future::pending().await;
        }
        select_all(arrivals).await.0
    }
}

/// Puts what became of detached hooks in the place of what was known of them before.
fn add_detached(outcome: &mut Outcome, finished: Finished) {
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
