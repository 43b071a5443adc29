//! What cannot be read and may have been a guard still guards, in its strictest reading.

use tenter_core::contract::OnFailure;
use tenter_core::event::EventKind;
use tenter_core::hook::{Handler, Hook, Level, Scope};
use tenter_core::outcome::Skip;
use tenter_core::plan::HookTable;

use super::{broken_reason, hook_with, only_hook, read_at, read_project};
use crate::native::PROFILE;
use crate::native::config::{ConfigFile, Part, Policy};

fn events(hook: &Hook) -> Vec<&str> {
    hook.events.iter().map(EventKind::name).collect()
}

/// Whether a hook of the file that is broken denies calls of a tool.
fn denies(file: &ConfigFile, tool: &str) -> bool {
    let table = HookTable::new(file.hooks().cloned().map(Into::into).collect());
    let kind = EventKind::PreToolUse;
    let slots = table.select(&kind, PROFILE.contract(&kind), PROFILE.dedupe, &[tool], false);
    slots.iter().any(|slot| {
        let hook = table.get(slot.hook).unwrap();
        slot.skip.is_none() && matches!(hook.handler, Handler::Broken { .. })
    })
}

#[test]
fn a_broken_entry_names_the_place_what_is_wrong_and_the_way_out() {
    let file = read_project(
        "# a comment\n[[hook]]\nname = \"g\"\nevent = \"PreToolUse\"\ncommand = [\"g\"]\nmtcher = \"Bash\"\n",
    );
    assert_eq!(
        broken_reason(&file.entries[0].hook),
        "hook `g` is broken at .tenter/hooks.toml:6:1: unknown key `mtcher` in `[[hook]]`; \
         did you mean `matcher`?; `tenter check` shows the line"
    );
    let file = read_project(&hook_with("a = 1\nb = 2\nc = 3"));
    let reason = broken_reason(&file.entries[0].hook);
    assert!(reason.contains("hooks.toml:4:1: unknown key `a`"), "{reason}");
    assert!(reason.contains("and 2 more errors"), "{reason}");
}

#[test]
fn one_bad_entry_leaves_the_others_as_they_are() {
    let file = read_project(
        "[[hook]]\nevent = \"Stop\"\ncommand = \"first\"\n\
         [[hook]]\nevent = \"PreToolUse\"\nmatcher = \"/(/\"\ncommand = \"second\"\n\
         [[hook]]\nevent = \"Stop\"\ncommand = \"third\"\n",
    );
    let kinds: Vec<_> = file.hooks().map(|hook| hook.handler.kind()).collect();
    assert_eq!(kinds, ["command", "broken", "command"]);
}

#[test]
fn what_can_be_read_of_a_broken_entry_selects_what_it_denies() {
    let file = read_project(
        "[[hook]]\nevent = [\"PreToolUse\", \"PostToolUse\"]\nmatcher = \"Edit\"\nagents = \"main\"\n\
         on_failure = \"ask\"\nprompt = \"safe?\"\n",
    );
    let hook = &file.entries[0].hook;
    broken_reason(hook);
    assert_eq!(events(hook), ["PreToolUse", "PostToolUse"]);
    assert_eq!(hook.matcher.source(), "Edit");
    assert_eq!(hook.scope, Scope::Main);
    assert_eq!(hook.on_failure, Some(OnFailure::Ask));
}

#[test]
fn what_cannot_be_read_of_a_broken_entry_is_read_strictly() {
    for (lines, names, matcher, on_failure) in [
        ("event = 5", vec!["PreToolUse"], "*", None),
        ("event = \"Frobnicate\"", vec!["PreToolUse"], "*", None),
        ("event = []", vec!["PreToolUse"], "*", None),
        ("", vec!["PreToolUse"], "*", None),
        ("evnt = \"Stop\"", vec!["PreToolUse"], "*", None),
        // Readable names stay, and a slip counts as the name that was meant.
        ("event = [\"Stop\", 5]", vec!["Stop"], "*", None),
        ("event = [\"Stop\", \"PreTolUse\"]", vec!["Stop", "PreToolUse"], "*", None),
        ("event = \"PostTolUse\"", vec!["PostToolUse", "PreToolUse"], "*", None),
        ("event = \"PreToolUse\"\nmatcher = \"/(/\"", vec!["PreToolUse"], "*", None),
        ("event = \"PreToolUse\"\nmatcher = [\"Bash\", 5]", vec!["PreToolUse"], "*", None),
        ("event = \"PreToolUse\"\nmatcher = \"Bash\"\nonce = 1", vec!["PreToolUse"], "Bash", None),
        // A matcher that selects nothing on any event cannot narrow anything.
        ("event = \"Stop\"\nmatcher = \"Bash\"", vec!["Stop"], "*", None),
        ("event = \"Stop\"\non_failure = \"blok\"", vec!["Stop"], "*", Some(OnFailure::Block)),
        ("event = \"Stop\"\non_failure = 1", vec!["Stop"], "*", Some(OnFailure::Block)),
    ] {
        let file = read_project(&format!("[[hook]]\ncommand = \"true\"\n{lines}\n"));
        let hook = &file.entries[0].hook;
        broken_reason(hook);
        assert_eq!(events(hook), names, "{lines}");
        assert_eq!(hook.matcher.source(), matcher, "{lines}");
        assert_eq!(hook.on_failure, on_failure, "{lines}");
    }
}

#[test]
fn a_broken_entry_that_is_switched_off_or_detached_guards_nothing() {
    let file = read_project(&hook_with("enabled = false\nprompt = \"x\""));
    assert_eq!(file.entries[0].hook.skip, Some(Skip::Disabled));
    assert!(!denies(&file, "Bash"));
    let file = read_project(&hook_with("detach = true\nprompt = \"x\""));
    assert!(!denies(&file, "Bash"));
    // Whether it is off cannot be told: it is on.
    assert!(denies(&read_project(&hook_with("enabled = \"no\"")), "Bash"));
}

#[test]
fn a_detached_hook_holds_nothing_up_unless_that_is_what_it_was_meant_to_do() {
    let file = read_project(&hook_with("detach = true"));
    let hook = only_hook(&file);
    assert!(hook.detach);
    assert_eq!(hook.on_failure, Some(OnFailure::Allow));
    for contradiction in [
        "on_failure = \"block\"",
        "on_failure = \"ask\"",
        "view = \"1KiB\"\non_truncated = \"block\"",
    ] {
        let file = read_project(&hook_with(&format!("detach = true\n{contradiction}")));
        assert_eq!(file.diagnostics[0].code, "hook.detach", "{contradiction}");
        assert!(!file.entries[0].hook.detach);
    }
    let text = "[[hook]]\nevent = \"PreToolUse\"\ndetach = true\nreply = { patch = { a = 1 } }\n";
    let file = read_project(text);
    assert_eq!(file.diagnostics[0].code, "hook.detach");
    assert!(denies(&file, "Bash"), "it was meant to rewrite, so nothing passes it unseen");
    let text = "[[hook]]\nevent = \"PreToolUse\"\ndetach = true\nreply = { message = \"hi\" }\n";
    only_hook(&read_project(text));
}

#[test]
fn a_file_that_is_no_toml_is_one_broken_guard() {
    let file = read_at(Level::User, "version = 1\n[[hook]]\nevent = \"Stop\ncommand = \"true\"\n");
    assert!(!file.parses);
    assert_eq!(file.entries.len(), 1);
    let entry = &file.entries[0];
    assert_eq!(entry.part, Part::File);
    assert_eq!(events(&entry.hook), ["PreToolUse", "PermissionRequest", "PreSkillShellCommand"]);
    assert!(broken_reason(&entry.hook).contains(".tenter/hooks.toml:3:14: this is not TOML"));
    assert!(denies(&file, "Read"));
}

#[test]
fn hooks_in_a_place_that_has_another_name_or_shape_stay_guards() {
    for text in [
        "[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\ncommand = \"guard\"\n",
        "[[Hook]]\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\ncommand = \"guard\"\n",
        "[hook]\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\ncommand = \"guard\"\n",
        "[[guards]]\nevent = \"PreToolUse\"\nmatcher = \"Bash\"\ncommand = \"guard\"\n",
    ] {
        let file = read_project(text);
        assert!(file.parses && file.has_errors(), "{text}");
        assert!(denies(&file, "Bash") && !denies(&file, "Read"), "{text}");
    }
    for text in ["hook = 1", "hook = [\"guard.sh\"]"] {
        assert!(denies(&read_project(text), "Read"), "{text}");
    }
    // A header is missing.
    for text in [
        "event = \"PreToolUse\"\ncommand = \"guard\"\n",
        "[permissions]\ndeny = []\n\nevent = \"PreToolUse\"\ncommand = \"guard\"\n",
    ] {
        assert!(denies(&read_project(text), "Read"), "{text}");
    }
    let file = read_project("version = 1\ndeny = [\"WebFetch\"]\n");
    assert!(denies(&file, "WebFetch") && !denies(&file, "Read"));
    // What holds neither hooks nor rules guards nothing.
    assert!(read_project("[tools]\nx = 1\n").entries.is_empty());
}

#[test]
fn a_deny_or_ask_rule_that_cannot_be_read_denies_calls_of_its_tool() {
    for (list, denied, free) in [
        ("deny = [\"Read(\"]", vec!["Read", "Grep", "Glob"], vec!["Edit", "Bash"]),
        ("ask = [\"Edit(\"]", vec!["Edit", "Write", "MultiEdit", "NotebookEdit"], vec!["Read"]),
        ("deny = [\"Bash(a && b)\"]", vec!["Bash"], vec!["Read"]),
        (
            "deny = [\"mcp__github__create(x)\"]",
            vec!["mcp__github__create"],
            vec!["mcp__github__list"],
        ),
        ("deny = [\"mcp__github\"]", vec!["mcp__github__create"], vec!["mcp__gitlab__create"]),
        ("deny = [\"bash(x)\"]", vec!["bash", "Bash"], vec!["Read"]),
        ("deny = [\"Task(reviewer)\"]", vec!["Agent"], vec!["Read"]),
        ("deny = [\"(x)\"]", vec!["Read", "Bash"], vec![]),
        ("deny = [5]", vec!["Read", "Bash"], vec![]),
        ("deny = 5", vec!["Read", "Bash"], vec![]),
        ("deny = \"WebFetch\"", vec!["WebFetch"], vec!["Read"]),
        ("denied = [\"WebFetch\"]", vec!["WebFetch"], vec!["Read"]),
        ("block = [\"WebFetch\"]", vec!["WebFetch"], vec!["Read"]),
        // What would only have allowed more is left out.
        ("allow = [\"Read(\"]", vec![], vec!["Read"]),
        ("allowed = [\"Read\"]", vec![], vec!["Read"]),
    ] {
        let file = read_project(&format!("[permissions]\n{list}\n"));
        assert!(file.has_errors(), "{list}");
        for tool in denied {
            assert!(denies(&file, tool), "{list}: {tool}");
        }
        for tool in free {
            assert!(!denies(&file, tool), "{list}: {tool}");
        }
        for entry in &file.entries {
            assert_eq!(entry.part, Part::Permissions);
            assert_eq!(entry.text, file.permissions_text.as_deref().unwrap());
            broken_reason(&entry.hook);
        }
    }
    assert!(denies(&read_project("permissions = [\"Read\"]"), "Read"));
    let misspelt = read_project("[permisions]\ndeny = [\"WebFetch\"]\nallow = [\"Read\"]\n");
    assert!(denies(&misspelt, "WebFetch") && !denies(&misspelt, "Read"));
}

#[test]
fn a_policy_that_cannot_be_read_is_the_strict_one() {
    let strictest = Policy {
        only_managed: true,
        allow_project: false,
        allow_config_override: false,
        allow_http: false,
        min_on_failure: OnFailure::Block,
        keep_originals: Some(false),
        record_payloads: Some(false),
    };
    assert_eq!(read_at(Level::Managed, "policy = 1").policy, strictest);
    let text = "[policy]\nonly_managed = 1\nallow_projects = true\nmin_on_failure = \"blok\"\n";
    let policy = read_at(Level::Managed, text).policy;
    assert!(policy.only_managed && !policy.allow_project && policy.allow_http);
    assert_eq!(policy.min_on_failure, OnFailure::Block);
    // At other levels it says nothing in any case.
    for level in [Level::User, Level::Project, Level::Private] {
        let file =
            read_at(level, "[policy]\nonly_managed = true\nallow_http = 1\nallow_projct = 2\n");
        assert_eq!(file.policy, Policy::default());
        assert!(file.has_errors());
    }
}
