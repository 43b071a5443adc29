//! Rules of mecatl's profile that one event in a test file cannot show: where its hooks start, whom a
//! cancelled run still tells, and what an approval is worth. The numbers are those of the cases in
//! `tests/spec/mecatl`.

use serde_json::json;
use tenter::hosts::mecatl::{event, hooks};
use tenter::{Decision, Event, Session};
use tenter_testkit::TestHome;

use crate::support::builder;

/// A session in a project with one command a phase.
fn session_in(home: &TestHome, commands: &[(&str, &str)]) -> Session {
    let builder = builder().profile("mecatl").unwrap().project(home.project());
    let hooks = hooks(commands.iter().copied(), None, None);
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
