//! Finds the processes of a run wherever they went, and kills them.
//!
//! The group is `kill`'s work; this is for what left it. One pass looks at all processes (or, in a
//! subreaper, at all descendants) on behalf of every run that is being ended, so that many runs which
//! end at once share the price. It knows nothing of time: `keeper` repeats it.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use crate::cgroup::Lease;
use crate::platform::process::{self, Process};
use crate::platform::procfs::{self, PipeEnd, Stat, Ticks};
use crate::{Containment, Exit, LeftProcess};

/// How the processes of one run are known.
#[derive(Debug)]
pub(crate) struct Target {
    /// The process that was started, which leads the session.
    pub(crate) leader: i32,
    /// The value of the run variable.
    pub(crate) marker: String,
    /// The ends of pipes that were given to it: the lifeline's and those of its output.
    pub(crate) ends: [PipeEnd; 3],
    /// No process of the run is older.
    pub(crate) since: Ticks,
    /// The cgroup it runs in, if it has one of its own.
    pub(crate) cgroup: Option<Lease>,
}

impl Target {
    /// Whether a process with these ends got one of them from this run. One that has the other end of
    /// the same pipe as well got both from us: it is a fork of this process, for good or on its way to
    /// an exec, and not the run's.
    fn is_held_by(&self, held: &[PipeEnd]) -> bool {
        self.ends.iter().any(|end| {
            let other = PipeEnd { writes: !end.writes, ..*end };
            held.contains(end) && !held.contains(&other)
        })
    }
}

/// A living process of a run.
#[derive(Debug)]
pub(crate) struct Found {
    /// Which of the targets, by position.
    pub(crate) target: usize,
    pub(crate) process: LeftProcess,
}

/// What one pass saw.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) found: Vec<Found>,
    pub(crate) by: Containment,
}

/// What is to be done with the living processes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Kill,
    /// They are only listed.
    Leave,
}

/// Runs to look for, and what is to be done with their processes.
pub(crate) type Wanted<'a> = [(&'a Target, Then)];

/// The leaders that have been started and not been reaped.
static LEADERS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Held for reading while a process is started in a subreaper, for writing while orphans are looked
/// at: a child that nobody has noted down yet must not pass for an orphan.
static STARTS: RwLock<()> = RwLock::new(());

fn leaders() -> MutexGuard<'static, BTreeSet<i32>> {
    LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps orphans from being looked at until a new child has been noted down.
pub(crate) fn starting() -> Option<RwLockReadGuard<'static, ()>> {
    procfs::is_subreaper().then(|| STARTS.read().unwrap_or_else(PoisonError::into_inner))
}

/// Notes down a leader that was started.
pub(crate) fn born(leader: i32) {
    leaders().insert(leader);
}

/// Reaps a leader and forgets it, in one step: nobody may take it for an orphan in between.
pub(crate) fn reap(leader: &Process) -> Option<Exit> {
    let mut leaders = leaders();
    let exit = leader.reap()?;
    leaders.remove(&leader.pid());
    Some(exit)
}

/// In a subreaper, reaps the orphans that have ended.
pub(crate) fn reap_orphans() {
    if !procfs::is_subreaper() {
        return;
    }
    let _no_starts = STARTS.write().unwrap_or_else(PoisonError::into_inner);
    for child in procfs::children(procfs::own_pid()).unwrap_or_default() {
        reap_if_orphan(child);
    }
}

/// Looks once for living processes of these runs.
pub(crate) fn pass(targets: &Wanted<'_>) -> Pass {
    if procfs::is_subreaper()
        && let Some(pass) = descendants_pass(targets)
    {
        return pass;
    }
    let own = procfs::own_pid();
    let mut found = Vec::new();
    for pid in procfs::pids() {
        if pid == own {
            continue;
        }
        if let Some((target, stat)) = owner(pid, targets) {
            act(pid, targets.get(target), || owner(pid, targets).is_some());
            found.push(Found { target, process: LeftProcess { pid, name: stat.name } });
        }
    }
    Pass { found, by: Containment::Scan }
}

/// Gives these processes their names; those that have ended meanwhile are left out.
pub(crate) fn named(pids: &[i32]) -> Vec<LeftProcess> {
    let alive = pids.iter().filter_map(|pid| Some((*pid, procfs::stat(*pid)?)));
    alive
        .filter(|(_, stat)| !stat.is_dead())
        .map(|(pid, stat)| LeftProcess { pid, name: stat.name })
        .collect()
}

/// Says to which run a living process belongs, by session, marker or lifeline.
fn owner(pid: i32, targets: &Wanted<'_>) -> Option<(usize, Stat)> {
    let stat = procfs::stat(pid)?;
    if stat.is_dead() {
        return None;
    }
    let mut young = targets.iter().filter(|(target, _)| stat.began >= target.since);
    // Nearly all processes of a machine are older than any hook that is being ended, and cost no more
    // than this one look.
    young.next()?;
    let by = |wanted: &dyn Fn(&Target) -> bool| {
        targets.iter().position(|(target, _)| stat.began >= target.since && wanted(target))
    };
    let target = by(&|target| target.leader == stat.session)
        .or_else(|| {
            let marker = procfs::run_marker(pid)?;
            by(&|target| target.marker.as_bytes() == marker)
        })
        .or_else(|| {
            let held = procfs::pipe_ends(pid);
            by(&|target| target.is_held_by(&held))
        })?;
    Some((target, stat))
}

/// Goes through the descendants of this process, which in a subreaper are all that any run has ever
/// started. `None` if the kernel does not list children.
fn descendants_pass(targets: &Wanted<'_>) -> Option<Pass> {
    let _no_starts = STARTS.write().unwrap_or_else(PoisonError::into_inner);
    let known = leaders().clone();
    // An orphan without any mark can belong to any run that is going on. Only if there is one is it
    // known to which.
    let sole = match targets {
        [(target, _)] => known.iter().all(|leader| *leader == target.leader),
        _ => false,
    };
    let mut found = Vec::new();
    let mut open: Vec<(i32, Option<usize>)> = Vec::new();
    for child in procfs::children(procfs::own_pid())? {
        let leads = targets.iter().position(|(target, _)| target.leader == child);
        if leads.is_some() {
            open.push((child, leads));
        } else if !known.contains(&child) && !reap_if_orphan(child) {
            let unmarked = sole && procfs::run_marker(child).is_none();
            open.push((child, unmarked.then_some(0)));
        }
    }
    while let Some((pid, inherited)) = open.pop() {
        let Some(stat) = procfs::stat(pid) else { continue };
        let inherited = inherited.filter(|target| {
            targets.get(*target).is_some_and(|(target, _)| stat.began >= target.since)
        });
        let target = inherited.or_else(|| owner(pid, targets).map(|(target, _)| target));
        // Children first: a process that dies hands them to us, and they are met again next time.
        let children = procfs::children(pid).unwrap_or_default();
        open.extend(children.into_iter().map(|child| (child, target)));
        if let Some(target) = target
            && !stat.is_dead()
        {
            let still = || procfs::stat(pid).is_some_and(|now| now.began == stat.began);
            act(pid, targets.get(target), still);
            found.push(Found { target, process: LeftProcess { pid, name: stat.name } });
        }
    }
    Some(Pass { found, by: if sole { Containment::Subreaper } else { Containment::Scan } })
}

/// Reaps a child that is nobody's leader if it has ended, and says whether it had.
fn reap_if_orphan(child: i32) -> bool {
    if leaders().contains(&child) {
        return false;
    }
    let dead = procfs::stat(child).is_none_or(|stat| stat.is_dead());
    if dead {
        process::reap_orphan(child);
    }
    dead
}

/// Kills a process by a handle that was taken before it was looked at again, so that the one that is
/// killed is the one that was recognised.
fn act(pid: i32, wanted: Option<&(&Target, Then)>, still: impl FnOnce() -> bool) {
    if wanted.is_some_and(|(_, then)| *then == Then::Kill)
        && let Ok(handle) = process::open(pid)
        && still()
    {
        // It may be gone by now, or belong to another user; the next pass tells.
        let _ = process::kill(&handle);
    }
}
