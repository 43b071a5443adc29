//! What runs behind the host: in order, bounded, drained at the end.
//!
//! The work runs on a thread of its own with a small runtime of its own, so that neither a host
//! without a runtime nor one that stops polling can lose it.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tenter_core::outcome::Outcome;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How many jobs may wait. One more is dropped and counted.
const MOST_WAITING: usize = 256;
/// How long what was told to end may take for it: the grace of a process, and a little more.
const TO_END: Duration = Duration::from_secs(1);
/// How often a thread without a runtime looks whether the work is done.
const POLL: Duration = Duration::from_millis(5);
/// How long a worker without work stays before its thread ends.
const IDLE: Duration = Duration::from_secs(1);

pub(crate) type Job = Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, Outcome> + Send>;

/// What became of the work behind the host.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Finished {
    /// The outcomes of what was handed over, in order: the first 256 since the last call.
    pub outcomes: Vec<Outcome>,
    /// How many more there were.
    pub more: usize,
    /// Jobs that had to be ended because the time was up.
    pub ended: usize,
    /// Events that were dropped because too many were waiting.
    pub dropped: usize,
}

/// What runs behind the host: a queue with at most one worker. Cheap to clone; clones are the same
/// queue, so that whoever tears a program down can wait for what others handed over.
///
/// ```
/// use std::time::Duration;
/// use tenter::{Event, EventKind, FunctionHooks, Verdict};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let hooks = FunctionHooks::builder().on_notification(|_| Verdict::none()).build();
/// let drain = hooks.session().notification_drain();
/// hooks.session().notify(&Event::notification("done", "all tests pass"));
/// let finished = drain.finish(Duration::from_secs(10)).await;
/// assert_eq!((finished.outcomes.len(), finished.ended), (1, 0));
/// # });
/// ```
#[derive(Clone, Default)]
pub struct NotificationDrain {
    shared: Arc<Shared>,
}

impl fmt::Debug for NotificationDrain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NotificationDrain").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
    done: Notify,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    running: Option<CancellationToken>,
    has_worker: bool,
    outcomes: Vec<Outcome>,
    more: usize,
    dropped: usize,
    ended: usize,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        match self.state.lock() {
            Ok(state) => state,
            Err(poisoned) => poisoned.into_inner(),
        }
    }
}

impl NotificationDrain {
    /// Adds one job at the end; `false` if too many wait already.
    pub(crate) fn push(&self, job: Job) -> bool {
        let mut state = self.shared.lock();
        if state.waiting.len() >= MOST_WAITING {
            state.dropped += 1;
            return false;
        }
        state.waiting.push_back(job);
        if !state.has_worker {
            let shared = Arc::clone(&self.shared);
            let worker = std::thread::Builder::new().name("tenter-detached".into());
            // Without a thread the job stays in the queue, and `finish` does it.
            state.has_worker = worker.spawn(move || work(&shared)).is_ok();
        }
        self.shared.work.notify_one();
        true
    }

    /// Waits until the queue is empty, at most `grace`; what is left then is ended, which takes a
    /// second at most. What does not even end then goes on by itself and is counted as ended.
    pub async fn finish(&self, grace: Duration) -> Finished {
        if tokio::runtime::Handle::try_current().is_err() {
            return self.finish_blocking(grace);
        }
        if let Some(finished) = self.wait(grace).await {
            return finished;
        }
        self.cut();
        match self.wait(TO_END).await {
            Some(finished) => finished,
            None => self.take(),
        }
    }

    /// The same without a runtime: the calling thread waits.
    fn finish_blocking(&self, grace: Duration) -> Finished {
        for (limit, is_last) in [(grace, false), (TO_END, true)] {
            let deadline = Instant::now().checked_add(limit);
            while !self.is_idle() && deadline.is_none_or(|deadline| Instant::now() < deadline) {
                std::thread::sleep(POLL);
            }
            if self.is_idle() || is_last {
                break;
            }
            self.cut();
        }
        self.take()
    }

    /// Waits until nothing waits or runs; `None` if that takes too long. The time is kept by a
    /// thread, since not every runtime has timers.
    async fn wait(&self, limit: Duration) -> Option<Finished> {
        let deadline = Instant::now().checked_add(limit);
        let mut alarm = deadline.is_none();
        loop {
            let notified = self.shared.done.notified();
            tokio::pin!(notified);
            notified.as_mut().enable();
            if let Some(job) = self.orphan() {
                let outcome = job(CancellationToken::new()).await;
                self.shared.lock().outcomes.push(outcome);
                continue;
            }
            if self.is_idle() {
                return Some(self.take());
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return None;
            }
            if !alarm {
                alarm = true;
                let shared = Arc::downgrade(&self.shared);
                let thread = std::thread::Builder::new().name("tenter-alarm".into());
                let rings = thread.spawn(move || {
                    std::thread::sleep(limit);
                    if let Some(shared) = shared.upgrade() {
                        shared.done.notify_waiters();
                    }
                });
                if rings.is_err() {
                    return Some(self.finish_blocking(limit));
                }
            }
            notified.await;
        }
    }

    /// A job that has no worker.
    fn orphan(&self) -> Option<Job> {
        let mut state = self.shared.lock();
        if state.has_worker { None } else { state.waiting.pop_front() }
    }

    /// Whether nothing waits or runs.
    pub fn is_idle(&self) -> bool {
        let state = self.shared.lock();
        state.waiting.is_empty() && state.running.is_none()
    }

    /// Ends what runs and drops what waits.
    fn cut(&self) {
        let mut state = self.shared.lock();
        state.ended += state.waiting.len();
        state.waiting.clear();
        if let Some(running) = &state.running {
            running.cancel();
            state.ended += 1;
        }
    }

    fn take(&self) -> Finished {
        let mut state = self.shared.lock();
        Finished {
            outcomes: std::mem::take(&mut state.outcomes),
            more: std::mem::take(&mut state.more),
            ended: std::mem::take(&mut state.ended),
            dropped: std::mem::take(&mut state.dropped),
        }
    }
}

/// Does jobs until there have been none for a while.
fn work(shared: &Shared) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    loop {
        let (job, cancel) = {
            let mut state = shared.lock();
            loop {
                if let Some(job) = state.waiting.pop_front() {
                    let cancel = CancellationToken::new();
                    state.running = Some(cancel.clone());
                    break (job, cancel);
                }
                let (next, waited) = match shared.work.wait_timeout(state, IDLE) {
                    Ok(woken) => woken,
                    Err(poisoned) => poisoned.into_inner(),
                };
                state = next;
                if waited.timed_out() && state.waiting.is_empty() {
                    state.has_worker = false;
                    return;
                }
            }
        };
        // A panic in a job is a bug; it must not leave the queue without a worker that says so.
        let outcome = runtime.as_ref().ok().and_then(|runtime| {
            catch_unwind(AssertUnwindSafe(|| runtime.block_on(job(cancel)))).ok()
        });
        let mut state = shared.lock();
        state.running = None;
        match outcome {
            // A session that nobody finishes does not pile outcomes up.
            Some(outcome) if state.outcomes.len() < MOST_WAITING => state.outcomes.push(outcome),
            Some(_) => state.more += 1,
            None => state.ended += 1,
        }
        drop(state);
        shared.done.notify_waiters();
    }
}
