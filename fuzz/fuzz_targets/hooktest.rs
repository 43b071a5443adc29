//! A test file, and what its expectations make of an outcome. Reading never fails; every finding
//! points into the file, and what matches goes on matching when the outcome has more keys.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use tenter_hosts::native::config::hooktest::read;

/// The value with one more key in each of its objects.
fn with_more_keys(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(with_more_keys).collect(),
        Value::Object(object) => {
            let members = object.iter().map(|(key, value)| (key.clone(), with_more_keys(value)));
            members.chain([("\u{1}".to_owned(), Value::Null)]).collect()
        }
        other => other.clone(),
    }
}

fuzz_target!(|text: &str| {
    let file = read(text, "t.hooktest.toml", "/t");
    let lines = text.split('\n').count();
    for diagnostic in &file.diagnostics {
        assert!(!diagnostic.message.is_empty());
        let position = diagnostic.position.as_ref().expect("every finding has a place");
        assert!((1..=lines).contains(&position.line), "line {} of {lines}", position.line);
        assert!(text.get(position.span.clone()).is_some(), "a place is in the file");
    }
    assert!(file.has_errors() || !file.cases.is_empty(), "a file without a case is an error");
    let outcome = json!({
        "version": 1, "event": "PreToolUse", "decision": "deny", "halt": false, "reason": "no",
        "context": ["a", "b"], "rewritten": false, "payload": { "command": "ls", "a.b": 1.5 },
        "hooks": [{ "name": "h", "status": "ok", "signal": null }],
    });
    let more = with_more_keys(&outcome);
    for step in file.cases.iter().flat_map(|case| &case.steps) {
        let Some(expect) = &step.expect else { continue };
        if expect.mismatches(&outcome).is_empty()
            && !text.contains("\\u")
            && !text.contains('\u{1}')
        {
            assert!(expect.mismatches(&more).is_empty(), "more keys change nothing");
        }
    }
});
