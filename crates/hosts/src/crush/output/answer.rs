//! The JSON object that a hook of Crush answers with: its own form, or Claude's.
//!
//! Claude's form is chosen by its key `hookSpecificOutput`; the keys around it then mean nothing,
//! unless they deny or halt.

use tenter_core::diagnostic::Diagnostic;
use tenter_core::json::{Fields, Json};
use tenter_core::suggest::nearest;
use tenter_core::verdict::{Decision, Rewrite, Verdict};

use super::SUPPORTED_OUTPUT_VERSION;
use crate::native::input::type_of;
use crate::output::Answer;

/// The keys of Crush's own form.
const OWN: [&str; 6] = ["version", "decision", "halt", "reason", "context", "updated_input"];
/// The keys of Claude's form.
const CLAUDE: [&str; 5] = [
    "hookEventName",
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
    "additionalContext",
];
/// What chooses Claude's form.
const ENVELOPE: &str = "hookSpecificOutput";

/// Whether an object has any key of an answer.
pub(super) fn is_answer(fields: &Fields) -> bool {
    fields.iter().any(|(key, value)| {
        key == ENVELOPE
            || OWN.iter().any(|own| key.eq_ignore_ascii_case(own))
            || holds_up(key, value)
    })
}

/// Whether a key denies or halts, wherever it stands and however it is written.
fn holds_up(key: &str, value: &Json) -> bool {
    let is = |known: &str| key.eq_ignore_ascii_case(known);
    let denies = is("decision") || is("permissionDecision");
    (denies && value.as_str().is_some_and(|word| is_denial(&word)))
        || (is("halt") && value.as_bool() == Some(true))
        || (is("continue") && value.as_bool() == Some(false))
        || (is(ENVELOPE)
            && value.to_fields().is_some_and(|inner| inner.iter().any(|(k, v)| holds_up(k, v))))
}

fn is_denial(word: &str) -> bool {
    matches!(word.trim().to_ascii_lowercase().as_str(), "deny" | "block")
}

pub(super) fn read(fields: &Fields) -> Answer {
    let mut reader = Reader::default();
    if !is_answer(fields) {
        if let Some((key, _)) = fields.iter().next() {
            reader.unknown_object(key);
        }
        return reader.finish();
    }
    reader.duplicates(fields, "");
    match fields.get(ENVELOPE) {
        // Nothing in it is as good as no envelope.
        Some(envelope) if !envelope.is_null() => {
            reader.claude(envelope);
            fields.iter().for_each(|(key, value)| reader.around(key, value));
        }
        _ => fields.iter().for_each(|(key, value)| reader.own(key, value)),
    }
    reader.finish()
}

/// Collects what an object says. A key given twice is read twice: for what holds the call up the
/// more severe reading stays, of all else the last.
#[derive(Debug, Default)]
struct Reader {
    decision: Decision,
    halt: bool,
    reason: Option<String>,
    stop_reason: Option<String>,
    context: Option<String>,
    patch: Option<Fields>,
    /// A value of a type that makes the whole answer mean nothing.
    wrong: Option<String>,
    /// A patch that cannot be read: nothing is allowed that was to be changed first.
    bad_patch: bool,
    diagnostics: Vec<Diagnostic>,
}

impl Reader {
    fn own(&mut self, key: &str, value: &Json) {
        let known = OWN.iter().find(|own| key.eq_ignore_ascii_case(own)).copied();
        if value.is_null() {
            return;
        }
        match known {
            Some("version") => self.version(value),
            Some("decision") => self.decision(key, value),
            Some("halt") => self.halt(key, value),
            Some("reason") => self.reason = self.text(key, value).or(self.reason.take()),
            Some("context") => self.context = self.contexts(key, value),
            Some(_) => self.patch(key, value),
            None if key == "stopReason" => self.stop_reason = self.text(key, value),
            None => self.stray(key, value),
        }
    }

    fn claude(&mut self, envelope: &Json) {
        let Some(fields) = envelope.to_fields() else {
            return self.wrong_type(ENVELOPE, envelope, "an object");
        };
        self.duplicates(&fields, " in `hookSpecificOutput`");
        for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            let known = CLAUDE.iter().find(|known| key.eq_ignore_ascii_case(known)).copied();
            match known {
                Some("hookEventName") => {}
                Some("permissionDecision") => self.decision(key, value),
                Some("permissionDecisionReason") => {
                    self.reason = self.text(key, value).or(self.reason.take());
                }
                Some("updatedInput") => self.patch(key, value),
                Some(_) => self.context = self.contexts(key, value),
                None => self.stray(key, value),
            }
        }
    }

    /// A key beside Claude's form.
    fn around(&mut self, key: &str, value: &Json) {
        match key {
            ENVELOPE => {}
            "stopReason" => self.stop_reason = self.text(key, value),
            "reason" if self.reason.is_none() => {
                self.reason = value.as_str().map(std::borrow::Cow::into_owned);
            }
            "systemMessage" | "suppressOutput" => self.no_effect(key),
            _ => self.stray(key, value),
        }
    }

    /// A key that means nothing where it stands, unless it holds the call up.
    fn stray(&mut self, key: &str, value: &Json) {
        if !holds_up(key, value) {
            return self.no_effect(key);
        }
        match value.to_fields() {
            Some(inner) => {
                let inner: Vec<_> = inner.into_iter().collect();
                for (key, value) in inner.iter().filter(|(key, value)| holds_up(key, value)) {
                    self.hold_up(key, value);
                }
            }
            None => self.hold_up(key, value),
        }
        self.diagnostics.push(
            Diagnostic::warning(
                "output.stray-denial",
                format!("`{key}` does not belong there; it counts all the same"),
            )
            .help(r#"print {"decision": "deny", "reason": "…"}"#),
        );
    }

    fn hold_up(&mut self, key: &str, value: &Json) {
        if value.as_str().is_some_and(|word| is_denial(&word)) {
            self.decision = Decision::Deny;
        } else if key.eq_ignore_ascii_case("halt") || key.eq_ignore_ascii_case("continue") {
            self.halt = true;
        }
    }

    fn version(&mut self, value: &Json) {
        match value.as_text().parse::<i64>() {
            Ok(version) if u64::try_from(version).is_ok_and(|v| v > SUPPORTED_OUTPUT_VERSION) => {
                self.diagnostics.push(Diagnostic::info(
                    "output.version",
                    format!("the answer has version {version}, and {SUPPORTED_OUTPUT_VERSION} is the newest that is known"),
                ));
            }
            Ok(_) => {}
            Err(_) => self.wrong_type("version", value, "a whole number"),
        }
    }

    fn decision(&mut self, key: &str, value: &Json) {
        let Some(word) = value.as_str() else {
            return self.wrong_type(key, value, "a text");
        };
        let decision = match word.to_ascii_lowercase().as_str() {
            _ if is_denial(&word) => Decision::Deny,
            "allow" | "approve" => Decision::Allow,
            "ask" => Decision::Ask,
            "none" | "" => Decision::None,
            _ => {
                self.diagnostics.push(
                    Diagnostic::warning(
                        "output.unknown-decision",
                        format!("`{key}` is `{word}`, which decides nothing"),
                    )
                    .help("it can be allow, ask or deny"),
                );
                Decision::None
            }
        };
        self.decision = self.decision.max(decision);
    }

    /// Spelt as a text it still halts, and the answer is of the wrong type all the same.
    fn halt(&mut self, key: &str, value: &Json) {
        let as_text = value.as_str().map(|text| text.trim().to_ascii_lowercase());
        self.halt |= value.as_bool() == Some(true) || as_text.as_deref() == Some("true");
        if value.as_bool().is_none() {
            self.wrong_type(key, value, "true or false");
        }
    }

    fn text(&mut self, key: &str, value: &Json) -> Option<String> {
        let text = value.as_str().map(std::borrow::Cow::into_owned);
        if text.is_none() && !value.is_null() {
            self.wrong_type(key, value, "a text");
        }
        text
    }

    /// A context of another type is none, and harms nothing else.
    fn contexts(&mut self, key: &str, value: &Json) -> Option<String> {
        let joined = if let Some(text) = value.as_str() {
            text.into_owned()
        } else if let Ok(mut list) = serde_json::from_str::<Vec<String>>(value.as_text()) {
            list.retain(|one| !one.is_empty());
            list.join("\n")
        } else {
            self.diagnostics.push(
                Diagnostic::warning(
                    "output.context",
                    format!("`{key}` is {}, so there is no context", type_of(value)),
                )
                .help("print a text, or a list of texts"),
            );
            return None;
        };
        (!joined.is_empty()).then_some(joined)
    }

    /// A patch as an object, or as a text that holds one.
    fn patch(&mut self, key: &str, value: &Json) {
        let inner = value.as_str().map(|text| Json::parse(&text));
        let read = match &inner {
            Some(Ok(inner)) if inner.is_null() => return,
            Some(Ok(inner)) => inner.to_fields(),
            Some(Err(_)) => None,
            None => value.to_fields(),
        };
        if let Some(fields) = read {
            self.patch = Some(fields);
            return;
        }
        self.bad_patch = true;
        let found = match &inner {
            Some(Ok(inner)) => type_of(inner),
            Some(Err(_)) => "a text that is no JSON",
            None => type_of(value),
        };
        let message = format!(
            "`{key}` is {found}, so the input stays as it is, and an allow beside it does not count"
        );
        self.diagnostics.push(
            Diagnostic::warning("output.bad-patch", message)
                .help("print an object with the keys that change"),
        );
    }

    fn wrong_type(&mut self, key: &str, value: &Json, expected: &str) {
        let what = format!("`{key}` in the answer is {}, not {expected}", type_of(value));
        self.diagnostics.push(
            Diagnostic::warning("output.not-understood", what.clone())
                .help("the host drops such an answer whole"),
        );
        self.wrong.get_or_insert(what);
    }

    fn no_effect(&mut self, key: &str) {
        let mut note = Diagnostic::info("output.no-effect", format!("`{key}` has no effect here"));
        if let Some(near) = nearest(key, OWN.iter().copied()) {
            note = note.help(format!("did you mean `{near}`?"));
        }
        self.diagnostics.push(note);
    }

    fn unknown_object(&mut self, key: &str) {
        let message = format!("the answer has no key that means anything, such as `{key}`");
        let help = nearest(key, OWN.iter().copied()).map_or_else(
            || "the keys are decision, halt, reason, context, updated_input".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        self.diagnostics.push(Diagnostic::warning("output.unknown-keys", message).help(help));
    }

    fn duplicates(&mut self, fields: &Fields, inside: &str) {
        if let Some(key) = fields.first_duplicate() {
            self.diagnostics.push(
                Diagnostic::warning(
                    "output.duplicate-key",
                    format!("the answer has `{key}` twice{inside}"),
                )
                .help("the more severe reading counts; keep one"),
            );
        }
    }

    fn finish(self) -> Answer {
        let mut decision = self.decision;
        if self.bad_patch && decision == Decision::Allow {
            decision = Decision::None;
        }
        let mut verdict = Verdict::decide(decision).with_halt(self.halt);
        let reason = match (self.reason, self.stop_reason) {
            // A stop reason explains the halt that it came with.
            (None, stop) => stop,
            (reason, _) => reason,
        };
        if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
            verdict = verdict.because(reason);
        }
        if let Some(context) = self.context {
            verdict = verdict.with_context(context);
        }
        if let Some(patch) = self.patch {
            verdict = verdict.with_rewrite(Rewrite::Patch(patch));
        }
        Answer { verdict, wrong: self.wrong, diagnostics: self.diagnostics }
    }
}
