//! Every reason that can keep a hook from one event: the same word in `fire` and `explain`, and a
//! sentence that says more.

use std::collections::BTreeSet;

use insta::assert_snapshot;

use crate::support::Home;

const HOOKS: &str = r#"
[[hook]]
name = "runs"
event = "PreToolUse"
reply = { context = "c" }

[[hook]]
name = "other-tool"
event = "PreToolUse"
matcher = "Edit|Write"
reply = { decision = "deny" }

[[hook]]
name = "other-file"
event = "PreToolUse"
if = ["Read(**/.env)", "Read(secrets/**)"]
reply = { decision = "deny" }

[[hook]]
name = "switched-off"
event = "PreToolUse"
enabled = false
reply = { decision = "deny" }

[[hook]]
name = "broken"
event = "PreToolUse"
on_failure = "allow"

[[hook]]
name = "same-again"
event = "PreToolUse"
reply = { context = "c" }

[[hook]]
name = "for-subagents"
event = "PreToolUse"
agents = "subagents"
reply = { decision = "deny" }
"#;

const READ: [&str; 4] = ["--tool", "Read", "--input", r#"{"file_path":"a.txt"}"#];

fn words(json: &serde_json::Value) -> Vec<(String, Option<String>)> {
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let hooks = json["hooks"].as_array().unwrap().iter();
    hooks.map(|hook| (text(&hook["name"]).unwrap(), text(&hook["skip"]))).collect()
}

#[test]
fn explain_agrees_with_fire() {
    let home = Home::with_user_hooks(HOOKS);
    home.write(
        ".tenter/hooks.toml",
        "[[hook]]\nname = \"of-a-project\"\nevent = \"PreToolUse\"\ncommand = [\"true\"]\n",
    );
    let fired = home.tenter(&[&["fire"], &READ[..], &["--json"]].concat()).run();
    let explained = home.tenter(&[&["explain"], &READ[..], &["--json"]].concat()).run();
    assert_eq!(words(&fired.json()), words(&explained.json()));
    let skips: BTreeSet<_> =
        words(&fired.json()).into_iter().filter_map(|(_, skip)| skip).collect();
    let all = ["condition", "disabled", "duplicate", "matcher", "scope", "untrusted"];
    assert_eq!(skips.iter().map(String::as_str).collect::<Vec<_>>(), all);
    assert_snapshot!("fire_json", fired);
    assert_snapshot!("explain_json", explained);
    assert_snapshot!("fire", home.tenter(&[&["fire"], &READ[..]].concat()).run());
    assert_snapshot!("explain", home.tenter(&[&["explain"], &READ[..]].concat()).run());
}

#[test]
fn a_deny_rule_comes_before_every_hook() {
    let home = Home::with_user_hooks(
        "[[hook]]\nname = \"h\"\nevent = \"PreToolUse\"\ncommand = \"touch ran\"\n[permissions]\ndeny = [\"Read(*.txt)\"]\n",
    );
    let said = home.tenter(&[&["fire"], &READ[..]].concat()).run();
    assert_eq!(said.code, 2);
    assert!(!home.project().join("ran").exists());
    assert_snapshot!("denied_by_rule_fire", said);
    assert_snapshot!(
        "denied_by_rule_explain",
        home.tenter(&[&["explain"], &READ[..]].concat()).run()
    );
    let fired = home.tenter(&[&["fire"], &READ[..], &["--json"]].concat()).run().json();
    let explained = home.tenter(&[&["explain"], &READ[..], &["--json"]].concat()).run().json();
    assert_eq!(words(&fired), [("h".to_owned(), Some("permission".to_owned()))]);
    assert_eq!(words(&fired), words(&explained));
    assert_eq!(explained["permission"]["decision"], "deny");
    assert_eq!(explained["permission"]["reason"], fired["reason"]);
}

#[test]
fn a_sequence_ends_with_a_deny() {
    let home = Home::with_user_hooks(
        r#"
[[hook]]
name = "first"
event = "PreToolUse"
reply = { decision = "deny", reason = "no" }

[[hook]]
name = "second"
event = "PreToolUse"
command = "touch ran"
order = "sequence"
"#,
    );
    let said = home.tenter(&[&["fire"], &READ[..], &["--json"]].concat()).run();
    assert!(!home.project().join("ran").exists());
    assert_eq!(words(&said.json())[1], ("second".to_owned(), Some("stopped".to_owned())));
    assert_snapshot!("stopped", home.tenter(&[&["fire"], &READ[..]].concat()).run());
}

#[test]
fn hooks_that_are_all_switched_off_are_listed_all_the_same() {
    let home = Home::with_user_hooks(
        "[[hook]]\nname = \"off\"\nevent = \"Stop\"\nenabled = false\ncommand = \"true\"\n",
    );
    let json = home.tenter(&["fire", "Stop", "--input", "{}", "--json"]).run().json();
    assert_eq!(words(&json), [("off".to_owned(), Some("disabled".to_owned()))]);
}

#[test]
fn a_subagent_is_told_from_the_main_agent() {
    let home = Home::with_user_hooks(
        "[[hook]]\nname = \"main\"\nevent = \"Stop\"\nagents = \"main\"\nreply = { message = \"m\" }\n",
    );
    let event = r#"{"hook_event_name":"Stop","agent_id":"a1","agent_type":"reviewer"}"#;
    assert_snapshot!("scope", home.tenter(&["fire"]).stdin(event).run());
}
