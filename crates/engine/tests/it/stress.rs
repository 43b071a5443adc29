//! Two hosts in one process, reloads under load, a finish at the end: nothing lost, nothing left.
//!
//! It runs for two seconds; `TENTER_STRESS_SECONDS=60 cargo test -p tenter --test it stress` makes
//! it a minute.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tenter::core::contract::OnFailure;
use tenter::{CancellationToken, Event, EventKind, FunctionHook, RunContext, Verdict};

use crate::support::*;

fn seconds() -> u64 {
    std::env::var("TENTER_STRESS_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2)
}

/// A host: an engine with hooks of every kind, and how often its function was called.
fn host(folder: &std::path::Path) -> (tenter::Engine, Arc<AtomicUsize>) {
    let calls = counter();
    let counted = calls.clone();
    let function =
        FunctionHook::sync("count", [EventKind::PreToolUse, EventKind::Notification], move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            Verdict::none()
        });
    let note = folder.join("notes").display().to_string();
    let engine = builder()
        .function(function)
        .hook(shell("process", "cat >/dev/null; echo '{\"context\":\"x\"}'"))
        .hook(shell("leaves one behind", "sleep 0.05 >/dev/null 2>&1 &"))
        .hook(with(shell("slow", "sleep 5"), |hook| {
            hook.timeout = Some(Duration::from_millis(20));
            hook.on_failure = Some(OnFailure::Allow);
        }))
        .hook(with(shell("detached", &format!("echo x >> {note}")), |hook| hook.detach = true))
        .build();
    (engine, calls)
}

#[test]
fn two_hosts_under_load_lose_nothing_and_leave_nothing() {
    run_alone("stress::two_hosts_inside");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by the test above in a process of its own"]
async fn two_hosts_inside() {
    let end = Instant::now() + Duration::from_secs(seconds());
    let mut hosts = Vec::new();
    for _ in 0..2 {
        let folder = tempfile::tempdir().unwrap();
        let (engine, calls) = host(folder.path());
        let tasks: Vec<_> = (0..4)
            .map(|n| {
                let session = engine.session(format!("session {n}"));
                tokio::spawn(async move {
                    let (mut fired, mut notified, mut detached) = (0, 0, 0);
                    while Instant::now() < end {
                        let event = bash("ls");
                        if fired % 5 == 4 {
                            // A caller that changes its mind.
                            let cancel = CancellationToken::new();
                            let cx = RunContext::new().with_cancel(cancel.clone());
                            let (outcome, ()) =
                                tokio::join!(session.fire_with(&event, &cx), async {
                                    tokio::time::sleep(Duration::from_millis(2)).await;
                                    cancel.cancel();
                                });
                            assert_eq!(outcome.hooks.len(), 5);
                        } else {
                            let outcome = session.fire(&event).await;
                            assert_eq!(outcome.context, ["x"]);
                        }
                        fired += 1;
                        detached += 1;
                        if fired % 3 == 0 {
                            session.notify(&Event::notification("idle", "x"));
                            notified += 1;
                        }
                    }
                    let finished = session.finish(Duration::from_mins(1)).await;
                    assert_eq!((finished.ended, finished.dropped), (0, 0));
                    (fired, notified, detached)
                })
            })
            .collect();
        let reloads = tokio::spawn({
            let engine = engine.clone();
            async move {
                while Instant::now() < end {
                    engine.reload().unwrap();
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
        });
        hosts.push((folder, calls, tasks, reloads));
    }
    for (folder, calls, tasks, reloads) in hosts {
        let (mut expected, mut notes) = (0, 0);
        for task in tasks {
            let (fired, notified, detached) = task.await.unwrap();
            expected += fired + notified;
            notes += detached;
        }
        reloads.await.unwrap();
        assert_eq!(calls.load(Ordering::SeqCst), expected);
        let written = std::fs::read_to_string(folder.path().join("notes")).unwrap();
        assert_eq!(written.lines().count(), notes, "each detached hook has run once");
        assert!(expected > 10);
    }
    no_child_is_left().await;
}

/// Nothing that hooks started is a child of this process any more, dead or alive.
async fn no_child_is_left() {
    let children = || {
        let of_this_thread = std::fs::read_dir("/proc/self/task")
            .unwrap()
            .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok());
        of_this_thread.collect::<String>()
    };
    let limit = Instant::now() + Duration::from_secs(20);
    while !children().trim().is_empty() {
        assert!(Instant::now() < limit, "still there: {}", children());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
