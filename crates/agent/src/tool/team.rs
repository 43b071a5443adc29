//! `Team`, `TaskAdd`, `TaskClaim`, `TaskComplete` and `SendMessage`: agents that share tasks.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{Delegation, Tool, ToolContext, ToolOutput, spec, text, texts};
use crate::provider::ToolSpec;

fn told(result: Result<String, String>) -> ToolOutput {
    result.map_or_else(ToolOutput::error, ToolOutput::ok)
}

/// Lets the members of a team work until all are idle.
#[derive(Debug, Clone, Copy)]
pub struct TeamRun;

impl Tool for TeamRun {
    fn spec(&self) -> ToolSpec {
        let member = texts(&[("name", true, "Its name."), ("prompt", true, "What it is to do.")]);
        spec(
            "Team",
            "Lets the members of a team work side by side on shared tasks until all are idle.",
            json!({
                "type": "object",
                "properties": { "members": { "type": "array", "minItems": 1, "items": member } },
                "required": ["members"],
                "additionalProperties": false,
            }),
        )
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        let members = input["members"].as_array().into_iter().flatten().map(|member| Delegation {
            prompt: text(member, "prompt").into(),
            kind: "teammate".into(),
            id: Some(text(member, "name").into()),
        });
        cx.delegate.run_team(members.collect(), cx.cancel.clone())
    }
}

/// Adds a task.
#[derive(Debug, Clone, Copy)]
pub struct TaskAdd;

impl Tool for TaskAdd {
    fn spec(&self) -> ToolSpec {
        spec(
            "TaskAdd",
            "Adds a task to the team's list and gives its id.",
            json!({
                "type": "object",
                "properties": {
                    "description": { "type": "string", "minLength": 1 },
                    "deps": { "type": "array", "items": { "type": "string" } },
                },
                "required": ["description"],
                "additionalProperties": false,
            }),
        )
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let deps = input["deps"].as_array().into_iter().flatten();
            let deps: Vec<_> = deps.filter_map(Value::as_str).map(ToOwned::to_owned).collect();
            let add = async {
                let draft = cx.team.draft(text(input, "description"), deps, &cx.who.id)?;
                let gate =
                    cx.delegate.task_gate(false, draft.to_json(&cx.who.id), cx.cancel.clone());
                gate.await?;
                let id = draft.id.clone();
                cx.team.add(draft)?;
                cx.delegate.task_changed(&id);
                Ok(format!("added {id}"))
            };
            told(add.await)
        })
    }
}

/// Claims a task.
#[derive(Debug, Clone, Copy)]
pub struct TaskClaim;

impl Tool for TaskClaim {
    fn spec(&self) -> ToolSpec {
        spec(
            "TaskClaim",
            "Claims a task that nobody has; without an id, the first that can be done.",
            texts(&[("id", false, "The task.")]),
        )
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        let id = Some(text(input, "id")).filter(|id| !id.is_empty());
        let claimed = cx.team.claim(id, &cx.who.id).map(|task| {
            cx.delegate.task_changed(&task.id);
            format!("claimed {}: {}", task.id, task.description)
        });
        Box::pin(std::future::ready(told(claimed)))
    }
}

/// Completes a task.
#[derive(Debug, Clone, Copy)]
pub struct TaskComplete;

impl Tool for TaskComplete {
    fn spec(&self) -> ToolSpec {
        spec(
            "TaskComplete",
            "Marks a task complete that this agent has claimed.",
            texts(&[("id", true, "The task.")]),
        )
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let id = text(input, "id");
            let complete = async {
                let task = cx.team.completable(id, &cx.who.id)?;
                let gate = cx.delegate.task_gate(true, task.to_json(&cx.who.id), cx.cancel.clone());
                gate.await?;
                cx.team.complete(id, &cx.who.id)?;
                cx.delegate.task_changed(id);
                Ok(format!("completed {id}"))
            };
            told(complete.await)
        })
    }
}

/// Sends a message to a member of the team.
#[derive(Debug, Clone, Copy)]
pub struct SendMessage;

impl Tool for SendMessage {
    fn spec(&self) -> ToolSpec {
        spec(
            "SendMessage",
            "Sends a message to a member of the team; it reads it before its next step.",
            texts(&[("to", true, "The member's name."), ("text", true, "What to say.")]),
        )
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        let sent = cx.team.send(&cx.who.id, text(input, "to"), text(input, "text"));
        Box::pin(std::future::ready(told(sent)))
    }
}
