//! A host's own hooks file, looked at and run as it stands.

use insta::assert_snapshot;

use crate::support::{Home, Said};

const CRUSH: &str = r#"{
  "$schema": "https://charm.land/crush.json",
  "lsp": { "go": { "command": "gopls" } },
  "hooks": {
    "PreToolUse": [
      { "name": "no-haskell", "matcher": "^bash$", "command": "echo 'No Haskell.' >&2; exit 2" },
      { "name": "flags", "matcher": "^(bash|fetch)$", "timeout": 5,
        "command": "echo '{\"updated_input\":{\"command\":\"ghc -Wall\"},\"context\":\"Flags are set.\"}'" }
    ]
  }
}
"#;

const CALL: [&str; 7] =
    ["PreToolUse", "--profile", "crush", "--tool", "bash", "--input", r#"{"command":"ghc"}"#];

fn with_file(text: &str) -> Home {
    let home = Home::new();
    home.write("crush.json", text);
    home
}

fn run<'a>(home: &'a Home, command: &'a str, more: &[&'a str]) -> Said {
    home.tenter(&[&[command], &CALL[..], more].concat()).run()
}

#[test]
fn a_crush_json_is_checked_by_its_rules() {
    let home = with_file(CRUSH);
    let sound = home.tenter(&["check", "crush.json"]).run();
    assert_eq!((sound.code, sound.stdout.as_str()), (0, "crush.json: sound\n"), "{sound}");
    home.write(
        "crush.json",
        r#"{
  "hooks": {
    "PreToolUse": [
      { "matcher": "^(bash", "command": "x" },
      { "command": "x", "timeout": "5s" },
      { "comand": "x" }
    ],
    "pre-tool-use": [ { "command": "x" } ],
    "PostToolUse": [ { "command": "x" } ]
  }
}
"#,
    );
    let said = home.tenter(&["check", "crush.json"]).run();
    assert_eq!(said.code, 1);
    assert_snapshot!("check_crush", said);
    let of_folder = home.tenter(&["check", "."]).run();
    assert!(of_folder.stdout.contains("./crush.json: 3 errors, 3 warnings"), "{of_folder}");
    let found = home.tenter(&["check", "--profile", "crush"]).run();
    assert!(found.stdout.contains("crush.json: 3 errors, 3 warnings"), "{found}");
}

#[test]
fn what_is_no_json_is_an_error_with_its_place() {
    let home = with_file("{\n  \"hooks\": {\n    // none yet\n  }\n}\n");
    let said = home.tenter(&["check", "crush.json"]).run();
    assert_eq!(said.code, 1);
    assert_snapshot!("check_crush_broken", said);
    let fired = run(&home, "fire", &["--config", "crush.json"]);
    assert_eq!(fired.code, 65, "{fired}");
    let missing = run(&home, "fire", &["--config", "no.json"]);
    assert_eq!(missing.code, 66, "{missing}");
}

#[test]
fn a_named_file_runs_unchanged() {
    let home = with_file(CRUSH);
    let human = run(&home, "fire", &["--config", "crush.json"]);
    let json = run(&home, "fire", &["--config", "crush.json", "--json"]);
    assert_eq!((human.code, json.code), (2, 2), "{human}");
    assert_snapshot!("fire_crush", format!("{human}\n{json}"));
    let explained = run(&home, "explain", &["--config", "crush.json"]);
    let listed =
        home.tenter(&["list", "--profile", "crush", "--config", "crush.json", "--json"]).run();
    assert_snapshot!("explain_crush", format!("{explained}\n{listed}"));
}

#[test]
fn a_project_s_file_runs_once_it_is_trusted() {
    let home = with_file(CRUSH);
    let untrusted = run(&home, "fire", &[]);
    assert_eq!(untrusted.code, 0, "{untrusted}");
    assert!(untrusted.stderr.contains("run `tenter trust --profile crush`"), "{untrusted}");
    let native = home.tenter(&["fire", "PreToolUse", "--tool", "Bash"]).run();
    assert!(!native.stdout.contains("no-haskell"), "no native hook: {native}");

    let shown = home.tenter(&["trust", "--profile", "crush"]).run();
    // Which shell runs a text is the machine's.
    let is_shell = |line: &&str| !line.trim_start().starts_with("shell ");
    let lines: Vec<_> =
        shown.redacted_stdout().lines().filter(is_shell).map(String::from).collect();
    assert_snapshot!("trust_crush", lines.join("\n"));
    let digest = shown.digest();
    let trusted = home.tenter(&["trust", "--profile", "crush", "--digest", &digest]).run();
    assert_eq!(trusted.code, 0, "{trusted}");
    assert_eq!(run(&home, "fire", &[]).code, 2);

    home.write("crush.json", CRUSH.replace("exit 2", "exit 0"));
    let changed = run(&home, "fire", &["--json"]);
    assert_eq!(changed.json()["hooks"][0]["failure"], "trust", "{changed}");
    let gone = home.tenter(&["untrust", "--profile", "crush"]).run();
    let digest = gone.digest();
    let gone = home.tenter(&["untrust", "--profile", "crush", "--digest", &digest]).run();
    assert_eq!(gone.code, 0, "{gone}");
}

#[test]
fn every_file_of_the_user_and_the_project_is_found() {
    let home = Home::new();
    let hook = |name: &str| {
        format!(r#"{{"hooks":{{"PreToolUse":[{{"name":"{name}","command":": {name}"}}]}}}}"#)
    };
    home.write(home.config().join("crush/crush.json"), hook("user"));
    home.write(home.data().join("crush/crush.json"), hook("data"));
    home.write("crush.json", hook("project"));
    home.write(".crush.json", hook("hidden"));
    home.write(".crush/crush.json", hook("workspace"));
    home.write("crushrc", "hook add PreToolUse --command x\n");
    let said = run(&home, "fire", &["--trust-project", "--json"]);
    let json = said.json();
    let names: Vec<_> =
        json["hooks"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["user", "data", "project", "hidden", "workspace"]);
    assert!(said.stderr.contains("`crushrc` is a program of the host's"), "{said}");
}

#[test]
fn the_host_s_own_bytes_are_an_event() {
    let home = with_file(CRUSH);
    let wire = r#"{"event":"PreToolUse","session_id":"s9","cwd":"","tool_name":"bash","tool_input":{"command":"ghc"}}"#;
    let args = ["fire", "--wire", "--profile", "crush", "--config", "crush.json", "--json", "--io"];
    let said = home.tenter(&args).stdin(wire).run();
    assert_eq!(said.code, 2, "{said}");
    let stdin = said.json()["hooks"][0]["stdin"].as_str().unwrap().to_owned();
    assert!(stdin.contains(r#""session_id":"s9""#), "{stdin}");
    let wrong = home.tenter(&args).stdin("[]").run();
    assert_eq!(wrong.code, 65, "{wrong}");
    let both = run(&home, "fire", &["--wire"]);
    assert_eq!(both.code, 64, "{both}");
}
