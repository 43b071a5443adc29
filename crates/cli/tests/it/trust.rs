//! `tenter trust`: never trusted is skipped loudly, trusted runs, changed fails closed.

use insta::assert_snapshot;

use crate::support::{Home, Said};

const HOOKS: &str = r#"
[[hook]]
name = "guard"
event = "PreToolUse"
matcher = "Bash"
command = ["./guards/guard.sh", "--strict"]

[[hook]]
name = "note"
event = "Stop"
reply = { message = "done" }

[permissions]
deny = ["Read(**/.env)"]
allow = ["Read(src/**)"]
"#;

fn project() -> Home {
    let home = Home::with_hooks(HOOKS);
    home.write_script("guards/guard.sh", "#!/bin/sh\nexit 0\n");
    home
}

fn fire(home: &Home) -> Said {
    home.tenter(&["fire", "--tool", "Bash", "--input", r#"{"command":"ls"}"#]).run()
}

#[test]
fn never_trusted_is_skipped_loudly() {
    let said = fire(&project());
    assert_eq!(said.code, 0);
    assert_snapshot!(said);
}

#[test]
fn without_a_terminal_everything_is_shown_and_the_command_to_run() {
    let home = project();
    let said = home.tenter(&["trust"]).run();
    assert_eq!(said.code, 64);
    assert_snapshot!(said);
    assert_eq!(home.tenter(&["list", "--json"]).run().json()["hooks"][0]["state"], "untrusted");
}

#[test]
fn with_the_digest_it_is_trusted_and_runs() {
    let home = project();
    let digest = home.tenter(&["trust"]).run().digest();
    assert_snapshot!(home.tenter(&["trust", "--digest", &digest]).run());
    let said = fire(&home);
    assert_eq!(said.code, 0);
    assert_snapshot!("trusted_runs", said);
    assert_snapshot!("trusted_already", home.tenter(&["trust"]).run());
}

#[test]
fn a_wrong_digest_trusts_nothing() {
    let home = project();
    let other = "0123456789abcdef0123456789abcdef";
    let said = home.tenter(&["trust", "--digest", other]).run();
    assert_eq!(said.code, 65);
    assert_snapshot!(said);
    let short = home.tenter(&["trust", "--digest", "0123"]).run();
    assert_eq!(short.code, 64);
    assert_snapshot!(short);
    assert_eq!(home.tenter(&["list", "--json"]).run().json()["hooks"][0]["state"], "untrusted");
}

#[test]
fn a_script_that_changed_fails_closed_and_is_named_with_the_way_out() {
    let home = project();
    home.trust();
    home.write_script("guards/guard.sh", "#!/bin/sh\nexit 0 # and more\n");
    let said = fire(&home);
    assert_eq!(said.code, 2);
    assert!(said.stdout.contains("guards/guard.sh") && said.stdout.contains("tenter trust"));
    assert_snapshot!(said);
    assert_snapshot!("changed_listing", home.tenter(&["trust"]).run());
    home.trust();
    assert_eq!(fire(&home).code, 0);
}

#[test]
fn an_entry_that_changed_fails_closed() {
    let home = project();
    home.trust();
    home.write(".tenter/hooks.toml", HOOKS.replace("--strict", "--lax"));
    let said = fire(&home);
    assert_eq!(said.code, 2);
    assert_snapshot!(said);
}

#[test]
fn untrust_takes_it_back() {
    let home = project();
    home.trust();
    let said = home.tenter(&["untrust"]).run();
    assert_eq!(said.code, 64);
    assert_snapshot!(said);
    let digest = said.digest();
    assert_snapshot!(home.tenter(&["untrust", "--digest", &digest]).run());
    assert_eq!(home.tenter(&["list", "--json"]).run().json()["hooks"][0]["state"], "untrusted");
    assert_snapshot!("untrusted_already", home.tenter(&["untrust"]).run());
}

#[test]
fn there_has_to_be_something_to_trust() {
    let home = Home::new();
    let said = home.tenter(&["trust"]).run();
    assert_eq!(said.code, 66);
    assert_snapshot!(said);
    home.write(".tenter/hooks.toml", "[permissions]\ndeny = [\"Read(**/.env)\"]\n");
    let said = home.tenter(&["trust"]).run();
    assert_eq!(said.code, 0);
    assert_snapshot!(said);
}

#[test]
fn a_file_that_does_not_parse_is_not_trusted() {
    let home = Home::with_hooks("[[hook]\n");
    let said = home.tenter(&["trust"]).run();
    assert_eq!(said.code, 65);
    assert_snapshot!(said);
}

#[test]
fn a_machine_without_a_terminal_may_vouch_for_the_project() {
    let home = project();
    let said = home
        .tenter(&["fire", "--tool", "Bash", "--input", r#"{"command":"ls"}"#, "--trust-project"])
        .run();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    assert!(said.stdout.contains("✓ guard"), "{said}");
}
