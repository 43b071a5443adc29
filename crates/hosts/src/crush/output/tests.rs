//! Tables of exits and answers, each with what it means.

use std::fmt::Write as _;

use tenter_core::event::EventKind;
use tenter_core::outcome::Failure;
use tenter_core::verdict::Rewrite;

use super::*;
use crate::crush::PROFILE;

fn ran(exit: Exit, stdout: &str, stderr: &str) -> Decoded {
    let own_names = ["guard.sh".to_owned()];
    let ran = Ran {
        exit,
        stopped: None,
        stdout: stdout.as_bytes(),
        stderr: stderr.as_bytes(),
        own_names: &own_names,
    };
    decode(&ran, PROFILE.contract(&EventKind::PreToolUse))
}

fn printed(stdout: &str) -> Decoded {
    ran(Exit::Code(0), stdout, "")
}

/// A decision with `+halt`, the reason, the context, the patch, and `!failure`.
fn shown(decoded: &Decoded) -> String {
    let verdict = &decoded.verdict;
    let mut text = verdict.decision.as_str().to_owned();
    if verdict.halt {
        text.push_str("+halt");
    }
    if let Some(reason) = &verdict.reason {
        write!(text, " because {reason:?}").unwrap();
    }
    if let Some(context) = verdict.context() {
        write!(text, " context {context:?}").unwrap();
    }
    match verdict.rewrite() {
        Some(Rewrite::Patch(patch)) => write!(text, " patch {}", patch.to_json()).unwrap(),
        Some(Rewrite::Replace(_)) => text.push_str(" replace"),
        None => {}
    }
    if let Some(failed) = &decoded.failed {
        write!(text, " !{}", failed.failure.as_str()).unwrap();
    }
    text
}

fn codes(decoded: &Decoded) -> Vec<&'static str> {
    decoded.diagnostics.iter().map(|one| one.code).collect()
}

#[test]
fn the_own_form() {
    for (stdout, expected) in [
        ("", "none"),
        ("  \n", "none"),
        ("{}", "none"),
        (r#"{"decision":"allow","context":"c"}"#, r#"allow context "c""#),
        (r#"{"decision":"DENY"}"#, "deny"),
        (r#"{"Decision":"deny","REASON":"r"}"#, r#"deny because "r""#),
        (r#"{"decision":" deny "}"#, "deny"),
        (r#"{"decision":"block"}"#, "deny"),
        (r#"{"decision":"approve"}"#, "allow"),
        (r#"{"decision":"ask","reason":"sure?"}"#, r#"ask because "sure?""#),
        (r#"{"decision":null,"reason":null,"context":null,"updated_input":null}"#, "none"),
        (r#"{"decision":"none"}"#, "none"),
        (r#"{"version":99,"decision":"deny"}"#, "deny"),
        (r#"{"version":-1,"decision":"allow"}"#, "allow"),
        (r#"{"halt":true,"reason":"enough"}"#, r#"none+halt because "enough""#),
        (r#"{"context":["a","","b"]}"#, r#"none context "a\nb""#),
        (r#"{"context":[]}"#, "none"),
        (r#"{"updated_input":{"command":"x"}}"#, r#"none patch {"command":"x"}"#),
        (r#"{"updated_input":"{\"command\":\"x\"}"}"#, r#"none patch {"command":"x"}"#),
        (r#"{"updated_input":"null"}"#, "none"),
        (r#"{"updated_input":{}}"#, "none patch {}"),
        (r#"{"decision":"deny","decision":"allow"}"#, "deny"),
        ("\u{feff}{\"decision\":\"deny\"}", "deny"),
    ] {
        let decoded = printed(stdout);
        assert_eq!(shown(&decoded), expected, "{stdout}");
    }
}

#[test]
fn claude_s_form() {
    for (stdout, expected) in [
        (
            r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"r"}}"#,
            r#"deny because "r""#,
        ),
        (r#"{"hookSpecificOutput":{"additionalContext":"c"}}"#, r#"none context "c""#),
        (
            r#"{"hookSpecificOutput":{"additionalContext":["a","b"],"permissionDecision":"deny"}}"#,
            r#"deny context "a\nb""#,
        ),
        (r#"{"hookSpecificOutput":{"updatedInput":{"a":1}}}"#, r#"none patch {"a":1}"#),
        (r#"{"hookSpecificOutput":{"updatedInput":"{\"a\":1}"}}"#, r#"none patch {"a":1}"#),
        (r#"{"hookSpecificOutput":{"permissionDecision":"ask"}}"#, "ask"),
        (r#"{"hookSpecificOutput":{"permissionDecision":"defer"}}"#, "none"),
        // What stands around it means nothing, unless it holds the call up.
        (r#"{"hookSpecificOutput":{},"decision":"allow","context":"c"}"#, "none"),
        (r#"{"hookSpecificOutput":{},"decision":"deny","reason":"r"}"#, r#"deny because "r""#),
        (r#"{"hookSpecificOutput":{},"halt":true}"#, "none+halt"),
        (
            r#"{"hookSpecificOutput":{},"continue":false,"stopReason":"enough"}"#,
            r#"none+halt because "enough""#,
        ),
        (r#"{"hookSpecificOutput":null,"decision":"deny"}"#, "deny"),
        (r#"{"HookSpecificOutput":{"permissionDecision":"deny"}}"#, "deny"),
        (r#"{"HookSpecificOutput":{"permissionDecision":"allow"}}"#, "none"),
        (r#"{"hookSpecificOutput":"no","decision":"deny"}"#, "deny"),
    ] {
        let decoded = printed(stdout);
        assert_eq!(shown(&decoded), expected, "{stdout}");
    }
}

#[test]
fn a_value_of_the_wrong_type_drops_the_answer_but_no_denial() {
    for (field, expected) in [
        (r#""version":"1""#, "deny"),
        (r#""version":1.5"#, "deny"),
        (r#""reason":5"#, "deny"),
        (r#""halt":"true""#, "deny+halt"),
        (r#""halt":1"#, "deny"),
    ] {
        let decoded = printed(&format!(r#"{{"decision":"deny",{field}}}"#));
        assert_eq!(shown(&decoded), expected, "{field}");
        assert!(codes(&decoded).contains(&"output.not-understood"), "{field}");
        if !field.contains("true") {
            let decoded = printed(&format!(r#"{{"decision":"allow","context":"c",{field}}}"#));
            assert_eq!(shown(&decoded), "none !output", "{field}");
        }
    }
    assert_eq!(shown(&printed(r#"{"decision":true}"#)), "none !output");
    // Wrong types of these two drop nothing else.
    let decoded = printed(r#"{"decision":"allow","context":5}"#);
    assert_eq!((shown(&decoded).as_str(), codes(&decoded)), ("allow", vec!["output.context"]));
}

#[test]
fn a_patch_that_cannot_be_read_is_none_and_takes_an_allow_with_it() {
    for patch in ["[1]", "5", r#""oops""#, r#""[1]""#] {
        for (decision, expected) in [("deny", "deny"), ("allow", "none"), ("none", "none")] {
            let decoded =
                printed(&format!(r#"{{"decision":"{decision}","updated_input":{patch}}}"#));
            assert_eq!(shown(&decoded), expected, "{patch}");
            assert_eq!(codes(&decoded), ["output.bad-patch"]);
        }
    }
}

#[test]
fn what_is_not_one_object_is_told_and_a_denial_in_it_denies() {
    for (stdout, expected, code) in [
        ("[]", "none", "output.not-an-object"),
        ("\"deny\"", "none", "output.not-an-object"),
        ("just a line", "none", "output.plain-text"),
        (r#"{"unknown":1}"#, "none", "output.unknown-keys"),
        (r#"{"decison":"deny"}"#, "none", "output.unknown-keys"),
        (r#"{"decision":"perhaps"}"#, "none", "output.unknown-decision"),
        (
            "log\n{\"decision\":\"deny\",\"reason\":\"r\"}",
            "deny because \"r\"",
            "output.noise-around-json",
        ),
        ("{\"decision\":\"deny\"}\ntrailing", "deny", "output.noise-around-json"),
        ("log\n{\"decision\":\"allow\"}", "none !output", "output.noise-around-json"),
        ("{\"decision\":\"deny\",", "deny", "output.broken-json"),
    ] {
        let decoded = printed(stdout);
        assert_eq!(shown(&decoded), expected, "{stdout}");
        assert!(codes(&decoded).contains(&code), "{stdout}: {:?}", codes(&decoded));
    }
    assert_eq!(shown(&printed("{\"decision\":\"allow\"")), "none !output");
}

#[test]
fn every_exit() {
    let deny = r#"{"decision":"deny","reason":"json"}"#;
    for (exit, stdout, stderr, expected) in [
        (Exit::Code(0), "", "only stderr", "none"),
        (Exit::Code(2), "", " No. \n", r#"deny because "No.""#),
        (Exit::Code(2), r#"{"decision":"allow","halt":true}"#, "No.", r#"deny because "No.""#),
        (Exit::Code(2), "", "", r#"deny because "blocked by hook""#),
        (Exit::Code(49), "", "Enough.", r#"deny+halt because "Enough.""#),
        (Exit::Code(49), "", "", r#"deny+halt because "turn halted by hook""#),
        (Exit::Code(1), "", "", "none !crash"),
        (Exit::Code(3), r#"{"decision":"allow"}"#, "", "none !crash"),
        (Exit::Code(126), "", "", "none !start"),
        (Exit::Code(127), "", "", "none !start"),
        (Exit::Code(137), "", "", "none !crash"),
        (Exit::Signal(9), "", "", "none !signal"),
        (Exit::Lost, "", "", "none !crash"),
        (Exit::Code(1), deny, "", r#"deny because "json""#),
        (Exit::Signal(15), deny, "", r#"deny because "json" !signal"#),
    ] {
        assert_eq!(shown(&ran(exit, stdout, stderr)), expected, "{exit:?} {stdout}");
    }
}

#[test]
fn a_script_that_a_shell_cannot_read_denies_and_is_told() {
    let decoded = ran(Exit::Code(2), "", "guard.sh: line 3: syntax error near `fi'");
    assert_eq!(decoded.verdict.decision, Decision::Deny);
    assert_eq!(codes(&decoded), ["output.accidental-denial"]);
}

#[test]
fn a_hook_whose_time_was_up_keeps_its_denial() {
    let stopped = |exit, stdout: &str| {
        let ran = Ran {
            exit,
            stopped: Some(Failure::Timeout),
            stdout: stdout.as_bytes(),
            stderr: b"",
            own_names: &[],
        };
        shown(&decode(&ran, PROFILE.contract(&EventKind::PreToolUse)))
    };
    assert_eq!(stopped(Exit::Signal(15), r#"{"decision":"deny"}"#), "deny !timeout");
    assert_eq!(stopped(Exit::Signal(9), r#"{"decision":"allow"}"#), "none !timeout");
    assert_eq!(stopped(Exit::Code(2), ""), r#"deny because "blocked by hook" !timeout"#);
}
