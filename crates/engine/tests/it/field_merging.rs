//! Failures of hook systems that have to do with putting answers together, tried on real processes;
//! `docs/failures.md` lists them.

use std::time::{Duration, Instant};

use tenter::core::contract::OnFailure;
use tenter::core::hook::{Hook, View};
use tenter::core::json::Json;
use tenter::{Decision, Event, EventKind, RunContext, Verdict};

use crate::support::*;

fn after_tool(hook: Hook) -> Hook {
    with(hook, |hook| hook.events = vec![EventKind::PostToolUse])
}

fn result(text: &str) -> Event {
    Event::post_tool("Bash", Json::empty_object(), Json::string(text))
}

#[tokio::test]
async fn two_rewrites_give_one_payload_whichever_ends_first() {
    for first_to_end in [0, 1] {
        let folder = tempfile::tempdir().unwrap();
        let done = folder.path().join("done").display().to_string();
        let hook = |n: usize| {
            let answer = format!(r#"{{"patch":{{"command":"from {n}","only {n}":true}}}}"#);
            let words = if n == first_to_end {
                vec!["out", &answer, "ready", &done]
            } else {
                vec!["wait-file", &done, "out", &answer]
            };
            scripted(&n.to_string(), &words)
        };
        let outcome = engine([hook(0), hook(1)]).session("s").fire(&bash("ls")).await;
        let expected = r#"{"command":"from 1","only 0":true,"only 1":true}"#;
        assert_eq!(rewritten(&outcome).as_deref(), Some(expected));
        let said = &report(&outcome, "1").diagnostics()[0];
        assert_eq!(said.code, "rewrite.overwritten");
    }
}

#[tokio::test]
async fn a_hook_that_fails_takes_no_other_hooks_rewrite_or_deny_with_it() {
    let redact = r#"{"patch":{"content":"clean"}}"#;
    let failing = |name: &str, words: &[&str]| {
        with(scripted(name, words), |hook| hook.on_failure = Some(OnFailure::Allow))
    };
    let hooks = [
        failing("crashes", &["exit", "1"]),
        scripted("redacts", &["out", redact]),
        failing("hangs", &["hang"]),
    ];
    let session = engine(hooks.map(after_tool)).session("s");
    // The time of all of them is up when one hangs; what the others said before is kept.
    let cx = RunContext::new().with_deadline(Instant::now() + Duration::from_secs(1));
    let outcome = session.fire_with(&result("a secret"), &cx).await;
    assert_eq!(statuses(&outcome), ["crash", "ok", "timeout"]);
    assert_eq!(rewritten(&outcome).as_deref(), Some(r#"{"content":"clean","is_error":false}"#));

    let hooks = [
        failing("crashes", &["exit", "1"]),
        scripted("denies", &["err", "no", "exit", "2"]),
        failing("says nonsense", &["out", "{"]),
    ];
    let outcome = engine(hooks).session("s").fire(&bash("ls")).await;
    assert_eq!((outcome.decision, outcome.reason.as_deref()), (Decision::Deny, Some("no")));
}

#[tokio::test]
async fn an_allow_answers_no_other_hooks_ask_and_an_ask_softens_no_deny() {
    let says = |name: &str, decision: &str| {
        let answer = format!(r#"{{"decision":"{decision}","reason":"{name}"}}"#);
        scripted(name, &["out", &answer])
    };
    let outcome =
        engine([says("a", "allow"), says("b", "ask")]).session("s").fire(&bash("ls")).await;
    assert_eq!((outcome.decision, outcome.reason.as_deref()), (Decision::Ask, Some("b")));
    let hooks = [says("a", "ask"), says("b", "deny"), says("c", "allow"), says("d", "deny")];
    let outcome = engine(hooks).session("s").fire(&bash("ls")).await;
    assert_eq!((outcome.decision, outcome.reason.as_deref()), (Decision::Deny, Some("b\nd")));
}

#[tokio::test]
async fn a_deny_without_a_reason_denies_and_names_its_hook() {
    for words in [&["exit", "2"][..], &["out", r#"{"decision":"deny"}"#]] {
        let outcome = engine([scripted("guard", words)]).session("s").fire(&bash("ls")).await;
        assert_eq!(outcome.decision, Decision::Deny);
        assert!(outcome.reason.unwrap().contains("`guard`"));
    }
}

#[tokio::test]
async fn keys_that_look_like_paths_or_patterns_are_keys() {
    let answer = r#"{"patch":{"*":1,"a.b":2,"x|y":3,"@pretty":4,"a#b":5,":1":6,"":7}}"#;
    let input = r#"{"command":"ls","a":{"b":0}}"#;
    let event = Event::pre_tool("Bash", Json::parse(input).unwrap());
    let outcome = engine([scripted("adds", &["out", answer])]).session("s").fire(&event).await;
    let expected =
        r#"{"command":"ls","a":{"b":0},"*":1,"a.b":2,"x|y":3,"@pretty":4,"a#b":5,":1":6,"":7}"#;
    assert_eq!(rewritten(&outcome).as_deref(), Some(expected));
}

#[tokio::test]
async fn the_end_of_a_long_command_is_shown_to_a_guard_that_asked_for_no_view() {
    let guard = || shell("guard", "if grep -q 'rm -r'; then exit 2; fi");
    let padded = format!("{} ; rm -r x", "# padding ".repeat(10_000));
    let outcome = engine([guard()]).session("s").fire(&bash(&padded)).await;
    assert_eq!(outcome.decision, Decision::Deny);
    let harmless = "# padding ".repeat(10_000);
    assert!(engine([guard()]).session("s").fire(&bash(&harmless)).await.may_proceed());
}

/// A hook that answers with its own view of the payload, changed by a `sed` program.
fn hands_back(kind: EventKind, edit: &str) -> Hook {
    let key = if kind == EventKind::PreToolUse { "tool_input" } else { "result" };
    let text = format!(r#"sed -e 's/.*"{key}":\({{[^}}]*}}\).*/{{"replace":\1}}/' -e '{edit}'"#);
    with(shell("hands back", &text), |hook| {
        hook.events = vec![kind];
        hook.view = Some(View { cap: 200, on_truncated: None });
    })
}

#[tokio::test]
async fn what_a_small_view_leaves_out_is_never_lost() {
    let long = format!("echo {}", "a".repeat(5_000));
    let input = serde_json::json!({ "command": long, "n": 1 });
    let call = Event::pre_tool("Bash", input.into());
    for (event, kind) in [(call, EventKind::PreToolUse), (result(&long), EventKind::PostToolUse)] {
        // Handed back as it was shown, it is the whole; with another key changed, still.
        let outcome = engine([hands_back(kind.clone(), "")]).session("s").fire(&event).await;
        assert_eq!((statuses(&outcome), rewritten(&outcome)), (vec!["ok"], None), "{kind}");
        let edit = "s/\"n\":1/\"n\":2/; s/\"is_error\":false/\"is_error\":true/";
        let outcome = engine([hands_back(kind.clone(), edit)]).session("s").fire(&event).await;
        let payload = rewritten(&outcome).unwrap();
        assert!(payload.contains(&long) && !payload.contains("[tenter:"), "{kind}");
        // An edit of what is only a part is refused.
        let outcome =
            engine([hands_back(kind.clone(), "s/echo /echo b/")]).session("s").fire(&event).await;
        assert_eq!(rewritten(&outcome), None, "{kind}");
        let codes: Vec<_> =
            report(&outcome, "hands back").diagnostics().iter().map(|said| said.code).collect();
        assert_eq!(codes, ["view.edited"], "{kind}");
    }
}

#[tokio::test]
async fn a_guard_that_is_a_process_is_asked_again_about_what_others_made_of_the_call() {
    let guard = shell("guard", "if grep -q 'rm -r'; then echo 'no rm' >&2; exit 2; fi");
    let hooks = [guard, scripted("rewrites", &["out", r#"{"patch":{"command":"rm -r x"}}"#])];
    let outcome = engine(hooks).session("s").fire(&bash("ls")).await;
    assert_eq!((outcome.decision, outcome.reason.as_deref()), (Decision::Deny, Some("no rm")));
    assert_eq!(rewritten(&outcome), None);
    assert_eq!(report(&outcome, "guard").decision, Decision::None);
}

#[tokio::test]
async fn every_text_of_a_hook_goes_somewhere() {
    let hooks = [
        reply("allows", Verdict::allow().because("fine").with_message("told").with_context("c")),
        reply("rewrites", patch(r#"{"command":"ls -l"}"#).with_message("changed")),
    ];
    let outcome = engine(hooks).session("s").fire(&bash("ls")).await;
    let texts: Vec<_> = outcome.messages.iter().map(|message| message.text.as_str()).collect();
    assert_eq!((texts, outcome.context.clone()), (vec!["told", "changed"], vec!["c".to_owned()]));
    assert_eq!(report(&outcome, "allows").reason.as_deref(), Some("fine"));
    let remark = after_tool(reply("remarks", Verdict::deny("looks bad")));
    let outcome = engine([remark]).session("s").fire(&result("out")).await;
    assert!(outcome.messages.iter().any(|message| message.text.contains("looks bad")));
}
