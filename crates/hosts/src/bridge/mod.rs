//! What tenter does when it is a hook of another host: that host's payload to an event, and an
//! outcome to the bytes and the exit code that mean it there.
//!
//! | module | owns |
//! |---|---|
//! | `wire` | where in a host's payload the parts of an event stand |
//! | `tools` | a host's tools and the shapes of their inputs |
//! | `incoming` | a payload that was read, and the same payload with what was changed |
//! | `result` | a tool's result in the host's shape, with another text in it |
//! | `standard` | answers in the form that most hosts have taken over |
//! | `saying` | what of an outcome a host can carry, and what the rest becomes |
//!
//! A [`Bridge`] is data, but for one function: how a host is told things. Which hooks there are, and
//! what they mean together, is tenter's own: see `native`. How a host runs its own hooks is its
//! profile, and something else.

mod incoming;
mod result;
mod saying;
mod standard;
mod tools;
mod wire;

#[cfg(test)]
mod tests;

use tenter_core::event::EventKind;

use crate::install::Install;

pub use incoming::{Incoming, PayloadError};
pub use saying::{Answer, Lost, Said, Saying, Word};
pub(crate) use standard::Standard;
pub use tools::{McpName, Shape, ToolRow, Tools};
pub use wire::{Place, Wire};

/// What a host lets a hook do at one of its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Power {
    /// Stop the action, or send a turn on.
    Deny,
    /// Let a human decide.
    Ask,
    /// Let the action happen without a question, and undo no other hook's denial by that.
    Allow,
    /// Change what the tool is given, or what the model sees of its result.
    Rewrite,
    /// Tell the model something.
    Context,
    /// End the turn.
    Halt,
    /// Tell the user something.
    Message,
}

impl Power {
    /// Every power, in the order of the table in the documentation.
    pub const ALL: [Self; 7] = [
        Self::Deny,
        Self::Ask,
        Self::Allow,
        Self::Rewrite,
        Self::Context,
        Self::Halt,
        Self::Message,
    ];

    /// The word in tables and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Rewrite => "rewrite",
            Self::Context => "context",
            Self::Halt => "halt",
            Self::Message => "message",
        }
    }
}

/// One event of a host.
#[derive(Debug, Clone, Copy)]
pub struct EventRow {
    /// The host's name of it.
    pub own: &'static str,
    /// The standard kind that it is; `None` for an event that only this host has.
    pub kind: Option<EventKindRef>,
    /// What a hook can do at it.
    pub powers: &'static [Power],
    /// The tool that the event is about, where the event itself says so.
    pub tool: Option<&'static str>,
    /// Whether `install` asks the host for it. Of two events about one action, one is enough.
    pub installed: bool,
    /// Whether the event is one only if there is a prompt.
    pub needs_prompt: bool,
}

/// A standard kind of event, as data.
pub type EventKindRef = &'static EventKind;

impl EventRow {
    /// An event that is a standard one, with what a hook can do at it.
    pub const fn new(own: &'static str, kind: EventKindRef, powers: &'static [Power]) -> Self {
        Self { own, kind: Some(kind), powers, tool: None, installed: true, needs_prompt: false }
    }

    /// An event that only this host has.
    pub const fn only_here(own: &'static str, powers: &'static [Power]) -> Self {
        Self { own, kind: None, powers, tool: None, installed: false, needs_prompt: false }
    }

    /// The same event, about one tool.
    #[must_use]
    pub const fn about(mut self, tool: &'static str) -> Self {
        self.tool = Some(tool);
        self
    }

    /// The same event, which `install` leaves alone.
    #[must_use]
    pub const fn not_installed(mut self) -> Self {
        self.installed = false;
        self
    }

    /// The same event, of which the host tells without a prompt where there was none.
    #[must_use]
    pub const fn with_prompt(mut self) -> Self {
        self.needs_prompt = true;
        self
    }

    /// The kind of the event.
    pub fn kind(&self) -> EventKind {
        self.kind.cloned().unwrap_or_else(|| EventKind::of(self.own))
    }

    /// Whether a hook has a power here.
    pub fn can(&self, power: Power) -> bool {
        self.powers.contains(&power)
    }
}

/// How a host takes another input of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputForm {
    /// Whole.
    Whole,
    /// The keys that changed, laid over the input. It reads signs in a key as a way into the input, so
    /// that only plain keys can be said; and none can be taken away.
    PlainPatch,
}

/// How a host takes another result of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultForm {
    /// As a text.
    Text,
    /// In the shape that the result had.
    SameShape,
}

/// A host that tenter can be a hook of.
#[derive(Clone, Copy)]
pub struct Bridge {
    /// The host's name on the command line.
    pub name: &'static str,
    /// Its name in texts.
    pub title: &'static str,
    /// What its facts were taken from: the version that was run, or the documents that were read.
    pub seen: &'static str,
    /// Its events.
    pub events: &'static [EventRow],
    /// Where the parts of its payloads stand.
    pub wire: &'static Wire,
    /// Its tools.
    pub tools: &'static Tools,
    /// How it takes another input of a tool, where it takes one.
    pub inputs: InputForm,
    /// How it takes another result of a tool, where it takes one.
    pub results: ResultForm,
    /// Its variables for the project's folder, the surest first.
    pub project_variables: &'static [&'static str],
    /// Whether the host reads what a hook prints on stderr although it exits 0. Where it does not,
    /// notes for those who look at a log are printed there.
    pub reads_stderr: bool,
    /// The keys that its hooks file may have at its top, where any other voids the file.
    pub only_top_keys: Option<&'static [&'static str]>,
    /// How the host is told of tenter; `None` where that is left to the user.
    pub install: Option<Install>,
    /// How the host is told what is left of an outcome.
    pub say: fn(&Saying<'_>) -> Answer,
}

impl std::fmt::Debug for Bridge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Bridge").field(&self.name).finish()
    }
}

/// The bridge of a host, by its name on the command line.
pub fn by_name(name: &str) -> Option<&'static Bridge> {
    BRIDGES.iter().copied().find(|bridge| bridge.name == name)
}

/// All bridges.
pub fn all() -> impl Iterator<Item = &'static Bridge> {
    BRIDGES.iter().copied()
}

static BRIDGES: [&Bridge; 12] = [
    &crate::claude::BRIDGE,
    &crate::codex::BRIDGE,
    &crate::gemini::BRIDGE,
    &crate::qwen::BRIDGE,
    &crate::copilot::BRIDGE,
    &crate::cursor::BRIDGE,
    &crate::droid::BRIDGE,
    &crate::cline::BRIDGE,
    &crate::crush::BRIDGE,
    &crate::goose::BRIDGE,
    &crate::kimi::BRIDGE,
    &crate::hermes::BRIDGE,
];

impl Bridge {
    /// The row of an event by the host's name, or by the standard one where no row has it as its
    /// own. Names are compared without regard to case and underscores, as hosts themselves differ in
    /// them from version to version.
    pub fn row(&self, name: &str) -> Option<&'static EventRow> {
        let rows = || self.events.iter();
        rows()
            .find(|row| row.own == name)
            .or_else(|| rows().find(|row| wire::same_name(row.own, name)))
            .or_else(|| {
                let kind = crate::names::event_kind(name)?;
                rows().find(|row| row.kind.is_some_and(|own| *own == kind))
            })
    }

    /// What the host reads as no opinion, at any event.
    pub fn nothing(&self) -> Answer {
        self.events.first().map_or_else(Answer::default, |row| (self.say)(&Saying::nothing(row)))
    }

    /// The strongest no of the host for an event, or for any of its events if that is not known.
    pub fn refuse(&self, row: Option<&'static EventRow>, reason: &str) -> Answer {
        let row = row.or_else(|| {
            self.events
                .iter()
                .find(|row| row.kind.is_some_and(|kind| *kind == EventKind::PreToolUse))
        });
        let Some(row) = row else { return self.nothing() };
        if !row.can(Power::Deny) && !row.can(Power::Halt) {
            return self.nothing();
        }
        let word = if row.can(Power::Deny) { Word::Deny } else { Word::Nothing };
        (self.say)(&Saying { halt: word == Word::Nothing, word, reason, ..Saying::nothing(row) })
    }
}
