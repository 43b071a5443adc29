//! The part of an event that the engine understands: tool calls, results, prompts, ends of turns.

use crate::json::{Fields, Json};

/// A tool and what it is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// Its input, as the host sent it.
    pub input: Json,
}

/// Why a turn is about to end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StopFacts {
    /// What ended it (`complete`, `error`, `cancelled`, …); absent means it ended by itself.
    pub stop_reason: Option<String>,
    /// The agent's last words.
    pub last_assistant_message: Option<String>,
    /// Whether the turn goes on only because a hook blocked an earlier end.
    pub stop_hook_active: bool,
    /// How often hooks can still send this turn on; the session that fires the event fills it in.
    pub blocks_left: Option<u32>,
}

impl StopFacts {
    /// Whether the turn ended by itself, so that a hook may send it on.
    pub fn ended_by_itself(&self) -> bool {
        match self.stop_reason.as_deref() {
            None => true,
            Some(reason) => {
                matches!(reason, "complete" | "completed" | "end_turn" | "stop" | "done")
            }
        }
    }
}

/// What the engine understands of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// A tool is to run, or a permission for it is asked.
    Tool(ToolCall),
    /// A tool has run.
    ToolResult {
        /// What it was asked.
        call: ToolCall,
        /// What it gave, as the host sent it.
        response: Json,
        /// Whether the event itself says that it failed.
        failed: bool,
    },
    /// A prompt.
    Prompt(String),
    /// The end of a turn.
    Stop(StopFacts),
    /// All else: everything is in the event's other fields.
    Open,
}

/// A tool's result in the one shape that every profile shares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResultPair {
    /// The text that the model sees.
    pub content: String,
    /// Whether it is an error.
    pub is_error: bool,
}

impl ResultPair {
    /// Reads any shape of result: the pair itself, an object with `stdout` and `stderr`, a text,
    /// or else the compact JSON.
    pub fn of(response: &Json, failed: bool) -> Self {
        if let Some(text) = response.as_str() {
            return Self { content: text.into_owned(), is_error: failed };
        }
        let Some(fields) = response.to_fields() else {
            let content = if response.is_null() { String::new() } else { response.to_string() };
            return Self { content, is_error: failed };
        };
        let text =
            |key: &str| fields.get(key).and_then(Json::as_str).map(std::borrow::Cow::into_owned);
        let is_error = fields.get("is_error").and_then(Json::as_bool).unwrap_or(failed);
        // Other results have a `content` too, such as the text of a file that was written.
        let is_pair = fields.iter().all(|(key, _)| matches!(key, "content" | "is_error"));
        if let Some(content) = text("content").filter(|_| is_pair) {
            return Self { content, is_error };
        }
        if let (Some(mut content), Some(stderr)) = (text("stdout"), text("stderr")) {
            if !content.is_empty() && !stderr.is_empty() && !content.ends_with('\n') {
                content.push('\n');
            }
            content.push_str(&stderr);
            return Self { content, is_error };
        }
        Self { content: response.to_string(), is_error }
    }

    /// The pair as an object.
    pub fn to_json(&self) -> Json {
        Fields::from_iter([
            ("content", Json::string(&self.content)),
            ("is_error", Json::from(serde_json::Value::Bool(self.is_error))),
        ])
        .to_json()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_result_becomes_the_pair() {
        for (response, failed, content, is_error) in [
            (r#""hi""#, false, "hi", false),
            (r#"{"content":"x","is_error":true}"#, false, "x", true),
            (r#"{"stdout":"out","stderr":"err","interrupted":false}"#, false, "out\nerr", false),
            (r#"{"stdout":"out","stderr":""}"#, false, "out", false),
            (r#"{"path":"a","lines":2}"#, false, r#"{"path":"a","lines":2}"#, false),
            (r#"{"content":[{"type":"text"}]}"#, true, r#"{"content":[{"type":"text"}]}"#, true),
            (
                r#"{"type":"create","content":"x"}"#,
                false,
                r#"{"type":"create","content":"x"}"#,
                false,
            ),
            ("null", false, "", false),
            ("[1]", true, "[1]", true),
        ] {
            let pair = ResultPair::of(&Json::parse(response).unwrap(), failed);
            assert_eq!((pair.content.as_str(), pair.is_error), (content, is_error), "{response}");
        }
    }

    #[test]
    fn only_a_turn_that_ended_by_itself_may_be_sent_on() {
        let with = |reason: Option<&str>| StopFacts {
            stop_reason: reason.map(Into::into),
            ..StopFacts::default()
        };
        assert!(with(None).ended_by_itself() && with(Some("end_turn")).ended_by_itself());
        assert!(
            !with(Some("cancelled")).ended_by_itself() && !with(Some("error")).ended_by_itself()
        );
    }
}
