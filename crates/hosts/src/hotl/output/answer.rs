//! The JSON object that a hook of hotl answers with.
//!
//! Every event has its own keys (section 3 of the reference). A key that means nothing for the event
//! is named in a diagnostic, unless it holds the action up: then it counts.

use tenter_core::diagnostic::Diagnostic;
use tenter_core::event::EventKind;
use tenter_core::json::{Fields, Json};
use tenter_core::suggest::nearest;
use tenter_core::verdict::{Decision, Rewrite, Verdict};

use super::DENIED;
use crate::native::input::type_of;
use crate::output::Answer;

/// The keys of hotl's own form.
const OWN: [&str; 5] = ["decision", "message", "input", "result", "reason"];
/// Where the context of a prompt stands, and Claude's decisions.
const ENVELOPE: &str = "hookSpecificOutput";
/// The words that decide.
const WORDS: [&str; 5] = ["continue", "deny", "rewrite", "block", "ask"];

/// Whether an object has any key of an answer.
pub(super) fn is_answer(fields: &Fields) -> bool {
    fields
        .iter()
        .any(|(key, value)| matches!(key, "decision" | "result" | ENVELOPE) || holds_up(key, value))
}

/// Whether a key denies, asks or halts, wherever it stands.
fn holds_up(key: &str, value: &Json) -> bool {
    match key {
        "decision" | "permissionDecision" => {
            value.as_str().is_some_and(|word| severity(&word) > Decision::None)
        }
        "halt" => value.as_bool() == Some(true),
        "continue" => value.as_bool() == Some(false),
        ENVELOPE => {
            value.to_fields().is_some_and(|inner| inner.iter().any(|(k, v)| holds_up(k, v)))
        }
        _ => false,
    }
}

/// How much a word holds the action up, however it is written. In the original a word in capitals
/// lets the call pass.
fn severity(word: &str) -> Decision {
    match word.trim().to_ascii_lowercase().as_str() {
        "deny" | "block" => Decision::Deny,
        "ask" => Decision::Ask,
        _ => Decision::None,
    }
}

pub(super) fn read(fields: &Fields, kind: &EventKind) -> Answer {
    let mut reader = Reader::new(kind);
    if !is_answer(fields) && !fields.iter().any(|(key, _)| OWN.contains(&key)) {
        if let Some((key, _)) = fields.iter().next() {
            reader.unknown_object(key);
        }
        return reader.finish();
    }
    if let Some(key) = fields.first_duplicate() {
        reader.diagnostics.push(
            Diagnostic::warning("output.duplicate-key", format!("the answer has `{key}` twice"))
                .help("the more severe reading counts; keep one"),
        );
    }
    for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        reader.member(key, value);
    }
    reader.finish()
}

/// Collects what an object says. Of a key given twice the more severe reading stays, or the last.
struct Reader<'k> {
    kind: &'k EventKind,
    decision: Decision,
    halt: bool,
    rewrites: bool,
    reason: Option<String>,
    /// A reason that stands where another host's would.
    other_reason: Option<String>,
    input: Option<Json>,
    result: Option<String>,
    context: Option<String>,
    /// A value of a type that cannot be meant.
    wrong: Option<String>,
    diagnostics: Vec<Diagnostic>,
}

impl<'k> Reader<'k> {
    fn new(kind: &'k EventKind) -> Self {
        Self {
            kind,
            decision: Decision::None,
            halt: false,
            rewrites: false,
            reason: None,
            other_reason: None,
            input: None,
            result: None,
            context: None,
            wrong: None,
            diagnostics: Vec::new(),
        }
    }

    fn member(&mut self, key: &str, value: &Json) {
        let before_tool = *self.kind == EventKind::PreToolUse;
        match key {
            "decision" => self.decision(value),
            "message" if before_tool => self.reason = self.text(key, value).or(self.reason.take()),
            "reason" if *self.kind == EventKind::Stop => {
                self.reason = self.text(key, value).or(self.reason.take());
            }
            // Beside a denial the other word for a reason is one as well.
            "message" | "reason" | "stopReason" => {
                self.other_reason = value.as_str().map(std::borrow::Cow::into_owned);
            }
            "input" if before_tool => self.input = Some(value.clone()),
            "result" if *self.kind == EventKind::PostToolUse => match value.as_str() {
                Some(text) => self.result = Some(text.into_owned()),
                None => self.not_used(key, value, "a text"),
            },
            ENVELOPE => self.envelope(value),
            _ if holds_up(key, value) => self.stray(key, value),
            _ => self.no_effect(key),
        }
    }

    fn envelope(&mut self, value: &Json) {
        let Some(fields) = value.to_fields() else {
            return self.not_used(ENVELOPE, value, "an object");
        };
        for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            match key {
                "hookEventName" => {}
                "additionalContext" if *self.kind == EventKind::UserPromptSubmit => {
                    match value.as_str() {
                        Some(text) => self.context = Some(text.into_owned()),
                        None => self.not_used(key, value, "a text"),
                    }
                }
                // An allow is nothing here: a hook never grants.
                "permissionDecision" => match value.as_str() {
                    Some(word) => self.decision = self.decision.max(severity(&word)),
                    None => self.wrong_type(key, value),
                },
                "permissionDecisionReason" => {
                    self.other_reason = value.as_str().map(std::borrow::Cow::into_owned);
                }
                _ if holds_up(key, value) => self.stray(key, value),
                _ => self.no_effect(key),
            }
        }
    }

    fn decision(&mut self, value: &Json) {
        let Some(word) = value.as_str() else { return self.wrong_type("decision", value) };
        self.rewrites |= word == "rewrite";
        let severity = severity(&word);
        self.decision = self.decision.max(severity);
        let is_known = severity > Decision::None || matches!(&*word, "continue" | "rewrite");
        if !is_known {
            let help = match nearest(&word, WORDS) {
                Some(near) => format!("did you mean `{near}`?"),
                None if word == "allow" || word == "approve" => {
                    "a hook never grants; print nothing to have no opinion".to_owned()
                }
                None => {
                    "it can be continue, deny or rewrite; at the end of a turn, block".to_owned()
                }
            };
            let message = format!("`decision` is `{word}`, which decides nothing");
            self.diagnostics
                .push(Diagnostic::warning("output.unknown-decision", message).help(help));
        }
    }

    /// A key that holds the action up where it does not belong.
    fn stray(&mut self, key: &str, value: &Json) {
        match value.as_str() {
            Some(word) => self.decision = self.decision.max(severity(&word)),
            None => self.halt = true,
        }
        let message = format!("`{key}` does not belong there; it counts all the same");
        self.diagnostics.push(
            Diagnostic::warning("output.stray-denial", message)
                .help(r#"print {"decision": "deny", "message": "…"}"#),
        );
    }

    fn text(&mut self, key: &str, value: &Json) -> Option<String> {
        let text = value.as_str().map(std::borrow::Cow::into_owned);
        if text.is_none() {
            self.not_used(key, value, "a text");
        }
        text
    }

    /// A value of the wrong type where the original goes on as if it were not there.
    fn not_used(&mut self, key: &str, value: &Json, expected: &str) {
        let message = format!("`{key}` is {}, not {expected}, and is not used", type_of(value));
        self.diagnostics.push(Diagnostic::warning("output.wrong-type", message));
    }

    /// A decision that is no text: nobody can say what it was.
    fn wrong_type(&mut self, key: &str, value: &Json) {
        let what = format!("`{key}` in the answer is {}, not a text", type_of(value));
        self.wrong.get_or_insert(what);
    }

    fn no_effect(&mut self, key: &str) {
        let mut note = Diagnostic::info("output.no-effect", format!("`{key}` has no effect here"));
        match key {
            "updatedInput" => {
                note = note.help(r#"print {"decision": "rewrite", "input": {…}}"#);
            }
            "additionalContext" if *self.kind == EventKind::UserPromptSubmit => {
                note = note.help(r#"print {"hookSpecificOutput": {"additionalContext": "…"}}"#);
            }
            _ => {
                if let Some(near) = nearest(key, OWN).filter(|near| *near != key) {
                    note = note.help(format!("did you mean `{near}`?"));
                }
            }
        }
        self.diagnostics.push(note);
    }

    fn unknown_object(&mut self, key: &str) {
        let message = format!("the answer has no key that means anything, such as `{key}`");
        let help = nearest(key, OWN).map_or_else(
            || "the keys are decision, message, input, result, reason".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        self.diagnostics.push(Diagnostic::warning("output.unknown-keys", message).help(help));
    }

    /// What the hook made of the payload.
    fn rewrite(&mut self) -> Option<Rewrite> {
        match (self.input.take(), self.result.take()) {
            (Some(input), _) if self.rewrites => Some(Rewrite::Replace(input)),
            (Some(_), _) => {
                self.no_effect("input");
                None
            }
            (None, Some(text)) if !text.is_empty() || self.rewrites => {
                Some(Rewrite::Patch(Fields::from_iter([("content", Json::string(&text))])))
            }
            (None, Some(_)) => {
                self.diagnostics.push(
                    Diagnostic::info("output.empty-result", "an empty `result` changes nothing")
                        .help(r#"to blank it, print {"decision": "rewrite", "result": ""}"#),
                );
                None
            }
            (None, None) => {
                if self.rewrites {
                    let key = match self.kind {
                        EventKind::PostToolUse => "result",
                        _ => "input",
                    };
                    let message = format!("it says rewrite and gives no `{key}`");
                    self.diagnostics.push(
                        Diagnostic::warning("output.empty-rewrite", message)
                            .help(format!("add `{key}`, or print nothing")),
                    );
                }
                None
            }
        }
    }

    fn finish(mut self) -> Answer {
        let decision = if self.halt { Decision::Deny } else { self.decision };
        let mut verdict = Verdict::decide(decision).with_halt(self.halt);
        if let Some(rewrite) = self.rewrite() {
            verdict = verdict.with_rewrite(rewrite);
        }
        if decision.restricts() {
            let given = [self.reason, self.other_reason].into_iter().flatten();
            let reason = given.into_iter().find(|text| !text.is_empty());
            verdict = match reason {
                Some(reason) => verdict.because(reason),
                None => verdict.because(DENIED),
            };
        }
        if let Some(context) = self.context.filter(|context| !context.is_empty()) {
            verdict = verdict.with_context(context);
        }
        Answer { verdict, wrong: self.wrong, diagnostics: self.diagnostics }
    }
}
