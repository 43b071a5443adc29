//! `tenter fire`: runs the hooks for one event and shows the outcome.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tenter::core::plan::Plan;
use tenter::{Event, Finished, HookReport, Outcome, RunContext, Session, Status};
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
/// The exit code of a program that an interrupt has ended.
const INTERRUPTED: u8 = 130;

/// Runs the command.
pub(crate) fn run(args: &FireArgs, world: &World, console: &mut Console) -> Result<u8, CliError> {
    let event = event::resolve(&args.event, world)?;
    let engine = setup::engine(&args.config, Some(Path::new(&event.origin.cwd)), world)?;
    setup::report(&engine.loaded(), console);

    let session = engine.session(event.origin.session_id.clone());
    let Some(mut outcome) = outcome_of(&session, &event)? else {
        return Ok(INTERRUPTED);
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

/// Fires the event with what that takes; `None` if the user has interrupted it twice.
fn outcome_of(session: &Session, event: &Event) -> Result<Option<Outcome>, CliError> {
    if session.answers_at_once(&event.kind) {
        // Nothing is waited for, so there is no runtime to build and no interrupt to listen for.
        if let Some(outcome) = session.fire(event).now_or_never() {
            return Ok(Some(outcome));
        }
    }
    // What a hook starts and then leaves is found again, however far it went. Where the system
    // refuses, hooks are ended by their groups and by what can be found of them.
    let _ = tenter::become_subreaper();
    Ok(runtime::current_thread()?.block_on(fire(session, event)))
}

/// Fires the event and waits for what it left behind. The first interrupt ends the hooks and still
/// gives an outcome, the second gives none.
async fn fire(session: &Session, event: &Event) -> Option<Outcome> {
    // Before any hook runs, so that no interrupt comes too early.
    let mut interrupts = Interrupts::listen();
    let cx = RunContext::new();
    let firing = session.fire_with(event, &cx);
    tokio::pin!(firing);
    let mut outcome = loop {
        tokio::select! {
            biased;
            outcome = &mut firing => break outcome,
            () = interrupts.next() => {
                if cx.cancel.is_cancelled() {
                    return None;
                }
                cx.cancel.cancel();
            }
        }
    };
    if outcome.hooks.iter().any(|report| report.detached) {
        let finished = tokio::select! {
            biased;
            finished = session.finish(GRACE) => finished,
            () = interrupts.next() => session.finish(Duration::ZERO).await,
        };
        add_detached(&mut outcome, finished);
    }
    Some(outcome)
}

/// The interrupts that the user sends.
struct Interrupts(Option<Signal>);

impl Interrupts {
    /// From here on an interrupt no longer ends the program, if the system lets us listen.
    fn listen() -> Self {
        Self(signal(SignalKind::interrupt()).ok())
    }

    async fn next(&mut self) {
        if let Some(signal) = &mut self.0
            && signal.recv().await.is_some()
        {
            return;
        }
        std::future::pending::<()>().await;
    }
}

/// Puts what became of detached hooks in the place of what was known of them before.
fn add_detached(outcome: &mut Outcome, finished: Finished) {
    for mut detached in finished.outcomes {
        outcome.messages.append(&mut detached.messages);
        let Some(report) = detached.hooks.pop() else { continue };
        let before = outcome
            .hooks
            .iter_mut()
            .find(|before| before.detached && Arc::ptr_eq(&before.hook, &report.hook));
        if let Some(before) = before {
            *before = report;
        }
    }
}

/// Reports of hooks that keep an event from nobody: it was not worth a look at them.
fn left_out(plan: &Plan) -> Vec<HookReport> {
    let skipped = plan.hooks.iter().filter_map(|planned| Some((planned, planned.skip?)));
    skipped
        .map(|(planned, skip)| HookReport::new(Arc::clone(&planned.hook), Status::Skipped(skip)))
        .collect()
}
