//! What a hook may print: the native form, and Claude's form beside it.

use serde_json::{Value, json};

use super::{Field, any_object, flag, object, text, titled, words};

const DECISIONS: &[&str] = &["none", "allow", "ask", "defer", "deny"];

/// The schema of a hook's answer.
pub(crate) fn hook_output() -> Value {
    let text_or_texts = json!({ "anyOf": [text(), { "type": "array", "items": text() }] });
    let mut fields = vec![
        Field::optional("version", json!({ "const": 1 }), "The form of the answer."),
        Field::optional(
            "decision",
            words(&["none", "allow", "ask", "defer", "deny", "approve", "block"]),
            "What is to become of the action; `approve` is `allow` and `block` is `deny`.",
        ),
        Field::optional("halt", flag(), "Whether the whole turn ends."),
        Field::optional("reason", text(), "Why, for the model or the user."),
        Field::optional("context", text_or_texts, "Texts for the model."),
        Field::optional(
            "patch",
            any_object(),
            "Top-level keys of the payload to replace; the others stay.",
        ),
        Field::optional(
            "replace",
            json!({ "type": ["object", "null"] }),
            "The payload that stands for the original; `null` is no change.",
        ),
        Field::optional("message", text(), "A text for the user."),
    ];
    fields.extend(claude());
    titled(
        "tenter hook output",
        "What a hook may print on stdout with exit 0: nothing, or one object. Exit 2 denies with \
         stderr as the reason, exit 49 halts as well.",
        object(fields),
    )
}

/// Claude's form.
fn claude() -> Vec<Field> {
    let permission = object(vec![
        Field::optional(
            "behavior",
            words(&["allow", "deny"]),
            "The answer to a permission question.",
        ),
        Field::optional("message", text(), "Why."),
        Field::optional(
            "updatedInput",
            any_object(),
            "The tool input that stands for the original.",
        ),
        Field::optional("interrupt", flag(), "Whether the turn ends."),
    ]);
    let specific = object(vec![
        Field::optional("hookEventName", text(), "The event that the answer is for."),
        Field::optional("permissionDecision", words(DECISIONS), "As `decision`."),
        Field::optional("permissionDecisionReason", text(), "As `reason`."),
        Field::optional(
            "updatedInput",
            any_object(),
            "The tool input that stands for the original.",
        ),
        Field::optional("additionalContext", text(), "As `context`."),
        Field::optional("decision", permission, "The answer to a permission question."),
        Field::optional("updatedToolOutput", json!({}), "The result that stands for the original."),
        Field::optional("updatedMCPToolOutput", json!({}), "The same, for a tool of a server."),
    ]);
    vec![
        Field::optional("continue", flag(), "Claude's form: `false` halts."),
        Field::optional("stopReason", text(), "Claude's form: why it halts."),
        Field::optional("systemMessage", text(), "Claude's form: as `message`."),
        Field::optional(
            "hookSpecificOutput",
            specific,
            "Claude's form: what depends on the event.",
        ),
    ]
}
