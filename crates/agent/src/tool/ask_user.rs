//! `AskUser`: a question to the human.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolOutput, spec, text};
use crate::provider::ToolSpec;

/// Asks the user a question.
#[derive(Debug, Clone, Copy)]
pub struct AskUser;

impl Tool for AskUser {
    fn spec(&self) -> ToolSpec {
        spec(
            "AskUser",
            "Asks the user a question and gives the answer.",
            json!({
                "type": "object",
                "properties": {
                    "question": { "type": "string", "minLength": 1, "description": "What to ask." },
                    "choices": {
                        "type": "array",
                        "items": { "type": "string" },
                        "description": "Answers to choose from.",
                    },
                },
                "required": ["question"],
                "additionalProperties": false,
            }),
        )
    }

    /// It changes nothing, and asking whether one may ask would help nobody.
    fn is_read_only(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            if !cx.human.is_there() {
                return ToolOutput::error("nobody is there to answer");
            }
            let choices = input["choices"].as_array().into_iter().flatten();
            let choices: Vec<_> =
                choices.filter_map(Value::as_str).map(ToOwned::to_owned).collect();
            match cx.human.words(text(input, "question"), &choices).await {
                Some(words) => ToolOutput::ok(words),
                None => ToolOutput::error("the user gave no answer"),
            }
        })
    }
}
