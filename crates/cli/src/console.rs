//! What the program says: data on stdout, everything else on stderr.
//!
//! Texts come styled and lose their colours here where nobody sees them. A pipe whose reader has
//! gone is no error: who stops reading has read enough.

use std::io::{self, IsTerminal, Write};

use anstream::AutoStream;

use crate::error::{CliError, reason};
use crate::render::style::{ERROR, HINT, WARNING, paint};
use crate::render::text;

/// How wide texts are on what has no width of its own.
const DEFAULT_WIDTH: usize = 100;
/// Below this nothing is legible, whatever a terminal says.
const LEAST_WIDTH: usize = 40;

/// The two streams of the program.
pub(crate) struct Console {
    stdout: Box<dyn Write>,
    stderr: Box<dyn Write>,
    width: usize,
    stdout_is_terminal: bool,
    /// The first failure to write data, but for a reader that has gone.
    lost: Option<io::Error>,
}

impl Console {
    /// The streams of this process.
    pub(crate) fn of_this_process() -> Self {
        let stdout = io::stdout();
        // A pipe has no right margin.
        let stdout_is_terminal = stdout.is_terminal();
        let width = if stdout_is_terminal {
            let size = terminal_size::terminal_size();
            size.map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0).max(LEAST_WIDTH))
        } else {
            usize::MAX
        };
        Self {
            stdout: Box::new(AutoStream::auto(stdout)),
            stderr: Box::new(AutoStream::auto(io::stderr())),
            width,
            stdout_is_terminal,
            lost: None,
        }
    }

    /// How many columns there are.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether somebody sees data as it is written.
    pub(crate) fn stdout_is_terminal(&self) -> bool {
        self.stdout_is_terminal
    }

    /// Writes data.
    pub(crate) fn out(&mut self, text: &str) {
        match write(&mut *self.stdout, text) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.lost.get_or_insert(error);
            }
            _ => {}
        }
    }

    /// Writes what is not data.
    pub(crate) fn err(&mut self, text: &str) {
        // What cannot be written here has nobody to be told to.
        let _ = write(&mut *self.stderr, text);
    }

    /// Why data did not reach its place, if it did not.
    pub(crate) fn lost(&self) -> Option<CliError> {
        let error = self.lost.as_ref()?;
        Some(CliError::bad_input(format!("cannot write to stdout: {}", reason(error))))
    }

    /// Says that something is not as it was probably meant.
    pub(crate) fn warn(&mut self, message: &str) {
        self.err(&format!("{}: {}\n", paint(WARNING, "warning"), text::printable(message)));
    }

    /// Says what one can do next.
    pub(crate) fn hint(&mut self, hint: &str) {
        self.err(&format!("{}: {}\n", paint(HINT, "hint"), text::printable(hint)));
    }

    /// Says why the command cannot go on; gives the exit code.
    pub(crate) fn fail(&mut self, error: &CliError) -> u8 {
        self.err(&error.drawn);
        if !error.message.is_empty() {
            let message = text::printable(&error.message);
            self.err(&format!("{}: {message}\n", paint(ERROR, "error")));
        }
        for hint in &error.hints {
            self.hint(hint);
        }
        error.code
    }
}

fn write(to: &mut dyn Write, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    to.write_all(text.as_bytes())?;
    to.flush()
}
