//! One configured entry: which events, which subjects, under which condition, how it runs.
//!
//! A [`Hook`] is the compiled form. Reading files into it is a config reader's business, running
//! it the engine's.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::contract::{Contract, OnFailure};
use crate::diagnostic::Position;
use crate::event::EventKind;
use crate::matcher::Matcher;
use crate::outcome::Skip;
use crate::rules::Rule;
use crate::verdict::Verdict;

/// Where a hook or a rule comes from. The order is the order of authority, highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The machine's owner: nothing below can loosen it.
    Managed,
    /// The user.
    User,
    /// The project, shared with others.
    Project,
    /// The project, on this machine only.
    Private,
}

impl Level {
    /// The word in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
            Self::Private => "private",
        }
    }
}

/// Where an entry stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its level.
    pub level: Level,
    /// The file and the place in it; `None` for a hook that was built in code.
    pub position: Option<Position>,
    /// The place inside the file, such as `#/hook/0`; for hooks built in code, who built them.
    pub pointer: String,
}

impl Source {
    /// A hook that was built in code.
    pub fn code(pointer: impl Into<String>) -> Self {
        Self { level: Level::User, position: None, pointer: pointer.into() }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.position {
            Some(at) => write!(f, "{}{}", at.file, self.pointer),
            None => f.write_str(&self.pointer),
        }
    }
}

/// How a command is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// A program and its arguments, executed directly.
    Argv(Vec<String>),
    /// A text that the shell runs.
    Shell(String),
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argv(words) => f.write_str(&words.join(" ")),
            Self::Shell(text) => f.write_str(text),
        }
    }
}

/// Where a command starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cwd {
    /// In the project.
    #[default]
    Project,
    /// In the agent's current directory.
    Session,
}

/// What becomes of processes that a hook left behind after a clean exit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Leftovers {
    /// They are reported and live on.
    #[default]
    Leave,
    /// They are ended.
    Kill,
}

/// A command handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// What runs.
    pub line: CommandLine,
    /// The shell for a text; `None` is `/bin/sh`. The words before `-c`.
    pub shell: Option<Vec<String>>,
    /// Variables added to the environment.
    pub env: Vec<(String, String)>,
    /// Where it starts.
    pub cwd: Cwd,
    /// What becomes of processes that stay behind.
    pub leftovers: Leftovers,
    /// Files beside those in the command that belong to it, for trust.
    pub scripts: Vec<String>,
    /// The folder that a relative program or script is meant from; `None` is the project.
    pub base: Option<String>,
}

/// How a hook runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handler {
    /// A process.
    Command(Box<Command>),
    /// A fixed answer.
    Reply(Box<Verdict>),
    /// A function of the program that embeds the engine; the engine keeps it.
    Function,
    /// The entry is wrong; the reason names the place to mend.
    Broken {
        /// What is wrong with it, with the place and the way out.
        reason: String,
        /// A file that may be read and mended all the same.
        mend: Option<String>,
    },
}

impl Handler {
    /// The word for the kind of handler.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Command(_) => "command",
            Self::Reply(_) => "reply",
            Self::Function => "function",
            Self::Broken { .. } => "broken",
        }
    }
}

/// Which agents a hook is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The main agent and its subagents.
    #[default]
    All,
    /// The main agent only.
    Main,
    /// Subagents only.
    Subagents,
}

/// When a hook runs among the hooks of one event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// At once, beside the others.
    #[default]
    Parallel,
    /// When all hooks before it have ended; it sees their rewrites.
    Sequence,
}

/// How much of the payload a hook is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct View {
    /// Top-level texts are clipped to so many bytes.
    pub cap: usize,
    /// What a clipped payload does: `None` shows it, else as if the hook had failed with this
    /// policy.
    pub on_truncated: Option<OnFailure>,
}

/// One configured entry.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Its name; derived from the handler if none was given.
    pub name: String,
    /// Where it stands.
    pub source: Source,
    /// The events it is for.
    pub events: Vec<EventKind>,
    /// The subjects it is for.
    pub matcher: Matcher,
    /// It runs if any of these holds, or if there are none.
    pub condition: Vec<Rule>,
    /// How it runs.
    pub handler: Handler,
    /// How long it may take; `None` is the event's default.
    pub timeout: Option<Duration>,
    /// What its failure does; `None` is the event's default.
    pub on_failure: Option<OnFailure>,
    /// The agents it is for.
    pub scope: Scope,
    /// When it runs.
    pub order: Order,
    /// Whether it is asked again when others have changed the payload.
    pub recheck: bool,
    /// How much it is shown; `None` is everything.
    pub view: Option<View>,
    /// Whether nobody waits for it. It may then neither decide nor rewrite.
    pub detach: bool,
    /// Whether it runs only once in a session.
    pub once: bool,
    /// Why it never runs, whatever the event.
    pub skip: Option<Skip>,
    /// The reason why it has failed before it could start, such as a script that changed after it
    /// was trusted.
    pub failed: Option<String>,
}

impl Hook {
    /// A hook with everything at its default.
    pub fn new(
        name: impl Into<String>,
        source: Source,
        events: Vec<EventKind>,
        handler: Handler,
    ) -> Self {
        Self {
            name: name.into(),
            source,
            events,
            matcher: Matcher::all(),
            condition: Vec::new(),
            handler,
            timeout: None,
            on_failure: None,
            scope: Scope::All,
            order: Order::Parallel,
            recheck: true,
            view: None,
            detach: false,
            once: false,
            skip: None,
            failed: None,
        }
    }

    /// What a failure of this hook does to an event with this contract.
    pub fn failure_policy(&self, contract: &Contract) -> OnFailure {
        self.on_failure.unwrap_or(contract.on_failure)
    }

    /// Whether a failure of this hook holds the action up.
    pub fn is_guard(&self, contract: &Contract) -> bool {
        self.failure_policy(contract) == OnFailure::Block
    }

    /// Whether nothing but its events and matcher says when it runs and what it sees.
    pub fn is_plain(&self) -> bool {
        self.condition.is_empty()
            && self.scope == Scope::All
            && self.order == Order::Parallel
            && self.recheck
            && self.view.is_none()
            && self.on_failure.is_none()
            && !self.detach
            && !self.once
            && self.skip.is_none()
            && self.failed.is_none()
    }

    /// Whether two hooks are equal in everything but name, timeout, failure policy and place, so
    /// that one run serves both.
    pub fn same_work(&self, other: &Self) -> bool {
        let runs_by_itself = !matches!(self.handler, Handler::Function | Handler::Broken { .. });
        runs_by_itself
            && self.handler == other.handler
            && self.matcher == other.matcher
            && self.events == other.events
            && self.condition.iter().map(Rule::text).eq(other.condition.iter().map(Rule::text))
            && self.scope == other.scope
            && self.order == other.order
            && self.recheck == other.recheck
            && self.view == other.view
            && self.detach == other.detach
            && self.once == other.once
            && self.skip == other.skip
            && self.failed == other.failed
    }
}

impl Hook {
    /// Whether a run of this hook serves another one with the same command, for an event that both
    /// match: it is at least as strict, and nothing else decides whether it runs.
    pub fn serves_command_of(&self, other: &Self, contract: &Contract) -> bool {
        matches!(self.handler, Handler::Command(_))
            && self.handler == other.handler
            && self.failure_policy(contract) >= other.failure_policy(contract)
            && self.condition.iter().map(Rule::text).eq(other.condition.iter().map(Rule::text))
            && self.order == other.order
            && self.view == other.view
            && self.detach == other.detach
            && self.once == other.once
            && self.failed.is_none()
            && other.failed.is_none()
    }
}

/// Marks hooks whose work another hook does already, and gives that one the strictest failure
/// policy of them all and the shortest timeout of its own level.
///
/// A lower level cannot shorten the time of a higher one: a timeout could then lose its deny.
pub fn merge_duplicates(hooks: &mut [Arc<Hook>], contract_of: impl Fn(&EventKind) -> Contract) {
    for at in 1..hooks.len() {
        let (before, rest) = hooks.split_at_mut(at);
        let Some(hook) = rest.first_mut() else { continue };
        let Some(first) =
            before.iter_mut().find(|first| first.skip.is_none() && first.same_work(hook))
        else {
            continue;
        };
        if hook.skip.is_some() {
            continue;
        }
        let strictest = strictest(first, hook, &contract_of);
        let timeout = if first.source.level == hook.source.level {
            [first.timeout, hook.timeout].into_iter().flatten().min()
        } else {
            first.timeout
        };
        let kept = Arc::make_mut(first);
        kept.on_failure = strictest;
        kept.timeout = timeout;
        Arc::make_mut(hook).skip = Some(Skip::Duplicate);
    }
}

/// The stricter failure policy of two hooks for the same events; `None` where neither says one.
fn strictest(
    a: &Hook,
    b: &Hook,
    contract_of: &impl Fn(&EventKind) -> Contract,
) -> Option<OnFailure> {
    match (a.on_failure, b.on_failure) {
        (None, None) => None,
        (Some(one), Some(other)) => Some(one.max(other)),
        // One speaks and one leaves it to the event: the strictest default among its events.
        (Some(said), None) | (None, Some(said)) => {
            a.events.iter().map(|kind| contract_of(kind).on_failure).chain([said]).max()
        }
    }
}
