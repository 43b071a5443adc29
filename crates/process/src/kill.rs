//! Ends a run that has to end: asks its group, waits, kills it, and has what left it looked for.
//!
//! The order matters. The leader is not reaped before its group has been killed, so that the group's
//! number cannot have become another's.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::Containment;
use crate::contain::Then;
use crate::keeper::{self, SWEEP_LIMIT, Swept};
use crate::run::Run;

/// The caller gets its answer this long before the limit of a sweep's own.
const SWEEP_MARGIN: Duration = Duration::from_millis(10);

impl Run {
    /// Ends the processes, with this much time between asking and killing, and reads on meanwhile.
    /// Returns at the latest after grace + 100 ms.
    pub(crate) async fn stop(&mut self, grace: Duration) -> Swept {
        let kill_at = Instant::now() + grace;
        let last = kill_at + SWEEP_LIMIT;
        self.kill_at = Some(kill_at);
        if !grace.is_zero() && self.signal_group(Signal::TERM) {
            let mut timer = pin!(sleep_until(kill_at));
            poll_fn(|cx| self.poll_grace(cx, timer.as_mut())).await;
        }
        self.kill_group();

        let mut timer = pin!(sleep_until(last));
        poll_fn(|cx| {
            self.poll_pipes(cx);
            let exited = self.poll_exit(cx).is_ready();
            if exited || timer.as_mut().poll(cx).is_ready() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;

        let limit = (Instant::now() + SWEEP_LIMIT).min(last) - SWEEP_MARGIN;
        let mut answer =
            pin!(keeper::sweep(Arc::clone(&self.target), Then::Kill, limit.into_std()));
        let swept = poll_fn(|cx| {
            self.poll_pipes(cx);
            if let Poll::Ready(swept) = answer.as_mut().poll(cx) {
                return Poll::Ready(swept.ok());
            }
            timer.as_mut().poll(cx).map(|()| None)
        })
        .await;
        swept.unwrap_or_else(|| {
            self.note("the search for what had left its group did not end in time");
            Swept { by: Containment::Group, killed: Vec::new(), left: Vec::new() }
        })
    }

    /// The grace ends early when the leader has exited and nobody holds its pipes: then there is
    /// nobody left to wait for, as far as can be known without a search.
    fn poll_grace(&mut self, cx: &mut Context<'_>, timer: Pin<&mut Sleep>) -> Poll<()> {
        self.poll_pipes(cx);
        let exited = self.poll_exit(cx).is_ready();
        if (exited && self.is_drained()) || self.over().is_some() {
            return Poll::Ready(());
        }
        timer.poll(cx)
    }

    fn signal_group(&self, signal: Signal) -> bool {
        self.process.as_ref().is_some_and(|process| process.get_ref().signal_group(signal))
    }

    fn kill_group(&mut self) {
        self.signal_group(Signal::KILL);
        // Where the group cannot be addressed any more, because the leader was reaped behind our
        // back, this still kills it.
        if let Some(lifeline) = self.lifeline.take() {
            lifeline.cut();
        }
        self.kill_at = Some(Instant::now());
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let Some(process) = self.process.take() else { return };
        let process = process.into_inner();
        let kill_at = self.kill_at.unwrap_or_else(|| {
            process.signal_group(Signal::TERM);
            Instant::now() + self.grace
        });
        let target = Arc::clone(&self.target);
        keeper::see_through(process, self.lifeline.take(), target, kill_at.into_std());
    }
}
