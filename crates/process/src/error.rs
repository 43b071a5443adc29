//! Why a process could not be started, in a form that a caller can act on and a person can read.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// A process that could not be started. Nothing of it is left.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct StartError {
    /// How far the start had come.
    pub stage: Stage,
    /// What the system said: an `errno` number, 0 where it was not asked.
    pub errno: i32,
    /// What that means.
    pub cause: StartCause,
    /// The program as it was to be started: the path, or the bare name if it was not found.
    pub program: PathBuf,
    /// The directory it was to start in.
    pub cwd: PathBuf,
}

/// The steps of a start, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Stage {
    /// Checking the strings and looking up the program.
    Prepare,
    /// Making the pipes.
    Pipes,
    /// Making the process.
    Clone,
    /// In the new process: making its session.
    Session,
    /// In the new process: going to its directory.
    Directory,
    /// In the new process: putting the pipes in place and closing all other descriptors.
    Descriptors,
    /// In the new process: executing the program.
    Exec,
    /// Watching the process, which then ran and was killed.
    Watch,
}

/// Why a start failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartCause {
    /// There is no such program.
    ProgramMissing,
    /// The program is a directory or another thing that is not a file.
    NotAFile,
    /// The program is a file without execute permission.
    NotExecutable,
    /// The program names an interpreter (or loader) that does not exist.
    InterpreterMissing {
        /// The interpreter's path.
        name: String,
    },
    /// The program's first line ends in a carriage return, so that the interpreter it names does not
    /// exist.
    CarriageReturn {
        /// The interpreter's path, without the carriage return.
        name: String,
    },
    /// The directory to start in does not exist.
    CwdMissing,
    /// The directory to start in is not a directory.
    CwdNotADirectory,
    /// The program is neither a binary for this machine nor a script with a `#!` line.
    NoExecFormat,
    /// Arguments and environment are larger than the system allows.
    ArgumentsTooLong,
    /// The program is open for writing elsewhere, and stayed so for a while.
    Busy,
    /// A string for the process has a NUL in it.
    NulInArgument {
        /// Which string, e.g. `argument 2` or `the variable TOKEN`.
        what: String,
    },
    /// A variable has a name that no process can be given.
    VariableName {
        /// The name.
        name: OsString,
    },
    /// Anything else; `errno` says what.
    Other,
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (program, cwd) = (self.program.display(), self.cwd.display());
        write!(f, "cannot start `{program}` in `{cwd}`: ")?;
        match &self.cause {
            StartCause::ProgramMissing if self.stage == Stage::Prepare => {
                f.write_str("no such program in PATH; install it, or give its path")
            }
            StartCause::ProgramMissing => {
                f.write_str("no such file; check the path, or create the file")
            }
            StartCause::NotAFile => f.write_str("it is not a file; give the path of a program"),
            StartCause::NotExecutable => {
                write!(f, "it is not executable; run `chmod +x {program}`, or name its interpreter")
            }
            StartCause::InterpreterMissing { name } => write!(
                f,
                "its interpreter `{name}` does not exist; install it, or mend the program's first line"
            ),
            StartCause::CarriageReturn { name } => write!(
                f,
                "its first line ends in a carriage return after `{name}`; save the file with LF line \
                 ends"
            ),
            StartCause::CwdMissing => {
                f.write_str("the directory does not exist; create it, or choose another")
            }
            StartCause::CwdNotADirectory => {
                f.write_str("what should be the directory is not one; choose another")
            }
            StartCause::NoExecFormat => f.write_str(
                "it is neither a binary for this machine nor a script with an interpreter; add a \
                 first line like `#!/bin/sh`, or name its interpreter",
            ),
            StartCause::ArgumentsTooLong => f.write_str(
                "its arguments and environment are longer than the system allows; pass large values \
                 on stdin",
            ),
            StartCause::Busy => f.write_str(
                "another process has it open for writing; wait until that has closed the file",
            ),
            StartCause::NulInArgument { what } => {
                write!(f, "{what} has a NUL in it, which no process can be given; remove it")
            }
            StartCause::VariableName { name } => write!(
                f,
                "a variable cannot be named `{}`; use a name that is not empty and has no `=`",
                name.display()
            ),
            StartCause::Other => {
                let step = self.stage.describe();
                write!(f, "{step}: {}", io::Error::from_raw_os_error(self.errno))?;
                if let Some(hint) = hint(self.stage, self.errno) {
                    write!(f, "; {hint}")?;
                }
                Ok(())
            }
        }
    }
}

impl Stage {
    const fn describe(self) -> &'static str {
        match self {
            Self::Prepare => "preparing the start failed",
            Self::Pipes => "its pipes could not be made",
            Self::Clone => "the process could not be made",
            Self::Session => "its session could not be made",
            Self::Directory => "the directory could not be entered",
            Self::Descriptors => "its descriptors could not be set up",
            Self::Exec => "the program could not be executed",
            Self::Watch => "the process could not be watched",
        }
    }
}

fn hint(stage: Stage, errno: i32) -> Option<&'static str> {
    match errno {
        libc::EMFILE | libc::ENFILE => Some("close descriptors, or raise the limit (`ulimit -n`)"),
        libc::EAGAIN => Some("too many processes: end some, or raise the limit (`ulimit -u`)"),
        libc::EACCES | libc::EPERM if matches!(stage, Stage::Directory | Stage::Exec) => {
            Some("check the permissions of the path, and that it is not mounted `noexec`")
        }
        libc::ENOSYS | libc::EPERM => {
            Some("tenter needs Linux 5.9 or later, and a sandbox that permits it")
        }
        _ => None,
    }
}
