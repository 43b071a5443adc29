//! Looks at processes through `/proc`: which there are, when they began, what marks them.
//!
//! Everything here may be gone by the time it is read, and may belong to somebody who does not let us
//! read it. Both give `None` or an empty answer; judging that is the caller's work.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{getpid, set_child_subreaper};
use rustix::time::{ClockId, clock_gettime};

use crate::RUN_VARIABLE;

static SUBREAPER: AtomicBool = AtomicBool::new(false);

/// Makes this process inherit the orphans among its descendants.
pub(crate) fn become_subreaper() -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    SUBREAPER.store(true, Ordering::SeqCst);
    Ok(())
}

/// Whether this process asked to inherit orphans.
pub(crate) fn is_subreaper() -> bool {
    SUBREAPER.load(Ordering::SeqCst)
}

/// A moment, in the clock and the unit in which a process's start is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticks(u64);

impl Ticks {
    /// `/proc` counts in hundredths of a second on every Linux, whatever the kernel's own clock rate.
    const PER_SECOND: u64 = 100;

    pub(crate) fn now() -> Self {
        let now = clock_gettime(ClockId::Boottime);
        let part = u64::try_from(now.tv_nsec).unwrap_or(0) / (1_000_000_000 / Self::PER_SECOND);
        Self(u64::try_from(now.tv_sec).unwrap_or(0) * Self::PER_SECOND + part)
    }
}

/// What `/proc/PID/stat` tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) name: String,
    pub(crate) state: u8,
    pub(crate) session: i32,
    pub(crate) began: Ticks,
}

impl Stat {
    /// Whether it has ended and only waits to be reaped.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// Lists the ids of all processes.
pub(crate) fn pids() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// Reads the state of one process.
pub(crate) fn stat(pid: i32) -> Option<Stat> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

fn parse_stat(text: &[u8]) -> Option<Stat> {
    // The name stands in parentheses and may hold anything, parentheses and spaces too.
    let open = text.iter().position(|byte| *byte == b'(')?;
    let close = text.iter().rposition(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(text.get(open + 1..close)?).into_owned();
    let rest = std::str::from_utf8(text.get(close + 1..)?).ok()?;
    // Counted from the field after the name: state, ppid, pgrp, session, ..., start time as the 20th.
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Stat {
        name,
        state: *fields.first()?.as_bytes().first()?,
        session: fields.get(3)?.parse().ok()?,
        began: Ticks(fields.get(19)?.parse().ok()?),
    })
}

/// Reads the value of the run variable in the environment a process was started with.
pub(crate) fn run_marker(pid: i32) -> Option<Vec<u8>> {
    let environ = fs::read(format!("/proc/{pid}/environ")).ok()?;
    environ.split(|byte| *byte == 0).find_map(|variable| {
        let value = variable.strip_prefix(RUN_VARIABLE.as_bytes())?.strip_prefix(b"=")?;
        Some(value.to_vec())
    })
}

/// One end of a pipe that a process has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PipeEnd {
    pub(crate) inode: u64,
    pub(crate) writes: bool,
}

/// Lists the ends of pipes that a process has open.
pub(crate) fn pipe_ends(pid: i32) -> Vec<PipeEnd> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    entries
        .filter_map(|entry| {
            let link = entry.ok()?.path();
            let target = fs::read_link(&link).ok()?;
            let inode =
                target.as_os_str().as_bytes().strip_prefix(b"pipe:[")?.strip_suffix(b"]")?;
            let inode = std::str::from_utf8(inode).ok()?.parse().ok()?;
            // The permissions of the link say how the descriptor was opened.
            let writes = fs::symlink_metadata(&link).ok()?.permissions().mode() & 0o200 != 0;
            Some(PipeEnd { inode, writes })
        })
        .collect()
}

/// Lists the children of a process, or `None` if this kernel does not tell.
pub(crate) fn children(pid: i32) -> Option<Vec<i32>> {
    let mut found = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let Ok(task) = task else { continue };
        // The file is missing on kernels built without it; a task may also end at this moment.
        match fs::read_to_string(task.path().join("children")) {
            Ok(list) => found
                .extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok())),
            Err(_) if task.path().exists() => return None,
            Err(_) => {}
        }
    }
    Some(found)
}

/// The id of this process.
pub(crate) fn own_pid() -> i32 {
    getpid().as_raw_pid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let text = b"42 (a) b (c) S 1 7 9 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 1234 5 6\n";
        let stat = parse_stat(text).expect("it is well formed");
        assert_eq!(stat.name, "a) b (c");
        assert_eq!((stat.state, stat.session, stat.began), (b'S', 9, Ticks(1234)));
        assert!(!stat.is_dead());
    }

    #[test]
    fn this_process_began_in_the_past_by_the_same_clock() {
        let stat = stat(own_pid()).expect("this process can be read");
        assert!(stat.began <= Ticks::now());
        assert!(Ticks::now().0 - stat.began.0 < Ticks::PER_SECOND * 3600);
    }
}
