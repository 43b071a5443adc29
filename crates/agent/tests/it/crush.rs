//! Behaviours of crush's page that need a loop. The numbers are the page's.

use tenter::{Event, EventKind, RuleSet, Verdict};
use tenter_agent::{Answer, Message, Mode, Status};

use crate::support::*;

#[tokio::test]
async fn b78_both_inputs_are_in_the_record_and_the_new_one_is_checked() {
    for (json, ran) in [(r#"{"command":"echo new"}"#, true), (r#"{"command":7}"#, false)] {
        let rewrite = move |_: &Event| patch(json);
        let hooks = vec![hook(EventKind::PreToolUse, rewrite)];
        let world = World::on_host("crush", &bash(&["echo old"]), hooks, RuleSet::new());
        let mut agent = world.builder().start();
        turn(&mut agent, "hi").await;

        let digest = |text: &str| {
            let input = tenter::Json::parse(text).unwrap();
            let none = tenter::Outcome::proceed(EventKind::PreToolUse);
            tenter::record::Record::of(&Event::pre_tool("Bash", input), &none).payload_sha256
        };
        let records = world.record.records();
        let record = records.iter().find(|one| one.event == "PreToolUse").unwrap();
        assert_eq!(record.payload_sha256, digest(r#"{"command":"echo old"}"#));
        assert_eq!(record.rewritten_sha256, digest(json));

        let result = &world.of("tool.result")[0];
        assert_eq!(result["executed"], ran);
        assert_eq!(world.of("tool.call")[0]["input"]["command"], "echo old");
        if ran {
            assert_eq!(
                (&result["content"], &result["input"]["command"]),
                (&"new\n".into(), &"echo new".into())
            );
            let Message::Assistant { calls, .. } = &agent.history()[1] else { panic!("no answer") };
            assert_eq!(calls[0].input.as_text(), json);
        } else {
            let content = result["content"].as_str().unwrap();
            assert!(content.contains("`command` is a number"), "{content}");
        }
    }
}

#[tokio::test]
async fn an_allow_is_for_this_one_call() {
    let once = |event: &Event| match event.origin.call_id.as_deref() {
        Some("first") => Verdict::allow(),
        _ => Verdict::none(),
    };
    let call = |id: &str| {
        format!(
            "[[turn.call]]\ntool = \"Bash\"\nid = \"{id}\"\ninput = {{ command = \"echo x\" }}\n"
        )
    };
    let script =
        format!("[[turn]]\n{}{}[[turn]]\ntext = \"done\"\n", call("first"), call("second"));
    let hooks = vec![hook(EventKind::PreToolUse, once)];
    let mut world = World::on_host("crush", &script, hooks, RuleSet::new());
    world.mode = Mode::Default;
    let human = Says::these(&[Answer::Deny]);
    let mut agent = world.builder().human(human.clone()).start();
    turn(&mut agent, "hi").await;
    let asked: Vec<_> = human.questions().into_iter().map(|one| one.call_id.unwrap()).collect();
    assert_eq!(asked, ["second"]);
    let ran: Vec<_> = world.of("tool.result").iter().map(|one| one["executed"].clone()).collect();
    assert_eq!(ran, [true, false]);
}

#[tokio::test]
async fn a_result_carries_what_hooks_did() {
    let allow = hook(EventKind::PreToolUse, |_| {
        patch(r#"{"command":"echo new"}"#).with_context("beside it")
    });
    let silent = hook(EventKind::PreToolUse, |_| Verdict::none());
    let hooks = vec![allow, silent];
    let world = World::on_host("crush", &bash(&["echo old"]), hooks, RuleSet::new());
    world.run("hi").await;
    let result = &world.of("tool.result")[0];
    assert_eq!(result["context"], serde_json::json!(["beside it"]));
    let summary = &result["hook"];
    assert_eq!((&summary["hook_count"], &summary["input_rewrite"]), (&2.into(), &true.into()));
    let rewrites: Vec<_> =
        summary["hooks"].as_array().unwrap().iter().map(|one| one["rewrite"].clone()).collect();
    assert_eq!(rewrites, [true, false]);
}

#[tokio::test]
async fn a_halt_ends_the_turn_with_its_other_calls() {
    let halt = |event: &Event| match command(event).as_str() {
        "touch b" => Verdict::halt("enough"),
        _ => Verdict::none(),
    };
    let script = bash(&["touch a", "touch b", "touch c"]);
    let hooks = vec![hook(EventKind::PreToolUse, halt)];
    let world = World::on_host("crush", &script, hooks, RuleSet::new());
    let end = world.run("hi").await;
    assert_eq!((end.status, end.reason.as_deref()), (Status::Halted, Some("enough")));
    let there = ["a", "b", "c"].map(|name| world.project().join(name).exists());
    assert_eq!(there, [true, false, false]);
    assert_eq!(world.of("tool.result")[1]["hook"]["halt"], true);
    assert_eq!(world.provider.log().len(), 1, "the model is not asked again");
}
