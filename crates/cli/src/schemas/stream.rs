//! The event stream of an agent: one object a line.

use serde_json::{Value, json};

use super::outcome::DECISIONS;
use super::{Field, any_object, flag, list_of, number, object, text, texts, titled, words};

const EFFECTS: &[&str] = &["info", "advisory", "modified", "blocked"];
const STATUSES: &[&str] = &["complete", "refused", "halted", "cancelled", "error", "limit"];

/// The schema of one line.
pub(crate) fn stream() -> Value {
    let kinds: Vec<_> = kinds()
        .into_iter()
        .map(|(name, doc, fields)| {
            let mut all = vec![
                Field::required("type", json!({ "const": name }), "What happened."),
                Field::required(
                    "seq",
                    json!({ "type": "integer", "minimum": 1 }),
                    "Its number in this run, without gaps.",
                ),
                Field::required("agent", agent(), "Who acts."),
            ];
            all.extend(fields);
            let mut schema = object(all);
            if let Some(schema) = schema.as_object_mut() {
                schema.insert("title".into(), name.into());
                schema.insert("description".into(), doc.into());
            }
            schema
        })
        .collect();
    titled(
        "tenter event stream",
        "One line of what `tenter agent --json` and `tenter demo --json` write. Every payload is the \
         effective one, after all hooks; only `tool.call` has the model's own. Keys and types may be \
         added.",
        json!({ "type": "object", "oneOf": kinds }),
    )
}

fn agent() -> Value {
    object(vec![
        Field::required("id", text(), "Its id; `main` for the agent that the user talks to."),
        Field::required("type", text(), "Its kind."),
        Field::required("depth", number(), "How many agents stand above it."),
    ])
}

fn call_id() -> Field {
    Field::required("call_id", text(), "The call.")
}

fn tool() -> Field {
    Field::required("tool", text(), "The tool.")
}

fn context() -> Field {
    Field::required("context", texts(), "What hooks tell the model beside it.")
}

/// Every type with what it means and its keys.
fn kinds() -> Vec<(&'static str, &'static str, Vec<Field>)> {
    vec![
        ("session.init", "A session begins or goes on.", session()),
        (
            "user_prompt",
            "A prompt is part of the conversation.",
            vec![
                Field::required("text", text(), "The effective text."),
                context(),
                Field::required("steering", flag(), "Whether it came while a turn was going on."),
            ],
        ),
        (
            "model.delta",
            "A piece of the model's answer.",
            vec![Field::required("text", text(), "The text.")],
        ),
        (
            "tool.call",
            "The model calls a tool.",
            vec![
                call_id(),
                tool(),
                Field::required("input", json!({}), "What the model asked for."),
            ],
        ),
        ("hook", "Hooks ran.", hook()),
        (
            "permission.ask",
            "Somebody has to allow a call.",
            vec![
                Field::optional("call_id", text(), "The call; none where it is a prompt."),
                tool(),
                Field::required("input", json!({}), "The effective input."),
                Field::required("reason", text(), "Why it is asked."),
                Field::required(
                    "asked_by",
                    words(&["permission", "hook"]),
                    "Where the question comes from.",
                ),
            ],
        ),
        (
            "approval",
            "The question was answered.",
            vec![
                Field::optional("call_id", text(), "The call; none where it is a prompt."),
                Field::required("verdict", words(&["allow", "always", "deny"]), "How."),
                Field::required("by", words(&["human", "hook", "waiver"]), "By whom."),
            ],
        ),
        ("tool.result", "What the model is given for a call.", result()),
        (
            "notification",
            "The user is told something.",
            vec![
                Field::required("notification_type", text(), "Of what kind it is."),
                Field::required("message", text(), "The text."),
            ],
        ),
        (
            "result",
            "The turn is over.",
            vec![
                Field::required("status", words(STATUSES), "How."),
                Field::required("text", text(), "The agent's last words."),
                Field::optional("reason", text(), "Why, where it did not end by itself."),
                Field::required("samples", number(), "How often the model was asked."),
            ],
        ),
    ]
}

fn session() -> Vec<Field> {
    vec![
        Field::required("session_id", text(), "The session."),
        Field::required("resumed", flag(), "Whether it was kept before."),
        Field::required("provider", text(), "Who answers for the model."),
        Field::required("model", text(), "The model."),
        Field::required("cwd", text(), "The agent's folder."),
        Field::required("mode", text(), "The permission mode."),
        Field::required("tools", texts(), "The tools' names."),
    ]
}

fn note() -> Value {
    object(vec![
        Field::required("name", text(), "Its name."),
        Field::required("status", text(), "What became of it."),
        Field::required("decision", words(DECISIONS), "What it decided."),
        Field::required("halt", flag(), "Whether it halted."),
        Field::required("rewrite", flag(), "Whether its rewrite was applied."),
        Field::optional("reason", text(), "Its reason."),
    ])
}

fn hook() -> Vec<Field> {
    vec![
        Field::required("event", text(), "On which event."),
        Field::required("effect", words(EFFECTS), "What that did."),
        Field::optional("reason", text(), "Why."),
        Field::optional("call_id", text(), "The tool call that it is about."),
        Field::optional("payload", any_object(), "The effective payload, where it is another now."),
        Field::required(
            "hooks",
            list_of(note()),
            "The hooks that were not skipped, in configuration order.",
        ),
    ]
}

fn result() -> Vec<Field> {
    let summary = object(vec![
        Field::required("hook_count", number(), "How many hooks were not skipped."),
        Field::required("decision", words(DECISIONS), "What they decided together."),
        Field::required("halt", flag(), "Whether they ended the turn."),
        Field::required("input_rewrite", flag(), "Whether the input is another than the model's."),
        Field::optional("reason", text(), "Why."),
        Field::required("hooks", list_of(note()), "Each of them, in configuration order."),
    ]);
    vec![
        call_id(),
        tool(),
        Field::required(
            "input",
            json!({}),
            "The input that was decided about: what ran, if it ran.",
        ),
        Field::required("executed", flag(), "Whether the tool ran."),
        Field::required("denied", flag(), "Whether a hook, a rule or a human said no."),
        Field::required("content", text(), "The effective text."),
        Field::required("is_error", flag(), "Whether it is an error."),
        context(),
        Field::optional("hook", summary, "What hooks did to the call; absent if none ran."),
    ]
}

#[cfg(test)]
mod tests {
    use tenter::Json;
    use tenter_agent::{
        AnsweredBy, AskedBy, Effect, HookNote, HookSummary, Status, StreamEvent, Verdict, What, Who,
    };

    use super::*;

    fn note() -> HookNote {
        let reason = Some("r".into());
        let (status, decision) = ("ok", "deny");
        HookNote { name: "n".into(), status, decision, halt: false, rewrite: true, reason }
    }

    fn t() -> String {
        "t".into()
    }

    /// One of each, with every key.
    fn one_of_each() -> Vec<What> {
        let (input, hooks) = (Json::empty_object(), vec![note()]);
        let summary = HookSummary {
            hook_count: 1,
            decision: "deny",
            halt: false,
            input_rewrite: true,
            reason: Some(t()),
            hooks: hooks.clone(),
        };
        vec![
            What::SessionInit {
                session_id: t(),
                resumed: false,
                provider: t(),
                model: t(),
                cwd: t(),
                mode: t(),
                tools: vec![t()],
            },
            What::UserPrompt { text: t(), context: vec![t()], steering: false },
            What::ModelDelta { text: t() },
            What::ToolCall { call_id: t(), tool: t(), input: input.clone() },
            What::Hook {
                event: t(),
                effect: Effect::Blocked,
                reason: Some(t()),
                call_id: Some(t()),
                payload: Some(input.clone()),
                hooks,
            },
            What::PermissionAsk {
                call_id: Some(t()),
                tool: t(),
                input: input.clone(),
                reason: t(),
                asked_by: AskedBy::Hook,
            },
            What::Approval { call_id: Some(t()), verdict: Verdict::Always, by: AnsweredBy::Waiver },
            What::ToolResult {
                call_id: t(),
                tool: t(),
                input,
                executed: true,
                denied: false,
                content: t(),
                is_error: false,
                context: vec![t()],
                hook: Some(summary),
            },
            What::Notification { notification_type: t(), message: t() },
            What::Result { status: Status::Limit, text: t(), reason: Some(t()), samples: 1 },
        ]
    }

    /// Holds a value against the part of the language that our schemas use.
    fn holds(value: &Value, schema: &Value, path: &str) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let object = value.as_object().unwrap_or_else(|| panic!("{path} is no object"));
            for key in object.keys() {
                assert!(properties.contains_key(key), "{path}.{key} is not in the schema");
            }
            for (key, schema) in properties {
                let value =
                    object.get(key).unwrap_or_else(|| panic!("{path}.{key} is never there"));
                holds(value, schema, &format!("{path}.{key}"));
            }
        }
        if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
            for value in values {
                holds(value, items, &format!("{path}[]"));
            }
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            assert!(words.contains(value), "{path}: {value} is none of the words");
        }
    }

    #[test]
    fn every_key_of_every_event_is_in_the_schema_and_no_other() {
        let schema = stream();
        let kinds = schema["oneOf"].as_array().unwrap();
        let events = one_of_each();
        assert_eq!(kinds.len(), events.len());
        for (what, schema) in events.into_iter().zip(kinds) {
            let event = StreamEvent { seq: 1, agent: Who::main(), what };
            let value = serde_json::to_value(event).unwrap();
            assert_eq!(value["type"], schema["properties"]["type"]["const"]);
            holds(&value, schema, "");
        }
    }
}
