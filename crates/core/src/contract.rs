//! What an outcome means for one kind of event: a row of a profile's table.

use std::time::Duration;

use serde::Serialize;

use crate::hook::View;

/// What a deny (or an `ask`, where a human can be asked) does to the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// The run ends before any model call.
    EndsRun,
    /// The prompt is refused and not recorded.
    RefusesPrompt,
    /// The tool does not run; the model is told why.
    StopsTool,
    /// The permission question is answered no.
    AnswersNo,
    /// The operation is vetoed.
    Vetoes,
    /// The compaction is skipped.
    SkipsCompaction,
    /// The turn goes on with the reason, within a budget.
    GoesOn,
    /// It has happened already: the block is a note beside it.
    Annotates,
    /// Nothing.
    Nothing,
}

impl Block {
    /// Whether a deny keeps the action from happening.
    pub const fn stops_action(self) -> bool {
        match self {
            Self::EndsRun
            | Self::RefusesPrompt
            | Self::StopsTool
            | Self::AnswersNo
            | Self::Vetoes
            | Self::SkipsCompaction => true,
            Self::GoesOn | Self::Annotates | Self::Nothing => false,
        }
    }

    /// Whether a deny has any effect on what happens next.
    pub const fn counts(self) -> bool {
        self.stops_action() || matches!(self, Self::GoesOn)
    }
}

/// Which part of the payload a hook may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewrites {
    /// None.
    Nothing,
    /// The tool's input, an object.
    ToolInput,
    /// `{"prompt": text}`.
    Prompt,
    /// `{"content": text, "is_error": bool}`.
    Result,
}

/// What a hook's failure does. The order is the order of strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFailure {
    /// The event goes on, with a warning.
    Allow,
    /// A human decides.
    Ask,
    /// As if the hook had denied; a result is withheld from the model.
    Block,
}

impl OnFailure {
    /// The word in files and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Block => "block",
        }
    }
}

/// How a host waits for an event's hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// It waits for the outcome.
    Awaited,
    /// It goes on at once; the hooks run behind it, bounded, in order, drained at the end.
    Detached,
    /// It waits, bounded, even when it was cancelled.
    AwaitedToTheEnd,
}

/// What a hook's matcher is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Nothing: only `*` is allowed.
    None,
    /// The tool's name.
    ToolName,
    /// The kind of subagent.
    AgentType,
    /// A field of the payload.
    Field(&'static str),
}

impl Subject {
    /// The field's name, for messages.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::ToolName => Some("tool_name"),
            Self::AgentType => Some("agent_type"),
            Self::Field(name) => Some(name),
        }
    }
}

/// What plain text on stdout with exit 0 is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainText {
    /// Context for the model.
    Context,
    /// A diagnostic.
    Diagnostic,
}

/// What several rewrites of one payload make of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// Patches are laid over each other in order, a replacement sets the whole.
    InOrder,
    /// The first that can be applied, and no other.
    First,
    /// The last that can be applied, and no other.
    Last,
}

/// Whose reason is told when several hooks decide the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reasons {
    /// All of them, one a line.
    All,
    /// The first one's.
    First,
}

/// What a hook that asks stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// A question about the action as this hook would have it.
    WithRewrite,
    /// A question about the action without what this hook would make of it.
    Bare,
    /// A denial: it is a block that may be asked about, and here there is no such question.
    Denies,
}

/// How the voices of one event become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeRule {
    /// What several rewrites make of the payload.
    pub fold: Fold,
    /// Whose reason is told.
    pub reasons: Reasons,
    /// Whether what a higher level set stays as it is. If not, the later of two hooks wins,
    /// whatever their levels.
    pub levels_bind: bool,
    /// Whether contexts reach the model although a deny or halt stops the action.
    pub context_of_stopped: bool,
    /// What a hook that asks stands for.
    pub asks: Asks,
}

impl MergeRule {
    /// Everything in order, all reasons, higher levels bind, and no context for what is stopped.
    pub const IN_ORDER: Self = Self {
        fold: Fold::InOrder,
        reasons: Reasons::All,
        levels_bind: true,
        context_of_stopped: false,
        asks: Asks::WithRewrite,
    };
}

/// How the hooks of one event run beside each other, unless they say otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// At once; each sees the event as it came.
    Together,
    /// One after the other; each sees what those before it made of the payload.
    InTurn,
}

/// What becomes of a text for the model that is longer than a profile's bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongText {
    /// The whole goes to a file, and the model gets its beginning and the path. The bound is in
    /// characters.
    Spills,
    /// It is cut before the first character that does not fit. The bound is in bytes.
    IsClipped,
}

/// What an outcome means for one kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub struct Contract {
    /// What a block does.
    pub block: Block,
    /// What may be rewritten.
    pub rewrites: Rewrites,
    /// What a failure does unless the hook says otherwise.
    pub on_failure: OnFailure,
    /// How the host waits.
    pub delivery: Delivery,
    /// Whether context reaches the model.
    pub delivers_context: bool,
    /// What plain text is.
    pub plain_text: PlainText,
    /// What matchers see.
    pub subject: Subject,
    /// How long a hook may take unless it says otherwise.
    pub timeout: Duration,
    /// How long all hooks of one event may take together, whatever their own time.
    pub budget: Option<Duration>,
    /// How much a hook is shown unless it says otherwise; `None` is everything.
    pub view: Option<View>,
    /// How the hooks run beside each other.
    pub runs: Runs,
    /// How their voices become one.
    pub merge: MergeRule,
    /// Whether the contexts of all hooks are one item, with a line break between them.
    pub joins_context: bool,
    /// What becomes of a context that is too long.
    pub long_context: LongText,
    /// Whether a result is kept from the model when the caller's cancellation has ended a hook that
    /// was to see it. If not, the hook's failure policy says so.
    pub withholds_cancelled: bool,
    /// Whether hooks are asked about an end of a turn that they can no longer block.
    pub asks_when_spent: bool,
    /// Whether hosts are told to fire the event although all its hooks failed too often and are left
    /// out, so that every outcome says so.
    pub fires_for_struck: bool,
}

impl Contract {
    /// A block means nothing, nothing may be rewritten, failures warn, the host waits: the row of
    /// every kind that has no row of its own.
    pub const OBSERVE: Self = Self {
        block: Block::Nothing,
        rewrites: Rewrites::Nothing,
        on_failure: OnFailure::Allow,
        delivery: Delivery::Awaited,
        delivers_context: false,
        plain_text: PlainText::Diagnostic,
        subject: Subject::None,
        timeout: Duration::from_secs(30),
        budget: None,
        view: None,
        runs: Runs::Together,
        merge: MergeRule::IN_ORDER,
        joins_context: false,
        long_context: LongText::Spills,
        withholds_cancelled: true,
        asks_when_spent: true,
        fires_for_struck: true,
    };
}
