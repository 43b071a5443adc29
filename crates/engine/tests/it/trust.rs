//! What runs of a project: what was looked at, and nothing else.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a helper that cannot go on fails the test")]

use std::fs::{self, FileTimes};
use std::os::unix::fs::{MetadataExt, symlink};
use std::time::{Duration, SystemTime};

use tenter::config::{FileState, Loaded};
use tenter::trust::{ChangedFile, FileChange, TrustError};
use tenter_core::contract::OnFailure;
use tenter_core::hook::{Handler, Level};
use tenter_core::outcome::Skip;
use tenter_core::verdict::Decision;

use crate::world::{World, codes, hook, mode, names, reply, state};

const GUARD: &str = "\
[[hook]]
name = \"guard\"
event = \"PreToolUse\"
matcher = \"Bash\"
command = [\"./guards/g.sh\"]
on_failure = \"block\"
";

/// A project with one guard and its script, trusted.
fn trusted() -> World {
    let world = World::new();
    world.home.write_script("guards/g.sh", "exit 2\n");
    world.project(GUARD);
    world.trust_it();
    world
}

fn at_of(loaded: &Loaded, name: &str) -> usize {
    loaded.hooks.iter().position(|hook| hook.name == name).unwrap()
}

/// Whether the hook runs: nothing keeps it from it, at load and at spawn.
fn runs(loaded: &Loaded, name: &str) -> bool {
    let hook = hook(loaded, name);
    hook.skip.is_none()
        && hook.failed.is_none()
        && loaded.scripts.check(at_of(loaded, name)).is_ok()
}

fn failure(loaded: &Loaded, name: &str) -> String {
    let hook = hook(loaded, name);
    assert_eq!(hook.skip, None);
    hook.failed.clone().unwrap_or_else(|| panic!("{name} has not failed: {:?}", codes(loaded)))
}

#[test]
fn hooks_of_a_project_that_was_never_trusted_are_skipped_loudly() {
    let world = World::new();
    world.project(&format!("{}{}", reply("a"), reply("b")));
    world.private(&reply("c"));
    let loaded = world.load();
    assert!(loaded.hooks.iter().all(|hook| hook.skip == Some(Skip::Untrusted)));
    let said: Vec<_> = loaded.diagnostics.iter().map(|one| (one.code, &*one.message)).collect();
    assert_eq!(
        said,
        [
            ("trust.untrusted", "not trusted, so without effect: 2 hooks of `.tenter/hooks.toml`"),
            (
                "trust.untrusted",
                "not trusted, so without effect: 1 hook of `.tenter/hooks.local.toml`"
            ),
        ]
    );
    let recorded = world.trust_it();
    assert_eq!(recorded.added, ["a", "b", "c"]);
    let loaded = world.load();
    assert!(names(&loaded).iter().all(|name| runs(&loaded, name)));
    assert!(loaded.diagnostics.is_empty());
}

#[test]
fn a_caller_who_vouches_for_the_project_needs_no_record() {
    let mut world = World::new();
    world.project(GUARD);
    world.home.write_script("guards/g.sh", "exit 2\n");
    world.trust_project = true;
    assert!(runs(&world.load(), "guard"));
    assert!(!world.places().state_home.exists());
}

#[test]
fn a_changed_script_fails_its_hook_and_names_itself() {
    let world = trusted();
    world.home.write_script("guards/g.sh", "exit 0\n");
    let loaded = world.load();
    let reason = failure(&loaded, "guard");
    assert!(reason.contains("`guards/g.sh` changed after it was trusted"), "{reason}");
    assert!(reason.contains("`tenter trust`"), "{reason}");
    assert_eq!(codes(&loaded), ["trust.changed"]);
    assert_eq!(world.trust_it().changed, ["guard"]);
    assert!(runs(&world.load(), "guard"));
}

#[test]
fn a_script_that_changes_after_loading_is_noticed_before_the_next_run() {
    let world = trusted();
    let loaded = world.load();
    let script = world.home.project().join("guards/g.sh");
    assert!(runs(&loaded, "guard"));
    let times = fs::metadata(&script).unwrap();
    let times = FileTimes::new()
        .set_modified(times.modified().unwrap())
        .set_accessed(times.accessed().unwrap());
    // Same size, same modification time: the time of the change of the inode tells.
    fs::write(&script, "exit 0\n").unwrap();
    fs::File::options().write(true).open(&script).unwrap().set_times(times).unwrap();
    let changed = loaded.scripts.check(at_of(&loaded, "guard")).unwrap_err();
    assert_eq!(changed, ChangedFile { file: "guards/g.sh".into(), change: FileChange::Content });
    fs::write(&script, "exit 2\n").unwrap();
    assert!(runs(&loaded, "guard"), "what was trusted is back");
    fs::remove_file(&script).unwrap();
    let changed = loaded.scripts.check(at_of(&loaded, "guard")).unwrap_err();
    assert_eq!(changed.change, FileChange::Gone);
}

#[test]
fn a_script_that_was_only_touched_is_read_again_and_still_trusted() {
    let world = trusted();
    let loaded = world.load();
    let script = world.home.project().join("guards/g.sh");
    let copy = world.home.project().join("copy");
    fs::copy(&script, &copy).unwrap();
    fs::rename(&copy, &script).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let file = fs::File::options().write(true).open(&script).unwrap();
    file.set_times(FileTimes::new().set_modified(long_ago)).unwrap();
    assert!(runs(&loaded, "guard"));
    assert!(runs(&world.load(), "guard"));
}

#[test]
fn a_link_that_leads_elsewhere_is_noticed_even_to_the_same_content() {
    let world = World::new();
    let outside = world.home.root();
    for name in ["one.sh", "two.sh"] {
        world.home.write_script(outside.join(name), "exit 2\n");
    }
    let link = world.home.project().join("g.sh");
    symlink(outside.join("one.sh"), &link).unwrap();
    world.project("[[hook]]\nname = \"guard\"\nevent = \"PreToolUse\"\ncommand = [\"./g.sh\"]\n");
    world.trust_it();
    let loaded = world.load();
    assert!(runs(&loaded, "guard"));
    fs::remove_file(&link).unwrap();
    symlink(outside.join("two.sh"), &link).unwrap();
    let changed = loaded.scripts.check(at_of(&loaded, "guard")).unwrap_err();
    assert_eq!(changed, ChangedFile { file: "g.sh".into(), change: FileChange::Target });
    failure(&world.load(), "guard");
}

#[test]
fn what_a_link_leads_to_is_what_is_digested() {
    let world = World::new();
    let target = world.home.write_script(world.home.root().join("lib/g.sh"), "exit 2\n");
    symlink(target.parent().unwrap(), world.home.project().join("lib")).unwrap();
    world
        .project("[[hook]]\nname = \"guard\"\nevent = \"PreToolUse\"\ncommand = \"sh lib/g.sh\"\n");
    world.trust_it();
    assert!(runs(&world.load(), "guard"));
    fs::write(target, "exit 0\n").unwrap();
    assert!(failure(&world.load(), "guard").contains("`lib/g.sh`"));
}

#[test]
fn every_file_that_an_entry_names_counts_and_no_other() {
    let world = World::new();
    for name in ["g.sh", "rules.json", "lib/a.py", "listed.txt", "other.txt"] {
        world.home.write_script(name, "1\n");
    }
    world.project(
        "[[hook]]\nname = \"argv\"\nevent = \"Stop\"\ncommand = [\"sh\", \"g.sh\", \"--rules=rules.json\"]\n\
         scripts = [\"listed.txt\", \"/etc/hostname\"]\n\
         [[hook]]\nname = \"text\"\nevent = \"Stop\"\n\
         command = \"true && python3 '$TENTER_PROJECT_DIR/lib/a.py'; cat /etc/passwd\"\n",
    );
    let survey = world.survey();
    let files: Vec<Vec<String>> = survey
        .entries()
        .map(|entry| entry.scripts().map(|(path, _)| path.display().to_string()).collect())
        .collect();
    let mut expected = vec!["listed.txt", "/etc/hostname", "g.sh", "rules.json"];
    if !std::path::Path::new("/etc/hostname").is_file() {
        expected.remove(1);
    }
    assert_eq!(files, [expected, vec!["lib/a.py"]]);
    world.trust_it();
    for name in ["g.sh", "rules.json", "listed.txt"] {
        world.home.write_script(name, "2\n");
        let reason = failure(&world.load(), "argv");
        assert!(reason.contains(&format!("`{name}`")), "{reason}");
        assert!(runs(&world.load(), "text"));
        world.home.write_script(name, "1\n");
    }
    world.home.write("other.txt", "2\n");
    assert!(runs(&world.load(), "argv"));
}

#[test]
fn a_file_that_appears_under_a_trusted_name_is_noticed() {
    let world = World::new();
    world
        .project("[[hook]]\nname = \"guard\"\nevent = \"Stop\"\ncommand = [\"sh\", \"late.sh\"]\n");
    world.trust_it();
    let loaded = world.load();
    assert!(runs(&loaded, "guard"));
    world.home.write("late.sh", "exit 0\n");
    let changed = loaded.scripts.check(at_of(&loaded, "guard")).unwrap_err();
    assert_eq!(changed, ChangedFile { file: "late.sh".into(), change: FileChange::New });
    assert!(failure(&world.load(), "guard").contains("`late.sh` was not there"));
}

#[test]
fn a_changed_entry_fails_under_the_policy_that_was_trusted() {
    let world = trusted();
    let edited = GUARD.replace("\"block\"", "\"allow\"") + "enabled = false\n";
    world.project(&edited);
    let loaded = world.load();
    let reason = failure(&loaded, "guard");
    assert!(
        reason.contains("`.tenter/hooks.toml` was edited") && reason.contains("`tenter trust`"),
        "{reason}"
    );
    assert_eq!(hook(&loaded, "guard").on_failure, Some(OnFailure::Block));
    assert!(hook(&loaded, "guard").matcher.matches("Bash"));
    assert!(!hook(&loaded, "guard").matcher.matches("Read"));
    assert_eq!(loaded.diagnostics[0].position.as_ref().unwrap().line, 1);
}

#[test]
fn a_renamed_entry_has_changed() {
    let world = trusted();
    world.project(&GUARD.replace("\"guard\"", "\"renamed\""));
    failure(&world.load(), "renamed");
}

#[test]
fn an_entry_that_was_edited_into_something_broken_still_guards() {
    let world = trusted();
    world.project(&GUARD.replace("on_failure", "on_failur"));
    let loaded = world.load();
    failure(&loaded, "guard");
    assert!(matches!(hook(&loaded, "guard").handler, Handler::Broken { .. }));
    assert_eq!(hook(&loaded, "guard").on_failure, Some(OnFailure::Block));
}

#[test]
fn an_entry_that_was_added_was_never_trusted_and_one_that_was_removed_is_gone() {
    let world = trusted();
    world.project(&format!("{}{GUARD}", reply("new")));
    let loaded = world.load();
    assert_eq!(hook(&loaded, "new").skip, Some(Skip::Untrusted));
    assert!(runs(&loaded, "guard"));
    world.project("");
    let loaded = world.load();
    assert!(loaded.hooks.is_empty() && loaded.diagnostics.is_empty());
    assert_eq!(world.trust_it().removed, ["guard"]);
}

#[test]
fn order_comments_and_notation_do_not_count() {
    let world = World::new();
    world.home.write_script("guards/g.sh", "exit 2\n");
    world.project(&format!("{GUARD}{}", reply("b")));
    world.trust_it();
    world.project(&format!(
        "# A comment.\n{}\n[[hook]]\non_failure = 'block' # first\ncommand = [\n  \"./guards/g.sh\",\n]\n\
         event = \"PreToolUse\"\nmatcher = \"B\\u0061sh\"\nname = \"guard\"\n",
        reply("b")
    ));
    let loaded = world.load();
    assert!(runs(&loaded, "guard") && runs(&loaded, "b"), "{:?}", loaded.diagnostics);
}

#[test]
fn an_entry_may_move_to_the_private_file() {
    let world = trusted();
    world.project("");
    world.private(GUARD);
    let loaded = world.load();
    assert!(runs(&loaded, "guard"));
    assert_eq!(hook(&loaded, "guard").source.level, Level::Private);
}

#[test]
fn rules_that_tighten_hold_without_trust_and_rules_that_allow_do_not() {
    let world = World::new();
    world.project("[permissions]\ndeny = [\"Read(**/.env)\"]\nask = [\"Edit\"]\nallow = [\"Bash\", \"Read\"]\n");
    let lists = |loaded: &Loaded| -> Vec<String> {
        loaded.rules.iter().map(|(list, rule, ..)| format!("{} {rule}", list.as_str())).collect()
    };
    let loaded = world.load();
    assert_eq!(lists(&loaded), ["deny Read(**/.env)", "ask Edit"]);
    assert!(loaded.diagnostics[0].message.contains("2 allow rules of"));
    world.trust_it();
    assert_eq!(
        lists(&world.load()),
        ["deny Read(**/.env)", "ask Edit", "allow Bash", "allow Read"]
    );
    world.project("[permissions]\nallow = [\"Read\", \"Write\"]\n");
    let loaded = world.load();
    assert_eq!(lists(&loaded), ["allow Read"], "what was not looked at does not hold");
    assert!(loaded.rules.iter().all(|(list, ..)| list == Decision::Allow));
}

#[test]
fn a_deny_rule_that_cannot_be_read_guards_without_trust() {
    let world = World::new();
    world.project("[permissions]\ndeny = [\"Read(\"]\n");
    let loaded = world.load();
    let [guard] = loaded.hooks.as_slice() else { panic!("{:?}", names(&loaded)) };
    assert!(matches!(guard.handler, Handler::Broken { .. }));
    assert_eq!((guard.skip, guard.on_failure), (None, Some(OnFailure::Block)));
}

#[test]
fn an_environment_is_passed_only_to_a_project_that_is_trusted() {
    let world = World::new();
    let given = || {
        let env = world.load().env;
        ["PATH", "OPENAI_API_KEY"].map(|name| env.gives(name.as_ref(), Level::Project))
    };
    world.project("[env]\npass = [\"OPENAI_API_KEY\"]\nstrip = [\"PATH\"]\n");
    assert_eq!(given(), [false, false]);
    world.trust_it();
    assert_eq!(given(), [false, true]);
    world.project("[env]\npass = [\"OPENAI_API_KEY\", \"HF_TOKEN\"]\nstrip = [\"PATH\"]\n");
    assert_eq!(given(), [false, false]);
}

#[test]
fn a_trusted_file_that_no_longer_parses_guards() {
    let world = trusted();
    world.project(&format!("{GUARD}]"));
    let loaded = world.load();
    assert_eq!(state(&loaded, ".tenter/hooks.toml"), FileState::Broken);
    let [guard] = loaded.hooks.as_slice() else { panic!("{:?}", names(&loaded)) };
    assert!(matches!(guard.handler, Handler::Broken { .. }) && guard.skip.is_none());
}

#[test]
fn trust_is_of_one_project_and_ends_with_untrust() {
    let world = trusted();
    let trust = world.trust();
    assert_eq!(trust.projects().unwrap(), [(world.home.project(), 1)]);
    let other = trusted();
    assert_eq!(hook(&other.load(), "guard").skip, None);
    assert_eq!(trust.untrust(&world.home.project()).unwrap(), 1);
    assert_eq!(hook(&world.load(), "guard").skip, Some(Skip::Untrusted));
    assert_eq!(trust.untrust(&world.home.project()).unwrap(), 0);
}

#[test]
fn a_project_is_the_same_through_a_link_and_another_at_another_place() {
    let world = trusted();
    let link = world.home.root().join("link");
    symlink(world.home.project(), &link).unwrap();
    let mut places = world.places();
    places.project = link;
    let judged = world.trust().judge(&places.project, &world.load().entries);
    assert!(matches!(judged.standings[0], tenter::trust::Standing::Trusted(_)));
    let moved = world.home.root().join("moved");
    let trust = world.trust();
    fs::rename(world.home.project(), &moved).unwrap();
    let judged = trust.judge(&moved, &[]);
    assert!(judged.known_files.is_empty());
}

#[test]
fn one_digest_stands_for_the_project_wherever_it_is() {
    let (one, two) = (trusted(), trusted());
    let digest = one.survey().digest();
    assert_eq!(digest.short().len(), 32);
    assert_eq!(two.survey().digest(), digest);
    two.project(&format!("# comment\n{GUARD}"));
    assert_eq!(two.survey().digest(), digest);
    two.home.write_script("guards/g.sh", "exit 0\n");
    assert_ne!(two.survey().digest(), digest);
    one.project(&GUARD.replace("Bash", "Read"));
    assert_ne!(one.survey().digest(), digest);
}

#[test]
fn the_record_is_for_nobody_elses_eyes() {
    let world = trusted();
    let folder = world.places().state_home;
    let bits = |path: &std::path::Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(bits(&folder), 0o700);
    assert_eq!(bits(&folder.join("trust.toml")), 0o600);
    mode(&folder, 0o755);
    world.trust_it();
    assert_eq!(bits(&folder), 0o700);
    let left: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_record_that_others_may_write_trusts_nothing_loudly() {
    let world = trusted();
    mode(&world.places().state_home.join("trust.toml"), 0o666);
    let loaded = world.load();
    assert_eq!(hook(&loaded, "guard").skip, Some(Skip::Untrusted));
    assert_eq!(codes(&loaded), ["trust.record", "trust.untrusted"]);
    assert!(matches!(world.trust().trust(&world.survey()), Err(TrustError::Refused { .. })));
}

#[test]
fn a_broken_record_trusts_nothing_loudly_and_is_not_written_over() {
    let world = trusted();
    let path = world.places().state_home.join("trust.toml");
    for (text, is_newer) in
        [("nonsense", false), ("version = 1\nx = 2\n", false), ("version = 2\nnew = {}\n", true)]
    {
        fs::write(&path, text).unwrap();
        let loaded = world.load();
        assert_eq!(hook(&loaded, "guard").skip, Some(Skip::Untrusted));
        assert_eq!(codes(&loaded)[0], "trust.record");
        let error = world.trust().trust(&world.survey()).unwrap_err();
        assert_eq!(matches!(error, TrustError::Newer { version: 2, .. }), is_newer, "{error}");
        assert_eq!(matches!(error, TrustError::Broken { .. }), !is_newer, "{error}");
        world.trust().untrust(&world.home.project()).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_digest_that_was_tampered_with_is_a_change() {
    let world = trusted();
    let path = world.places().state_home.join("trust.toml");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace("\\\"on_failure\\\":\\\"block\\\"", "\\\"on_failure\\\":\\\"allow\\\"");
    let text = text.replace("\"on_failure\":\"block\"", "\"on_failure\":\"allow\"");
    fs::write(&path, &text).unwrap();
    assert!(runs(&world.load(), "guard"), "the text is for people, the digest decides");
    world.project(&GUARD.replace("Bash", "Read"));
    let loaded = world.load();
    failure(&loaded, "guard");
    assert!(hook(&loaded, "guard").matcher.is_all(), "the old text is not known");
}

#[test]
fn a_file_with_the_recorded_marks_is_not_read_again() {
    let world = World::new();
    // A file that nobody has changed for long: the marks of one made just now are not recorded.
    world.project(
        "[[hook]]\nname = \"guard\"\nevent = \"Stop\"\ncommand = \"true\"\nscripts = [\"/etc/passwd\"]\n",
    );
    world.trust_it();
    let path = world.places().state_home.join("trust.toml");
    let record = fs::read_to_string(&path).unwrap();
    let survey = world.survey();
    let (_, digest) = survey.entries().next().unwrap().scripts().next().unwrap();
    let other = record.replace(&digest.to_string(), &"0".repeat(64));
    assert_ne!(other, record);
    fs::write(&path, &other).unwrap();
    assert!(runs(&world.load(), "guard"), "only reading the file would tell");
    let (stat, _) = other.split_once("stat = ").unwrap();
    fs::write(&path, stat).unwrap();
    assert!(failure(&world.load(), "guard").contains("`/etc/passwd`"));
}

#[test]
fn many_at_once_lose_nothing() {
    let worlds: Vec<_> = (0..8).map(|_| World::new()).collect();
    let state = worlds[0].places().state_home;
    std::thread::scope(|scope| {
        for world in &worlds {
            world.project(&reply("a"));
            let survey = world.survey();
            let trust = tenter::trust::Trust::new(&state, world.owners());
            scope.spawn(move || trust.trust(&survey).unwrap());
        }
    });
    assert_eq!(worlds[0].trust().projects().unwrap().len(), 8);
}
