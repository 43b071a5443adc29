//! The expected ways in which a command cannot go on: an exit code, a text, and what to do.
//!
//! Owns the form of an error. Every one ends at [`Console::fail`](crate::console::Console::fail),
//! which draws it once.

use std::fmt::Display;
use std::io;
use std::path::Path;

use tenter::core::exit_code::{BAD_INPUT, NO_SUCH_FILE, USAGE};

/// Why a command cannot go on.
#[derive(Debug)]
pub(crate) struct CliError {
    /// The exit code, see [`tenter::core::exit_code`].
    pub(crate) code: u8,
    /// What is wrong, where and why: a lower-case fragment. Empty if what was drawn says it.
    pub(crate) message: String,
    /// What was drawn beforehand, such as the lines of a file.
    pub(crate) drawn: String,
    /// What to do, one line each.
    pub(crate) hints: Vec<String>,
}

impl CliError {
    fn new(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), drawn: String::new(), hints: Vec::new() }
    }

    /// The command line cannot be used like this.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(USAGE, message)
    }

    /// What was given to work on is not what it should be.
    pub(crate) fn bad_input(message: impl Into<String>) -> Self {
        Self::new(BAD_INPUT, message)
    }

    /// A file that was named does not exist.
    pub(crate) fn no_such_file(message: impl Into<String>) -> Self {
        Self::new(NO_SUCH_FILE, message)
    }

    /// A file or folder that was named cannot be read.
    pub(crate) fn unreadable(what: &str, path: &Path, error: &io::Error) -> Self {
        let shown = path.display();
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                Self::new(NO_SUCH_FILE, format!("there is no {what} `{shown}`"))
            }
            _ => Self::bad_input(format!("cannot read the {what} `{shown}`: {}", reason(error))),
        }
    }

    /// A file cannot be written.
    pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Self {
        Self::bad_input(format!("cannot write `{}`: {}", path.display(), reason(error)))
    }

    /// With one more thing to do.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// With what was drawn beforehand.
    #[must_use]
    pub(crate) fn drawn(mut self, drawn: impl Into<String>) -> Self {
        self.drawn = drawn.into();
        self
    }
}

/// The system's words for an error as a lower-case fragment, without its number.
pub(crate) fn reason(error: &impl Display) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_s_words_become_a_fragment() {
        let error = io::Error::from_raw_os_error(13);
        assert_eq!(reason(&error), "permission denied");
    }

    #[test]
    fn what_is_not_there_has_its_own_exit_code() {
        let missing = io::Error::from(io::ErrorKind::NotFound);
        let other = io::Error::from(io::ErrorKind::PermissionDenied);
        let at = Path::new("e.json");
        assert_eq!(CliError::unreadable("event file", at, &missing).code, NO_SUCH_FILE);
        assert_eq!(CliError::unreadable("event file", at, &other).code, BAD_INPUT);
    }
}
