//! Events and configurations that are not what they should be: the message, the way out, the exit
//! code.

use std::fmt::Write as _;

use insta::assert_snapshot;

use crate::support::Home;

const SOUND: &str =
    "[[hook]]\nevent = \"PreToolUse\"\nreply = { decision = \"deny\", reason = \"no\" }\n";

#[test]
fn an_event_that_cannot_be_read_exits_65() {
    let home = Home::with_user_hooks(SOUND);
    let twice = r#"{"hook_event_name":"PreToolUse","tool_name":"A","tool_name":"B"}"#;
    let cases: [(&[&str], &str); 15] = [
        (&["fire"], "{\"hook_event_name\":\"Stop\",\n  oops}"),
        (&["fire"], "[1, 2]"),
        (&["fire"], ""),
        (&["fire", "PreToolUse"], "  \n"),
        (&["fire", "Stop"], ""),
        (&["fire"], "{}"),
        (&["fire"], r#"{"hook_event_name":"PreToolUse"}"#),
        (&["fire"], r#"{"hook_event_name":"UserPromptSubmit"}"#),
        (&["fire"], r#"{"hook_event_name":"PreToolUse","tool_name":7}"#),
        (&["fire"], twice),
        (&["fire"], r#"{"hook_event_name":"PreTolUse"}"#),
        (&["fire", "Frobnicate", "--input", "{}"], ""),
        (&["fire", "Stop"], r#"{"hook_event_name":"PreToolUse","tool_name":"Bash"}"#),
        (&["fire", "--tool", "Bash", "--input", "{command: ls}"], ""),
        (&["fire", "Stop", "--input", "[]"], ""),
    ];
    let mut shown = String::new();
    for (args, stdin) in cases {
        let said = home.tenter(args).stdin(stdin).run();
        assert_eq!((said.code, said.stdout.as_str()), (65, ""), "{args:?} {stdin}");
        let explained = home.tenter(&[&["explain"], &args[1..]].concat()).stdin(stdin).run();
        assert_eq!((explained.code, explained.stderr), (65, said.stderr.clone()), "{args:?}");
        writeln!(shown, "$ tenter {} <<< '{stdin}'\n{said}", args.join(" ")).unwrap();
    }
    assert_snapshot!(shown);
}

#[test]
fn an_event_file_that_is_not_there_exits_66() {
    let home = Home::new();
    assert_snapshot!(home.tenter(&["fire", "--event-file", "none.json"]).run(), @r"
    exit 66
    --- stderr
    error: there is no event file `none.json`
    ");
}

#[test]
fn an_event_file_that_is_not_an_event_names_the_file() {
    let home = Home::new();
    home.write("e.json", "{\n  \"hook_event_name\": \"Stop\",\n}");
    assert_snapshot!(home.tenter(&["fire", "--event-file", "e.json"]).run());
    home.write("e.json", b"\xff{}");
    assert_snapshot!(home.tenter(&["fire", "--event-file", "e.json"]).run(), @r"
    exit 65
    --- stderr
    error: the event file `e.json` is not UTF-8: byte 1 cannot be read
    hint: write it as UTF-8
    ");
}

#[test]
fn a_named_configuration_that_is_not_there_exits_66() {
    let home = Home::new();
    for command in
        [&["fire", "Stop", "--input", "{}"][..], &["explain", "Stop", "--input", "{}"], &["list"]]
    {
        let said = home.tenter(&[command, &["--config", "none.toml"]].concat()).run();
        assert_eq!(said.code, 66, "{said}");
        assert_snapshot!("no_such_config", said);
    }
}

#[test]
fn a_named_configuration_that_does_not_parse_is_drawn_and_exits_65() {
    let home = Home::new();
    home.write("ci.toml", "version = 1\n\n[[hook]]\nevent = \"Stop\ncommand = [\"true\"]\n");
    for command in
        [&["fire", "Stop", "--input", "{}"][..], &["explain", "Stop", "--input", "{}"], &["list"]]
    {
        let said = home.tenter(&[command, &["--config", "ci.toml"]].concat()).run();
        assert_eq!((said.code, said.stdout.as_str()), (65, ""), "{said}");
        assert_snapshot!("broken_config", said);
    }
}

#[test]
fn a_user_s_file_that_does_not_parse_denies_tool_calls_and_names_the_line() {
    let home = Home::with_user_hooks("[[hook]\nevent = \"Stop\"\n");
    let said = home.tenter(&["fire", "--tool", "Bash"]).run();
    assert_eq!(said.code, 2);
    assert_snapshot!(said);
    let read = home.tenter(&["fire", "--tool", "Read", "--input", r#"{"file_path":"a"}"#]).run();
    assert_eq!(read.code, 0, "reading stays possible: {read}");
}

#[test]
fn one_bad_entry_is_drawn_and_does_not_harm_the_others() {
    let home = Home::with_user_hooks(
        r#"
[[hook]]
name = "broken"
event = "PreToolUse"
matcher = "Bash"
comand = ["true"]

[[hook]]
name = "sound"
event = "PreToolUse"
matcher = "Edit"
reply = { decision = "ask", reason = "sure?" }
"#,
    );
    let denied = home.tenter(&["fire", "--tool", "Bash"]).run();
    assert_eq!(denied.code, 2);
    assert_snapshot!(denied);
    assert_eq!(home.tenter(&["fire", "--tool", "Edit"]).run().code, 3);
}

/// Whatever is wrong with an entry, the event gets an answer and the mistake is shown.
#[test]
fn every_mistake_in_an_entry_is_a_failed_guard_and_is_drawn() {
    let home = Home::with_user_hooks(crate::check::MISTAKES);
    let said = home.tenter(&["fire", "--tool", "Bash", "--json"]).run();
    assert_eq!(said.code, 2);
    let json = said.json();
    let hooks = json["hooks"].as_array().unwrap();
    let failures: Vec<_> = hooks.iter().map(|hook| hook["failure"].as_str().unwrap()).collect();
    assert_eq!(failures[..8], ["config"; 8]);
    assert_eq!(failures[8], "start", "a script that is missing");
    assert_eq!(failures.len(), 10);
    assert_eq!(said.stderr.matches("error[").count(), 10, "{said}");
    for command in [&["explain", "--tool", "Bash"][..], &["list"]] {
        let other = home.tenter(command).run();
        assert_eq!((other.code, other.stderr), (0, said.stderr.clone()), "{command:?}");
    }
}

#[test]
fn without_any_hook_the_event_proceeds_and_the_way_on_is_shown() {
    let home = Home::new();
    assert_snapshot!(
        home.tenter(&["fire", "--tool", "Bash", "--input", r#"{"command":"ls"}"#]).run()
    );
    assert_snapshot!(home.tenter(&["explain", "Stop", "--input", "{}"]).run());
}

#[test]
fn a_project_that_is_not_there_exits_66() {
    let home = Home::new();
    assert_snapshot!(home.tenter(&["list", "--project", "none"]).run(), @r"
    exit 66
    --- stderr
    error: there is no project `none`
    ");
    home.write("file", "");
    assert_eq!(home.tenter(&["list", "--project", "file"]).run().code, 64);
}

#[test]
fn a_variable_that_names_a_file_in_the_project_is_refused_with_a_warning() {
    let home = Home::new();
    let file = home.write("ci.toml", SOUND);
    let file = file.to_str().unwrap();
    let said = home.tenter(&["fire", "--tool", "Bash"]).env("TENTER_CONFIG", file).run();
    assert_eq!(said.code, 0);
    assert_snapshot!(said);
}
