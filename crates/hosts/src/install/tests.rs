//! Every host's file with tenter in it and without, over texts of any kind.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::bridge;

fn hosts() -> impl Iterator<Item = (&'static Bridge, Install)> {
    bridge::all().filter_map(|bridge| Some((bridge, bridge.install?)))
}

fn is_json(form: Form) -> bool {
    matches!(form, Form::Groups | Form::Flat { .. })
}

/// Every file in JSON of every host.
fn json_files() -> impl Iterator<Item = (&'static Bridge, Install, &'static Spot)> {
    hosts().filter(|(_, install)| is_json(install.form)).flat_map(|(bridge, install)| {
        install.user.iter().chain(install.project).map(move |spot| (bridge, install, spot))
    })
}

/// Texts that are files of the form, with comments and foreign hooks.
fn files(form: Form, is_bare: bool) -> Vec<String> {
    let events = |inner: &str| {
        if is_bare {
            return inner.to_owned();
        }
        format!(
            "{{\n  // mine\n  \"theme\": \"dark\", \"hooks\": {inner},\n  \"last\": [1,2]\n}}\n"
        )
    };
    let foreign = match form {
        Form::Flat { .. } => r#"{"PreToolUse": [/* kept */ {"command": "./mine"}], "Other": []}"#,
        _ => {
            r#"{"PreToolUse": [ {"matcher": "Bash", "hooks": [{"type":"command","command":"./mine"}]} ], "Other": []}"#
        }
    };
    vec![
        String::new(),
        "{}".into(),
        "{}\n".into(),
        events("{}"),
        events(foreign),
        events("{\n\t\"PreToolUse\": [\n\t]\n}"),
    ]
}

/// Where spaces stand between two entries is nobody's order.
fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn tenter_is_put_in_once_and_taken_out_again() {
    for (bridge, install, spot) in json_files() {
        let lines = install.lines(bridge, "/opt/my tools/tenter", WAIT);
        let moved = install.lines(bridge, "/usr/bin/tenter", WAIT);
        assert!(!lines.is_empty(), "{}", bridge.name);
        for file in files(install.form, spot.is_bare) {
            let name = format!("{}: {file}", bridge.name);
            let first = install.with(spot, Some(&file), bridge.name, &lines).unwrap();
            for line in &lines {
                let found = first.matches(line.event).count();
                assert!(found >= 1, "{name}\n{first}");
            }
            let again = install.with(spot, Some(&first), bridge.name, &lines).unwrap();
            assert_eq!(again, first, "{name}");
            // Another place of tenter takes the place of the first.
            let other = install.with(spot, Some(&first), bridge.name, &moved).unwrap();
            assert!(!other.contains("my tools"), "{name}\n{other}");
            let back = install.with(spot, Some(&other), bridge.name, &lines).unwrap();
            assert_eq!(without_spaces(&back), without_spaces(&first), "{name}");
            for kept in ["// mine", "./mine", "/* kept */", "\"theme\": \"dark\"", "[1,2]"] {
                assert_eq!(first.contains(kept), file.contains(kept), "{name}\n{first}");
            }
            let removed = install.without(spot, &first, bridge.name).unwrap().unwrap_or_default();
            assert!(!removed.contains("tenter"), "{name}\n{removed}");
            for kept in ["// mine", "./mine", "/* kept */", "\"theme\": \"dark\"", "[1,2]"] {
                assert_eq!(removed.contains(kept), file.contains(kept), "{name}\n{removed}");
            }
        }
    }
}

#[test]
fn what_is_not_as_the_host_reads_it_is_said_with_its_place() {
    for (bridge, install, spot) in json_files() {
        let lines = install.lines(bridge, "/usr/bin/tenter", WAIT);
        let edit = |text: &str| install.with(spot, Some(text), bridge.name, &lines).unwrap_err();
        let broken = edit("{\n  \"hooks\": {,}\n}");
        let EditError::Unreadable { line, column, .. } = broken else { panic!("{broken}") };
        assert_eq!((line, column), (2, 13), "{}", bridge.name);
        assert!(matches!(edit("[]"), EditError::Shape { .. }));
        if !spot.is_bare {
            assert_eq!(edit(r#"{"hooks": 1}"#).to_string(), "`hooks` is not an object");
            let event = lines.first().unwrap().event;
            let text = format!("{{\"hooks\": {{\"{event}\": {{}}}}}}");
            assert_eq!(edit(&text).to_string(), format!("`hooks.{event}` is not a list"));
        }
        assert!(matches!(edit(&"[".repeat(5000)), EditError::Unreadable { .. }));
    }
}

#[test]
fn a_line_is_known_again_and_others_are_not() {
    for (line, host, ours) in [
        ("/usr/bin/tenter hook claude PreToolUse --deadline 55s", "claude", true),
        ("'/opt/my tools/tenter' hook claude", "claude", true),
        ("tenter hook claude", "claude", true),
        ("/bin/sh -c '/usr/bin/tenter hook codex X || exit 2'", "codex", true),
        (r"/bin/sh -c ''\''/my tools/tenter'\'' hook codex X'", "codex", true),
        ("tenter hook claude-next", "claude", false),
        ("tenter hook codex", "claude", false),
        ("mytenter hook claude", "claude", false),
        ("tenter fire claude", "claude", false),
        ("./hook claude", "claude", false),
    ] {
        assert_eq!(is_ours(line, host), ours, "{line}");
    }
}

#[test]
fn tenter_answers_before_the_host_gives_up() {
    for millis in [1, 250, 1_000, 1_500, 3_000, 30_000, 60_000, 600_000] {
        let wait = Duration::from_millis(millis);
        let deadline = deadline(wait);
        assert!(deadline < wait && deadline >= wait / 2, "{wait:?} {deadline:?}");
    }
}

#[test]
fn every_guard_is_closed_in_a_way_that_its_host_has() {
    for (bridge, install) in hosts() {
        let lines = install.lines(bridge, "/usr/bin/tenter", WAIT);
        let guards: Vec<&Line> = lines.iter().filter(|line| line.is_guard).collect();
        assert!(!guards.is_empty(), "{}", bridge.name);
        let Some(spot) = install.user.last() else { continue };
        let text = install.with(spot, None, bridge.name, &lines).unwrap();
        for guard in guards {
            match install.closed {
                Closed::Itself => {}
                Closed::Text(key, word) => {
                    let pairs = [format!("\"{key}\": \"{word}\""), format!("{key} = \"{word}\"")];
                    assert!(pairs.iter().any(|pair| text.contains(pair)), "{text}");
                }
                Closed::True(key) => assert!(text.contains(&format!("\"{key}\": true")), "{text}"),
                Closed::Shell | Closed::AnyShell => {
                    assert!(guard.command.contains("exit 2"), "{}", guard.command);
                }
                Closed::Answer => assert!(guard.command.contains("|| echo"), "{}", guard.command),
            }
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]{}\",:a-zPTU/* \\n]{0,60}") {
        for (bridge, install, spot) in json_files() {
            let lines = install.lines(bridge, "/usr/bin/tenter", WAIT);
            if let Ok(with) = install.with(spot, Some(&text), bridge.name, &lines) {
                let without = install.without(spot, &with, bridge.name).unwrap().unwrap_or_default();
                prop_assert!(!without.contains("tenter hook"), "{without}");
            }
        }
    }
}

#[test]
fn a_file_an_event_is_tenter_s_or_left_alone() {
    for (bridge, install) in hosts().filter(|(_, install)| install.form.is_programs()) {
        let lines = install.lines(bridge, "/opt/my tools/tenter", WAIT);
        let spot = install.user.first().unwrap();
        for line in &lines {
            let one = std::slice::from_ref(line);
            let text = install.with(spot, None, bridge.name, one).unwrap();
            assert!(text.starts_with("#!/bin/sh\n") && text.contains(line.event), "{text}");
            assert_eq!(install.with(spot, Some(&text), bridge.name, one).unwrap(), text);
            assert_eq!(install.without(spot, &text, bridge.name).unwrap(), None);
            let mine = "#!/bin/sh\n# like tenter hook cline\ncat\n";
            let taken = install.with(spot, Some(mine), bridge.name, one).unwrap_err();
            assert!(matches!(taken, EditError::Taken { .. }));
            let left = install.without(spot, mine, bridge.name).unwrap();
            assert_eq!(left.as_deref(), Some(mine));
        }
    }
}

const TOML: &str = "\
# mine
model = \"k2\"  # the best

[[hooks]]
event = \"Stop\"
command = \"./mine\" # kept

[other]
a = 1
";

#[test]
fn tables_are_put_in_once_and_taken_out_again() {
    let (bridge, install) = hosts().find(|(_, install)| install.form == Form::Tables).unwrap();
    let spot = install.user.first().unwrap();
    let lines = install.lines(bridge, "/usr/bin/tenter", WAIT);
    for file in ["", "a = 1\n", TOML] {
        let with = install.with(spot, Some(file), bridge.name, &lines).unwrap();
        assert_eq!(
            with.matches("[[hooks]]").count(),
            lines.len() + file.matches("[[hooks]]").count()
        );
        for kept in ["# mine", "# the best", "./mine", "# kept", "[other]"] {
            assert_eq!(with.contains(kept), file.contains(kept), "{with}");
        }
        assert_eq!(install.with(spot, Some(&with), bridge.name, &lines).unwrap(), with);
        let moved = install.lines(bridge, "/bin/tenter", WAIT);
        let other = install.with(spot, Some(&with), bridge.name, &moved).unwrap();
        assert!(!other.contains("/usr/bin"), "{other}");
        let without = install.without(spot, &with, bridge.name).unwrap();
        assert_eq!(without.as_deref(), Some(file));
    }
    let edit = |text: &str| install.with(spot, Some(text), bridge.name, &lines).unwrap_err();
    assert_eq!(
        edit("hooks = 1\n").to_string(),
        "`hooks` is not a list of tables, each under [[hooks]]"
    );
    assert!(matches!(edit("a = 1\nb =\n"), EditError::Unreadable { line: 2, .. }));
}

const YAML: &str = "\
# mine
model:
  default: x   # the best
hooks:
  pre_tool_call:
    - command: ./mine
      matcher: terminal
  other: []
last: 1
";

#[test]
fn lines_of_yaml_are_put_in_once_and_taken_out_again() {
    let (bridge, install) = hosts().find(|(_, install)| install.form == Form::Yaml).unwrap();
    let spot = install.user.first().unwrap();
    let lines = install.lines(bridge, "/usr/bin/tenter", WAIT);
    for file in ["", "a: 1\n", "hooks: {}\na: 1\n", "hooks:\na: 1\n", YAML] {
        let with = install.with(spot, Some(file), bridge.name, &lines).unwrap();
        let value: serde_json::Value = serde_saphyr::from_str(&with).unwrap();
        for line in &lines {
            let entries = value["hooks"][line.event].as_array().unwrap();
            let ours = entries.iter().filter(|entry| entry["command"] == line.command.as_str());
            assert_eq!(ours.count(), 1, "{with}");
            assert_eq!(entries[0]["timeout"], 60, "{with}");
        }
        for kept in ["# mine", "# the best", "./mine", "matcher: terminal", "last: 1", "other: []"]
        {
            assert_eq!(with.contains(kept), file.contains(kept), "{with}");
        }
        assert_eq!(install.with(spot, Some(&with), bridge.name, &lines).unwrap(), with);
        let without = install.without(spot, &with, bridge.name).unwrap().unwrap();
        let left = file.replace("hooks: {}\n", "").replace("hooks:\na", "a");
        assert_eq!(without, left);
    }
    for file in ["{hooks: {}}\n", "hooks: {a: []}\n", "hooks: [1]\n"] {
        let error = install.with(spot, Some(file), bridge.name, &lines).unwrap_err();
        assert!(matches!(error, EditError::Unreadable { line: 1, .. }), "{file}");
    }
}
