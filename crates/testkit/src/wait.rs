//! Waiting for what happened in another process. The limits here only keep a broken test from
//! hanging; no test may depend on how long something takes.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long the functions here wait before they give up and panic.
pub const LIMIT: Duration = Duration::from_secs(20);

/// Waits until this is so, and panics with `what` if it never is.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LIMIT, "{what}: not within {LIMIT:?}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Waits for a file to exist, and returns what is in it.
pub fn wait_for_file(path: &Path) -> String {
    wait_until(&format!("`{}` should exist", path.display()), || path.exists());
    fs::read_to_string(path).unwrap_or_else(|error| panic!("`{}`: {error}", path.display()))
}

/// Waits for the file that `ready PATH` writes, and returns the pid in it.
pub fn wait_for_pid(path: &Path) -> i32 {
    let text = wait_for_file(path);
    text.trim().parse().unwrap_or_else(|_| panic!("`{}` holds no pid: {text:?}", path.display()))
}

/// Returns the pid that `ready PATH` wrote, if it has come that far.
pub fn read_pid(path: &Path) -> Option<i32> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Whether a process is alive. One that has ended and was not reaped is not.
pub fn is_alive(pid: i32) -> bool {
    let Ok(stat) = fs::read(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.iter().rposition(|byte| *byte == b')').and_then(|at| stat.get(at + 2));
    !matches!(state, None | Some(b'Z' | b'X' | b'x'))
}

/// Waits until a process is no longer alive.
pub fn wait_until_dead(pid: i32) {
    wait_until(&format!("process {pid} should be dead"), || !is_alive(pid));
}
