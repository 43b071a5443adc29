//! Ends everything that lives in one world: processes that were started with a certain text in their
//! environment, whoever started them and however far they went.
//!
//! It is for a program that gives each of its tasks a home of its own, such as a temporary folder, and
//! wants nothing to outlive the task. A run of its own needs none of this.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::contain;
use crate::platform::process;
use crate::platform::procfs;

/// How long it goes on as long as it finds something.
const LIMIT: Duration = Duration::from_secs(2);
/// Between two passes: what was killed takes a moment to go.
const PAUSE: Duration = Duration::from_millis(2);

/// Kills every process whose environment, as it was at its start, holds `text`, and says how many
/// there were. It blocks the calling thread: for a few milliseconds, or for two seconds where
/// processes make new ones as fast as they are killed.
///
/// `text` has to be one that nobody else has, such as the path of a temporary folder. A process that
/// cleared its environment is not found, and neither is one of another user.
pub fn end_world(text: &str) -> usize {
    let until = Instant::now() + LIMIT;
    let mut killed = Vec::new();
    while !text.is_empty() {
        let found: Vec<_> = procfs::pids().into_iter().filter(|pid| end(*pid, text)).collect();
        if found.is_empty() || Instant::now() > until {
            break;
        }
        killed.extend(found);
        thread::sleep(PAUSE);
    }
    if !killed.is_empty() {
        contain::reap_orphans();
    }
    killed.sort_unstable();
    killed.dedup();
    killed.len()
}

/// Kills a process that lives in the world, and says whether it does.
fn end(pid: i32, text: &str) -> bool {
    if pid == procfs::own_pid() || !lives_in(pid, text) {
        return false;
    }
    // By a handle that was taken before the second look, so that it is the process that was seen.
    if let Ok(handle) = process::open(pid)
        && lives_in(pid, text)
    {
        // It may be gone by now; the next pass tells.
        let _ = process::kill(&handle);
    }
    true
}

/// A process that has ended has no environment any more.
fn lives_in(pid: i32, text: &str) -> bool {
    let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environ.windows(text.len()).any(|part| part == text.as_bytes())
}
