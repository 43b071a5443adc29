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
    // Nobody is asked, so nobody answers.
    assert!(world.of("permission.ask").is_empty() && world.of("approval").is_empty());
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
        assert_answered(&world);
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

/// Every answer has its question, in this order, and every question one answer.
fn assert_answered(world: &World) {
    let mut open: Vec<serde_json::Value> = Vec::new();
    for event in world.stream() {
        match event["type"].as_str() {
            Some("permission.ask") => open.push(event["call_id"].clone()),
            Some("approval") => {
                let at = open.iter().position(|id| *id == event["call_id"]);
                open.swap_remove(at.expect("an answer has a question"));
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "a question has an answer: {open:?}");
}

#[tokio::test]
async fn a_question_about_a_prompt_is_on_the_stream_and_the_prompt_is_not() {
    for (answer, turns) in [(Some(Answer::Allow), 1), (Some(Answer::Deny), 0), (None, 0)] {
        let ask = |_: &Event| Verdict::ask("is this wise?");
        let world = World::new(&bash(&["echo 1"]), vec![hook(EventKind::UserPromptSubmit, ask)]);
        let mut builder = world.builder();
        if let Some(answer) = answer {
            builder = builder.human(Says::these(&[answer]));
        }
        let mut agent = builder.start();
        turn(&mut agent, "a secret prompt").await;
        let asks = world.of("permission.ask");
        assert_eq!(asks.len(), usize::from(answer.is_some()));
        for asked in asks {
            assert_eq!((&asked["tool"], &asked["asked_by"]), (&"prompt".into(), &"hook".into()));
            assert_eq!(asked["reason"], "is this wise?");
            assert!(!asked.to_string().contains("secret"));
        }
        assert_answered(&world);
        assert_eq!(world.of("user_prompt").len(), turns);
    }
}

#[tokio::test]
async fn what_a_hook_on_the_question_makes_of_a_call_passes_the_guards_before_the_tool() {
    // What a guard says of the other command, who is then asked, and whether it runs.
    type Case<'a> = (fn() -> Verdict, &'a [Answer], bool);
    let cases: [Case<'_>; 4] = [
        (|| Verdict::deny("not that one"), &[], false),
        (|| Verdict::halt("enough"), &[], false),
        (|| Verdict::ask("that one?"), &[Answer::Allow], true),
        (|| Verdict::ask("that one?"), &[Answer::Deny], false),
    ];
    for (said, answers, ran) in cases {
        let guard = move |event: &Event| match command(event).as_str() {
            "touch other" => said(),
            _ => Verdict::none(),
        };
        let on_question = |_: &Event| {
            let mut verdict = patch(r#"{"command":"touch other"}"#);
            verdict.decision = tenter::Decision::Allow;
            verdict
        };
        let hooks = vec![
            hook(EventKind::PreToolUse, guard),
            hook(EventKind::PermissionRequest, on_question),
        ];
        let world = default_mode(World::new(&bash(&["touch one"]), hooks));
        let human = Says::these(answers);
        let mut agent = world.builder().human(human.clone()).start();
        turn(&mut agent, "hi").await;
        assert_eq!(world.project().join("other").exists(), ran, "{:?}", said());
        assert!(!world.project().join("one").exists());
        assert_eq!(human.questions().len(), answers.len());
        for question in human.questions() {
            assert_eq!(question.input.get("command").unwrap().as_text(), r#""touch other""#);
        }
        if answers.is_empty() {
            let why = said().reason.unwrap();
            assert_eq!(contents(&world), [format!("permission denied: {why}")]);
        }
        assert_answered(&world);
    }
}
