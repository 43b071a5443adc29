//! `tenter hook`: a host's payload in, that host's answer out, whatever happens.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::{Value, json};
use tenter::hosts::bridge;
use tenter_testkit::scripted_hook;

use crate::support::{Home, Said};

fn recorded(name: &str) -> Option<String> {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/recordings");
    std::fs::read_to_string(folder.join(name)).ok()
}

fn recording(name: &str) -> String {
    recorded(name).unwrap_or_else(|| panic!("no recording {name}"))
}

/// One hook on one event that gives this answer.
fn replies(event: &str, reply: &str) -> Home {
    Home::with_user_hooks(&format!(
        "[[hook]]\nname = \"one\"\nevent = \"{event}\"\nreply = {reply}\n"
    ))
}

fn hook(home: &Home, args: &[&str], payload: &str) -> Said {
    home.tenter(&[&["hook"], args].concat()).stdin(payload).run()
}

#[test]
fn each_answer_is_in_the_host_s_own_format() {
    let mut shown = String::new();
    for (event, reply) in [
        ("PreToolUse", r#"{ decision = "deny", reason = "no" }"#),
        ("PreToolUse", r#"{ decision = "ask", reason = "sure?" }"#),
        ("PreToolUse", r#"{ decision = "allow" }"#),
        ("PreToolUse", r#"{ patch = { command = "pwd" } }"#),
        ("PreToolUse", r#"{ context = "mind the gap" }"#),
        ("PreToolUse", r#"{ halt = true, reason = "enough" }"#),
        ("PostToolUse", r#"{ patch = { content = "hidden" } }"#),
        ("PostToolUse", r#"{ context = "mind the gap" }"#),
        ("UserPromptSubmit", r#"{ decision = "deny", reason = "no" }"#),
        ("UserPromptSubmit", r#"{ patch = { prompt = "better" } }"#),
        ("SessionStart", r#"{ context = "mind the gap" }"#),
        ("Stop", r#"{ decision = "deny", reason = "go on" }"#),
    ] {
        writeln!(shown, "## {event} {reply}").unwrap();
        let home = replies(event, reply);
        for bridge in bridge::all() {
            let own = bridge.events.iter().find(|row| row.kind().name() == event);
            let Some(row) = own else { continue };
            let Some(payload) = recorded(&format!("{}/{}.json", bridge.name, row.own)) else {
                continue;
            };
            let said = hook(&home, &[bridge.name, row.own], &payload);
            writeln!(shown, "{}: {said}", bridge.name).unwrap();
        }
    }
    assert_snapshot!("answers", shown);
}

/// Payloads that are none, in the ways in which hosts and pipes break them.
const BROKEN: [&str; 7] = [
    "",
    "not json",
    "[]",
    r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"l"#,
    r#"{"hook_event_name":"PreToolUse"}"#,
    r#"{"hook_event_name":"PreToolUse","tool_name":7}"#,
    r#"{"hook_event_name":"PreToolUse","hook_event_name":"Stop","tool_name":"Bash"}"#,
];

#[test]
fn what_cannot_be_judged_is_refused_where_a_guard_could_have_a_say() {
    let home = replies("PreToolUse", r#"{ decision = "deny", reason = "no" }"#);
    for bridge in bridge::all() {
        for payload in BROKEN {
            let said = hook(&home, &[bridge.name], payload);
            let refusal = bridge.refuse(None, "x");
            assert_eq!(said.code, i32::from(refusal.exit), "{} {payload}: {said}", bridge.name);
            let (told, silent) = if refusal.exit == 2 {
                (&said.stderr, &said.stdout)
            } else {
                (&said.stdout, &said.stderr)
            };
            assert!(
                told.contains("tenter could not judge this"),
                "{} {payload}: {said}",
                bridge.name
            );
            assert!(refusal.exit == 0 || silent.is_empty(), "{said}");
        }
    }
}

#[test]
fn where_no_guard_could_have_a_say_there_is_no_opinion_and_a_line_on_stderr() {
    let home = Home::new();
    for bridge in bridge::all() {
        for payload in BROKEN {
            let said = hook(&home, &[bridge.name], payload);
            let nothing = bridge.nothing();
            assert_eq!(
                (said.code, &said.stdout),
                (i32::from(nothing.exit), &nothing.stdout),
                "{said}"
            );
            assert!(said.stderr.starts_with("error: "), "{said}");
        }
    }
}

#[test]
fn a_wrong_line_never_opens_the_gate() {
    let home = replies("PreToolUse", r#"{ decision = "deny", reason = "no" }"#);
    for args in [&["nobody"][..], &[], &["--bogus"], &["--deadline", "5"], &["cluade"]] {
        let said = hook(&home, args, &recording("claude/PreToolUse.json"));
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{args:?}: {said}");
        assert!(said.stderr.starts_with("error: "), "{said}");
    }
    for args in [
        &["claude", "--bogus"][..],
        &["claude", "--deadline", "5"],
        &["claude", "PreToolUse", "more"],
        &["claude", "--config", "missing.toml"],
        &["claude", "--project", "missing"],
        &["claude", "NoSuchEvent"],
    ] {
        let said = hook(&home, args, &recording("claude/PreToolUse.json"));
        assert_eq!(said.code, 0, "{args:?}: {said}");
        let decision = &said.json()["hookSpecificOutput"]["permissionDecision"];
        assert_eq!(decision, "deny", "{args:?}: {said}");
    }
}

#[test]
fn payloads_come_with_a_mark_in_other_cases_as_texts_and_without_a_folder() {
    let home = Home::with_user_hooks(
        r#"
[permissions]
deny = ["Bash(git push *)", "Edit(/secret/**)"]
"#,
    );
    let project = home.project().display().to_string();
    for payload in [
        "\u{feff}{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git push -f\"}}".to_owned(),
        r#"{"hookEventName":"PreToolUse","toolName":"Bash","toolInput":{"command":"git push"}}"#.into(),
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":"{\"command\":\"git push\"}","cwd":""}"#.into(),
        json!({"hook_event_name":"pre_tool_use","tool_name":"Bash","tool_input":{"command":"git push"},"cwd":null,"session_id":null}).to_string(),
        json!({"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"/secret/a"},"cwd":project}).to_string(),
    ] {
        let said = hook(&home, &["claude"], &payload);
        let answer = said.json();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{payload}: {said}");
    }
}

#[test]
fn the_host_may_leave_its_end_of_the_pipe_open() {
    let home = replies("PreToolUse", r#"{ decision = "deny", reason = "no" }"#);
    let mut child = home
        .command(&["hook", "claude"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, recording("claude/PreToolUse.json").as_bytes()).unwrap();
    let status = child.wait().unwrap();
    let stdout = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    drop(stdin);
    assert!(status.success());
    assert!(stdout.contains(r#""permissionDecision":"deny""#), "{stdout}");
}

#[test]
fn a_slow_guard_is_a_no_before_the_host_gives_up() {
    let home = Home::with_user_hooks(&format!(
        "[[hook]]\nname = \"slow\"\nevent = \"PreToolUse\"\ncommand = [{:?}, \"hang\"]\ntimeout = \"1h\"\n",
        scripted_hook()
    ));
    let said =
        hook(&home, &["claude", "--deadline", "300ms"], &recording("claude/PreToolUse.json"));
    assert_eq!(said.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{said}");
}

#[test]
fn a_payload_that_never_ends_is_a_no_before_the_host_gives_up() {
    let home = replies("PreToolUse", r#"{ decision = "deny", reason = "no" }"#);
    let mut child = home
        .command(&["hook", "claude", "--deadline", "200ms"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    let status = child.wait().unwrap();
    let stdout = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    drop(stdin);
    assert!(status.success());
    assert!(stdout.contains(r#""permissionDecision":"deny""#), "{stdout}");
}

#[test]
fn a_turn_is_sent_on_at_most_eight_times_in_a_row_over_as_many_processes() {
    let home = replies("Stop", r#"{ decision = "deny", reason = "go on" }"#);
    for bridge in bridge::all() {
        let Some(row) = bridge
            .events
            .iter()
            .find(|row| row.kind().name() == "Stop" && row.can(bridge::Power::Deny))
        else {
            continue;
        };
        let name = format!("{}/{}.json", bridge.name, row.own);
        let Some(payload) = recorded(&name) else { continue };
        let goes_on: Vec<bool> = (0..9)
            .map(|_| {
                let said = hook(&home, &[bridge.name, row.own], &payload);
                said.stdout.contains("go on") && !said.stdout.contains("in a row")
            })
            .collect();
        assert_eq!(goes_on, [vec![true; 8], vec![false]].concat(), "{}", bridge.name);
    }
}

#[test]
fn a_reason_that_the_host_hands_over_as_a_prompt_is_no_new_turn() {
    let home = replies("Stop", r#"{ decision = "deny", reason = "go on" }"#);
    let stop = recording("gemini/AfterAgent.json");
    let mut prompt: Value = serde_json::from_str(&recording("gemini/BeforeAgent.json")).unwrap();
    prompt["session_id"] = serde_json::from_str::<Value>(&stop).unwrap()["session_id"].clone();
    let mut blocks = 0;
    for _ in 0..12 {
        let said = hook(&home, &["gemini"], &stop);
        if !said.stdout.contains("\"deny\"") {
            break;
        }
        blocks += 1;
        prompt["prompt"] = "go on".into();
        assert_eq!(hook(&home, &["gemini"], &prompt.to_string()).stdout, "");
    }
    assert_eq!(blocks, 8);
    // A person's prompt is.
    assert!(hook(&home, &["gemini"], &stop).stdout.contains("\"deny\""));
    prompt["prompt"] = "something else".into();
    hook(&home, &["gemini"], &prompt.to_string());
    for _ in 0..8 {
        assert!(hook(&home, &["gemini"], &stop).stdout.contains("\"deny\""));
    }
}

#[test]
fn a_hook_that_runs_once_runs_in_one_of_a_session_s_processes() {
    let home = Home::with_user_hooks(
        "[[hook]]\nname = \"one\"\nevent = \"PreToolUse\"\nonce = true\nreply = { context = \"hi\" }\n",
    );
    let payload = recording("claude/PreToolUse.json");
    let first: Value = hook(&home, &["claude"], &payload).json();
    assert_eq!(first["hookSpecificOutput"]["additionalContext"], "hi");
    assert_eq!(hook(&home, &["claude"], &payload).stdout, "");
    // Another session is another.
    let other = payload.replacen("\"session_id\": \"", "\"session_id\": \"x", 1);
    assert_ne!(other, payload);
    assert_ne!(hook(&home, &["claude"], &other).stdout, "");
}

#[test]
fn the_project_is_the_one_that_the_host_names() {
    let home = Home::new();
    home.write(
        ".tenter/hooks.toml",
        "[[hook]]\nname = \"one\"\nevent = \"PreToolUse\"\nreply = { decision = \"deny\", reason = \"here\" }\n",
    );
    home.trust();
    let project = home.project().display().to_string();
    let elsewhere = home.home().display().to_string();
    let payload = json!({"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":elsewhere});
    let run = home.tenter(&["hook", "claude"]).stdin(&payload.to_string());
    assert!(run.env("CLAUDE_PROJECT_DIR", &project).run().stdout.contains("here"));
}
