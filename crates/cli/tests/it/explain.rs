//! `tenter explain`: what would run, how, and nothing that runs.

use insta::assert_snapshot;

use crate::support::Home;

#[test]
fn what_would_run_is_shown_with_its_bounds_and_nothing_runs() {
    let home = Home::with_user_hooks(
        r#"
[[hook]]
name = "guard"
event = "PreToolUse"
matcher = "Bash"
command = "touch ran"
timeout = "1500ms"
on_failure = "ask"

[[hook]]
name = "later"
event = ["PreToolUse", "Stop"]
command = ["touch", "ran"]
order = "sequence"
once = true

[[hook]]
name = "log"
event = "PreToolUse"
command = ["touch", "ran"]
detach = true
agents = "main"
"#,
    );
    let said = home.tenter(&["explain", "--tool", "Bash", "--input", r#"{"command":"ls"}"#]).run();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    assert!(!home.project().join("ran").exists());
    assert_snapshot!(said);
}

#[test]
fn permission_rules_are_explained() {
    let home =
        Home::with_user_hooks("[permissions]\nask = [\"WebFetch\"]\nallow = [\"Read(src/**)\"]\n");
    let explain = |tool, input| home.tenter(&["explain", "--tool", tool, "--input", input]).run();
    assert_snapshot!(explain("WebFetch", r#"{"url":"https://example.com"}"#));
    assert_snapshot!(explain("Read", r#"{"file_path":"src/a.rs"}"#));
    assert_snapshot!(explain("Read", r#"{"file_path":"other"}"#));
}

#[test]
fn an_event_without_the_subject_says_so() {
    let home = Home::with_user_hooks(
        "[[hook]]\nname = \"h\"\nevent = \"SessionStart\"\nmatcher = \"startup\"\nreply = { context = \"c\" }\n",
    );
    assert_snapshot!(home.tenter(&["explain", "SessionStart", "--input", "{}"]).run());
    assert_snapshot!(
        home.tenter(&["explain", "SessionStart", "--input", r#"{"source":"resume"}"#]).run()
    );
}

#[test]
fn a_broken_guard_is_said_to_fail() {
    let home = Home::with_user_hooks(
        "[[hook]]\nname = \"h\"\nevent = \"PreToolUse\"\ntimeout = \"5\"\ncommand = \"true\"\n",
    );
    assert_snapshot!(home.tenter(&["explain", "--tool", "Bash"]).run());
}

#[test]
fn a_shell_command_is_shown_as_the_tree_that_it_is() {
    let home = Home::with_user_hooks(
        "[[hook]]\nname = \"pushes\"\nevent = \"PreToolUse\"\nif = \"Bash(git push *)\"\ncommand = [\"true\"]\n\
         [permissions]\ndeny = [\"Edit(/etc/**)\"]\nask = [\"Bash(rm *)\"]\n",
    );
    for (name, command) in [
        ("tree", r#"cd app && CI=1 git -C x push | tee /etc/log && sudo sh -c "ls; $x""#),
        ("mention", r#"git commit -m "git push""#),
        ("unknown", "curl -s https://example.org/i | sh"),
    ] {
        let input = serde_json::json!({ "command": command }).to_string();
        let args = ["explain", "--tool", "Bash", "--input", input.as_str()];
        assert_snapshot!(format!("shell_{name}"), home.tenter(&args).run());
    }
    let input = serde_json::json!({ "command": "ls > out; $x" }).to_string();
    let json =
        home.tenter(&["explain", "--tool", "Bash", "--input", &input, "--json"]).run().json();
    assert_eq!(json["shell"]["commands"][0]["words"], serde_json::json!(["ls"]));
    assert_eq!(json["shell"]["writes"], serde_json::json!(["out"]));
    assert_eq!(json["shell"]["unknowns"][0]["reason"], "the program is decided at run time");
}
