//! The rules of one host, as data. The values stand in the `hosts` crate, one module a host.

use crate::contract::Contract;
use crate::event::EventKind;
use crate::hook::Level;

/// Where permission rules stand beside hooks, and what an allow of a hook is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Deny rules come first, then hooks; what they made of the call is judged anew. An allow of a
    /// hook answers an ask of its own level or below, never a deny.
    AroundHooks,
    /// Hooks hear of calls that the rules let through; a rewrite is not judged again.
    BeforeHooks,
    /// Hooks come first and never grant; what they made of the call is judged.
    AfterHooks,
    /// Hooks come first; an allow of a hook answers every ask about this one call, and no deny.
    AfterHooksAllowApproves,
}

impl Permission {
    /// Whether a deny rule stops the call before any hook is asked.
    pub const fn denies_first(self) -> bool {
        matches!(self, Self::AroundHooks | Self::BeforeHooks)
    }

    /// Whether rules judge what hooks made of the call.
    pub const fn judges_rewrites(self) -> bool {
        !matches!(self, Self::BeforeHooks)
    }

    /// Whether an allow of a hook of level `by` answers an ask of level `of`.
    pub fn answers(self, by: Level, of: Level) -> bool {
        match self {
            Self::AroundHooks | Self::BeforeHooks => by <= of,
            Self::AfterHooks => false,
            Self::AfterHooksAllowApproves => true,
        }
    }

    /// Whether an allow of a hook means anything.
    pub const fn lets_hooks_allow(self) -> bool {
        !matches!(self, Self::AfterHooks)
    }
}

/// Which hooks are one, so that one run serves all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dedupe {
    /// Those that are equal in all but name, timeout and failure policy.
    SameWork,
    /// Of those that match an event, those with the same command; the first runs.
    SameCommand,
    /// None.
    Never,
}

/// What becomes of a command hook whose program or script is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingFile {
    /// It is not started, and has failed to start.
    Fails,
    /// It is started, and the exit of its shell or interpreter counts; the report names the file.
    IsTold,
}

/// Where a command hook of a file starts, and where its relative program or script is sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartsIn {
    /// Where its entry says; without that, in the project.
    Entry,
    /// In the agent's current directory.
    SessionCwd,
}

/// The rules of one host.
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    /// The host's name on the command line.
    pub name: &'static str,
    /// The row of each standard event, at [`EventKind::index`].
    pub contracts: &'static [Contract; 34],
    /// The row of the host's own events.
    pub other: Contract,
    /// How many ends of a turn in a row hooks may block.
    pub stop_budget: u32,
    /// After how many failures in a row a hook that is no guard is left out for the rest of the
    /// session.
    pub strikes: Option<u32>,
    /// The largest context in characters; what is longer is written to a file.
    pub context_cap: usize,
    /// Stands at the end of a text that was clipped for a hook.
    pub cap_mark: &'static str,
    /// Where the host's rules are written down, for messages.
    pub reference: &'static str,
    /// The command that lets a project's hooks run, for messages.
    pub trust_command: &'static str,
    /// The shell for a command that is a text, where the machine has it; else `/bin/sh`.
    pub shell: Option<&'static str>,
    /// Where permission rules stand, and what an allow of a hook is worth.
    pub permission: Permission,
    /// Whether the rule set `self` is part of them.
    pub self_rules: bool,
    /// Which hooks are one.
    pub dedupe: Dedupe,
    /// Whether guards are asked again about a payload that others have changed.
    pub recheck: bool,
    /// The host's own names of tools with the names that rules use, where they differ.
    pub tools: &'static [(&'static str, &'static str)],
    /// The host's own variables that speak of one event: what a hook inherits under these names is
    /// about another one, and is removed.
    pub event_variables: &'static [&'static str],
    /// What becomes of a hook whose program or script is not there.
    pub missing_file: MissingFile,
    /// Where command hooks of files start.
    pub starts_in: StartsIn,
    /// Whether a script at the beginning of a text has to be executable. If not, the interpreter that
    /// it names runs it, or the shell.
    pub needs_exec_bit: bool,
}

impl Profile {
    /// The row of an event.
    pub fn contract(&self, kind: &EventKind) -> &Contract {
        self.contracts.get(kind.index()).unwrap_or(&self.other)
    }

    /// The name that rules use for a tool of the host.
    pub fn canonical_tool<'a>(&self, tool: &'a str) -> &'a str {
        self.tools.iter().find(|(own, _)| *own == tool).map_or(tool, |(_, canonical)| canonical)
    }
}
