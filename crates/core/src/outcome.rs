//! What all hooks together mean for the host, and what became of each of them.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::diagnostic::{Diagnostic, Severity};
use crate::event::EventKind;
use crate::hook::Hook;
use crate::json::Json;
use crate::verdict::Decision;

/// Why a hook did not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Skip {
    /// Its matcher is for other subjects.
    Matcher,
    /// Its `if` does not hold.
    Condition,
    /// It is switched off, or a broken entry that does not block.
    Disabled,
    /// It comes from a project that was never trusted.
    Untrusted,
    /// Another hook does the same work.
    Duplicate,
    /// It is for other agents.
    Scope,
    /// The profile or this build cannot run it.
    Unsupported,
    /// It has run in this session.
    Once,
    /// It failed too often in a row in this session.
    Strikes,
    /// A permission rule denied the call before any hook was asked.
    Permission,
    /// A hook before it in a sequence denied or halted.
    Stopped,
}

impl Skip {
    /// The word in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Matcher => "matcher",
            Self::Condition => "condition",
            Self::Disabled => "disabled",
            Self::Untrusted => "untrusted",
            Self::Duplicate => "duplicate",
            Self::Scope => "scope",
            Self::Unsupported => "unsupported",
            Self::Once => "once",
            Self::Strikes => "strikes",
            Self::Permission => "permission",
            Self::Stopped => "stopped",
        }
    }
}

/// How a hook failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// Its entry is wrong.
    Config,
    /// It, or a script it names, changed after it was trusted.
    Trust,
    /// It did not start.
    Start,
    /// It ended with an exit status that means a failure.
    Crash,
    /// A signal ended it.
    Signal,
    /// It took too long.
    Timeout,
    /// It printed too much.
    OutputLimit,
    /// What it printed was not understood.
    Output,
    /// It panicked.
    Panic,
    /// The request failed.
    Http,
}

impl Failure {
    /// The word in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Trust => "trust",
            Self::Start => "start",
            Self::Crash => "crash",
            Self::Signal => "signal",
            Self::Timeout => "timeout",
            Self::OutputLimit => "output-limit",
            Self::Output => "output",
            Self::Panic => "panic",
            Self::Http => "http",
        }
    }
}

/// What became of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It ran and was understood.
    Ok,
    /// It failed.
    Failed(Failure),
    /// It was ended because the caller no longer wanted an answer.
    Cancelled,
    /// It did not run.
    Skipped(Skip),
}

impl Status {
    /// The word in JSON. A timeout is a failure with a word of its own.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed(Failure::Timeout) => "timeout",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
            Self::Skipped(_) => "skipped",
        }
    }

    /// Whether it ran, well or not.
    pub const fn ran(self) -> bool {
        !matches!(self, Self::Skipped(_))
    }

    /// Why it was skipped, if it was.
    pub const fn skip(self) -> Option<Skip> {
        if let Self::Skipped(skip) = self { Some(skip) } else { None }
    }

    /// How it failed, if it did.
    pub const fn failure(self) -> Option<Failure> {
        if let Self::Failed(failure) = self { Some(failure) } else { None }
    }
}

/// What a process did, as far as a hook was one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProcessReport {
    /// The exit code, if it exited.
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it.
    pub signal: Option<i32>,
    /// What held its processes together: `cgroup`, `subreaper`, `scan` or `group`.
    pub contained_by: &'static str,
    /// The processes that it left running, as `name (pid)`.
    pub left: Vec<String>,
    /// What it was sent.
    pub stdin: Option<Arc<[u8]>>,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it printed on the side.
    pub stderr: Vec<u8>,
}

/// What a hook said when it was asked again about the payload that others had changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recheck {
    /// Its decision then.
    pub decision: Decision,
    /// Its reason then.
    pub reason: Option<String>,
}

/// What became of one hook.
#[derive(Debug, Clone)]
pub struct HookReport {
    /// The hook.
    pub hook: Arc<Hook>,
    /// What became of it.
    pub status: Status,
    /// What it decided, before the contract.
    pub decision: Decision,
    /// Whether it halted.
    pub halt: bool,
    /// Whether its rewrite was applied.
    pub rewrite: bool,
    /// Whether nobody waited for it.
    pub detached: bool,
    /// Its reason; of a failure, what went wrong.
    pub reason: Option<Cow<'static, str>>,
    /// How long it took.
    pub duration: Duration,
    /// The rarer parts.
    pub more: Option<Box<HookDetails>>,
}

/// The rarer parts of a hook's report.
#[derive(Debug, Clone, Default)]
pub struct HookDetails {
    /// Its context, delivered or not.
    pub context: Option<String>,
    /// What it said on the payload that others had changed.
    pub recheck: Option<Recheck>,
    /// What its process did.
    pub process: Option<ProcessReport>,
    /// What is to be said about its run.
    pub diagnostics: Vec<Diagnostic>,
}

impl HookReport {
    /// The report of a hook about which nothing is known but its status.
    pub fn new(hook: Arc<Hook>, status: Status) -> Self {
        Self {
            hook,
            status,
            decision: Decision::None,
            halt: false,
            rewrite: false,
            detached: false,
            reason: None,
            duration: Duration::ZERO,
            more: None,
        }
    }

    /// The rarer parts, made if there were none.
    pub fn details(&mut self) -> &mut HookDetails {
        self.more.get_or_insert_default()
    }

    /// What is to be said about its run.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.more.as_ref().map_or(&[], |more| &more.diagnostics)
    }

    /// What its process did.
    pub fn process(&self) -> Option<&ProcessReport> {
        self.more.as_ref()?.process.as_ref()
    }

    /// Its context.
    pub fn context(&self) -> Option<&str> {
        self.more.as_ref()?.context.as_deref()
    }

    /// What it said when asked again.
    pub fn recheck(&self) -> Option<&Recheck> {
        self.more.as_ref()?.recheck.as_ref()
    }
}

/// A text for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// How urgent it is.
    pub level: Severity,
    /// The text.
    pub text: String,
    /// The hook it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook: Option<String>,
}

/// What all hooks together mean for the host.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The event.
    pub kind: EventKind,
    /// What is to become of the action, after the contract and the permission rules.
    pub decision: Decision,
    /// Whether the turn ends.
    pub halt: bool,
    /// Why, for those whom the decision concerns.
    pub reason: Option<String>,
    /// Texts for the model, one entry a hook, in order.
    pub context: Vec<String>,
    /// The payload that the host must use instead of the original; `None` if it is the original.
    pub rewritten: Option<Json>,
    /// Texts for the user.
    pub messages: Vec<Message>,
    /// Every hook of this event, in configuration order.
    pub hooks: Vec<HookReport>,
    /// How long it all took.
    pub duration: Duration,
}

impl Outcome {
    /// The outcome when there is nobody to ask.
    pub fn proceed(kind: EventKind) -> Self {
        Self {
            kind,
            decision: Decision::None,
            halt: false,
            reason: None,
            context: Vec::new(),
            rewritten: None,
            messages: Vec::new(),
            hooks: Vec::new(),
            duration: Duration::ZERO,
        }
    }

    /// Whether the action may happen without asking anybody.
    pub fn may_proceed(&self) -> bool {
        !self.halt && !self.decision.restricts()
    }

    /// The exit code that says this outcome, see [`crate::exit_code`].
    pub fn exit_code(&self) -> u8 {
        use crate::exit_code::{ASKS, DENIED, HALTED, PROCEED};
        match self.decision {
            _ if self.halt => HALTED,
            Decision::Deny => DENIED,
            Decision::Ask | Decision::Defer => ASKS,
            Decision::None | Decision::Allow => PROCEED,
        }
    }
}
