//! An interrupt ends a turn promptly at any point, and publishes nothing raw.

use std::time::{Duration, Instant};

use tenter::{CancellationToken, EventKind, FunctionHook, Verdict};
use tenter_agent::{Message, Status};

use crate::support::*;

/// How long an interrupt may take on a busy machine. What is interrupted would hang for ever.
const PROMPT: Duration = Duration::from_secs(5);

/// Runs a turn and cancels it once `when` holds.
async fn cancelled_when(world: &World, when: impl Fn(&World) -> bool) -> tenter_agent::Agent {
    let mut agent = world.builder().start();
    let cancel = CancellationToken::new();
    let mut since = None;
    let end = {
        let turn = agent.turn("hi", &cancel);
        tokio::pin!(turn);
        let begun = Instant::now();
        loop {
            tokio::select! {
                end = &mut turn => break end,
                () = tokio::time::sleep(Duration::from_millis(2)) => {
                    assert!(begun.elapsed() < LIMIT, "it never came to the point");
                    if since.is_none() && when(world) {
                        cancel.cancel();
                        since = Some(Instant::now());
                    }
                }
            }
        }
    };
    let since = since.expect("it did not end before");
    assert!(since.elapsed() < PROMPT, "it took {:?}", since.elapsed());
    assert_eq!(end.status, Status::Cancelled);
    assert_eq!(world.of("result")[0]["status"], "cancelled");
    agent
}

fn hangs(kind: EventKind) -> FunctionHook {
    FunctionHook::future(format!("hangs on {kind}"), [kind], |_| async {
        std::future::pending::<Verdict>().await
    })
}

#[tokio::test]
async fn while_the_model_speaks() {
    let world = World::new("[[turn]]\ntext = \"half of\"\nhang = true", vec![]);
    let agent = cancelled_when(&world, |world| !world.of("model.delta").is_empty()).await;
    assert!(matches!(&agent.history()[1], Message::Assistant { text, .. } if text == "half of"));
}

#[tokio::test]
async fn while_hooks_on_the_way_in_hang() {
    for kind in [EventKind::SessionStart, EventKind::UserPromptSubmit] {
        let world = World::new("[[turn]]\ntext = \"x\"", vec![hangs(kind)]);
        let begun = Instant::now();
        let agent = cancelled_when(&world, |_| begun.elapsed() > Duration::from_millis(50)).await;
        assert!(agent.history().is_empty() && world.provider.log().is_empty());
    }
}

#[tokio::test]
async fn while_a_hook_before_the_tool_hangs() {
    let world = World::new(&bash(&["touch ran"]), vec![hangs(EventKind::PreToolUse)]);
    cancelled_when(&world, |world| !world.of("tool.call").is_empty()).await;
    assert!(!world.project().join("ran").exists());
    assert_eq!(world.of("tool.result")[0]["content"], "not run: the turn was cancelled");
}

#[tokio::test]
async fn while_a_tool_runs_its_processes_end() {
    let world = World::new(&bash(&["echo $$ >pid; sleep 600", "touch ran"]), vec![]);
    let pid = world.project().join("pid");
    let has_pid = |_: &World| std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'));
    cancelled_when(&world, has_pid).await;
    let process = format!("/proc/{}", std::fs::read_to_string(&pid).unwrap().trim());
    let begun = Instant::now();
    // A process that has ended and was not reaped yet has no command line any more.
    while std::fs::read(format!("{process}/cmdline")).is_ok_and(|line| !line.is_empty()) {
        assert!(begun.elapsed() < PROMPT, "the shell lives on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!world.project().join("ran").exists());
    assert!(world.of("tool.result")[0]["content"].as_str().unwrap().starts_with("cancelled while"));
}

#[tokio::test]
async fn while_a_hook_looks_at_a_result_it_is_withheld() {
    let world = World::new(&bash(&["echo RAW; touch ran"]), vec![hangs(EventKind::PostToolUse)]);
    let ran = world.project().join("ran");
    let agent = cancelled_when(&world, |_| ran.exists()).await;
    let script = "echo RAW; touch ran";
    let all = format!("{:?}{:?}{}", world.stream(), agent.history(), world.stored());
    assert!(!all.replace(script, "").contains("RAW"), "{all}");
}

/// hotl 30: what the profile says about a cancelled result is data, and the loop keeps to it.
#[tokio::test]
async fn whose_profile_keeps_a_cancelled_result_has_it_as_it_is() {
    for (host, keeps) in [("hotl", true), ("tenter", false)] {
        let seen = Seen::default();
        let saw = seen.clone();
        let look = FunctionHook::future("look", [EventKind::PostToolUse], move |_| {
            saw.push("saw");
            async { std::future::pending::<Verdict>().await }
        });
        let rules = tenter::RuleSet::new();
        let world = World::on_host(host, &bash(&["echo RAW"]), vec![look], rules);
        cancelled_when(&world, |_| !seen.all().is_empty()).await;
        let result = &world.of("tool.result")[0];
        assert_eq!(result["content"] == "RAW\n", keeps, "{result}");
        assert_eq!(result["executed"], true);
    }
}

#[tokio::test]
async fn while_a_stop_hook_hangs() {
    let world = World::new("[[turn]]\ntext = \"x\"", vec![hangs(EventKind::Stop)]);
    cancelled_when(&world, |world| !world.of("model.delta").is_empty()).await;
}

#[tokio::test]
async fn while_a_subagent_works() {
    let script = "[[turn]]\n[[turn.call]]\ntool = \"Agent\"\ninput = { prompt = \"p\" }\n\
                  [[turn]]\nagent = \"general\"\ntext = \"y\"\nhang = true";
    let world = World::new(script, vec![]);
    cancelled_when(&world, |world| !world.of("model.delta").is_empty()).await;
}

#[tokio::test]
async fn before_it_began() {
    let world = World::new("[[turn]]\ntext = \"x\"", vec![]);
    let mut agent = world.builder().start();
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert_eq!(agent.turn("hi", &cancel).await.status, Status::Cancelled);
    assert!(world.provider.log().is_empty());
}

#[tokio::test]
async fn a_slow_notifier_holds_up_nobody() {
    let slow = FunctionHook::future("slow", [EventKind::Notification], |_| async {
        std::future::pending::<Verdict>().await
    });
    let world = World::new("[[turn]]\ntext = \"x\"", vec![slow]);
    let mut agent = world.builder().start();
    let begun = Instant::now();
    assert_eq!(turn(&mut agent, "hi").await.status, Status::Complete);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    let begun = Instant::now();
    assert_eq!(agent.end("exit", Duration::from_millis(50)).await, 1);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}
