//! Which files count, in which order, and what they may do to each other.

use std::fs;
use std::os::unix::fs::symlink;

use proptest::prelude::*;
use tenter::config::{BrokenExplicit, FileState, LoadError, Loaded, Refusal};
use tenter_core::contract::OnFailure;
use tenter_core::event::EventKind;
use tenter_core::hook::{Handler, Hook, Level};
use tenter_core::outcome::Skip;
use tenter_hosts::native::PROFILE;

use crate::world::{World, codes, hook, mode, names, reply, state};

#[test]
fn hooks_of_all_levels_add_up_higher_levels_first() {
    let world = World::new();
    world.private(&reply("private"));
    world.project(&reply("project"));
    world.user(&reply("user"));
    world.managed("hooks.d/20.toml", &reply("managed-20"));
    world.managed("hooks.d/10.toml", &reply("managed-10"));
    world.managed("hooks.d/.hidden.toml", &reply("hidden"));
    world.managed("hooks.d/readme.md", "not TOML");
    world.managed("hooks.toml", &reply("managed"));
    world.trust_it();
    let loaded = world.load();
    assert_eq!(
        names(&loaded),
        ["managed", "managed-10", "managed-20", "user", "project", "private"]
    );
    assert!(loaded.hooks.iter().all(|hook| hook.skip.is_none()), "{:?}", codes(&loaded));
    assert!(loaded.files.iter().all(|file| file.state == FileState::Read));
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
}

#[test]
fn without_any_file_there_is_nothing_and_nothing_to_say() {
    let world = World::new();
    let loaded = world.load();
    assert!(loaded.hooks.is_empty() && loaded.rules.is_empty() && loaded.diagnostics.is_empty());
    assert!(loaded.files.iter().all(|file| file.state == FileState::Missing));
    assert!(!world.places().state_home.exists(), "loading makes no state");
}

#[test]
fn a_managed_file_that_the_group_may_write_is_left_out_loudly() {
    let world = World::new();
    let file = world.managed("hooks.toml", &reply("managed"));
    mode(&file, 0o664);
    let loaded = world.load();
    assert_eq!((names(&loaded).len(), codes(&loaded)), (0, vec!["config.refused"]));
    assert!(matches!(
        state(&loaded, "managed/hooks.toml"),
        FileState::Refused(Refusal::Writable { path, .. }) if path == file
    ));
}

#[test]
fn a_managed_link_to_where_others_may_write_is_left_out_loudly() {
    let world = World::new();
    let shared = world.home.write(world.home.root().join("shared/hooks.toml"), reply("managed"));
    mode(&shared, 0o644);
    mode(shared.parent().unwrap(), 0o777);
    symlink(&shared, world.home.root().join("managed/hooks.toml")).unwrap();
    let loaded = world.load();
    assert_eq!((names(&loaded).len(), codes(&loaded)), (0, vec!["config.refused"]));
    mode(shared.parent().unwrap(), 0o755);
    assert_eq!(names(&world.load()), ["managed"]);
}

#[test]
fn a_folder_of_managed_files_that_others_may_write_is_left_out_whole() {
    let world = World::new();
    let file = world.managed("hooks.d/a.toml", &reply("managed"));
    mode(file.parent().unwrap(), 0o777);
    let loaded = world.load();
    assert_eq!((names(&loaded).len(), codes(&loaded)), (0, vec!["config.refused"]));
}

#[test]
fn named_files_stand_for_those_of_user_and_project_and_managed_ones_always_count() {
    let mut world = World::new();
    world.managed("hooks.toml", &reply("managed"));
    world.user(&reply("user"));
    world.project(&reply("project"));
    let one = world.home.write("ci/one.toml", reply("one"));
    let two = world.home.write("ci/two.toml", reply("two"));
    world.explicit = vec![two, one];
    let loaded = world.load();
    assert_eq!(names(&loaded), ["managed", "two", "one"]);
    assert_eq!(hook(&loaded, "one").source.level, Level::User);
    assert_eq!(hook(&loaded, "one").skip, None);
    assert_eq!(state(&loaded, ".tenter/hooks.toml"), FileState::Replaced);
}

#[test]
fn a_named_file_that_is_missing_or_broken_is_an_error_or_a_guard() {
    let mut world = World::new();
    world.explicit = vec![world.home.root().join("gone.toml")];
    assert!(matches!(world.try_load(), Err(LoadError::Missing { .. })));
    world.explicit = vec![world.home.write("ci.toml", "[[hook]\n")];
    let error = world.try_load().unwrap_err();
    assert!(matches!(&error, LoadError::Broken { diagnostics, text, .. }
        if diagnostics[0].position.as_ref().unwrap().line == 1 && text == "[[hook]\n"));

    world.explicit.push(world.home.root().join("gone.toml"));
    world.broken_explicit = BrokenExplicit::Guards;
    let loaded = world.load();
    assert_eq!(loaded.hooks.len(), 2);
    for hook in &loaded.hooks {
        assert!(matches!(hook.handler, Handler::Broken { .. }) && hook.skip.is_none());
    }
}

#[test]
fn a_variable_that_leads_into_the_project_is_refused_and_discovery_goes_on() {
    let mut world = World::new();
    world.user(&reply("user"));
    world.config_variable = Some(world.home.write("ci.toml", reply("ci")).into());
    let loaded = world.load();
    assert_eq!((names(&loaded), codes(&loaded)), (vec!["user"], vec!["config.variable-refused"]));
    let outside = world.home.write(world.home.root().join("mine.toml"), reply("mine"));
    world.config_variable = Some(outside.into());
    assert_eq!(names(&world.load()), ["mine"]);
    world.config_variable = Some("".into());
    assert_eq!(names(&world.load()), ["user"]);
    world.config_variable = Some(world.home.root().join("gone.toml").into());
    assert!(matches!(world.try_load(), Err(LoadError::Missing { .. })));
}

#[test]
fn a_file_that_does_not_parse_is_a_guard_above_the_project_and_nothing_in_it() {
    let world = World::new();
    world.user("nonsense");
    world.project("nonsense");
    let loaded = world.load();
    let [user, project] = loaded.hooks.as_slice() else { panic!("{:?}", names(&loaded)) };
    assert!(matches!(&user.handler, Handler::Broken { mend: Some(file), .. }
        if *file == world.places().user_file().to_string_lossy()));
    assert_eq!((user.source.level, user.skip), (Level::User, None));
    assert_eq!((project.source.level, project.skip), (Level::Project, Some(Skip::Untrusted)));
    assert_eq!(state_of_project(&loaded), FileState::Untrusted);
    assert!(loaded.files.is_sorted_by_key(|file| file.level));
    assert_eq!(state(&loaded, "~/.config/tenter/hooks.toml"), FileState::Broken);
}

fn state_of_project(loaded: &Loaded) -> FileState {
    state(loaded, ".tenter/hooks.toml")
}

#[test]
fn a_file_that_cannot_be_read_as_text_is_a_guard_for_the_user() {
    let world = World::new();
    fs::create_dir_all(world.places().user_file().parent().unwrap()).unwrap();
    fs::write(world.places().user_file(), b"a = \"\xff\"").unwrap();
    let loaded = world.load();
    assert_eq!(codes(&loaded), ["config.unreadable"]);
    assert!(matches!(loaded.hooks[0].handler, Handler::Broken { .. }));
    assert_eq!(
        loaded.hooks[0].failure_policy(PROFILE.contract(&loaded.hooks[0].events[0])),
        OnFailure::Block
    );
}

#[test]
fn only_managed_leaves_everything_else_out_loudly() {
    let mut world = World::new();
    world.managed("hooks.toml", &format!("[policy]\nonly_managed = true\n{}", reply("managed")));
    world.user(&reply("user"));
    world.project("[permissions]\nallow = [\"Bash\"]\n");
    let loaded = world.load();
    assert_eq!(names(&loaded), ["managed"]);
    assert!(loaded.rules.is_empty());
    assert_eq!(codes(&loaded), ["config.refused", "config.refused"]);
    assert_eq!(
        state_of_project(&loaded),
        FileState::Refused(Refusal::Policy { key: "only_managed" })
    );
    world.explicit = vec![world.home.write("ci.toml", reply("ci"))];
    assert!(matches!(
        world.try_load(),
        Err(LoadError::OverrideForbidden { key: "only_managed", .. })
    ));
}

#[test]
fn a_policy_can_forbid_projects_and_named_files() {
    let mut world = World::new();
    world.managed(
        "hooks.d/a.toml",
        "[policy]\nallow_project = false\nallow_config_override = false\n",
    );
    world.user(&reply("user"));
    world.project(&reply("project"));
    let loaded = world.load();
    assert_eq!((names(&loaded), codes(&loaded)), (vec!["user"], vec!["config.refused"]));
    let mine = world.home.write(world.home.root().join("mine.toml"), reply("mine"));
    world.config_variable = Some(mine.clone().into());
    let loaded = world.load();
    assert_eq!(names(&loaded), ["user"]);
    assert_eq!(codes(&loaded), ["config.variable-refused", "config.refused"]);
    world.explicit = vec![mine];
    assert!(matches!(
        world.try_load(),
        Err(LoadError::OverrideForbidden { key: "allow_config_override", .. })
    ));
}

#[test]
fn a_minimum_raises_the_failure_policy_of_lower_hooks_and_lowers_none() {
    let world = World::new();
    world.managed(
        "hooks.toml",
        "[policy]\nmin_on_failure = \"ask\"\n[[hook]]\nname = \"m\"\nevent = \"PreToolUse\"\ncommand = \"true\"\non_failure = \"allow\"\n",
    );
    let user = |name: &str, event: &str, more: &str| {
        format!(
            "[[hook]]\nname = \"{name}\"\nevent = {event}\ncommand = \"exec true {name}\"\n{more}\n"
        )
    };
    world.user(
        &[
            user("allow", "\"PreToolUse\"", "on_failure = \"allow\""),
            user("block", "\"PreToolUse\"", "on_failure = \"block\""),
            user("default", "[\"PreToolUse\", \"PostToolUse\"]", ""),
            user("behind", "\"Notification\"", "detach = true"),
        ]
        .concat(),
    );
    let loaded = world.load();
    let policies: Vec<_> = loaded
        .hooks
        .iter()
        .map(|hook| {
            let events: Vec<_> = hook.events.iter().map(EventKind::name).collect();
            let policy = hook.failure_policy(PROFILE.contract(&hook.events[0]));
            (hook.name.as_str(), events.join(" "), policy)
        })
        .collect();
    let expected = [
        ("m", "PreToolUse", OnFailure::Allow),
        ("allow", "PreToolUse", OnFailure::Ask),
        ("block", "PreToolUse", OnFailure::Block),
        ("default", "PreToolUse", OnFailure::Block),
        ("default", "PostToolUse", OnFailure::Ask),
        ("behind", "Notification", OnFailure::Allow),
    ];
    assert_eq!(policies, expected.map(|(name, events, policy)| (name, events.to_owned(), policy)));
}

#[test]
fn hooks_that_do_the_same_work_run_once() {
    let world = World::new();
    let hook = "[[hook]]\nevent = \"PreToolUse\"\nreply = { decision = \"ask\" }\n";
    world.managed("hooks.toml", hook);
    world.user(&format!("{hook}on_failure = \"block\"\n"));
    let loaded = world.load();
    let skips: Vec<_> = loaded.hooks.iter().map(|hook| hook.skip).collect();
    assert_eq!(skips, [None, Some(Skip::Duplicate)]);
    assert_eq!(loaded.hooks[0].on_failure, Some(OnFailure::Block));
}

#[test]
fn a_script_that_is_not_there_is_named_with_its_place_and_a_likely_one() {
    let world = World::new();
    world.home.write_script("guards/no-push.sh", "#!/bin/sh\n");
    world.home.write("guards/check.py", "");
    world.home.write("plain.sh", "");
    world.project(
        "[[hook]]\nname = \"a\"\nevent = \"Stop\"\ncommand = [\"./guards/no_push.sh\"]\n\n\
         [[hook]]\nname = \"b\"\nevent = \"Stop\"\ncommand = \"python3 guards/chek.py | cat\"\n\n\
         [[hook]]\nname = \"c\"\nevent = \"Stop\"\ncommand = [\"guards/no-push.sh\"]\n\n\
         [[hook]]\nname = \"d\"\nevent = \"Stop\"\ncommand = [\"./plain.sh\"]\n",
    );
    let loaded = world.load();
    let found: Vec<_> = loaded
        .diagnostics
        .iter()
        .filter(|one| one.code.starts_with("hook."))
        .map(|one| (one.code, one.position.as_ref().unwrap().line, one.help.as_deref().unwrap()))
        .collect();
    let chmod = format!(
        "run `chmod +x {}`, or name its interpreter before it",
        world.home.project().join("plain.sh").display()
    );
    assert_eq!(
        found,
        [
            ("hook.missing-script", 1, "did you mean `./guards/no-push.sh`?"),
            ("hook.missing-script", 6, "did you mean `guards/check.py`?"),
            ("hook.not-executable", 16, &chmod),
        ]
    );
}

#[test]
fn a_script_of_the_users_own_file_is_sought_beside_it() {
    let world = World::new();
    let folder = world.places().config_home.join("tenter");
    world.home.write(folder.join("guard.sh"), "");
    world.user("[[hook]]\nevent = \"Stop\"\ncommand = [\"sh\", \"guard.sh\"]\n");
    assert_eq!(codes(&world.load()), [] as [&str; 0]);
    fs::remove_file(folder.join("guard.sh")).unwrap();
    world.home.write("guard.sh", "");
    assert_eq!(codes(&world.load()), ["hook.missing-script"]);
}

#[test]
fn a_placeholder_that_nobody_knows_breaks_its_hook_and_no_other() {
    let world = World::new();
    world.user(&format!(
        "[[hook]]\nname = \"bad\"\nevent = \"PreToolUse\"\ncommand = [\"echo\", \"${{NOPE}}\"]\n{}",
        reply("good")
    ));
    let loaded = world.load();
    assert_eq!(codes(&loaded), ["hook.unknown-placeholder"]);
    let Handler::Broken { reason, mend } = &hook(&loaded, "bad").handler else { panic!("it runs") };
    assert!(reason.contains("${NOPE}") && reason.contains("hooks.toml:1:1"), "{reason}");
    assert_eq!(mend.as_deref(), world.places().user_file().to_str());
    assert!(matches!(hook(&loaded, "good").handler, Handler::Reply(_)));
}

#[test]
fn texts_are_kept_under_the_names_of_positions() {
    let world = World::new();
    world.user("[[hook]]\nevnt = \"Stop\"\n");
    let loaded = world.load();
    let said = loaded.diagnostics.iter().find(|one| one.code == "hook.unknown-key").unwrap();
    let at = said.position.as_ref().unwrap();
    assert_eq!(at.file, "~/.config/tenter/hooks.toml");
    assert_eq!(&loaded.texts[&at.file][at.span.clone()], "evnt");
}

#[test]
fn a_pipe_in_the_place_of_a_hooks_file_holds_nothing_up() {
    let world = World::new();
    fs::create_dir_all(world.home.project().join(".tenter")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        world.places().project_file(),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let loaded = world.load();
    assert_eq!(state_of_project(&loaded), FileState::Untrusted);
    assert_eq!(loaded.hooks[0].skip, Some(Skip::Untrusted));
}

/// The texts of four files, of which each may be missing.
fn files() -> impl Strategy<Value = [Option<String>; 4]> {
    let hook = (
        prop_oneof![Just("PreToolUse"), Just("PostToolUse"), Just("Stop")],
        prop_oneof![Just(""), Just("allow"), Just("ask"), Just("block")],
        prop_oneof![Just("true"), Just("false")],
        prop_oneof![Just("1s"), Just("9s"), Just("")],
        any::<bool>(),
    )
        .prop_map(|(event, on_failure, command, timeout, enabled)| {
            let mut text = format!("[[hook]]\nevent = \"{event}\"\ncommand = \"{command}\"\n");
            for (key, value) in [("on_failure", on_failure), ("timeout", timeout)] {
                if !value.is_empty() {
                    text.extend([key, " = \"", value, "\"\n"]);
                }
            }
            if !enabled {
                text.push_str("enabled = false\n");
            }
            text
        });
    let rules = (
        prop::sample::subsequence(vec!["Bash", "Read(**/.env)", "Edit"], 0..=2),
        prop::sample::subsequence(vec!["Bash", "Read", "Write"], 0..=2),
        prop::sample::subsequence(vec!["Bash", "Read", "*"], 0..=2),
    )
        .prop_map(|(deny, ask, allow)| {
            format!("[permissions]\ndeny = {deny:?}\nask = {ask:?}\nallow = {allow:?}\n")
        });
    let env = (
        prop::sample::subsequence(vec!["PATH", "HOME", "OPENAI_*", "A*"], 0..=2),
        prop::sample::subsequence(vec!["OPENAI_API_KEY", "PATH", "*"], 0..=2),
    )
        .prop_map(|(strip, pass)| format!("[env]\nstrip = {strip:?}\npass = {pass:?}\n"));
    let policy = prop_oneof![
        4 => Just(String::new()),
        1 => Just("[policy]\nmin_on_failure = \"ask\"\n".to_owned()),
        1 => Just("[policy]\nonly_managed = true\n".to_owned()),
        1 => Just("[policy]\nallow_project = false\n".to_owned()),
    ];
    let file = (prop::collection::vec(hook, 0..3), rules, env, policy, 0..8).prop_map(
        |(hooks, rules, env, policy, broken)| match broken {
            0 => "this is not TOML".to_owned(),
            _ => format!("{}{rules}{env}{policy}", hooks.concat()),
        },
    );
    prop::array::uniform4(prop::option::of(file))
}

fn load_with(files: &[Option<String>], count: usize) -> Loaded {
    let mut world = World::new();
    world.trust_project = true;
    for (at, text) in files.iter().take(count).enumerate() {
        let Some(text) = text else { continue };
        match at {
            0 => world.managed("hooks.toml", text),
            1 => world.user(text),
            2 => world.project(text),
            _ => world.private(text),
        };
    }
    world.load()
}

/// What a hook does to an event when it fails; nothing if it never runs.
fn strictness(loaded: &Loaded, hook: &Hook) -> Vec<OnFailure> {
    let runs: Vec<&Hook> = match hook.skip {
        Some(Skip::Duplicate) => loaded
            .hooks
            .iter()
            .map(AsRef::as_ref)
            .filter(|other| other.skip.is_none() && other.handler == hook.handler)
            .collect(),
        Some(_) => Vec::new(),
        None => vec![hook],
    };
    let policy = |kind| {
        let of = runs.iter().filter(|run| run.events.contains(kind));
        of.map(|run| run.failure_policy(PROFILE.contract(kind))).max()
    };
    hook.events.iter().filter_map(policy).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_file_of_a_lower_level_never_makes_the_configuration_laxer(files in files(), count in 1..4usize) {
        let (less, more) = (load_with(&files, count), load_with(&files, count + 1));
        for hook in &less.hooks {
            let same = |other: &&std::sync::Arc<Hook>| {
                other.source.level == hook.source.level
                    && other.source.pointer == hook.source.pointer
                    && other.events == hook.events
            };
            let Some(other) = more.hooks.iter().find(same) else {
                return Err(TestCaseError::fail(format!("{} is gone", hook.source)));
            };
            let (before, after) = (strictness(&less, hook), strictness(&more, other));
            prop_assert_eq!(before.len(), after.len());
            prop_assert!(before.iter().zip(&after).all(|(before, after)| after >= before));
            prop_assert_eq!(hook.timeout.max(other.timeout), other.timeout);
        }
        let rules = |loaded: &Loaded| -> Vec<_> {
            loaded.rules.iter().map(|(list, rule, level, _)| (list, rule.text().to_owned(), level)).collect()
        };
        let (before, after) = (rules(&less), rules(&more));
        for rule in &before {
            prop_assert!(after.contains(rule), "{:?} is gone", rule);
        }
        let added = [Level::Managed, Level::User, Level::Project, Level::Private][count];
        for rule in after.iter().filter(|rule| !before.contains(rule)) {
            prop_assert_eq!(rule.2, added, "{:?} is new", rule);
        }
        for level in [Level::Managed, Level::User, Level::Project].into_iter().take(count) {
            for name in ["PATH", "HOME", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "A1"] {
                let name = name.as_ref();
                prop_assert_eq!(less.env.gives(name, level), more.env.gives(name, level));
            }
        }
        for name in ["PATH", "HOME", "OPENAI_API_KEY", "A1"] {
            let stripped_above = files.iter().take(count).flatten().any(|text| {
                text.lines().any(|line| line.starts_with("strip") && line.contains(&format!("{name:?}")))
            });
            let counts = less.files.iter().filter(|file| file.state == FileState::Read).count();
            if stripped_above && counts == files.iter().take(count).flatten().count() {
                prop_assert!(!more.env.gives(name.as_ref(), Level::Private), "{name}");
            }
        }
        prop_assert_eq!(less.policy.only_managed, more.policy.only_managed);
        prop_assert!(more.policy.min_on_failure >= less.policy.min_on_failure);
        prop_assert!(less.policy.allow_project || !more.policy.allow_project);
    }
}
