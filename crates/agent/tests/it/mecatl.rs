//! Behaviours of mecatl's page that need a loop. The numbers are the page's; `k` keeps what the
//! original does, `b` does better.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use tenter::core::event::Payload;
use tenter::{
    ApprovalLearner, CancellationToken, Event, EventKind, FunctionHook, Level, Rule, RuleSet,
    Verdict,
};
use tenter_agent::{
    Agent, Answer, Delta, EventSink, Human, Mode, Provider, ProviderError, Question, Request,
    RulesPolicy, ScriptedProvider, Status,
};

use crate::support::*;

const HELLO: &str = "[[turn]]\ntext = \"hello\"\n";

fn mecatl(script: &str, hooks: Vec<FunctionHook>) -> World {
    World::on_host("mecatl", script, hooks, RuleSet::new())
}

/// A world whose user has rules: `rm` is denied, `touch` asked about.
fn ruled(script: &str, hooks: Vec<FunctionHook>) -> World {
    let mut rules = RuleSet::new();
    rules.add_deny(Rule::parse("Bash(rm *)").unwrap(), Level::User, "test");
    rules.add_ask(Rule::parse("Bash(touch *)").unwrap(), Level::User, "test");
    World::on_host("mecatl", script, hooks, rules)
}

fn contents(world: &World) -> Vec<String> {
    let content = |event: &serde_json::Value| event["content"].as_str().unwrap().to_owned();
    world.of("tool.result").iter().map(content).collect()
}

fn asks() -> FunctionHook {
    hook(EventKind::PreToolUse, |_| Verdict::ask("are you sure?"))
}

/// Reads of these files in one answer.
fn reads(names: &[&str]) -> String {
    let call = |name: &&str| {
        format!(
            "[[turn.call]]\ntool = \"Read\"\nid = \"{name}\"\ninput = {{ file_path = \"{name}\" }}\n"
        )
    };
    let calls: String = names.iter().map(call).collect();
    format!("[[turn]]\n{calls}[[turn]]\ntext = \"done\"\n")
}

fn with_files(world: World, names: &[&str]) -> World {
    for name in names {
        std::fs::write(world.project().join(name), format!("text of {name}")).unwrap();
    }
    world
}

#[tokio::test]
async fn k34_b38_a_session_starts_once_before_anything_else() {
    let world = {
        let seen = Seen::default();
        let kinds = [EventKind::SessionStart, EventKind::UserPromptSubmit];
        let world = mecatl(&HELLO.repeat(3), seen.observers(&kinds));
        let mut agent = world.builder().start();
        turn(&mut agent, "one").await;
        turn(&mut agent, "two").await;
        assert_eq!(seen.all(), ["SessionStart", "UserPromptSubmit", "UserPromptSubmit"]);
        drop(agent);
        let mut agent = world.builder().resume().unwrap();
        turn(&mut agent, "three").await;
        assert_eq!(seen.all().iter().filter(|kind| *kind == "SessionStart").count(), 1);
        world
    };
    // Nothing was recorded and no model asked when it was fired.
    let types: Vec<_> = world.stream().iter().map(|one| one["type"].clone()).collect();
    let at = |kind: &str| types.iter().position(|one| one == kind).unwrap();
    assert!(at("hook") < at("user_prompt") && at("user_prompt") < at("model.delta"));
}

#[tokio::test]
async fn k36_a_session_that_may_not_start_hears_no_prompt_and_stops_once() {
    for start in [
        hook(EventKind::SessionStart, |_| Verdict::deny("not today")),
        hook(EventKind::SessionStart, |_| panic!("on purpose")),
    ] {
        let seen = Seen::default();
        let mut hooks = seen.observers(&[EventKind::UserPromptSubmit, EventKind::Stop]);
        hooks.push(start);
        let world = mecatl(HELLO, hooks);
        let mut agent = world.builder().start();
        assert_eq!(turn(&mut agent, "hi").await.status, Status::Refused);
        assert!(agent.history().is_empty() && world.provider.log().is_empty());
        assert_eq!(world.hook_events("SessionStart")[0]["effect"], "blocked");
        assert_eq!(agent.end("exit", LIMIT).await, 0);
        assert_eq!(seen.all(), ["Stop"]);
    }
}

#[tokio::test]
async fn k45_a_refused_prompt_still_stops_once_and_after() {
    for prompt in [
        hook(EventKind::UserPromptSubmit, |_| Verdict::deny("not that")),
        hook(EventKind::UserPromptSubmit, |_| panic!("on purpose")),
    ] {
        let seen = Seen::default();
        let mut hooks = seen.observers(&[EventKind::UserPromptSubmit, EventKind::Stop]);
        hooks.push(prompt);
        let world = mecatl(HELLO, hooks);
        let end = world.run("hi").await;
        assert_eq!(end.status, Status::Refused);
        assert!(world.provider.log().is_empty());
        assert_eq!(seen.all(), ["UserPromptSubmit", "Stop"]);
    }
}

#[tokio::test]
async fn b47_what_is_said_meanwhile_passes_the_same_phase() {
    let screen = |event: &Event| match &event.payload {
        Payload::Prompt(prompt) if prompt.contains("BAD") => Verdict::deny("not that"),
        Payload::Prompt(prompt) if prompt == "louder" => patch(r#"{"prompt":"LOUDER"}"#),
        _ => Verdict::none(),
    };
    let world = mecatl(&bash(&["true"]), vec![hook(EventKind::UserPromptSubmit, screen)]);
    let mut agent = world.builder().start();
    agent.steering().say("louder");
    agent.steering().say("BAD words");
    assert_eq!(turn(&mut agent, "hi").await.status, Status::Complete);
    world.assert_nowhere(&agent, "BAD words");
    world.assert_nowhere(&agent, "louder");
    assert_eq!(world.of("user_prompt")[1]["text"], "LOUDER");
}

#[tokio::test]
async fn k52_k53_k54_the_question_comes_before_the_hook() {
    for (answer, heard) in [(Answer::Allow, true), (Answer::Deny, false)] {
        let seen = Seen::default();
        let saw = seen.clone();
        let note = hook(EventKind::PreToolUse, move |event| {
            saw.push(command(event));
            Verdict::none()
        });
        let world = ruled(&bash(&["rm x", "touch ran"]), vec![note]);
        let human = Says::these(&[answer]);
        let mut agent = world.builder().human(human.clone()).start();
        turn(&mut agent, "hi").await;
        assert_eq!(human.questions().len(), 1, "a denied call is no question");
        assert_eq!(seen.all().len(), usize::from(heard), "{:?}", seen.all());
        assert_eq!(world.project().join("ran").exists(), heard);
        let types: Vec<_> = world.stream().iter().map(|one| one["type"].clone()).collect();
        let at = |kind: &str| types.iter().position(|one| one == kind);
        if heard {
            assert!(at("approval") < at("hook"), "{types:?}");
        } else {
            assert_eq!(at("hook"), None);
        }
    }
}

#[tokio::test]
async fn k62_a_tool_that_is_not_there_is_no_call() {
    let seen = Seen::default();
    let kinds = [EventKind::PreToolUse, EventKind::PostToolUse, EventKind::PostToolUseFailure];
    let script = "[[turn]]\n[[turn.call]]\ntool = \"Bahs\"\n[[turn]]\ntext = \"done\"\n";
    let world = mecatl(script, seen.observers(&kinds));
    world.run("hi").await;
    assert!(seen.all().is_empty());
    let result = &world.of("tool.result")[0];
    assert_eq!((&result["is_error"], &result["executed"]), (&true.into(), &false.into()));
}

#[tokio::test]
async fn k63_k64_gates_come_one_by_one_before_the_batch_and_results_in_their_order() {
    let seen = Seen::default();
    let gate = |kind: EventKind| {
        let seen = seen.clone();
        hook(kind, move |event| {
            let id = event.origin.call_id.clone().unwrap();
            seen.push(format!("{} {id}", event.kind));
            match (&event.kind, id.as_str()) {
                (EventKind::PreToolUse, "b") => Verdict::deny("not b"),
                _ => Verdict::none(),
            }
        })
    };
    let hooks = vec![gate(EventKind::PreToolUse), gate(EventKind::PostToolUse)];
    let names = ["a", "b", "c"];
    let world = with_files(mecatl(&reads(&names), hooks), &names);
    let mut agent = world.builder().start();
    turn(&mut agent, "hi").await;
    let seen = seen.all();
    assert_eq!(seen[..3], ["PreToolUse a", "PreToolUse b", "PreToolUse c"]);
    assert_eq!(seen.len(), 5, "{seen:?}");
    let told = results(agent.history());
    let told: Vec<_> = told.iter().map(|one| (&*one.call_id, &*one.content)).collect();
    let expected = [("a", "text of a"), ("b", "permission denied: not b"), ("c", "text of c")];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn k65_a_run_that_is_cancelled_at_the_gate_starts_no_tool() {
    let cancel = CancellationToken::new();
    let (trigger, seen) = (cancel.clone(), Seen::default());
    let mut hooks = seen.observers(&[EventKind::PostToolUse]);
    hooks.push(hook(EventKind::PreToolUse, move |_| {
        trigger.cancel();
        Verdict::allow()
    }));
    let world = mecatl(&bash(&["touch ran", "touch ran"]), hooks);
    let mut agent = world.builder().start();
    assert_eq!(agent.turn("hi", &cancel).await.status, Status::Cancelled);
    assert!(!world.project().join("ran").exists() && seen.all().is_empty());
    assert_eq!(contents(&world), ["not run: the turn was cancelled"; 2]);
}

#[derive(Default)]
struct Counts(AtomicUsize);

impl ApprovalLearner for Counts {
    fn learn<'a>(&'a self, _: &'a Event) -> BoxFuture<'a, ()> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn k69_k71_what_is_allowed_once_runs_once_and_what_is_denied_does_not() {
    for (answer, ran) in [(Answer::Allow, true), (Answer::Deny, false)] {
        let seen = Seen::default();
        let mut hooks = seen.observers(&[EventKind::PreToolUse]);
        hooks.push(asks());
        let world = mecatl(&bash(&["echo x >>ran"]), hooks);
        let learner = Arc::new(Counts::default());
        let builder = world.builder().human(Says::these(&[answer])).learner(learner.clone());
        let mut agent = builder.start();
        turn(&mut agent, "hi").await;
        let file = std::fs::read_to_string(world.project().join("ran"));
        assert_eq!(file.ok().as_deref(), ran.then_some("x\n"));
        assert_eq!(seen.all().len(), 1, "the hook is not asked a second time");
        assert_eq!(learner.0.load(Ordering::SeqCst), 0, "once is nothing to learn");
        let result = &world.of("tool.result")[0];
        assert_eq!((&result["executed"], &result["denied"]), (&ran.into(), &(!ran).into()));
        assert_eq!(result["input"]["command"], "echo x >>ran");
        if !ran {
            assert_eq!(result["content"], "permission denied: are you sure?");
        }
    }
}

#[tokio::test]
async fn k72_without_a_human_a_question_is_a_denial_and_nobody_is_asked() {
    let world = mecatl(&bash(&["touch ran"]), vec![asks()]);
    world.run("hi").await;
    assert!(!world.project().join("ran").exists());
    assert!(world.of("permission.ask").is_empty());
    assert!(contents(&world)[0].starts_with("permission denied: are you sure?"));
}

#[tokio::test]
async fn k76_without_a_learner_an_always_runs_the_call() {
    let world = mecatl(&bash(&["echo ok", "echo ok"]), vec![asks()]);
    let human = Says::these(&[Answer::Always, Answer::Deny]);
    let mut agent = world.builder().human(human.clone()).start();
    turn(&mut agent, "hi").await;
    assert_eq!(contents(&world), ["ok\n", "permission denied: are you sure?"]);
    assert_eq!(human.questions().len(), 2, "nobody has learnt it");
}

#[tokio::test]
async fn k79_the_session_learns_the_very_call() {
    let world = mecatl(&bash(&["echo ok", "echo ok", "echo ok "]), vec![asks()]);
    let human = Says::these(&[Answer::Always, Answer::Deny]);
    let learner = Arc::new(world.session.clone());
    let mut agent = world.builder().human(human.clone()).learner(learner).start();
    turn(&mut agent, "hi").await;
    assert_eq!(contents(&world), ["ok\n", "ok\n", "permission denied: are you sure?"]);
    assert_eq!(human.questions().len(), 2);
}

#[tokio::test]
async fn k77_a_question_that_is_cancelled_has_no_answer() {
    let world = mecatl(&bash(&["touch ran"]), vec![asks()]);
    let human = Arc::new(Silent::default());
    let mut agent = world.builder().human(human.clone()).start();
    let cancel = CancellationToken::new();
    let end = {
        let turn = agent.turn("hi", &cancel);
        tokio::pin!(turn);
        tokio::select! {
            end = &mut turn => panic!("it ended: {end:?}"),
            () = human.0.notified() => cancel.cancel(),
        }
        tokio::time::timeout(LIMIT, turn).await.unwrap()
    };
    assert_eq!(end.status, Status::Cancelled);
    assert!(world.of("approval").is_empty());
    assert_eq!(contents(&world), ["not run: the turn was cancelled"]);
    assert!(!world.project().join("ran").exists());
}

/// A human who takes a while, and notes it if two questions come at once.
#[derive(Default)]
struct OneAtATime {
    asking: AtomicUsize,
    most: AtomicUsize,
}

impl Human for OneAtATime {
    fn is_there(&self) -> bool {
        true
    }

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async {
            let now = self.asking.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            // Another question would come meanwhile, if it could.
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.asking.fetch_sub(1, Ordering::SeqCst);
            Answer::Allow
        })
    }

    fn words<'a>(&'a self, _: &'a str, _: &'a [String]) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}

#[tokio::test]
async fn k78_questions_come_one_after_the_other() {
    let of = |agent: &str| {
        format!(
            "[[turn]]\nagent = \"{agent}\"\n[[turn.call]]\ntool = \"Bash\"\ninput = {{ command = \"true\" }}\n\
             [[turn.call]]\ntool = \"Bash\"\ninput = {{ command = \"true\" }}\n\
             [[turn]]\nagent = \"{agent}\"\ntext = \"end\"\n"
        )
    };
    let branches = "[[turn]]\n[[turn.call]]\ntool = \"Parallel\"\n\
                    input = { branches = [{ prompt = \"1\", agent_type = \"x\" }, { prompt = \"2\", agent_type = \"y\" }] }\n\
                    [[turn]]\ntext = \"done\"\n";
    let script = branches.to_owned() + &of("x") + &of("y");
    let ask = |event: &Event| match event.tool_name() {
        Some("Bash") => Verdict::ask("sure?"),
        _ => Verdict::none(),
    };
    let world = mecatl(&script, vec![hook(EventKind::PreToolUse, ask)]);
    let human = Arc::new(OneAtATime::default());
    let mut agent = world.builder().human(human.clone()).start();
    assert_eq!(turn(&mut agent, "hi").await.status, Status::Complete);
    assert_eq!(human.most.load(Ordering::SeqCst), 1);
    // On the stream each is answered before the next one is put.
    let words: Vec<_> = world
        .stream()
        .iter()
        .filter(|one| one["type"] == "permission.ask" || one["type"] == "approval")
        .map(|one| (one["type"].as_str().unwrap().to_owned(), one["call_id"].clone()))
        .collect();
    assert_eq!(words.len(), 8);
    for pair in words.chunks(2) {
        assert_eq!((pair[0].0.as_str(), pair[1].0.as_str()), ("permission.ask", "approval"));
        assert_eq!(pair[0].1, pair[1].1);
    }
}

#[tokio::test]
async fn k83_an_answer_that_is_none_is_a_denial() {
    struct Fails;
    impl Human for Fails {
        fn is_there(&self) -> bool {
            true
        }
        fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
            panic!("the terminal is gone")
        }
        fn words<'a>(&'a self, _: &'a str, _: &'a [String]) -> BoxFuture<'a, Option<String>> {
            Box::pin(std::future::ready(None))
        }
    }
    let world = mecatl(&bash(&["touch ran"]), vec![asks()]);
    let mut agent = world.builder().human(Arc::new(Fails)).start();
    assert_eq!(turn(&mut agent, "hi").await.status, Status::Complete);
    assert!(!world.project().join("ran").exists());
    assert_eq!(world.of("approval")[0]["verdict"], "deny");
    assert_eq!(contents(&world), ["permission denied: are you sure?"]);
}

#[tokio::test]
async fn k91_k96_each_result_of_parallel_calls_gets_its_own_rewrite() {
    let rewrite = |event: &Event| {
        let id = event.origin.call_id.as_deref().unwrap();
        patch(&format!(r#"{{"content":"rewritten {id}"}}"#))
    };
    let kinds = [EventKind::PostToolUse, EventKind::PostToolUseFailure];
    let hooks = vec![FunctionHook::sync("rewrite", kinds, rewrite)];
    // The last file is not there: a tool that failed has a result as well.
    let world = with_files(mecatl(&reads(&["a", "b", "gone"]), hooks), &["a", "b"]);
    let mut agent = world.builder().start();
    turn(&mut agent, "hi").await;
    let told = results(agent.history());
    let told: Vec<_> =
        told.iter().map(|one| (&*one.call_id, &*one.content, one.is_error)).collect();
    let expected = [
        ("a", "rewritten a", false),
        ("b", "rewritten b", false),
        ("gone", "rewritten gone", true),
    ];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn k97_what_did_not_run_has_no_result_for_hooks() {
    let seen = Seen::default();
    let mut hooks = seen.observers(&[EventKind::PostToolUse, EventKind::PostToolUseFailure]);
    hooks.push(hook(EventKind::PreToolUse, |event| match command(event).as_str() {
        "echo hook" => Verdict::deny("no"),
        _ => Verdict::none(),
    }));
    let world = ruled(&bash(&["echo hook", "rm x", "touch ran"]), hooks);
    let mut agent = world.builder().human(Says::these(&[Answer::Deny])).start();
    turn(&mut agent, "hi").await;
    assert!(contents(&world).iter().all(|content| content.starts_with("permission denied: ")));
    assert!(seen.all().is_empty());
}

#[tokio::test]
async fn k98_k99_stop_is_fired_once_however_a_turn_ends() {
    let circles = "repeat_last = true\n[[turn]]\n[[turn.call]]\ntool = \"Glob\"\ninput = { pattern = \"*\" }\n";
    for (script, status) in [
        (HELLO, Status::Complete),
        (circles, Status::Limit),
        ("[[turn]]\nerror = \"overloaded\"\n", Status::Error),
        ("[[turn]]\ntext = \"half\"\nhang = true\n", Status::Cancelled),
    ] {
        let seen = Seen::default();
        let saw = seen.clone();
        let note = hook(EventKind::Stop, move |event| {
            let Payload::Stop(facts) = &event.payload else { panic!("no stop") };
            saw.push(facts.stop_reason.clone().unwrap());
            Verdict::deny("an end is an end")
        });
        let world = mecatl(script, vec![note]);
        let mut agent = world.builder().most_samples(3).start();
        let cancel = CancellationToken::new();
        let stop = async {
            while status == Status::Cancelled && world.of("model.delta").is_empty() {
                tokio::task::yield_now().await;
            }
            if status == Status::Cancelled {
                cancel.cancel();
            }
        };
        let (end, ()) = tokio::join!(agent.turn("hi", &cancel), stop);
        assert_eq!(end.status, status);
        assert_eq!(agent.end("exit", LIMIT).await, 0);
        assert_eq!(seen.all(), [status.as_str()]);
    }
}

#[tokio::test]
async fn b100_a_slow_stop_hook_holds_up_no_result() {
    let (release, seen) = (Arc::new(tokio::sync::Notify::new()), Seen::default());
    let (waits, saw) = (Arc::clone(&release), seen.clone());
    let slow = FunctionHook::future("slow", [EventKind::Stop], move |_| {
        let (waits, saw) = (Arc::clone(&waits), saw.clone());
        async move {
            waits.notified().await;
            saw.push("ended");
            Verdict::none()
        }
    });
    let world = mecatl(HELLO, vec![slow]);
    let mut agent = world.builder().start();
    assert_eq!(turn(&mut agent, "hi").await.status, Status::Complete);
    assert_eq!(world.of("result")[0]["status"], "complete");
    // The hook waits for us: had the turn waited for it, its time would be up by now.
    release.notify_one();
    assert_eq!(agent.end("exit", LIMIT).await, 0);
    assert_eq!(seen.all(), ["ended"]);
}

#[tokio::test]
async fn k102_k103_the_end_of_a_child_is_told_and_changes_nothing_above() {
    for (turns, reason) in [
        ("[[turn]]\nagent = \"general\"\ntext = \"end\"\n", "complete"),
        ("[[turn]]\nagent = \"general\"\nerror = \"overloaded\"\n", "error"),
    ] {
        let seen = Seen::default();
        let saw = seen.clone();
        let note = hook(EventKind::SubagentStop, move |event| {
            let Payload::Stop(facts) = &event.payload else { panic!("no stop") };
            let id = event.origin.agent.as_ref().and_then(|agent| agent.id.clone());
            saw.push(format!("{id:?} {:?}", facts.stop_reason));
            Verdict::deny("go on")
        });
        let script = "[[turn]]\n[[turn.call]]\ntool = \"Agent\"\ninput = { prompt = \"p\" }\n\
                      [[turn]]\ntext = \"done\"\n";
        let world = mecatl(&format!("{script}{turns}"), vec![note]);
        let end = world.run("hi").await;
        assert_eq!((end.status, end.text.as_str()), (Status::Complete, "done"));
        assert_eq!(seen.all(), [format!("{:?} {:?}", Some("agent-1"), Some(reason))]);
    }
}

#[tokio::test]
async fn k127_without_hooks_a_run_is_a_run() {
    let world = mecatl(&bash(&["echo ok"]), vec![]);
    let builder = world.builder().hooks(Arc::new(tenter::NoHooks));
    let mut agent = builder.start();
    assert_eq!(turn(&mut agent, "hi").await.status, Status::Complete);
    assert_eq!(contents(&world), ["ok\n"]);
    assert!(world.of("hook").is_empty());
    assert_eq!(agent.end("exit", LIMIT).await, 0);
}

/// The members' turns are each one answer.
fn team(members: &str, turns: &str) -> String {
    format!(
        "[[turn]]\n[[turn.call]]\ntool = \"Team\"\ninput = {{ members = [{members}] }}\n\
         [[turn]]\ntext = \"done\"\n{turns}"
    )
}

#[tokio::test]
async fn k105_a_member_that_was_stopped_or_has_mail_is_not_idle() {
    let fails = "[[turn]]\nagent = \"ann\"\nerror = \"overloaded\"\n";
    let circles =
        "[[turn]]\nagent = \"ann\"\n[[turn.call]]\ntool = \"Glob\"\ninput = { pattern = \"*\" }\n";
    let ends = "[[turn]]\nagent = \"ann\"\ntext = \"end\"\n";
    let only_ann = "{ name = \"ann\", prompt = \"p\" }";
    let halts = "[[turn]]\nagent = \"ann\"\n[[turn.call]]\ntool = \"Bash\"\ninput = { command = \"true\" }\n";
    for (turns, idle) in [(fails, 0), (circles, 0), (halts, 0), (ends, 1)] {
        let seen = Seen::default();
        let mut hooks = seen.observers(&[EventKind::TeammateIdle]);
        hooks.push(hook(EventKind::PreToolUse, |event| match event.tool_name() {
            Some("Bash") => Verdict::halt("enough"),
            _ => Verdict::none(),
        }));
        let world = mecatl(&team(only_ann, turns), hooks);
        let mut agent = world.builder().most_samples(2).start();
        turn(&mut agent, "hi").await;
        agent.end("exit", LIMIT).await;
        assert_eq!(seen.all().len(), idle, "{turns}");
    }
}

/// A model whose first words to `ann` come once she has a message.
struct Later(ScriptedProvider, Arc<tokio::sync::Notify>, AtomicUsize);

impl Provider for Later {
    fn name(&self) -> &'static str {
        "later"
    }

    fn model(&self) -> &'static str {
        "script"
    }

    fn stream(&self, request: Request) -> BoxStream<'_, Result<Delta, ProviderError>> {
        let waits = request.agent.id == "ann" && self.2.fetch_add(1, Ordering::SeqCst) == 0;
        let words = self.0.stream(request);
        if !waits {
            return words;
        }
        let sent = stream::once(self.1.notified()).filter_map(|()| async { None });
        sent.chain(words).boxed()
    }
}

#[tokio::test]
async fn k105_a_member_with_mail_is_not_idle_yet() {
    let (idle, sent) = (Seen::default(), Arc::new(tokio::sync::Notify::new()));
    let (saw, tells) = (idle.clone(), Arc::clone(&sent));
    let hooks = vec![
        hook(EventKind::TeammateIdle, move |event| {
            saw.push(event.extra.get("teammate_name").unwrap().as_str().unwrap());
            Verdict::none()
        }),
        hook(EventKind::PostToolUse, move |event| {
            if event.tool_name() == Some("SendMessage") {
                tells.notify_one();
            }
            Verdict::none()
        }),
    ];
    let turns = "[[turn]]\nagent = \"ann\"\ntext = \"one\"\n\
                 [[turn]]\nagent = \"ann\"\ntext = \"two\"\n\
                 [[turn]]\nagent = \"bob\"\n[[turn.call]]\ntool = \"SendMessage\"\n\
                 input = { to = \"ann\", text = \"over to you\" }\n\
                 [[turn]]\nagent = \"bob\"\ntext = \"sent\"\n";
    let members = "{ name = \"ann\", prompt = \"1\" }, { name = \"bob\", prompt = \"2\" }";
    let world = mecatl(&team(members, turns), hooks);
    let model = Arc::new(Later(world.provider.clone(), sent, AtomicUsize::new(0)));
    let mut agent = Agent::builder("s", world.project(), model)
        .hooks(Arc::new(world.session.clone()))
        .policy(Arc::new(RulesPolicy::mode_only(Mode::Bypass)))
        .sink(Arc::clone(&world.sink) as Arc<dyn EventSink>)
        .start();
    turn(&mut agent, "hi").await;
    assert_eq!(agent.end("exit", LIMIT).await, 0);
    assert!(contents(&world).contains(&"ann: two\nbob: sent".to_owned()), "{:?}", contents(&world));
    assert_eq!(idle.all(), ["bob", "ann"]);
}

#[tokio::test]
async fn k105_a_member_that_is_cancelled_is_not_idle() {
    let seen = Seen::default();
    let hangs = "[[turn]]\nagent = \"ann\"\ntext = \"half\"\nhang = true\n";
    let script = team("{ name = \"ann\", prompt = \"p\" }", hangs);
    let world = mecatl(&script, seen.observers(&[EventKind::TeammateIdle]));
    let mut agent = world.builder().start();
    let cancel = CancellationToken::new();
    let stop = async {
        while world.of("model.delta").is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(agent.turn("hi", &cancel), stop);
    assert_eq!(end.status, Status::Cancelled);
    agent.end("exit", LIMIT).await;
    assert!(seen.all().is_empty());
}

#[tokio::test]
async fn k111_b113_a_gate_is_told_who_acts() {
    let seen = Seen::default();
    let gate = |kind: EventKind| {
        let seen = seen.clone();
        hook(kind, move |event| {
            let task = event.extra.get("task").unwrap();
            let by = task.get("by").unwrap().as_str().unwrap().into_owned();
            let actor = event.origin.agent.as_ref().and_then(|agent| agent.id.clone());
            seen.push(format!("{} {by} {actor:?} {}", event.kind, event.origin.session_id));
            Verdict::none()
        })
    };
    let hooks = vec![gate(EventKind::TaskCreated), gate(EventKind::TaskCompleted)];
    // The main agent creates what a member completes.
    let script = "[[turn]]\n[[turn.call]]\ntool = \"TaskAdd\"\ninput = { description = \"d\" }\n\
                  [[turn.call]]\ntool = \"Team\"\ninput = { members = [{ name = \"ann\", prompt = \"p\" }] }\n\
                  [[turn]]\ntext = \"done\"\n\
                  [[turn]]\nagent = \"ann\"\n[[turn.call]]\ntool = \"TaskClaim\"\n\
                  [[turn.call]]\ntool = \"TaskComplete\"\ninput = { id = \"task-1\" }\n\
                  [[turn]]\nagent = \"ann\"\ntext = \"end\"\n";
    let world = mecatl(script, hooks);
    world.run("hi").await;
    assert_eq!(seen.all(), ["TaskCreated main None s", r#"TaskCompleted ann Some("ann") s"#]);
    let completed = world.of("tool.result").iter().any(|one| one["content"] == "completed task-1");
    assert!(completed, "{:?}", contents(&world));
}

#[tokio::test]
async fn b112_gates_are_asked_about_what_can_be_done() {
    let seen = Seen::default();
    let hooks = seen.observers(&[EventKind::TaskCreated, EventKind::TaskCompleted]);
    let call =
        |tool: &str, input: &str| format!("[[turn.call]]\ntool = \"{tool}\"\ninput = {input}\n");
    let calls = [
        call("TaskAdd", "{ description = \"d\", deps = [\"task-9\"] }"),
        call("TaskComplete", "{ id = \"task-9\" }"),
        call("TaskAdd", "{ description = \"d\" }"),
        call("TaskComplete", "{ id = \"task-2\" }"),
        call("TaskAdd", "{ description = \"e\", deps = [\"task-1\"] }"),
        call("TaskClaim", "{ id = \"task-1\" }"),
        call("TaskComplete", "{ id = \"task-1\" }"),
        call("TaskComplete", "{ id = \"task-1\" }"),
    ]
    .concat();
    let world = mecatl(&format!("[[turn]]\n{calls}[[turn]]\ntext = \"done\"\n"), hooks);
    world.run("hi").await;
    let contents = contents(&world);
    let done: Vec<_> = contents.iter().filter(|content| content.contains("ed task-")).collect();
    assert_eq!(done, ["added task-1", "added task-2", "claimed task-1: d", "completed task-1"]);
    assert_eq!(seen.all(), ["TaskCreated", "TaskCreated", "TaskCompleted"], "{contents:?}");
}
