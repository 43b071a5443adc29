//! A thread of our own with a big stack, for command lines that nest deeper than the caller's stack
//! may bear.
//!
//! Owns: the thread. It is the one thread of this otherwise pure crate: it is started when first
//! needed, does nothing but run the same function, and keeps nothing between two lines. The answer
//! does not depend on it: where it cannot be started, the line is too deep.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, OnceLock};

use crate::analysis::Analysis;

/// The parser takes about 10 KiB of stack for each level in a debug build.
const STACK: usize = 64 * 1024 * 1024;

struct Job {
    line: String,
    answer: Sender<Option<Analysis>>,
}

/// Runs `work` on the line in the kept thread. `None` when there is no such thread, or when the
/// work panicked.
pub(crate) fn run(line: &str, work: fn(&str) -> Analysis) -> Option<Analysis> {
    static THREAD: OnceLock<Option<Mutex<Sender<Job>>>> = OnceLock::new();
    let thread = THREAD.get_or_init(|| {
        let (jobs, inbox) = mpsc::channel::<Job>();
        let serve = move || {
            for job in inbox {
                let answer = catch_unwind(AssertUnwindSafe(|| work(&job.line))).ok();
                // Nobody waiting any more is not our concern.
                let _ = job.answer.send(answer);
            }
        };
        let started = std::thread::Builder::new()
            .name("tenter-shell".to_owned())
            .stack_size(STACK)
            .spawn(serve);
        started.ok().map(|_| Mutex::new(jobs))
    });
    let (answer, wait) = mpsc::channel();
    let job = Job { line: line.to_owned(), answer };
    thread.as_ref()?.lock().ok()?.send(job).ok()?;
    wait.recv().ok()?
}
