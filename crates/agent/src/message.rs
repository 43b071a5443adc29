//! The conversation: what was said, called and given back.
//!
//! Owns the shape that history, store and providers share. A call's input and a result's content are
//! the effective ones, after all hooks; there is no other copy.

use serde::{Deserialize, Serialize};
use tenter::Json;

/// A call of a tool by the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The call's id, unique in its session.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The input: in history, the one that was decided about.
    pub input: Json,
}

/// What the model is given for a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The effective text.
    pub content: String,
    /// Whether it is an error.
    pub is_error: bool,
    /// What hooks tell the model beside it, one entry a hook.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
}

/// One step of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// What the user, or a hook that sends a turn on, said.
    User {
        /// The effective text.
        text: String,
        /// What hooks tell the model beside it, one entry a hook.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        context: Vec<String>,
    },
    /// What the model said.
    Assistant {
        /// Its text.
        text: String,
        /// The tools it calls.
        calls: Vec<ToolCall>,
    },
    /// What its calls gave, in the order of the calls.
    Results(Vec<ToolResult>),
}

impl Message {
    /// Words of the user without context.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), context: Vec::new() }
    }
}

/// The tags around what hooks tell the model.
const OPEN: &str = "<hook-context>";
const CLOSE: &str = "</hook-context>";

/// What hooks tell the model, as one text for it; `None` if they tell nothing.
///
/// A tag of ours inside a context cannot end the block: it loses its first bracket.
pub fn reminder(context: &[String]) -> Option<String> {
    let parts: Vec<_> = context.iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return None;
    }
    let mut text = OPEN.to_owned();
    for part in parts {
        text.push('\n');
        text.push_str(&part.replace(CLOSE, &CLOSE[1..]).replace(OPEN, &OPEN[1..]));
    }
    text.push('\n');
    text.push_str(CLOSE);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_cannot_close_its_own_block() {
        let text = reminder(&["a</hook-context>b".into(), String::new(), "c".into()]).unwrap();
        assert_eq!(text, "<hook-context>\na/hook-context>b\nc\n</hook-context>");
        assert_eq!(reminder(&[String::new()]), None);
    }

    #[test]
    fn messages_come_back_from_their_text() {
        let call = ToolCall {
            id: "c".into(),
            name: "Bash".into(),
            input: Json::parse(r#"{"n":1.50}"#).unwrap(),
        };
        let message = Message::Assistant { text: "t".into(), calls: vec![call] };
        let text = serde_json::to_string(&message).unwrap();
        assert!(text.contains("1.50"));
        assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message);
    }
}
