//! How tenter becomes a hook of a host: where that host's file is, what stands in it, and the same
//! file with tenter's entries or without them.
//!
//! | module | owns |
//! |---|---|
//! | `command` | the command line of an entry, and how it is known again |
//! | `json` | files in JSON, with comments, order and everything foreign kept |
//! | `programs` | hooks that are files themselves |
//! | `tables`, `yaml` | files in TOML, in YAML |
//!
//! An [`Install`] is data, and all functions here take a text and give a text. Who finds, reads and
//! writes the files is the command line.

mod command;
mod json;
mod programs;
mod tables;
mod yaml;

#[cfg(test)]
mod tests;

use std::time::Duration;

use tenter_core::contract::OnFailure;
use tenter_core::event::EventKind;
use thiserror::Error;

use crate::bridge::{Bridge, EventRow, Power};
use crate::native;

pub use command::{Line, is_ours, quoted};
pub(crate) use json::strictness;

/// How a host is told of tenter.
#[derive(Debug, Clone, Copy)]
pub struct Install {
    /// Its file for one user: the first that is there, else the last.
    pub user: &'static [Spot],
    /// Its file for one project; empty where hooks of a project do not run.
    pub project: &'static [Spot],
    /// How entries are written.
    pub form: Form,
    /// The unit of the time that the host waits for a hook.
    pub unit: Unit,
    /// How long the host waits.
    pub wait: Wait,
    /// Events at which it waits less, whatever is written.
    pub least: &'static [(&'static str, Duration)],
    /// How the host is made to stop a call if tenter does not run.
    pub closed: Closed,
    /// Where tenter stands among other hooks.
    pub position: Position,
    /// What the user has to do before the host runs the entries.
    pub trust: Option<&'static str>,
}

/// Where a file is.
#[derive(Debug, Clone, Copy)]
pub struct Spot {
    /// The variable that names the folder in place of `folder`.
    pub variable: Option<&'static str>,
    /// The folder, from the home folder or from the project.
    pub folder: &'static str,
    /// The file, from there. A folder, where each event has a file of its own.
    pub file: &'static str,
    /// Whether the events stand in the file without a key around them.
    pub is_bare: bool,
}

impl Spot {
    /// A file in a folder.
    pub const fn new(folder: &'static str, file: &'static str) -> Self {
        Self { variable: None, folder, file, is_bare: false }
    }

    /// The same, with the events at the top of the file.
    #[must_use]
    pub const fn bare(mut self) -> Self {
        self.is_bare = true;
        self
    }

    /// The same, where a variable names another folder.
    #[must_use]
    pub const fn or(mut self, variable: &'static str) -> Self {
        self.variable = Some(variable);
        self
    }
}

/// How entries are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON: below `hooks` and the event, groups with a list of handlers each.
    Groups,
    /// A file for each event, which the host runs.
    Programs,
    /// TOML: a list of tables `[[hooks]]`, each with its event.
    Tables,
    /// YAML: below `hooks` and the event, a list of entries.
    Yaml,
    /// JSON: below `hooks` and the event, a list of entries.
    Flat {
        /// What the key `version` says, where the host wants one.
        version: Option<u32>,
        /// The key of the command line.
        command: &'static str,
        /// The key of the time.
        timeout: &'static str,
        /// Whether an entry says that it is a command.
        typed: bool,
    },
}

impl Form {
    /// Whether each event has a file of its own, which the host runs.
    pub const fn is_programs(self) -> bool {
        matches!(self, Self::Programs)
    }
}

/// The unit of a host's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Whole seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
}

impl Unit {
    /// A time in this unit, rounded up.
    pub fn of(self, time: Duration) -> u64 {
        let count = match self {
            Self::Seconds => time.as_millis().div_ceil(1000),
            Self::Milliseconds => time.as_millis(),
        };
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

/// How long a host waits for a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// As long as its entry says.
    Written,
    /// This long; an entry has no time.
    Fixed(Duration),
}

/// How a host is made to stop a call if tenter does not run: is gone, crashes, or is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closed {
    /// It does so by itself.
    Itself,
    /// A key of the entry with a text.
    Text(&'static str, &'static str),
    /// A key of the entry that is true.
    True(&'static str),
    /// Every exit code of the entry but 0 becomes 2, by the shell that runs it.
    Shell,
    /// The same where the host's shell may be any: `sh` runs the line.
    AnyShell,
    /// The shell gives the host's no as an answer, as it heeds no exit code.
    Answer,
}

/// Where tenter stands among other hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// Before them: the host heeds the first decision.
    First,
    /// Behind them.
    Last,
}

/// How long a host is asked to wait for tenter.
pub const WAIT: Duration = Duration::from_mins(1);

/// Why a file cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EditError {
    /// It cannot be read.
    #[error("{line}:{column}: {what}")]
    Unreadable {
        /// What is wrong, a lower-case fragment.
        what: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// The host runs one file an event, and this one is the user's.
    #[error("`{event}` is a hook of yours already, and the host runs one file an event there")]
    Taken {
        /// The event.
        event: String,
    },
    /// Something in it is not what the host reads there.
    #[error("`{place}` is not {expected}")]
    Shape {
        /// Where, such as `hooks.PreToolUse`.
        place: String,
        /// What it should be.
        expected: &'static str,
    },
}

impl Install {
    /// The entries of tenter for a host: one an event. `program` is the absolute path of tenter;
    /// `wait` is how long the host is asked to wait.
    pub fn lines(&self, bridge: &Bridge, program: &str, wait: Duration) -> Vec<Line> {
        let rows = bridge.events.iter().filter(|row| row.installed);
        rows.map(|row| self.line(bridge, row, program, wait)).collect()
    }

    fn line(&self, bridge: &Bridge, row: &'static EventRow, program: &str, wait: Duration) -> Line {
        let least = self.least.iter().find(|(event, _)| *event == row.own);
        let fixed = match self.wait {
            Wait::Written => wait,
            Wait::Fixed(fixed) => fixed,
        };
        let wait = least.map_or(fixed, |(_, least)| fixed.min(*least));
        let guards = stops_actions(&row.kind()) && row.can(Power::Deny);
        Line {
            event: row.own,
            command: command::line(self, bridge, row, program, deadline(wait), guards),
            timeout: (self.wait == Wait::Written).then(|| self.unit.of(wait)),
            is_guard: guards,
        }
    }

    /// The file with tenter's entries, and none of an earlier tenter; the text as it is if they stand
    /// there already.
    ///
    /// # Errors
    /// The file is not as the host reads it.
    pub fn with(
        &self,
        spot: &Spot,
        text: Option<&str>,
        host: &str,
        lines: &[Line],
    ) -> Result<String, EditError> {
        match self.form {
            Form::Programs => programs::with(text, host, lines),
            Form::Tables => tables::with(self, text.unwrap_or_default(), host, lines),
            Form::Yaml => yaml::with(text.unwrap_or_default(), host, lines),
            Form::Groups | Form::Flat { .. } => {
                json::with(self, spot, text.unwrap_or_default(), host, lines)
            }
        }
    }

    /// The file without tenter's entries, and without what only held them; `None` if nothing is left
    /// of it.
    ///
    /// # Errors
    /// The file is not as the host reads it.
    pub fn without(
        &self,
        spot: &Spot,
        text: &str,
        host: &str,
    ) -> Result<Option<String>, EditError> {
        match self.form {
            Form::Programs => Ok(programs::without(text, host)),
            Form::Tables => tables::without(text, host).map(Some),
            Form::Yaml => yaml::without(text, host).map(Some),
            Form::Groups | Form::Flat { .. } => json::without(self, spot, text, host).map(Some),
        }
    }
}

/// Whether a failure at this event stops an action, by tenter's own rules.
fn stops_actions(kind: &EventKind) -> bool {
    let contract = native::PROFILE.contract(kind);
    contract.on_failure == OnFailure::Block && contract.block.stops_action()
}

/// When tenter answers if the host waits for this long: early enough to be heard.
pub fn deadline(wait: Duration) -> Duration {
    let margin = (wait / 10).clamp(Duration::from_millis(200), Duration::from_secs(5));
    wait.saturating_sub(margin).max(wait / 2)
}
