//! The event stream: everything that an agent shows to the outside, numbered.
//!
//! Owns the shape of events and their numbers. A tool's result stands in it only once hooks have had
//! their say; a raw one has no variant.

use std::sync::{Arc, Mutex};

use serde::Serialize;
use tenter::Json;
use tenter::core::event::Agent as Actor;

/// Which agent acts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Who {
    /// Its id; `main` for the agent that the user talks to.
    pub id: String,
    /// Its kind, such as `reviewer`.
    #[serde(rename = "type")]
    pub kind: String,
    /// How many agents stand above it.
    pub depth: u32,
}

impl Who {
    /// The agent that the user talks to.
    pub fn main() -> Self {
        Self { id: "main".into(), kind: "main".into(), depth: 0 }
    }

    /// As hooks are told: the main agent is nobody in particular.
    pub(crate) fn actor(&self) -> Option<Actor> {
        (self.depth > 0).then(|| Actor {
            id: Some(self.id.clone()),
            kind: Some(self.kind.clone()),
            depth: self.depth,
        })
    }
}

/// What a hook event did to the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Hooks ran and changed nothing.
    Info,
    /// A hook, or a failure of one, is worth a look; nothing changed.
    Advisory,
    /// The payload is another now.
    Modified,
    /// The action does not happen, or the turn does not end.
    Blocked,
}

/// One hook behind a hook event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookNote {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub status: &'static str,
    /// What it decided.
    pub decision: &'static str,
    /// Whether it halted.
    pub halt: bool,
    /// Whether its rewrite was applied.
    pub rewrite: bool,
    /// Its reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What hooks did to a tool call, beside its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookSummary {
    /// How many hooks were not skipped.
    pub hook_count: usize,
    /// What they decided together.
    pub decision: &'static str,
    /// Whether they ended the turn.
    pub halt: bool,
    /// Whether the input is another than the model's.
    pub input_rewrite: bool,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Each of them, in configuration order.
    pub hooks: Vec<HookNote>,
}

/// Where a question comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AskedBy {
    /// The permission policy.
    Permission,
    /// A hook.
    Hook,
}

/// How a question was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Yes, this once.
    Allow,
    /// Yes, and not asked again about this very call in this session.
    Always,
    /// No.
    Deny,
}

/// Who answered a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AnsweredBy {
    /// A human.
    Human,
    /// A hook on `PermissionRequest`.
    Hook,
    /// An earlier "always" of the same session.
    Waiver,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// By itself.
    Complete,
    /// A hook kept the session or the prompt from starting.
    Refused,
    /// A hook ended it.
    Halted,
    /// The user, or whoever embeds the agent, ended it.
    Cancelled,
    /// The model could not be asked.
    Error,
    /// It took more steps than it may.
    Limit,
}

impl Status {
    /// The word in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Refused => "refused",
            Self::Halted => "halted",
            Self::Cancelled => "cancelled",
            Self::Error => "error",
            Self::Limit => "limit",
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type")]
pub enum What {
    /// A session begins or goes on.
    #[serde(rename = "session.init")]
    SessionInit {
        /// Its id.
        session_id: String,
        /// Whether it was stored before.
        resumed: bool,
        /// Who answers for the model.
        provider: String,
        /// The model.
        model: String,
        /// The agent's folder.
        cwd: String,
        /// The permission mode.
        mode: String,
        /// The tools' names.
        tools: Vec<String>,
    },
    /// A prompt is part of the conversation.
    #[serde(rename = "user_prompt")]
    UserPrompt {
        /// The effective text.
        text: String,
        /// What hooks tell the model beside it.
        context: Vec<String>,
        /// Whether it came while a turn was going on.
        steering: bool,
    },
    /// A piece of the model's answer.
    #[serde(rename = "model.delta")]
    ModelDelta {
        /// The text.
        text: String,
    },
    /// The model calls a tool; the input is the model's own.
    #[serde(rename = "tool.call")]
    ToolCall {
        /// The call.
        call_id: String,
        /// The tool.
        tool: String,
        /// What the model asked for.
        input: Json,
    },
    /// Hooks ran.
    #[serde(rename = "hook")]
    Hook {
        /// On which event.
        event: String,
        /// What that did.
        effect: Effect,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The tool call that it is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
        /// The effective payload, where it is another now.
        #[serde(skip_serializing_if = "Option::is_none")]
        payload: Option<Json>,
        /// The hooks that were not skipped, in configuration order.
        hooks: Vec<HookNote>,
    },
    /// Somebody has to allow a call.
    #[serde(rename = "permission.ask")]
    PermissionAsk {
        /// The call; none where it is a prompt.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
        /// The tool; `prompt` where it is a prompt.
        tool: String,
        /// The effective input; empty where it is a prompt, which may yet be refused.
        input: Json,
        /// Why it is asked.
        reason: String,
        /// Where the question comes from.
        asked_by: AskedBy,
    },
    /// The question was answered.
    #[serde(rename = "approval")]
    Approval {
        /// The call; none where it is a prompt.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
        /// How.
        verdict: Verdict,
        /// By whom.
        by: AnsweredBy,
    },
    /// What the model is given for a call.
    #[serde(rename = "tool.result")]
    ToolResult {
        /// The call.
        call_id: String,
        /// The tool.
        tool: String,
        /// The input that was decided about: what ran, if it ran.
        input: Json,
        /// Whether the tool ran.
        executed: bool,
        /// Whether a hook, a rule or a human said no.
        denied: bool,
        /// The effective text.
        content: String,
        /// Whether it is an error.
        is_error: bool,
        /// What hooks tell the model beside it.
        context: Vec<String>,
        /// What hooks did to the call; absent if none ran.
        #[serde(skip_serializing_if = "Option::is_none")]
        hook: Option<HookSummary>,
    },
    /// The user is told something.
    #[serde(rename = "notification")]
    Notification {
        /// `blocked`, `idle`, `done`, `compacted`, or `warning`.
        notification_type: String,
        /// The text.
        message: String,
    },
    /// The turn is over.
    #[serde(rename = "result")]
    Result {
        /// How.
        status: Status,
        /// The agent's last words.
        text: String,
        /// Why it ended, where it did not end by itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// How often the model was asked.
        samples: u32,
    },
}

/// One event of the stream.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StreamEvent {
    /// Its number in this run, from 1, without gaps.
    pub seq: u64,
    /// Who acts.
    pub agent: Who,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// Takes the events of an agent. It must be quick: the agent waits.
pub trait EventSink: Send + Sync {
    /// Takes one event.
    fn take(&self, event: StreamEvent);
}

/// Keeps events in memory, for embedders that look at them afterwards.
#[derive(Debug, Default)]
pub struct MemorySink(Mutex<Vec<StreamEvent>>);

impl MemorySink {
    /// What was taken so far.
    pub fn events(&self) -> Vec<StreamEvent> {
        lock(&self.0).clone()
    }
}

impl EventSink for MemorySink {
    fn take(&self, event: StreamEvent) {
        lock(&self.0).push(event);
    }
}

/// Gives every event its number, in the order in which they reach the sink.
pub(crate) struct Stream {
    sink: Arc<dyn EventSink>,
    last: Mutex<u64>,
}

impl Stream {
    pub(crate) fn new(sink: Arc<dyn EventSink>) -> Self {
        Self { sink, last: Mutex::new(0) }
    }

    pub(crate) fn send(&self, who: &Who, what: What) {
        let mut last = lock(&self.last);
        *last += 1;
        self.sink.take(StreamEvent { seq: *last, agent: who.clone(), what });
    }
}

/// A lock that a panic elsewhere does not take away.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    match mutex.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    }
}
