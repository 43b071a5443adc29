//! The surroundings of the process, read once: variables, the current directory, the terminal.
//!
//! Nothing else in the program asks for them, and the library gets them handed in.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

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
