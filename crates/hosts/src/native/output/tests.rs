//! One table row a rule.

use tenter_core::verdict::Rewrite;

use super::*;
use crate::native::PROFILE;

fn decode_as(kind: &EventKind, exit: Exit, stdout: &str, stderr: &str) -> Decoded {
    let own_names = ["/bin/sh".to_owned(), "./guard.sh".to_owned()];
    let ran = Ran {
        exit,
        stopped: None,
        stdout: stdout.as_bytes(),
        stderr: stderr.as_bytes(),
        own_names: &own_names,
    };
    decode(&ran, kind, PROFILE.contract(kind))
}

fn pre_tool(code: i32, stdout: &str, stderr: &str) -> Decoded {
    decode_as(&EventKind::PreToolUse, Exit::Code(code), stdout, stderr)
}

fn failure(decoded: &Decoded) -> Option<Failure> {
    decoded.failed.as_ref().map(|failed| failed.failure)
}

#[test]
fn a_recognisable_denial_denies_whatever_stands_around_it() {
    for (code, stdout) in [
        (0, r#"{"decision":"deny","reason":"no"}"#),
        (0, r#"{"decision":"block","reason":"no"}"#),
        (0, r#"{"decision":" DENY ","reason":"no"}"#),
        (0, "starting up\n{\"decision\":\"deny\",\"reason\":\"no\"}"),
        (0, "log {x} {\"decision\":\"deny\",\"reason\":\"no\"} bye"),
        (0, "\u{feff}{\"decision\":\"deny\",\"reason\":\"no\"}"),
        (0, "{\"a\":1}\n{\"decision\":\"deny\",\"reason\":\"no\"}\n"),
        (1, r#"{"decision":"deny","reason":"no"}"#),
        (127, r#"{"decision":"deny","reason":"no"}"#),
        (0, r#"{"decision":"deny","reason":"no","unknown":1}"#),
        (0, r#"{"decision":"allow","decision":"deny","reason":"no"}"#),
        (0, r#"{"decision":"deny","decision":"allow","reason":"no"}"#),
        (0, r#"{"decision":"deny","reason":"no","context":5,"version":"1"}"#),
        (
            0,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
        ),
        (
            0,
            r#"{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
        ),
        (
            0,
            r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"},"decision":"approve"}"#,
        ),
        (0, r#"{"hookSpecificOutput":null,"decision":"deny","reason":"no"}"#),
        (0, r#"{"permissionDecision":"deny","reason":"no"}"#),
        (
            0,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","PermissionDecision":"deny"},"reason":"no"}"#,
        ),
        (
            0,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","behavior":"deny"},"reason":"no"}"#,
        ),
        (0, r#"{"hookspecificoutput":{"permissionDecision":"deny"},"reason":"no"}"#),
        (0, r#"{"decision":{"behavior":"deny","message":"no"}}"#),
        (0, r#"{"Decision":"Deny","reason":"no"}"#),
        (
            0,
            r#"{"hookSpecificOutput":{"additionalContext":["x"],"permissionDecision":"deny"},"reason":"no"}"#,
        ),
        (
            0,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","decision":{"behavior":"deny","message":"no"}}}"#,
        ),
    ] {
        let decoded = pre_tool(code, stdout, "");
        assert_eq!(decoded.verdict.decision, Decision::Deny, "{stdout}");
        assert_eq!(decoded.verdict.reason.as_deref(), Some("no"), "{stdout}");
        assert_eq!(decoded.failed, None, "{stdout}");
    }
}

#[test]
fn a_denial_in_broken_json_denies_however_much_of_it_can_be_read() {
    let half_an_emoji_in_a_key = "{\"\\ud83d\":1,\"decision\":\"deny\"}";
    for stdout in [
        r#"{"decision": "deny", "reason": "it said "no""}"#,
        r#"{"decision":"deny","seen":{"command":"ls"},"reason":"it said "no""}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"deny"},"systemMessage":"it said "no""}"#,
        "starting\n{\"seen\":{\"a\":1},\"decision\" : \"block\"",
        "{\"level\":\"info\"}\n{\"decision\":\"deny\",\"reason\":\"it said \"no\"\"}",
        half_an_emoji_in_a_key,
    ] {
        let decoded = pre_tool(0, stdout, "");
        assert_eq!(
            (decoded.verdict.decision, failure(&decoded)),
            (Decision::Deny, None),
            "{stdout}"
        );
    }
}

#[test]
fn a_denial_after_any_number_of_logged_lines_denies() {
    let deny = r#"{"decision":"deny","reason":"no"}"#;
    for line in
        ["{\"level\":\"info\",\"text\":\"{\"}\n", "{\"context\":\"x\"}\n", "{ step }\n", "{}\n"]
    {
        let decoded = pre_tool(0, &format!("{}{deny}", line.repeat(100)), "");
        assert_eq!(decoded.verdict.reason.as_deref(), Some("no"), "{line}");
        assert_eq!((decoded.verdict.decision, decoded.failed), (Decision::Deny, None), "{line}");
    }
    // What is made to be searched for long is not searched to its end, and is still seen to deny.
    let costly = format!("{{\"a\":1}}{}", "{\"a\":[".repeat(10_000));
    let decoded = pre_tool(0, &format!("{costly}{deny}"), "");
    assert_eq!((decoded.verdict.decision, decoded.failed), (Decision::Deny, None));
}

#[test]
fn a_denial_without_a_reason_still_denies() {
    let decoded = pre_tool(0, r#"{"decision":"deny","reason":5}"#, "");
    assert_eq!((decoded.verdict.decision, decoded.failed), (Decision::Deny, None));
    assert_eq!(decoded.diagnostics[0].code, "output.not-understood");
    assert_eq!(pre_tool(2, "", "").verdict.decision, Decision::Deny);
}

#[test]
fn what_is_not_understood_is_a_failure_and_never_an_allow() {
    for stdout in [
        r#"{"decision":"allow","reason":5}"#,
        r#"{"decision":"Allow"}"#,
        r#"{"decision":"denied"}"#,
        "{\0\"\0d\0",
        r#"{"decision":true}"#,
        r#"{"decision":"allow"#,
        r#"{"patch":[1]}"#,
        r#"{"patch":"{}"}"#,
        r#"{"context":{"a":1}}"#,
        r#"{"halt":"no"}"#,
        r#"{"hookSpecificOutput":"x"}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"allow"}}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":"{}"}}"#,
        r#"{"patch":{"command":"rm"},"decision":"allow""#,
        "log line\n{\"decision\":\"allow\"",
        "log line\n{\"decision\":\"allow\"}",
        "{\"decision\":\"allow\"}\n{\"context\":\"x\"}",
    ] {
        let decoded = pre_tool(0, stdout, "");
        assert_eq!(failure(&decoded), Some(Failure::Output), "{stdout}");
        assert!(decoded.verdict.is_silent(), "{stdout}");
    }
}

#[test]
fn what_says_nothing_is_no_opinion_with_a_diagnostic() {
    for (stdout, code) in [
        ("[1]", "output.not-an-object"),
        ("true", "output.not-an-object"),
        ("\"deny\"", "output.not-an-object"),
        (r#"{"decison":"deny"}"#, "output.unknown-keys"),
        ("all fine", "output.plain-text"),
        ("done {x}", "output.plain-text"),
        ("done {\"x\":1}", "output.unknown-keys"),
        ("done {\"x\":1", "output.plain-text"),
    ] {
        let decoded = pre_tool(0, stdout, "");
        assert!(decoded.verdict.is_silent() && decoded.failed.is_none(), "{stdout}");
        assert_eq!(
            decoded.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(),
            [code],
            "{stdout}"
        );
    }
    for stdout in ["", " \n", "{}", r#"{"decision":"none"}"#, r#"{"decision":null}"#] {
        let decoded = pre_tool(0, stdout, "noise");
        assert_eq!(decoded, Decoded::default(), "{stdout}");
    }
}

#[test]
fn exit_two_denies_with_stderr_and_forty_nine_halts() {
    let decoded = pre_tool(2, "", "No Haskell.\n");
    assert_eq!(decoded.verdict, Verdict::deny("No Haskell."));
    let decoded = pre_tool(49, "", "enough");
    assert_eq!(decoded.verdict, Verdict::halt("enough"));
    let decoded = pre_tool(2, r#"{"decision":"allow","context":"kept"}"#, "no");
    assert_eq!(
        (decoded.verdict.decision, decoded.verdict.context()),
        (Decision::Deny, Some("kept"))
    );
    assert_eq!(pre_tool(2, "told on stdout", "").verdict.reason.as_deref(), Some("told on stdout"));
    assert_eq!(
        pre_tool(2, r#"{"reason":"in json"}"#, "").verdict.reason.as_deref(),
        Some("in json")
    );
    assert!(pre_tool(2, r#"{"halt":true}"#, "x").verdict.halt);
}

#[test]
fn other_exits_are_failures_of_their_own_kind() {
    for (exit, expected) in [
        (Exit::Code(1), Failure::Crash),
        (Exit::Code(126), Failure::Start),
        (Exit::Code(127), Failure::Start),
        (Exit::Signal(9), Failure::Signal),
        (Exit::Lost, Failure::Crash),
    ] {
        let decoded =
            decode_as(&EventKind::PreToolUse, exit, r#"{"decision":"allow"}"#, "why\nmore");
        assert_eq!(failure(&decoded), Some(expected));
        assert!(decoded.verdict.is_silent());
    }
    let decoded = pre_tool(1, "", "boom\nmore");
    assert_eq!(decoded.failed.unwrap().reason, "exit 1: boom");
    let reason = pre_tool(1, "", &"é".repeat(100_000)).failed.unwrap().reason;
    assert_eq!(reason, format!("exit 1: {}…", "é".repeat(500)));
}

#[test]
fn a_shell_that_cannot_read_the_hook_is_no_denial_but_the_same_words_about_another_file_are() {
    for stderr in [
        "/bin/sh: 1: Syntax error: Unterminated quoted string",
        "./guard.sh: line 3: syntax error near unexpected token `('",
        "./guard.sh: line 9: unexpected EOF while looking for matching `\"'",
    ] {
        assert_eq!(failure(&pre_tool(2, "", stderr)), Some(Failure::Start), "{stderr}");
    }
    let other = pre_tool(2, "", "build.sh: line 3: syntax error near unexpected token");
    assert_eq!((other.verdict.decision, other.failed), (Decision::Deny, None));
}

#[test]
fn a_hook_that_was_ended_keeps_its_denial_and_nothing_else() {
    for (stdout, decision) in [
        (r#"{"decision":"deny"}"#, Decision::Deny),
        (r#"{"decision":"allow","context":"x"}"#, Decision::None),
    ] {
        let ran = Ran {
            exit: Exit::Signal(15),
            stopped: Some(Failure::Timeout),
            stdout: stdout.as_bytes(),
            stderr: b"",
            own_names: &[],
        };
        let decoded =
            decode(&ran, &EventKind::PreToolUse, PROFILE.contract(&EventKind::PreToolUse));
        assert_eq!(
            (failure(&decoded), decoded.verdict.decision),
            (Some(Failure::Timeout), decision)
        );
        assert_eq!(decoded.verdict.context(), None);
    }
}

#[test]
fn a_hook_that_was_told_to_end_and_exits_with_a_denial_has_denied() {
    for (code, stopped) in
        [(2, Failure::Timeout), (49, Failure::Timeout), (2, Failure::OutputLimit)]
    {
        let ran = Ran {
            exit: Exit::Code(code),
            stopped: Some(stopped),
            stdout: br#"{"decision":"allow"}"#,
            stderr: b"not in time\n",
            own_names: &[],
        };
        let kind = EventKind::PreToolUse;
        let decoded = decode(&ran, &kind, PROFILE.contract(&kind));
        assert_eq!(failure(&decoded), Some(stopped));
        assert_eq!(decoded.verdict, Verdict::deny("not in time").with_halt(code == 49));
    }
}

#[test]
fn plain_text_is_context_where_a_session_or_a_prompt_begins() {
    for kind in [EventKind::SessionStart, EventKind::UserPromptSubmit] {
        assert_eq!(
            decode_as(&kind, Exit::Code(0), " hello\n", "").verdict.context(),
            Some("hello")
        );
    }
    assert_eq!(decode_as(&EventKind::Stop, Exit::Code(0), "hello", "").verdict.context(), None);
}

#[test]
fn both_forms_say_the_same_things() {
    let native = pre_tool(
        0,
        r#"{"version":1,"decision":"ask","halt":false,"reason":"r","context":["a","","b"],"patch":{"a.b":null},"message":"m"}"#,
        "",
    );
    let verdict = native.verdict;
    assert_eq!((verdict.decision, verdict.reason.as_deref()), (Decision::Ask, Some("r")));
    assert_eq!((verdict.context(), verdict.message()), (Some("a\nb"), Some("m")));
    assert!(
        matches!(verdict.rewrite(), Some(Rewrite::Patch(patch)) if patch.get("a.b").unwrap().is_null())
    );

    let claude = pre_tool(
        0,
        r#"{"continue":false,"stopReason":"s","systemMessage":"m","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls"},"additionalContext":"c"}}"#,
        "",
    );
    let verdict = claude.verdict;
    assert!(verdict.halt);
    assert_eq!((verdict.decision, verdict.reason.as_deref()), (Decision::Allow, Some("s")));
    assert!(
        matches!(verdict.rewrite(), Some(Rewrite::Replace(new)) if new.as_text() == r#"{"command":"ls"}"#)
    );

    let output = decode_as(
        &EventKind::PostToolUse,
        Exit::Code(0),
        r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":{"stdout":"x","stderr":""}}}"#,
        "",
    );
    assert!(matches!(output.verdict.rewrite(),
        Some(Rewrite::Replace(new)) if new.as_text() == r#"{"content":"x","is_error":false}"#));
}

#[test]
fn a_halt_halts_wherever_it_stands() {
    for stdout in [
        r#"{"halt":true}"#,
        r#"{"Halt":true}"#,
        r#"{"Continue":false}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","continue":false}}"#,
        r#"{"hookSpecificOutput":{"halt":true}}"#,
    ] {
        assert!(pre_tool(0, stdout, "").verdict.halt, "{stdout}");
    }
}

#[test]
fn many_keys_are_read_in_bounded_time_and_not_all_named() {
    let keys = (0..60_000).map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(",");
    let started = std::time::Instant::now();
    let decoded = pre_tool(0, &format!("{{\"decision\":\"none\",{keys}}}"), "");
    assert_eq!(decoded.diagnostics.len(), 9);
    assert!(decoded.diagnostics[8].message.contains("59992 more"));
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
}

#[test]
fn invalid_utf8_is_read_as_well_as_can_be() {
    let mut stdout = br#"{"decision":"deny","reason":"bad "#.to_vec();
    stdout.extend([0xff, b'"', b'}']);
    let ran = Ran {
        exit: Exit::Code(0),
        stopped: None,
        stdout: &stdout,
        stderr: &[0xff],
        own_names: &[],
    };
    let decoded = decode(&ran, &EventKind::PreToolUse, PROFILE.contract(&EventKind::PreToolUse));
    assert_eq!(decoded.verdict.decision, Decision::Deny);
    assert_eq!(decoded.diagnostics[0].code, "output.utf8");
}

#[test]
fn a_megabyte_of_braces_is_read_in_bounded_time() {
    let started = std::time::Instant::now();
    for text in ["{".repeat(1 << 20), "{\"a\":".repeat(1 << 18), "{\"a\":1} ".repeat(1 << 17)] {
        let _ = pre_tool(0, &text, "");
    }
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
}

proptest::proptest! {
    #[test]
    fn no_output_makes_the_decoder_panic(
        stdout in "(\\{|\\}|\"decision\"|:|\"deny\"|\"allow\"|,|\"patch\"|[a-z\\n ]|\\[|null|1)*",
        code in 0i32..130,
    ) {
        let decoded = pre_tool(code, &stdout, "x");
        if code == 2 {
            proptest::prop_assert_eq!(decoded.verdict.decision, Decision::Deny);
        }
    }
}
