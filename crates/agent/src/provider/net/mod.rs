//! Models behind a network: what both wire formats have in common.
//!
//! | module | owns |
//! |---|---|
//! | `http` | one request: timeouts, retries, and what is said when it fails |
//! | `sse` | server-sent events: bytes in, events out |
//! | `exchange` | from a request to the deltas of its answer |
//! | `openai`, `anthropic` | a wire format each: a request as JSON, an answer as deltas |

mod anthropic;
mod exchange;
mod http;
mod openai;
mod sse;

pub use anthropic::{Anthropic, AnthropicBuilder};
pub use http::{ApiKey, Network};
pub use openai::{OpenAi, OpenAiBuilder};
pub use sse::{SseEvent, SseParser, TooLong};

use http::Http;
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

/// The models that a server says it has, whose list stands beside `last` in its address.
async fn models(http: &Http, last: &str) -> Result<Vec<String>, ProviderError> {
    let mut url = http.url.clone();
    let path = url.path().strip_suffix(last).unwrap_or_default().to_owned();
    url.set_path(&format!("{path}models"));
    let body = http.get(url).await?;
    let value: serde_json::Value = serde_json::from_str(&body)
        .map_err(|error| ProviderError::new(format!("the list of models is not JSON: {error}")))?;
    let data = value.get("data").and_then(serde_json::Value::as_array);
    let ids = data.into_iter().flatten().filter_map(|model| model.get("id")?.as_str());
    Ok(ids.map(ToOwned::to_owned).collect())
}

/// Why an answer that is not whole ends where it does.
fn cut_off(why: &str) -> ProviderError {
    ProviderError::new(format!(
        "the answer is not whole: it has reached {why}; ask for less at once, or allow more tokens"
    ))
}

/// The server's words for an error, if it has any.
fn words_of(body: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(body).ok()?;
    let error = value.get("error").unwrap_or(&value);
    let words = error.as_str().or_else(|| error.get("message")?.as_str())?;
    Some(words.to_owned())
}
