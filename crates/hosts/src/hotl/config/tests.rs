//! What `config.toml` of hotl says, and what it says wrongly.

use proptest::prelude::*;
use tenter_core::diagnostic::Diagnostic;
use tenter_core::hook::Level;

use super::*;

const FILE: FileId<'_> = FileId {
    name: "hotl/config.toml",
    path: "/h/.config/hotl/config.toml",
    folder: "/h/.config/hotl",
    level: Level::User,
};

fn file(text: &str) -> ConfigFile {
    read(text, &FILE)
}

fn said(file: &ConfigFile) -> Vec<String> {
    let line = |one: &Diagnostic| {
        let at = one.position.as_ref().unwrap();
        let help = one.help.as_deref().unwrap_or_default();
        format!("{} {}:{} {}; {help}", one.code, at.line, at.column, one.message)
    };
    file.diagnostics.iter().map(line).collect()
}

fn command(hook: &Hook) -> &Command {
    let Handler::Command(command) = &hook.handler else { panic!("{hook:?}") };
    command
}

#[test]
fn b62_an_entry_with_everything() {
    let read = file(
        r#"
[model]
name = "m"

[[hook]]
event = "pre_tool"
command = "./no.sh"
matcher = "bash , write"
env = { MODE = "strict" }

[[hook]]
event = "stop"
command = "./tests.sh"
name = "tests"
timeout = "90s"
on_failure = "block"
view = "64KiB"
on_truncated = "ask"
"#,
    );
    assert!(read.parses && read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    let [first, second] = &read.entries[..] else { panic!("{:?}", read.entries) };
    assert_eq!(first.hook.source.to_string(), "hotl/config.toml#/hook/0");
    assert_eq!(first.hook.events, [EventKind::PreToolUse]);
    assert!(first.hook.matcher.matches("bash") && first.hook.matcher.matches("write"));
    assert!(!first.hook.matcher.matches("Bash") && !first.hook.matcher.matches("read"));
    assert_eq!(command(&first.hook).env, [("MODE".to_owned(), "strict".to_owned())]);
    assert_eq!(first.hook.view, None, "the profile's own holds");
    let second = &second.hook;
    assert_eq!((second.name.as_str(), second.timeout), ("tests", Some(Duration::from_secs(90))));
    assert_eq!(second.on_failure, Some(OnFailure::Block));
    assert_eq!(second.view, Some(View { cap: 65536, on_truncated: Some(OnFailure::Ask) }));
}

#[test]
fn k5_k7_names_are_exact_and_none_is_every_tool() {
    for text in ["", "*", " * "] {
        assert!(matcher(&[text]).is_all(), "{text:?}");
    }
    for text in ["bash|write", "bash*", "Bash", ","] {
        assert!(!matcher(&[text]).matches("bash"), "{text:?}");
    }
}

#[test]
fn b8_a_matcher_that_matches_nothing_is_told() {
    for (text, hint) in [
        ("bash|write", "exact names"),
        ("bash*", "exact names"),
        ("Bash", "did you mean `bash`?"),
        (",", "leave it out"),
    ] {
        let read = file(&format!("[[hook]]\nevent='pre_tool'\ncommand='x'\nmatcher='{text}'"));
        let said = said(&read);
        assert!(
            matches!(&said[..], [one] if one.contains(hint) && one.contains("4:9")),
            "{said:?}"
        );
    }
    let read = file("[[hook]]\nevent='stop'\ncommand='x'\nmatcher='bash'");
    assert!(read.entries[0].hook.matcher.is_all());
    assert_eq!(read.diagnostics[0].code, "hook.no-effect");
}

#[test]
fn b58_one_bad_entry_harms_no_other_and_names_its_place() {
    let read = file(
        "[[hook]]\nevent='pre_tool'\n[[hook]]\nevent='pre_tool'\ncommand=['a']\n[[hook]]\nevent='stop'\ncommand='fine'\n",
    );
    let [no_command, wrong_type, fine] = &read.entries[..] else { panic!("{:?}", read.entries) };
    assert!(matches!(no_command.hook.handler, Handler::Broken { .. }));
    assert!(matches!(wrong_type.hook.handler, Handler::Broken { .. }));
    assert_eq!(command(&fine.hook).line, CommandLine::Shell("fine".into()));
    assert_eq!(
        said(&read),
        [
            "hook.missing-key 1:1 `hook[0]` has no `command`; say what runs, as in command = \"./guard.sh\"",
            "config.wrong-type 5:9 `command` of `hook[1]` is a list, and a text is expected; write a text, or leave the key out",
        ]
    );
}

#[test]
fn a_guard_that_cannot_be_read_stays_one() {
    for text in [
        "[[hook]]\nevent='pre_tool'\ncommand='x'\non_failure='blok'",
        "[[hook]]\nevent='pre_tool'\non_failure='block'",
    ] {
        let read = file(text);
        let hook = &read.entries[0].hook;
        assert!(matches!(hook.handler, Handler::Broken { .. }), "{text}");
        assert_eq!(hook.on_failure, Some(OnFailure::Block), "{text}");
    }
}

#[test]
fn b59_unknown_events_and_keys_are_told_with_what_may_be_meant() {
    let read = file("[[hook]]\nevent='pre_tol'\ncommand='x'\nmatchr='bash'\ntimout='5s'");
    assert_eq!(read.entries[0].hook.skip, Some(Skip::Unsupported));
    assert_eq!(
        said(&read),
        [
            "hook.unknown-event 2:7 there is no event `pre_tol`, so this hook never runs; did you mean `pre_tool`?",
            "hook.unknown-key 4:1 `matchr` means nothing in `hook[0]`; did you mean `matcher`?",
            "hook.unknown-key 5:1 `timout` means nothing in `hook[0]`; did you mean `timeout`?",
        ]
    );
    let read = file("[[hook]]\nevent='PreToolUse'\ncommand='x'");
    assert_eq!(read.diagnostics[0].help.as_deref(), Some("here it is called `pre_tool`"));
    let read = file("[[hooks]]\nevent='stop'\ncommand='x'");
    assert!(read.entries.is_empty());
    assert_eq!(read.diagnostics[0].code, "config.unknown-key");
}

#[test]
fn what_is_no_list_or_no_toml_is_one_broken_entry() {
    for (text, parses) in [("[hook]\nevent='stop'", true), ("hook = [1]", true), ("[[hook]", false)]
    {
        let read = file(text);
        assert_eq!(read.parses, parses, "{text}");
        assert_eq!(read.entries.len(), 1, "{text}");
        assert!(matches!(read.entries[0].hook.handler, Handler::Broken { .. }), "{text}");
        assert!(read.has_errors(), "{text}");
    }
}

#[test]
fn b25_on_truncated_alone_speaks_of_the_event_s_own_view() {
    let read = file("[[hook]]\nevent='pre_tool'\ncommand='x'\non_truncated='block'");
    let view = View { cap: 2048, on_truncated: Some(OnFailure::Block) };
    assert_eq!(read.entries[0].hook.view, Some(view));
    let read = file("[[hook]]\nevent='stop'\ncommand='x'\non_truncated='block'");
    assert_eq!(read.entries[0].hook.view, None);
    assert_eq!(read.diagnostics[0].code, "hook.no-effect");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(\\[\\[hook\\]\\]\n|event ?= ?'[a-z_]*'\n|command='a'\n|env=\\{a=1\\}\n|view='[0-9]*KiB'\n|[\\[\\]='\"a-z\n]){0,12}") {
        let read = file(&text);
        for entry in &read.entries {
            prop_assert!(text.get(entry.span.clone()).is_some());
        }
    }
}
