//! Between the loop and the engine's port: fires events, shows what hooks did, and keeps what runs
//! behind the agent in order.
//!
//! Decides nothing: an outcome goes back to the loop as it came.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use tenter::core::diagnostic::Severity;
use tenter::{
    CancellationToken, Decision, Event, EventKind, HookReport, HookRunner, Json, Origin, Outcome,
    RunContext,
};
use tokio::sync::Notify;

use crate::stream::{Effect, HookNote, HookSummary, Stream, What, Who, lock};

/// How long hooks behind the agent may take for one event.
const BEHIND: Duration = Duration::from_secs(5);
/// How many events may wait behind the agent. One more is dropped and counted.
const MOST_WAITING: usize = 256;

/// The hooks of a session.
pub(crate) struct Hooks {
    runner: Arc<dyn HookRunner>,
    stream: Arc<Stream>,
    session_id: String,
    cwd: String,
    mode: &'static str,
    behind: Arc<Behind>,
}

impl Hooks {
    pub(crate) fn new(
        runner: Arc<dyn HookRunner>,
        stream: Arc<Stream>,
        session_id: String,
        cwd: String,
        mode: &'static str,
    ) -> Self {
        Self { runner, stream, session_id, cwd, mode, behind: Arc::default() }
    }

    /// Whether anything is to be done for events of this kind.
    pub(crate) fn wants(&self, kind: &EventKind) -> bool {
        self.runner.mask().contains(kind)
    }

    /// Whether a result that hooks were about to see when the turn was cancelled is kept as it is.
    pub(crate) fn keeps_cancelled_results(&self, kind: &EventKind) -> bool {
        self.runner.keeps_cancelled_results(kind)
    }

    /// An event with where it comes from.
    pub(crate) fn event(&self, event: Event, who: &Who, call_id: Option<&str>) -> Event {
        let origin = Origin {
            host: String::new(),
            session_id: self.session_id.clone(),
            cwd: self.cwd.clone(),
            agent: who.actor(),
            call_id: call_id.map(ToOwned::to_owned),
            host_call: None,
        };
        event.with_origin(origin).with_field("permission_mode", Json::string(self.mode))
    }

    /// Fires an event and shows what hooks did; `None` if the caller was cancelled meanwhile. Then
    /// whatever was started has been told to end, and nothing is shown. Hooks that are only told are
    /// not waited for.
    pub(crate) async fn fire(
        &self,
        event: &Event,
        who: &Who,
        cancel: &CancellationToken,
    ) -> Option<Outcome> {
        if cancel.is_cancelled() {
            return None;
        }
        // A new prompt also begins a new count of blocked ends, with or without a hook.
        if !self.wants(&event.kind) && event.kind != EventKind::UserPromptSubmit {
            return Some(Outcome::proceed(event.kind.clone()));
        }
        if self.wants(&event.kind) && self.runner.only_tells(&event.kind) {
            self.push(event.clone(), who);
            return Some(Outcome::proceed(event.kind.clone()));
        }
        let cx = RunContext::new().with_cancel(cancel.child_token());
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => return None,
            outcome = self.runner.run(event, &cx) => outcome,
        };
        if cancel.is_cancelled() {
            return None;
        }
        show(&self.stream, who, event, &outcome);
        Some(outcome)
    }

    /// Fires an event that is done whatever happens, within its own bounds.
    pub(crate) async fn fire_to_the_end(&self, event: &Event, who: &Who) -> Outcome {
        if !self.wants(&event.kind) {
            return Outcome::proceed(event.kind.clone());
        }
        match within_bounds(&*self.runner, event).await {
            Some(outcome) => {
                show(&self.stream, who, event, &outcome);
                outcome
            }
            None => Outcome::proceed(event.kind.clone()),
        }
    }

    /// Hands an event to the hooks behind the agent and returns at once. Events keep their order.
    pub(crate) fn notify(
        &self,
        event: impl FnOnce() -> Event,
        kind: &EventKind,
        who: &Who,
        call_id: Option<&str>,
    ) {
        if !self.wants(kind) {
            return;
        }
        self.push(self.event(event(), who, call_id), who);
    }

    fn push(&self, event: Event, who: &Who) {
        if self.behind.push(Job { event, who: who.clone() }) {
            let (runner, stream) = (Arc::clone(&self.runner), Arc::clone(&self.stream));
            tokio::spawn(work(Arc::clone(&self.behind), runner, stream));
        }
    }

    /// Waits for what runs behind the agent, at most `grace`; gives how many events were not seen
    /// through.
    pub(crate) async fn finish(&self, grace: Duration) -> usize {
        let drained = async {
            loop {
                let notified = self.behind.done.notified();
                if !lock(&self.behind.queue).working {
                    break;
                }
                notified.await;
            }
        };
        let in_time = tokio::time::timeout(grace, drained).await.is_ok();
        let mut queue = lock(&self.behind.queue);
        let lost = queue.dropped + queue.waiting.len() + usize::from(!in_time);
        queue.waiting.clear();
        queue.dropped = 0;
        lost
    }
}

struct Job {
    event: Event,
    who: Who,
}

/// A queue with at most one worker.
#[derive(Default)]
struct Behind {
    queue: Mutex<Queue>,
    done: Notify,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Job>,
    working: bool,
    dropped: usize,
}

impl Behind {
    /// Takes a job; `true` if a worker has to be started for it.
    fn push(&self, job: Job) -> bool {
        let mut queue = lock(&self.queue);
        if queue.waiting.len() >= MOST_WAITING {
            queue.dropped += 1;
            return false;
        }
        queue.waiting.push_back(job);
        !std::mem::replace(&mut queue.working, true)
    }

    fn next(&self) -> Option<Job> {
        let mut queue = lock(&self.queue);
        let job = queue.waiting.pop_front();
        queue.working = job.is_some();
        job
    }
}

/// Runs the hooks of an event that nothing hangs on. A runner of somebody's own that does not keep to
/// its deadline is dropped, which ends what it started; one that panics has no outcome.
async fn within_bounds(runner: &dyn HookRunner, event: &Event) -> Option<Outcome> {
    let cx = RunContext::new().with_deadline(Instant::now() + BEHIND);
    let running = AssertUnwindSafe(async { runner.run(event, &cx).await }).catch_unwind();
    tokio::time::timeout(BEHIND * 2, running).await.ok()?.ok()
}

async fn work(behind: Arc<Behind>, runner: Arc<dyn HookRunner>, stream: Arc<Stream>) {
    while let Some(job) = behind.next() {
        if let Some(outcome) = within_bounds(&*runner, &job.event).await {
            show(&stream, &job.who, &job.event, &outcome);
        }
    }
    behind.done.notify_waiters();
}

/// Whether a hook, not a rule alone, says no or ends the turn.
fn hooks_block(outcome: &Outcome) -> bool {
    let blocks = |report: &HookReport| {
        report.decision == Decision::Deny
            || report.decision == Decision::Defer
            || report.halt
            || report.status.failure().is_some()
            || report.recheck().is_some_and(|again| again.decision.restricts())
    };
    outcome.hooks.iter().any(blocks)
}

/// The hooks that were not skipped.
pub(crate) fn notes(outcome: &Outcome) -> Vec<HookNote> {
    let ran = outcome.hooks.iter().filter(|report| report.status.ran());
    ran.map(|report| HookNote {
        name: report.hook.name.clone(),
        status: report.status.as_str(),
        decision: report.decision.as_str(),
        halt: report.halt,
        rewrite: report.rewrite,
        reason: report.reason.as_deref().map(ToOwned::to_owned),
    })
    .collect()
}

/// What hooks did to a call; `None` if none ran.
pub(crate) fn summary(outcome: &Outcome) -> Option<HookSummary> {
    let hooks = notes(outcome);
    (!hooks.is_empty()).then(|| HookSummary {
        hook_count: hooks.len(),
        decision: outcome.decision.as_str(),
        halt: outcome.halt,
        input_rewrite: outcome.rewritten.is_some(),
        reason: outcome.reason.clone(),
        hooks,
    })
}

fn show(stream: &Stream, who: &Who, event: &Event, outcome: &Outcome) {
    let hooks = notes(outcome);
    if hooks.is_empty() && outcome.messages.is_empty() {
        return;
    }
    let send = |effect, reason, payload| {
        stream.send(
            who,
            What::Hook {
                event: event.kind.name().to_owned(),
                effect,
                reason,
                call_id: event.origin.call_id.clone(),
                payload,
                hooks: hooks.clone(),
            },
        );
    };
    let mut silent = true;
    if (outcome.halt || matches!(outcome.decision, Decision::Deny | Decision::Defer))
        && hooks_block(outcome)
    {
        silent = false;
        send(Effect::Blocked, outcome.reason.clone(), None);
    }
    if let Some(payload) = &outcome.rewritten {
        silent = false;
        send(Effect::Modified, None, Some(payload.clone()));
    }
    for message in &outcome.messages {
        silent = false;
        let effect = if message.level == Severity::Info { Effect::Info } else { Effect::Advisory };
        send(effect, Some(message.text.clone()), None);
    }
    if silent {
        send(Effect::Info, outcome.reason.clone(), None);
    }
}
