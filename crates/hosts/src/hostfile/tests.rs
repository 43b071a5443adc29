//! One mistake a line: the host, its file, and what is found.

use super::*;
use crate::install::WAIT;

fn found(host: &str, text: &str) -> Vec<(&'static str, usize)> {
    let bridge = bridge::by_name(host).unwrap();
    let spot = bridge.install.unwrap().user.last().unwrap();
    let file = read(bridge, spot, text).unwrap();
    let found = lint(bridge, &file, "f.json", text);
    found.iter().map(|one| (one.code, one.position.as_ref().unwrap().line)).collect()
}

#[test]
fn each_mistake_is_found_where_it_stands() {
    let group = |event: &str, more: &str, command: &str| {
        format!(
            "{{\"hooks\":{{\"{event}\":[\n{{{more}\"hooks\":[{{\"type\":\"command\",\n\"command\":\"{command}\"}}]}}]}}}}"
        )
    };
    for (host, text, expected) in [
        ("claude", group("PreToolUse", "\"matcher\":\"Bash\",", "./a"), None),
        ("claude", group("PreTolUse", "", "./a"), Some(("host.unknown-event", 1))),
        ("gemini", group("PreToolUse", "", "./a"), Some(("host.unknown-event", 1))),
        (
            "claude",
            group("PreToolUse", "\"matcher\":\"bash\",", "./a"),
            Some(("host.matcher-never", 2)),
        ),
        (
            "droid",
            group("PreToolUse", "\"matcher\":\"Bash\",", "./a"),
            Some(("host.matcher-never", 2)),
        ),
        ("droid", group("PreToolUse", "\"matcher\":\"Execute\",", "./a"), None),
        (
            "gemini",
            group("BeforeTool", "\"matcher\":\"Edit|Bash\",", "./a"),
            Some(("host.matcher-never", 2)),
        ),
        ("gemini", group("BeforeTool", "\"matcher\":\"my_tool\",", "./a"), None),
        ("claude", group("Stop", "\"matcher\":\"bash\",", "./a"), None),
        ("codex", group("PreToolUse", "", "echo no; exit 1"), Some(("host.exit-1", 3))),
        ("codex", group("PostToolUse", "", "echo no; exit 1"), None),
        ("copilot", "{\"hooks\":{\"preToolUse\":[{\"bash\":\"exit 1\"}]}}".into(), None),
        (
            "claude",
            "{\"hooks\":{\"PreToolUse\":[\n{\"type\":\"command\",\"command\":\"./a\"}]}}".into(),
            Some(("host.flat", 2)),
        ),
        (
            "cursor",
            "{\"version\":1,\"hooks\":{\"stop\":[{\"hooks\":[\n{\"command\":\"./a\"}]}]}}".into(),
            Some(("host.nested", 2)),
        ),
        (
            "gemini",
            "{\"hooks\":{\"BeforeTool\":[{\"hooks\":[{\"command\":\"./a\",\n\"timeout\":30}]}]}}"
                .into(),
            Some(("host.timeout-unit", 2)),
        ),
        (
            "claude",
            "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"./a\",\n\"timeout\":60000}]}]}}"
                .into(),
            Some(("host.timeout-unit", 2)),
        ),
        (
            "claude",
            "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"./a\",\n\"timeout\":\"5\"}]}]}}"
                .into(),
            Some(("host.timeout-type", 2)),
        ),
        (
            "claude",
            "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"./a\"},\n{\"command\":\"./a\"}]}]}}"
                .into(),
            Some(("host.duplicate", 2)),
        ),
        (
            "claude",
            "{\"hooks\":{\"Stop\":[{\"hooks\":[\n{\"type\":\"command\"}]}]}}".into(),
            Some(("host.no-command", 2)),
        ),
        ("codex", "{\n\"$schema\":\"x\",\"hooks\":{}}".into(), Some(("host.refused-file", 2))),
        ("claude", "{\"$schema\":\"x\",\"hooks\":{}}".into(), None),
    ] {
        assert_eq!(found(host, &text), expected.into_iter().collect::<Vec<_>>(), "{host} {text}");
    }
}

#[test]
fn nothing_is_wrong_with_what_tenter_writes() {
    for bridge in bridge::all() {
        let install = bridge.install.unwrap();
        if !reads(&install) {
            continue;
        }
        let lines = install.lines(bridge, "/usr/bin/tenter", WAIT);
        for spot in install.user.iter().chain(install.project) {
            let text = install.with(spot, None, bridge.name, &lines).unwrap();
            let file = read(bridge, spot, &text).unwrap();
            assert_eq!(file.entries.len(), lines.len(), "{}", bridge.name);
            assert!(file.entries.iter().all(|entry| entry.is_ours && !entry.is_misplaced));
            assert_eq!(lint(bridge, &file, "f", &text), [], "{}", bridge.name);
        }
    }
}

#[test]
fn every_finding_has_its_page_and_every_page_a_finding() {
    let source = include_str!("lint.rs");
    let by_caller = ["host.unreadable", "host.script-"];
    for code in CODES {
        let is_callers = by_caller.iter().any(|prefix| code.code.starts_with(prefix));
        let quoted = format!("\"{}\"", code.code);
        assert!(is_callers || source.contains(&quoted), "{}", code.code);
    }
    for word in source.split('"').filter(|word| word.starts_with("host.")) {
        assert!(CODES.iter().any(|code| code.code == word), "{word}");
    }
}
