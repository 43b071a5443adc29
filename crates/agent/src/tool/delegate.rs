//! `Agent` and `Parallel`: other agents below this one, with the same hooks.

use futures_util::future::{BoxFuture, join_all};
use serde_json::{Value, json};

use super::{Delegation, Tool, ToolContext, ToolOutput, spec, text, texts};
use crate::provider::ToolSpec;

fn task(input: &Value) -> Delegation {
    let kind = match text(input, "agent_type") {
        "" => "general",
        kind => kind,
    };
    Delegation { prompt: text(input, "prompt").into(), kind: kind.into(), id: None }
}

/// Lets a subagent do something.
#[derive(Debug, Clone, Copy)]
pub struct Subagent;

impl Tool for Subagent {
    fn spec(&self) -> ToolSpec {
        spec(
            "Agent",
            "Lets another agent do something and gives its last words.",
            texts(&[
                ("prompt", true, "What it is to do."),
                ("agent_type", false, "Its kind."),
                ("description", false, "What it is for."),
            ]),
        )
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        cx.delegate.delegate(task(input), cx.cancel.clone())
    }
}

/// Lets several subagents work side by side.
#[derive(Debug, Clone, Copy)]
pub struct Branches;

impl Tool for Branches {
    fn spec(&self) -> ToolSpec {
        let branch =
            texts(&[("prompt", true, "What it is to do."), ("agent_type", false, "Its kind.")]);
        spec(
            "Parallel",
            "Lets several agents work side by side and gives the last words of each, in order.",
            json!({
                "type": "object",
                "properties": { "branches": { "type": "array", "minItems": 1, "items": branch } },
                "required": ["branches"],
                "additionalProperties": false,
            }),
        )
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let branches = input["branches"].as_array().into_iter().flatten().map(task);
            let branches = branches.map(|task| cx.delegate.delegate(task, cx.cancel.clone()));
            let outputs = join_all(branches.collect::<Vec<_>>()).await;
            let is_error = outputs.iter().all(|output| output.is_error);
            let parts = outputs.into_iter().enumerate().map(|(at, output)| {
                let word = if output.is_error { " failed" } else { "" };
                format!("branch {}{word}: {}", at + 1, output.content)
            });
            ToolOutput { content: parts.collect::<Vec<_>>().join("\n"), is_error }
        })
    }
}
