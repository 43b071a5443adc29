//! What the exit status and output of a hook of hotl mean.
//!
//! The meanings are hotl's. What hotl loses is kept where it holds the action up: exit 2, a denial
//! after a line of log, Claude's `permissionDecision`. What says nothing that hotl understands is
//! reported and does nothing.

mod answer;

use tenter_core::contract::Contract;
use tenter_core::event::EventKind;
use tenter_core::outcome::Failure;
use tenter_core::verdict::{Decision, Verdict};

use crate::codec::{Decoded, Exit, Ran};
use crate::output::{
    Printed, ReadAnswer, Signs, fail, find, first_line, is_own_syntax_error, keep_denial, read_all,
    read_lost, read_other_exit, read_signal, stopped_reason, text_of,
};

/// Denies; stderr is the reason. In the original it is a failure like any other exit (B50).
const EXIT_DENY: i32 = 2;
/// Denies and ends the turn, as it does under every host whose hooks may say so.
const EXIT_HALT: i32 = 49;

/// The reason of a denial that gives none (K40).
pub(super) const DENIED: &str = "denied by a hook";

const SIGNS: Signs = Signs {
    is_answer: answer::is_answer,
    deciding: &["\"decision\"", "\"permissionDecision\""],
    telling: &["\"decision\"", "\"permissionDecision\"", "\"hookSpecificOutput\"", "\"result\""],
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
            decoded.verdict = denial(code, stderr, &printed, &decoded.verdict);
        }
        return fail(decoded, failure, stopped_reason(failure).to_owned());
    }
    match ran.exit {
        Exit::Code(0) => {
            read_all(&printed, read, contract.plain_text, &mut decoded);
            decoded
        }
        Exit::Code(EXIT_DENY) if is_own_syntax_error(stderr, ran.own_names) => {
            keep_denial(&printed, read, &mut decoded);
            let reason = format!("the shell cannot read it: {}", first_line(stderr));
            fail(decoded, Failure::Start, reason)
        }
        Exit::Code(code @ (EXIT_DENY | EXIT_HALT)) => {
            keep_denial(&printed, read, &mut decoded);
            decoded.verdict = denial(code, stderr, &printed, &decoded.verdict);
            decoded
        }
        Exit::Code(code) => read_other_exit(code, &printed, stderr, read, decoded),
        Exit::Signal(signal) => read_signal(signal, &printed, stderr, read, decoded),
        Exit::Lost => read_lost(&printed, read, decoded),
    }
}

/// The denial of an exit: the reason is what stands on stderr, else what was printed.
fn denial(code: i32, stderr: &str, printed: &Printed<'_>, said: &Verdict) -> Verdict {
    let verdict = Verdict::decide(Decision::Deny).with_halt(code == EXIT_HALT || said.halt);
    match (stderr, &said.reason, printed) {
        ("", Some(reason), _) => verdict.because(reason.clone()),
        ("", None, Printed::Text(text)) => verdict.because((*text).to_owned()),
        ("", None, _) => verdict.because(DENIED),
        (stderr, ..) => verdict.because(stderr.to_owned()),
    }
}

#[cfg(test)]
mod tests;
