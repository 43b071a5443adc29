//! Payloads of a real agent through the program, and the examples that are shipped.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tenter_testkit::{is_alive, read_pid, scripted_hook, wait_for_file, wait_until_dead};

use crate::support::Home;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn every_recorded_event_reaches_its_hook_and_explain_agrees() {
    let home = Home::new();
    let mut seen = 0;
    for file in std::fs::read_dir(root().join("examples/recordings/claude")).unwrap() {
        let file = file.unwrap().path().display().to_string();
        let event: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let kind = event["hook_event_name"].as_str().unwrap();
        home.write_user(&format!(
            "[[hook]]\nname = \"tell\"\nevent = \"{kind}\"\nreply = {{ context = \"told\" }}\n"
        ));
        let fired = home.tenter(&["fire", "--event-file", &file, "--json"]).run();
        assert_eq!(fired.code, 0, "{file}: {fired}");
        let fired = fired.json();
        assert_eq!(fired["event"], kind, "{file}");
        assert_eq!(fired["hooks"][0]["status"], "ok", "{file}");
        assert_eq!(fired["hooks"][0]["context"], "told", "{file}");
        let contract = tenter::hosts::native::PROFILE.contract(&tenter::EventKind::of(kind));
        let delivered = if contract.delivers_context {
            serde_json::json!(["told"])
        } else {
            serde_json::json!([])
        };
        assert_eq!(fired["context"], delivered, "{file}");

        let explained = home.tenter(&["explain", "--event-file", &file, "--json"]).run().json();
        assert_eq!(explained["event"], kind, "{file}");
        assert_eq!(explained["hooks"][0]["name"], "tell", "{file}");
        assert!(explained["hooks"][0]["skip"].is_null(), "{file}");
        seen += 1;
    }
    assert_eq!(seen, 48);
}

#[test]
fn nothing_is_wrong_with_any_example() {
    let home = Home::new();
    let example = root().join("examples/quickstart/hooks.toml").display().to_string();
    let checked = home.tenter(&["check", "--strict", &example]).run();
    assert_eq!(checked.code, 0, "{checked}");
}

#[test]
fn the_quickstart_denies_one_call_and_rewrites_the_other() {
    let home = Home::new();
    let quickstart = root().join("examples/quickstart");
    let path = |name: &str| quickstart.join(name).display().to_string();
    let (project, config) = (quickstart.display().to_string(), path("hooks.toml"));
    let fire = |event: &str| {
        let args =
            ["fire", "--project", &project, "--config", &config, "--event-file", event, "--json"];
        home.tenter(&args).run()
    };
    let denied = fire(&path("events/edit.json"));
    assert_eq!(denied.code, 2, "{denied}");
    assert_eq!(denied.json()["reason"], "seed.txt is generated. Change seed.in and run make.");
    let rewritten = fire(&path("events/bash.json"));
    assert_eq!(rewritten.code, 0, "{rewritten}");
    let rewritten = rewritten.json();
    assert_eq!(rewritten["payload"], serde_json::json!({"command": "echo hi", "timeout": 120_000}));
    assert_eq!(rewritten["context"][0], "This machine runs Linux.");
}

#[test]
fn killing_the_program_in_the_middle_of_eight_hooks_leaves_none_of_them() {
    let home = Home::new();
    let folder = home.root();
    let hook = |n: usize| {
        let ready = folder.join(format!("ready-{n}"));
        let words =
            [&scripted_hook().display().to_string(), "ready", &ready.display().to_string(), "hang"]
                .map(|word| format!("{word:?}"))
                .join(", ");
        format!("[[hook]]\nname = \"{n}\"\nevent = \"PreToolUse\"\ncommand = [{words}]\n")
    };
    home.write_user(&(0..8).map(hook).collect::<String>());
    let mut tenter = home
        .command(&["fire", "--tool", "Bash", "--input", "{}"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pids: Vec<_> = (0..8)
        .map(|n| {
            let ready = folder.join(format!("ready-{n}"));
            wait_for_file(&ready);
            read_pid(&ready).unwrap()
        })
        .collect();
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    tenter.kill().unwrap();
    tenter.wait().unwrap();
    for pid in pids {
        wait_until_dead(pid);
    }
}
