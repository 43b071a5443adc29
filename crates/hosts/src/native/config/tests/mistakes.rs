//! What is refused: where, under which code, with which words.

use tenter_core::hook::Level;

use super::{hook_with, read_at, read_project, shown};

#[test]
fn every_mistake_that_check_must_find_has_its_place_and_a_way_out() {
    for (lines, code, line, column, help) in [
        ("mtcher = \"Bash\"", "hook.unknown-key", 4, 1, "did you mean `matcher`?"),
        ("timeout = \"5sec\"", "hook.bad-duration", 4, 11, "units are `ms`, `s`, `m`, `h`"),
        (
            "timeout = \"0s\"",
            "hook.bad-duration",
            4,
            11,
            "write a limit such as `5s`; there is no word for none",
        ),
        ("timeout = 5", "hook.duration-unit", 4, 11, "write `timeout = \"5s\"`, if that is meant"),
        (
            "timeout = \"5\"",
            "hook.duration-unit",
            4,
            11,
            "write `5s`, if that is meant; units are `ms`, `s`, `m`, `h`",
        ),
        (
            "matcher = \"/a(b/\"",
            "hook.bad-regex",
            4,
            14,
            "matchers have no look-around and no back-references; use names, globs, or two hooks",
        ),
        (
            "if = \"Edit(src\"",
            "hook.bad-rule",
            4,
            11,
            "close it with `)`; one that is part of a name is written `\\(`",
        ),
        (
            "reply = { decision = \"deny\" }",
            "hook.two-handlers",
            4,
            1,
            "keep one of them, or make two `[[hook]]` entries",
        ),
        (
            "detach = true\non_failure = \"block\"",
            "hook.detach",
            5,
            1,
            "leave `detach` out, or write `on_failure = \"allow\"`",
        ),
    ] {
        let file = read_project(&hook_with(lines));
        let [found] = file.diagnostics.as_slice() else {
            panic!("{lines}: {}", shown(&file.diagnostics))
        };
        let at = found.position.as_ref().unwrap();
        assert_eq!((found.code, at.line, at.column), (code, line, column), "{lines}");
        assert_eq!(found.help.as_deref(), Some(help), "{lines}");
        assert_eq!(at.file, ".tenter/hooks.toml");
    }
}

#[test]
fn both_handlers_of_an_entry_are_named() {
    let file = read_project(&hook_with("reply = { decision = \"deny\" }"));
    assert_eq!(
        file.diagnostics[0].message,
        "the entry has two handlers: `command` in line 3, column 1, and `reply`"
    );
}

/// One mistake a text, with what is said about it.
fn snapshot_of(texts: &[&str], level: Level) -> String {
    let with_findings = |text: &&str| {
        let found = shown(&read_at(level, text).diagnostics);
        [text.trim(), "\n", &found, "\n"].concat()
    };
    texts.iter().map(with_findings).collect()
}

#[test]
fn mistakes_in_events_and_handlers() {
    let texts = [
        "[[hook]]\ncommand = \"true\"",
        "[[hook]]\nevents = \"Stop\"\ncommand = \"true\"",
        "[[hook]]\nevent = \"PreTolUse\"\ncommand = \"true\"",
        "[[hook]]\nevent = \"pretooluse\"\ncommand = \"true\"",
        "[[hook]]\nevent = [\"Stop\", \"Frobnicate\", 5]\ncommand = \"true\"",
        "[[hook]]\nevent = []\ncommand = \"true\"",
        "[[hook]]\nevent = true\ncommand = \"true\"",
        "[[hook]]\nevent = \"Stop\"",
        "[[hook]]\nevent = \"Stop\"\nprompt = \"Is it safe?\"",
        "[[hook]]\nevent = \"Stop\"\ntype = \"agent\"",
        "[[hook]]\nevent = \"Stop\"\ntype = \"command\"\ncommand = \"true\"",
        "[[hook]]\nevent = \"Stop\"\nrun = \"true\"",
        "[[hook]]\nevent = \"Stop\"\ncomand = \"true\"",
        "[[hook]]\nevent = \"Stop\"\nhttp = \"http://127.0.0.1/\"",
        "[[hook]]\nevent = \"Stop\"\nworker = [\"w\"]\ncommand = \"true\"",
        "[[hook]]\nevent = \"Stop\"\ncommand = \" \"",
        "[[hook]]\nevent = \"Stop\"\ncommand = []",
        "[[hook]]\nevent = \"Stop\"\ncommand = [\"\", \"x\"]",
        "[[hook]]\nevent = \"Stop\"\ncommand = [\"true\", 5]",
        "[[hook]]\nevent = \"Stop\"\ncommand = \"a\\u0000b\"",
        "[[hook]]\nevent = \"Stop\"\ncommand = [\"./guard.sh --strict\"]",
        "[[hook]]\nevent = \"Stop\"\ncommand = \"true\"\nargs = [\"x\"]",
    ];
    insta::assert_snapshot!(snapshot_of(&texts, Level::Project));
}

#[test]
fn mistakes_in_the_keys_of_a_hook() {
    let texts: Vec<_> = [
        "name = \"\"",
        "matcher = 5",
        "matcher = []",
        "matcher = [\"Bash\", \"a||b\"]",
        "matcher = '/(?=x)y/'",
        "matcher = \"^Bash$\"",
        "if = [\"Edit\", \"Task(…)\"]",
        "if = []",
        "timeout = 1.5",
        "timeout = -3",
        "timeout = \"99999999999999999999h\"",
        "timeout = true",
        "on_failure = \"blok\"",
        "on_failure = \"deny\"",
        "enabled = \"yes\"",
        "agents = \"subagent\"",
        "order = \"last\"",
        "view = 2048",
        "view = \"2048\"",
        "view = \"2kib\"",
        "on_truncated = \"block\"",
        "env = { \"A=B\" = \"1\", N = 5 }",
        "env = \"A=1\"",
        "cwd = \"/tmp\"",
        "shell = \"bash\"",
        "detach = true\norder = \"sequence\"",
        "scripts = \"x.sh\"",
        "scripts = [\"\"]",
        "once = 2026-01-01",
    ]
    .into_iter()
    .map(hook_with)
    .chain(
        [
            "[[hook]]\nevent = \"Stop\"\nmatcher = \"Bash\"\ncommand = \"true\"",
            "[[hook]]\nevent = [\"PreToolUse\", \"Stop\"]\nmatcher = \"Bash\"\ncommand = \"true\"",
            "[[hook]]\nevent = [\"PreToolUse\", \"Stop\"]\nif = \"Edit\"\ncommand = \"true\"",
            "[[hook]]\nevent = \"Stop\"\ncommand = \"true\"\nshell = \"bash -eu\"",
            "[[hook]]\nevent = \"Stop\"\ncommand = \"true\"\nshell = [\"bash\", \"-c\"]",
            "[[hook]]\nevent = \"Stop\"\ncommand = \"true\"\nheaders = { a = \"b\" }",
            "[[hook]]\nname = \"a\"\nevent = \"Stop\"\ncommand = \"true\"\n[[hook]]\nname = \"a\"\nevent = \"Stop\"\ncommand = \"false\"",
        ]
        .map(str::to_owned),
    )
    .collect();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    insta::assert_snapshot!(snapshot_of(&texts, Level::Project));
}

#[test]
fn mistakes_in_replies() {
    let with = |event: &str, reply: &str| format!("[[hook]]\nevent = \"{event}\"\nreply = {reply}");
    let texts = [
        with("PreToolUse", "\"deny\""),
        with("PreToolUse", "{ decision = \"block\" }"),
        with("PreToolUse", "{ decision = \"alow\", reson = \"x\" }"),
        with("PreToolUse", "{ patch = { a = 1 }, replace = { b = 2 } }"),
        with("PreToolUse", "{ patch = \"x\" }"),
        with("PreToolUse", "{ patch = { a = nan } }"),
        with("PreToolUse", "{ replace = { a = 99999999999999999999999999999999999999999 } }"),
        with("PreToolUse", "{ context = [\"a\", 1], halt = \"yes\", message = 1 }"),
        with("PreToolUse", "{ message = \"x\", timeout = \"5s\" }"),
        with("PreToolUse", "{}"),
        with("Stop", "{ patch = { a = 1 } }"),
        with("Notification", "{ decision = \"deny\", context = \"x\" }"),
        with("PreToolUse", "{ decision = \"deny\" }\ndetach = true"),
        with("PreToolUse", "{ message = \"x\" }\nenv = { A = \"1\" }\ncwd = \"session\""),
    ];
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    insta::assert_snapshot!(snapshot_of(&texts, Level::Project));
}

#[test]
fn mistakes_in_the_file_and_its_sections() {
    let texts = [
        "version = 2",
        "version = 0",
        "version = \"1\"",
        "hook = 5",
        "hook = [1]",
        "[hook]\nevent = \"Stop\"\ncommand = \"true\"",
        "[[hooks]]\nevent = \"Stop\"\ncommand = \"true\"",
        "[permisions]\ndeny = [\"Read(**/.env)\"]",
        "frobnicate = 1",
        "event = \"Stop\"\ncommand = \"true\"",
        "deny = [\"Read\"]\nstrip = []\nonly_managed = true",
        "[env]\nstrip = []\nevent = \"Stop\"",
        "permissions = []",
        "[permissions]\ndeny = \"Read\"",
        "[permissions]\ndeny = [\"Task(…)\", 5, \"Read(\"]\nask = [\"\"]\nallow = [\"Edit(\"]",
        "[permissions]\ndeny = [{ rule = \"Edit(\" }, { mach = \"x\", rule = \"Read\" }, { match = 5 }]",
        "[permissions]\nallow = [{ rule = \"Edit\", not_math = [\"x\"] }]\nask = [[\"Read\"]]",
        "[[hook]]\nevent = \"PreToolUse\"\ncommand = \"x\"\nif = [5, { rule = \"Edit(\" }]",
        "[permissions]\ndenied = [\"Read\"]\nblock = [\"Edit\"]",
        "[env]\nstrip = [\"A=B\", 5, \"X\"]\npass = [\"X\"]\nkeep = []",
        "env = 5",
        "[[hook]]\nevent = \"Stop\ncommand = \"true\"",
        "version = 1\nversion = 1",
        "[[hook]\nevent = \"Stop\"",
        "a = [1, 2",
    ];
    insta::assert_snapshot!(snapshot_of(&texts, Level::Project));
}

#[test]
fn mistakes_in_policy_depend_on_the_level() {
    let texts = ["[policy]\nonly_managed = true\nkeep_originals = true"];
    for (level, name) in
        [(Level::Managed, "managed"), (Level::User, "user"), (Level::Private, "private")]
    {
        insta::assert_snapshot!(format!("policy_at_{name}"), snapshot_of(&texts, level));
    }
    let texts = [
        "[policy]\nonly_managed = \"yes\"\nmin_on_failure = \"deny\"\nallow_projects = true",
        "policy = true",
    ];
    insta::assert_snapshot!("policy_mistakes", snapshot_of(&texts, Level::Managed));
}

#[test]
fn what_a_file_says_cannot_steer_the_terminal_that_shows_it() {
    let text = "\"a\\n\\u001b[2J\" = 1\n[[hook]]\nname = \"x\\u0007\"\nevent = \"\\u001b]0;\"\n\
                matcher = \"a\\u001b(\"\nif = \"\\u001b(\"\ncommand = \"\\u001b[1m ls\"\n";
    let file = read_project(text);
    assert!(file.diagnostics.len() >= 5, "{}", shown(&file.diagnostics));
    for found in &file.diagnostics {
        assert!(!found.message.chars().any(char::is_control), "{:?}", found.message);
        assert!(!found.help.as_deref().unwrap().chars().any(char::is_control));
    }
    let hook = &file.entries[0].hook;
    assert!(!super::broken_reason(hook).chars().any(char::is_control));
    assert!(!hook.name.chars().any(char::is_control));
}
