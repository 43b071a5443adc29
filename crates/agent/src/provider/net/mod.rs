//! Models behind a network: what both wire formats have in common.
//!
//! | module | owns |
//! |---|---|
//! | `http` | one request: timeouts, retries, and what is said when it fails |
//! | `sse` | server-sent events: bytes in, events out |
//! | `exchange` | from a request to the deltas of its answer |
//! | `server` | the provider that all formats share |
//! | `openai`, `anthropic` | a wire format each: a request as JSON, an answer as deltas |

mod anthropic;
mod exchange;
mod http;
mod openai;
mod server;
mod sse;

pub use anthropic::Anthropic;
pub use http::{ApiKey, Network};
pub use openai::OpenAi;
pub use server::{NetProvider, NetProviderBuilder};
pub use sse::{SseEvent, SseParser, TooLong};

use serde_json::Value;
use tenter::Json;

use crate::message::ToolCall;
use crate::provider::{Delta, ProviderError};

/// A call as its fragments have built it up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Fragments {
    id: String,
    name: String,
    arguments: String,
}

impl Fragments {
    /// The whole call. Arguments that are no JSON object are handed on as a text, so that the schema
    /// refuses them and the model hears why.
    fn call(self) -> Delta {
        let text = match self.arguments.trim() {
            "" => "{}",
            text => text,
        };
        let input = match Json::parse(text) {
            Ok(json) if json.to_fields().is_some() => json,
            _ => Json::string(text),
        };
        Delta::Call(ToolCall { id: self.id, name: self.name, input })
    }
}

/// Why an answer that is not whole ends where it does.
fn cut_off(why: &str) -> ProviderError {
    ProviderError::new(format!(
        "the answer is not whole: it has reached {why}; ask for less at once, or allow more tokens"
    ))
}

/// The server's words for an error, if it has any.
fn words_of(body: &str) -> Option<String> {
    let value: Value = serde_json::from_str(body).ok()?;
    let error = value.get("error").unwrap_or(&value);
    let words = error.as_str().or_else(|| error.get("message")?.as_str())?;
    Some(words.to_owned())
}

/// A text of the server's as JSON; `if_not` says what it is if it is none.
fn json_of(text: &str, if_not: &str) -> Result<Value, ProviderError> {
    serde_json::from_str(text).map_err(|error| ProviderError::new(format!("{if_not}: {error}")))
}

/// What is said when the server says itself that it failed, or `otherwise` if it does not say why.
fn failed(body: &str, otherwise: &str) -> ProviderError {
    let words = words_of(body).unwrap_or_else(|| otherwise.to_owned());
    ProviderError::new(format!("the model server failed: {words}"))
}
