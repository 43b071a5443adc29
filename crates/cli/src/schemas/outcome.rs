//! What `tenter fire --json` writes.

use serde_json::{Value, json};

use super::{
    Field, any_object, flag, list_of, number, object, text, text_or_null, texts, titled, words,
};

pub(super) const DECISIONS: &[&str] = &["none", "allow", "ask", "defer", "deny"];
const STATUSES: &[&str] = &["ok", "failed", "timeout", "cancelled", "skipped"];
const SKIPS: &[&str] = &[
    "matcher",
    "condition",
    "disabled",
    "untrusted",
    "duplicate",
    "scope",
    "unsupported",
    "once",
    "strikes",
    "permission",
    "stopped",
];
const FAILURES: &[&str] = &[
    "config",
    "trust",
    "start",
    "crash",
    "signal",
    "timeout",
    "output-limit",
    "output",
    "panic",
    "http",
];
const LEVELS: &[&str] = &["info", "warning", "error"];

/// The schema of an outcome.
pub(crate) fn fire() -> Value {
    titled(
        "tenter fire --json",
        "The outcome of one event. Keys may be added.",
        object(vec![
            Field::required("version", json!({ "const": 1 }), "The form."),
            Field::required("event", text(), "The event's name."),
            Field::required("profile", text(), "Whose rules held."),
            Field::required(
                "decision",
                words(DECISIONS),
                "What becomes of the action, after the contract and the permission rules.",
            ),
            Field::required("halt", flag(), "Whether the turn ends."),
            Field::required("reason", text_or_null(), "Why."),
            Field::required("context", texts(), "Texts for the model, one entry a hook."),
            Field::required("rewritten", flag(), "Whether the payload differs from the original."),
            Field::required(
                "payload",
                any_object(),
                "The payload that the host must use; empty where nothing may be rewritten.",
            ),
            Field::required("messages", list_of(message()), "Texts for the user."),
            Field::required(
                "hooks",
                list_of(hook()),
                "Every hook of the event in configuration order.",
            ),
            Field::required("duration_ms", number(), "How long it took, in milliseconds."),
        ]),
    )
}

fn message() -> Value {
    object(vec![
        Field::required("level", words(LEVELS), "How urgent it is."),
        Field::required("text", text(), "The text."),
        Field::optional("hook", text(), "The hook that it is about."),
    ])
}

fn hook() -> Value {
    let stream = || json!({ "type": ["string", "integer"] });
    object(vec![
        Field::required("name", text(), "Its name."),
        Field::required("source", text(), "The file and the place in it."),
        Field::required("matcher", text(), "The subjects that it is for."),
        Field::required("status", words(STATUSES), "What became of it."),
        Field::optional("skip", words(SKIPS), "Why it did not run. What follows is absent then."),
        Field::optional("failure", words(FAILURES), "How it failed."),
        Field::optional("decision", words(DECISIONS), "What it decided, before the contract."),
        Field::optional("halt", flag(), "Whether it halted."),
        Field::optional("reason", text_or_null(), "Its reason; of a failure, what went wrong."),
        Field::optional("rewrite", flag(), "Whether its rewrite was applied."),
        Field::optional(
            "recheck",
            recheck(),
            "What it said on the rewritten payload, if it was asked again.",
        ),
        Field::optional("context", text(), "Its text for the model, delivered or not."),
        Field::optional("detached", flag(), "Present if nobody waited for it."),
        Field::optional(
            "exit_code",
            json!({ "type": ["integer", "null"] }),
            "The exit code of its process.",
        ),
        Field::optional(
            "signal",
            json!({ "type": ["integer", "null"] }),
            "The signal that ended its process.",
        ),
        Field::optional("duration_ms", number(), "How long it took, in milliseconds."),
        Field::optional(
            "contained_by",
            words(&["cgroup", "subreaper", "scan", "group"]),
            "What held its processes together.",
        ),
        Field::optional("left", texts(), "Processes that it left running."),
        Field::optional(
            "stdin",
            stream(),
            "What it was sent: a text with `--io`, else its size in bytes.",
        ),
        Field::optional(
            "stdout",
            stream(),
            "What it printed: a text with `--io`, else its size in bytes.",
        ),
        Field::optional(
            "stderr",
            stream(),
            "What it printed on the side: a text with `--io`, else its size in bytes.",
        ),
        Field::optional("diagnostics", list_of(diagnostic()), "What is to be said about its run."),
    ])
}

fn recheck() -> Value {
    object(vec![
        Field::required("decision", words(DECISIONS), "Its decision then."),
        Field::required("reason", text_or_null(), "Its reason then."),
    ])
}

fn diagnostic() -> Value {
    object(vec![
        Field::required("code", text(), "The stable name of the finding."),
        Field::required("severity", words(LEVELS), "How bad it is."),
        Field::required("message", text(), "What is wrong and why."),
        Field::optional("help", text(), "What to do about it."),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter::core::outcome::{Failure, Skip};

    #[test]
    fn the_words_for_skips_are_those_of_the_type() {
        use Skip as S;
        let skips = [
            S::Matcher,
            S::Condition,
            S::Disabled,
            S::Untrusted,
            S::Duplicate,
            S::Scope,
            S::Unsupported,
            S::Once,
            S::Strikes,
            S::Permission,
            S::Stopped,
        ];
        assert_eq!(skips.map(Skip::as_str), SKIPS);
    }

    #[test]
    fn the_words_for_failures_are_those_of_the_type() {
        use Failure as F;
        let failures = [
            F::Config,
            F::Trust,
            F::Start,
            F::Crash,
            F::Signal,
            F::Timeout,
            F::OutputLimit,
            F::Output,
            F::Panic,
            F::Http,
        ];
        assert_eq!(failures.map(Failure::as_str), FAILURES);
    }
}
