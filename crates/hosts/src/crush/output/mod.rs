//! What the exit status and output of a hook of Crush mean.
//!
//! The meanings are Crush's. What Crush loses is kept where it denies: a denial beside a value of
//! the wrong type, among other text, or with another exit still denies, with a diagnostic.

mod answer;

use tenter_core::contract::Contract;
use tenter_core::diagnostic::Diagnostic;
use tenter_core::verdict::{Decision, Verdict};

use crate::codec::{Decoded, Exit, Ran};
use crate::output::{
    ReadAnswer, Signs, fail, find, first_line, is_own_syntax_error, keep_denial, read_all,
    read_lost, read_other_exit, read_signal, stopped_reason, text_of,
};

/// Blocks the call; stderr is the reason.
pub const DENY_EXIT_CODE: i32 = 2;
/// Blocks the call and ends the turn.
pub const HALT_EXIT_CODE: i32 = 49;
/// The newest form of an answer. A newer one is read all the same.
pub const SUPPORTED_OUTPUT_VERSION: u64 = 1;

/// The reason of an exit that denies and says nothing.
const BLOCKED: &str = "blocked by hook";
/// The reason of an exit that halts and says nothing.
const HALTED: &str = "turn halted by hook";

const SIGNS: Signs = Signs {
    is_answer: answer::is_answer,
    deciding: &["\"decision\"", "\"Decision\"", "\"DECISION\"", "\"permissionDecision\""],
    telling: &[
        "\"decision\"",
        "\"permissionDecision\"",
        "\"halt\"",
        "\"updated_input\"",
        "\"hookSpecificOutput\"",
        "\"updatedInput\"",
    ],
};

/// Decodes what a hook did.
pub fn decode(ran: &Ran<'_>, contract: &Contract) -> Decoded {
    let mut decoded = Decoded::default();
    let stderr = String::from_utf8_lossy(ran.stderr);
    let stderr = stderr.trim();
    // An exit that denies has said everything: stdout is not looked at.
    if let Exit::Code(code @ (DENY_EXIT_CODE | HALT_EXIT_CODE)) = ran.exit {
        decoded.verdict = denial(code, stderr);
        if let Some(failure) = ran.stopped {
            return fail(decoded, failure, stopped_reason(failure).to_owned());
        }
        if code == DENY_EXIT_CODE && is_own_syntax_error(stderr, ran.own_names) {
            let message = format!(
                "the shell could not read the hook, and its exit 2 denies: {}",
                first_line(stderr)
            );
            decoded.diagnostics.push(
                Diagnostic::warning("output.accidental-denial", message).help("mend the script"),
            );
        }
        return decoded;
    }
    let stdout = text_of(ran.stdout, "stdout", &mut decoded.diagnostics);
    let printed = find(&stdout, &SIGNS);
    let read: ReadAnswer<'_> = &answer::read;
    if let Some(failure) = ran.stopped {
        keep_denial(&printed, read, &mut decoded);
        return fail(decoded, failure, stopped_reason(failure).to_owned());
    }
    match ran.exit {
        Exit::Code(0) => {
            read_all(&printed, read, contract.plain_text, &mut decoded);
            decoded
        }
        Exit::Code(code) => read_other_exit(code, &printed, stderr, read, decoded),
        Exit::Signal(signal) => read_signal(signal, &printed, stderr, read, decoded),
        Exit::Lost => read_lost(&printed, read, decoded),
    }
}

fn denial(code: i32, stderr: &str) -> Verdict {
    let halts = code == HALT_EXIT_CODE;
    let verdict = Verdict::decide(Decision::Deny).with_halt(halts);
    if stderr.is_empty() {
        verdict.because(if halts { HALTED } else { BLOCKED })
    } else {
        verdict.because(stderr.to_owned())
    }
}

#[cfg(test)]
mod tests;
