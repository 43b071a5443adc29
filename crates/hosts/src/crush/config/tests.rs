//! What `crush.json` says, and what it says wrongly.

use proptest::prelude::*;
use tenter_core::contract::OnFailure;
use tenter_core::diagnostic::Diagnostic;
use tenter_core::hook::{CommandLine, Handler, Level, Scope};

use super::*;

const FILE: FileId<'_> =
    FileId { name: "crush.json", path: "/p/crush.json", folder: "/p", level: Level::Project };

fn file(text: &str) -> ConfigFile {
    read(text, &FILE)
}

fn entries(list: &str) -> ConfigFile {
    file(&format!(r#"{{"hooks":{{"PreToolUse":{list}}}}}"#))
}

fn command(hook: &Hook) -> Option<&str> {
    match &hook.handler {
        Handler::Command(command) => match &command.line {
            CommandLine::Shell(text) => Some(text),
            CommandLine::Argv(_) => None,
        },
        _ => None,
    }
}

fn said(file: &ConfigFile) -> Vec<String> {
    let line = |one: &Diagnostic| {
        let at = one.position.as_ref().unwrap();
        format!("{} {}:{} {}", one.code, at.line, at.column, one.message)
    };
    file.diagnostics.iter().map(line).collect()
}

#[test]
fn an_entry_with_everything() {
    let read = file(
        r#"{
  "$schema": "https://charm.land/crush.json",
  "lsp": {"go": {"command": "gopls"}},
  "hooks": {
    "PreToolUse": [
      {"name": "no-haskell", "matcher": "^bash$", "command": "./no.sh", "timeout": 5},
      {"command": "audit", "on_failure": "block", "include_sub_agents": true}
    ]
  }
}"#,
    );
    assert!(read.parses && read.diagnostics.is_empty(), "{:?}", read.diagnostics);
    let [first, second] = &read.entries[..] else { panic!("{:?}", read.entries) };
    assert_eq!(first.hook.name, "no-haskell");
    assert_eq!(first.hook.source.to_string(), "crush.json#/hooks/PreToolUse/0");
    assert_eq!(first.hook.source.position.as_ref().map(|at| (at.line, at.column)), Some((6, 7)));
    assert_eq!(first.hook.matcher.source(), "^bash$");
    assert_eq!(first.hook.timeout, Some(std::time::Duration::from_secs(5)));
    assert_eq!((first.hook.on_failure, first.hook.scope), (None, Scope::Main));
    assert_eq!(command(&first.hook), Some("./no.sh"));
    assert_eq!(
        first.text,
        r#"{"command":"./no.sh","event":"PreToolUse","matcher":"^bash$","name":"no-haskell","timeout":5}"#
    );
    assert_eq!(second.hook.name, "audit", "without a name, the command");
    assert_eq!(second.hook.on_failure, Some(OnFailure::Block));
    assert!(second.hook.matcher.is_all() && second.hook.scope == Scope::All);
}

#[test]
fn matchers_are_regexes_that_are_sought() {
    for (matcher, subject, expected) in [
        ("^bash$", "bash", true),
        ("^bash$", "mcp_x_bash", false),
        ("bash", "mcp_x_bash", true),
        ("Bash", "bash", false),
        ("(?i)BASH", "bash", true),
        ("", "view", true),
        ("*", "view", true),
        ("^(edit|write)$", "write", true),
    ] {
        let read = entries(&format!(r#"[{{"matcher":"{matcher}","command":"x"}}]"#));
        assert_eq!(read.entries[0].hook.matcher.matches(subject), expected, "{matcher} {subject}");
    }
    let several = (DIALECT.matcher)(&["^a$", "b"]).unwrap();
    assert!(several.matches("a") && several.matches("xbx") && !several.matches("ac"));
    assert_eq!((DIALECT.matcher)(&["a", "("]).unwrap_err().item, Some(1));
}

#[test]
fn every_spelling_of_the_event_in_the_order_of_the_file() {
    let read = file(
        r#"{"hooks":{"pre_tool_use":[{"command":"a"}],"PreToolUse":[{"command":"b"}],
            "PRE_TOOL_USE":[{"command":"c"}],"preToolUse":[{"command":"d"}]}}"#,
    );
    let names: Vec<_> = read.hooks().map(|hook| hook.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
    assert!(read.hooks().all(|hook| hook.events == [EventKind::PreToolUse]));
    assert_eq!(read.entries[0].hook.source.pointer, "#/hooks/pre_tool_use/0");
}

#[test]
fn an_event_that_never_runs_is_told_with_what_was_meant() {
    let read = file(r#"{"hooks":{"pre-tool-use":[{"command":"a"}],"Stop":[{"command":"b"}]}}"#);
    assert_eq!(
        said(&read),
        [
            "hook.unknown-event 1:11 there is no event `pre-tool-use`",
            "hook.unknown-event 1:44 the host runs no hooks on `Stop`, so what stands here never runs",
        ]
    );
    assert_eq!(read.diagnostics[0].help.as_deref(), Some("did you mean `PreToolUse`?"));
    assert!(read.hooks().all(|hook| hook.skip == Some(Skip::Unsupported)));
}

#[test]
fn one_bad_entry_harms_no_other() {
    for (entry, expected) in [
        (r"{}", "hook.no-command 1:41 `hooks.PreToolUse[1]` has no `command`"),
        (r#"{"command":""}"#, "hook.no-command 1:52 the command of `hooks.PreToolUse[1]` is empty"),
        (
            r#"{"command":"  "}"#,
            "hook.no-command 1:52 the command of `hooks.PreToolUse[1]` is blank",
        ),
        (
            r#"{"command":["x"]}"#,
            "config.wrong-type 1:52 `command` of `hooks.PreToolUse[1]` is a list, and a text is expected",
        ),
        (
            r#"{"command":"x","timeout":"5"}"#,
            "hook.bad-duration 1:66 the timeout of `hooks.PreToolUse[1]` is `\"5\"`, and a whole number of seconds is expected",
        ),
        (
            r#"{"command":"x","timeout":1.5}"#,
            "hook.bad-duration 1:66 the timeout of `hooks.PreToolUse[1]` is `1.5`, and a whole number of seconds is expected",
        ),
        (
            r#"{"command":"x","matcher":"["}"#,
            "hook.bad-regex 1:66 the matcher `[` of `hooks.PreToolUse[1]`: the regex is wrong: unclosed character class",
        ),
        (
            r#"{"command":"x","matcher":"a(?=b)"}"#,
            "hook.bad-regex 1:66 the matcher `a(?=b)` of `hooks.PreToolUse[1]`: the regex is wrong: look-around, including look-ahead and look-behind, is not supported",
        ),
        (
            r#""x""#,
            "config.wrong-type 1:41 `hooks.PreToolUse[1]` is a text, and an object is expected",
        ),
        (
            r#"{"command":"x","on_failure":"deny"}"#,
            "config.wrong-type 1:69 `on_failure` of `hooks.PreToolUse[1]` is a text, and \"block\", \"ask\" or \"allow\" is expected",
        ),
    ] {
        let read = entries(&format!(r#"[{{"command":"a"}},{entry},{{"command":"b"}}]"#));
        assert_eq!(said(&read), [expected], "{entry}");
        let [a, broken, b] = &read.entries[..] else { panic!("{entry}") };
        assert_eq!((command(&a.hook), command(&b.hook)), (Some("a"), Some("b")), "{entry}");
        assert!(matches!(broken.hook.handler, Handler::Broken { .. }), "{entry}");
        assert_eq!(broken.hook.events, [EventKind::PreToolUse]);
    }
}

#[test]
fn a_timeout_below_one_second_is_the_default() {
    for timeout in ["0", "-3", "null"] {
        let read = entries(&format!(r#"[{{"command":"a","timeout":{timeout}}}]"#));
        assert_eq!((read.entries[0].hook.timeout, said(&read).len()), (None, 0), "{timeout}");
    }
}

#[test]
fn unknown_and_doubled_keys_are_told() {
    let read = entries(r#"[{"command":"a","command":"b","matchr":"x","async":true}]"#);
    assert_eq!(command(&read.entries[0].hook), Some("b"));
    let codes: Vec<_> = read.diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["config.duplicate-key", "hook.unknown-key", "hook.unknown-key"]);
    assert_eq!(read.diagnostics[1].help.as_deref(), Some("did you mean `matcher`?"));
    assert!(!read.has_errors());
}

#[test]
fn the_nested_form_is_read_as_its_hooks() {
    let read = entries(
        r#"[{"matcher":"^bash$","hooks":[
            {"type":"command","command":"a","timeout":7},{"type":"prompt","prompt":"x"}]}]"#,
    );
    let [a, other] = &read.entries[..] else { panic!("{:?}", read.entries) };
    assert_eq!((command(&a.hook), a.hook.matcher.source()), (Some("a"), "^bash$"));
    assert_eq!(a.hook.source.pointer, "#/hooks/PreToolUse/0/hooks/0");
    assert_eq!(a.hook.timeout, Some(std::time::Duration::from_secs(7)));
    assert!(matches!(other.hook.handler, Handler::Broken { .. }));
    assert!(said(&read)[0].starts_with("hook.unknown-handler"), "{:?}", said(&read));
    assert!(a.text.contains(r#""matcher":"^bash$""#), "{}", a.text);
}

#[test]
fn what_is_no_json_or_no_section_says_where() {
    let read = file("{\n  \"hooks\": {\n    // a comment\n  }\n}");
    assert!(!read.parses);
    assert_eq!(said(&read), ["config.syntax 3:5 this is not JSON: key must be a string"]);
    assert!(matches!(read.entries[0].hook.handler, Handler::Broken { .. }));
    for (text, what) in [
        ("[]", "config.wrong-type 1:1 the file is a list, and an object is expected"),
        (r#"{"hooks":[]}"#, "config.wrong-type 1:10 `hooks` is a list, and an object is expected"),
        (
            r#"{"hooks":{"PreToolUse":{}}}"#,
            "config.wrong-type 1:24 `hooks.PreToolUse` is an object, and a list is expected",
        ),
    ] {
        let read = file(text);
        assert!(read.parses);
        assert_eq!(said(&read), [what]);
    }
    for text in ["{}", r#"{"hooks":null}"#, r#"{"hooks":{"PreToolUse":null}}"#, r#"{"mcp":{}}"#] {
        let read = file(text);
        assert!(read.entries.is_empty() && read.diagnostics.is_empty(), "{text}");
    }
}

#[test]
fn the_text_for_trust_says_the_same_for_the_same_entry_only() {
    let text = |entry: &str| entries(&format!("[{entry}]")).entries[0].text.clone();
    let first = text(r#"{"command":"a","matcher":"b"}"#);
    assert_eq!(first, text("{ \"matcher\" : \"b\",\n \"command\": \"\\u0061\" }"));
    for other in [
        r#"{"command":"a","matcher":"c"}"#,
        r#"{"command":"a"}"#,
        r#"{"command":"a","matcher":"b","x":1}"#,
    ] {
        assert_ne!(first, text(other));
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(
        text in r#"[\{\}\[\]":, a-c0-9ä\\*(]*"#,
        list in r#"(\[|\{|"command":|"matcher":|"hooks":|"a"|"\["|1|,|\]|\}|null)*"#,
    ) {
        for text in [text, format!(r#"{{"hooks":{{"PreToolUse":[{list}]}}}}"#)] {
            let read = file(&text);
            for entry in &read.entries {
                prop_assert!(text.get(entry.span.clone()).is_some());
            }
        }
    }
}
