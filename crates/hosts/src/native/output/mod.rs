//! What a native hook's exit status and output mean.
//!
//! Tolerant for blocking, strict for allowing: a denial that can be recognised denies, whatever
//! stands around it; what cannot be understood is a failure with a diagnostic, never a silent
//! "no opinion".

mod answer;
mod find;

pub use answer::KEYS as ANSWER_KEYS;

use tenter_core::contract::{Contract, PlainText};
use tenter_core::diagnostic::Diagnostic;
use tenter_core::event::EventKind;
use tenter_core::outcome::Failure;
use tenter_core::verdict::{Decision, Verdict};

use crate::codec::{Decoded, Exit, Failed, Ran};

/// Blocks the action; stderr is the reason.
const EXIT_DENY: i32 = 2;
/// Blocks the action and ends the turn.
const EXIT_HALT: i32 = 49;

/// Decodes what a hook did.
pub fn decode(ran: &Ran<'_>, kind: &EventKind, contract: &Contract) -> Decoded {
    let mut decoded = Decoded::default();
    let stdout = text_of(ran.stdout, "stdout", &mut decoded.diagnostics);
    let stderr = String::from_utf8_lossy(ran.stderr);
    let stderr = stderr.trim();
    let printed = find::find(&stdout);

    if let Some(failure) = ran.stopped {
        keep_denial(&printed, kind, &mut decoded);
        // It was told to end and answered with an exit of its own: a denial is one then, too.
        if let Exit::Code(code @ (EXIT_DENY | EXIT_HALT)) = ran.exit {
            deny_by_exit(code, stderr, &mut decoded.verdict);
        }
        return fail(decoded, failure, stopped_reason(failure).to_owned());
    }
    match ran.exit {
        Exit::Code(0) => read_all(&printed, kind, contract, &mut decoded),
        Exit::Code(EXIT_DENY) if is_own_syntax_error(stderr, ran.own_names) => {
            keep_denial(&printed, kind, &mut decoded);
            return fail(
                decoded,
                Failure::Start,
                format!("the shell cannot read it: {}", first_line(stderr)),
            );
        }
        Exit::Code(code @ (EXIT_DENY | EXIT_HALT)) => {
            read_beside_exit(&printed, kind, &mut decoded);
            deny_by_exit(code, stderr, &mut decoded.verdict);
            if decoded.verdict.reason.is_none()
                && let find::Printed::Text(text) = &printed
            {
                decoded.verdict.reason = Some((*text).to_owned().into());
            }
        }
        Exit::Code(code) => {
            keep_denial(&printed, kind, &mut decoded);
            if decoded.verdict.decision == Decision::Deny || decoded.verdict.halt {
                decoded.diagnostics.push(
                    Diagnostic::warning(
                        "output.denial-with-exit",
                        format!("it printed a denial and exited with {code}"),
                    )
                    .help("exit 0 after printing JSON, or exit 2 with the reason on stderr"),
                );
                return decoded;
            }
            let (failure, what) = match code {
                126 => (Failure::Start, "exit 126: it could not be executed"),
                127 => (Failure::Start, "exit 127: a command was not found"),
                _ => (Failure::Crash, ""),
            };
            let mut reason = if what.is_empty() { format!("exit {code}") } else { what.to_owned() };
            add_line(&mut reason, stderr);
            return fail(decoded, failure, reason);
        }
        Exit::Signal(signal) => {
            keep_denial(&printed, kind, &mut decoded);
            let mut reason = format!("ended by signal {signal}");
            add_line(&mut reason, stderr);
            return fail(decoded, Failure::Signal, reason);
        }
        Exit::Lost => {
            keep_denial(&printed, kind, &mut decoded);
            return fail(
                decoded,
                Failure::Crash,
                "its exit status was taken by somebody else in this process".into(),
            );
        }
    }
    decoded
}

/// An exit that denies; what stands on stderr is the reason.
fn deny_by_exit(code: i32, stderr: &str, verdict: &mut Verdict) {
    verdict.decision = Decision::Deny;
    verdict.halt |= code == EXIT_HALT;
    if !stderr.is_empty() {
        verdict.reason = Some(stderr.to_owned().into());
    }
}

fn fail(mut decoded: Decoded, failure: Failure, reason: String) -> Decoded {
    decoded.failed = Some(Failed { failure, reason });
    decoded
}

fn stopped_reason(failure: Failure) -> &'static str {
    match failure {
        Failure::Timeout => "it took too long",
        Failure::OutputLimit => "it printed too much",
        _ => "it was ended",
    }
}

fn text_of<'a>(
    bytes: &'a [u8],
    stream: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> std::borrow::Cow<'a, str> {
    let text = String::from_utf8_lossy(bytes);
    if matches!(text, std::borrow::Cow::Owned(_)) {
        let message = format!("{stream} is not valid UTF-8; the bad bytes were replaced");
        diagnostics.push(Diagnostic::warning("output.utf8", message).help("print UTF-8"));
    }
    text
}

/// Exit 0: everything printed counts, and all of it must make sense.
fn read_all(
    printed: &find::Printed<'_>,
    kind: &EventKind,
    contract: &Contract,
    decoded: &mut Decoded,
) {
    match printed {
        find::Printed::Nothing => {}
        find::Printed::Object(fields) => {
            let answer = answer::read(fields, kind);
            decoded.diagnostics.extend(answer.diagnostics);
            decoded.verdict = answer.verdict;
            if let Some(wrong) = answer.wrong
                && !denies(&decoded.verdict)
            {
                decoded.verdict = Verdict::none();
                decoded.failed = Some(Failed { failure: Failure::Output, reason: wrong });
            }
        }
        find::Printed::OtherJson(what) => decoded.diagnostics.push(
            Diagnostic::warning(
                "output.not-an-object",
                format!("the answer is {what}, which says nothing"),
            )
            .help("print one JSON object, or nothing"),
        ),
        find::Printed::Among { answers, broken } => {
            keep_denial(printed, kind, decoded);
            if denies(&decoded.verdict) {
                return;
            }
            if !answers.is_empty() {
                decoded.failed = Some(Failed {
                    failure: Failure::Output,
                    reason: "its JSON answer stands among other text".into(),
                });
                decoded.diagnostics.push(noise());
            } else if let Some(broken) = broken {
                decoded.failed = Some(not_json(broken));
            } else {
                decoded.diagnostics.push(Diagnostic::warning(
                    "output.unknown-keys",
                    "it printed JSON without any key that tenter knows, among other text",
                ));
            }
        }
        find::Printed::Broken(broken) => {
            keep_denial(printed, kind, decoded);
            if !denies(&decoded.verdict) {
                decoded.failed = Some(not_json(broken));
            }
        }
        find::Printed::Text(text) if text.contains('\0') => {
            decoded.failed = Some(Failed {
                failure: Failure::Output,
                reason: "it printed NUL bytes, which is no text; another encoding than UTF-8?"
                    .into(),
            });
        }
        find::Printed::Text(text) => match contract.plain_text {
            PlainText::Context => decoded.verdict = Verdict::none().with_context(*text),
            PlainText::Diagnostic => decoded.diagnostics.push(
                Diagnostic::info(
                    "output.plain-text",
                    "it printed plain text, which means nothing for this event",
                )
                .help(r#"print {"context": "…"} to tell the model, or print to stderr"#),
            ),
        },
    }
}

/// Exit 2 and 49: the exit has decided; the answer may still carry a reason, a context, a message.
fn read_beside_exit(printed: &find::Printed<'_>, kind: &EventKind, decoded: &mut Decoded) {
    if let find::Printed::Object(fields) = printed {
        let answer = answer::read(fields, kind);
        decoded.diagnostics.extend(answer.diagnostics);
        decoded.verdict = answer.verdict;
        if decoded.verdict.decision == Decision::Allow {
            decoded.diagnostics.push(
                Diagnostic::warning(
                    "output.allow-with-deny-exit",
                    "it printed an allow and exited with a denial; the exit counts",
                )
                .help("exit 0 to allow"),
            );
        }
    } else {
        keep_denial(printed, kind, decoded);
    }
}

/// Of an answer that otherwise does not count, what denies or halts.
fn keep_denial(printed: &find::Printed<'_>, kind: &EventKind, decoded: &mut Decoded) {
    let (objects, broken) = match printed {
        find::Printed::Object(fields) => (std::slice::from_ref(fields), None),
        find::Printed::Among { answers, broken } => (answers.as_slice(), broken.as_ref()),
        find::Printed::Broken(broken) => (&[][..], Some(broken)),
        _ => return,
    };
    for fields in objects {
        let answer = answer::read(fields, kind);
        if denies(&answer.verdict) {
            decoded.verdict =
                Verdict::decide(answer.verdict.decision).with_halt(answer.verdict.halt);
            decoded.verdict.reason.clone_from(&answer.verdict.reason);
            decoded.diagnostics.extend(answer.diagnostics);
            if matches!(printed, find::Printed::Among { .. }) {
                decoded.diagnostics.push(noise());
            }
            return;
        }
    }
    if let Some(broken) = broken.filter(|broken| broken.denial) {
        decoded.verdict = Verdict::decide(Decision::Deny);
        decoded.diagnostics.push(broken_json(&broken.error));
    }
}

fn denies(verdict: &Verdict) -> bool {
    verdict.decision == Decision::Deny || verdict.halt
}

fn noise() -> Diagnostic {
    Diagnostic::warning("output.noise-around-json", "there is other text around the JSON answer")
        .help("print only the JSON object on stdout; log to stderr")
}

fn not_json(broken: &find::Broken) -> Failed {
    let reason = format!("its answer begins like JSON and is not: {}", broken.error);
    Failed { failure: Failure::Output, reason }
}

fn broken_json(error: &str) -> Diagnostic {
    Diagnostic::warning("output.broken-json", format!("the denial is not valid JSON: {error}"))
        .help("let a JSON library write the answer, such as jq -n")
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// How many characters of a line on stderr explain a failure; the report has all of it.
const MOST_OF_A_LINE: usize = 500;

fn add_line(reason: &mut String, stderr: &str) {
    let line = first_line(stderr);
    if !line.is_empty() {
        reason.push_str(": ");
        reason.extend(line.chars().take(MOST_OF_A_LINE));
        if line.chars().nth(MOST_OF_A_LINE).is_some() {
            reason.push('…');
        }
    }
}

/// Whether a shell complains about the hook's own command or script: such an exit 2 is no denial.
/// The same words about another file are the hook's own business.
fn is_own_syntax_error(stderr: &str, own_names: &[String]) -> bool {
    stderr.lines().any(|line| {
        let own = own_names
            .iter()
            .any(|name| line.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(':')));
        own && (line.contains("yntax error") || line.contains("unexpected EOF while looking for"))
    })
}

#[cfg(test)]
mod tests;
