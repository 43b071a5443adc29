//! Sessions over the end of a process.

use std::os::unix::fs::PermissionsExt as _;

use tenter::{EventKind, Verdict};
use tenter_agent::{Answer, Message, Mode, Status, StoreError};

use crate::support::*;

#[tokio::test]
async fn a_session_goes_on_where_it_was() {
    let seen = Seen::default();
    let saw = seen.clone();
    let start = move |_: &tenter::Event| {
        saw.push("start");
        Verdict::none().with_context("welcome")
    };
    let script = format!("{}[[turn]]\ntext = \"again\"\n", bash(&["echo one"]));
    let world = World::new(&script, vec![hook(EventKind::SessionStart, start)]);
    let mut agent = world.builder().start();
    turn(&mut agent, "hi").await;
    let before = agent.history().to_vec();
    drop(agent);

    let mut agent = world.builder().resume().unwrap();
    assert_eq!(agent.history(), before);
    assert_eq!(turn(&mut agent, "more").await.text, "again");
    assert_eq!(seen.all(), ["start"], "a session starts once");
    assert_eq!(world.of("session.init")[1]["resumed"], true);
    let asked = world.provider.log().pop().unwrap();
    assert_eq!(asked.messages[..before.len()], before);

    let file = world.folder.path().join("state/s.jsonl");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_session_is_open_once() {
    let world = World::new("[[turn]]\ntext = \"x\"", vec![]);
    let _agent = world.builder().start();
    assert!(matches!(world.builder().resume(), Err(StoreError::Busy { .. })));
}

/// Wherever a file ends, what was written before is there, and no tool runs a second time.
#[tokio::test]
async fn a_session_that_was_cut_anywhere_resumes_without_running_a_tool_again() {
    for mode in [Mode::Bypass, Mode::Default] {
        cut_anywhere(mode).await;
    }
}

/// With questions in the default mode, which nobody is there to answer again.
async fn cut_anywhere(mode: Mode) {
    let mut world = World::new(&bash(&["echo 1 >>ran", "echo 2 >>ran"]), vec![]);
    world.mode = mode;
    let human = Says::these(&[Answer::Allow, Answer::Allow]);
    let mut agent = world.builder().human(human).start();
    turn(&mut agent, "hi").await;
    drop(agent);
    let whole = world.stored();
    assert_eq!(std::fs::read_to_string(world.project().join("ran")).unwrap(), "1\n2\n");
    let file = world.folder.path().join("state/s.jsonl");
    let head = whole.find('\n').unwrap() + 1;
    for cut in (head..whole.len()).step_by(7) {
        std::fs::write(&file, &whole.as_bytes()[..cut]).unwrap();
        let other = World::new("[[turn]]\ntext = \"on\"", vec![]);
        let state = other.folder.path().join("state");
        std::fs::create_dir_all(&state).unwrap();
        std::fs::copy(&file, state.join("s.jsonl")).unwrap();
        let mut agent = other.builder().resume().unwrap();
        assert_eq!(turn(&mut agent, "go on").await.status, Status::Complete, "cut at {cut}");
        assert!(!other.project().join("ran").exists(), "cut at {cut}");
        // Every call has its result, under its own id.
        let mut open = Vec::new();
        for message in agent.history() {
            match message {
                Message::Assistant { calls, .. } => {
                    open = calls.iter().map(|call| call.id.clone()).collect();
                }
                Message::Results(results) => {
                    let ids: Vec<_> = results.iter().map(|one| one.call_id.clone()).collect();
                    assert_eq!(ids, open, "cut at {cut}");
                    open.clear();
                }
                Message::User { .. } => assert!(open.is_empty(), "cut at {cut}"),
            }
        }
        // What was answered on resuming is kept, so that a second resume finds the same.
        let history = agent.history().to_vec();
        drop(agent);
        assert_eq!(other.builder().resume().unwrap().history(), history, "cut at {cut}");
    }
}

#[tokio::test]
async fn a_store_that_fails_is_said_once_and_ends_no_turn() {
    let world = World::new(&bash(&["echo 1"]), vec![]);
    std::fs::write(world.folder.path().join("state"), "a file, no folder").unwrap();
    assert_eq!(world.run("hi").await.status, Status::Complete);
    let warnings = world.of("notification");
    let warnings = warnings.iter().filter(|one| one["notification_type"] == "warning");
    assert_eq!(warnings.count(), 1);
}

#[tokio::test]
async fn tasks_and_the_names_of_agents_outlive_the_process() {
    let script = r#"
[[turn]]
[[turn.call]]
tool = "TaskAdd"
input = { description = "first" }
[[turn.call]]
tool = "TaskAdd"
input = { description = "second" }
[[turn]]
[[turn.call]]
tool = "TaskClaim"
input = { id = "task-1" }
[[turn.call]]
tool = "Agent"
input = { prompt = "help" }
[[turn]]
agent = "general"
text = "helped"
[[turn]]
text = "done"
[[turn]]
[[turn.call]]
tool = "TaskComplete"
input = { id = "task-1" }
[[turn.call]]
tool = "TaskAdd"
input = { description = "third" }
[[turn.call]]
tool = "Agent"
input = { prompt = "help again" }
[[turn]]
agent = "general"
text = "helped again"
[[turn]]
text = "done"
"#;
    let seen = Seen::default();
    let saw = seen.clone();
    let start = move |event: &tenter::Event| {
        saw.push(event.origin.agent.clone().unwrap().id.unwrap());
        Verdict::none()
    };
    let world = World::new(script, vec![hook(EventKind::SubagentStart, start)]);
    let mut agent = world.builder().start();
    turn(&mut agent, "hi").await;
    agent.end("exit", LIMIT).await;
    let mut agent = world.builder().resume().unwrap();
    turn(&mut agent, "more").await;
    let results = results(agent.history());
    agent.end("exit", LIMIT).await;
    let contents: Vec<&str> = results.iter().map(|result| result.content.as_str()).collect();
    assert_eq!(
        contents,
        [
            "added task-1",
            "added task-2",
            "claimed task-1: first",
            "helped",
            "completed task-1",
            "added task-3",
            "helped again"
        ]
    );
    assert_eq!(seen.all(), ["agent-1", "agent-2"]);
}
