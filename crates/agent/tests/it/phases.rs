//! When each event is fired, and what its block does.

use tenter::core::event::Payload;
use tenter::{EventKind, Verdict};
use tenter_agent::{Message, Status};

use crate::support::*;

const ONE: &str = "[[turn]]\ntext = [\"he\", \"llo\"]\n";

#[tokio::test]
async fn the_phases_come_in_their_order() {
    let seen = Seen::default();
    let kinds = [
        EventKind::SessionStart,
        EventKind::UserPromptSubmit,
        EventKind::PreToolUse,
        EventKind::PostToolUse,
        EventKind::Stop,
        EventKind::SessionEnd,
    ];
    let world = World::new(&bash(&["true"]), seen.observers(&kinds));
    let end = world.run("hi").await;
    assert_eq!((end.status, end.text.as_str()), (Status::Complete, "done"));
    let order = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
    assert_eq!(seen.all(), [&order[..], &["SessionEnd"]].concat());

    let types: Vec<_> =
        world.stream().iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    let without_hooks: Vec<_> = types.iter().filter(|kind| *kind != "hook").collect();
    assert_eq!(
        without_hooks,
        [
            "session.init",
            "user_prompt",
            "tool.call",
            "tool.result",
            "model.delta",
            "notification",
            "result"
        ]
    );
    for (at, event) in world.events().iter().enumerate() {
        assert_eq!(event.seq, at as u64 + 1);
    }
}

#[tokio::test]
async fn a_session_that_may_not_start_asks_no_model() {
    for verdict in [Verdict::deny("not today"), Verdict::halt("not today")] {
        let seen = Seen::default();
        let mut hooks = seen.observers(&[EventKind::UserPromptSubmit, EventKind::Stop]);
        hooks.push(hook(EventKind::SessionStart, move |_| verdict.clone()));
        let world = World::new(ONE, hooks);
        let end = world.run("hi").await;
        assert!(matches!(end.status, Status::Refused | Status::Halted));
        assert_eq!(end.reason.as_deref(), Some("not today"));
        assert!(world.provider.log().is_empty());
        assert_eq!(seen.all(), ["Stop"], "the prompt is not asked about; Stop says how it ended");
        assert_eq!(world.hook_events("SessionStart")[0]["effect"], "blocked");
    }
}

#[tokio::test]
async fn a_refused_prompt_is_recorded_nowhere() {
    let refuse = |_: &tenter::Event| Verdict::deny("no secrets in prompts");
    let world = World::new(ONE, vec![hook(EventKind::UserPromptSubmit, refuse)]);
    let mut agent = world.builder().start();
    let end = turn(&mut agent, "the PASSWORD").await;
    assert_eq!(end.status, Status::Refused);
    assert!(agent.history().is_empty() && world.provider.log().is_empty());
    assert!(!world.stored().contains("PASSWORD"));
    assert!(!format!("{:?}", world.stream()).contains("PASSWORD"));
}

#[tokio::test]
async fn a_rewritten_prompt_is_the_prompt_everywhere() {
    let rewrite = |_: &tenter::Event| patch(r#"{"prompt":"the effective one"}"#);
    let world = World::new(ONE, vec![hook(EventKind::UserPromptSubmit, rewrite)]);
    let mut agent = world.builder().start();
    turn(&mut agent, "the ORIGINAL").await;
    assert_eq!(agent.history()[0], Message::user("the effective one"));
    assert_eq!(world.of("user_prompt")[0]["text"], "the effective one");
    let everything = format!("{:?}{}{}", world.stream(), world.stored(), world.model_log());
    assert!(everything.contains("the effective one") && !everything.contains("ORIGINAL"));
}

#[tokio::test]
async fn what_hooks_tell_the_model_comes_with_the_prompt() {
    let hooks = vec![
        hook(EventKind::SessionStart, |_| Verdict::none().with_context("start")),
        hook(EventKind::UserPromptSubmit, |_| Verdict::none().with_context("prompt")),
    ];
    let world = World::new(&format!("{ONE}{ONE}"), hooks);
    let mut agent = world.builder().start();
    turn(&mut agent, "hi").await;
    turn(&mut agent, "again").await;
    let contexts: Vec<_> = agent
        .history()
        .iter()
        .filter_map(|message| match message {
            Message::User { context, .. } => Some(context.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(
        contexts,
        [vec!["start".to_owned(), "prompt".to_owned()], vec!["prompt".to_owned()]]
    );
}

#[tokio::test]
async fn a_command_is_expanded_before_the_hooks_see_the_prompt() {
    let seen = Seen::default();
    let saw = seen.clone();
    let look = move |event: &tenter::Event| {
        let Payload::Prompt(prompt) = &event.payload else { panic!("no prompt") };
        saw.push(prompt.clone());
        Verdict::none()
    };
    let world = World::new(&format!("{ONE}{ONE}"), vec![hook(EventKind::UserPromptSubmit, look)]);
    std::fs::create_dir_all(world.project().join(".tenter/commands")).unwrap();
    std::fs::write(world.project().join(".tenter/commands/fix.md"), "Mend $1 well.\n").unwrap();
    let mut agent = world.builder().start();
    turn(&mut agent, "/fix it").await;
    turn(&mut agent, "/unknown it").await;
    assert_eq!(seen.all(), ["Mend it well.", "/unknown it"]);
}

#[tokio::test]
async fn a_stop_hook_sends_the_turn_on_within_its_budget() {
    let seen = Seen::default();
    let saw = seen.clone();
    let never = move |event: &tenter::Event| {
        let Payload::Stop(facts) = &event.payload else { panic!("no stop") };
        saw.push(facts.stop_hook_active.to_string());
        Verdict::deny("there is more to do")
    };
    let script = format!("repeat_last = true\n{ONE}");
    let world = World::new(&script, vec![hook(EventKind::Stop, never)]);
    let end = world.run("hi").await;
    assert_eq!(end.status, Status::Complete);
    // Eight blocks in a row, and the ninth end stands.
    assert_eq!(world.provider.log().len(), 9);
    assert_eq!(
        (seen.all().len(), seen.all()[0].as_str(), seen.all()[1].as_str()),
        (9, "false", "true")
    );
    let last = world.provider.log().pop().unwrap();
    assert_eq!(last.messages[2], Message::user("there is more to do"));
}

#[tokio::test]
async fn steering_passes_the_hooks_on_prompts() {
    let screen = |event: &tenter::Event| match &event.payload {
        Payload::Prompt(prompt) if prompt.contains("BAD") => Verdict::deny("not that"),
        Payload::Prompt(prompt) if prompt == "louder" => patch(r#"{"prompt":"LOUDER"}"#),
        _ => Verdict::none(),
    };
    let world = World::new(&bash(&["true"]), vec![hook(EventKind::UserPromptSubmit, screen)]);
    let mut agent = world.builder().start();
    agent.steering().say("louder");
    agent.steering().say("BAD words");
    let end = turn(&mut agent, "hi").await;
    assert_eq!(end.status, Status::Complete);
    assert_eq!(agent.history()[1], Message::user("LOUDER"));
    let everything =
        format!("{:?}{}{}", world.of("user_prompt"), world.stored(), world.model_log());
    assert!(!everything.contains("BAD words") && !everything.contains("louder"));
    assert_eq!(world.of("user_prompt")[1]["steering"], true);
}

#[tokio::test]
async fn a_model_that_fails_ends_the_turn_and_stop_is_told() {
    let seen = Seen::default();
    let saw = seen.clone();
    let look = move |event: &tenter::Event| {
        let Payload::Stop(facts) = &event.payload else { panic!("no stop") };
        saw.push(facts.stop_reason.clone().unwrap_or_default());
        Verdict::deny("go on")
    };
    let world = World::new(
        "[[turn]]\ntext = \"a\"\nerror = \"overloaded\"",
        vec![hook(EventKind::Stop, look)],
    );
    let end = world.run("hi").await;
    assert_eq!((end.status, end.reason.as_deref()), (Status::Error, Some("overloaded")));
    assert_eq!(seen.all(), ["error"], "a block does not send on what did not end by itself");
}

#[tokio::test]
async fn notifications_come_in_their_order_and_are_seen_through() {
    let seen = Seen::default();
    let saw = seen.clone();
    let look = move |event: &tenter::Event| {
        saw.push(event.extra.get("notification_type").unwrap().as_str().unwrap());
        Verdict::none()
    };
    let mut world = World::new(&bash(&["true"]), vec![hook(EventKind::Notification, look)]);
    world.mode = tenter_agent::Mode::Default;
    let human = Says::these(&[tenter_agent::Answer::Allow]);
    let mut agent = world.builder().human(human).start();
    turn(&mut agent, "hi").await;
    assert_eq!(agent.end("exit", LIMIT).await, 0);
    assert_eq!(seen.all(), ["blocked", "done", "idle"]);
}

#[tokio::test]
async fn a_turn_that_goes_in_circles_ends() {
    let script = "repeat_last = true\n[[turn]]\n[[turn.call]]\ntool = \"Nothing\"";
    let world = World::new(script, vec![]);
    let mut agent = world.builder().most_samples(3).start();
    let end = turn(&mut agent, "hi").await;
    assert_eq!(end.status, Status::Limit);
    assert_eq!(world.provider.log().len(), 3);
}

#[tokio::test]
async fn what_is_said_while_a_stop_hook_is_asked_is_heard() {
    let said = std::sync::Arc::new(std::sync::Mutex::new(None::<tenter_agent::Steering>));
    let says = std::sync::Arc::clone(&said);
    let stop = hook(EventKind::Stop, move |_| {
        if let Some(steering) = says.lock().unwrap().take() {
            steering.say("one more thing");
        }
        Verdict::none()
    });
    let world = World::new("[[turn]]\ntext = \"a\"\n[[turn]]\ntext = \"b\"\n", vec![stop]);
    let mut agent = world.builder().start();
    *said.lock().unwrap() = Some(agent.steering());
    assert_eq!(turn(&mut agent, "hi").await.text, "b");
    assert_eq!(world.of("user_prompt")[1]["text"], "one more thing");
}

/// Hooks of somebody's own that do not keep to what is asked of them.
struct Unruly {
    hangs: bool,
}

impl tenter::HookRunner for Unruly {
    fn run<'a>(
        &'a self,
        event: &'a tenter::Event,
        _: &'a tenter::RunContext,
    ) -> futures_util::future::BoxFuture<'a, tenter::Outcome> {
        if !self.mask().contains(&event.kind) {
            return Box::pin(std::future::ready(tenter::Outcome::proceed(event.kind.clone())));
        }
        assert!(self.hangs, "{} is too much", event.kind);
        Box::pin(std::future::pending())
    }

    fn mask(&self) -> tenter::EventMask {
        tenter::EventMask::EMPTY.with(&EventKind::SessionEnd).with(&EventKind::Notification)
    }

    fn only_tells(&self, kind: &EventKind) -> bool {
        *kind == EventKind::Notification
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_whatever_its_hooks_do() {
    for hangs in [false, true] {
        let world = World::new(ONE, vec![]);
        let mut agent = world.builder().hooks(std::sync::Arc::new(Unruly { hangs })).start();
        let end = turn(&mut agent, "hi").await;
        assert_eq!(end.status, Status::Complete);
        agent.end("exit", LIMIT).await;
    }
}
