//! From a [`Command`] to a running process: checks the strings, looks up the program, makes the pipes.
//!
//! Making the process itself is the platform's work, and telling why that failed is `diagnose`'s.

use std::ffi::{CString, OsStr};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use rustix::fs::{Access, access};

use crate::cgroup::Lease;
use crate::contain::{self, Target};
use crate::diagnose;
use crate::drain::{Feed, Intake};
use crate::environment::Unusable;
use crate::platform::child::{self, Failure, Image};
use crate::platform::pipe::{Lifeline, inode};
use crate::platform::process::Process;
use crate::platform::procfs::{PipeEnd, Ticks};
use crate::{Command, Environment, RUN_VARIABLE, Stage, StartCause, StartError, Stream};

/// Where bare names are looked up if the environment has no `PATH`, as the system's own lookup does.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// A process that was started, and all that belongs to it.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) process: Process,
    /// There if it was armed.
    pub(crate) lifeline: Option<Lifeline>,
    pub(crate) target: Arc<Target>,
    pub(crate) feed: Option<Feed>,
    pub(crate) stdout: Intake,
    pub(crate) stderr: Intake,
    pub(crate) notes: Vec<String>,
}

/// A program and its strings, checked once and usable for several tries.
pub(crate) struct Prepared {
    path: PathBuf,
    program: CString,
    argv: Vec<CString>,
    cwd: CString,
    env: Environment,
    marker: String,
}

impl Prepared {
    pub(crate) fn new(command: &Command) -> Result<Self, StartError> {
        let text = |text: &OsStr, what: &dyn Fn() -> String| {
            CString::new(text.as_bytes()).map_err(|_| {
                refused(command, libc::EINVAL, StartCause::NulInArgument { what: what() })
            })
        };
        let name = text(&command.program, &|| "the program".to_owned())?;
        let path = look_up(command)?;
        let program = text(path.as_os_str(), &|| "the program's path".to_owned())?;
        let cwd = text(command.cwd.as_os_str(), &|| "the directory".to_owned())?;
        let mut argv = vec![name];
        for (number, arg) in (1..).zip(&command.args) {
            argv.push(text(arg, &|| format!("argument {number}"))?);
        }
        let marker = new_marker();
        let env = command.env.with(RUN_VARIABLE, &marker);
        Ok(Self { path, program, argv, cwd, env, marker })
    }

    /// The file that is executed.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Starts the process once. Must be called within a runtime.
pub(crate) fn start(command: &Command, prepared: &Prepared) -> Result<Started, StartError> {
    let pipes_failed = |error: io::Error| {
        failed(
            command,
            prepared,
            Failure { stage: Stage::Pipes, errno: error.raw_os_error().unwrap_or(0) },
        )
    };
    let env = prepared.env.block().map_err(|(name, unusable)| {
        let cause = match unusable {
            Unusable::Name => StartCause::VariableName { name: name.to_owned() },
            Unusable::Nul => {
                StartCause::NulInArgument { what: format!("the variable `{}`", name.display()) }
            }
        };
        refused(command, libc::EINVAL, cause)
    })?;
    let argv: Vec<_> = prepared.argv.iter().map(CString::as_c_str).collect();

    let lifeline = Lifeline::new().map_err(pipes_failed)?;
    let feed = Feed::new(Arc::clone(&command.stdin)).map_err(pipes_failed)?;
    let (stdout, stdout_end) =
        Intake::new(Stream::Stdout, command.limits.stdout).map_err(pipes_failed)?;
    let (stderr, stderr_end) =
        Intake::new(Stream::Stderr, command.limits.stderr).map_err(pipes_failed)?;

    let end = |fd: BorrowedFd<'_>, writes| Ok(PipeEnd { inode: inode(fd)?, writes });
    let ends = [
        end(lifeline.read_end(), false).map_err(pipes_failed)?,
        end(stdout_end.as_fd(), true).map_err(pipes_failed)?,
        end(stderr_end.as_fd(), true).map_err(pipes_failed)?,
    ];

    let mut notes = Vec::new();
    let cgroup = command.cgroups.as_ref().and_then(|cgroups| {
        cgroups
            .take()
            .inspect_err(|error| notes.push(format!("no cgroup could be made: {error}")))
            .ok()
    });

    let since = Ticks::now();
    let starting = contain::starting();
    let born = child::start(&Image {
        program: &prepared.program,
        argv: &argv,
        env: &env,
        cwd: &prepared.cwd,
        stdin: feed.read_end(),
        stdout: stdout_end.as_fd(),
        stderr: stderr_end.as_fd(),
        lifeline: lifeline.read_end(),
        cgroup: cgroup.as_ref().and_then(Lease::entrance),
    })
    .map_err(|failure| failed(command, prepared, failure))?;
    contain::born(born.pid);
    drop(starting);

    let joined = match born.joined {
        Ok(()) => cgroup,
        Err(errno) => {
            let error = io::Error::from_raw_os_error(errno);
            notes.push(format!("the process could not join its cgroup: {error}"));
            None
        }
    };
    let lifeline = match born.armed {
        Ok(()) => Some(lifeline),
        Err(errno) => {
            let error = io::Error::from_raw_os_error(errno);
            notes.push(format!("the process would outlive a killed host: {error}"));
            None
        }
    };
    let target = Arc::new(Target {
        leader: born.pid,
        marker: prepared.marker.clone(),
        ends,
        since,
        cgroup: joined,
    });
    let process = Process::new(born.pid, born.pidfd);
    let feed = (!feed.is_done()).then_some(feed);
    Ok(Started { process, lifeline, target, feed, stdout, stderr, notes })
}

/// Finds the file that will be executed.
fn look_up(command: &Command) -> Result<PathBuf, StartError> {
    let name = command.program.as_bytes();
    if name.contains(&b'/') {
        return Ok(PathBuf::from(&command.program));
    }
    let path = command.env.get("PATH").unwrap_or(OsStr::new(DEFAULT_PATH));
    let mut refusal = None;
    for directory in std::env::split_paths(path) {
        if name.is_empty() {
            break;
        }
        // An empty or relative entry means the directory the process will be in.
        let candidate = command.cwd.join(directory).join(&command.program);
        match fs::metadata(&candidate) {
            Ok(found) if !found.is_file() => {}
            Ok(_) if access(&candidate, Access::EXEC_OK).is_err() => {
                refusal.get_or_insert((candidate, StartCause::NotExecutable));
            }
            Ok(_) => return Ok(candidate),
            Err(_) => {}
        }
    }
    let (program, cause) =
        refusal.unwrap_or_else(|| (PathBuf::from(&command.program), StartCause::ProgramMissing));
    let errno = if cause == StartCause::ProgramMissing { libc::ENOENT } else { libc::EACCES };
    Err(StartError { program, ..refused(command, errno, cause) })
}

/// An error from before anything was made.
fn refused(command: &Command, errno: i32, cause: StartCause) -> StartError {
    StartError {
        stage: Stage::Prepare,
        errno,
        cause,
        program: PathBuf::from(&command.program),
        cwd: command.cwd.clone(),
    }
}

/// An error of the system's, with its cause looked up.
fn failed(command: &Command, prepared: &Prepared, failure: Failure) -> StartError {
    let path = if prepared.path.is_absolute() {
        prepared.path.clone()
    } else {
        command.cwd.join(&prepared.path)
    };
    StartError {
        stage: failure.stage,
        errno: failure.errno,
        cause: diagnose::cause(failure.stage, failure.errno, &path, Path::new(&command.cwd)),
        program: prepared.path.clone(),
        cwd: command.cwd.clone(),
    }
}

/// A value for the run variable that no other run on this machine has: the process, a random number
/// of this process, and a count.
fn new_marker() -> String {
    static RANDOM: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0_u64));
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{:016x}-{count}", std::process::id(), *RANDOM)
}
