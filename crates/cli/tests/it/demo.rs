//! `tenter demo`: what it shows, to people and to programs.

use serde_json::Value;

use crate::support::Home;

fn stream() -> Vec<Value> {
    let said = Home::new().tenter(&["demo", "--json"]).run();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said}");
    said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn all<'a>(stream: &'a [Value], kind: &str) -> Vec<&'a Value> {
    stream.iter().filter(|event| event["type"] == kind).collect()
}

#[test]
fn the_stream_shows_every_promise() {
    let stream = stream();
    for (at, event) in stream.iter().enumerate() {
        assert_eq!(event["seq"], at + 1);
    }
    let results = all(&stream, "tool.result");
    let result_of =
        |call: &Value| *results.iter().find(|one| one["call_id"] == call["call_id"]).unwrap();

    // A guard denies, and the model is told why; a subagent is stopped by the same hook.
    let blocked: Vec<_> = all(&stream, "hook")
        .into_iter()
        .filter(|event| event["event"] == "PreToolUse" && event["effect"] == "blocked")
        .collect();
    let depths: Vec<_> = blocked.iter().map(|event| event["agent"]["depth"].clone()).collect();
    assert_eq!(depths, [0, 1]);
    for event in &blocked {
        let result = result_of(event);
        assert!(
            result["content"].as_str().unwrap().starts_with("permission denied: Nobody forces")
        );
        assert_eq!((&result["executed"], &result["denied"]), (&false.into(), &true.into()));
        assert_eq!(event["hooks"][0]["name"], "no-force-push");
    }

    // A call runs with another input than the model's.
    let changed: Vec<_> = all(&stream, "tool.call")
        .into_iter()
        .filter(|call| result_of(call)["input"] != call["input"])
        .collect();
    assert_eq!(changed.len(), 1);
    assert_eq!(result_of(changed[0])["content"], "built with: --locked\n");

    // What was read is not what is shown.
    assert!(!stream.iter().any(|event| event.to_string().contains("TENTER-DEMO-SECRET")));
    assert!(results.iter().any(|one| one["content"] == "[a secret was taken out here]"));

    // The turn is sent back once, and the model is asked in between.
    let is_stop = |event: &&Value| event["type"] == "hook" && event["event"] == "Stop";
    let stops: Vec<_> = stream.iter().filter(is_stop).collect();
    assert_eq!(stops.len(), 2);
    assert_eq!((&stops[0]["effect"], &stops[1]["effect"]), (&"blocked".into(), &"info".into()));
    let between = |event: &Value| {
        (stops[0]["seq"].as_u64()..stops[1]["seq"].as_u64()).contains(&event["seq"].as_u64())
    };
    assert!(stream.iter().any(|event| between(event) && event["type"] == "model.delta"));
    assert_eq!(all(&stream, "result")[0]["status"], "complete");
}

#[test]
fn people_see_a_timeline_and_nothing_is_left() {
    let home = Home::new();
    let tmp = home.root().join("tmp");
    std::fs::create_dir(&tmp).unwrap();
    let shown = tmp.display().to_string();
    let said = home.tenter(&["demo"]).env("TMPDIR", &shown).run();
    insta::assert_snapshot!(said.to_string());
    assert_eq!(std::fs::read_dir(&tmp).unwrap().count(), 0);
    assert!(!home.state().join("tenter").exists());
}
