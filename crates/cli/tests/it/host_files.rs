//! The hooks files of other agents, as `tenter check` sees them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::support::Home;

#[test]
fn a_host_s_file_is_checked_by_that_host_s_rules() {
    let home = Home::new();
    home.write(
        ".gemini/settings.json",
        r#"{
  // From another agent.
  "hooks": {
    "PreToolUse": [{ "hooks": [{ "type": "command", "command": "./hooks/guard.sh" }] }],
    "BeforeTool": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "echo no >&2; exit 1", "timeout": 30 }] }
    ]
  }
}
"#,
    );
    let said = home.tenter(&["check", ".gemini/settings.json"]).run();
    assert_eq!(said.code, 1, "{said}");
    assert_snapshot!("gemini", said.redacted_stdout());
}

#[test]
fn the_scripts_of_a_host_s_file_are_looked_at() {
    let home = Home::new();
    let command =
        |name: &str| format!(r#"{{"hooks":[{{"type":"command","command":"./{name} x"}}]}}"#);
    let names = ["missing.sh", "plain.sh", "crlf.sh", "sound.sh"];
    let groups = names.map(command).join(",");
    home.write(".claude/settings.json", format!(r#"{{"hooks":{{"Stop":[{groups}]}}}}"#));
    home.write("plain.sh", "#!/bin/sh\n");
    for (name, text) in [("crlf.sh", "#!/bin/sh\r\necho\r\n"), ("sound.sh", "#!/bin/sh\n")] {
        let path = home.write(name, text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let said = home.tenter(&["check", "--format", "json", ".claude/settings.json"]).run();
    assert_eq!(said.code, 1, "{said}");
    let codes: Vec<String> = said.json()["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["code"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(codes, ["host.script-missing", "host.script-not-executable", "host.script-crlf"]);
}

#[test]
fn a_host_s_file_that_is_no_json_says_where() {
    let home = Home::new();
    home.write(".codex/hooks.json", "{\n  \"hooks\": {,}\n}\n");
    let said = home.tenter(&["check", ".codex/hooks.json"]).run();
    assert_eq!(said.code, 1, "{said}");
    assert!(said.stdout.contains("host.unreadable") && said.stdout.contains(":2:13"), "{said}");
}

#[test]
fn what_tenter_installs_is_sound() {
    for host in ["claude", "codex", "gemini", "qwen", "copilot", "cursor", "droid"] {
        let home = Home::new();
        let installed = home.tenter(&["install", host, "--project", "--json"]).run().json();
        let file = installed["files"][0]["file"].as_str().unwrap().to_owned();
        let said = home.tenter(&["check", "--strict", &file]).run();
        assert_eq!(said.code, 0, "{host}: {said}");
    }
}

#[test]
fn what_a_host_would_run_is_listed_ours_and_theirs() {
    let home = Home::new();
    home.write(
        ".codex/hooks.json",
        r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"./mine.sh","timeout":5}]}]}}"#,
    );
    let none = home.tenter(&["list", "--host", "claude"]).run();
    assert_eq!((none.code, none.stdout.as_str()), (0, ""), "{none}");
    assert!(none.stderr.contains("hint: `tenter install claude`"), "{none}");
    assert_eq!(home.tenter(&["install", "codex"]).run().code, 0);
    let listed = home.tenter(&["list", "--host", "codex"]).run();
    assert_eq!(listed.code, 0, "{listed}");
    assert_snapshot!("list", listed.redacted_stdout());
    let json = home.tenter(&["list", "--host", "codex", "--json"]).run().json();
    assert_eq!(json["files"][0]["entries"][0]["tenter"], true);
    assert_eq!(json["files"][1]["entries"][0]["command"], "./mine.sh");
    assert_eq!(home.tenter(&["install", "cline"]).run().code, 0);
    let cline = home.tenter(&["list", "--host", "cline"]).run();
    assert!(cline.stdout.contains("PreToolUse") && cline.stdout.contains("tenter"), "{cline}");
}
