//! The port that a host's loop calls: an event goes in, an outcome comes out.
//!
//! A [`Session`](crate::Session), [`FunctionHooks`](crate::FunctionHooks), [`NoHooks`] and every
//! decorator implement it, so a loop need not know which one it has.

use std::time::Instant;

use futures_util::future::BoxFuture;
use tenter_core::event::{Event, EventKind, EventMask};
use tenter_core::outcome::Outcome;
use tokio_util::sync::CancellationToken;

/// What a caller lays over every hook of one event.
#[derive(Debug, Clone, Default)]
pub struct RunContext {
    /// Ends the hooks when the caller no longer wants an answer.
    pub cancel: CancellationToken,
    /// When an answer is needed at the latest; every hook's own time is clamped to it.
    pub deadline: Option<Instant>,
}

impl RunContext {
    /// No deadline, and a cancellation that nobody triggers.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a latest moment.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Under a cancellation of the caller's.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }
}

/// Runs the hooks of one event.
///
/// It never fails and never panics: whatever goes wrong is in the outcome, by policy. Dropping the
/// future ends what it started.
///
/// A runner of one's own stands beside the engine's, or around another one:
///
/// ```
/// use std::pin::Pin;
/// use tenter::{Decision, Event, EventKind, EventMask, HookRunner, NoHooks, Outcome, RunContext};
///
/// /// Lets nothing of a tool through that the runner inside has not seen.
/// struct Closed<R>(R);
///
/// impl<R: HookRunner> HookRunner for Closed<R> {
///     fn run<'a>(
///         &'a self,
///         event: &'a Event,
///         cx: &'a RunContext,
///     ) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
///         Box::pin(async move {
///             let mut outcome = self.0.run(event, cx).await;
///             if outcome.hooks.is_empty() {
///                 outcome.decision = Decision::Deny;
///                 outcome.reason = Some("no hook has seen this call".to_owned());
///             }
///             outcome
///         })
///     }
///
///     fn mask(&self) -> EventMask {
///         self.0.mask().with(&EventKind::PreToolUse)
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let runner = Closed(NoHooks);
/// let call = Event::pre_tool("Bash", serde_json::json!({ "command": "ls" }).into());
/// assert!(runner.mask().contains(&call.kind));
/// assert_eq!(runner.run(&call, &RunContext::new()).await.decision, Decision::Deny);
/// # });
/// ```
pub trait HookRunner: Send + Sync {
    /// Runs the hooks of `event`.
    fn run<'a>(&'a self, event: &'a Event, cx: &'a RunContext) -> BoxFuture<'a, Outcome>;

    /// The events for which anything is to be done. A caller that asks it first pays one load and
    /// one branch for an event without hooks, and need not build the event at all.
    fn mask(&self) -> EventMask;

    /// Whether anything is to be done for events of this kind: what every caller asks first.
    fn wants(&self, kind: &EventKind) -> bool {
        self.mask().contains(kind)
    }

    /// Whether hooks are only told of events of this kind, so that a host which waits for them holds up
    /// its run for nothing. A runner that stands around another says what that one says.
    fn only_tells(&self, _kind: &EventKind) -> bool {
        false
    }

    /// Whether a result that hooks were about to see is kept as it is when the caller is cancelled
    /// meanwhile: what the profile says. A runner that may have something to hide says no.
    fn keeps_cancelled_results(&self, _kind: &EventKind) -> bool {
        false
    }
}

/// Learns that the user has allowed a call and does not want to be asked again.
///
/// Optional: a host that offers "always allow" calls it beside the port.
pub trait ApprovalLearner: Send + Sync {
    /// The call of this event was allowed for good.
    fn learn<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, ()>;
}

/// No hooks at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHooks;

impl HookRunner for NoHooks {
    fn run<'a>(&'a self, event: &'a Event, _: &'a RunContext) -> BoxFuture<'a, Outcome> {
        Box::pin(std::future::ready(Outcome::proceed(event.kind.clone())))
    }

    fn mask(&self) -> EventMask {
        EventMask::EMPTY
    }
}
