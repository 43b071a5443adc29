//! One effective input and one effective result, for stream, history, store and model.

use tenter::{EventKind, FunctionHook, Verdict};
use tenter_agent::{Message, Status};

use crate::support::*;

#[tokio::test]
async fn a_blocked_call_does_not_run_and_the_model_is_told_why() {
    let world = World::new(
        &bash(&["touch ran"]),
        vec![hook(EventKind::PreToolUse, |_| Verdict::deny("not here"))],
    );
    let mut agent = world.builder().start();
    let end = turn(&mut agent, "hi").await;
    assert_eq!(end.status, Status::Complete);
    assert!(!world.project().join("ran").exists());
    let result = &world.of("tool.result")[0];
    assert_eq!(result["content"], "permission denied: not here");
    assert_eq!((&result["executed"], &result["denied"]), (&false.into(), &true.into()));
    assert_eq!(result["hook"]["decision"], "deny");
    let blocked = &world.hook_events("PreToolUse")[0];
    assert_eq!((&blocked["effect"], &blocked["reason"]), (&"blocked".into(), &"not here".into()));
    assert_eq!(blocked["call_id"], result["call_id"]);
    assert_eq!(results(agent.history())[0].content, "permission denied: not here");
}

#[tokio::test]
async fn a_rewritten_input_is_what_runs_and_what_everybody_sees() {
    let rewrite = |_: &tenter::Event| patch(r#"{"command":"echo rewritten"}"#);
    let world = World::new(&bash(&["echo ORIGINAL"]), vec![hook(EventKind::PreToolUse, rewrite)]);
    let mut agent = world.builder().start();
    turn(&mut agent, "hi").await;
    assert_eq!(world.of("tool.call")[0]["input"]["command"], "echo ORIGINAL");
    let result = &world.of("tool.result")[0];
    assert_eq!(result["input"]["command"], "echo rewritten");
    assert_eq!(result["content"], "rewritten\n");
    assert_eq!(result["hook"]["input_rewrite"], true);
    let modified = &world.hook_events("PreToolUse")[0];
    assert_eq!(modified["effect"], "modified");
    assert_eq!(modified["payload"]["command"], "echo rewritten");
    let Message::Assistant { calls, .. } = &agent.history()[1] else { panic!("no answer") };
    assert_eq!(calls[0].input.as_text(), r#"{"command":"echo rewritten"}"#);
    assert!(!world.stored().contains("ORIGINAL") && !world.model_log().contains("ORIGINAL"));
}

#[tokio::test]
async fn a_rewrite_that_the_tool_would_not_take_is_refused() {
    let rewrite = |_: &tenter::Event| patch(r#"{"command":7}"#);
    let world = World::new(&bash(&["touch ran"]), vec![hook(EventKind::PreToolUse, rewrite)]);
    world.run("hi").await;
    let content = world.of("tool.result")[0]["content"].clone();
    assert!(content.as_str().unwrap().contains("`command` is a number"), "{content}");
    assert!(!world.project().join("ran").exists());
}

#[tokio::test]
async fn a_redacted_result_is_the_result_everywhere() {
    let redact = |event: &tenter::Event| match &event.payload {
        tenter::core::event::Payload::ToolResult { response, .. }
            if response.as_text().contains("SECRET") =>
        {
            patch(r#"{"content":"redacted","is_error":true}"#)
        }
        _ => Verdict::none(),
    };
    // A command that fails gives a failure, and what it printed is as secret.
    for script in ["cat file", "cat file; exit 3"] {
        let hooks = vec![FunctionHook::sync(
            "redact",
            [EventKind::PostToolUse, EventKind::PostToolUseFailure],
            redact,
        )];
        let world = World::new(&bash(&[script]), hooks);
        std::fs::write(world.project().join("file"), "the SECRET-VALUE").unwrap();
        let mut agent = world.builder().start();
        turn(&mut agent, "hi").await;
        let result = &world.of("tool.result")[0];
        assert_eq!((&result["content"], &result["is_error"]), (&"redacted".into(), &true.into()));
        assert_eq!(results(agent.history())[0].content, "redacted");
        let last = world.provider.log().pop().unwrap();
        assert_eq!(results(&last.messages)[0].content, "redacted");
        assert!(world.stored().contains("redacted"));
        let all = format!("{:?}{:?}", world.stream(), agent.history());
        let all = all + &world.stored() + &world.model_log();
        assert!(!all.contains("SECRET-VALUE"));
    }
}

#[tokio::test]
async fn a_block_after_the_tool_is_a_note_beside_its_result() {
    let world = World::new(
        &bash(&["echo out"]),
        vec![hook(EventKind::PostToolUse, |_| Verdict::deny("looks odd"))],
    );
    world.run("hi").await;
    assert_eq!(world.of("tool.result")[0]["content"], "out\n");
    let note = &world.hook_events("PostToolUse")[0];
    assert_eq!(note["effect"], "advisory");
    assert!(note["reason"].as_str().unwrap().contains("looks odd"));
}

#[tokio::test]
async fn a_halt_stops_the_turn_and_its_other_calls() {
    let halt = |event: &tenter::Event| match command(event).as_str() {
        "touch b" => Verdict::halt("enough"),
        _ => Verdict::none(),
    };
    let world = World::new(
        &bash(&["touch a", "touch b", "touch c"]),
        vec![hook(EventKind::PreToolUse, halt)],
    );
    let mut agent = world.builder().start();
    let end = turn(&mut agent, "hi").await;
    assert_eq!((end.status, end.reason.as_deref()), (Status::Halted, Some("enough")));
    let there = ["a", "b", "c"].map(|name| world.project().join(name).exists());
    assert_eq!(there, [true, false, false]);
    let contents: Vec<_> = results(agent.history()).into_iter().map(|one| one.content).collect();
    assert_eq!(contents, ["", "permission denied: enough", "not run: the turn was halted"]);
    assert_eq!(world.provider.log().len(), 1);
    assert_eq!(world.of("tool.call").len(), 3);
    assert_eq!(world.of("tool.result").len(), 3);
}

#[tokio::test]
async fn a_halt_at_the_gate_stops_reading_siblings_that_were_let_through() {
    let halt = |event: &tenter::Event| match event.tool_call().unwrap().input.as_text() {
        text if text.contains("\"b\"") => Verdict::halt("enough"),
        _ => Verdict::none(),
    };
    let script = "[[turn]]\n[[turn.call]]\ntool = \"Read\"\ninput = { file_path = \"a\" }\n\
                  [[turn.call]]\ntool = \"Read\"\ninput = { file_path = \"b\" }\n";
    let world = World::new(script, vec![hook(EventKind::PreToolUse, halt)]);
    std::fs::write(world.project().join("a"), "text of a").unwrap();
    let end = world.run("hi").await;
    assert_eq!(end.status, Status::Halted);
    assert_eq!(world.of("tool.call").len(), 2, "each call is shown once");
    assert_eq!(world.of("tool.result")[1]["executed"], false);
    assert!(!format!("{:?}", world.stream()).contains("text of a"));
}

#[tokio::test]
async fn a_halt_after_a_tool_keeps_its_result() {
    let world = World::new(
        &bash(&["echo out", "touch b"]),
        vec![hook(EventKind::PostToolUse, |_| Verdict::halt("that is it"))],
    );
    let end = world.run("hi").await;
    assert_eq!(end.status, Status::Halted);
    assert_eq!(world.of("tool.result")[0]["content"], "out\n");
    assert!(!world.project().join("b").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_calls_run_side_by_side_and_stand_in_their_order() {
    use std::sync::Arc;
    use tenter_agent::{Catalog, Tool, ToolContext, ToolOutput, ToolSpec};
    /// Comes to its end once both are there: the first of two only after the second.
    struct Meets(Arc<tokio::sync::Barrier>);
    impl Tool for Meets {
        fn spec(&self) -> ToolSpec {
            let schema = serde_json::json!({ "type": "object" });
            ToolSpec { name: "Meets".into(), description: String::new(), schema }
        }
        fn is_read_only(&self) -> bool {
            true
        }
        fn run<'a>(
            &'a self,
            input: &'a serde_json::Value,
            _: &'a ToolContext,
        ) -> futures_util::future::BoxFuture<'a, ToolOutput> {
            Box::pin(async move {
                self.0.wait().await;
                ToolOutput::ok(input["name"].as_str().unwrap())
            })
        }
    }
    let script = "[[turn]]\n[[turn.call]]\ntool = \"Meets\"\nid = \"x\"\ninput = { name = \"first\" }\n\
                  [[turn.call]]\ntool = \"Meets\"\nid = \"x\"\ninput = { name = \"second\" }\n\
                  [[turn]]\ntext = \"done\"\n";
    let world = World::new(script, vec![]);
    let mut catalog = Catalog::standard();
    catalog.put(Arc::new(Meets(Arc::new(tokio::sync::Barrier::new(2)))));
    let mut agent = world.builder().catalog(catalog).start();
    assert_eq!(turn(&mut agent, "hi").await.status, Status::Complete);
    let results = results(agent.history());
    let told: Vec<_> = results.iter().map(|one| (&*one.call_id, &*one.content)).collect();
    // The model gave both one id; here each has its own.
    assert_eq!(told, [("x", "first"), ("x-2", "second")]);
}

#[tokio::test]
async fn a_call_that_no_tool_takes_reaches_no_hook() {
    let seen = Seen::default();
    let script = "[[turn]]\n[[turn.call]]\ntool = \"Bahs\"\n[[turn.call]]\ntool = \"Bash\"\n\
                  input = { cmd = \"ls\" }\n[[turn]]\ntext = \"done\"\n";
    let world = World::new(script, seen.observers(&[EventKind::PreToolUse]));
    world.run("hi").await;
    let results = world.of("tool.result");
    assert!(results[0]["content"].as_str().unwrap().starts_with("there is no tool `Bahs`"));
    assert_eq!(results[1]["content"], "the input is not valid: `command` is missing");
    assert!(seen.all().is_empty());
}

#[tokio::test]
async fn a_tool_that_panics_is_a_tool_that_failed() {
    use tenter_agent::{Catalog, Tool, ToolContext, ToolOutput, ToolSpec};
    struct Panics;
    impl Tool for Panics {
        fn spec(&self) -> ToolSpec {
            let schema = serde_json::json!({ "type": "object" });
            ToolSpec { name: "Panics".into(), description: String::new(), schema }
        }
        fn run<'a>(
            &'a self,
            _: &'a serde_json::Value,
            _: &'a ToolContext,
        ) -> futures_util::future::BoxFuture<'a, ToolOutput> {
            Box::pin(async { panic!("on purpose") })
        }
    }
    let script = "[[turn]]\n[[turn.call]]\ntool = \"Panics\"\n[[turn]]\ntext = \"done\"\n";
    let world = World::new(script, vec![]);
    let mut catalog = Catalog::empty();
    catalog.put(std::sync::Arc::new(Panics));
    let mut agent = world.builder().catalog(catalog).start();
    assert_eq!(turn(&mut agent, "hi").await.status, Status::Complete);
    assert_eq!(results(agent.history())[0].content, "the tool Panics panicked");
}

#[tokio::test]
async fn the_file_tools_do_what_they_say() {
    let calls = [
        ("Write", r#"{ file_path = "a/b.txt", content = "one\ntwo\nthree\n" }"#),
        ("Edit", r#"{ file_path = "a/b.txt", old_string = "two", new_string = "2" }"#),
        ("Edit", r#"{ file_path = "a/b.txt", old_string = "e", new_string = "E" }"#),
        ("Read", r#"{ file_path = "a/b.txt", offset = 2, limit = 1 }"#),
        ("Read", r#"{ file_path = "nothing" }"#),
        ("Glob", r#"{ pattern = "**/*.txt" }"#),
        ("Grep", r#"{ pattern = "^t.ree", glob = "*.txt" }"#),
        ("AskUser", r#"{ question = "why?" }"#),
    ];
    let calls = calls
        .map(|(tool, input)| format!("[[turn.call]]\ntool = \"{tool}\"\ninput = {input}\n"))
        .concat();
    let world = World::new(&format!("[[turn]]\n{calls}[[turn]]\ntext = \"done\"\n"), vec![]);
    let mut agent = world.builder().human(Says::these(&[])).start();
    turn(&mut agent, "hi").await;
    let contents: Vec<_> = results(agent.history()).into_iter().map(|one| one.content).collect();
    assert_eq!(contents[0], "wrote 14 bytes to `a/b.txt`");
    assert_eq!(contents[1], "replaced 1 in `a/b.txt`");
    assert!(contents[2].starts_with("the text stands 3 times"), "{}", contents[2]);
    assert_eq!(contents[3], "2\n");
    assert!(contents[4].starts_with("`nothing` cannot be read"), "{}", contents[4]);
    assert_eq!(contents[5], "a/b.txt");
    assert_eq!(contents[6], "a/b.txt:3: three");
    assert_eq!(contents[7], "an answer to: why?");
}
