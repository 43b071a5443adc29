//! What hooks of hotl print and how they exit, and what it means.

use tenter_core::diagnostic::Diagnostic;
use tenter_core::verdict::Rewrite;

use super::*;
use crate::hotl::PROFILE;

fn ran(kind: &EventKind, code: i32, stdout: &str, stderr: &str) -> Decoded {
    let own_names = ["guard.sh".to_owned()];
    let ran = Ran {
        exit: Exit::Code(code),
        stopped: None,
        stdout: stdout.as_bytes(),
        stderr: stderr.as_bytes(),
        own_names: &own_names,
    };
    decode(&ran, kind, PROFILE.contract(kind))
}

fn pre(stdout: &str) -> Decoded {
    ran(&EventKind::PreToolUse, 0, stdout, "")
}

fn codes(decoded: &Decoded) -> Vec<&str> {
    decoded.diagnostics.iter().map(|one: &Diagnostic| one.code).collect()
}

fn content(decoded: &Decoded) -> Option<String> {
    match decoded.verdict.rewrite()? {
        Rewrite::Patch(fields) => Some(fields.get("content")?.as_str()?.into_owned()),
        Rewrite::Replace(_) => None,
    }
}

#[test]
fn k40_a_denial_has_its_message_or_a_default() {
    for (printed, reason) in [
        (r#"{"decision":"deny","message":"no"}"#, "no"),
        (r#"{"decision":"deny"}"#, DENIED),
        (r#"{"decision":"deny","message":""}"#, DENIED),
        (r#"{"decision":"deny","message":7}"#, DENIED),
        (r#"{"decision":"deny","reason":"elsewhere"}"#, "elsewhere"),
        (r#"{"decision":"deny","message":"own","reason":"other"}"#, "own"),
    ] {
        let decoded = pre(printed);
        assert_eq!(decoded.verdict.decision, Decision::Deny, "{printed}");
        assert_eq!(decoded.verdict.reason.as_deref(), Some(reason), "{printed}");
        assert_eq!(decoded.failed, None, "{printed}");
    }
}

#[test]
fn b51_b52_a_denial_is_one_however_it_is_written() {
    for printed in [
        r#"{"decision":"DENY"}"#,
        r#"{"decision":"block"}"#,
        r#"{"decision":"continue","decision":"deny"}"#,
        r#"{"decision":"deny","decision":"continue"}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#,
        r#"{"permissionDecision":"deny"}"#,
        r#"{"continue":false}"#,
        "checking the call…\n{\"decision\":\"deny\"}",
        "{\"decision\":\"deny\"} bye",
        r#"{"decision":"deny", oops}"#,
    ] {
        let decoded = pre(printed);
        assert_eq!(decoded.verdict.decision, Decision::Deny, "{printed}: {decoded:?}");
        assert_eq!(decoded.failed, None, "{printed}");
    }
}

#[test]
fn an_ask_is_one_and_an_allow_is_nothing() {
    let ask =
        r#"{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"sure?"}}"#;
    let decoded = pre(ask);
    assert_eq!(decoded.verdict, Verdict::ask("sure?"));
    assert_eq!(pre(r#"{"decision":"ask"}"#).verdict.decision, Decision::Ask);
    let allow = r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#;
    assert!(pre(allow).verdict.is_silent());
    let decoded = pre(r#"{"decision":"allow"}"#);
    assert!(decoded.verdict.is_silent());
    assert_eq!(codes(&decoded), ["output.unknown-decision"]);
}

#[test]
fn k41_a_rewrite_is_the_whole_input_and_needs_one() {
    let decoded = pre(r#"{"decision":"rewrite","input":{"command":"ls"}}"#);
    let Some(Rewrite::Replace(input)) = decoded.verdict.rewrite() else { panic!("{decoded:?}") };
    assert_eq!(input.as_text(), r#"{"command":"ls"}"#);
    assert_eq!(decoded.verdict.decision, Decision::None);

    for (printed, code) in [
        (r#"{"decision":"rewrite"}"#, "output.empty-rewrite"),
        (r#"{"input":{"command":"ls"}}"#, "output.no-effect"),
        (r#"{"decision":"continue","input":{}}"#, "output.no-effect"),
        (r#"{"hookSpecificOutput":{"updatedInput":{"command":"ls"}}}"#, "output.no-effect"),
    ] {
        let decoded = pre(printed);
        assert!(decoded.verdict.is_silent(), "{printed}: {decoded:?}");
        assert_eq!(decoded.failed, None, "{printed}");
        assert_eq!(codes(&decoded), [code], "{printed}");
    }
}

#[test]
fn k42_a_result_is_replaced_by_a_text_that_is_not_empty() {
    let post = |stdout| ran(&EventKind::PostToolUse, 0, stdout, "");
    assert_eq!(content(&post(r#"{"result":"x"}"#)).as_deref(), Some("x"));
    assert_eq!(content(&post(r#"{"decision":"rewrite","result":""}"#)).as_deref(), Some(""));
    for (printed, said) in [
        (r#"{"result":""}"#, &["output.empty-result"][..]),
        (r#"{"result":7}"#, &["output.wrong-type"]),
        (r#"{"result":null}"#, &[]),
        (r#"{"decision":"rewrite","input":{}}"#, &["output.no-effect", "output.empty-rewrite"]),
        ("", &[]),
    ] {
        let decoded = post(printed);
        assert!(decoded.verdict.is_silent() && decoded.failed.is_none(), "{printed}");
        assert_eq!(codes(&decoded), said, "{printed}");
    }
}

#[test]
fn k43_b53_a_prompt_gets_context_from_the_envelope_or_from_plain_text() {
    let prompt = |stdout| ran(&EventKind::UserPromptSubmit, 0, stdout, "");
    let decoded = prompt(r#"{"hookSpecificOutput":{"additionalContext":"be kind"}}"#);
    assert_eq!(decoded.verdict.context(), Some("be kind"));
    assert_eq!(prompt("be quick\n").verdict.context(), Some("be quick"));
    for printed in [
        r#"{"additionalContext":"x"}"#,
        r#"{"hookSpecificOutput":{"additionalContext":7}}"#,
        r#"{"hookSpecificOutput":{"additionalContext":""}}"#,
    ] {
        assert_eq!(prompt(printed).verdict.context(), None, "{printed}");
    }
    let elsewhere = pre(r#"{"hookSpecificOutput":{"additionalContext":"x"}}"#);
    assert_eq!(elsewhere.verdict.context(), None);
    assert_eq!(codes(&elsewhere), ["output.no-effect"]);
}

#[test]
fn k44_an_end_of_a_turn_is_blocked_with_a_reason() {
    let stop = |stdout| ran(&EventKind::Stop, 0, stdout, "");
    assert_eq!(stop(r#"{"decision":"block","reason":"tests"}"#).verdict, Verdict::deny("tests"));
    assert_eq!(stop(r#"{"decision":"block"}"#).verdict, Verdict::deny(DENIED));
    for printed in [r#"{"decision":"continue"}"#, r#"{"reason":"x"}"#, "", "fine"] {
        assert!(stop(printed).verdict.is_silent(), "{printed}");
    }
}

#[test]
fn b50_an_exit_2_denies_and_other_exits_fail() {
    let kind = EventKind::PreToolUse;
    assert_eq!(ran(&kind, 2, "", "not here\n").verdict, Verdict::deny("not here"));
    assert_eq!(ran(&kind, 2, "from stdout", "").verdict, Verdict::deny("from stdout"));
    assert_eq!(ran(&kind, 2, "", "").verdict, Verdict::deny(DENIED));
    assert!(ran(&kind, 49, "", "stop it").verdict.halt);
    for (code, stdout, stderr, failure) in [
        (1, "", "boom", Failure::Crash),
        (127, "", "sh: nothere: not found", Failure::Start),
        (1, r#"{"decision":"continue"}"#, "", Failure::Crash),
        (2, "", "guard.sh: line 3: syntax error near `fi'", Failure::Start),
    ] {
        let decoded = ran(&kind, code, stdout, stderr);
        assert_eq!(decoded.failed.map(|failed| failed.failure), Some(failure), "{stderr}");
        assert!(decoded.verdict.is_silent());
    }
    let decoded = ran(&kind, 1, r#"{"decision":"deny","message":"no"}"#, "");
    assert_eq!((decoded.verdict, decoded.failed), (Verdict::deny("no"), None));
}

#[test]
fn b51_what_is_not_understood_is_never_silent() {
    for printed in [
        "all fine",
        "[1]",
        "{}x",
        r#"{"descision":"deny"}"#,
        r#"{"decision":7}"#,
        r#"{"decision":"contniue"}"#,
        "log\n{\"decision\":\"continue\"}",
        "{\"decision\":",
    ] {
        let decoded = pre(printed);
        assert!(
            decoded.failed.is_some() || !decoded.diagnostics.is_empty(),
            "{printed}: {decoded:?}"
        );
        assert_eq!(decoded.verdict.decision, Decision::None, "{printed}");
    }
}

#[test]
fn a_denial_that_was_said_before_the_time_was_up_stands() {
    let ran = Ran {
        exit: Exit::Signal(15),
        stopped: Some(Failure::Timeout),
        stdout: br#"{"decision":"deny","message":"no"}"#,
        stderr: b"",
        own_names: &[],
    };
    let kind = EventKind::PreToolUse;
    let decoded = decode(&ran, &kind, PROFILE.contract(&kind));
    assert_eq!(decoded.verdict, Verdict::deny("no"));
    assert_eq!(decoded.failed.map(|failed| failed.failure), Some(Failure::Timeout));
}
