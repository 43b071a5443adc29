//! Looks at what a killed agent has left: what it had shown, what it had done, what is resumed.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tenter_agent::{Agent, FolderStore, Message, Script, ScriptedProvider, ToolResult};

/// The events that were shown. What was cut off was not.
pub(crate) fn shown(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("stream")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The conversation as it is resumed.
pub(crate) fn resumed(folder: &Path) -> Vec<Message> {
    let provider = ScriptedProvider::new(Script::parse("").unwrap());
    let agent = Agent::builder("s", folder.join("project"), Arc::new(provider))
        .store(Arc::new(FolderStore::new(folder.join("state"))))
        .resume();
    match agent {
        Ok(agent) => agent.history().to_vec(),
        // Nothing was kept yet.
        Err(error) => {
            let file = std::fs::read(folder.join("state/s.jsonl")).unwrap_or_default();
            assert!(!file.contains(&b'\n'), "{error}");
            Vec::new()
        }
    }
}

/// Holds what is left against what was shown and done.
pub(crate) fn look_at(folder: &Path, at: &str) {
    let before = std::fs::read_to_string(folder.join("project/effects")).unwrap_or_default();
    let history = resumed(folder);
    assert_eq!(resumed(folder), history, "{at}: resumed twice, it is the same");

    let mut results: HashMap<&str, &ToolResult> = HashMap::new();
    let mut prompts = Vec::new();
    for (place, message) in history.iter().enumerate() {
        match message {
            Message::User { text, .. } => prompts.push(text.as_str()),
            Message::Assistant { calls, .. } if !calls.is_empty() => {
                let Some(Message::Results(given)) = history.get(place + 1) else {
                    unreachable!("{at}: calls without results");
                };
                let of = |one: &ToolResult| one.call_id.clone();
                let ids: Vec<_> = calls.iter().map(|call| call.id.clone()).collect();
                assert_eq!(given.iter().map(of).collect::<Vec<_>>(), ids, "{at}");
            }
            Message::Assistant { .. } => {}
            Message::Results(given) => {
                for one in given {
                    assert!(results.insert(&one.call_id, one).is_none(), "{at}: {}", one.call_id);
                }
            }
        }
    }

    // What was shown to be done is there, word for word.
    for event in shown(folder).iter().filter(|event| event["agent"]["depth"] == 0) {
        match event["type"].as_str().unwrap() {
            "user_prompt" => assert!(prompts.contains(&event["text"].as_str().unwrap()), "{at}"),
            "tool.result" => {
                let id = event["call_id"].as_str().unwrap();
                let kept = results.get(id).unwrap_or_else(|| unreachable!("{at}: {id} is lost"));
                assert_eq!(event["content"], kept.content, "{at}: {id}");
            }
            _ => {}
        }
    }

    // Nothing was done twice, and what was done is said to be, or that it may be.
    let after = std::fs::read_to_string(folder.join("project/effects")).unwrap_or_default();
    assert_eq!(after, before, "{at}: to resume runs nothing");
    for (effect, call) in [("one", "one"), ("two", "two"), ("three", "three"), ("four", "delegate")]
    {
        let times = after.lines().filter(|line| *line == effect).count();
        assert!(times <= 1, "{at}: {effect} was done {times} times");
        let said = results.get(call).map_or("", |result| result.content.as_str());
        let is_told = said.contains("done") || said.contains("may have done");
        assert!(times == 0 || is_told, "{at}: {effect} was done, and the model is told: {said:?}");
        assert!(times == 1 || !said.starts_with("done"), "{at}: {effect} was not done: {said:?}");
    }
}
