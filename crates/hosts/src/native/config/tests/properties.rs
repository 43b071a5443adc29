//! What holds for every text.

use proptest::collection::vec;
use proptest::prelude::*;
use tenter_core::diagnostic::{Position, Severity};
use tenter_core::hook::{Handler, Level};
use toml::de::{DeTable, DeValue};

use super::read_at;
use crate::native::config::{Part, canonical};

/// A sound file with every section and most keys.
const SOUND: &str = r#"version = 1

[[hook]] # no forced pushes
name = "no-force-push"
event = ["PreToolUse", "BeforeTool"]
matcher = "Bash|mcp__*"
if = ["Edit(src/**)", 'Read(**/.env)']
command = ["./guards/no-force-push.sh", "--ärger"]
timeout = "5s"
on_failure = "block"
env = { A = "1" }
scripts = ["x"]

[[hook]]
event = "PostToolUse"
matcher = ["/^mcp__(a|b)/", "Edit"]
command = """
cat >&2
exit 2"""
shell = ["bash", "-eu"]
view = "2KiB"
on_truncated = "ask"
order = "sequence"
agents = "main"
cwd = "session"
leftovers = "kill"

[[hook]]
event = "Stop"
detach = true
once = true
recheck = false
enabled = true
command = "true"

[[hook]]
event = "UserPromptSubmit"
[hook.reply]
decision = "ask"
context = ["a", "b"]
patch = { prompt = "x", n = [1, 2.5, { a = true }] }

[permissions]
deny = ["Read(**/.env)", "WebFetch(domain:example.com)"]
ask = ["Agent(reviewer)"]
allow = ["Edit(src/**)"]

[policy]
only_managed = true
min_on_failure = "ask"

[env]
strip = ["DATABASE_URL"]
"#;

/// One change to a text: from where, how much of it, and what instead.
fn change() -> impl Strategy<Value = (prop::sample::Index, usize, String)> {
    let pieces = prop_oneof![
        Just(String::new()),
        Just("\n".to_owned()),
        Just("\"".to_owned()),
        Just("'''".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just("{ a = 1 }".to_owned()),
        Just("=".to_owned()),
        Just(" = 5\n".to_owned()),
        Just("\n[[hook]]\n".to_owned()),
        Just("\n[hook]\n".to_owned()),
        Just("\n[[hooks]]\n".to_owned()),
        Just("(".to_owned()),
        Just("*".to_owned()),
        Just("/".to_owned()),
        Just("\\u0000".to_owned()),
        Just("é\u{1f600}".to_owned()),
        "[a-z0-9.\"#{}\\[\\]=, \n]{0,6}",
    ];
    (any::<prop::sample::Index>(), 0_usize..12, pieces)
}

fn changed(text: &str, changes: &[(prop::sample::Index, usize, String)]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for (at, length, instead) in changes {
        let from = at.index(characters.len() + 1);
        let to = (from + length).min(characters.len());
        characters.splice(from..to, instead.chars());
    }
    characters.into_iter().collect()
}

/// What must hold of every text, whatever is wrong with it.
fn check(text: &str, level: Level) {
    let file = read_at(level, text);
    let root = DeTable::parse(text);
    assert_eq!(file.parses, root.is_ok());

    let mut last = 0;
    for diagnostic in &file.diagnostics {
        let at = diagnostic.position.as_ref().expect("every finding has its place");
        assert_eq!(*at, Position::of(at.file.as_str(), text, at.span.clone()));
        assert!(at.span.start >= last, "findings stand in the order of the file");
        last = at.span.start;
        assert!(!diagnostic.message.is_empty());
        assert!(diagnostic.help.as_deref().is_some_and(|help| !help.is_empty()));
        assert!(!diagnostic.message.contains('\n'), "{}", diagnostic.message);
    }

    let is_broken = |handler: &Handler| matches!(handler, Handler::Broken { .. });
    if !file.diagnostics.iter().any(|found| found.severity == Severity::Error) {
        assert!(file.hooks().all(|hook| !is_broken(&hook.handler)));
    }
    for entry in &file.entries {
        let hook = &entry.hook;
        assert!(!hook.events.is_empty(), "a hook for no event is no hook");
        let at = hook.source.position.as_ref().expect("every entry has its place");
        assert_eq!(*at, Position::of(at.file.as_str(), text, entry.span.clone()));
        assert!(!hook.name.is_empty());
        assert!(entry.part == Part::Hook || is_broken(&hook.handler));
    }

    // No entry vanishes.
    let Ok(root) = root else { return };
    if let Some(DeValue::Array(items)) = root.get_ref().get("hook").map(toml::Spanned::get_ref) {
        let read = file.entries.iter().filter(|entry| entry.part != Part::Permissions).count();
        assert!(read >= items.len());
    }
}

#[test]
fn the_file_that_is_changed_below_is_sound() {
    let file = read_at(Level::Managed, SOUND);
    assert_eq!(super::shown(&file.diagnostics), "");
    assert_eq!(file.entries.len(), 4);
    check(SOUND, Level::Managed);
}

#[test]
fn places_in_a_long_line_are_those_of_the_slow_way() {
    let entry = "{ evént = \"Stop\", command = \"ä😀\" }";
    check(&format!("\nhook = [{}]\n", vec![entry; 200].join(",")), Level::User);
    // The place of an error may be the end of the text, wherever that is.
    for length in 1000..1100 {
        check(&format!("#{}\na = [", "é".repeat(length / 2)), Level::User);
        check(&format!("a = [ #{}", "x".repeat(length)), Level::User);
    }
}

#[test]
fn many_hooks_of_one_name_on_one_line_are_read_in_one_go() {
    let entry = "{event=\"Stop\",command=\"x\"}";
    let file = read_at(Level::User, &format!("hook = [{}]", vec![entry; 20_000].join(",")));
    assert_eq!(file.entries.last().map(|entry| entry.hook.name.as_str()), Some("x-20000"));
}

fn levels() -> impl Strategy<Value = Level> {
    prop_oneof![Just(Level::Managed), Just(Level::User), Just(Level::Project), Just(Level::Private)]
}

/// Values as TOML has them, written by the toml crate.
fn value() -> impl Strategy<Value = toml::Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(toml::Value::Boolean),
        any::<i64>().prop_map(toml::Value::Integer),
        (-1e9..1e9).prop_map(toml::Value::Float),
        "[ -~äé\n\t]{0,8}".prop_map(toml::Value::String),
        Just("2026-01-02T03:04:05Z".parse().map(toml::Value::Datetime).unwrap()),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(toml::Value::Array),
            prop::collection::btree_map("[a-c\"]{0,2}", inner, 0..4)
                .prop_map(|members| toml::Value::Table(members.into_iter().collect())),
        ]
    })
}

fn canonical_of(text: &str) -> String {
    let root = DeTable::parse(text).unwrap();
    canonical::text(root.get_ref().get("v").unwrap().get_ref())
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}", level in levels()) {
        check(&text, level);
    }

    #[test]
    fn no_toml_like_text_makes_the_reader_panic(
        lines in vec("(\\[\\[?[a-z.]{1,8}\\]?\\]|(event|matcher|if|command|reply|deny|timeout|[a-z]{1,5}) = (\"[^\"]{0,10}\"|[0-9.x-]{1,4}|\\[[^\\]]{0,8}\\]|true|\\{ [a-z]{1,8} = [0-9] \\}))", 0..12),
        level in levels(),
    ) {
        check(&lines.join("\n"), level);
    }

    #[test]
    fn no_change_to_a_sound_file_makes_the_reader_panic_or_lose_an_entry(
        changes in vec(change(), 1..6),
        level in levels(),
    ) {
        check(&changed(SOUND, &changes), level);
    }

    #[test]
    fn two_values_have_one_canonical_text_exactly_if_they_are_equal(one in value(), other in value()) {
        let write = |value: &toml::Value| {
            let table = toml::Table::from_iter([("v".to_owned(), value.clone())]);
            (toml::to_string(&table).unwrap(), toml::to_string_pretty(&table).unwrap())
        };
        let (plain, pretty) = write(&one);
        prop_assert_eq!(canonical_of(&plain), canonical_of(&pretty));
        let (other_text, _) = write(&other);
        prop_assert_eq!(canonical_of(&plain) == canonical_of(&other_text), one == other);
    }
}
