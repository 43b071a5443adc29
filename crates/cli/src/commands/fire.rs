//! `tenter fire`: runs the hooks for one event and shows the outcome.

use std::path::Path;
use std::time::Duration;

use futures_util::FutureExt as _;
use tenter::{Event, Outcome, RunContext, Session};
use tokio::signal::unix::SignalKind;

use crate::args::FireArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::render::{human, json};
use crate::signals::{self, Signals};
use crate::world::World;
use crate::{event, outcome, runtime, setup};

/// Runs the command.
pub(crate) fn run(args: &FireArgs, world: &World, console: &mut Console) -> Result<u8, CliError> {
    let event = event::resolve(&args.event, args.config.profile, world)?;
    let engine = setup::engine(&args.config, Some(Path::new(&event.origin.cwd)), world)?;
    setup::report(&engine.loaded(), console);

    let session = engine.session(event.origin.session_id.clone());
    let mut outcome = match outcome_of(&session, &event)? {
        Ok(outcome) => outcome,
        Err(code) => return Ok(code),
    };
    outcome::add_left_out(&mut outcome, &session, &event);

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
                    return Err(signals::exit_code_of(signal));
                }
                if signal != SignalKind::interrupt() {
                    ended_by = Some(signal);
                }
                cx.cancel.cancel();
            }
        }
    };
    if outcome::has_detached(&outcome) {
        let grace = if ended_by.is_some() { Duration::ZERO } else { outcome::GRACE };
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
        outcome::add_detached(&mut outcome, finished);
    }
    match ended_by {
        Some(signal) => Err(signals::exit_code_of(signal)),
        None => Ok(outcome),
    }
}
