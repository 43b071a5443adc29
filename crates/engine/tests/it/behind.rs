//! What runs behind the host, and configurations that change while it runs.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tenter::core::json::Json;
use tenter::record::{JsonLines, Memory};
use tenter::{Event, EventKind, FunctionHook, Verdict};

use crate::support::*;

#[tokio::test]
async fn notifications_run_in_order_and_are_drained_at_the_end() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&seen);
    let hook = FunctionHook::sync("listen", [EventKind::Notification], move |event| {
        let message = event.extra.get("message").and_then(Json::as_str).unwrap().into_owned();
        list.lock().unwrap().push(message);
        Verdict::none()
    });
    let session = builder().function(hook).build().session("s");
    for n in 0..100 {
        session.notify(&Event::notification("idle", &n.to_string()));
    }
    let finished = session.finish(Duration::from_secs(30)).await;
    assert_eq!((finished.outcomes.len(), finished.ended, finished.dropped), (100, 0, 0));
    let expected: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_detached_process_is_finished_before_the_session_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("done");
    let hook =
        with(shell("note", &format!("cat >/dev/null; echo x > {}", path.display())), |hook| {
            hook.detach = true;
        });
    let session = engine([hook]).session("s");
    let outcome = session.fire(&bash("ls")).await;
    assert!(report(&outcome, "note").detached);
    let finished = session.finish(Duration::from_secs(30)).await;
    assert!(path.exists());
    assert_eq!(finished.outcomes[0].hooks[0].process().unwrap().exit_code, Some(0));
}

#[tokio::test]
async fn what_is_not_done_in_time_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("pid");
    let hook = with(scripted("hang", &["ready", &ready.display().to_string(), "hang"]), |hook| {
        hook.detach = true;
    });
    let session = engine([hook]).session("s");
    session.fire(&bash("ls")).await;
    let path = ready.clone();
    let pid =
        tokio::task::spawn_blocking(move || tenter_testkit::wait_for_pid(&path)).await.unwrap();
    let finished = session.finish(Duration::from_millis(50)).await;
    assert_eq!(finished.ended, 1);
    assert!(!tenter_testkit::is_alive(pid));
}

#[tokio::test]
async fn a_detached_hook_cannot_decide() {
    let hook = with(shell("late", "echo '{\"decision\":\"deny\"}'"), |hook| hook.detach = true);
    let session = engine([hook]).session("s");
    assert!(session.fire(&bash("ls")).await.may_proceed());
    let finished = session.finish(Duration::from_secs(30)).await;
    assert_eq!(finished.outcomes[0].hooks[0].diagnostics()[0].code, "hook.detached");
}

#[tokio::test]
async fn events_are_recorded_without_their_payload() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/records.jsonl");
    let recorder = Arc::new(JsonLines::open(&path).unwrap());
    let session =
        builder().hook(reply("no", Verdict::deny("no"))).recorder(recorder).build().session("s1");
    session.fire(&bash("a secret command")).await;
    let text = std::fs::read_to_string(&path).unwrap();
    let record: serde_json::Value = serde_json::from_str(text.trim_end()).unwrap();
    assert_eq!(record["session_id"], "s1");
    assert_eq!(record["hooks"][0]["decision"], "deny");
    assert!(!text.contains("a secret command") && record["payload_sha256"].is_string());
}

#[tokio::test]
async fn memory_keeps_the_newest_records() {
    let memory = Arc::new(Memory::new(2));
    let recorder: Arc<dyn tenter::record::Recorder> = memory.clone();
    let session =
        builder().hook(reply("yes", Verdict::allow())).recorder(recorder).build().session("s");
    for _ in 0..5 {
        session.fire(&bash("ls")).await;
    }
    assert_eq!(memory.records().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_go_on_while_the_configuration_is_swapped() {
    let calls = counter();
    let counted = calls.clone();
    let hook = FunctionHook::sync("count", [EventKind::PreToolUse], move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Verdict::none()
    });
    let engine = builder().function(hook).build();
    let tasks: Vec<_> = (0..4)
        .map(|n| {
            let session = engine.session(format!("s{n}"));
            tokio::spawn(async move {
                for _ in 0..500 {
                    assert_eq!(session.fire(&bash("ls")).await.hooks.len(), 1);
                }
            })
        })
        .collect();
    for _ in 0..50 {
        engine.reload().unwrap();
        tokio::task::yield_now().await;
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(calls.load(Ordering::SeqCst), 2000);
}
