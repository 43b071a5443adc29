//! What every host's codec has in common: finding the answer in what a hook printed, keeping a
//! denial whatever stands around it, and naming failures.
//!
//! Tolerant for blocking, strict for allowing. What the keys of an answer mean, and which exit
//! denies, is each codec's own.

mod find;

use std::borrow::Cow;

use tenter_core::contract::PlainText;
use tenter_core::diagnostic::Diagnostic;
use tenter_core::json::Fields;
use tenter_core::outcome::Failure;
use tenter_core::verdict::{Decision, Verdict};

use crate::codec::{Decoded, Failed};

pub(crate) use find::{Printed, Signs, find};

/// What an object says.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    /// What makes it not understood, unless it denies.
    pub(crate) wrong: Option<String>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads an object that a hook printed.
pub(crate) type ReadAnswer<'a> = &'a dyn Fn(&Fields) -> Answer;

/// Another exit than those that mean something: a failure, unless a denial was printed.
pub(crate) fn read_other_exit(
    code: i32,
    printed: &Printed<'_>,
    stderr: &str,
    read: ReadAnswer<'_>,
    mut decoded: Decoded,
) -> Decoded {
    keep_denial(printed, read, &mut decoded);
    if denies(&decoded.verdict) {
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
    fail(decoded, failure, reason)
}

/// The end by a signal: a failure, beside which a denial counts.
pub(crate) fn read_signal(
    signal: i32,
    printed: &Printed<'_>,
    stderr: &str,
    read: ReadAnswer<'_>,
    mut decoded: Decoded,
) -> Decoded {
    keep_denial(printed, read, &mut decoded);
    let mut reason = format!("ended by signal {signal}");
    add_line(&mut reason, stderr);
    fail(decoded, Failure::Signal, reason)
}

/// An exit status that somebody else took: a failure, beside which a denial counts.
pub(crate) fn read_lost(
    printed: &Printed<'_>,
    read: ReadAnswer<'_>,
    mut decoded: Decoded,
) -> Decoded {
    keep_denial(printed, read, &mut decoded);
    let reason = "its exit status was taken by somebody else in this process";
    fail(decoded, Failure::Crash, reason.into())
}

/// A failure.
pub(crate) fn fail(mut decoded: Decoded, failure: Failure, reason: String) -> Decoded {
    decoded.failed = Some(Failed { failure, reason });
    decoded
}

pub(crate) fn stopped_reason(failure: Failure) -> &'static str {
    match failure {
        Failure::Timeout => "it took too long",
        Failure::OutputLimit => "it printed too much",
        _ => "it was ended",
    }
}

pub(crate) fn text_of<'a>(
    bytes: &'a [u8],
    stream: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Cow<'a, str> {
    let text = String::from_utf8_lossy(bytes);
    if matches!(text, Cow::Owned(_)) {
        let message = format!("{stream} is not valid UTF-8; the bad bytes were replaced");
        diagnostics.push(Diagnostic::warning("output.utf8", message).help("print UTF-8"));
    }
    text
}

/// Exit 0: everything printed counts, and all of it must make sense.
pub(crate) fn read_all(
    printed: &Printed<'_>,
    read: ReadAnswer<'_>,
    plain_text: PlainText,
    decoded: &mut Decoded,
) {
    match printed {
        Printed::Nothing => {}
        Printed::Object(fields) => {
            let answer = read(fields);
            decoded.diagnostics.extend(answer.diagnostics);
            decoded.verdict = answer.verdict;
            if let Some(wrong) = answer.wrong
                && !denies(&decoded.verdict)
            {
                decoded.verdict = Verdict::none();
                decoded.failed = Some(Failed { failure: Failure::Output, reason: wrong });
            }
        }
        Printed::OtherJson(what) => decoded.diagnostics.push(
            Diagnostic::warning(
                "output.not-an-object",
                format!("the answer is {what}, which says nothing"),
            )
            .help("print one JSON object, or nothing"),
        ),
        Printed::Among { answers, broken } => {
            keep_denial(printed, read, decoded);
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
        Printed::Broken(broken) => {
            keep_denial(printed, read, decoded);
            if !denies(&decoded.verdict) {
                decoded.failed = Some(not_json(broken));
            }
        }
        Printed::Text(text) if text.contains('\0') => {
            decoded.failed = Some(Failed {
                failure: Failure::Output,
                reason: "it printed NUL bytes, which is no text; another encoding than UTF-8?"
                    .into(),
            });
        }
        Printed::Text(text) => match plain_text {
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

/// Of an answer that otherwise does not count, what denies or halts.
pub(crate) fn keep_denial(printed: &Printed<'_>, read: ReadAnswer<'_>, decoded: &mut Decoded) {
    let (objects, broken) = match printed {
        Printed::Object(fields) => (std::slice::from_ref(fields), None),
        Printed::Among { answers, broken } => (answers.as_slice(), broken.as_ref()),
        Printed::Broken(broken) => (&[][..], Some(broken)),
        _ => return,
    };
    for fields in objects {
        let answer = read(fields);
        if denies(&answer.verdict) {
            decoded.verdict =
                Verdict::decide(answer.verdict.decision).with_halt(answer.verdict.halt);
            decoded.verdict.reason.clone_from(&answer.verdict.reason);
            decoded.diagnostics.extend(answer.diagnostics);
            if matches!(printed, Printed::Among { .. }) {
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

pub(crate) fn first_line(text: &str) -> &str {
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
pub(crate) fn is_own_syntax_error(stderr: &str, own_names: &[String]) -> bool {
    stderr.lines().any(|line| {
        let own = own_names
            .iter()
            .any(|name| line.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(':')));
        own && (line.contains("yntax error") || line.contains("unexpected EOF while looking for"))
    })
}
