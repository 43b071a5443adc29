//! What a run needs to know: the program, its surroundings and its bounds.
//!
//! Plain data with defaults. Looking up the program and checking the strings is `start`'s work.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::{Cgroups, Environment};

/// Everything needed for one run. The caller has resolved placeholders and configuration.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program: a path, or a bare name that is looked up in the `PATH` of [`env`](Self::env).
    /// A relative path is relative to [`cwd`](Self::cwd).
    pub program: OsString,
    /// The arguments after the program's own name.
    pub args: Vec<OsString>,
    /// The directory the process starts in; absolute.
    pub cwd: PathBuf,
    /// The whole environment; nothing is inherited besides.
    pub env: Environment,
    /// The bytes for stdin, as they are; end-of-file follows.
    pub stdin: Arc<[u8]>,
    /// How long and how much.
    pub limits: Limits,
    /// What becomes of processes that outlive a clean exit.
    pub leftovers: Leftovers,
    /// Cgroups to run in, if the caller has some to use.
    pub cgroups: Option<Cgroups>,
}

impl Command {
    /// Returns a command without arguments and input, with default limits.
    pub fn new(program: impl Into<OsString>, cwd: impl Into<PathBuf>, env: Environment) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            env,
            stdin: Arc::from(&[][..]),
            limits: Limits::default(),
            leftovers: Leftovers::default(),
            cgroups: None,
        }
    }
}

/// The bounds of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From the start of the process to its end. [`Duration::MAX`] is no deadline.
    pub timeout: Duration,
    /// From the polite signal to the one that cannot be refused.
    pub grace: Duration,
    /// How long the pipes may stay open after the process has exited.
    pub drain: Duration,
    /// The most bytes stdout may hold; one more stops the run.
    pub stdout: usize,
    /// The most bytes stderr may hold; one more stops the run.
    pub stderr: usize,
}

impl Default for Limits {
    /// 30 s, 500 ms grace, 100 ms drain, 1 MiB of stdout, 256 KiB of stderr.
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            grace: Duration::from_millis(500),
            drain: Duration::from_millis(100),
            stdout: 1024 * 1024,
            stderr: 256 * 1024,
        }
    }
}

/// What becomes of processes that are still there after a clean exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Leftovers {
    /// They live on. Those that hold the pipes are reported.
    #[default]
    Leave,
    /// They are killed, whether they hold the pipes or not.
    Kill,
}
