//! Functions of this program that do not answer at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::FutureExt as _;
use tenter_core::event::Event;
use tenter_core::outcome::Failure;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::fire::{Answer, Bounds, Fire};
use crate::function::{Function, panic_text};

/// Calls a function and waits for it, at most its time.
///
/// A blocking function that is over its time cannot be ended: its thread goes on, and what it says
/// then has nowhere to go.
pub(crate) async fn run(
    fire: &Fire<'_>,
    function: &Function,
    event: &Event,
    bounds: &Bounds,
) -> Answer {
    if !function.is_sync() && Handle::try_current().is_err() {
        return Answer::failed(Failure::Start, "it can only be waited for inside a tokio runtime");
    }
    let called = match function {
        Function::Tool(_) | Function::Event(_) => {
            return match function.call_now(event) {
                Some(Ok(verdict)) => Answer::of(verdict),
                Some(Err(panic)) => Answer::panicked(&panic),
                None => Answer::failed(Failure::Config, "its function does not answer at once"),
            };
        }
        Function::Blocking(function) => {
            let (send, receive) = oneshot::channel();
            let (function, event) = (Arc::clone(function), event.clone());
            let thread = std::thread::Builder::new().name("tenter-hook".into()).spawn(move || {
                // Nobody may be waiting any more, and then the answer has nowhere to go.
                let _ = send.send(catch_unwind(AssertUnwindSafe(|| function(&event))));
            });
            if let Err(error) = thread {
                return Answer::failed(Failure::Start, format!("no thread for it: {error}"));
            }
            receive.map(Result::ok).boxed()
        }
        Function::Async(function) => {
            match catch_unwind(AssertUnwindSafe(|| function(event.clone()))) {
                Ok(future) => AssertUnwindSafe(future).catch_unwind().map(Some).boxed(),
                Err(panic) => return Answer::panicked(&panic_text(panic)),
            }
        }
    };
    tokio::select! {
        biased;
        answer = called => match answer {
            Some(Ok(verdict)) => Answer::of(verdict),
            Some(Err(panic)) => Answer::panicked(&panic_text(panic)),
            None => Answer::failed(Failure::Panic, "its thread ended without an answer"),
        },
        () = fire.cx.cancel.cancelled() => Answer::cancelled(),
        () = tokio::time::sleep(bounds.timeout) => Answer { failed: Some(bounds.timed_out()), ..Answer::default() },
    }
}
