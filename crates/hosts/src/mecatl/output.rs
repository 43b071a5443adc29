//! What the exit status and output of a hook of mecatl mean.
//!
//! Exit 0 with an object is an envelope `{mutated, message}`, with any other text a message; exit 2
//! blocks, and stdout says why before stderr does; every other exit is an error. What mecatl takes for
//! a rewrite and is none is told and not applied, and a denial in a form that other agents know denies.

use std::borrow::Cow;

use tenter_core::contract::{Contract, Rewrites};
use tenter_core::diagnostic::Diagnostic;
use tenter_core::event::EventKind;
use tenter_core::json::{Fields, Json};
use tenter_core::outcome::Failure;
use tenter_core::verdict::{Decision, Rewrite, Verdict};

use super::profile::phase;
use crate::codec::{Decoded, Exit, Ran};
use crate::output::{
    Answer, Printed, Signs, fail, find, first_line, is_own_syntax_error, keep_denial, read_lost,
    read_other_exit, read_signal, stopped_reason, text_of,
};

/// Blocks the action.
pub const BLOCK_EXIT_CODE: i32 = 2;

/// The keys of the envelope. Their letter case does not matter, as it does not to mecatl.
const MUTATED: &str = "mutated";
const MESSAGE: &str = "message";
/// Keys under which other agents' hooks decide.
const DECIDING: [&str; 3] = ["decision", "permissionDecision", "block"];
/// What holds the keys of Claude's form.
const CLAUDE: &str = "hookSpecificOutput";

const SIGNS: Signs = Signs {
    is_answer,
    deciding: &["\"decision\"", "\"Decision\"", "\"permissionDecision\"", "\"block\""],
    telling: &[
        "\"mutated\"",
        "\"Mutated\"",
        "\"decision\"",
        "\"permissionDecision\"",
        "\"hookSpecificOutput\"",
    ],
};

/// Decodes what a hook did.
pub fn decode(ran: &Ran<'_>, kind: &EventKind, contract: &Contract) -> Decoded {
    let mut decoded = Decoded::default();
    let stderr = String::from_utf8_lossy(ran.stderr);
    let stderr = stderr.trim();
    let stdout = text_of(ran.stdout, "stdout", &mut decoded.diagnostics);
    if ran.exit == Exit::Code(BLOCK_EXIT_CODE) {
        decoded.verdict = Verdict::deny(block_message(stdout.trim(), stderr, kind));
        if let Some(failure) = ran.stopped {
            return fail(decoded, failure, stopped_reason(failure).to_owned());
        }
        // It blocks as in mecatl, and shows as what it is; where a block is only a remark, its
        // failure policy speaks.
        if is_own_syntax_error(stderr, ran.own_names) {
            let reason = format!("the shell cannot read it: {}", first_line(stderr));
            return fail(decoded, Failure::Start, reason);
        }
        return decoded;
    }
    let printed = find(&stdout, &SIGNS);
    let read = |fields: &Fields| envelope(fields, contract);
    if let Some(failure) = ran.stopped {
        keep_denial(&printed, &read, &mut decoded);
        return fail(decoded, failure, stopped_reason(failure).to_owned());
    }
    match ran.exit {
        Exit::Code(0) => {
            allowed(&printed, stdout.trim(), contract, &mut decoded);
            decoded
        }
        Exit::Code(code) => read_other_exit(code, &printed, stderr, &read, decoded),
        Exit::Signal(signal) => read_signal(signal, &printed, stderr, &read, decoded),
        Exit::Lost => read_lost(&printed, &read, decoded),
    }
}

/// Why a hook blocks: what it printed, else what it printed on the side, else the phase's own words.
fn block_message(stdout: &str, stderr: &str, kind: &EventKind) -> String {
    let own = [stdout, stderr].into_iter().find(|text| !text.is_empty());
    own.map_or_else(
        || format!("blocked by the {} hook", phase(kind).unwrap_or_else(|| kind.name())),
        str::to_owned,
    )
}

/// Exit 0: an envelope, or a message.
fn allowed(printed: &Printed<'_>, stdout: &str, contract: &Contract, decoded: &mut Decoded) {
    keep_denial(printed, &|fields| envelope(fields, contract), decoded);
    if decoded.verdict.decision == Decision::Deny || decoded.verdict.halt {
        return;
    }
    match printed {
        Printed::Nothing => {}
        Printed::Object(fields) => {
            let answer = envelope(fields, contract);
            decoded.diagnostics.extend(answer.diagnostics);
            decoded.verdict = answer.verdict;
        }
        Printed::Broken(broken) => {
            let what = format!("it begins like an envelope and is not JSON ({})", broken.error);
            decoded.diagnostics.push(
                Diagnostic::info("output.broken-json", format!("{what}: it counts as a message"))
                    .help("let a JSON library write the envelope, such as jq -n"),
            );
            decoded.verdict = said(stdout);
            decoded.unclear = Some(what);
        }
        Printed::Among { answers, broken } => {
            decoded.verdict = said(stdout);
            if !answers.is_empty() || broken.is_some() {
                let what = "there is other text around its envelope";
                decoded.diagnostics.push(
                    Diagnostic::warning(
                        "output.noise-around-json",
                        format!("{what}: all of it counts as a message"),
                    )
                    .help("print only the JSON object on stdout; log to stderr"),
                );
                decoded.unclear = Some(what.to_owned());
            }
            // A question holds the call up, so it counts wherever it stands.
            let asks = answers.iter().map(|fields| envelope(fields, contract).verdict);
            if let Some(asks) = asks.into_iter().find(|one| one.decision == Decision::Ask) {
                decoded.verdict = asks;
            }
        }
        Printed::OtherJson(_) | Printed::Text(_) => decoded.verdict = said(stdout),
    }
}

fn said(message: &str) -> Verdict {
    Verdict::none().with_message(message)
}

/// Whether an object is an envelope, or decides in a form of another agent.
fn is_answer(fields: &Fields) -> bool {
    fields.iter().any(|(key, value)| {
        [MUTATED, MESSAGE].iter().any(|known| key.eq_ignore_ascii_case(known))
            || foreign(key, value) != Decision::None
    })
}

/// What holds a call up under a key of another agent's form.
fn foreign(key: &str, value: &Json) -> Decision {
    let is = |known: &str| key.eq_ignore_ascii_case(known);
    if is(CLAUDE) {
        let inner = value.to_fields().unwrap_or_default();
        let inner = inner.iter().map(|(key, value)| foreign(key, value));
        return inner.max().unwrap_or_default();
    }
    let flag = value.as_bool();
    if (is("continue") && flag == Some(false)) || (is("halt") && flag == Some(true)) {
        return Decision::Deny;
    }
    if !DECIDING.iter().any(|known| is(known)) {
        return Decision::None;
    }
    let word = value.as_str().map(|word| word.trim().to_ascii_lowercase());
    match word.as_deref() {
        _ if flag == Some(true) => Decision::Deny,
        Some("deny" | "block") => Decision::Deny,
        Some("ask") => Decision::Ask,
        _ => Decision::None,
    }
}

/// What an object says.
fn envelope(fields: &Fields, contract: &Contract) -> Answer {
    let decision = fields.iter().map(|(key, value)| foreign(key, value)).max().unwrap_or_default();
    if decision != Decision::None {
        return in_foreign_words(fields, decision);
    }
    let mut answer = Answer::default();
    if let Some(key) = fields.first_duplicate() {
        answer.diagnostics.push(
            Diagnostic::warning("output.duplicate-key", format!("the envelope has `{key}` twice"))
                .help("the last one counts; keep one"),
        );
    }
    if !fields.is_empty() && !is_answer(fields) {
        let message = "the object has neither `mutated` nor `message`, so it says nothing";
        answer.diagnostics.push(
            Diagnostic::warning("output.unknown-keys", message)
                .help(r#"print {"mutated": …, "message": "…"}"#),
        );
    }
    let mut verdict = Verdict::none();
    for (key, value) in fields.iter() {
        if key.eq_ignore_ascii_case(MUTATED) {
            if value.is_null() {
                answer.diagnostics.push(
                    Diagnostic::info(
                        "output.null-rewrite",
                        "`mutated` is null, which changes nothing",
                    )
                    .help("leave it out"),
                );
            } else if contract.rewrites == Rewrites::Nothing {
                answer.diagnostics.push(Diagnostic::info(
                    "output.no-effect",
                    "`mutated` means nothing in this phase",
                ));
            } else {
                verdict = verdict.with_rewrite(Rewrite::Replace(value.clone()));
            }
        } else if key.eq_ignore_ascii_case(MESSAGE) {
            // A message of another type takes no rewrite with it.
            match value.as_str() {
                Some(text) => verdict = verdict.with_message(text.trim()),
                None if value.is_null() => {}
                None => answer.diagnostics.push(
                    Diagnostic::warning("output.wrong-type", "`message` is no text")
                        .help(r#"write "message": "…""#),
                ),
            }
        }
    }
    answer.verdict = verdict;
    answer
}

/// What an object says that decides in the form of another agent. An ask is a block that a human may
/// lift: the one way in which a command can ask, since no exit code of mecatl's does.
fn in_foreign_words(fields: &Fields, decision: Decision) -> Answer {
    let text = |value: Option<Json>| value?.as_str().map(Cow::into_owned);
    let inner = |key: &str| fields.get(CLAUDE)?.get(key);
    let reason = text(fields.get(MESSAGE).cloned())
        .or_else(|| text(fields.get("reason").cloned()))
        .or_else(|| text(inner("permissionDecisionReason")))
        .or_else(|| text(fields.get("stopReason").cloned()));
    let mut answer = Answer { verdict: Verdict::decide(decision), ..Answer::default() };
    answer.verdict.reason = reason.map(Into::into);
    if decision == Decision::Deny {
        answer.diagnostics.push(
            Diagnostic::warning("output.foreign-denial", "it denies in the form of another agent")
                .help("exit 2 after printing the message"),
        );
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mecatl::PROFILE;

    fn ran(code: i32, stdout: &str, stderr: &str, kind: &EventKind) -> Decoded {
        let ran = Ran {
            exit: Exit::Code(code),
            stopped: None,
            stdout: stdout.as_bytes(),
            stderr: stderr.as_bytes(),
            own_names: &[],
        };
        decode(&ran, kind, PROFILE.contract(kind))
    }

    fn pre(code: i32, stdout: &str, stderr: &str) -> Decoded {
        ran(code, stdout, stderr, &EventKind::PreToolUse)
    }

    fn codes(decoded: &Decoded) -> Vec<&str> {
        decoded.diagnostics.iter().map(|one| one.code).collect()
    }

    #[test]
    fn k7_k8_k9_k10_exit_0_is_an_envelope_or_a_message() {
        assert_eq!(pre(0, "", "x").verdict, Verdict::none());
        assert_eq!(pre(0, "  all fine \n", "").verdict.message(), Some("all fine"));
        assert_eq!(pre(0, "[1]", "").verdict.message(), Some("[1]"));
        let both = pre(0, r#"{"mutated":{"command":"ls"},"message":"safer"}"#, "").verdict;
        assert_eq!(both.message(), Some("safer"));
        let replaced = Json::parse(r#"{"command":"ls"}"#).unwrap();
        assert_eq!(both.rewrite(), Some(&Rewrite::Replace(replaced)));
        let only = pre(0, r#"{"message":"a"}"#, "").verdict;
        assert_eq!((only.message(), only.rewrite()), (Some("a"), None));
    }

    #[test]
    fn k11_b33_what_is_no_envelope_is_told() {
        let broken = pre(0, "{oops", "");
        assert_eq!(
            (broken.verdict.message(), codes(&broken)),
            (Some("{oops"), vec!["output.broken-json"])
        );
        let other = pre(0, r#"{"status":"ok"}"#, "");
        assert_eq!(
            (other.verdict.clone(), codes(&other)),
            (Verdict::none(), vec!["output.unknown-keys"])
        );
        assert!(other.failed.is_none());
        assert!(codes(&pre(0, "{}", "")).is_empty());
    }

    #[test]
    fn k12_k13_k14_exit_2_blocks_and_stdout_says_why_before_stderr() {
        for (stdout, stderr, reason) in [
            ("from stdout\n", "from stderr", "from stdout"),
            ("  \n", " from stderr ", "from stderr"),
            ("", "", "blocked by the PreToolUse hook"),
            (r#"{"message":"raw"}"#, "", r#"{"message":"raw"}"#),
        ] {
            let verdict = pre(2, stdout, stderr).verdict;
            assert_eq!(
                (verdict.decision, verdict.reason.as_deref()),
                (Decision::Deny, Some(reason))
            );
        }
    }

    #[test]
    fn k15_k16_every_other_exit_is_an_error() {
        for (code, failure) in
            [(1, Failure::Crash), (3, Failure::Crash), (126, Failure::Start), (127, Failure::Start)]
        {
            let failed = pre(code, "out", "err").failed.unwrap();
            assert_eq!(failed.failure, failure);
            assert!(failed.reason.contains(&code.to_string()), "{}", failed.reason);
        }
    }

    #[test]
    fn b32_null_changes_nothing() {
        let decoded = pre(0, r#"{"mutated":null}"#, "");
        assert_eq!(
            (decoded.verdict.clone(), codes(&decoded)),
            (Verdict::none(), vec!["output.null-rewrite"])
        );
    }

    #[test]
    fn a_denial_that_can_be_recognised_denies() {
        for (code, stdout) in [
            (0, r#"{"decision":"deny","reason":"no"}"#),
            (0, "log line\n{\"decision\":\"block\",\"message\":\"no\"}"),
            (
                0,
                r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
            ),
            (1, r#"{"block":true,"message":"no"}"#),
            (0, r#"{"mutated":{"command":"ls"},"Decision":"DENY","reason":"no"}"#),
            (0, r#"{"continue":false,"stopReason":"no"}"#),
            (0, r#"{"decision":"ask","block":true,"reason":"no"}"#),
        ] {
            let decoded = pre(code, stdout, "");
            let verdict = &decoded.verdict;
            assert_eq!(
                (verdict.decision, verdict.reason.as_deref()),
                (Decision::Deny, Some("no")),
                "{stdout}"
            );
            assert!(verdict.rewrite().is_none());
        }
        assert_eq!(
            pre(0, "I would deny this, \"decision\": \"deny\"", "").verdict.decision,
            Decision::None
        );
    }

    #[test]
    fn a_rewrite_where_nothing_can_be_rewritten_is_told() {
        let decoded = ran(0, r#"{"mutated":{}}"#, "", &EventKind::SessionStart);
        assert_eq!(
            (decoded.verdict.clone(), codes(&decoded)),
            (Verdict::none(), vec!["output.no-effect"])
        );
    }

    #[test]
    fn a_command_asks_with_a_word_and_what_asks_rewrites_nothing() {
        for stdout in [
            r#"{"decision":"ask","message":"sure?"}"#,
            r#"{"mutated":{"command":"ls"},"decision":"ask","reason":"sure?"}"#,
            "log line\n{\"decision\":\"ask\",\"reason\":\"sure?\"}",
            r#"{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}"#,
        ] {
            let verdict = pre(0, stdout, "").verdict;
            assert_eq!(
                (verdict.decision, verdict.reason.as_deref()),
                (Decision::Ask, Some("sure?")),
                "{stdout}"
            );
            assert!(verdict.rewrite().is_none());
        }
        assert_eq!(pre(2, r#"{"decision":"ask"}"#, "").verdict.decision, Decision::Deny);
    }

    #[test]
    fn letter_case_and_a_message_of_another_type_lose_no_rewrite() {
        let replaced = Rewrite::Replace(Json::parse(r#"{"command":"ls"}"#).unwrap());
        for stdout in [
            r#"{"Mutated":{"command":"ls"},"Message":"m"}"#,
            r#"{"message":5,"mutated":{"command":"ls"}}"#,
            r#"{"mutated":null,"MUTATED":{"command":"ls"}}"#,
        ] {
            assert_eq!(pre(0, stdout, "").verdict.rewrite(), Some(&replaced), "{stdout}");
        }
    }

    #[test]
    fn what_was_meant_as_an_envelope_and_is_none_is_unclear() {
        for stdout in ["{oops", "{\"mutated\":{}} done", "log\n{\"mutated\":{}}", "{\"mutated\":"] {
            let decoded = pre(0, stdout, "");
            assert!(decoded.unclear.is_some() && decoded.failed.is_none(), "{stdout}");
        }
        for stdout in ["", "fine", "made {} of it", "[1]", r#"{"message":"a"}"#] {
            assert_eq!(pre(0, stdout, "").unclear, None, "{stdout}");
        }
    }
}
