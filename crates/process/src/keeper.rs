//! One kept thread that sees endings through: it sweeps for runs that are being stopped, and ends the
//! processes of runs whose future was dropped.
//!
//! It starts with the first such ending and then sleeps without a timer while there is nothing to do.
//! Sweeping here has two reasons: looking through all processes would hold up the caller's runtime,
//! and runs that end together can share each look.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tokio::sync::oneshot;

use crate::contain::{self, Target, Then};
use crate::platform::child::refuse_signals;
use crate::platform::pipe::Lifeline;
use crate::platform::process::Process;
use crate::{Containment, LeftProcess};

/// How long anybody waits for a sweep.
pub(crate) const SWEEP_LIMIT: Duration = Duration::from_millis(100);
/// How much longer a sweep goes on that has found something and nobody waits for any more. A busy
/// machine may need it.
const AFTERWARDS: Duration = Duration::from_secs(2);
/// So many passes in a row must find nothing.
const CLEAN_PASSES: u32 = 2;
/// Between two passes, when the last one found something that now has to die.
const AFTER_FINDING: Duration = Duration::from_micros(500);
/// Between two passes that nobody waits for.
const UNHURRIED: Duration = Duration::from_millis(10);
/// Between two looks at a process that was asked to end.
const WHILE_WAITING: Duration = Duration::from_millis(2);
/// Between two looks at a process that was killed and does not die: it hangs in the kernel.
const WHILE_STUCK: Duration = Duration::from_millis(50);

/// How a sweep ended.
#[derive(Debug)]
pub(crate) struct Swept {
    pub(crate) by: Containment,
    /// What was found and killed on the way.
    pub(crate) killed: Vec<LeftProcess>,
    /// What was still alive at the last look.
    pub(crate) left: Vec<LeftProcess>,
}

/// Finds what belongs to a run, and kills it if it is told to.
pub(crate) fn sweep(target: Arc<Target>, then: Then, limit: Instant) -> oneshot::Receiver<Swept> {
    let (reply, answer) = oneshot::channel();
    submit(Case {
        target,
        process: None,
        lifeline: None,
        step: Step::Sweep(Sweep::until(limit, then)),
        reply: Some(reply),
    });
    answer
}

/// Takes over a run that was asked to end: kills it at this moment at the latest, sweeps, and reaps.
pub(crate) fn see_through(
    process: Process,
    lifeline: Option<Lifeline>,
    target: Arc<Target>,
    until: Instant,
) {
    submit(Case {
        target,
        process: Some(process),
        lifeline,
        step: Step::Grace { until },
        reply: None,
    });
}

/// Waits until everything that dropped futures left behind has ended, at most this long, and says
/// whether it has. It blocks the calling thread.
///
/// A command-line program calls it before it exits: what is still being ended then would otherwise
/// only be covered by the kernel's killing of the groups.
pub fn settle(limit: Duration) -> bool {
    let (state, _) = KEEPER
        .idle
        .wait_timeout_while(KEEPER.state(), limit, |state| state.open > 0)
        .unwrap_or_else(PoisonError::into_inner);
    state.open == 0
}

static KEEPER: Keeper = Keeper {
    state: Mutex::new(State { submitted: Vec::new(), open: 0, thread: None }),
    wake: Condvar::new(),
    idle: Condvar::new(),
};

struct Keeper {
    state: Mutex<State>,
    wake: Condvar,
    idle: Condvar,
}

struct State {
    submitted: Vec<Case>,
    /// Cases that have been submitted and are not done.
    open: usize,
    /// The process whose thread it is: a host that forks has this state, but not the thread.
    thread: Option<u32>,
}

impl Keeper {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One ending.
struct Case {
    target: Arc<Target>,
    process: Option<Process>,
    lifeline: Option<Lifeline>,
    step: Step,
    reply: Option<oneshot::Sender<Swept>>,
}

enum Step {
    /// It was asked to end.
    Grace {
        until: Instant,
    },
    /// The group was killed; what left it is looked for.
    Sweep(Sweep),
    /// Only the leader is waited for, to be reaped.
    Reap,
    Done,
}

struct Sweep {
    then: Then,
    limit: Instant,
    /// Whether the limit is past and the answer given.
    answered: bool,
    clean: u32,
    killed: Vec<LeftProcess>,
    left: Vec<LeftProcess>,
    by: Containment,
}

impl Sweep {
    fn until(limit: Instant, then: Then) -> Self {
        Self {
            then,
            limit,
            answered: false,
            clean: 0,
            killed: Vec::new(),
            left: Vec::new(),
            by: Containment::Group,
        }
    }
}

fn submit(case: Case) {
    let mut state = KEEPER.state();
    state.open += 1;
    state.submitted.push(case);
    let own = std::process::id();
    if state.thread != Some(own) {
        let thread = thread::Builder::new().name("tenter-keeper".into()).spawn(keep);
        if thread.is_err() {
            // No thread is to be had: do here what does not need waiting, which is the best there is
            // left. The next ending tries again.
            let mut cases = std::mem::take(&mut state.submitted);
            drop(state);
            cases.iter_mut().for_each(Case::at_once);
            let mut state = KEEPER.state();
            state.open = state.open.saturating_sub(cases.len());
            KEEPER.idle.notify_all();
            return;
        }
        state.thread = Some(own);
    }
    drop(state);
    KEEPER.wake.notify_one();
}

fn keep() {
    refuse_signals();
    let mut cases = Vec::new();
    let mut pause = None;
    loop {
        let mut state = KEEPER.state();
        if state.submitted.is_empty() {
            state = match pause {
                None => KEEPER.wake.wait_while(state, |state| state.submitted.is_empty()),
                Some(pause) => KEEPER
                    .wake
                    .wait_timeout_while(state, pause, |state| state.submitted.is_empty())
                    .map(|(state, _)| state)
                    .map_err(|poisoned| PoisonError::new(poisoned.into_inner().0)),
            }
            .unwrap_or_else(PoisonError::into_inner);
        }
        cases.append(&mut state.submitted);
        drop(state);

        advance(&mut cases);
        let before = cases.len();
        cases.retain(|case| !matches!(case.step, Step::Done));
        let done = before - cases.len();
        if done > 0 {
            let mut state = KEEPER.state();
            state.open = state.open.saturating_sub(done);
            KEEPER.idle.notify_all();
        }
        pause = cases.iter().map(Case::pause).min();
    }
}

/// Takes every case as far as it goes now.
fn advance(cases: &mut [Case]) {
    for case in cases.iter_mut() {
        case.end_grace();
    }
    sweep_together(cases);
    for case in cases.iter_mut() {
        case.finish_sweep();
        case.reap();
    }
}

/// One look for all cases that are being swept.
fn sweep_together(cases: &mut [Case]) {
    let mut scanned: Vec<(&Target, &mut Sweep)> = Vec::new();
    for case in cases.iter_mut() {
        let Step::Sweep(sweep) = &mut case.step else { continue };
        match &case.target.cgroup {
            Some(cgroup) => {
                if sweep.then == Then::Kill {
                    // The kernel kills all of them at once; they only have to be gone.
                    let _ = cgroup.kill();
                }
                let alive = cgroup.pids();
                sweep.by = Containment::Cgroup;
                sweep.note(contain::named(&alive));
                if alive.is_empty() {
                    sweep.clean = CLEAN_PASSES;
                }
            }
            None => scanned.push((&case.target, sweep)),
        }
    }
    if scanned.is_empty() {
        return;
    }
    let targets: Vec<_> = scanned.iter().map(|(target, sweep)| (*target, sweep.then)).collect();
    let pass = contain::pass(&targets);
    let mut found: Vec<Vec<LeftProcess>> = targets.iter().map(|_| Vec::new()).collect();
    for one in pass.found {
        if let Some(list) = found.get_mut(one.target) {
            list.push(one.process);
        }
    }
    for ((_, sweep), found) in scanned.into_iter().zip(found) {
        sweep.by = pass.by;
        sweep.note(found);
    }
}

impl Sweep {
    fn note(&mut self, found: Vec<LeftProcess>) {
        self.clean = match self.then {
            // One look is enough for a list.
            Then::Leave => CLEAN_PASSES,
            Then::Kill if found.is_empty() => self.clean + 1,
            Then::Kill => 0,
        };
        for process in &found {
            if !self.killed.contains(process) {
                self.killed.push(process.clone());
            }
        }
        self.left = found;
    }
}

impl Case {
    fn pause(&self) -> Duration {
        match &self.step {
            Step::Sweep(sweep) if sweep.clean > 0 => Duration::ZERO,
            Step::Sweep(sweep) if sweep.answered => UNHURRIED,
            Step::Sweep(_) => AFTER_FINDING,
            Step::Grace { .. } => WHILE_WAITING,
            Step::Reap | Step::Done => WHILE_STUCK,
        }
    }

    /// Kills the group once the leader has ended or its grace is over.
    fn end_grace(&mut self) {
        let Step::Grace { until } = self.step else { return };
        let ended = self.process.as_ref().is_none_or(|process| process.peek().is_some());
        if ended || Instant::now() >= until {
            self.kill_group();
            self.step = Step::Sweep(Sweep::until(Instant::now() + SWEEP_LIMIT, Then::Kill));
        }
    }

    fn kill_group(&mut self) {
        if let Some(process) = &self.process {
            process.signal_group(Signal::KILL);
        }
        if let Some(lifeline) = self.lifeline.take() {
            lifeline.cut();
        }
    }

    fn finish_sweep(&mut self) {
        let Step::Sweep(sweep) = &mut self.step else { return };
        let clean = sweep.clean >= CLEAN_PASSES;
        let now = Instant::now();
        if !clean && now < sweep.limit {
            return;
        }
        sweep.answered = true;
        if let Some(reply) = self.reply.take() {
            // Nobody waits any more if the run's future was dropped meanwhile; it has then handed
            // its process over in a case of its own.
            let _ = reply.send(Swept {
                by: sweep.by,
                killed: std::mem::take(&mut sweep.killed),
                left: std::mem::take(&mut sweep.left),
            });
        }
        if clean || now >= sweep.limit + AFTERWARDS {
            self.step = Step::Reap;
        }
    }

    fn reap(&mut self) {
        if !matches!(self.step, Step::Reap) {
            return;
        }
        if self.process.as_ref().is_none_or(|process| contain::reap(process).is_some()) {
            contain::reap_orphans();
            self.step = Step::Done;
        }
    }

    /// All that can be done without waiting.
    fn at_once(&mut self) {
        self.kill_group();
        self.step = Step::Sweep(Sweep::until(Instant::now(), Then::Kill));
        sweep_together(std::slice::from_mut(self));
        self.finish_sweep();
        self.reap();
    }
}
