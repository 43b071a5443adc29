//! The port to a model: a conversation goes in, a stream of deltas comes out.
//!
//! Owns the port alone. Who stands behind it is a module of its own.

#[cfg(feature = "net")]
mod net;
mod scripted;

#[cfg(feature = "net")]
pub use net::{
    Anthropic, ApiKey, NetProvider, NetProviderBuilder, Network, OpenAi, SseEvent, SseParser,
    TooLong,
};
pub use scripted::{Script, ScriptError, ScriptedProvider};

use futures_util::stream::BoxStream;
use serde_json::Value;

use crate::message::{Message, ToolCall};
use crate::stream::Who;

/// What the model is told about a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its input.
    pub schema: Value,
}

/// What the model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// For which agent.
    pub agent: Who,
    /// What the model is told about itself.
    pub system: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools that it knows.
    pub tools: Vec<ToolSpec>,
    /// Whether it may call them. A conversation in which tools were called makes no sense to a model
    /// that knows none, and some servers refuse it.
    pub may_call: bool,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// Some text.
    Text(String),
    /// A whole call of a tool.
    Call(ToolCall),
}

/// Why the model could not be asked, or did not finish its answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What, where, why and what to do: a lower-case fragment.
    pub message: String,
}

impl ProviderError {
    /// An error of this text.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// Answers for a model. Dropping the stream ends the request.
pub trait Provider: Send + Sync {
    /// Its name, such as `scripted`.
    fn name(&self) -> &str;

    /// The model's name.
    fn model(&self) -> &str;

    /// Asks the model.
    fn stream(&self, request: Request) -> BoxStream<'_, Result<Delta, ProviderError>>;
}
