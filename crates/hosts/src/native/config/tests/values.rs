//! What a sound file means.

use std::time::Duration;

use tenter_core::contract::OnFailure;
use tenter_core::event::EventKind;
use tenter_core::hook::{Command, CommandLine, Cwd, Handler, Leftovers, Level, Order, Scope, View};
use tenter_core::outcome::Skip;
use tenter_core::verdict::{Rewrite, Verdict};
use toml::de::DeTable;

use super::{hook_with, only_hook, read_at, read_project, shown};
use crate::native::config::reader::asked;
use crate::native::config::{Dialect, EnvPolicy, FileId, NATIVE, Policy, read_hooks};
use crate::native::keys::{HANDLERS, KEYS, Key, Section};

fn command_of(file: &super::ConfigFile) -> &Command {
    match &only_hook(file).handler {
        Handler::Command(command) => command,
        other => panic!("{other:?}"),
    }
}

fn reply_of(file: &super::ConfigFile) -> &Verdict {
    match &only_hook(file).handler {
        Handler::Reply(verdict) => verdict,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_hook_without_options_has_the_defaults() {
    let file = read_project("[[hook]]\nevent = \"Stop\"\ncommand = \"make lint\"\n");
    let hook = only_hook(&file);
    assert_eq!(hook.name, "make lint");
    assert_eq!(hook.events, [EventKind::Stop]);
    assert!(hook.matcher.is_all() && hook.condition.is_empty());
    assert_eq!((hook.timeout, hook.on_failure, hook.view), (None, None, None));
    assert_eq!((hook.scope, hook.order), (Scope::All, Order::Parallel));
    assert!(hook.recheck && !hook.detach && !hook.once && hook.skip.is_none());
    assert_eq!(hook.source.pointer, "#/hook/0");
    assert_eq!(hook.source.to_string(), ".tenter/hooks.toml#/hook/0");
    assert_eq!(hook.source.level, Level::Project);
    let expected = Command {
        line: CommandLine::Shell("make lint".into()),
        shell: None,
        env: Vec::new(),
        cwd: Cwd::Project,
        leftovers: Leftovers::Leave,
        scripts: Vec::new(),
        base: None,
    };
    assert_eq!(*command_of(&file), expected);
}

#[test]
fn every_option_reaches_the_hook() {
    let file = read_project(
        r#"
version = 1

[[hook]]
name = "guard"
event = ["PreToolUse", "PermissionRequest"]
matcher = ["Edit", "/^mcp__/"]
if = ["Edit(src/**)", "mcp__*"]
command = "exec ./guard.sh"
timeout = "1500ms"
on_failure = "ask"
enabled = false
agents = "subagents"
order = "sequence"
recheck = false
view = "2KiB"
on_truncated = "block"
env = { Z = "1", A = "2" }
cwd = "session"
shell = ["bash", "-eu"]
leftovers = "kill"
scripts = ["guard.sh"]
once = true
"#,
    );
    let hook = only_hook(&file);
    assert_eq!(hook.name, "guard");
    assert_eq!(hook.events, [EventKind::PreToolUse, EventKind::PermissionRequest]);
    assert!(hook.matcher.matches("Edit") && hook.matcher.matches("mcp__a__b"));
    assert!(!hook.matcher.matches("MultiEdit"));
    let rules: Vec<_> = hook.condition.iter().map(tenter_core::Rule::text).collect();
    assert_eq!(rules, ["Edit(src/**)", "mcp__*"]);
    assert_eq!(hook.timeout, Some(Duration::from_millis(1500)));
    assert_eq!(hook.on_failure, Some(OnFailure::Ask));
    assert_eq!(hook.skip, Some(Skip::Disabled));
    assert_eq!((hook.scope, hook.order), (Scope::Subagents, Order::Sequence));
    assert_eq!(hook.view, Some(View { cap: 2048, on_truncated: Some(OnFailure::Block) }));
    assert!(!hook.recheck && hook.once);
    let expected = Command {
        line: CommandLine::Shell("exec ./guard.sh".into()),
        shell: Some(vec!["bash".into(), "-eu".into()]),
        env: vec![("Z".into(), "1".into()), ("A".into(), "2".into())],
        cwd: Cwd::Session,
        leftovers: Leftovers::Kill,
        scripts: vec!["guard.sh".into()],
        base: None,
    };
    assert_eq!(*command_of(&file), expected);
}

#[test]
fn relative_programs_are_meant_from_the_folder_of_a_file_that_belongs_to_no_project() {
    for (level, base) in [
        (Level::Managed, Some("/p/.tenter")),
        (Level::User, Some("/p/.tenter")),
        (Level::Project, None),
        (Level::Private, None),
    ] {
        assert_eq!(command_of(&read_at(level, &hook_with(""))).base.as_deref(), base);
    }
}

#[test]
fn an_event_may_have_the_name_that_another_host_gives_it() {
    let text =
        "[[hook]]\nevent = [\"BeforeTool\", \"PreToolUse\", \"BeforeModel\"]\ncommand = \"x\"\n";
    let file = read_project(text);
    assert_eq!(only_hook(&file).events, [EventKind::PreToolUse, EventKind::of("BeforeModel")]);
}

#[test]
fn a_reply_is_the_verdict_it_says() {
    let file = read_project(
        "[[hook]]\nevent = \"PreToolUse\"\n[hook.reply]\ndecision = \"ask\"\nhalt = true\nreason = \"why\"\n\
         context = [\"one\", \"two\"]\nmessage = \"hello\"\n",
    );
    let expected =
        Verdict::ask("why").with_halt(true).with_context("one\ntwo").with_message("hello");
    assert_eq!(*reply_of(&file), expected);
    assert_eq!(only_hook(&file).name, "reply");
}

#[test]
fn a_rewrite_is_json_in_the_order_of_the_file() {
    let file = read_project(
        "[[hook]]\nevent = \"PreToolUse\"\n\
         reply.patch = { z = 1, a = [true, 1.5, \"x\\n\"], m.k = 0x10, d = 2026-01-02 }\n",
    );
    let Some(Rewrite::Patch(fields)) = reply_of(&file).rewrite() else { panic!() };
    assert_eq!(
        fields.to_json().as_text(),
        r#"{"z":1,"a":[true,1.5,"x\n"],"m":{"k":16},"d":"2026-01-02"}"#
    );
    let file = read_project(
        "[[hook]]\nevent = \"PreToolUse\"\nreply = { replace = { command = \"ls\" } }\n",
    );
    let Some(Rewrite::Replace(json)) = reply_of(&file).rewrite() else { panic!() };
    assert_eq!(json.as_text(), r#"{"command":"ls"}"#);
}

#[test]
fn a_rewrite_that_no_reader_of_json_would_take_is_refused() {
    let deep = format!("{}1{}", "[".repeat(70), "]".repeat(70));
    let dotted = vec!["a"; 70].join(".");
    let text = format!("[[hook]]\nevent = \"PreToolUse\"\n[hook.reply.patch]\n{dotted} = {deep}\n");
    let file = read_project(&text);
    assert_eq!(file.diagnostics[0].code, "hook.bad-value");
    assert!(file.diagnostics[0].message.contains("too deep"));
}

#[test]
fn a_hook_without_a_name_gets_one_that_no_other_has() {
    let entry = |lines: &str| format!("[[hook]]\nevent = \"PreToolUse\"\n{lines}\n");
    let text: String = [
        "command = [\"./guards/check.sh\", \"x\"]",
        "command = [\"/usr/bin/check.sh\"]",
        "name = \"check.sh-2\"\ncommand = [\"true\"]",
        "command = [\"check.sh\"]",
        "command = \"  jq -r .tool_name | grep -q x\"",
        "reply = { decision = \"ask\" }",
        "reply = { decision = \"deny\" }",
        "command = [\"/\"]",
        "prompt = \"x\"",
    ]
    .map(entry)
    .concat();
    let file = read_project(&text);
    let names: Vec<_> = file.hooks().map(|hook| hook.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "check.sh",
            "check.sh-3",
            "check.sh-2",
            "check.sh-4",
            "jq -r .tool_name",
            "reply",
            "reply-2",
            "command",
            "hook",
        ]
    );
}

#[test]
fn rules_keep_their_list_their_order_and_their_place() {
    let file = read_project(
        "[permissions]\nallow = [\"Read(src/**)\"]\ndeny = [\"Read(**/.env)\", \"WebSearch\"]\nask = [\"WebFetch\"]\n",
    );
    assert_eq!(shown(&file.diagnostics), "");
    let rules: Vec<_> = file
        .permissions
        .iter()
        .map(|permission| {
            let at = &permission.position;
            (
                permission.decision.as_str(),
                permission.rule.text(),
                permission.pointer.as_str(),
                at.line,
                at.column,
            )
        })
        .collect();
    assert_eq!(
        rules,
        [
            ("deny", "Read(**/.env)", "#/permissions/deny/0", 3, 9),
            ("deny", "WebSearch", "#/permissions/deny/1", 3, 26),
            ("ask", "WebFetch", "#/permissions/ask/0", 4, 8),
            ("allow", "Read(src/**)", "#/permissions/allow/0", 2, 10),
        ]
    );
}

#[test]
fn policies_of_several_files_add_up_to_the_stricter_of_each() {
    let read = |text: &str| {
        let file = read_at(Level::Managed, &format!("[policy]\n{text}"));
        assert_eq!(shown(&file.diagnostics), "");
        file.policy
    };
    let one = read(
        "only_managed = true\nallow_http = false\nmin_on_failure = \"ask\"\nkeep_originals = false\n",
    );
    let other = read(
        "allow_project = false\nallow_http = true\nkeep_originals = true\nrecord_payloads = false\n",
    );
    let expected = Policy {
        only_managed: true,
        allow_project: false,
        allow_config_override: true,
        allow_http: false,
        min_on_failure: OnFailure::Ask,
        keep_originals: Some(false),
        record_payloads: Some(false),
    };
    assert_eq!(one.and(other), expected);
    assert_eq!(one.and(Policy::default()), one);
    let user = read_at(Level::User, "[policy]\nkeep_originals = true\n");
    assert_eq!(shown(&user.diagnostics), "");
    assert_eq!(user.policy.keep_originals, Some(true));
}

#[test]
fn variables_are_listed_as_they_stand() {
    let file = read_at(Level::User, "[env]\nstrip = [\"A\", \"B\"]\npass = [\"C\"]\n");
    assert_eq!(file.env, EnvPolicy { strip: vec!["A".into(), "B".into()], pass: vec!["C".into()] });
    assert_eq!(file.env_text.as_deref(), Some(r#"{"pass":["C"],"strip":["A","B"]}"#));
}

#[test]
fn an_empty_file_says_nothing() {
    let file = read_project("# nothing yet\n");
    assert!(file.parses && file.entries.is_empty() && file.diagnostics.is_empty());
    assert_eq!((file.permissions_text, file.env_text), (None, None));
}

#[test]
fn two_spellings_of_one_entry_have_one_text() {
    let text_of = |text: &str| read_project(text).entries[0].text.clone();
    let plain = text_of(
        "[[hook]]\nevent = \"Stop\"\ncommand = [\"a\", \"b\"]\nenv = { A = \"1\", B = \"é\" }\nextra = 16\n",
    );
    for same in [
        "# c\n[[hook]]\ncommand = [ 'a', # x\n \"\"\"b\"\"\" ]\n\nextra = 0x10\nevent = 'Stop'\n[hook.env]\nB = \"\\u00e9\"\nA = '1'\n",
        "hook = [{ extra = 1_6, env.A = \"1\", env.B = \"é\", event = \"Stop\", command = [\"a\", \"b\"] }]\n",
        "version = 1\n[permissions]\ndeny = []\n[[hook]]\nextra = 0b10000\nenv.\"A\" = \"1\"\nenv.B = \"é\"\nevent = \"Stop\"\ncommand = [\"a\", \"b\"]\n",
    ] {
        assert_eq!(text_of(same), plain, "{same}");
    }
    for other in [
        "[[hook]]\nevent = \"Stop\"\ncommand = [\"a b\"]\nenv = { A = \"1\", B = \"é\" }\nextra = 16\n",
        "[[hook]]\nevent = \"Stop\"\ncommand = [\"a\", \"b\"]\nenv = { A = \"1\", B = \"é\" }\nextra = 17\n",
        "[[hook]]\nevent = \"Stop\"\ncommand = [\"a\", \"b\"]\nenv = { A = \"1\", B = \"é\" }\nextra = \"16\"\n",
        "[[hook]]\nevent = \"Stop\"\ncommand = [\"a\", \"b\"]\nenv = { A = \"1\", B = \"é\" }\nextra = 16.0\n",
        "[[hook]]\nevent = \"Stop\"\ncommand = [\"a\", \"b\"]\nenv = { A = \"1\", B = \"é\" }\n",
    ] {
        assert_ne!(text_of(other), plain, "{other}");
    }
}

#[test]
fn a_test_file_may_give_a_reply_as_json_and_have_rules_of_another_profile() {
    fn json(text: &str) -> Result<Verdict, String> {
        if text == "{}" {
            Ok(Verdict::deny("from json"))
        } else {
            Err("it is not an object".into())
        }
    }
    let dialect = Dialect { reply_json: Some(json), ..NATIVE };
    let text = "[[case]]\n[[case.hook]]\nevent = \"PreToolUse\"\nreply_json = '{}'\n\
                [[case.hook]]\nevent = \"PreToolUse\"\nreply_json = 'x'\n\
                [[case.hook]]\nevent = \"PreToolUse\"\nreply_json = '{}'\ncommand = \"x\"\n";
    let root = DeTable::parse(text).unwrap();
    let cases = root.get_ref().get("case").unwrap().get_ref().as_array().unwrap();
    let hooks = cases.first().unwrap().get_ref().get("hook").unwrap();
    let file = FileId { name: "a.hooktest.toml", path: "/p/a", folder: "/p", level: Level::User };
    let read = read_hooks(text, &file, dialect, hooks, "#/case/0/hook");
    assert_eq!(read.entries[0].hook.handler, Handler::Reply(Box::new(Verdict::deny("from json"))));
    assert_eq!(read.entries[0].hook.source.pointer, "#/case/0/hook/0");
    let codes: Vec<_> = read.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, ["hook.bad-value", "hook.two-handlers"]);
    // In a hooks file it is a key like any other that is not known.
    let file = read_project("[[hook]]\nevent = \"PreToolUse\"\nreply_json = '{}'\n");
    assert_eq!(file.diagnostics[0].code, "hook.unknown-key");
}

/// The keys of the hooks file.
fn keys() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(|key| Section::ALL.contains(&key.section))
}

/// A file with one key of the table in its place, and all that it needs beside it.
fn file_with(key: &Key, line: &str) -> String {
    let handler = if HANDLERS.contains(&key.name) { "" } else { "command = \"true\"\n" };
    let beside = if key.name == "on_truncated" { "view = \"1KiB\"\n" } else { "" };
    let event = if key.name == "event" { "" } else { "event = \"PreToolUse\"\n" };
    match key.section {
        Section::File => format!("{line}\n"),
        Section::Hook => format!("[[hook]]\n{event}{handler}{beside}{line}\n"),
        Section::Reply => format!("[[hook]]\nevent = \"PreToolUse\"\n[hook.reply]\n{line}\n"),
        Section::Permissions => format!("[permissions]\n{line}\n"),
        Section::Rule => {
            let rule = if key.name == "rule" { "" } else { "rule = \"Bash(git push *)\"\n" };
            format!("[[permissions.deny]]\n{rule}{line}\n")
        }
        Section::Policy => format!("[policy]\n{line}\n"),
        Section::Env => format!("[env]\n{line}\n"),
        other => unreachable!("{} is no part of a hooks file", other.as_str()),
    }
}

#[test]
fn the_example_of_every_key_is_sound() {
    for key in keys() {
        let file = read_at(Level::Managed, &file_with(key, key.example));
        let codes: Vec<_> = file.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        match key.usable {
            true => assert_eq!(shown(&file.diagnostics), "", "{}", key.example),
            false if key.name == "headers" => assert_eq!(codes, ["hook.no-effect"]),
            false => assert_eq!(codes, ["hook.unsupported-handler"], "{}", key.example),
        }
    }
}

#[test]
fn every_key_of_the_table_is_read_and_checked() {
    for key in keys() {
        let text = file_with(key, &format!("{} = 1979-05-27", key.name));
        let file = read_at(Level::Managed, &text);
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
    let text = "permissions = { ask = [{}] }\npolicy = {}\nenv = {}\n[[hook]]\nreply = {}\n";
    read_at(Level::Managed, text);
    let table = keys().map(|key| (key.section, key.name)).collect();
    // The reader of entries asks for a key of test files too, and does not find it.
    let mut asked = asked::take();
    asked.remove(&(Section::Hook, "reply_json"));
    assert_eq!(asked, table);
}

#[test]
fn a_rule_may_be_a_table_with_examples() {
    let file = read_project(
        "[permissions]\ndeny = [\"Read\", { rule = \"Bash(ls)\", match = \"ls\", not_match = [\"id\"] }]\n\
         ask = [{ rule = \"Edit\", mach = \"x\" }]\nallow = [{ rule = \"Glob\", mach = \"x\" }]\n\
         [[hook]]\nevent = \"PreToolUse\"\ncommand = \"x\"\nif = { rule = \"Write\", match = \"Write\" }\n",
    );
    let codes: Vec<_> = file.diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["config.unknown-key", "config.unknown-key"]);
    let rules: Vec<_> = file.permissions.iter().map(|one| one.rule.text()).collect();
    // Beside a mistake a rule that restricts stands, and one that allows does not.
    assert_eq!(rules, ["Read", "Bash(ls)", "Edit"]);
    let examples = file.permissions[1].rule.examples();
    let examples: Vec<_> = examples
        .iter()
        .map(|one| (&*one.text, one.matches, one.position.as_ref().unwrap().line))
        .collect();
    assert_eq!(examples, [("ls", true, 2), ("id", false, 2)]);
    assert_eq!(file.entries[0].hook.condition[0].examples().len(), 1);
}
