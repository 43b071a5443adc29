//! One run from start to end: feeding, reading, the exit and the deadline, all at the same time.
//!
//! It decides *when* something ends. How a tree of processes is ended is `kill`'s work.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::unix::AsyncFd;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::contain::{self, Target, Then};
use crate::drain::{Feed, Intake};
use crate::keeper::{self, SWEEP_LIMIT, Swept};
use crate::platform::pipe::Lifeline;
use crate::platform::process::Process;
use crate::platform::watch;
use crate::start::{Prepared, Started, start};
use crate::{
    Command, Containment, Ended, Exit, Leftovers, Stage, StartCause, StartError, Stopped, Stream,
};

/// How long is waited, in turn, for a program that is open for writing. Somebody who has just written
/// a script may still have it open, or a process that another thread is starting may hold a copy.
const BUSY_PAUSES: [Duration; 6] = [
    Duration::from_millis(1),
    Duration::from_millis(2),
    Duration::from_millis(4),
    Duration::from_millis(8),
    Duration::from_millis(16),
    Duration::from_millis(32),
];

/// What stands for no deadline: longer than anything runs, and no clock overflows.
const FAR: Duration = Duration::from_hours(24 * 365);

/// Runs a command to its end.
///
/// The result comes when the process has exited and its pipes have closed, or the drain time after
/// the exit, or at the latest at deadline + grace + 100 ms. Cancelling stops the run in the same way
/// as the deadline does. Dropping the future ends the processes too, without anybody waiting.
///
/// The calling thread is held up while the process is made, until its program is being executed:
/// about a third of a millisecond.
///
/// # Errors
///
/// When the program could not be started; nothing of it is left then.
///
/// # Panics
///
/// Outside of a tokio runtime with its I/O and time drivers, as every I/O object of tokio does.
pub async fn run(command: &Command, cancel: &CancellationToken) -> Result<Ended, StartError> {
    let begun = Instant::now();
    let deadline = begun + command.limits.timeout.min(FAR);
    if cancel.is_cancelled() {
        return Ok(never_started(begun));
    }
    let prepared = Prepared::new(command)?;
    let mut pauses = BUSY_PAUSES.into_iter();
    let started = loop {
        match start(command, &prepared) {
            Ok(started) => break started,
            Err(error) if error.cause == StartCause::Busy => {
                let pause = pauses.next().filter(|pause| Instant::now() + *pause < deadline);
                let Some(pause) = pause else { return Err(error) };
                tokio::select! {
                    () = sleep(pause) => {}
                    () = cancel.cancelled() => return Ok(never_started(begun)),
                }
            }
            Err(error) => return Err(error),
        }
    };
    let start = begun.elapsed();
    let mut run = Run::new(command, &prepared, started)?;
    let stopped = run.until_stopped(command, deadline, cancel).await;
    Ok(run.finish(command, stopped, begun, start).await)
}

fn never_started(begun: Instant) -> Ended {
    Ended {
        exit: Exit::Lost,
        stopped: Some(Stopped::Cancelled),
        stdout: Vec::new(),
        stderr: Vec::new(),
        held: false,
        contained_by: Containment::Group,
        left: Vec::new(),
        notes: vec!["cancelled before it was started".to_owned()],
        duration: begun.elapsed(),
        start: Duration::ZERO,
    }
}

/// A process that is going on. Dropping it ends the process and what belongs to it.
#[derive(Debug)]
pub(crate) struct Run {
    /// There until it has been reaped.
    pub(crate) process: Option<AsyncFd<Process>>,
    pub(crate) lifeline: Option<Lifeline>,
    pub(crate) target: Arc<Target>,
    feed: Option<Feed>,
    stdout: Intake,
    stderr: Intake,
    pub(crate) exit: Option<Exit>,
    /// How long the processes have from being asked to end to being killed.
    pub(crate) grace: Duration,
    /// When they will be killed, once they have been asked.
    pub(crate) kill_at: Option<Instant>,
    notes: Vec<String>,
}

/// What ends a wait.
enum Event {
    Exited,
    Over(Stream),
    Deadline,
    Cancelled,
}

impl Run {
    fn new(command: &Command, prepared: &Prepared, started: Started) -> Result<Self, StartError> {
        let Started { process, lifeline, target, feed, stdout, stderr, notes } = started;
        let process = match watch::for_exit(process) {
            Ok(process) => process,
            Err((process, error)) => {
                keeper::see_through(process, lifeline, target, std::time::Instant::now());
                return Err(StartError {
                    stage: Stage::Watch,
                    errno: error.raw_os_error().unwrap_or(0),
                    cause: StartCause::Other,
                    program: prepared.path().to_owned(),
                    cwd: command.cwd.clone(),
                });
            }
        };
        Ok(Self {
            process: Some(process),
            lifeline,
            target,
            feed,
            stdout,
            stderr,
            exit: None,
            grace: command.limits.grace.min(FAR),
            kill_at: None,
            notes,
        })
    }

    /// Lets it run until it has ended or has to be ended, and says why it has to be.
    async fn until_stopped(
        &mut self,
        command: &Command,
        deadline: Instant,
        cancel: &CancellationToken,
    ) -> Option<Stopped> {
        let stopped = match self.next_event(deadline, cancel).await {
            Event::Exited => None,
            Event::Over(stream) => return Some(Stopped::OutputLimit { stream }),
            Event::Deadline => Some(Stopped::Deadline),
            Event::Cancelled => Some(Stopped::Cancelled),
        };
        // It may have exited at the same moment; then it was not stopped, and what it said counts.
        if !self.has_exited() {
            // Without a reason of ours it is the runtime that is shutting down.
            return stopped.or(Some(Stopped::Cancelled));
        }
        self.feed = None;
        self.take_rest();
        let until = Instant::now() + command.limits.drain.min(FAR);
        if stopped != Some(Stopped::Cancelled) && !self.is_drained() {
            self.drain(until, cancel).await;
        }
        self.over().map(|stream| Stopped::OutputLimit { stream })
    }

    async fn next_event(&mut self, deadline: Instant, cancel: &CancellationToken) -> Event {
        let mut timer = pin!(sleep_until(deadline));
        let mut cancelled = pin!(cancel.cancelled());
        poll_fn(|cx| {
            self.poll_pipes(cx);
            if let Some(stream) = self.over() {
                Poll::Ready(Event::Over(stream))
            } else if self.poll_exit(cx).is_ready() {
                Poll::Ready(Event::Exited)
            } else if timer.as_mut().poll(cx).is_ready() {
                Poll::Ready(Event::Deadline)
            } else if cancelled.as_mut().poll(cx).is_ready() {
                Poll::Ready(Event::Cancelled)
            } else {
                Poll::Pending
            }
        })
        .await
    }

    /// Reads on after the exit.
    async fn drain(&mut self, until: Instant, cancel: &CancellationToken) {
        let mut timer = pin!(sleep_until(until));
        let mut cancelled = pin!(cancel.cancelled());
        poll_fn(|cx| {
            self.poll_pipes(cx);
            if self.is_drained()
                || timer.as_mut().poll(cx).is_ready()
                || cancelled.as_mut().poll(cx).is_ready()
            {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    /// Brings everything to its end: the processes that have to go, the leader's status, the report.
    async fn finish(
        mut self,
        command: &Command,
        stopped: Option<Stopped>,
        begun: Instant,
        start: Duration,
    ) -> Ended {
        let held_at_exit = self.stdout.is_open() || self.stderr.is_open();
        let swept = match (stopped, command.leftovers) {
            (Some(Stopped::Deadline | Stopped::Cancelled), _) => Some(self.stop(self.grace).await),
            (Some(Stopped::OutputLimit { .. }), _) | (None, Leftovers::Kill) => {
                Some(self.stop(Duration::ZERO).await)
            }
            (None, Leftovers::Leave) if held_at_exit => self.look().await,
            (None, Leftovers::Leave) => None,
        };
        self.take_rest();
        let held = if stopped.is_none() {
            held_at_exit
        } else {
            self.stdout.is_open() || self.stderr.is_open()
        };
        let exit = self.reap();
        if stopped.is_none() && command.leftovers == Leftovers::Leave {
            // What is left alone must not die with us.
            if let Some(lifeline) = self.lifeline.take() {
                lifeline.disarm();
            }
        }
        contain::reap_orphans();

        let own_cgroup = self.target.cgroup.is_some();
        let plain = if own_cgroup { Containment::Cgroup } else { Containment::Group };
        let contained_by = swept.as_ref().map_or(plain, |swept| swept.by);
        let mut notes = std::mem::take(&mut self.notes);
        let mut left = Vec::new();
        if let Some(swept) = swept {
            left = swept.left;
            if stopped.is_none() && command.leftovers == Leftovers::Kill {
                notes.extend(swept.killed.iter().map(|one| {
                    format!("killed what it had left running: {} ({})", one.name, one.pid)
                }));
            }
        }
        let (stdout, stdout_error) = self.stdout.finish();
        let (stderr, stderr_error) = self.stderr.finish();
        for (name, error) in [("stdout", stdout_error), ("stderr", stderr_error)] {
            if let Some(error) = error {
                notes.push(format!("{name} could not be read to its end: {error}"));
            }
        }
        Ended {
            exit: exit.unwrap_or_else(|| {
                notes.push("it was killed and has not ended yet".to_owned());
                Exit::Lost
            }),
            stopped,
            stdout,
            stderr,
            held,
            contained_by,
            left,
            notes,
            duration: begun.elapsed(),
            start,
        }
    }

    /// Lists what is still running, for the report.
    async fn look(&mut self) -> Option<Swept> {
        let limit = Instant::now() + SWEEP_LIMIT;
        let answer = keeper::sweep(Arc::clone(&self.target), Then::Leave, limit.into_std());
        tokio::time::timeout_at(limit, answer).await.ok()?.ok()
    }

    /// Reaps the leader if it has ended. If not, dropping this hands it over.
    fn reap(&mut self) -> Option<Exit> {
        let process = self.process.as_ref()?.get_ref();
        let exit = contain::reap(process)?;
        self.process = None;
        // A status that was seen before it was reaped cannot have been lost since.
        let exit = self.exit.filter(|seen| *seen != Exit::Lost).unwrap_or(exit);
        if exit == Exit::Lost {
            self.notes.push("other code in this process took its exit status".to_owned());
        }
        Some(exit)
    }

    /// Moves what bytes can be moved now.
    pub(crate) fn poll_pipes(&mut self, cx: &mut Context<'_>) {
        if let Some(feed) = &mut self.feed
            && feed.poll(cx).is_ready()
        {
            self.feed = None;
        }
        let _ = self.stdout.poll(cx);
        let _ = self.stderr.poll(cx);
    }

    pub(crate) fn poll_exit(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.exit.is_none() {
            let Some(process) = &self.process else { break };
            match process.poll_read_ready(cx) {
                Poll::Pending => return Poll::Pending,
                // Without the runtime's help the exit can only be looked for.
                Poll::Ready(Err(_)) => {
                    self.exit = process.get_ref().peek();
                    break;
                }
                Poll::Ready(Ok(mut guard)) => {
                    self.exit = process.get_ref().peek();
                    if self.exit.is_none() {
                        guard.clear_ready();
                    }
                }
            }
        }
        Poll::Ready(())
    }

    /// Whether it has exited by now, whatever has been noticed so far.
    pub(crate) fn has_exited(&mut self) -> bool {
        if self.exit.is_none() {
            self.exit = self.process.as_ref().and_then(|process| process.get_ref().peek());
        }
        self.exit.is_some()
    }

    /// Whether nothing more is to be read.
    pub(crate) fn is_drained(&self) -> bool {
        self.over().is_some() || !(self.stdout.is_open() || self.stderr.is_open())
    }

    pub(crate) fn over(&self) -> Option<Stream> {
        self.stdout.over().or(self.stderr.over())
    }

    pub(crate) fn note(&mut self, note: &str) {
        self.notes.push(note.to_owned());
    }

    fn take_rest(&mut self) {
        self.stdout.take_rest();
        self.stderr.take_rest();
    }
}
