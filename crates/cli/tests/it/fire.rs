//! `tenter fire`: what hooks decide becomes the exit code, the JSON and the screen.

use insta::assert_snapshot;
use tenter_testkit::scripted_hook;

use crate::support::{Home, Said};

const CALL: [&str; 4] = ["--tool", "Bash", "--input", r#"{"command":"npm i","timeout":5}"#];

fn fire<'a>(home: &'a Home, more: &[&'a str]) -> Said {
    home.tenter(&[&["fire"], &CALL[..], more].concat()).run()
}

/// The same outcome for people and for programs.
fn golden(name: &str, hooks: &str, code: i32) {
    let home = Home::with_user_hooks(&hooks.replace("HOOK", scripted_hook().to_str().unwrap()));
    let human = fire(&home, &[]);
    assert_eq!(human.code, code, "{human}");
    let json = fire(&home, &["--json"]);
    assert_eq!((json.code, json.stderr.as_str()), (code, ""), "{json}");
    let hook = scripted_hook().display().to_string();
    let shown = format!("{human}\n{json}").replace(&hook, "[HOOK]");
    assert_snapshot!(name, shown);
}

#[test]
fn a_deny_exits_2() {
    golden(
        "deny",
        r#"
[[hook]]
name = "no-npm"
event = "PreToolUse"
matcher = "Bash"
command = "echo 'This repository uses pnpm.' >&2; exit 2"

[[hook]]
name = "audit"
event = "PreToolUse"
command = ["true"]

[[hook]]
name = "lint"
event = "PreToolUse"
matcher = "Edit|Write"
command = ["true"]
"#,
        2,
    );
}

#[test]
fn a_rewrite_is_shown_key_by_key() {
    golden(
        "rewrite",
        r#"
[[hook]]
name = "pnpm"
event = "PreToolUse"
reply = { patch = { command = "pnpm i" }, message = "npm became pnpm" }

[[hook]]
name = "limit"
event = "PreToolUse"
reply = { patch = { limit = 10 }, context = "Output is limited." }
"#,
        0,
    );
}

#[test]
fn an_ask_exits_3_and_a_defer_too() {
    golden(
        "ask",
        r#"
[[hook]]
name = "sure"
event = "PreToolUse"
reply = { decision = "ask", reason = "Is that wanted?\nIt takes long." }

[[hook]]
name = "fine"
event = "PreToolUse"
reply = { decision = "allow" }
"#,
        3,
    );
    golden(
        "defer",
        "[[hook]]\nevent = \"PreToolUse\"\nreply = { decision = \"defer\", reason = \"later\" }\n",
        3,
    );
}

#[test]
fn a_halt_exits_49() {
    golden(
        "halt",
        r#"
[[hook]]
name = "stop-everything"
event = "PreToolUse"
command = "echo 'Budget is used up.' >&2; exit 49"

[[hook]]
name = "denies"
event = "PreToolUse"
reply = { decision = "deny", reason = "And this is denied." }
"#,
        49,
    );
}

#[test]
fn a_failure_is_told_with_what_it_does() {
    golden(
        "failed",
        r#"
[[hook]]
name = "crashes"
event = "PreToolUse"
command = "echo 'no such table' >&2; exit 1"
on_failure = "ask"

[[hook]]
name = "not-json"
event = "PreToolUse"
command = ["echo", "{\"decision\": \"alow\"}"]
on_failure = "allow"

[[hook]]
name = "killed"
event = "PreToolUse"
command = "kill -9 $$"
on_failure = "allow"
"#,
        3,
    );
}

#[test]
fn a_hook_that_takes_too_long_blocks_where_failures_block() {
    golden(
        "timeout",
        r#"
[[hook]]
name = "hangs"
event = "PreToolUse"
command = ["HOOK", "out", "so far", "hang"]
timeout = "300ms"
"#,
        2,
    );
}

#[test]
fn with_io_the_streams_are_shown() {
    let home = Home::with_user_hooks(
        r#"
[[hook]]
name = "says"
event = "PreToolUse"
command = """
printf '{"context":"c"}'
printf 'two\\nlines\\n\\033[31mred' >&2
"""
"#,
    );
    assert_snapshot!(fire(&home, &["--io"]));
    let hook = fire(&home, &["--io", "--json"]).json()["hooks"][0].clone();
    assert_eq!(hook["stdout"], "{\"context\":\"c\"}");
    assert_eq!(hook["stderr"], "two\nlines\n\u{1b}[31mred");
    assert_eq!(hook["context"], "c");
    assert!(hook["stdin"].as_str().unwrap().contains("\"tool_name\":\"Bash\""), "{hook}");
    let sizes = fire(&home, &["--json"]).json()["hooks"][0].clone();
    assert_eq!((&sizes["stdout"], &sizes["stderr"]), (&15.into(), &18.into()));
}

#[test]
fn after_a_tool_a_deny_is_a_remark_and_a_rewrite_sets_the_result() {
    let home = Home::with_user_hooks(
        r#"
[[hook]]
name = "masks"
event = "PostToolUse"
reply = { patch = { content = "****" } }

[[hook]]
name = "objects"
event = "PostToolUse"
reply = { decision = "deny", reason = "That was a secret." }
"#,
    );
    let args = ["fire", "PostToolUse", "--tool", "Bash", "--response", "token=abc"];
    let said = home.tenter(&args).run();
    assert_eq!(said.code, 0);
    assert_snapshot!(said);
    let json = home.tenter(&[&args[..], &["--json"]].concat()).run().json();
    assert_eq!(json["payload"], serde_json::json!({ "content": "****", "is_error": false }));
    assert_eq!(
        (&json["decision"], &json["hooks"][1]["decision"]),
        (&"none".into(), &"deny".into())
    );
}

#[test]
fn a_prompt_and_an_event_without_fields_come_from_the_arguments() {
    let home = Home::with_user_hooks(
        r#"
[[hook]]
name = "polite"
event = "UserPromptSubmit"
reply = { patch = { prompt = "please" } }

[[hook]]
name = "go-on"
event = "Stop"
reply = { decision = "deny", reason = "The tests were not run." }
"#,
    );
    assert_snapshot!(
        home.tenter(&["fire", "UserPromptSubmit", "--input", r#"{"prompt":"do"}"#]).run()
    );
    let stop = home.tenter(&["fire", "Stop", "--input", "{}"]).run();
    assert_eq!(stop.code, 2);
    assert_snapshot!(stop);
}

#[test]
fn an_event_may_come_from_a_file_or_a_pipe_and_name_itself() {
    let home = Home::with_user_hooks(
        "[[hook]]\nname = \"n\"\nevent = \"Notification\"\nmatcher = \"idle\"\nreply = { message = \"hi\" }\n",
    );
    let event = r#"{"hook_event_name":"Notification","notification_type":"idle","message":"m"}"#;
    home.write("e.json", event);
    let from_file = home.tenter(&["fire", "--event-file", "e.json", "--json"]).run().json();
    let from_pipe = home.tenter(&["fire", "Notification", "--json"]).stdin(event).run().json();
    for json in [from_file, from_pipe] {
        assert_eq!(json["event"], "Notification");
        assert_eq!(json["messages"][0]["text"], "hi");
        assert_eq!(json["hooks"][0]["status"], "ok");
        assert_eq!(json["payload"], serde_json::json!({}));
    }
}

#[test]
fn a_detached_hook_is_waited_for_and_its_end_is_reported() {
    let home = Home::with_user_hooks(&format!(
        r#"
[[hook]]
name = "notes"
event = "PreToolUse"
command = ["{hook}", "read-stdin-to", "seen.json", "out", "done"]
detach = true

[[hook]]
name = "breaks"
event = "PreToolUse"
command = "exit 7"
detach = true
"#,
        hook = scripted_hook().display()
    ));
    let json = fire(&home, &["--json", "--io"]).json();
    assert!(home.project().join("seen.json").is_file());
    let hooks = &json["hooks"];
    assert_eq!((&hooks[0]["detached"], &hooks[0]["status"]), (&true.into(), &"ok".into()));
    assert_eq!((&hooks[0]["exit_code"], &hooks[0]["stdout"]), (&0.into(), &"done".into()));
    assert_eq!((&hooks[1]["status"], &hooks[1]["failure"]), (&"failed".into(), &"crash".into()));
    assert_eq!(json["decision"], "none");
    assert_eq!(json["messages"][0]["hook"], "breaks");
    let shown = fire(&home, &[]).to_string();
    assert_snapshot!(shown.replace(&scripted_hook().display().to_string(), "[HOOK]"));
}

#[test]
fn hooks_run_side_by_side_and_in_sequence() {
    let home = Home::with_user_hooks(
        r#"
[[hook]]
name = "one"
event = "PreToolUse"
command = ["true"]

[[hook]]
name = "two"
event = "PreToolUse"
command = "true # as well"

[[hook]]
name = "last"
event = "PreToolUse"
command = "true # at last"
order = "sequence"
"#,
    );
    assert_snapshot!(fire(&home, &[]));
}

#[test]
fn a_guard_is_asked_again_about_what_others_made_of_the_call() {
    let home = Home::with_user_hooks(
        r#"
[[hook]]
name = "moves"
event = "PreToolUse"
reply = { patch = { file_path = ".env" } }

[[hook]]
name = "guards"
event = "PreToolUse"
if = "Read(**/.env)"
reply = { decision = "deny", reason = "Not that file." }
"#,
    );
    let args = ["fire", "--tool", "Read", "--input", r#"{"file_path":"a"}"#];
    let said = home.tenter(&args).run();
    assert_eq!(said.code, 2);
    assert_snapshot!(said);
    let json = home.tenter(&[&args[..], &["--json"]].concat()).run().json();
    assert_eq!(
        json["hooks"][1]["recheck"],
        serde_json::json!({ "decision": "deny", "reason": "Not that file." })
    );
}

#[test]
fn what_cannot_be_written_is_no_success() {
    let home =
        Home::with_user_hooks("[[hook]]\nevent = \"Stop\"\nreply = { decision = \"deny\" }\n");
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let run = |args: &[&str]| home.command(args).stdout(full()).output().unwrap();
    let schema = run(&["schema"]);
    assert_eq!(schema.status.code(), Some(65));
    let said = String::from_utf8_lossy(&schema.stderr).into_owned();
    assert_eq!(said, "error: cannot write to stdout: no space left on device\n");
    let denied = run(&["fire", "Stop", "--input", "{}"]);
    assert_eq!(denied.status.code(), Some(2), "a denial stays one");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::Stdio;
    let home = Home::with_user_hooks(
        "[[hook]]\nevent = \"PreToolUse\"\nreply = { decision = \"deny\" }\n",
    );
    let mut child = home
        .command(&["fire", "--tool", "Bash", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(2), "the outcome still is the exit code");
}
