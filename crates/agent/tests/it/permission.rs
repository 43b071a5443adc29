//! Who may say that a call runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::BoxFuture;
use tenter::{ApprovalLearner, Engine, Event, EventKind, Level, Rule, RuleSet, Verdict};
use tenter_agent::{Answer, Mode};

use crate::support::*;

fn default_mode(mut world: World) -> World {
    world.mode = Mode::Default;
    world
}

fn contents(world: &World) -> Vec<String> {
    let content = |event: &serde_json::Value| event["content"].as_str().unwrap().to_owned();
    world.of("tool.result").iter().map(content).collect()
}

#[tokio::test]
async fn nobody_there_means_no() {
    let world = default_mode(World::new(&bash(&["touch ran"]), vec![]));
    world.run("hi").await;
    assert!(!world.project().join("ran").exists());
    assert!(contents(&world)[0].starts_with("permission denied: no rule allows this call of Bash"));
    assert!(world.of("permission.ask").is_empty(), "nobody is asked");
    assert_eq!(world.of("approval")[0]["by"], "headless");
}

#[tokio::test]
async fn a_human_answers_once_or_for_good() {
    let script = bash(&["echo 1", "echo 2", "echo 2", "echo 2 ", "echo 3"]);
    let world = default_mode(World::new(&script, vec![]));
    let human = Says::these(&[Answer::Allow, Answer::Always, Answer::Allow, Answer::Deny]);
    let mut agent = world.builder().human(human.clone()).start();
    turn(&mut agent, "hi").await;
    assert_eq!(contents(&world)[..4], ["1\n", "2\n", "2\n", "2\n"]);
    assert_eq!(contents(&world)[4], "permission denied: the user said no");
    // The waiver is for the very call: a blank more is another one.
    assert_eq!(human.questions().len(), 4);
    let by: Vec<_> = world.of("approval").iter().map(|one| one["by"].clone()).collect();
    assert_eq!(by, ["human", "human", "waiver", "human", "human"]);
    assert!(!world.stored().contains("always"), "a waiver is never kept");
}

#[tokio::test]
async fn an_askable_block_is_a_question_and_without_a_human_a_denial() {
    #[derive(Default)]
    struct Learner(AtomicUsize);
    impl ApprovalLearner for Learner {
        fn learn<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, ()> {
            assert_eq!(event.origin.session_id, "s");
            self.0.fetch_add(1, Ordering::SeqCst);
            Box::pin(std::future::ready(()))
        }
    }
    let ask = |_: &Event| Verdict::ask("are you sure?");
    for (answer, ran, learnt) in
        [(Some(Answer::Always), true, 1), (Some(Answer::Deny), false, 0), (None, false, 0)]
    {
        let world = World::new(&bash(&["touch ran"]), vec![hook(EventKind::PreToolUse, ask)]);
        let learner = Arc::new(Learner::default());
        let mut builder = world.builder().learner(learner.clone());
        if let Some(answer) = answer {
            builder = builder.human(Says::these(&[answer]));
        }
        let mut agent = builder.start();
        turn(&mut agent, "hi").await;
        assert_eq!(world.project().join("ran").exists(), ran, "{answer:?}");
        assert_eq!(learner.0.load(Ordering::SeqCst), learnt);
        let asks = world.of("permission.ask");
        assert_eq!(asks.len(), usize::from(answer.is_some()), "nobody is asked if nobody is there");
        for ask in asks {
            let from = (&ask["asked_by"], &ask["reason"]);
            assert_eq!(from, (&"hook".into(), &"are you sure?".into()));
        }
        if !ran {
            assert!(contents(&world)[0].starts_with("permission denied: are you sure?"));
        }
    }
}

fn rules() -> RuleSet {
    let mut rules = RuleSet::new();
    rules.add_deny(Rule::parse("Bash(rm *)").unwrap(), Level::User, "test");
    rules.add_ask(Rule::parse("Bash(git push *)").unwrap(), Level::User, "test");
    rules
}

#[tokio::test]
async fn a_deny_rule_comes_before_hooks_and_holds_for_what_they_make() {
    let seen = Seen::default();
    let mut hooks = seen.observers(&[EventKind::PreToolUse]);
    let launder = |event: &Event| match command(event).as_str() {
        "echo x" => patch(r#"{"command":"rm x"}"#),
        _ => Verdict::allow(),
    };
    hooks.push(hook(EventKind::PreToolUse, launder));
    let engine = Engine::builder().functions(hooks).rules(rules()).project("/tmp");
    let world = World::with_engine(&bash(&["rm x", "echo x"]), engine);
    std::fs::write(world.project().join("x"), "").unwrap();
    world.run("hi").await;
    assert!(world.project().join("x").exists());
    assert!(
        contents(&world).iter().all(|content| content.contains("Bash(rm *)")),
        "{:?}",
        contents(&world)
    );
    assert_eq!(seen.all().first().map(String::as_str), Some("PreToolUse"));
    assert!(world.of("tool.result")[0]["hook"].is_null(), "no hook was asked about the first");
}

#[tokio::test]
async fn a_hook_s_allow_answers_an_ask_and_spares_the_human() {
    let allow = |_: &Event| Verdict::allow();
    let world =
        default_mode(World::new(&bash(&["echo ok"]), vec![hook(EventKind::PreToolUse, allow)]));
    world.run("hi").await;
    assert_eq!(contents(&world), ["ok\n"]);
    assert!(world.of("permission.ask").is_empty());
}

#[tokio::test]
async fn hooks_can_answer_the_question() {
    for (answer, ran) in [(Verdict::allow(), true), (Verdict::deny("no"), false)] {
        let world = default_mode(World::new(
            &bash(&["touch ran"]),
            vec![hook(EventKind::PermissionRequest, move |_| answer.clone())],
        ));
        let human = Says::these(&[]);
        let mut agent = world.builder().human(human.clone()).start();
        turn(&mut agent, "hi").await;
        assert_eq!(world.project().join("ran").exists(), ran);
        assert!(human.questions().is_empty());
        assert_eq!(world.of("approval")[0]["by"], "hook");
    }
}

#[tokio::test]
async fn planning_changes_nothing() {
    let mut world = World::new(&bash(&["touch ran"]), vec![]);
    world.mode = Mode::Plan;
    let mut agent = world.builder().human(Says::these(&[])).start();
    turn(&mut agent, "hi").await;
    assert!(!world.project().join("ran").exists());
    assert!(contents(&world)[0].contains("not for planning"));
}
