//! Rules of mecatl's profile that one event in a test file cannot show: where its hooks start, whom a
//! cancelled run still tells, and what an approval is worth. The numbers are those of the cases in
//! `tests/spec/mecatl`.

use serde_json::json;
use tenter::hosts::mecatl::HookDecision::{self, Advisory, Blocked, Info, Modified};
use tenter::hosts::mecatl::{event, hooks, stream_events};
use tenter::{
    ApprovalLearner as _, CancellationToken, Decision, Event, HookRunner, OnFailure, RunContext,
    Session, Status,
};
use tenter_testkit::TestHome;

use crate::support::builder;

/// A session in a project with one command a phase.
fn session_in(home: &TestHome, commands: &[(&str, &str)]) -> Session {
    let builder = builder().profile("mecatl").unwrap().project(home.project());
    let hooks = hooks(commands.iter().copied(), None, None).unwrap();
    hooks.into_iter().fold(builder, tenter::EngineBuilder::hook).build().session("s1")
}

fn call(command: &str) -> Event {
    event("PreToolUse", "Shell", json!({ "command": command }).into(), "s1", "c1").unwrap()
}

#[tokio::test]
async fn b31_a_hook_starts_in_the_workspace_wherever_the_agent_has_gone() {
    let home = TestHome::new();
    let elsewhere = home.project().join("sub");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(home.project().join("guard.sh"), "echo guarded; exit 2").unwrap();
    std::fs::write(elsewhere.join("guard.sh"), "exit 0").unwrap();
    let session = session_in(&home, &[("PreToolUse", "sh ./guard.sh")]);
    let mut call = call("ls");
    call.origin.cwd = elsewhere.display().to_string();
    let outcome = session.fire(&call).await;
    assert_eq!(outcome.decision, Decision::Deny, "{outcome:?}");
    assert_eq!(outcome.reason.as_deref(), Some("guarded"));
}

/// What a client sees of one command of a phase, with a failure policy of its own.
async fn seen(event: &Event, command: &str, policy: Option<OnFailure>) -> Vec<HookDecision> {
    let builder = builder().profile("mecatl").unwrap();
    let phase = tenter::hosts::mecatl::phase(&event.kind).unwrap();
    let mut hook = hooks([(phase, command)], None, None).unwrap().remove(0);
    hook.on_failure = policy;
    let outcome = builder.hook(hook).build().session("s1").fire(event).await;
    stream_events(event, &outcome).into_iter().map(|mark| mark.decision).collect()
}

fn result() -> Event {
    let input = json!({ "args": {}, "content": "secret", "is_error": false });
    event("PostToolUse", "Shell", input.into(), "s1", "c1").unwrap()
}

#[tokio::test]
async fn b37_b51_b90_no_error_and_no_refusal_is_silent() {
    let start = event("SessionStart", "", json!(null).into(), "s1", "").unwrap();
    let task = event("TaskCreated", "", json!({ "by": "ann" }).into(), "s1", "").unwrap();
    for blocking in [&call("ls"), &start, &task] {
        assert_eq!(seen(blocking, "exit 1", None).await, [Blocked], "{}", blocking.kind);
        assert_eq!(seen(blocking, "exit 1", Some(OnFailure::Allow)).await, [Info]);
    }
    assert_eq!(seen(&result(), "exit 1", None).await, [Info]);
    assert_eq!(seen(&result(), "exit 1", Some(OnFailure::Block)).await, [Info, Modified]);
    // What is no rewrite, and what is no envelope at all.
    for printed in [r#"{"mutated":{}}"#, r#"{"mutated":null}"#, r#"{"status":"ok"}"#] {
        let command = format!("echo '{printed}'");
        assert_eq!(seen(&result(), &command, None).await, [Info], "{printed}");
    }
}

#[tokio::test]
async fn k101_what_is_only_told_is_information() {
    let stop = event("Stop", "", json!({ "stop_reason": "end_turn" }).into(), "s1", "").unwrap();
    assert_eq!(seen(&stop, "echo no; exit 2", None).await, [Info]);
    assert_eq!(seen(&stop, "exit 1", None).await, [Info]);
    assert_eq!(seen(&stop, "echo noted", None).await, [Info]);
    assert_eq!(seen(&stop, "true", None).await, []);
    assert_eq!(seen(&call("ls"), "echo noted", None).await, [Advisory]);
}

#[tokio::test]
async fn k68_a_question_is_asked_and_is_no_mark() {
    let ask = r#"echo '{"decision":"ask","message":"sure?"}'"#;
    assert_eq!(seen(&call("ls"), ask, None).await, []);
    let prompt = event("UserPromptSubmit", "", json!({ "prompt": "hi" }).into(), "s1", "").unwrap();
    assert_eq!(seen(&prompt, ask, None).await, [Blocked], "there is no such question");
}

/// A session with commands before a tool, and rules that ask.
fn asking(commands: &[(&str, Option<OnFailure>)], ask: Option<&str>) -> Session {
    let mut rules = tenter::RuleSet::new();
    if let Some(text) = ask {
        rules.add_ask(tenter::Rule::parse(text).unwrap(), tenter::Level::User, "test");
    }
    let mut builder = builder().profile("mecatl").unwrap().rules(rules);
    for (command, policy) in commands {
        let mut hook = hooks([("PreToolUse", *command)], None, None).unwrap().remove(0);
        hook.on_failure = *policy;
        builder = builder.hook(hook);
    }
    builder.build().session("s1")
}

const ASK: &str = r#"echo '{"decision":"ask","message":"sure?"}'"#;

#[tokio::test]
async fn k79_what_the_learner_arms_is_one_call_of_one_session() {
    let session = asking(&[(ASK, None)], None);
    let push = call("git push");
    assert_eq!(session.fire(&push).await.decision, Decision::Ask);
    session.learn(&push).await;
    let outcome = session.fire(&push).await;
    assert_eq!((outcome.decision, outcome.reason.as_deref()), (Decision::None, None));
    assert_eq!(outcome.hooks[0].decision, Decision::Ask, "the report keeps what the hook said");
    assert!(outcome.messages.iter().any(|one| one.text.contains("sure?")));

    assert_eq!(session.fire(&call("git push ")).await.decision, Decision::Ask);
    let other_tool = event("PreToolUse", "Bash", json!({ "command": "git push" }).into(), "s1", "");
    assert_eq!(session.fire(&other_tool.unwrap()).await.decision, Decision::Ask);
    let elsewhere = session.engine().session("s2");
    let mut push = call("git push");
    push.origin.session_id = "s2".into();
    assert_eq!(elsewhere.fire(&push).await.decision, Decision::Ask);
    assert_eq!(session.fire(&push).await.decision, Decision::Ask, "an event of another session");
}

#[tokio::test]
async fn a_waiver_lifts_no_block_no_failure_and_no_rule() {
    let push = call("git push");
    let decide = async |session: Session| {
        session.learn(&push).await;
        session.fire(&push).await.decision
    };
    assert_eq!(decide(asking(&[(ASK, None), ("exit 2", None)], None)).await, Decision::Deny);
    assert_eq!(decide(asking(&[(ASK, None), ("exit 1", None)], None)).await, Decision::Deny);
    let failing = [(ASK, None), ("exit 1", Some(OnFailure::Ask))];
    assert_eq!(decide(asking(&failing, None)).await, Decision::Ask);
    assert_eq!(decide(asking(&[(ASK, None)], Some("Bash(git push)"))).await, Decision::Ask);
    // Nor does it run a call that somebody has rewritten since.
    let rewrite = r#"echo '{"mutated":{"command":"rm x"}}'"#;
    assert_eq!(decide(asking(&[(rewrite, None), (ASK, None)], None)).await, Decision::Ask);
    assert_eq!(decide(asking(&[(ASK, None)], None)).await, Decision::None);
}

#[tokio::test]
async fn k99_a_cancelled_run_still_tells_its_end_through_the_port() {
    let home = TestHome::new();
    let told = home.project().join("told");
    let command = format!("cat > {}", told.display());
    for phase in ["Stop", "SubagentStop", "TeammateIdle"] {
        let session = session_in(&home, &[(phase, &command)]);
        let runner: &dyn HookRunner = &session;
        let cancel = CancellationToken::new();
        cancel.cancel();
        let event = event(phase, "", json!({}).into(), "s1", "").unwrap();
        let outcome = runner.run(&event, &RunContext::new().with_cancel(cancel)).await;
        assert_eq!(outcome.hooks[0].status, Status::Ok, "{phase}");
        assert!(std::fs::read_to_string(&told).unwrap().contains(phase));
    }
}

#[tokio::test]
async fn b94_a_cancelled_run_publishes_no_result_that_a_redactor_has_not_seen() {
    let home = TestHome::new();
    let session = session_in(&home, &[("PostToolUse", "sleep 60")]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let outcome = session.fire_with(&result(), &RunContext::new().with_cancel(cancel)).await;
    let effective = outcome.rewritten.unwrap().to_string();
    assert!(!effective.contains("secret") && effective.contains("withheld"), "{effective}");
}
