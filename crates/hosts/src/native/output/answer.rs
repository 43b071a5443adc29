//! The JSON object that a hook answers with: the native form, Claude's form, or both at once.

use tenter_core::diagnostic::Diagnostic;
use tenter_core::event::{EventKind, ResultPair};
use tenter_core::json::{Fields, Json};
use tenter_core::suggest::nearest;
use tenter_core::verdict::{Decision, Rewrite, Verdict};

use crate::native::input::type_of;
use crate::output::Answer;

/// The newest form of the native answer.
const VERSION: u64 = 1;

/// The keys of the native form and the top-level ones of Claude's.
pub const KEYS: &[&str] = &[
    "version",
    "decision",
    "halt",
    "reason",
    "context",
    "patch",
    "replace",
    "message",
    "continue",
    "stopReason",
    "systemMessage",
    "hookSpecificOutput",
    "suppressOutput",
    "terminalSequence",
];

/// How many unknown keys are named before the rest is only counted.
const MOST_NAMED: usize = 8;

/// Whether an object has any key of an answer, or denies in a way that is not quite one.
pub(super) fn is_answer(fields: &Fields) -> bool {
    fields.iter().any(|(key, value)| {
        KEYS.contains(&key)
            || is_stray_denial(key, value)
            || is_stray_halt(key, value)
            || is_stray_envelope(key, value)
    })
}

/// A denial that stands where it does not belong, or under a key in another case.
fn is_stray_denial(key: &str, value: &Json) -> bool {
    let decides = ["decision", "permissionDecision", "behavior"];
    decides.iter().any(|known| key.eq_ignore_ascii_case(known))
        && value.as_str().is_some_and(|word| is_denial(&word))
}

/// A halt that stands where it does not belong, or under a key in another case.
fn is_stray_halt(key: &str, value: &Json) -> bool {
    (key.eq_ignore_ascii_case("halt") && value.as_bool() == Some(true))
        || (key.eq_ignore_ascii_case("continue") && value.as_bool() == Some(false))
}

/// An envelope of Claude's under a key in another case, if it denies.
fn is_stray_envelope(key: &str, value: &Json) -> bool {
    key.eq_ignore_ascii_case("hookSpecificOutput")
        && value.to_fields().is_some_and(|fields| {
            fields
                .iter()
                .any(|(key, value)| is_stray_denial(key, value) || is_stray_halt(key, value))
        })
}

fn is_denial(word: &str) -> bool {
    matches!(word.trim().to_ascii_lowercase().as_str(), "deny" | "block")
}

pub(super) fn read(fields: &Fields, kind: &EventKind) -> Answer {
    let mut reader = Reader::default();
    if !is_answer(fields) {
        let message = match fields.iter().next() {
            Some((key, _)) => format!("the answer has no key that tenter knows, such as `{key}`"),
            None => return Answer::default(),
        };
        let mut keys = fields.iter().take(MOST_NAMED);
        let near = keys.find_map(|(key, _)| nearest(key, KEYS.iter().copied()));
        let help = near.map_or(
            "the keys are decision, halt, reason, context, patch, replace, message".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        reader.diagnostics.push(Diagnostic::warning("output.unknown-keys", message).help(help));
        return reader.finish();
    }
    reader.duplicates(fields, "");
    for (key, value) in fields.iter() {
        if !value.is_null() {
            reader.top_level(key, value, kind);
        }
    }
    reader.finish()
}

/// Collects what an object says, key by key. A key given twice is simply read twice: for what
/// holds the action up the more severe reading stays.
#[derive(Debug, Default)]
struct Reader {
    decision: Decision,
    halt: bool,
    /// The reason of the native form and of each Claude key, the most specific last.
    reason: Option<String>,
    stop_reason: Option<String>,
    contexts: Vec<String>,
    patch: Option<Fields>,
    replace: Option<Json>,
    message: Option<String>,
    wrong: Option<String>,
    unknown: usize,
    diagnostics: Vec<Diagnostic>,
}

impl Reader {
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

    fn top_level(&mut self, key: &str, value: &Json, kind: &EventKind) {
        match key {
            "version" => match value.as_text().parse::<u64>() {
                Ok(version) if version > VERSION => self.diagnostics.push(Diagnostic::info(
                    "output.version",
                    format!("the answer has version {version}; this tenter knows {VERSION}"),
                )),
                Ok(_) => {}
                Err(_) => self.wrong_type(key, value, "a number"),
            },
            "decision" => match value.to_fields() {
                // Claude's answer to a permission question, without its envelope.
                Some(decision)
                    if decision.iter().any(|(key, value)| is_stray_denial(key, value)) =>
                {
                    self.permission_decision(&decision);
                }
                _ => self.decision(key, value),
            },
            "halt" => self.flag(key, value, true),
            "continue" => self.flag(key, value, false),
            "reason" => self.reason = self.text(key, value).or(self.reason.take()),
            "stopReason" => self.stop_reason = self.text(key, value),
            "context" => self.context(key, value),
            "message" | "systemMessage" => self.message = self.text(key, value),
            "patch" => match value.to_fields() {
                Some(fields) => self.patch = Some(fields),
                None => self.wrong_type(key, value, "an object"),
            },
            "replace" => self.replace = Some(value.clone()),
            "hookSpecificOutput" => match value.to_fields() {
                Some(specific) => self.specific(&specific, kind),
                None => self.wrong_type(key, value, "an object"),
            },
            "suppressOutput" | "terminalSequence" => self.no_effect(key),
            _ if is_stray_envelope(key, value) => {
                if let Some(specific) = value.to_fields() {
                    self.specific(&specific, kind);
                }
            }
            _ if self.stray(key, value) => {}
            _ => self.unknown_key(key),
        }
    }

    /// A key that means nothing where it stands, unless it holds the action up.
    fn elsewhere(&mut self, key: &str, value: &Json) {
        if !self.stray(key, value) {
            self.no_effect(key);
        }
    }

    /// What denies or halts counts wherever it stands and however its key is written.
    fn stray(&mut self, key: &str, value: &Json) -> bool {
        let denies = is_stray_denial(key, value);
        let halts = is_stray_halt(key, value);
        if denies {
            self.decision = Decision::Deny;
        }
        self.halt |= halts;
        if denies || halts {
            self.diagnostics.push(
                Diagnostic::warning(
                    "output.stray-denial",
                    format!("`{key}` does not belong there; it counts all the same"),
                )
                .help(r#"print {"decision": "deny", "reason": "…"}"#),
            );
        }
        denies || halts
    }

    fn unknown_key(&mut self, key: &str) {
        self.unknown += 1;
        if self.unknown > MOST_NAMED {
            return;
        }
        let message = format!("tenter knows no key `{key}` in an answer");
        let mut note = Diagnostic::info("output.unknown-key", message);
        if let Some(near) = nearest(key, KEYS.iter().copied()) {
            note = note.help(format!("did you mean `{near}`?"));
        }
        self.diagnostics.push(note);
    }

    /// Claude's form.
    fn specific(&mut self, fields: &Fields, kind: &EventKind) {
        self.duplicates(fields, " in `hookSpecificOutput`");
        for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            match key {
                "hookEventName" => {
                    let name = value.as_str().unwrap_or_default();
                    if name != kind.name() {
                        self.wrong(format!("the answer is for `{name}`, the event is `{kind}`"));
                    }
                }
                "permissionDecision" => self.decision(key, value),
                "permissionDecisionReason" => {
                    self.reason = self.text(key, value).or(self.reason.take());
                }
                "updatedInput" if value.is_object() => self.replace = Some(value.clone()),
                "updatedInput" => self.wrong_type(key, value, "an object"),
                "additionalContext" => self.context(key, value),
                "decision" => match value.to_fields() {
                    Some(decision) => self.permission_decision(&decision),
                    None => self.decision(key, value),
                },
                "updatedToolOutput" | "updatedMCPToolOutput" => {
                    self.replace = Some(ResultPair::of(value, false).to_json());
                }
                _ => self.elsewhere(key, value),
            }
        }
    }

    /// The answer to a permission question.
    fn permission_decision(&mut self, fields: &Fields) {
        self.duplicates(fields, " in `decision`");
        for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            match key {
                "behavior" => self.decision(key, value),
                "message" => self.reason = self.text(key, value).or(self.reason.take()),
                "updatedInput" => self.replace = Some(value.clone()),
                "interrupt" => self.flag(key, value, true),
                _ => self.elsewhere(key, value),
            }
        }
    }

    fn decision(&mut self, key: &str, value: &Json) {
        let Some(word) = value.as_str() else {
            return self.wrong_type(key, value, "a text");
        };
        let decision = match &*word {
            // A denial counts however it is spelt, all else only as it is written down.
            _ if is_denial(&word) => Decision::Deny,
            "allow" | "approve" => Decision::Allow,
            "ask" => Decision::Ask,
            "defer" => Decision::Defer,
            "none" => Decision::None,
            _ => {
                return self.wrong(format!(
                    "`{key}` is `{word}`; it can be allow, ask, defer, deny or none"
                ));
            }
        };
        self.decision = self.decision.max(decision);
    }

    /// A flag that halts with one value. Spelt as a text it still halts.
    fn flag(&mut self, key: &str, value: &Json, halting: bool) {
        let flag = value.as_bool().or_else(|| {
            match value.as_str()?.trim().to_ascii_lowercase().as_str() {
                "true" => Some(true),
                "false" => Some(false),
                _ => None,
            }
        });
        if flag == Some(halting) {
            self.halt = true;
        }
        if value.as_bool().is_none() {
            self.wrong_type(key, value, "true or false");
        }
    }

    fn context(&mut self, key: &str, value: &Json) {
        if let Some(text) = value.as_str() {
            self.contexts.push(text.into_owned());
        } else if let Ok(list) = serde_json::from_str::<Vec<String>>(value.as_text()) {
            self.contexts.extend(list);
        } else {
            self.wrong_type(key, value, "a text or a list of texts");
        }
    }

    fn text(&mut self, key: &str, value: &Json) -> Option<String> {
        let text = value.as_str().map(std::borrow::Cow::into_owned);
        if text.is_none() {
            self.wrong_type(key, value, "a text");
        }
        text
    }

    fn wrong_type(&mut self, key: &str, value: &Json, expected: &str) {
        self.wrong(format!("`{key}` in the answer is {}, not {expected}", type_of(value)));
    }

    fn wrong(&mut self, what: String) {
        self.diagnostics.push(
            Diagnostic::warning("output.not-understood", what.clone())
                .help("`tenter schema hook-output` shows the form"),
        );
        self.wrong.get_or_insert(what);
    }

    fn no_effect(&mut self, key: &str) {
        self.diagnostics
            .push(Diagnostic::info("output.no-effect", format!("`{key}` has no effect here")));
    }

    fn finish(mut self) -> Answer {
        if self.unknown > MOST_NAMED {
            let message =
                format!("and {} more keys that tenter does not know", self.unknown - MOST_NAMED);
            self.diagnostics.push(Diagnostic::info("output.unknown-key", message));
        }
        let mut verdict = Verdict::decide(self.decision).with_halt(self.halt);
        // A stop reason explains the halt; beside a deny the deny's own reason goes first.
        if let Some(reason) =
            self.reason.or(self.stop_reason).filter(|text| !text.trim().is_empty())
        {
            verdict = verdict.because(reason);
        }
        self.contexts.retain(|text| !text.is_empty());
        if !self.contexts.is_empty() {
            verdict = verdict.with_context(self.contexts.join("\n"));
        }
        if let Some(message) = self.message {
            verdict = verdict.with_message(message);
        }
        let rewrite = match (self.replace, self.patch) {
            (Some(replace), _) if replace.is_null() => None,
            (Some(replace), None) => Some(Rewrite::Replace(replace)),
            (Some(replace), Some(patch)) => match replace.to_fields() {
                Some(fields) => Some(Rewrite::Replace(fields.overlaid(&patch).to_json())),
                None => Some(Rewrite::Replace(replace)),
            },
            (None, Some(patch)) => Some(Rewrite::Patch(patch)),
            (None, None) => None,
        };
        if let Some(rewrite) = rewrite {
            verdict = verdict.with_rewrite(rewrite);
        }
        Answer { verdict, wrong: self.wrong, diagnostics: self.diagnostics }
    }
}
