//! The events, as `tenter fire` takes them and as hooks read them.

use serde_json::{Map, Value, json};
use tenter::core::contract::{Block, Contract, Delivery, Rewrites, Subject};
use tenter::core::event::EventKind;
use tenter::hosts::names;
use tenter::hosts::native::PROFILE;

use super::{Field, any_object, flag, list_of, number, object, properties, text, texts, titled};

/// The schema of an event on the command line and on stdin.
pub(crate) fn events() -> Value {
    titled(
        "tenter event",
        "An event as `tenter fire` and `tenter explain` take it. Fields that are not named here \
         are handed on to the hooks.",
        event(Vec::new()),
    )
}

/// The schema of what a hook reads on stdin.
pub(crate) fn hook_input() -> Value {
    titled(
        "tenter hook input",
        "What a hook reads on stdin: the event, and what tenter adds to it.",
        event(vec![Field::required("tenter", additions(), "What tenter adds.")]),
    )
}

fn event(more: Vec<Field>) -> Value {
    let names: Vec<_> = names::all_events().collect();
    let mut fields = vec![
        Field::optional(
            "hook_event_name",
            json!({ "enum": names }),
            "The event; other hosts' names are understood too.",
        ),
        Field::optional("session_id", text(), "The agent session."),
        Field::optional("cwd", text(), "The agent's current directory."),
        Field::optional(
            "transcript_path",
            text(),
            "The file in which the host keeps the conversation.",
        ),
        Field::optional("permission_mode", text(), "The host's way to ask for permission."),
        Field::optional("agent_id", text(), "The subagent that acts; absent for the main agent."),
        Field::optional("agent_type", text(), "The kind of subagent that acts."),
        Field::optional("tool_use_id", text(), "The host's id of the tool call."),
    ];
    fields.extend(more);
    let mut schema = object(fields);
    let conditions: Vec<_> = EventKind::ALL.iter().map(condition).collect();
    let meanings: Map<_, _> =
        EventKind::ALL.iter().map(|kind| (kind.name().to_owned(), meaning(kind))).collect();
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("allOf".into(), Value::Array(conditions));
        schema.insert("x-events".into(), Value::Object(meanings));
    }
    schema
}

/// What an event of one kind has beside what all have.
fn condition(kind: &EventKind) -> Value {
    let fields = fields_of(kind);
    let required: Vec<_> =
        fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let mut then = json!({ "description": kind.description(), "properties": properties(fields) });
    if let (false, Some(then)) = (required.is_empty(), then.as_object_mut()) {
        then.insert("required".into(), json!(required));
    }
    json!({
        "if": {
            "properties": { "hook_event_name": { "const": kind.name() } },
            "required": ["hook_event_name"],
        },
        "then": then,
    })
}

fn fields_of(kind: &EventKind) -> Vec<Field> {
    use EventKind as E;
    let call = || {
        vec![
            Field::required("tool_name", text(), "The tool."),
            Field::optional("tool_input", any_object(), "Its input; empty if it is missing."),
        ]
    };
    let mut fields = match kind {
        E::PreToolUse | E::PermissionRequest | E::PermissionDenied | E::PreSkillShellCommand => {
            call()
        }
        E::PostToolUse => {
            let mut fields = call();
            fields.push(Field::optional(
                "tool_response",
                json!({}),
                "What the tool gave, in any shape.",
            ));
            fields
        }
        E::PostToolUseFailure => {
            let mut fields = call();
            fields.push(Field::optional("error", text(), "What went wrong."));
            fields
        }
        E::UserPromptSubmit | E::UserPromptExpansion => {
            vec![Field::required("prompt", text(), "The prompt.")]
        }
        E::Stop | E::SubagentStop => vec![
            Field::optional(
                "stop_reason",
                text(),
                "What ended the turn; absent if it ended by itself.",
            ),
            Field::optional(
                "stop_hook_active",
                flag(),
                "Whether the turn goes on only because a hook blocked an earlier end.",
            ),
            Field::optional("last_assistant_message", text(), "The agent's last words."),
        ],
        E::Notification => vec![Field::optional("message", text(), "The text.")],
        E::TeammateIdle => vec![Field::optional("teammate_name", text(), "Who has nothing to do.")],
        E::TaskCreated | E::TaskCompleted => vec![Field::optional("task", task(), "The task.")],
        _ => Vec::new(),
    };
    if let Subject::Field(name) = PROFILE.contract(kind).subject
        && fields.iter().all(|field| field.name != name)
    {
        fields.push(Field::optional(name, text(), "What matchers are compared with."));
    }
    fields
}

fn task() -> Value {
    object(vec![
        Field::optional("id", text(), "Its id."),
        Field::optional("description", text(), "What is to be done."),
        Field::optional("deps", texts(), "The tasks that come before it."),
        Field::optional("by", text(), "Who created or completed it."),
    ])
}

/// What tenter adds to an event.
fn additions() -> Value {
    let result = object(vec![
        Field::required("content", text(), "The text that the model sees."),
        Field::required("is_error", flag(), "Whether it is an error."),
    ]);
    let nullable_text = || json!({ "type": ["string", "null"] });
    let agent = object(vec![
        Field::required("id", nullable_text(), "Its id."),
        Field::required("type", nullable_text(), "Its kind."),
        Field::required("depth", number(), "How many agents stand above it."),
    ]);
    object(vec![
        Field::required("version", json!({ "const": 1 }), "The form of this object."),
        Field::required("host", text(), "The host."),
        Field::optional(
            "paths",
            list_of(text()),
            "The files that the tool call is about, absolute.",
        ),
        Field::optional("result", result, "The tool's result in one shape for all hosts."),
        Field::optional("agent", agent, "The subagent that acts."),
        Field::optional(
            "truncated",
            list_of(text()),
            "The keys whose text was clipped for this hook.",
        ),
    ])
}

/// What the native rules make of an event.
fn meaning(kind: &EventKind) -> Value {
    let contract: &Contract = PROFILE.contract(kind);
    json!({
        "description": kind.description(),
        "block": match contract.block {
            Block::EndsRun => "ends the run",
            Block::RefusesPrompt => "refuses the prompt",
            Block::StopsTool => "stops the tool",
            Block::AnswersNo => "answers no",
            Block::Vetoes => "vetoes the operation",
            Block::SkipsCompaction => "skips the compaction",
            Block::GoesOn => "sends the turn on",
            Block::Annotates => "is a note beside the result",
            Block::Nothing => "means nothing",
        },
        "rewrites": match contract.rewrites {
            Rewrites::Nothing => "nothing",
            Rewrites::ToolInput => "tool input",
            Rewrites::Prompt => "prompt",
            Rewrites::Result => "result",
        },
        "on_failure": contract.on_failure.as_str(),
        "delivery": match contract.delivery {
            Delivery::Awaited => "awaited",
            Delivery::Detached => "detached",
            Delivery::AwaitedToTheEnd => "awaited to the end",
        },
        "matcher": contract.subject.name(),
        "timeout_ms": u64::try_from(contract.timeout.as_millis()).unwrap_or(u64::MAX),
    })
}
