//! `tenter install` and `tenter uninstall`: tenter in the files of hosts, and out again.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use insta::assert_snapshot;
use tenter::hosts::bridge;

use crate::support::{Home, Said};

fn run(home: &Home, args: &[&str]) -> Said {
    home.tenter(args).run()
}

/// The program's own path, as it stands in the files.
fn without_program(text: &str) -> String {
    text.replace(env!("CARGO_BIN_EXE_tenter"), "[TENTER]")
}

const MINE: &str = r#"{
  // What I like.
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "./mine.sh" }] } // kept
    ]
  },
  "env": { "A": "1" }
}
"#;

#[test]
fn it_stands_in_a_host_s_file_beside_what_was_there() {
    let home = Home::new();
    let file = home.home().join(".claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, MINE).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let installed = run(&home, &["install", "claude"]);
    assert_eq!(installed.code, 0, "{installed}");
    let text = fs::read_to_string(&file).unwrap();
    assert_snapshot!("claude", format!("{installed}\n{}", without_program(&text)));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    let again = run(&home, &["install", "claude"]);
    assert_eq!(again.code, 0, "{again}");
    assert!(again.stdout.contains("stands there already"), "{again}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);

    let removed = run(&home, &["uninstall", "claude"]);
    assert_eq!(removed.code, 0, "{removed}");
    assert_eq!(fs::read_to_string(&file).unwrap(), MINE);
    assert!(fs::read_dir(home.state().join("tenter/installed")).unwrap().next().is_none());
}

#[test]
fn every_host_s_file_becomes_what_it_was() {
    for bridge in bridge::all().filter(|bridge| bridge.install.is_some()) {
        for scope in ["--user", "--project"] {
            let home = Home::new();
            let installed = run(&home, &["install", bridge.name, scope, "--json"]);
            let is_there = scope == "--user" || !bridge.install.unwrap().project.is_empty();
            assert_eq!(installed.code == 0, is_there, "{} {installed}", bridge.name);
            if !is_there {
                assert!(installed.stderr.contains("hint: "), "{installed}");
                continue;
            }
            let files = installed.json()["files"].clone();
            for file in files.as_array().unwrap() {
                assert!(fs::exists(file["file"].as_str().unwrap()).unwrap(), "{file}");
            }
            let removed = run(&home, &["uninstall", bridge.name]);
            assert_eq!(removed.code, 0, "{removed}");
            for file in files.as_array().unwrap() {
                assert!(!fs::exists(file["file"].as_str().unwrap()).unwrap(), "{file}");
            }
            let nothing = run(&home, &["uninstall", bridge.name]);
            assert_eq!((nothing.code, nothing.stdout.as_str()), (0, ""), "{nothing}");
        }
    }
}

#[test]
fn what_was_added_since_stays() {
    let home = Home::new();
    let file = home.home().join(".codex/hooks.json");
    assert_eq!(run(&home, &["install", "codex"]).code, 0);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("{\n", "{\n  \"description\": \"ours\",\n", 1)).unwrap();
    // Installed anew, it is not taken for what was there.
    assert_eq!(run(&home, &["install", "codex", "--timeout", "2m"]).code, 0);
    let removed = run(&home, &["uninstall", "codex"]);
    assert_eq!(removed.code, 0, "{removed}");
    let left: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(left, serde_json::json!({ "description": "ours" }));
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let home = Home::new();
    let file = home.home().join(".claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, MINE).unwrap();
    let shown = run(&home, &["install", "claude", "--dry-run"]);
    assert_eq!(shown.code, 0, "{shown}");
    assert!(shown.stdout.starts_with("--- ~/.claude/settings.json\n+++ "), "{shown}");
    assert!(shown.stdout.contains("\n+    \"SessionStart\": ["), "{shown}");
    assert_eq!(fs::read_to_string(&file).unwrap(), MINE);
    assert!(!home.state().join("tenter/installed").exists());
}

#[test]
fn a_file_that_cannot_be_edited_leaves_all_as_they_are() {
    let home = Home::new();
    let broken = home.home().join(".codex/hooks.json");
    fs::create_dir_all(broken.parent().unwrap()).unwrap();
    fs::write(&broken, "{\n  \"hooks\": {,}\n}\n").unwrap();
    let said = run(&home, &["install", "claude", "codex"]);
    assert_eq!(said.code, 65, "{said}");
    assert!(said.stderr.contains(".codex/hooks.json: 2:13: "), "{said}");
    assert!(said.stderr.contains("hint: "), "{said}");
    assert!(!home.home().join(".claude").exists());
}

#[test]
fn a_link_stays_a_link() {
    let home = Home::new();
    let real = home.home().join("dotfiles.json");
    fs::write(&real, "{}\n").unwrap();
    fs::create_dir_all(home.home().join(".claude")).unwrap();
    let link = home.home().join(".claude/settings.json");
    symlink(&real, &link).unwrap();
    assert_eq!(run(&home, &["install", "claude"]).code, 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("hook claude PreToolUse"));
    assert_eq!(run(&home, &["uninstall", "claude"]).code, 0);
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}\n");
}

#[test]
fn a_variable_names_another_folder() {
    let home = Home::new();
    let folder = home.root().join("elsewhere");
    let folder = folder.to_str().unwrap();
    let said = home.tenter(&["install", "claude"]).env("CLAUDE_CONFIG_DIR", folder).run();
    assert_eq!(said.code, 0, "{said}");
    assert!(home.root().join("elsewhere/settings.json").is_file());
}

#[test]
fn a_slip_in_a_name_is_told() {
    let home = Home::new();
    let said = run(&home, &["install", "cluade"]);
    assert_eq!(said.code, 64, "{said}");
    assert!(said.stderr.contains("hint: did you mean `claude`?"), "{said}");
}

#[test]
fn what_is_installed_guards_even_when_tenter_is_gone() {
    let home = Home::new();
    assert_eq!(run(&home, &["install", "codex"]).code, 0);
    let file = fs::read_to_string(home.home().join(".codex/hooks.json")).unwrap();
    let gone = file.replace(env!("CARGO_BIN_EXE_tenter"), "/nonexistent/tenter");
    assert_ne!(gone, file);
    let file: serde_json::Value = serde_json::from_str(&gone).unwrap();
    let line = |event: &str| {
        let line = &file["hooks"][event][0]["hooks"][0]["command"];
        std::process::Command::new("sh").args(["-c", line.as_str().unwrap()]).output().unwrap()
    };
    let guard = line("PreToolUse");
    assert_eq!(guard.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&guard.stderr).contains("tenter did not run"));
    assert!(guard.stdout.is_empty());
    // What only tells must not send a turn on for ever.
    assert_eq!(line("Stop").status.code(), Some(0));
}
