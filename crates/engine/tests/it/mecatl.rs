//! Hooks of mecatl under its rules, for who embeds it: what one event in a test file cannot show. The
//! numbers are those of the cases in `tests/spec/mecatl`.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::json;
use tenter::hosts::mecatl::HookDecision::{Advisory, Blocked, Info, Modified};
use tenter::hosts::mecatl::{HookDecision, PROFILE, event, hooks, stream_events};
use tenter::{
    ApprovalLearner, CancellationToken, Decision, Event, HookRunner, NoHooks, Outcome, RunContext,
    Session, Status, Verdict,
};
use tenter_testkit::TestHome;

use crate::support::{builder, reply, reply_on};

/// A session with one command a phase.
fn session(commands: &[(&str, &str)]) -> Session {
    let builder = builder().profile("mecatl").unwrap();
    let hooks = hooks(commands.iter().copied(), None, None).unwrap();
    hooks.into_iter().fold(builder, tenter::EngineBuilder::hook).build().session("s1")
}

fn of(phase: &str, tool: &str, input: serde_json::Value) -> Event {
    event(phase, tool, input.into(), "s1", if tool.is_empty() { "" } else { "c1" }).unwrap()
}

fn call() -> Event {
    of("PreToolUse", "bash", json!({ "command": "ls" }))
}

fn decisions(event: &Event, outcome: &Outcome) -> Vec<(HookDecision, String)> {
    let marks = stream_events(event, outcome).into_iter();
    marks.map(|mark| (mark.decision, mark.text)).collect()
}

#[tokio::test]
async fn k26_a_caller_that_has_given_up_starts_nothing() {
    let home = TestHome::new();
    let mark = home.project().join("started");
    let session = session(&[("PreToolUse", &format!("touch {}", mark.display()))]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let outcome = session.fire_with(&call(), &RunContext::new().with_cancel(cancel)).await;
    assert_eq!(outcome.hooks[0].status, Status::Cancelled);
    assert_eq!(outcome.decision, Decision::Deny);
    assert!(!mark.exists());
}

#[tokio::test]
async fn k98_k99_b100_the_end_of_a_run_is_told_and_never_waited_for() {
    let home = TestHome::new();
    let told = home.project().join("told");
    let session = session(&[("Stop", &format!("sleep 0.2; cat > {}", told.display()))]);
    let begun = Instant::now();
    session.notify(&of("Stop", "", json!({ "stop_reason": "cancelled" })));
    assert!(!told.exists(), "it was waited for");
    let finished = session.finish(Duration::from_secs(20)).await;
    assert_eq!((finished.outcomes.len(), finished.ended), (1, 0));
    assert!(std::fs::read_to_string(&told).unwrap().contains(r#"{"stop_reason":"cancelled"}"#));
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn b100_a_hook_behind_the_run_has_five_seconds() {
    for phase in ["Stop", "SubagentStop", "TeammateIdle"] {
        let hook = &hooks([(phase, "sleep 60")], None, None).unwrap()[0];
        assert_eq!(hook.timeout, Some(Duration::from_secs(5)), "{phase}");
        assert_eq!(PROFILE.contract(&hook.events[0]).timeout, Duration::from_secs(5));
    }
}

#[tokio::test]
async fn k49_k56_k61_b51_a_client_sees_what_hooks_do() {
    let seen = async |commands: &[(&str, &str)], event: &Event| {
        decisions(event, &session(commands).fire(event).await)
    };
    let call = call();
    assert_eq!(seen(&[("PreToolUse", "echo no; exit 2")], &call).await, [(Blocked, "no".into())]);
    assert_eq!(seen(&[("PreToolUse", "echo hm")], &call).await, [(Advisory, "hm".into())]);
    let rewrite = [("PreToolUse", r#"echo '{"mutated":{"command":"x"}}'"#)];
    assert_eq!(seen(&rewrite, &call).await[0].0, Modified);
    let error = seen(&[("PreToolUse", "exit 3")], &call).await;
    assert_eq!(error.len(), 1);
    assert!(error[0].1.contains("exit 3"), "{error:?}");
    let malformed = seen(&[("PreToolUse", r#"echo '{"mutated":null}'"#)], &call).await;
    assert_eq!(malformed[0].0, Info);

    let event = of("PostToolUse", "bash", json!({ "args": {}, "content": "a", "is_error": false }));
    assert_eq!(
        seen(&[("PostToolUse", "echo odd; exit 2")], &event).await,
        [(Blocked, "odd".into())]
    );
    let stop = of("Stop", "", json!({ "stop_reason": "end_turn" }));
    assert!(seen(&[("Stop", "true")], &stop).await.is_empty());

    let outcome = session(&[("PreToolUse", "echo no; exit 2")]).fire(&call).await;
    let mark = serde_json::to_value(&stream_events(&call, &outcome)[0]).unwrap();
    assert_eq!(
        mark,
        json!({ "phase": "PreToolUse", "tool": "bash", "decision": "blocked", "text": "no", "call_id": "c1" })
    );
}

#[tokio::test]
async fn k91_a_tool_that_failed_has_run_too() {
    let event =
        of("PostToolUse", "bash", json!({ "args": {}, "content": "boom", "is_error": true }));
    let outcome =
        session(&[("PostToolUse", r#"grep -q '"is_error":true' && echo seen"#)]).fire(&event).await;
    assert_eq!(outcome.messages[0].text, "seen");
}

#[tokio::test]
async fn b95_the_content_is_shown_whatever_the_arguments_are() {
    let event = of(
        "PostToolUse",
        "bash",
        json!({ "args": "no object", "content": "seen", "is_error": false }),
    );
    let outcome = session(&[("PostToolUse", r#"grep -o '"content":"seen"'"#)]).fire(&event).await;
    assert_eq!(outcome.messages[0].text, r#""content":"seen""#);
}

#[tokio::test]
async fn k73_b82_a_block_that_may_be_asked_about_is_a_question_only_alone() {
    let fire = async |verdicts: Vec<Verdict>| {
        let builder = builder().profile("mecatl").unwrap();
        let hooks = verdicts.into_iter().enumerate();
        let hooks = hooks.map(|(at, verdict)| reply(&at.to_string(), verdict));
        let session = hooks.fold(builder, tenter::EngineBuilder::hook).build().session("s1");
        session.fire(&call()).await.decision
    };
    assert_eq!(fire(vec![Verdict::ask("sure?")]).await, Decision::Ask);
    assert_eq!(fire(vec![Verdict::ask("sure?"), Verdict::deny("no")]).await, Decision::Deny);
    assert_eq!(fire(vec![Verdict::none()]).await, Decision::None);
}

#[tokio::test]
async fn k74_k75_asking_is_for_calls_alone_and_rewrites_nothing() {
    for (kind, event) in [
        (tenter::EventKind::SessionStart, of("SessionStart", "", json!(null))),
        (tenter::EventKind::TaskCreated, of("TaskCreated", "", json!({ "id": "t" }))),
    ] {
        let builder = builder().profile("mecatl").unwrap();
        let hook = reply_on(kind, "asks", Verdict::ask("sure?"));
        let outcome = builder.hook(hook).build().session("s1").fire(&event).await;
        assert_ne!(outcome.decision, Decision::Allow);
    }
}

/// What a host learns from its user, kept for a session.
#[derive(Default)]
struct Waivers(Mutex<Vec<(String, String)>>);

impl ApprovalLearner for Waivers {
    fn learn<'a>(
        &'a self,
        event: &'a Event,
    ) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let call = event.tool_call().unwrap();
            let known = (call.name.clone(), call.input.to_string());
            self.0.lock().unwrap().push(known);
        })
    }
}

#[tokio::test]
async fn k70_a_learner_hears_of_the_call_with_its_input_session_and_id() {
    let waivers = Waivers::default();
    let call = call();
    waivers.learn(&call).await;
    let known = waivers.0.lock().unwrap().clone();
    assert_eq!(known, [("bash".to_owned(), r#"{"command":"ls"}"#.to_owned())]);
    assert_eq!(call.origin.session_id, "s1");
    assert_eq!(call.origin.call_id.as_deref(), Some("c1"));
}

#[tokio::test]
async fn k127_a_runner_without_hooks_lets_everything_pass() {
    let runner: &dyn HookRunner = &NoHooks;
    for event in [call(), of("Stop", "", json!({})), of("SessionStart", "", json!(null))] {
        assert!(!runner.mask().contains(&event.kind));
        let outcome = runner.run(&event, &RunContext::new()).await;
        assert_eq!((outcome.decision, outcome.hooks.len()), (Decision::None, 0));
    }
}
