//! The reader of test files: what is read, what is refused where and with which way out, and what an
//! expectation matches.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Map, Value as Tree, json};
use tenter_core::diagnostic::Diagnostic;
use tenter_core::hook::Handler;
use tenter_core::verdict::{Decision, Rewrite};

use super::super::reader::asked;
use super::{TestFile, read};
use crate::native::keys::{KEYS, Key, Section, Value, test_file_markdown};

fn read_test(text: &str) -> TestFile {
    read(text, "t.hooktest.toml", "/t")
}

/// Diagnostics as text: place, code, what, and the way out on a line of its own.
fn shown(diagnostics: &[Diagnostic]) -> String {
    let line = |diagnostic: &Diagnostic| {
        let at = diagnostic.position.as_ref().unwrap();
        let help = diagnostic.help.as_deref().unwrap();
        let place = format!("{}:{}", at.line, at.column);
        format!("{place} {}: {}\n    = {help}\n", diagnostic.code, diagnostic.message)
    };
    diagnostics.iter().map(line).collect()
}

/// A file with one case of these lines.
fn case_with(lines: &str) -> String {
    format!("[[case]]\nname = \"a\"\nevent = {{ tool_name = \"Bash\" }}\n{lines}\n")
}

/// The places where a value is not what `expect` says, as `path: expected | actual`.
fn mismatches(expect: &str, actual: &Tree) -> Vec<String> {
    let file = read_test(&case_with(&format!("expect = {expect}")));
    assert_eq!(shown(&file.diagnostics), "", "{expect}");
    let expect = file.cases[0].steps[0].expect.as_ref().unwrap();
    let line = |one: super::Mismatch| format!("{}: {} | {}", one.path, one.expected, one.actual);
    expect.mismatches(actual).into_iter().map(line).collect()
}

#[test]
fn everything_that_a_file_can_say_is_read() {
    let file = read_test(
        r#"
profile = "tenter"
config = "hooks.toml"
env = { CI = "1" }
files = { "src/a.txt" = "text", "guard.sh" = { content = "exit 2", mode = "0755" } }
home_files = { ".x" = { repeat = "ab", times = 2 } }
trust_project = true
[permissions]
deny = ["Read(**/.env)"]
ask = ["Bash(git push *)"]

[[hook]]
event = "PreToolUse"
command = "exit 2"

[[hook]]
event = "PreToolUse"
reply_json = '{"decision":"ask","reason":"why","context":["a","b"],"halt":false,"message":null,"patch":{"timeout":null}}'

[[case]]
name = "one"
event_json = '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"timeout":null}}'
expect = { decision = "deny" }
max_ms = 5
env = { A = "" }
after = [{ command = "test -e a" }, { command = "false", exit = 1 }]
trust_project = false
[case.permissions]
allow = ["Read"]
[[case.hook]]
event = "Stop"
reply = { decision = "deny" }

[[case]]
name = "two"
[[case.step]]
event = { tool_name = "Write", tool_input = { content = { repeat = "x", times = 3 } } }
expect = { decision = "none" }
max_ms = 7
[[case.step]]
event = { hook_event_name = "Stop", session_id = "other" }
"#,
    );
    assert_eq!(shown(&file.diagnostics), "");
    assert_eq!(file.host.profile.name, "tenter");
    assert_eq!(file.config.as_ref().unwrap().0, "hooks.toml");
    let hooks = file.hooks.as_ref().unwrap();
    assert_eq!(hooks[1].source.to_string(), "t.hooktest.toml#/hook/1");
    let Handler::Reply(reply) = &hooks[1].handler else { panic!("{:?}", hooks[1]) };
    assert_eq!((reply.decision, reply.context()), (Decision::Ask, Some("a\nb")));
    let Some(Rewrite::Patch(patch)) = reply.rewrite() else { panic!("{reply:?}") };
    assert!(patch.get("timeout").unwrap().is_null());
    let setting = &file.setting;
    assert_eq!(setting.env, [("CI".to_owned(), "1".to_owned())]);
    assert_eq!((&*setting.files[1].content, setting.files[1].mode), ("exit 2", Some(0o755)));
    assert_eq!((&*setting.home_files[0].content, setting.home_files[0].mode), ("abab", None));
    assert_eq!(setting.permissions.len(), 2);
    assert_eq!(setting.trust_project, Some(true));

    let [one, two] = &file.cases[..] else { panic!("{:?}", file.cases) };
    assert_eq!((one.position.line, one.max_ms), (20, Some(5)));
    assert!(one.steps[0].event.as_text().contains(r#""timeout":null"#));
    assert_eq!(one.after[1].exit, 1);
    assert_eq!(one.setting.trust_project, Some(false));
    assert_eq!(one.hooks.as_ref().unwrap()[0].source.to_string(), "t.hooktest.toml#/case/0/hook/0");
    // A call without a name of the event is the one before a tool runs.
    assert_eq!(
        two.steps[0].event.as_text(),
        r#"{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"content":"xxx"}}"#
    );
    assert_eq!(two.steps[0].max_ms, Some(7));
    assert!(two.steps[1].expect.is_none());
}

#[test]
fn every_mistake_has_its_place_its_reason_and_a_way_out() {
    let case = |lines: &str| case_with(&format!("expect = {{}}\n{lines}"));
    let event = |event: &str| format!("[[case]]\nname = \"a\"\nexpect = {{}}\n{event}\n");
    let files = [
        String::new(),
        "case = []\n".into(),
        "[[case]\n".into(),
        "case = 1\n".into(),
        "[case]\nname = \"a\"\n".into(),
        format!("profile = \"tentr\"\n{}", case("")),
        format!("profile = \"zzz\"\n{}", case("")),
        format!("hoook = []\n{}", case("")),
        format!("event = 1\nmatcher = 2\n{}", case("")),
        case("matcher = \"Bash\"\nconfig = \"x\"\nexpct = 1"),
        case("[[case.hook]]\nevent = \"PreTolUse\"\ncommand = \"true\""),
        case("[[case.hook]]\nevent = \"Stop\"\nreply_json = '{\"decison\":\"deny\"}'"),
        case("[[case.hook]]\nevent = \"Stop\"\nreply_json = '[]'"),
        case("permissions = { deny = [\"Bash(\"] }"),
        case("env = { \"A=B\" = \"1\", C = 1 }"),
        case("files = { \"../x\" = \"\", \"/x\" = \"\", a = 1, b = { mode = \"0755\" } }"),
        case("home_files = { a = { content = \"\", mode = \"rwx\" }, b = { content = 1 } }"),
        case(
            "files = { a = { repeat = \"x\", times = 99999999999 }, b = { repeat = 1, times = 1 } }",
        ),
        case("max_ms = -1"),
        case("max_ms = \"2s\""),
        case("after = [{ exit = 256, command = \"x\" }, { command = \" \" }, 1]"),
        case("trust_project = \"yes\""),
        event("event = 1"),
        event("event = { session_id = \"a\" }"),
        event("event = { tool_name = \"Bash\", cwd = 1 }"),
        event("event = { hook_event_name = \"PreTolUse\", tool_name = \"Bash\" }"),
        event("event = { hook_event_name = \"UserPromptSubmit\" }"),
        event("event = { tool_name = \"Bash\", tool_input = { a = inf } }"),
        event("event_json = '{\"tool_name\":'"),
        event("event = { tool_name = \"Bash\" }\nevent_json = '{}'"),
        event(""),
        event("step = []"),
        "[[case]]\nname = \"a\"\n[[case.step]]\nexpect = {}\nname = \"x\"\n".into(),
        event("[[case.step]]\nevent = { tool_name = \"Bash\" }\nexpect = {}"),
        case_with(""),
        case_with("expect = []"),
        case_with("expect = { reason = { matches = \"(\" } }"),
        case_with("expect = { reason = { one_of = \"a\" }, context = { matches = 1 } }"),
        case_with("expect = { absent = \"payload\" }"),
        "[[case]]\nevent = { tool_name = \"Bash\" }\nexpect = {}\n".into(),
        format!("{}{}", case(""), case("")),
    ];
    let mut report = String::new();
    for text in files {
        let file = read_test(&text);
        assert!(file.has_errors(), "{text}");
        writeln!(report, "{}\n{}", text.trim_end(), shown(&file.diagnostics)).unwrap();
    }
    insta::assert_snapshot!(report);
}

#[test]
fn what_is_given_matches_and_what_is_not_given_does_not_matter() {
    let actual = json!({
        "decision": "deny", "reason": "No Haskell.\nNo Perl.", "halt": false, "signal": null,
        "duration_ms": 3.0, "payload": { "a.b": 1, "long": "x".repeat(5000) },
        "hooks": [{ "name": "a", "status": "ok" }, { "name": "b", "status": "failed" }],
        "context": ["one", "two"],
    });
    for expect in [
        "{}",
        r#"{ decision = "deny", halt = false, duration_ms = 3 }"#,
        r"{ signal = { null = true } }",
        r#"{ reason = { contains = "Perl" } }"#,
        r"{ reason = { matches = '(?m)^No Perl' } }",
        r#"{ reason = { contains = "No", matches = '\.$' } }"#,
        r#"{ decision = { one_of = ["ask", "deny"] } }"#,
        r"{ signal = { one_of = [9, { null = true }] } }",
        r#"{ context = ["one", "two"] }"#,
        r#"{ context = { contains = "two" } }"#,
        r#"{ hooks = { contains = { status = "failed", name = { one_of = ["b"] } } } }"#,
        r#"{ hooks = [{}, { status = "failed" }] }"#,
        r#"{ payload = { "a.b" = 1.0, long = { repeat = "x", times = 5000 } } }"#,
        r#"{ payload = { long = { contains = { repeat = "x", times = 4000 } } } }"#,
        r#"{ absent = ["payload.mark", "hooks.2", "hooks.0.skip", "context.x"] }"#,
    ] {
        assert_eq!(mismatches(expect, &actual), [""; 0], "{expect}");
    }
    for (expect, expected) in [
        (r#"{ decision = "none" }"#, r#"decision: "none" | "deny""#),
        (r#"{ decison = "deny" }"#, r#"decison: "deny" | no such key; there is `decision`"#),
        (r"{ signal = 9 }", "signal: 9 | null"),
        (r"{ halt = { null = true } }", "halt: null | false"),
        (
            r#"{ reason = { contains = "perl" } }"#,
            r#"reason: contains "perl" | "No Haskell.\nNo Perl.""#,
        ),
        (r"{ reason = { matches = '^P' } }", r#"reason: matches /^P/ | "No Haskell.\nNo Perl.""#),
        (
            r#"{ reason = { contains = "No", matches = '^P' } }"#,
            r#"reason: contains "No" and matches /^P/ | "No Haskell.\nNo Perl.""#,
        ),
        (r#"{ decision = { one_of = ["ask"] } }"#, r#"decision: one of ["ask"] | "deny""#),
        (r#"{ context = ["one"] }"#, r#"context: 1 element | 2 elements: ["one","two"]"#),
        (r#"{ context = ["two", "two"] }"#, r#"context.0: "two" | "one""#),
        (r#"{ context = { contains = "three" } }"#, r#"context: contains "three" | ["one","two"]"#),
        (r"{ hooks = [] }", "hooks: 0 elements | 2 elements: a (ok), b (failed)"),
        (r#"{ payload = { contains = "a.b" } }"#, r#"payload.contains: "a.b" | no such key"#),
        (r"{ reason = { other = 1 } }", r#"reason: {"other":1} | "No Haskell.\nNo Perl.""#),
        (r#"{ absent = ["payload.a.b"] }"#, "payload.a.b: nothing there | 1"),
        (r#"{ absent = ["hooks.1.status"] }"#, r#"hooks.1.status: nothing there | "failed""#),
    ] {
        assert_eq!(mismatches(expect, &actual), [expected], "{expect}");
    }
}

#[test]
fn of_long_texts_the_part_where_they_differ_is_shown() {
    let actual =
        json!({ "payload": { "long": format!("{}y{}", "x".repeat(400), "x".repeat(99)) } });
    let found = mismatches(r#"{ payload = { long = { repeat = "x", times = 500 } } }"#, &actual);
    assert_eq!(found.len(), 1);
    let text = format!("{}z{}", "x".repeat(400), "x".repeat(99));
    let found = mismatches(&format!("{{ payload = {{ long = \"{text}\" }} }}"), &actual);
    assert!(found[0].contains("xz") && found[0].contains("xy"), "{found:?}");
    assert!(found[0].contains("from character 361, of 500 bytes"), "{found:?}");
}

#[test]
fn a_table_of_matcher_words_is_itself_where_the_value_is_an_object() {
    let actual =
        json!({ "payload": { "matches": "(a", "contains": 1 }, "reason": { "null": true } });
    for (expect, matches) in [
        (r"{ payload = { contains = 1 } }", true),
        (r"{ payload = { contains = 2 } }", false),
        (r"{ payload = { matches = '\(a' } }", false),
        (r"{ reason = { null = true } }", true),
    ] {
        assert_eq!(mismatches(expect, &actual).is_empty(), matches, "{expect}");
    }
}

/// A value in TOML that expects exactly this value.
fn in_toml(value: &Tree) -> String {
    match value {
        Tree::Null => "{ null = true }".into(),
        Tree::Array(items) => {
            format!("[{}]", items.iter().map(in_toml).collect::<Vec<_>>().join(", "))
        }
        Tree::Object(object) => {
            let pair = |(key, value): (&String, &Tree)| {
                format!("{} = {}", toml::Value::from(key.as_str()), in_toml(value))
            };
            format!("{{ {} }}", object.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
        Tree::String(text) => toml::Value::from(text.as_str()).to_string(),
        other => other.to_string(),
    }
}

fn any_value() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::from),
        any::<i64>().prop_map(Tree::from),
        (-1.0e6..1.0e6).prop_map(|number: f64| Tree::from((number * 8.0).round() / 8.0)),
        "\\PC{0,8}".prop_map(Tree::from),
    ];
    // Words of the format as keys, too. Those that take a value of one type alone are left out.
    let key = prop_oneof!["[a-z.\" ]{0,4}", Just("contains".to_owned()), Just("absent".to_owned())];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::from),
            prop::collection::vec((key.clone(), inner), 0..4)
                .prop_map(|pairs| Tree::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Adds a key to every object in a value.
fn with_more_keys(value: &Tree) -> Tree {
    match value {
        Tree::Array(items) => items.iter().map(with_more_keys).collect(),
        Tree::Object(object) => {
            let mut object: Map<_, _> =
                object.iter().map(|(key, value)| (key.clone(), with_more_keys(value))).collect();
            object.insert("one more key".into(), Tree::Null);
            Tree::Object(object)
        }
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn any_value_matches_itself_and_one_with_more_keys(value in any_value()) {
        let actual = json!({ "payload": value });
        let expect = in_toml(&actual);
        prop_assert_eq!(mismatches(&expect, &actual), [""; 0], "{}", expect);
        let more = with_more_keys(&actual);
        prop_assert_eq!(mismatches(&expect, &more), [""; 0], "{}", expect);
    }

    #[test]
    fn two_values_match_only_if_they_are_alike(a in any_value(), b in any_value()) {
        let expect = in_toml(&json!({ "payload": [a] }));
        let found = mismatches(&expect, &json!({ "payload": [b] }));
        if a.is_object() && b.is_object() {
            let given = a.as_object().unwrap().keys().all(|key| b.get(key).is_some());
            prop_assert!(given || !found.is_empty());
        } else if std::mem::discriminant(&a) != std::mem::discriminant(&b) {
            // `{ contains = … }` is the one table here that speaks of other things than objects.
            let is_matcher = a.as_object().is_some_and(|a| a.keys().all(|key| key == "contains"));
            prop_assert!(is_matcher || !found.is_empty(), "{:?} {:?}", a, b);
        } else if !a.is_array() {
            prop_assert_eq!(found.is_empty(), a == b);
        }
    }

    #[test]
    fn reading_never_panics_and_points_into_the_file(text in "(\\[\\[(case|hook)\\]\\]|[a-z_]{1,9} = |[\"'{}\\[\\],.=0-9\n ]|event|expect|\\PC){0,40}") {
        let file = read_test(&text);
        let lines = text.split('\n').count();
        for one in &file.diagnostics {
            prop_assert!((1..=lines).contains(&one.position.as_ref().unwrap().line));
        }
    }
}

/// A file with one key of the table in its place, and all that it needs beside it.
fn file_with(key: &Key, line: &str) -> String {
    let unless = |name: &str, text: &str| {
        let beside = ["event", "event_json", "step"];
        let is_same = key.name == name || (beside.contains(&name) && beside.contains(&key.name));
        if is_same { String::new() } else { format!("{text}\n") }
    };
    let event = unless("event", "event = { tool_name = \"Bash\" }");
    let name = unless("name", "name = \"a\"");
    let expect = if key.name == "step" { String::new() } else { unless("expect", "expect = {}") };
    let case = "[[case]]\nname = \"a\"\n";
    match key.section {
        Section::TestFile if key.name == "case" => format!("{line}\n"),
        Section::TestFile => {
            format!("{line}\n{case}event = {{ tool_name = \"Bash\" }}\nexpect = {{}}\n")
        }
        Section::Case => format!("[[case]]\n{name}{event}{expect}{line}\n"),
        Section::Step => format!("{case}[[case.step]]\n{event}{expect}{line}\n"),
        Section::After => {
            let command = unless("command", "command = \"true\"");
            format!("{case}{event}[[case.after]]\n{command}{line}\n")
        }
        Section::Content => {
            let content = unless("content", "content = \"\"");
            format!("{case}{event}expect = {{}}\n[case.files.a]\n{content}{line}\n")
        }
        other => unreachable!("{} is no part of a test file", other.as_str()),
    }
}

fn keys() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(|key| Section::TEST.contains(&key.section))
}

#[test]
fn the_example_of_every_key_is_sound() {
    for key in keys() {
        let text = file_with(key, key.example);
        assert_eq!(shown(&read_test(&text).diagnostics), "", "{text}");
    }
}

#[test]
fn every_key_of_the_table_is_read_and_checked() {
    for key in keys() {
        let text = file_with(key, &format!("{} = 1979-05-27", key.name));
        let file = read_test(&text);
        let at = text.find("1979").unwrap();
        let found = file.diagnostics.iter().any(|diagnostic| {
            diagnostic.code.ends_with(".wrong-type")
                && diagnostic.position.as_ref().is_some_and(|position| position.span.start == at)
        });
        assert!(found, "{text}{}", shown(&file.diagnostics));
    }
}

#[test]
fn the_reader_asks_for_the_keys_of_the_table_and_for_no_others() {
    asked::take();
    for key in keys() {
        read_test(&file_with(key, key.example));
    }
    let of_tests = |(section, name): (Section, &'static str)| {
        Section::TEST.contains(&section).then_some((section, name))
    };
    let asked: BTreeSet<_> = asked::take().into_iter().filter_map(of_tests).collect();
    assert_eq!(asked, keys().map(|key| (key.section, key.name)).collect());
}

#[test]
fn the_reference_page_names_every_key() {
    let page = test_file_markdown("# Test files\n");
    for key in keys() {
        assert!(page.contains(&format!("| `{}` |", key.name)), "{}", key.name);
    }
    assert!(keys().any(|key| matches!(key.value, Value::Expectation)));
}
