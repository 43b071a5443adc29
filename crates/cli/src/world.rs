//! The surroundings of the process, read once: variables, the current directory, the terminal.
//!
//! Nothing else in the program asks for them, and the library gets them handed in.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead as _, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::error::CliError;

/// What surrounds the process.
#[derive(Debug)]
pub(crate) struct World {
    variables: Vec<(OsString, OsString)>,
    cwd: PathBuf,
}

impl World {
    /// The surroundings of this process.
    ///
    /// # Errors
    /// The current directory is gone.
    pub(crate) fn of_this_process() -> Result<Self, CliError> {
        let cwd = env::current_dir().map_err(|error| {
            CliError::bad_input(format!(
                "the current directory cannot be told: {}",
                crate::error::reason(&error)
            ))
            .hint("change to a folder that exists")
        })?;
        Ok(Self { variables: env::vars_os().collect(), cwd })
    }

    /// Every variable.
    pub(crate) fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// One variable.
    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_os_str())
    }

    /// The current directory, absolute.
    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }
}

/// The path of this program.
///
/// # Errors
/// It cannot be told.
pub(crate) fn own_program() -> Result<PathBuf, CliError> {
    env::current_exe().map_err(|error| {
        let reason = crate::error::reason(&error);
        CliError::bad_input(format!("the path of this program cannot be told: {reason}"))
            .hint("call it by its absolute path")
    })
}

/// Whether stdin is a terminal, so that reading it would wait for somebody to type.
pub(crate) fn stdin_is_terminal() -> bool {
    io::stdin().is_terminal()
}

/// Whether somebody sees what is written on the side as it is written.
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Whether a question can be asked and answered.
pub(crate) fn can_ask() -> bool {
    stdin_is_terminal() && stderr_is_terminal()
}

/// Everything on stdin.
///
/// # Errors
/// It cannot be read, or is not UTF-8.
pub(crate) fn read_stdin() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes).map_err(|error| {
        CliError::bad_input(format!("cannot read stdin: {}", crate::error::reason(&error)))
    })?;
    utf8(bytes, "stdin")
}

/// The JSON object on stdin, as far as it has come when it is whole, when stdin ends, or at `until`. A
/// host may leave its end of the pipe open. Bytes that are no text are replaced: rules find them
/// unreadable.
///
/// # Errors
/// It cannot be read.
pub(crate) fn read_payload(until: Option<Instant>) -> Result<String, CliError> {
    let mut stdin = io::stdin().lock();
    let mut bytes = Vec::new();
    loop {
        let is_ready = match until {
            None => true,
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                let time = Timespec::try_from(left).ok();
                let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
                // Where it cannot be asked, reading says what is wrong.
                poll(&mut polled, time.as_ref()).map_or(true, |ready| ready > 0)
            }
        };
        if !is_ready {
            break;
        }
        let read = stdin.fill_buf().map(|chunk| {
            bytes.extend_from_slice(chunk);
            chunk.len()
        });
        match read {
            Ok(0) => break,
            Ok(read) => stdin.consume(read),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let reason = crate::error::reason(&error);
                return Err(CliError::bad_input(format!("cannot read stdin: {reason}")));
            }
        }
        if bytes.trim_ascii_end().ends_with(b"}") && is_whole(&bytes) {
            break;
        }
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Whether bytes are a whole JSON value.
fn is_whole(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

/// A text file.
///
/// # Errors
/// It is not there, cannot be read, or is not UTF-8.
pub(crate) fn read_file(what: &str, path: &Path) -> Result<String, CliError> {
    read_file_at(what, path, path)
}

/// A text file that is at `whole`, and that the user calls `path`.
///
/// # Errors
/// It is not there, cannot be read, or is not UTF-8.
pub(crate) fn read_file_at(what: &str, path: &Path, whole: &Path) -> Result<String, CliError> {
    let bytes = std::fs::read(whole).map_err(|error| CliError::unreadable(what, path, &error))?;
    utf8(bytes, &format!("the {what} `{}`", path.display()))
}

fn utf8(bytes: Vec<u8>, what: &str) -> Result<String, CliError> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CliError::bad_input(format!("{what} is not UTF-8: byte {} cannot be read", at + 1))
            .hint("write it as UTF-8")
    })
}

/// Every line on stdin as it is typed, without its end. The thread that reads ends with the program.
pub(crate) fn lines() -> UnboundedReceiver<String> {
    let (typed, lines) = unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lines() {
            if line.is_ok_and(|line| typed.send(line).is_ok()) {
                continue;
            }
            break;
        }
    });
    lines
}

/// One line from the terminal, without its end.
///
/// # Errors
/// It cannot be read.
pub(crate) fn read_line() -> Result<String, CliError> {
    let mut line = String::new();
    io::stdin().read_line(&mut line).map_err(|error| {
        CliError::bad_input(format!("cannot read the answer: {}", crate::error::reason(&error)))
    })?;
    Ok(line.trim().to_owned())
}
