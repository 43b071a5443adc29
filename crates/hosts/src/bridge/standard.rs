//! Answers in the form of the de-facto standard, which several hosts take, each in part.

use serde_json::{Map, Value, json};

use super::{Answer, Saying, Word};

/// An answer while it is put together.
#[derive(Debug, Default)]
pub(crate) struct Standard {
    top: Map<String, Value>,
    own: Map<String, Value>,
}

impl Standard {
    /// A key of the answer itself.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.top.insert(key.into(), value.into());
    }

    /// A key of `hookSpecificOutput`.
    pub(crate) fn set_own(&mut self, key: &str, value: impl Into<Value>) {
        self.own.insert(key.into(), value.into());
    }

    /// What is said about a call, in the words of `PreToolUse`.
    pub(crate) fn permission(&mut self, word: Word, reason: &str) {
        let name = match word {
            Word::Deny => "deny",
            Word::Ask => "ask",
            Word::Allow => "allow",
            Word::Nothing => return,
        };
        self.set_own("permissionDecision", name);
        if word != Word::Allow {
            self.set_own("permissionDecisionReason", reason);
        }
    }

    /// What is said elsewhere: a block with its reason.
    pub(crate) fn block(&mut self, reason: &str) {
        self.set("decision", "block");
        self.set("reason", reason);
    }

    /// What is said the same way at every event: context, an end of the turn, a message.
    pub(crate) fn rest(&mut self, saying: &Saying<'_>) {
        if let Some(context) = saying.context {
            self.set_own("additionalContext", context);
        }
        if saying.halt {
            self.set("continue", false);
            self.set("stopReason", saying.reason);
        }
        if let Some(message) = saying.message {
            self.set("systemMessage", message);
        }
    }

    /// The answer: one object, or nothing.
    pub(crate) fn answer(mut self, event: &str) -> Answer {
        if !self.own.is_empty() {
            self.own.insert("hookEventName".into(), json!(event));
            self.top.insert("hookSpecificOutput".into(), Value::Object(self.own));
        }
        if self.top.is_empty() { Answer::nothing() } else { Answer::json(&Value::Object(self.top)) }
    }
}
