//! Payloads that real agents sent to a hook, in `examples/recordings`: read, changed, and written again.

use std::fs;
use std::path::{Path, PathBuf};

use tenter_core::event::{Event, EventKind, Origin, Payload};
use tenter_core::json::{Fields, Json};

use crate::bridge::{Bridge, Incoming, all, by_name};

struct Recording {
    bridge: &'static Bridge,
    event: String,
    path: PathBuf,
    text: String,
}

/// All recordings of a host; the file's name is that of the event, up to `--`.
fn recordings_of(bridge: &'static Bridge) -> Vec<Recording> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/recordings").join(bridge.name);
    let Ok(files) = fs::read_dir(&folder) else { return Vec::new() };
    let mut found: Vec<Recording> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.file_name().unwrap() != "meta.json")
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let event = name.split("--").next().unwrap().to_owned();
            Recording { bridge, event, text: fs::read_to_string(&path).unwrap(), path }
        })
        .collect();
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn recordings() -> Vec<Recording> {
    all().flat_map(recordings_of).collect()
}

impl Recording {
    fn read(&self) -> Incoming {
        // The event is named, as `install` writes it: some hosts do not say it themselves.
        let read = self.bridge.read(&self.text, Some(&self.event), &Origin::default());
        read.unwrap_or_else(|error| panic!("{}: {error}", self.path.display()))
    }
}

/// The places at which two values differ, as JSON pointers.
fn differences(one: &Json, other: &Json, at: &str, found: &mut Vec<String>) {
    if one.as_text() == other.as_text() {
        return;
    }
    let (Some(fields), Some(others)) = (one.to_fields(), other.to_fields()) else {
        found.push(at.to_owned());
        return;
    };
    let keys = |fields: &Fields| fields.iter().map(|(key, _)| key.to_owned()).collect::<Vec<_>>();
    if keys(&fields) != keys(&others) {
        found.push(at.to_owned());
        return;
    }
    for (key, value) in fields.iter() {
        differences(value, others.get(key).unwrap(), &format!("{at}/{key}"), found);
    }
}

#[test]
fn there_are_recordings() {
    let count = |name: &str| recordings_of(by_name(name).unwrap()).len();
    let counts =
        ["claude", "codex", "gemini", "qwen", "copilot", "droid", "cline", "hermes"].map(count);
    assert_eq!(counts, [48, 13, 14, 21, 21, 10, 10, 10]);
}

#[test]
fn an_event_that_nobody_changed_is_written_as_it_came() {
    for recording in recordings() {
        let incoming = recording.read();
        let written = incoming.write(&incoming.event).unwrap();
        assert_eq!(
            written.as_text(),
            Json::parse(&recording.text).unwrap().as_text(),
            "{}",
            recording.path.display()
        );
    }
}

/// Changes of one field of an event; each says where the host's bytes may differ.
fn changes(event: &Event) -> Vec<(&'static str, Event)> {
    let changed = |change: &dyn Fn(&mut Event)| {
        let mut event = event.clone();
        change(&mut event);
        event
    };
    let mut found = vec![
        ("session", changed(&|event| event.origin.session_id.push('X'))),
        ("cwd", changed(&|event| event.origin.cwd.push_str("/sub"))),
    ];
    match &event.payload {
        Payload::Tool(call) | Payload::ToolResult { call, .. } => {
            let fields = call.input.to_fields().unwrap_or_default();
            for (key, value) in fields.iter().filter(|(_, value)| value.as_str().is_some()) {
                let mut fields = fields.clone();
                fields.set(key, Json::string(&format!("{}+", value.as_str().unwrap())));
                let input = fields.to_json();
                found.push((
                    "input",
                    changed(&|event| match &mut event.payload {
                        Payload::Tool(call) | Payload::ToolResult { call, .. } => {
                            call.input = input.clone();
                        }
                        _ => unreachable!(),
                    }),
                ));
            }
        }
        Payload::Prompt(_) => found.push((
            "prompt",
            changed(&|event| {
                if let Payload::Prompt(prompt) = &mut event.payload {
                    prompt.push('!');
                }
            }),
        )),
        _ => {}
    }
    found
}

#[test]
fn one_changed_field_changes_one_place_of_the_payload_and_is_read_again() {
    for recording in recordings() {
        let incoming = recording.read();
        for (what, event) in changes(&incoming.event) {
            let name = format!("{} {what}", recording.path.display());
            let written = incoming.write(&event).unwrap_or_else(|| panic!("{name}"));
            let mut places = Vec::new();
            differences(incoming.payload(), &written, "", &mut places);
            // What the host does not send has no place there.
            let is_there = |defaults: &str| !defaults.is_empty();
            let expected = match what {
                "session" => usize::from(is_there(&incoming.event.origin.session_id)),
                "cwd" => usize::from(is_there(&incoming.event.origin.cwd)),
                _ => 1,
            };
            assert_eq!(places.len(), expected, "{name}: {places:?}");
            if expected == 1 {
                let bridge = recording.bridge;
                let again =
                    bridge.read(written.as_text(), Some(&recording.event), &Origin::default());
                let again = again.unwrap().event;
                assert_eq!(again.origin.session_id, event.origin.session_id, "{name}");
                assert_eq!(again.origin.cwd, event.origin.cwd, "{name}");
                assert_eq!(again.payload, event.payload, "{name}");
            }
        }
    }
}

#[test]
fn every_recorded_call_is_in_canonical_words() {
    for recording in recordings() {
        let event = recording.read().event;
        let Some(call) = event.tool_call() else { continue };
        let name = recording.path.display();
        if call.name == "Bash" {
            assert!(call.input.get("command").is_some_and(|it| it.as_str().is_some()), "{name}");
        }
        if matches!(call.name.as_str(), "Read" | "Write" | "Edit") {
            let paths = tenter_core::rules::paths_of(&call.name, &call.input);
            assert!(
                matches!(&paths, tenter_core::rules::ToolPaths::Known(paths) if !paths.is_empty()),
                "{name}: {paths:?}"
            );
        }
    }
}

#[test]
fn a_subagent_is_told_from_a_main_agent() {
    for recording in recordings() {
        let event = recording.read().event;
        if !matches!(event.kind, EventKind::SubagentStart | EventKind::SubagentStop) {
            // What a subagent does was recorded as `--sub-TOOL`; the call that starts it is its
            // parent's.
            let name = recording.path.file_stem().unwrap().to_str().unwrap().to_owned();
            if !name.contains("--sub") {
                assert!(!event.is_subagent(), "{name}");
            }
        }
    }
}
