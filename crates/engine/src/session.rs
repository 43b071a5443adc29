//! What lives with one agent session: the mask, strikes, `once`, the budget of Stop, and the hooks
//! that nobody waits for.

mod memory;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use futures_util::future::{BoxFuture, FutureExt as _};
use tenter_core::approval::Approval;
use tenter_core::contract::{Block, Contract, Delivery};
use tenter_core::event::{Event, EventKind, EventMask, Payload};
use tenter_core::hook::Hook;
use tenter_core::outcome::{HookReport, Outcome, Skip, Status};
use tenter_core::plan::{Plan, Selection};
use tenter_core::profile::Profile;
use tokio_util::sync::CancellationToken;

use crate::detached::{Finished, NotificationDrain};
use crate::engine::Engine;
use crate::fire::{self, Begun, Fire};
use crate::mask::LiveMask;
use crate::runner::{ApprovalLearner, HookRunner, RunContext};
use crate::snapshot::Snapshot;
use crate::stops::Stops;
use crate::waivers::Waivers;

pub(crate) use memory::Blocked;
pub use memory::SessionMemory;

/// One agent session on an [`Engine`]. Cheap to clone; clones are the same session.
#[derive(Debug, Clone)]
pub struct Session {
    inner: Arc<Inner>,
    /// That of `inner`, one step nearer for those who only ask it.
    mask: LiveMask,
}

#[derive(Debug)]
pub(crate) struct Inner {
    engine: Engine,
    id: String,
    mask: LiveMask,
    current: ArcSwap<Current>,
    /// Held while mask and configuration change together.
    changing: Mutex<()>,
    stops: Stops,
    detached: NotificationDrain,
}

/// The configuration that a session is on, with what it has learnt on it.
#[derive(Debug)]
struct Current {
    snapshot: Arc<Snapshot>,
    live: Live,
}

impl Current {
    fn new(snapshot: Arc<Snapshot>) -> Self {
        let live = Live::new(snapshot.table.hooks().len());
        Self { snapshot, live }
    }

    fn fire<'a>(&'a self, event: &Event, stops: &'a Stops, cx: &'a RunContext) -> Fire<'a> {
        let contract = self.snapshot.contract(&event.kind);
        let claims = Claims::new(&self.live);
        // Most events have no budget, and then no clock is read.
        let deadline = match contract.budget.map(|budget| Instant::now() + budget) {
            None => cx.deadline,
            Some(budget) => Some(cx.deadline.map_or(budget, |deadline| deadline.min(budget))),
        };
        Fire { snapshot: &self.snapshot, live: &self.live, claims, stops, cx, deadline, contract }
    }
}

impl Session {
    pub(crate) fn new(engine: Engine, id: String) -> Self {
        let snapshot = engine.snapshot();
        let mask = LiveMask::new(snapshot.mask());
        let current = ArcSwap::from_pointee(Current::new(snapshot));
        Self {
            mask: mask.clone(),
            inner: Arc::new(Inner {
                engine,
                id,
                mask,
                current,
                changing: Mutex::default(),
                stops: Stops::default(),
                detached: NotificationDrain::default(),
            }),
        }
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// The session's id, as given.
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    /// The engine that the session is on.
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// Whether anything is to be done for events of this kind: one load and one branch.
    #[inline]
    pub fn wants(&self, kind: &EventKind) -> bool {
        self.mask.get().contains(kind)
    }

    /// The session's mask, for those who gate events and hold no session.
    pub fn live_mask(&self) -> LiveMask {
        self.mask.clone()
    }

    /// What runs behind the session, for those who wait for it and hold no session.
    pub fn notification_drain(&self) -> NotificationDrain {
        self.inner.detached.clone()
    }

    /// Whether no hook for events of this kind has to be waited for: then [`Session::fire`] is ready
    /// when first polled, and needs no runtime.
    pub fn answers_at_once(&self, kind: &EventKind) -> bool {
        !self.wants(kind) || self.inner.current.load().snapshot.is_quick(kind)
    }

    /// Runs the hooks of an event and waits for all of them, whatever the event's delivery.
    pub async fn fire(&self, event: &Event) -> Outcome {
        self.fire_with(event, &RunContext::new()).await
    }

    /// [`Session::fire`] under a cancellation and a deadline of the caller's.
    pub async fn fire_with(&self, event: &Event, cx: &RunContext) -> Outcome {
        match self.fire_now(event, cx) {
            Ok(outcome) => outcome,
            Err(current) => self.fire_later(event, cx, &current).await,
        }
    }

    /// Runs an event whose hooks need no waiting, without a future.
    fn fire_now(&self, event: &Event, cx: &RunContext) -> Result<Outcome, Arc<Current>> {
        if event.kind == EventKind::UserPromptSubmit {
            self.inner.stops.forget();
        }
        if !self.mask.get_or_struck(&event.kind) {
            return Ok(Outcome::proceed(event.kind.clone()));
        }
        let current = self.inner.current.load();
        if !current.snapshot.is_quick(&event.kind) {
            return Err(Arc::clone(&current));
        }
        let event = &*self.fill(event, &current.snapshot, false);
        let fire = current.fire(event, &self.inner.stops, cx);
        match fire::begin(&fire, event, |_| true) {
            Begun::Done(outcome) => {
                self.after(&current, event, &outcome);
                Ok(outcome)
            }
            // Quick hooks are asked again at once as well, so this is ready when first polled.
            Begun::Waiting(waiting) => {
                let outcome = fire::finish(&fire, event, *waiting).now_or_never();
                match outcome {
                    Some(outcome) => {
                        self.after(&current, event, &outcome);
                        Ok(outcome)
                    }
                    None => Err(Arc::clone(&current)),
                }
            }
        }
    }

    async fn fire_later(&self, event: &Event, cx: &RunContext, current: &Arc<Current>) -> Outcome {
        let event = &*self.fill(event, &current.snapshot, true);
        let to_the_end;
        let cx = match current.snapshot.contract(&event.kind).delivery {
            // What is done at the end of a session is done, bounded by its own time; so is what is only
            // told, where the run was cancelled before it came to that.
            delivery @ (Delivery::AwaitedToTheEnd | Delivery::Detached)
                if delivery == Delivery::AwaitedToTheEnd || cx.cancel.is_cancelled() =>
            {
                to_the_end = RunContext { cancel: CancellationToken::new(), deadline: cx.deadline };
                &to_the_end
            }
            _ => cx,
        };
        let fire = current.fire(event, &self.inner.stops, cx);
        let detach = |index| {
            fire.claims.hand_over(index);
            self.detach_one(current, event, index)
        };
        let outcome = match fire::begin(&fire, event, detach) {
            Begun::Done(outcome) => outcome,
            Begun::Waiting(waiting) => fire::finish(&fire, event, *waiting).await,
        };
        self.after(current, event, &outcome);
        outcome
    }

    fn after(&self, current: &Current, event: &Event, outcome: &Outcome) {
        self.narrow(current);
        self.inner.engine.record(event, outcome);
    }

    /// The approval that an outcome of this session gives to the event's tool call, if it gives one:
    /// its host then asks no question about this one call.
    pub fn approval(&self, event: &Event, outcome: &Outcome) -> Option<Approval> {
        Approval::of(event, outcome, self.current().snapshot.host.profile)
    }

    /// Hands an event to the hooks behind the host and returns at once. Events are taken in order,
    /// one after the other; [`Session::finish`] waits for them.
    ///
    /// It needs no runtime of the caller's. When the queue is full the event is dropped, and
    /// `finish` says how many were.
    pub fn notify(&self, event: &Event) {
        if self.wants(&event.kind) {
            let (session, event) = (self.clone(), event.clone());
            self.inner.detached.push(Box::new(move |cancel| {
                Box::pin(async move {
                    let cx = RunContext::new().with_cancel(cancel);
                    session.fire_with(&event, &cx).await
                })
            }));
        }
    }

    /// Waits for what runs behind the host, at most `grace`, and then ends it.
    pub async fn finish(&self, grace: Duration) -> Finished {
        let finished = self.inner.detached.finish(grace).await;
        self.inner.engine.flush();
        finished
    }

    /// Which hooks would run for an event, and for every other one why not. Nothing runs.
    pub fn plan(&self, event: &Event) -> Plan {
        let current = self.current();
        fire::plan(
            &current.snapshot,
            Some(&current.live),
            &self.fill(event, &current.snapshot, true),
        )
    }

    fn current(&self) -> Arc<Current> {
        self.inner.current.load_full()
    }

    /// The event with the session's id, where it has none; for processes with a current directory,
    /// too. Functions and fixed answers do not need one, and most events go to them alone. An end of
    /// a turn is told how often it was blocked already.
    fn fill<'e>(
        &self,
        event: &'e Event,
        snapshot: &Snapshot,
        for_processes: bool,
    ) -> Cow<'e, Event> {
        let cwd = for_processes.then_some(&snapshot.places.cwd);
        let cwd = cwd.filter(|cwd| event.origin.cwd.is_empty() && !cwd.is_empty());
        let no_id = event.origin.session_id.is_empty() && !self.inner.id.is_empty();
        let is_end = snapshot.contract(&event.kind).block == Block::GoesOn;
        if !no_id && cwd.is_none() && !is_end {
            return Cow::Borrowed(event);
        }
        let mut event = event.clone();
        if is_end {
            let blocked = self.inner.stops.count(&event);
            if let Payload::Stop(facts) = &mut event.payload {
                facts.stop_hook_active |= blocked > 0;
                let budget = snapshot.host.profile.stop_budget;
                facts.blocks_left = Some(budget.saturating_sub(blocked));
            }
        }
        if no_id {
            event.origin.session_id.clone_from(&self.inner.id);
        }
        if let Some(cwd) = cwd {
            event.origin.cwd.clone_from(cwd);
        }
        Cow::Owned(event)
    }

    /// One hook of an awaited event that nobody waits for; `false` if too many wait already.
    fn detach_one(&self, current: &Arc<Current>, event: &Event, index: usize) -> bool {
        let behind = Behind { current: Arc::clone(current), at: index };
        let (event, session) = (event.clone(), self.clone());
        self.inner.detached.push(Box::new(move |cancel| {
            Box::pin(async move {
                let cx = RunContext::new().with_cancel(cancel);
                let fire = behind.current.fire(&event, &session.inner.stops, &cx);
                let outcome = fire::fire_detached(&fire, &event, index).await;
                session.inner.engine.record(&event, &outcome);
                drop(fire);
                session.narrow(&behind.current);
                outcome
            })
        }))
    }

    /// Takes events out of the mask for which no hook is left in this session.
    fn narrow(&self, current: &Current) {
        if !current.live.narrowed.load(Ordering::Acquire) {
            return;
        }
        let _changing = lock(&self.inner.changing);
        // An event that ends on an old configuration has no say in the mask of the new one.
        if std::ptr::eq(&raw const **self.inner.current.load(), current) {
            current.live.narrowed.store(false, Ordering::Release);
            let mask = current.live.mask(&current.snapshot);
            self.inner.mask.keep(mask, current.live.struck.load(Ordering::Acquire));
        }
    }
}

impl Inner {
    /// Moves the session to a new configuration. Strikes and `once` start anew; events that run
    /// finish on the old one.
    pub(crate) fn switch(&self, snapshot: &Arc<Snapshot>) {
        let _changing = lock(&self.changing);
        self.current.store(Arc::new(Current::new(Arc::clone(snapshot))));
        self.mask.set(snapshot.mask());
    }
}

/// A lock that a panic elsewhere does not take away: what it protects is valid at every moment.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}

impl HookRunner for Session {
    fn run<'a>(&'a self, event: &'a Event, cx: &'a RunContext) -> BoxFuture<'a, Outcome> {
        match self.fire_now(event, cx) {
            Ok(outcome) => Box::pin(std::future::ready(outcome)),
            Err(current) => Box::pin(async move { self.fire_later(event, cx, &current).await }),
        }
    }

    fn mask(&self) -> EventMask {
        self.mask.get()
    }

    fn only_tells(&self, kind: &EventKind) -> bool {
        let current = self.inner.current.load();
        current.snapshot.contract(kind).delivery == Delivery::Detached
    }

    fn keeps_cancelled_results(&self, kind: &EventKind) -> bool {
        !self.inner.current.load().snapshot.contract(kind).withholds_cancelled
    }
}

/// A session remembers the very call, byte for byte, and until its configuration changes: hooks that
/// ask about it are not heard again. Hooks that deny, hooks that fail, and rules are.
///
/// ```
/// use tenter::{ApprovalLearner as _, Decision, Engine, Event, EventKind, FunctionHook, Verdict};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let asks = FunctionHook::sync("asks", [EventKind::PreToolUse], |_| Verdict::ask("sure?"));
/// let session = Engine::builder().function(asks).build().session("session-1");
/// let call = |command: &str| {
///     Event::pre_tool("Bash", serde_json::json!({ "command": command }).into())
/// };
///
/// assert_eq!(session.fire(&call("git push")).await.decision, Decision::Ask);
/// session.learn(&call("git push")).await; // "Allow, and do not ask again."
/// assert_eq!(session.fire(&call("git push")).await.decision, Decision::None);
/// assert_eq!(session.fire(&call("git push -f")).await.decision, Decision::Ask);
/// # });
/// ```
impl ApprovalLearner for Session {
    fn learn<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, ()> {
        let current = self.inner.current.load();
        let event = self.fill(event, &current.snapshot, false);
        current.live.waivers.learn(&event, &current.snapshot.places.cwd);
        Box::pin(std::future::ready(()))
    }
}

/// A hook that runs once has not run.
const IDLE: u8 = 0;
/// It runs.
const RUNNING: u8 = 1;
/// It has run.
const DONE: u8 = 2;

/// The claims of one event on hooks that run once. What has come to nothing when the event ends,
/// however it ends, is given back.
#[derive(Debug)]
pub(crate) struct Claims<'a> {
    live: &'a Live,
    claimed: Mutex<Vec<usize>>,
}

impl<'a> Claims<'a> {
    fn new(live: &'a Live) -> Self {
        Self { live, claimed: Mutex::default() }
    }

    /// Claims a run; `true` for a hook that may run any number of times.
    pub(crate) fn claim(&self, at: usize, hook: &Hook) -> bool {
        let claimed = self.live.claim(at, hook);
        if claimed && hook.once {
            lock(&self.claimed).push(at);
        }
        claimed
    }

    /// Hands a claim over to somebody who outlives the event.
    fn hand_over(&self, at: usize) {
        lock(&self.claimed).retain(|other| *other != at);
    }
}

impl Drop for Claims<'_> {
    fn drop(&mut self) {
        let claimed = self.claimed.get_mut().map(std::mem::take).unwrap_or_default();
        for at in claimed {
            self.live.give_back(at);
        }
    }
}

/// The claim of a hook that runs behind the host, given back if it never gets to run.
struct Behind {
    current: Arc<Current>,
    at: usize,
}

impl Drop for Behind {
    fn drop(&mut self) {
        self.current.live.give_back(self.at);
    }
}

/// What a session has learnt about the hooks of one configuration.
#[derive(Debug, Default)]
pub(crate) struct Live {
    strikes: Vec<AtomicU32>,
    /// How far each hook that runs once has got.
    once: Vec<AtomicU8>,
    /// Whether any hook has struck out or is done, so that most events need not look.
    touched: AtomicBool,
    /// Whether a hook has struck out whose event hosts need not fire any more.
    struck: AtomicBool,
    narrowed: AtomicBool,
    /// What the user has allowed and does not want to be asked about again.
    pub(crate) waivers: Waivers,
}

impl Live {
    fn new(hooks: usize) -> Self {
        Self {
            strikes: (0..hooks).map(|_| AtomicU32::new(0)).collect(),
            once: (0..hooks).map(|_| AtomicU8::new(IDLE)).collect(),
            ..Self::default()
        }
    }

    /// Why a hook no longer runs in this session.
    pub(crate) fn skip_of(
        &self,
        at: usize,
        hook: &Hook,
        profile: &Profile,
        contract: &Contract,
    ) -> Option<Skip> {
        if !self.touched.load(Ordering::Acquire) {
            return None;
        }
        if hook.once && self.once_at(at) != IDLE {
            return Some(Skip::Once);
        }
        let struck = profile.strikes.is_some_and(|most| {
            self.strikes.get(at).is_some_and(|count| count.load(Ordering::Acquire) >= most)
        });
        // A guard is never left out.
        (struck && !hook.is_guard(contract)).then_some(Skip::Strikes)
    }

    /// Claims the one run of a hook that runs once; `false` if another event has it.
    fn claim(&self, at: usize, hook: &Hook) -> bool {
        if !hook.once {
            return true;
        }
        let claimed = self.once.get(at).is_some_and(|state| {
            state.compare_exchange(IDLE, RUNNING, Ordering::AcqRel, Ordering::Acquire).is_ok()
        });
        if claimed {
            self.touched.store(true, Ordering::Release);
        }
        claimed
    }

    /// Gives a claim back whose run came to nothing. One that is done stays done.
    fn give_back(&self, at: usize) {
        if let Some(state) = self.once.get(at) {
            let _ = state.compare_exchange(RUNNING, IDLE, Ordering::AcqRel, Ordering::Acquire);
        }
    }

    fn once_at(&self, at: usize) -> u8 {
        self.once.get(at).map_or(IDLE, |state| state.load(Ordering::Acquire))
    }

    /// Counts failures in a row.
    pub(crate) fn learn(
        &self,
        reports: &[HookReport],
        selection: &Selection,
        profile: &Profile,
        contract: &Contract,
    ) {
        for (report, slot) in reports.iter().zip(selection.iter()) {
            if !report.detached {
                self.learn_one(slot.hook, &report.hook, report.status, profile, contract);
            }
        }
    }

    /// What one run of a hook teaches.
    pub(crate) fn learn_one(
        &self,
        at: usize,
        hook: &Hook,
        status: Status,
        profile: &Profile,
        contract: &Contract,
    ) {
        match status {
            Status::Ok => {
                // Most sessions see no failure: then there is nothing to write.
                if let Some(count) = self.strikes.get(at)
                    && count.load(Ordering::Relaxed) != 0
                {
                    count.store(0, Ordering::Release);
                }
                if hook.once
                    && let Some(state) = self.once.get(at)
                {
                    state.store(DONE, Ordering::Release);
                    self.narrowed.store(true, Ordering::Release);
                }
            }
            Status::Failed(_) | Status::Cancelled => {
                if hook.once {
                    self.give_back(at);
                }
                if matches!(status, Status::Failed(_)) {
                    self.strike(at, hook, profile, contract);
                }
            }
            Status::Skipped(_) => {}
        }
    }

    fn strike(&self, at: usize, hook: &Hook, profile: &Profile, contract: &Contract) {
        let (Some(most), Some(count)) = (profile.strikes, self.strikes.get(at)) else { return };
        if count.fetch_add(1, Ordering::AcqRel) + 1 >= most && !hook.is_guard(contract) {
            self.touched.store(true, Ordering::Release);
            if !contract.fires_for_struck {
                self.struck.store(true, Ordering::Release);
                self.narrowed.store(true, Ordering::Release);
            }
        }
    }

    /// The events for which a hook is left. One that has done its one run is gone. One that struck
    /// out is gone where the profile has it so; elsewhere it is still reported, as is one that is
    /// left out loudly.
    fn mask(&self, snapshot: &Snapshot) -> EventMask {
        let full = snapshot.mask();
        let profile = snapshot.host.profile;
        let is_left = |kind: &EventKind, at: &usize| {
            snapshot.table.get(*at).is_some_and(|hook| {
                let silent = matches!(hook.skip, Some(Skip::Disabled | Skip::Duplicate));
                let contract = snapshot.contract(kind);
                let struck = || self.skip_of(*at, hook, profile, contract) == Some(Skip::Strikes);
                let gone = (hook.once && self.once_at(*at) == DONE)
                    || (!contract.fires_for_struck && struck());
                !(silent || gone)
            })
        };
        let left =
            |kind: &&EventKind| snapshot.table.of_kind(kind).iter().any(|at| is_left(kind, at));
        let other = EventKind::Other("".into());
        let mut mask: EventMask =
            EventKind::ALL.iter().filter(|kind| full.contains(kind)).filter(left).collect();
        if snapshot.has_rules() {
            mask = mask.union(snapshot.rule_mask());
        }
        if full.contains(&other) { mask.with(&other) } else { mask }
    }
}
