//! A process that ends while a human is being asked, and the one after it.

use std::sync::Arc;

use tenter::{
    CancellationToken, Engine, Event, EventKind, FunctionHook, Level, Rule, RuleSet, Verdict,
};
use tenter_agent::{Agent, Answer, Message, Mode, Status};

use crate::support::*;

/// Lets an agent work until it asks, and drops it then, as if its process had ended.
async fn dropped_while_asking(build: impl FnOnce(Arc<Silent>) -> Agent) {
    let human = Arc::new(Silent::default());
    let mut agent = build(Arc::clone(&human));
    let cancel = CancellationToken::new();
    tokio::select! {
        end = agent.turn("hi", &cancel) => panic!("it ended: {end:?}"),
        () = human.0.notified() => {}
        () = tokio::time::sleep(LIMIT) => panic!("it never asked"),
    }
}

async fn start_and_drop(world: &World) {
    dropped_while_asking(|human| world.builder().human(human).start()).await;
}

/// Asks about the second of three calls, and notes what it hears of.
fn asks_about_b(seen: &Seen) -> Vec<FunctionHook> {
    let note = |kind: EventKind, asks: bool| {
        let seen = seen.clone();
        hook(kind, move |event| {
            seen.push(format!("{} {}", event.kind, command(event)));
            match command(event).as_str() {
                "echo b >>ran" if asks => Verdict::ask("really b?").with_context("mind b"),
                _ => Verdict::none(),
            }
        })
    };
    let prompts = hook(EventKind::UserPromptSubmit, {
        let seen = seen.clone();
        move |_| {
            seen.push("prompt");
            Verdict::none()
        }
    });
    vec![note(EventKind::PreToolUse, true), note(EventKind::PostToolUse, false), prompts]
}

fn three() -> String {
    bash(&["echo a >>ran", "echo b >>ran", "echo c >>ran"])
}

fn ran(world: &World) -> String {
    std::fs::read_to_string(world.project().join("ran")).unwrap()
}

fn contents(agent: &Agent) -> Vec<String> {
    results(agent.history()).into_iter().map(|one| one.content).collect()
}

#[tokio::test]
async fn k80_the_question_is_put_again_and_an_allowed_call_runs_once() {
    for host in ["tenter", "mecatl"] {
        let seen = Seen::default();
        let world = World::on_host(host, &three(), asks_about_b(&seen), RuleSet::new());
        start_and_drop(&world).await;
        assert_eq!(ran(&world), "a\n", "{host}");
        let before = seen.all();
        assert_eq!(before.last().unwrap(), "PreToolUse echo b >>ran");
        let asked = world.of("permission.ask").pop().unwrap();

        let human = Says::these(&[Answer::Allow]);
        let mut agent = world.builder().human(human.clone()).resume().unwrap();
        assert_eq!(turn(&mut agent, "go on").await.status, Status::Complete);
        assert_eq!(ran(&world), "a\nb\n", "{host}: once, and its sibling not at all");
        let questions = human.questions();
        assert_eq!(questions.len(), 1);
        assert_eq!(asked["call_id"], *questions[0].call_id.as_ref().unwrap());
        assert_eq!(asked["input"]["command"], "echo b >>ran");
        assert_eq!(questions[0].input.as_text(), r#"{"command":"echo b >>ran"}"#);
        assert_eq!(questions[0].reason, asked["reason"]);
        let again = world.of("permission.ask").pop().unwrap();
        for field in ["call_id", "tool", "input", "reason", "asked_by"] {
            assert_eq!(again[field], asked[field], "{host}: {field}");
        }
        // The question comes before anything else, and its call passes no gate a second time.
        assert_eq!(seen.all()[before.len()..], ["PostToolUse echo b >>ran", "prompt"], "{host}");

        let told = results(agent.history());
        assert_eq!(told.len(), 3);
        assert!(!told[0].is_error && !told[1].is_error);
        assert!(told[2].content.starts_with("aborted: "), "{}", told[2].content);
        let Message::Assistant { calls, .. } = &agent.history()[1] else { panic!("no answer") };
        let ids: Vec<_> = told.iter().map(|one| &one.call_id).collect();
        assert_eq!(calls.iter().map(|call| &call.id).collect::<Vec<_>>(), ids);
        assert_eq!(agent.history()[3], Message::user("go on"));

        // What is stored now has no open question, and says the same.
        let history = agent.history().to_vec();
        drop(agent);
        assert_eq!(world.builder().resume().unwrap().history(), history);
    }
}

#[tokio::test]
async fn k80_what_hooks_told_comes_with_the_result() {
    let world = World::new(&three(), asks_about_b(&Seen::default()));
    start_and_drop(&world).await;
    let mut agent = world.builder().human(Says::these(&[Answer::Allow])).resume().unwrap();
    turn(&mut agent, "go on").await;
    assert_eq!(results(agent.history())[1].context, ["mind b"]);
}

#[tokio::test]
async fn k80_a_denied_call_does_not_run_and_nobody_there_means_no() {
    for human in [Some(Says::these(&[Answer::Deny])), None] {
        let seen = Seen::default();
        let world = World::new(&three(), asks_about_b(&seen));
        start_and_drop(&world).await;
        let mut builder = world.builder();
        if let Some(human) = human {
            builder = builder.human(human);
        }
        let mut agent = builder.resume().unwrap();
        assert_eq!(turn(&mut agent, "go on").await.status, Status::Complete);
        assert_eq!(ran(&world), "a\n");
        assert!(contents(&agent)[1].starts_with("permission denied: really b?"));
        assert!(!seen.all().contains(&"PostToolUse echo b >>ran".into()));
    }
}

#[tokio::test]
async fn b81_of_two_calls_of_one_tool_the_one_that_was_asked_about_runs() {
    let asks = hook(EventKind::PreToolUse, |event| match event.origin.call_id.as_deref() {
        Some("two") => Verdict::ask("really?"),
        _ => Verdict::none(),
    });
    let read = |id: &str| {
        format!(
            "[[turn.call]]\ntool = \"Read\"\nid = \"{id}\"\ninput = {{ file_path = \"{id}\" }}\n"
        )
    };
    let script = format!(
        "[[turn]]\n{}{}{}[[turn]]\ntext = \"done\"\n",
        read("one"),
        read("two"),
        read("three")
    );
    let world = World::new(&script, vec![asks]);
    for name in ["one", "two", "three"] {
        std::fs::write(world.project().join(name), format!("text of {name}")).unwrap();
    }
    start_and_drop(&world).await;
    let mut agent = world.builder().human(Says::these(&[Answer::Allow])).resume().unwrap();
    turn(&mut agent, "go on").await;
    let told = results(agent.history());
    let ids: Vec<_> = told.iter().map(|one| &*one.call_id).collect();
    assert_eq!(ids, ["one", "two", "three"]);
    // The first was let through and had not begun: its leave died with the process.
    assert!(told[0].content.starts_with("aborted: "), "{}", told[0].content);
    assert_eq!(told[1].content, "text of two");
    assert!(told[2].content.starts_with("aborted: "), "{}", told[2].content);
}

#[tokio::test]
async fn a_question_is_kept_with_the_effective_input_alone() {
    let hooks = vec![
        hook(EventKind::PreToolUse, |_| patch(r#"{"command":"echo clean"}"#)),
        hook(EventKind::PreToolUse, |_| Verdict::ask("really?")),
    ];
    let world = World::new(&bash(&["echo SECRET-VALUE"]), hooks);
    start_and_drop(&world).await;
    assert!(world.stored().contains("echo clean"), "{}", world.stored());
    assert!(!world.stored().contains("SECRET-VALUE"));
    let mut agent = world.builder().human(Says::these(&[Answer::Allow])).resume().unwrap();
    turn(&mut agent, "go on").await;
    assert_eq!(contents(&agent), ["clean\n"]);
}

#[tokio::test]
async fn a_question_that_comes_before_the_hooks_is_not_kept() {
    let rules = || {
        let mut rules = RuleSet::new();
        rules.add_ask(Rule::parse("Bash(echo *)").unwrap(), Level::User, "test");
        rules
    };
    let world = World::on_host("mecatl", &bash(&["echo SECRET-VALUE"]), vec![], rules());
    start_and_drop(&world).await;
    // No hook has looked at this input, so it is written nowhere, and its call is not run.
    assert!(!world.stored().contains("SECRET-VALUE"), "{}", world.stored());
    let human = Says::these(&[]);
    let mut agent = world.builder().human(human.clone()).resume().unwrap();
    turn(&mut agent, "go on").await;
    assert!(human.questions().is_empty());
    assert!(contents(&agent)[0].starts_with("aborted: "));
}

#[tokio::test]
async fn a_question_of_the_policy_is_put_again_too_and_its_always_counts() {
    let script = format!("{}{}", bash(&["echo b"]), bash(&["echo b"]));
    let mut world = World::new(&script, vec![]);
    world.mode = Mode::Default;
    start_and_drop(&world).await;
    let human = Says::these(&[Answer::Always]);
    let mut agent = world.builder().human(human.clone()).resume().unwrap();
    turn(&mut agent, "go on").await;
    turn(&mut agent, "again").await;
    assert_eq!(contents(&agent), ["b\n", "b\n"]);
    assert_eq!(human.questions().len(), 1);
}

#[tokio::test]
async fn what_is_forbidden_by_now_is_not_asked_about() {
    let seen = Seen::default();
    let world = World::new(&three(), asks_about_b(&seen));
    start_and_drop(&world).await;
    let mut rules = RuleSet::new();
    rules.add_deny(Rule::parse("Bash(echo b*)").unwrap(), Level::User, "test");
    let engine = Engine::builder().rules(rules).project("/tmp").build();
    let human = Says::these(&[]);
    let policy = Arc::new(tenter_agent::RulesPolicy::new(engine, Mode::Bypass));
    let builder = world.builder().human(human.clone()).policy(policy);
    let mut agent = builder.resume().unwrap();
    turn(&mut agent, "go on").await;
    assert!(human.questions().is_empty());
    assert_eq!(ran(&world), "a\n");
    assert!(contents(&agent)[1].contains("Bash(echo b*)"), "{:?}", contents(&agent));
}

#[tokio::test]
async fn a_question_outlives_more_than_one_process() {
    let world = World::new(&three(), asks_about_b(&Seen::default()));
    start_and_drop(&world).await;
    dropped_while_asking(|human| world.builder().human(human).resume().unwrap()).await;
    let human = Says::these(&[Answer::Allow]);
    let mut agent = world.builder().human(human.clone()).resume().unwrap();
    turn(&mut agent, "go on").await;
    assert_eq!(human.questions().len(), 1);
    assert_eq!(ran(&world), "a\nb\n");
    assert_eq!(results(agent.history()).len(), 3);
}

#[tokio::test]
async fn a_question_of_an_agent_below_is_not_put_again() {
    let asks = |event: &Event| match event.tool_name() {
        Some("Bash") => Verdict::ask("really?"),
        _ => Verdict::none(),
    };
    let script = "[[turn]]\n[[turn.call]]\ntool = \"Agent\"\ninput = { prompt = \"p\" }\n\
                  [[turn]]\ntext = \"done\"\n\
                  [[turn]]\nagent = \"general\"\n[[turn.call]]\ntool = \"Bash\"\n\
                  input = { command = \"echo b >>ran\" }\n";
    let world = World::new(script, vec![hook(EventKind::PreToolUse, asks)]);
    start_and_drop(&world).await;
    let human = Says::these(&[]);
    let mut agent = world.builder().human(human.clone()).resume().unwrap();
    turn(&mut agent, "go on").await;
    assert!(human.questions().is_empty());
    assert!(contents(&agent)[0].contains("may have done its work"), "{:?}", contents(&agent));
    assert!(!world.project().join("ran").exists());
}

#[tokio::test]
async fn an_interrupt_while_it_is_put_again_ends_the_call_for_good() {
    let world = World::new(&three(), asks_about_b(&Seen::default()));
    start_and_drop(&world).await;
    let human = Arc::new(Silent::default());
    let mut agent = world.builder().human(human.clone()).resume().unwrap();
    let cancel = CancellationToken::new();
    let end = {
        let turn = agent.turn("go on", &cancel);
        tokio::pin!(turn);
        tokio::select! {
            end = &mut turn => panic!("it ended: {end:?}"),
            () = human.0.notified() => cancel.cancel(),
        }
        tokio::time::timeout(LIMIT, turn).await.unwrap()
    };
    assert_eq!(end.status, Status::Cancelled);
    assert_eq!(contents(&agent)[1], "not run: the turn was cancelled");
    assert_eq!(turn(&mut agent, "on").await.status, Status::Complete);
    assert_eq!(ran(&world), "a\n");
}

#[tokio::test]
async fn a_conversation_with_an_open_question_is_not_summarised() {
    let seen = Seen::default();
    let world = World::on_host("tenter", &three(), asks_about_b(&seen), RuleSet::new());
    start_and_drop(&world).await;
    let human = Says::these(&[Answer::Allow]);
    let mut agent = world.builder().human(human).resume().unwrap();
    let before = agent.history().to_vec();
    let compacted = agent.compact("", &CancellationToken::new()).await;
    assert!(matches!(compacted, tenter_agent::Compacted::Skipped { .. }), "{compacted:?}");
    assert_eq!(agent.history(), before);
    assert_eq!(turn(&mut agent, "go on").await.status, Status::Complete);
    assert_eq!(ran(&world), "a\nb\n", "the question is put, and the call runs");
}
