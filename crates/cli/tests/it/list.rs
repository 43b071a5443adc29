//! `tenter list`: what counts here, level by level.

use insta::assert_snapshot;

use crate::support::Home;

#[test]
fn every_hook_has_its_level_source_and_state() {
    let home = Home::with_user_hooks(
        r#"
[[hook]]
name = "fine"
event = ["PreToolUse", "PostToolUse"]
matcher = "Bash"
command = ["true"]

[[hook]]
name = "off"
event = "Stop"
enabled = false
reply = { message = "m" }

[[hook]]
name = "broken"
event = "Stop"
commnad = "true"

[permissions]
deny = ["Read(**/.env)"]
"#,
    );
    home.write(
        ".tenter/hooks.toml",
        "[[hook]]\nname = \"of-the-project\"\nevent = \"Stop\"\ncommand = \"true\"\nagents = \"main\"\n",
    );
    home.write(
        ".tenter/hooks.local.toml",
        "[[hook]]\nname = \"mine\"\nevent = \"PreToolUse\"\nif = \"Edit(*.lock)\"\nreply = { decision = \"ask\", reason = \"r\" }\n",
    );
    let said = home.tenter(&["list"]).run();
    assert_eq!(said.code, 0);
    assert_snapshot!(said);
    assert_snapshot!("json", home.tenter(&["list", "--json"]).run().redacted_stdout());
}

#[test]
fn named_files_stand_for_those_that_would_be_found() {
    let home =
        Home::with_user_hooks("[[hook]]\nname = \"user\"\nevent = \"Stop\"\ncommand = \"true\"\n");
    home.write("a.toml", "[[hook]]\nname = \"a\"\nevent = \"Stop\"\ncommand = \"true a\"\n");
    home.write("b.toml", "[[hook]]\nname = \"b\"\nevent = \"Stop\"\ncommand = \"true b\"\n");
    assert_snapshot!(home.tenter(&["list", "--config", "a.toml", "--config", "b.toml"]).run());
}

#[test]
fn the_project_may_be_vouched_for() {
    let home = Home::with_hooks("[[hook]]\nname = \"p\"\nevent = \"Stop\"\ncommand = \"true\"\n");
    let state = |args: &[&str]| home.tenter(args).run().json()["hooks"][0]["state"].clone();
    assert_eq!(state(&["list", "--json"]), "untrusted");
    assert_eq!(state(&["list", "--json", "--trust-project"]), "active");
}

#[test]
fn a_project_is_named_or_found_from_below() {
    let home = Home::with_hooks("[[hook]]\nname = \"p\"\nevent = \"Stop\"\ncommand = \"true\"\n");
    home.write("deep/er/file", "");
    let mut command = home.command(&["list", "--json"]);
    let output = command.current_dir(home.project().join("deep/er")).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"p\""));
    let project = home.project();
    let mut command = home.command(&["list", "--json", "--project", project.to_str().unwrap()]);
    let output = command.current_dir("/").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"p\""));
}

#[test]
fn an_empty_list_says_where_it_looked() {
    assert_snapshot!(Home::new().tenter(&["list"]).run());
}
