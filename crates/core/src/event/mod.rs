//! Something in an agent's life: its kind, its payload, and where it came from.
//!
//! Owns the domain shape of events. How a host spells them on the wire is a codec's business.

mod kind;
mod payload;

pub use kind::{EventKind, EventMask};
pub use payload::{Payload, ResultPair, StopFacts, ToolCall};

use std::borrow::Cow;

use crate::contract::{Rewrites, Subject};
use crate::json::{Fields, Json};

/// Who inside the host acts: absent means the main agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agent {
    /// The host's id of the subagent.
    pub id: Option<String>,
    /// The kind of subagent, such as `reviewer`.
    pub kind: Option<String>,
    /// How many agents stand above it; 0 is the main agent.
    pub depth: u32,
}

/// Where an event came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The host's name; empty means tenter itself.
    pub host: String,
    /// The agent session.
    pub session_id: String,
    /// The agent's current directory.
    pub cwd: String,
    /// The subagent, if one acts.
    pub agent: Option<Agent>,
    /// The host's id of the tool call.
    pub call_id: Option<String>,
    /// The tool call in the host's own words, where they differ from those of the event.
    pub host_call: Option<Box<HostCall>>,
}

/// A tool call in the host's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCall {
    /// The host's own name of the tool.
    pub name: String,
    /// The input in the host's own shape; `None` once a hook has rewritten it.
    pub input: Option<Json>,
}

/// One event: what hooks are asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// Where.
    pub origin: Origin,
    /// The part that the engine itself understands.
    pub payload: Payload,
    /// Every other field, in the host's order and spelling.
    pub extra: Fields,
}

impl Event {
    /// An event with a payload and nothing else.
    pub fn new(kind: EventKind, payload: Payload) -> Self {
        Self { kind, origin: Origin::default(), payload, extra: Fields::new() }
    }

    /// A tool is about to run.
    pub fn pre_tool(tool: impl Into<String>, input: Json) -> Self {
        Self::new(EventKind::PreToolUse, Payload::Tool(ToolCall { name: tool.into(), input }))
    }

    /// A tool has run; `response` is what it gave, in any shape.
    pub fn post_tool(tool: impl Into<String>, input: Json, response: Json) -> Self {
        let call = ToolCall { name: tool.into(), input };
        Self::new(EventKind::PostToolUse, Payload::ToolResult { call, response, failed: false })
    }

    /// The user has sent a prompt.
    pub fn user_prompt(prompt: impl Into<String>) -> Self {
        Self::new(EventKind::UserPromptSubmit, Payload::Prompt(prompt.into()))
    }

    /// The turn is about to end.
    pub fn stop(facts: StopFacts) -> Self {
        Self::new(EventKind::Stop, Payload::Stop(facts))
    }

    /// The session begins; `source` says how (`startup`, `resume`, …).
    pub fn session_start(source: &str) -> Self {
        Self::new(EventKind::SessionStart, Payload::Open).with_field("source", Json::string(source))
    }

    /// The session ends; `reason` says why.
    pub fn session_end(reason: &str) -> Self {
        Self::new(EventKind::SessionEnd, Payload::Open).with_field("reason", Json::string(reason))
    }

    /// The agent tells its user something.
    pub fn notification(kind: &str, message: &str) -> Self {
        Self::new(EventKind::Notification, Payload::Open)
            .with_field("notification_type", Json::string(kind))
            .with_field("message", Json::string(message))
    }

    /// With where it came from.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// With one more field.
    #[must_use]
    pub fn with_field(mut self, key: &str, value: Json) -> Self {
        self.extra.set(key, value);
        self
    }

    /// The tool's name, where the event is about a tool.
    pub fn tool_name(&self) -> Option<&str> {
        self.tool_call().map(|call| call.name.as_str())
    }

    /// The host's own name of the tool, where it differs from [`Event::tool_name`].
    pub fn host_tool(&self) -> Option<&str> {
        let own = self.origin.host_call.as_deref().map(|call| call.name.as_str());
        own.filter(|own| self.tool_name().is_some_and(|name| name != *own))
    }

    /// The tool call, where the event is about one.
    pub fn tool_call(&self) -> Option<&ToolCall> {
        match &self.payload {
            Payload::Tool(call) | Payload::ToolResult { call, .. } => Some(call),
            Payload::Prompt(_) | Payload::Stop(_) | Payload::Open => None,
        }
    }

    /// The payload that hooks may rewrite, as an object; `None` where there is none.
    pub fn rewritable(&self, rewrites: Rewrites) -> Option<Json> {
        match (rewrites, &self.payload) {
            (Rewrites::ToolInput, Payload::Tool(call)) => Some(call.input.clone()),
            (Rewrites::Prompt, Payload::Prompt(prompt)) => {
                Some(Fields::from_iter([("prompt", Json::string(prompt))]).to_json())
            }
            (Rewrites::Result, Payload::ToolResult { response, failed, .. }) => {
                Some(ResultPair::of(response, *failed).to_json())
            }
            _ => None,
        }
    }

    /// The same event with another payload, in the shape that [`Event::rewritable`] gives. A
    /// payload of another shape changes nothing.
    #[must_use]
    pub fn with_rewritten(&self, payload: &Json) -> Self {
        let mut event = self.clone();
        match &mut event.payload {
            Payload::Tool(call) => {
                call.input = payload.clone();
                if let Some(own) = &mut event.origin.host_call {
                    own.input = None;
                }
            }
            Payload::Prompt(prompt) => {
                if let Some(text) = payload.get("prompt").as_ref().and_then(Json::as_str) {
                    *prompt = text.into_owned();
                }
            }
            Payload::ToolResult { response, failed, .. } => {
                *response = payload.clone();
                // The text of a failure stands there a second time.
                if event.extra.get("error").is_some() {
                    let content = payload.get("content").unwrap_or_else(Json::null);
                    event.extra.set("error", content);
                }
                *failed =
                    payload.get("is_error").and_then(|flag| flag.as_bool()).unwrap_or(*failed);
            }
            Payload::Stop(_) | Payload::Open => {}
        }
        event
    }

    /// Whether a subagent acts. An agent of depth 0 is the main one.
    pub fn is_subagent(&self) -> bool {
        self.origin.agent.as_ref().is_some_and(|agent| agent.depth > 0)
    }

    /// What matchers are compared with, if this event has such a thing.
    pub fn subject(&self, subject: Subject) -> Option<Cow<'_, str>> {
        match subject {
            Subject::None => None,
            Subject::ToolName => self.tool_name().map(Cow::Borrowed),
            Subject::AgentType => self
                .origin
                .agent
                .as_ref()
                .and_then(|agent| agent.kind.as_deref())
                .map(Cow::Borrowed)
                .or_else(|| self.extra.get("agent_type").and_then(Json::as_str)),
            Subject::Field(name) => self.extra.get(name).and_then(Json::as_str),
        }
    }
}
