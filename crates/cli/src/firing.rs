//! Fires one event as a program does that a signal may end, and leaves nothing running behind it.

use std::time::Duration;

use futures_util::FutureExt as _;
use tenter::{Event, Outcome, RunContext, Session};
use tokio::signal::unix::SignalKind;

use crate::error::CliError;
use crate::signals::{self, Signals};
use crate::{outcome, runtime};

/// An outcome, and the signal that ended the hooks if one did.
pub(crate) struct Fired {
    /// The outcome; whoever ended the hooks still gets one, by policy.
    pub(crate) outcome: Outcome,
    /// A signal other than an interrupt.
    pub(crate) ended_by: Option<SignalKind>,
}

/// Fires the event with what that takes. `grace` is how long hooks that nobody waits for get
/// afterwards; `told` is called with the outcome before that. Without an outcome there is the exit
/// code of the second interrupt.
///
/// # Errors
/// The system has no room for what runs hooks.
pub(crate) fn fire(
    session: &Session,
    event: &Event,
    cx: &RunContext,
    grace: impl FnOnce() -> Duration,
    told: impl FnOnce(&Outcome),
) -> Result<Result<Fired, u8>, CliError> {
    if session.answers_at_once(&event.kind) {
        // Nothing is waited for, so there is no runtime to build and no interrupt to listen for.
        if let Some(outcome) = session.fire_with(event, cx).now_or_never() {
            told(&outcome);
            return Ok(Ok(Fired { outcome, ended_by: None }));
        }
    }
    // What a hook starts and then leaves is found again, however far it went. Where the system
    // refuses, hooks are ended by their groups and by what can be found of them.
    let _ = tenter::become_subreaper();
    Ok(runtime::current_thread()?.block_on(wait(session, event, cx, grace, told)))
}

/// Fires the event and waits for what it left behind. The first interrupt ends the hooks and still
/// gives an outcome, the second gives none.
async fn wait(
    session: &Session,
    event: &Event,
    cx: &RunContext,
    grace: impl FnOnce() -> Duration,
    told: impl FnOnce(&Outcome),
) -> Result<Fired, u8> {
    // Before any hook runs, so that no signal comes too early.
    let mut signals = Signals::listen();
    let firing = session.fire_with(event, cx);
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
    told(&outcome);
    if outcome::has_detached(&outcome) {
        let grace = if ended_by.is_some() { Duration::ZERO } else { grace() };
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
    Ok(Fired { outcome, ended_by })
}
