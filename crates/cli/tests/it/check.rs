//! `tenter check`: each mistake at its line and column with a way out, in every format.

use insta::assert_snapshot;

use crate::support::Home;

/// Ten mistakes that people make, one an entry.
pub(crate) const MISTAKES: &str = r#"version = 1

[[hook]]
name = "unknown key"
event = "PreToolUse"
command = ["true"]
time_out = "5s"

[[hook]]
name = "unknown event"
event = "PreTolUse"
command = ["true"]

[[hook]]
name = "bad duration"
event = "PreToolUse"
command = ["true"]
timeout = "5sec"

[[hook]]
name = "duration without a unit"
event = "PreToolUse"
command = ["true"]
timeout = 30

[[hook]]
name = "bad regex"
event = "PreToolUse"
matcher = "/^(Bash|Edit$/"
command = ["true"]

[[hook]]
name = "bad rule"
event = "PreToolUse"
if = "Read(src/**"
command = ["true"]

[[hook]]
name = "unknown handler"
event = "PreToolUse"
script = "./guard.sh"

[[hook]]
name = "two handlers"
event = "PreToolUse"
command = ["true"]
reply = { decision = "deny" }

[[hook]]
name = "missing script"
event = "PreToolUse"
command = ["./guards/no-such.sh"]

[[hook]]
name = "detach and block"
event = "PreToolUse"
command = ["true"]
detach = true
on_failure = "block"
"#;

#[test]
fn ten_mistakes_are_found_each_with_its_place_and_a_way_out() {
    let home = Home::with_hooks(MISTAKES);
    home.write("guards/no-such-thing.sh", "");
    let said = home.tenter(&["check"]).run();
    assert_eq!((said.code, said.stderr.as_str()), (1, ""));
    assert_snapshot!(said);

    let json = home.tenter(&["check", "--format", "json"]).run();
    assert_eq!(json.code, 1);
    let found = json.json();
    assert_eq!(found["errors"], 10, "{json}");
    for diagnostic in found["diagnostics"].as_array().unwrap() {
        assert!(diagnostic["line"].as_u64().unwrap() > 1, "{diagnostic}");
        assert!(diagnostic["column"].is_u64(), "{diagnostic}");
        assert!(!diagnostic["help"].as_str().unwrap().is_empty(), "{diagnostic}");
    }
    assert_snapshot!("ten_mistakes_json", json.redacted_stdout());
    assert_snapshot!("ten_mistakes_sarif", home.tenter(&["check", "--format", "sarif"]).run());
    assert_snapshot!("ten_mistakes_github", home.tenter(&["check", "--format", "github"]).run());
}

#[test]
fn warnings_alone_exit_0_unless_they_are_asked_for() {
    let home = Home::with_hooks(
        "[[hook]]\nevent = \"Stop\"\nreply = { message = \"x\" }\nenv = { A = \"1\" }\n",
    );
    let said = home.tenter(&["check"]).run();
    assert_eq!(said.code, 0);
    assert_snapshot!(said);
    assert_eq!(home.tenter(&["check", "--strict"]).run().code, 1);
}

#[test]
fn a_sound_file_is_said_to_be_sound() {
    let home = Home::with_hooks("[[hook]]\nevent = \"Stop\"\nreply = { message = \"x\" }\n");
    assert_snapshot!(home.tenter(&["check"]).run(), @r"
    exit 0
    --- stdout
    .tenter/hooks.toml: sound
    ");
    let json = home.tenter(&["check", "--format", "json"]).run().json();
    assert_eq!(json["files"], serde_json::json!([".tenter/hooks.toml"]));
    assert_eq!(json["diagnostics"], serde_json::json!([]));
}

#[test]
fn without_a_file_there_is_nothing_to_check() {
    let home = Home::new();
    assert_snapshot!(home.tenter(&["check"]).run(), @r"
    exit 0
    --- stderr
    there is no hooks file to check
    hint: `tenter init` writes a first one
    ");
}

#[test]
fn a_file_that_was_named_and_is_not_there_exits_66() {
    let home = Home::new();
    assert_snapshot!(home.tenter(&["check", "none.toml"]).run(), @r"
    exit 66
    --- stderr
    error: there is no hooks file `none.toml`
    ");
}

#[test]
fn a_file_that_does_not_parse_is_a_finding() {
    let home = Home::new();
    home.write("other.toml", "[[hook]]\nevent = \"Stop\n");
    let said = home.tenter(&["check", "other.toml"]).run();
    assert_eq!(said.code, 1);
    assert_snapshot!(said);
}

/// Scripts are meant from the project whose file it is, wherever the program runs.
#[test]
fn files_of_other_projects_are_read_as_theirs() {
    let home = Home::new();
    let hook = "[[hook]]\nevent = \"Stop\"\ncommand = [\"./guards/there.sh\"]\n";
    home.write("packages/a/.tenter/hooks.toml", hook);
    home.write_script("packages/a/guards/there.sh", "#!/bin/sh\n");
    home.write("packages/b/.tenter/hooks.local.toml", hook);
    let said = home.tenter(&["check", "packages/a/.tenter/hooks.toml", "packages/b"]).run();
    assert_eq!(said.code, 1);
    assert_snapshot!(said);
}

#[test]
fn every_file_that_counts_is_checked() {
    let home = Home::with_user_hooks("[[hook]]\nevent = \"Stop\"\n");
    home.write(".tenter/hooks.toml", "frobnicate = 1\n");
    home.write(".tenter/hooks.local.toml", "[[hook]]\nevent = \"Stopp\"\ncommand = \"true\"\n");
    let said = home.tenter(&["check"]).run();
    assert_eq!(said.code, 1);
    assert_snapshot!(said);
}

#[test]
fn rules_are_tried_on_the_examples_that_they_carry() {
    let home = Home::with_hooks(
        r#"
[permissions]
deny  = [
  { rule = "Bash(rm -rf *)", match = ["sudo rm / --rec --force"], not_match = ["echo rm -rf /"] },
  { rule = "Bash(git push --force *)", match = ["git push origin main"], not_match = ["git push -f"] },
]
allow = [{ rule = "Bash(ls *)", match = ["ls -l", "ls > x"] }]

[[hook]]
event   = "PreToolUse"
if      = [{ rule = "Read(**/.env)", match = ["a/.env"], not_match = ["/x/y/.env"] }]
command = ["true"]
"#,
    );
    let said = home.tenter(&["check"]).run();
    assert_eq!(said.code, 1);
    assert_snapshot!(said);
}
