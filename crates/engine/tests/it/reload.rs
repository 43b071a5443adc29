//! An engine on files: trust at the start of a hook, and configurations that are swapped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tenter::config::LoadError;
use tenter::{Decision, Engine, EventKind, Files};

use crate::support::*;
use crate::world::{World, mode};

/// An engine on the files of a world.
fn engine_of(world: &World) -> Engine {
    let files = Files { owners: world.owners(), ..Files::new(world.places()) };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let environment =
        [("PATH".into(), path), ("HOME".into(), world.places().home.into_os_string())];
    Engine::builder().environment(environment).files(files).try_build().unwrap()
}

fn denies(reason: &str) -> String {
    format!(
        "[[hook]]\nname = \"{reason}\"\nevent = \"PreToolUse\"\nreply = {{ decision = \"deny\", reason = \"{reason}\" }}\n"
    )
}

#[tokio::test]
async fn a_reload_swaps_the_whole_and_the_masks_of_live_sessions_are_right_at_once() {
    let world = World::new();
    world.user(&denies("one"));
    let engine = engine_of(&world);
    let session = engine.session("s");
    assert_eq!(session.fire(&bash("ls")).await.reason.as_deref(), Some("one"));
    world.user(&denies("two"));
    assert_eq!(session.fire(&bash("ls")).await.reason.as_deref(), Some("one"));
    engine.reload().unwrap();
    assert_eq!(session.fire(&bash("ls")).await.reason.as_deref(), Some("two"));
    assert!(!session.wants(&EventKind::Stop));
    world.user("[[hook]]\nevent = \"Stop\"\nreply = {}\n");
    engine.reload().unwrap();
    assert!(session.wants(&EventKind::Stop));
    assert_eq!(session.fire(&bash("ls")).await.reason, None);
    world.user("");
    engine.reload().unwrap();
    assert!(!session.wants(&EventKind::Stop));
}

#[tokio::test]
async fn a_file_that_no_longer_parses_leaves_the_old_configuration_in_force() {
    let world = World::new();
    let file = world.user(&denies("one"));
    let engine = engine_of(&world);
    let session = engine.session("s");
    world.user("[[hook]\n");
    match engine.reload() {
        Err(LoadError::Broken { path, diagnostics, .. }) => {
            assert_eq!(path, file);
            assert_eq!(diagnostics[0].position.as_ref().unwrap().line, 1);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(session.fire(&bash("ls")).await.reason.as_deref(), Some("one"));
}

#[tokio::test]
async fn strikes_start_anew_with_a_reload() {
    let world = World::new();
    world.user("[[hook]]\nname = \"lax\"\nevent = \"PreToolUse\"\ncommand = \"exit 1\"\non_failure = \"allow\"\n");
    let engine = engine_of(&world);
    let session = engine.session("s");
    for _ in 0..3 {
        session.fire(&bash("ls")).await;
    }
    assert_eq!(statuses(&session.fire(&bash("ls")).await), ["strikes"]);
    engine.reload().unwrap();
    assert_eq!(statuses(&session.fire(&bash("ls")).await), ["crash"]);
}

#[tokio::test]
async fn a_project_is_skipped_loudly_runs_when_trusted_and_fails_closed_when_its_script_changes() {
    let world = World::new();
    let script = world.home.write("guard.sh", "#!/bin/sh\nexit 0\n");
    mode(&script, 0o755);
    world.project(
        "[[hook]]\nname = \"guard\"\nevent = \"PreToolUse\"\ncommand = [\"./guard.sh\"]\n",
    );

    let outcome = engine_of(&world).session("s").fire(&bash("ls")).await;
    assert_eq!(statuses(&outcome), ["untrusted"]);
    assert!(outcome.messages[0].text.contains("tenter trust"));

    world.trust_it();
    let engine = engine_of(&world);
    let session = engine.session("s");
    assert_eq!(statuses(&session.fire(&bash("ls")).await), ["ok"]);

    // Noticed at the start of the hook, without a reload.
    std::fs::write(&script, "#!/bin/sh\nexit 0 # changed\n").unwrap();
    let outcome = session.fire(&bash("ls")).await;
    assert_eq!(statuses(&outcome), ["trust"]);
    assert_eq!(outcome.decision, Decision::Deny);
    let reason = outcome.reason.unwrap();
    assert!(reason.contains("guard.sh") && reason.contains("tenter trust"), "{reason}");

    engine.reload().unwrap();
    assert_eq!(statuses(&session.fire(&bash("ls")).await), ["trust"]);
    world.trust_it();
    engine.reload().unwrap();
    assert_eq!(statuses(&session.fire(&bash("ls")).await), ["ok"]);
}

#[tokio::test]
async fn a_broken_entry_denies_what_it_selects_and_lets_itself_be_mended() {
    let world = World::new();
    let file = world.user("[[hook]]\nevent = \"PreToolUse\"\nmatcher = \"Bash|Edit|Read\"\ncommand = [\"x\"]\ntimeout = 5\n");
    let session = engine_of(&world).session("s");
    let outcome = session.fire(&bash("ls")).await;
    assert_eq!(statuses(&outcome), ["config"]);
    let reason = outcome.reason.unwrap();
    assert!(reason.contains("hooks.toml:5:"), "{reason}");

    let call = |tool: &str, path: &std::path::Path| {
        tenter::Event::pre_tool(tool, serde_json::json!({ "file_path": path }).into())
    };
    assert_eq!(session.fire(&call("Read", &file)).await.decision, Decision::None);
    // As any change of a hooks file, that is a question to a person.
    assert_eq!(session.fire(&call("Edit", &file)).await.decision, Decision::Ask);
    assert_eq!(
        session.fire(&call("Edit", &file.with_file_name("other"))).await.decision,
        Decision::Deny
    );
    assert_eq!(session.fire(&call("WebFetch", &file)).await.decision, Decision::None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_event_sees_one_configuration_or_the_other_and_never_a_mixture() {
    let world = World::new();
    let both = |name: &str| {
        format!("{}{}", denies(&format!("{name} first")), denies(&format!("{name} second")))
    };
    world.user(&both("a"));
    let engine = engine_of(&world);
    let done = Arc::new(AtomicBool::new(false));
    let saw_both = counter();
    let tasks: Vec<_> = (0..3)
        .map(|n| {
            let (session, done) = (engine.session(n.to_string()), Arc::clone(&done));
            let saw_both = Arc::clone(&saw_both);
            tokio::spawn(async move {
                let mut seen = std::collections::BTreeSet::new();
                while !done.load(Ordering::Acquire) {
                    let reason = session.fire(&bash("ls")).await.reason.unwrap();
                    assert!(
                        matches!(reason.as_str(), "a first\na second" | "b first\nb second"),
                        "{reason}"
                    );
                    if seen.insert(reason) && seen.len() == 2 {
                        saw_both.fetch_add(1, Ordering::AcqRel);
                    }
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    let limit = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let mut swaps = 0;
    while swaps < 60 || saw_both.load(Ordering::Acquire) < 3 {
        assert!(std::time::Instant::now() < limit, "not every session has seen both");
        world.user(&both(if swaps % 2 == 0 { "b" } else { "a" }));
        engine.reload().unwrap();
        swaps += 1;
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    done.store(true, Ordering::Release);
    for task in tasks {
        task.await.unwrap();
    }
}
