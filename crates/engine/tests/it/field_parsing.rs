//! Failures of hook systems that have to do with reading payloads and answers, tried on real
//! processes; `docs/failures.md` lists them.

use tenter::core::contract::OnFailure;
use tenter::core::hook::{Hook, Level};
use tenter::core::json::Json;
use tenter::core::rules::{Rule, RuleSet};
use tenter::hosts::native::input::read_event;
use tenter::{Decision, Event, EventKind, Origin, Outcome, Verdict};

use crate::support::*;

fn on(kind: EventKind, hook: Hook) -> Hook {
    with(hook, |hook| hook.events = vec![kind])
}

async fn fire(hook: Hook, event: &Event) -> Outcome {
    engine([hook]).session("s").fire(event).await
}

/// The codes of what is said about a hook.
fn codes(outcome: &Outcome, name: &str) -> Vec<&'static str> {
    report(outcome, name).diagnostics().iter().map(|said| said.code).collect()
}

#[tokio::test]
async fn a_hook_that_looks_at_the_bytes_finds_what_the_host_sent() {
    // `read` fails without the newline, and `set -e` would then end the script.
    let text = "set -e
read -r line
if printf '%s\\n' \"$line\" | grep -qF 'a && b <c> é'; then echo seen >&2; exit 2; fi";
    let outcome = fire(shell("greps", text), &bash("a && b <c> é")).await;
    assert_eq!((outcome.decision, outcome.reason.as_deref()), (Decision::Deny, Some("seen")));
    assert!(fire(shell("greps", text), &bash("a && b")).await.may_proceed());
}

#[tokio::test]
async fn a_denial_that_can_be_recognised_denies() {
    let deny = r#"{"decision":"deny","reason":"no"}"#;
    let words: [&[&str]; 12] = [
        &["out", "starting up\n", "out", deny],
        &["out", deny, "out", "\ndone {1}\n"],
        &["out-hex", "efbbbf", "out", deny],
        &["out-hex", "ff", "out", deny],
        &["out", deny, "exit", "1"],
        &["out", deny, "exit", "127"],
        &["out", deny, "signal", "9"],
        &["out", deny, "flood-out", "2000000"],
        &["out", r#"{"version":"1","context":5,"decision":"DENY","reason":"no","x":1}"#],
        &["out", r#"{"decision":"block","reason":"no"}"#],
        &["err", "no", "exit", "2"],
        &[
            "out",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"},"decision":"approve"}"#,
        ],
    ];
    for words in words {
        let hook = with(scripted("guard", words), |hook| hook.on_failure = Some(OnFailure::Allow));
        let outcome = fire(hook, &bash("ls")).await;
        let said = (outcome.decision, outcome.reason.as_deref());
        assert_eq!(said, (Decision::Deny, Some("no")), "{words:?}");
    }
    // A brace that is missing at the end takes the reason with it and nothing else.
    let cut = r#"{"hookSpecificOutput":{"permissionDecision":"deny"}"#;
    let hook = with(scripted("guard", &["out", cut]), |hook| {
        hook.on_failure = Some(OnFailure::Allow);
    });
    assert_eq!(fire(hook, &bash("ls")).await.decision, Decision::Deny);
}

#[tokio::test]
async fn an_allow_that_is_not_understood_is_a_failure() {
    for answer in [
        r#"{"decision":"allow","reason":5}"#,
        r#"{"decision":"Allow"}"#,
        r#"{"decision":"allow""#,
        r#"{"patch":{"command":"ls"},"decision":"allow""#,
        "note\n{\"decision\":\"allow\"}",
        r#"{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"allow"}}"#,
    ] {
        let outcome = fire(scripted("guard", &["out", answer]), &bash("ls")).await;
        let said = (statuses(&outcome), outcome.decision);
        assert_eq!(said, (vec!["output"], Decision::Deny), "{answer}");
    }
}

#[tokio::test]
async fn a_decision_that_stands_twice_in_an_answer_is_the_severe_one() {
    for answer in [
        r#"{"decision":"deny","decision":"allow"}"#,
        r#"{"decision":"allow","decision":"deny"}"#,
        r#"{"decision":"allow","hookSpecificOutput":{"permissionDecision":"allow","permissionDecision":"deny"}}"#,
    ] {
        let outcome = fire(scripted("guard", &["out", answer]), &bash("ls")).await;
        assert_eq!((statuses(&outcome), outcome.decision), (vec!["ok"], Decision::Deny));
        assert!(codes(&outcome, "guard").contains(&"output.duplicate-key"), "{answer}");
    }
}

#[tokio::test]
async fn a_hook_that_is_broken_is_told_from_a_veto() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("guard.sh");
    std::fs::write(&script, "echo 'unbalanced\n").unwrap();
    let script = script.display();
    for (text, status, decision) in [
        ("if then".to_owned(), "start", Decision::None),
        (format!("sh {script}"), "start", Decision::None),
        ("python3 /nonexistent/guard.py".to_owned(), "start", Decision::None),
        // The same words about a file that the hook looks at are its own verdict.
        ("echo 'build.sh: line 3: syntax error' >&2; exit 2".to_owned(), "ok", Decision::Deny),
    ] {
        let hook = with(shell("guard", &text), |hook| hook.on_failure = Some(OnFailure::Allow));
        let outcome = fire(hook, &bash("ls")).await;
        assert_eq!((statuses(&outcome), outcome.decision), (vec![status], decision), "{text}");
    }
}

#[tokio::test]
async fn an_answer_of_another_shape_empties_no_prompt_and_no_result() {
    let prompt = Event::user_prompt("keep this");
    let result = Event::post_tool("Bash", Json::empty_object(), Json::string("keep this"));
    for event in [&prompt, &result] {
        for (answer, refused) in [
            (r#"{"replace":null}"#, false),
            (r#"{"patch":null}"#, false),
            (r#"{"replace":{}}"#, true),
            (r#"{"replace":"text"}"#, true),
            (r#"{"replace":[1]}"#, true),
            (r#"{"replace":{"prompt":null,"content":null}}"#, true),
            (r#"{"patch":{"args":{}}}"#, true),
        ] {
            let hook = on(event.kind.clone(), scripted("rewrites", &["out", answer]));
            let outcome = fire(hook, event).await;
            assert_eq!(rewritten(&outcome), None, "{} {answer}", event.kind);
            assert!(outcome.may_proceed());
            let says_so = codes(&outcome, "rewrites").contains(&"rewrite.shape");
            assert_eq!(says_so, refused, "{} {answer}", event.kind);
        }
    }
    for answer in [r#"{"replace":5}"#, r#"{"replace":[1]}"#, r#"{"replace":"rm"}"#] {
        let outcome = fire(scripted("rewrites", &["out", answer]), &bash("ls")).await;
        assert_eq!(rewritten(&outcome), None, "{answer}");
    }
}

#[tokio::test]
async fn a_redaction_with_a_slip_in_it_does_not_pass_for_none() {
    let answer = r#"{"message":5,"patch":{"content":"clean"}}"#;
    let event = Event::post_tool("Bash", Json::empty_object(), Json::string("a secret"));
    let hook = on(EventKind::PostToolUse, scripted("redacts", &["out", answer]));
    let outcome = fire(hook.clone(), &event).await;
    assert_eq!((statuses(&outcome), rewritten(&outcome)), (vec!["output"], None));
    assert!(outcome.messages.iter().any(|message| message.text.contains("`message`")));
    let strict = with(hook, |hook| hook.on_failure = Some(OnFailure::Block));
    assert!(!rewritten(&fire(strict, &event).await).unwrap().contains("a secret"));
}

#[tokio::test]
async fn half_a_character_in_a_call_hides_nothing_from_hooks_or_rules() {
    for other in [r#""note":"cut \ud83d""#, r#""\udc00":1"#, r#""n":1e999"#] {
        let text = format!(
            r#"{{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{{"file_path":"/tmp/.env",{other}}}}}"#
        );
        let event = read_event(&text, None, &Origin::default()).unwrap();

        let mut rules = RuleSet::new();
        rules.add_deny(Rule::parse("Read(**/.env)").unwrap(), Level::User, "test");
        let outcome = builder().rules(rules).build().session("s").fire(&event).await;
        assert_eq!(outcome.decision, Decision::Deny, "{other}");

        let folder = tempfile::tempdir().unwrap();
        let seen = folder.path().join("seen").display().to_string();
        let hooks = [
            reply("moves", patch(r#"{"file_path":"/tmp/a"}"#)),
            scripted("sees", &["read-stdin-to", &seen]),
        ];
        let outcome = engine(hooks).session("s").fire(&event).await;
        let payload = rewritten(&outcome).unwrap();
        assert!(payload.starts_with(r#"{"file_path":"/tmp/a","#), "{payload}");
        assert!(String::from_utf8(std::fs::read(&seen).unwrap()).unwrap().contains("file_path"));
    }
}

#[tokio::test]
async fn a_rewrite_of_half_a_megabyte_is_taken() {
    let content = "x".repeat(512 * 1024);
    let answer = format!(r#"{{"patch":{{"content":"{content}"}}}}"#);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answer");
    std::fs::write(&path, answer).unwrap();
    let hook = on(EventKind::PostToolUse, shell("rewrites", &format!("cat {}", path.display())));
    let event = Event::post_tool("Bash", Json::empty_object(), Json::string("short"));
    let outcome = fire(hook, &event).await;
    assert_eq!(statuses(&outcome), ["ok"]);
    assert_eq!(outcome.rewritten.unwrap().get("content").unwrap().as_str().unwrap(), content);
}

#[tokio::test]
async fn a_hook_without_an_answer_has_no_opinion_and_one_with_plain_text_is_told() {
    let verdicts = [("true", vec![]), ("echo fine", vec!["output.plain-text"])];
    for (text, expected) in verdicts {
        let outcome = fire(shell("says", text), &bash("ls")).await;
        assert_eq!((statuses(&outcome), outcome.decision), (vec!["ok"], Decision::None));
        assert_eq!(codes(&outcome, "says"), expected, "{text}");
    }
    let outcome = fire(reply("silent", Verdict::none()), &bash("ls")).await;
    assert!(outcome.may_proceed());
}
