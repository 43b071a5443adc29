//! How a run ended: plain data for the caller to judge.

use std::time::Duration;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How the process itself ended. It stays the truth when [`stopped`](Self::stopped) is set.
    pub exit: Exit,
    /// Why the run was stopped, if it was. A process that had already exited when its deadline came
    /// or when it was cancelled was not stopped.
    pub stopped: Option<Stopped>,
    /// What was read from stdout, never more than its limit.
    pub stdout: Vec<u8>,
    /// What was read from stderr, never more than its limit.
    pub stderr: Vec<u8>,
    /// Whether some process still held stdout or stderr open when reading ended.
    pub held: bool,
    /// The strongest means that was used to find the processes of this run.
    pub contained_by: Containment,
    /// Processes of this run that were seen alive at its end: after a clean exit those that live on,
    /// after a stop those that could not be ended in time.
    pub left: Vec<LeftProcess>,
    /// What else is worth telling, for people: lower-case fragments.
    pub notes: Vec<String>,
    /// From the call to the return of `run`.
    pub duration: Duration,
    /// From the call until the program was executing.
    pub start: Duration,
}

/// How the process itself ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this status.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// There is no status: other code in this process took it (and the kernel is too old to be asked
    /// again), the process could not be ended in time, or it was cancelled before its start. The
    /// notes say which.
    Lost,
}

/// Why a run was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Its time was up.
    Deadline,
    /// The caller cancelled it.
    Cancelled,
    /// It wrote more than the limit.
    OutputLimit {
        /// To which stream.
        stream: Stream,
    },
}

/// One of the two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// By which means the processes of a run are found when they have to be ended, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Containment {
    /// Its process group. After a clean exit nothing more is needed.
    Group,
    /// All processes were looked through for this run's session, environment marker and lifeline. A
    /// process that left the session, cleared its environment and closed its descriptors escapes.
    Scan,
    /// This process inherits every orphan, so nothing escapes.
    Subreaper,
    /// The run had its own cgroup, so nothing escapes.
    Cgroup,
}

impl Containment {
    /// Returns the word that stands in reports: `group`, `scan`, `subreaper` or `cgroup`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Scan => "scan",
            Self::Subreaper => "subreaper",
            Self::Cgroup => "cgroup",
        }
    }
}

/// A process of a run that was alive when the run ended.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftProcess {
    /// Its process id.
    pub pid: i32,
    /// Its name, as the system shows it (cut to 15 bytes by Linux).
    pub name: String,
}
