//! What a native hook's exit status and output mean.
//!
//! Tolerant for blocking, strict for allowing: a denial that can be recognised denies, whatever
//! stands around it; what cannot be understood is a failure with a diagnostic, never a silent
//! "no opinion".

mod answer;

pub use answer::KEYS as ANSWER_KEYS;

use tenter_core::contract::Contract;
use tenter_core::diagnostic::Diagnostic;
use tenter_core::event::EventKind;
use tenter_core::outcome::Failure;
use tenter_core::verdict::{Decision, Verdict};

use crate::codec::{Decoded, Exit, Ran};
use crate::output::{
    Printed, ReadAnswer, Signs, fail, find, first_line, is_own_syntax_error, keep_denial, read_all,
    read_lost, read_other_exit, read_signal, stopped_reason, text_of,
};

/// Blocks the action; stderr is the reason.
const EXIT_DENY: i32 = 2;
/// Blocks the action and ends the turn.
const EXIT_HALT: i32 = 49;

/// How native answers are told from other JSON.
const SIGNS: Signs = Signs {
    is_answer: answer::is_answer,
    deciding: &["\"decision\"", "\"permissionDecision\"", "\"behavior\""],
    telling: &[
        "\"decision\"",
        "\"permissionDecision\"",
        "\"behavior\"",
        "\"halt\"",
        "\"patch\"",
        "\"replace\"",
        "\"hookSpecificOutput\"",
        "\"updatedInput\"",
    ],
};

/// Decodes what a hook did.
pub fn decode(ran: &Ran<'_>, kind: &EventKind, contract: &Contract) -> Decoded {
    let mut decoded = Decoded::default();
    let stdout = text_of(ran.stdout, "stdout", &mut decoded.diagnostics);
    let stderr = String::from_utf8_lossy(ran.stderr);
    let stderr = stderr.trim();
    let printed = find(&stdout, &SIGNS);
    let read: ReadAnswer<'_> = &|fields| answer::read(fields, kind);

    if let Some(failure) = ran.stopped {
        keep_denial(&printed, read, &mut decoded);
        // It was told to end and answered with an exit of its own: a denial is one then, too.
        if let Exit::Code(code @ (EXIT_DENY | EXIT_HALT)) = ran.exit {
            deny_by_exit(code, stderr, &mut decoded.verdict);
        }
        return fail(decoded, failure, stopped_reason(failure).to_owned());
    }
    match ran.exit {
        Exit::Code(0) => read_all(&printed, read, contract.plain_text, &mut decoded),
        Exit::Code(EXIT_DENY) if is_own_syntax_error(stderr, ran.own_names) => {
            keep_denial(&printed, read, &mut decoded);
            let reason = format!("the shell cannot read it: {}", first_line(stderr));
            return fail(decoded, Failure::Start, reason);
        }
        Exit::Code(code @ (EXIT_DENY | EXIT_HALT)) => {
            read_beside_exit(&printed, read, &mut decoded);
            deny_by_exit(code, stderr, &mut decoded.verdict);
            if decoded.verdict.reason.is_none()
                && let Printed::Text(text) = &printed
            {
                decoded.verdict.reason = Some((*text).to_owned().into());
            }
        }
        Exit::Code(code) => return read_other_exit(code, &printed, stderr, read, decoded),
        Exit::Signal(signal) => return read_signal(signal, &printed, stderr, read, decoded),
        Exit::Lost => return read_lost(&printed, read, decoded),
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

/// Exit 2 and 49: the exit has decided; the answer may still carry a reason, a context, a message.
fn read_beside_exit(printed: &Printed<'_>, read: ReadAnswer<'_>, decoded: &mut Decoded) {
    if let Printed::Object(fields) = printed {
        let answer = read(fields);
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
        keep_denial(printed, read, decoded);
    }
}

#[cfg(test)]
mod tests;
