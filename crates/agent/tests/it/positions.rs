//! Where permission rules stand beside hooks, host by host, and what an allow of a hook is worth.

use std::sync::Arc;

use tenter::core::profile::Permission;
use tenter::{Engine, Event, EventKind, FunctionHook, Level, Rule, RuleSet, Verdict};
use tenter_agent::{Answer, Mode, PermissionPolicy, PolicyCall, Ruling};

use crate::support::*;

/// `rm` is denied, `git push` asked about, both by the user.
fn rules() -> RuleSet {
    let mut rules = RuleSet::new();
    rules.add_deny(Rule::parse("Bash(rm *)").unwrap(), Level::User, "test");
    rules.add_ask(Rule::parse("Bash(git push *)").unwrap(), Level::User, "test");
    rules
}

/// A hook that notes the commands it is asked about and answers.
fn noting(seen: &Seen, answer: impl Fn(&Event) -> Verdict + Send + Sync + 'static) -> FunctionHook {
    let seen = seen.clone();
    hook(EventKind::PreToolUse, move |event| {
        seen.push(command(event));
        answer(event)
    })
}

/// A human who notes what was seen by hooks when the question came, and says yes.
fn yes(times: usize) -> Arc<Says> {
    Says::these(&vec![Answer::Allow; times])
}

fn contents(world: &World) -> Vec<String> {
    let content = |event: &serde_json::Value| event["content"].as_str().unwrap().to_owned();
    world.of("tool.result").iter().map(content).collect()
}

#[tokio::test]
async fn a_deny_rule_holds_on_every_host_whatever_a_hook_allows() {
    for (host, hooks_hear) in
        [("tenter", false), ("mecatl", false), ("hotl", true), ("crush", true)]
    {
        let seen = Seen::default();
        let hooks = vec![noting(&seen, |_| Verdict::allow())];
        let world = World::on_host(host, &bash(&["rm x"]), hooks, rules());
        std::fs::write(world.project().join("x"), "").unwrap();
        world.run("hi").await;
        assert!(world.project().join("x").exists(), "{host}");
        assert!(contents(&world)[0].contains("Bash(rm *)"), "{host}: {:?}", contents(&world));
        assert_eq!(!seen.all().is_empty(), hooks_hear, "{host}");
    }
}

#[tokio::test]
async fn a_rewrite_is_judged_anew_except_where_hooks_come_last() {
    for (host, removed) in [("tenter", false), ("mecatl", true), ("hotl", false), ("crush", false)]
    {
        let launder = |_: &Event| patch(r#"{"command":"rm x"}"#);
        let world = World::on_host(
            host,
            &bash(&["true"]),
            vec![hook(EventKind::PreToolUse, launder)],
            rules(),
        );
        std::fs::write(world.project().join("x"), "").unwrap();
        world.run("hi").await;
        assert_eq!(!world.project().join("x").exists(), removed, "{host}: {:?}", contents(&world));
    }
}

#[tokio::test]
async fn the_question_is_about_what_hooks_made_of_the_call_except_where_they_come_last() {
    for (host, asked_about) in [
        ("tenter", "echo rewritten"),
        ("mecatl", "echo original"),
        ("hotl", "echo rewritten"),
        ("crush", "echo rewritten"),
    ] {
        let rewrite = |_: &Event| patch(r#"{"command":"echo rewritten"}"#);
        let mut world = World::on_host(
            host,
            &bash(&["echo original"]),
            vec![hook(EventKind::PreToolUse, rewrite)],
            RuleSet::new(),
        );
        world.mode = Mode::Default;
        let human = yes(1);
        let mut agent = world.builder().human(human.clone()).start();
        turn(&mut agent, "hi").await;
        let questions = human.questions();
        assert_eq!(questions.len(), 1, "{host}");
        assert_eq!(questions[0].input.get("command").unwrap().as_str().unwrap(), asked_about);
        assert_eq!(contents(&world), ["rewritten\n"], "{host}");
        let ran = &world.of("tool.result")[0]["input"]["command"];
        assert_eq!(ran, "echo rewritten", "{host}");
    }
}

#[tokio::test]
async fn an_allow_of_a_hook_answers_as_far_as_its_host_lets_it() {
    // By level of the ask rule: whether a hook of the user answers it.
    for (host, managed, user) in
        [("tenter", false, true), ("hotl", false, false), ("crush", true, true)]
    {
        for (level, answers) in [(Level::Managed, managed), (Level::User, user)] {
            let mut rules = RuleSet::new();
            rules.add_ask(Rule::parse("Bash(echo *)").unwrap(), level, "test");
            let allow = hook(EventKind::PreToolUse, |_| Verdict::allow())
                .configure(|hook| hook.source.level = Level::User);
            let world = World::on_host(host, &bash(&["echo ok"]), vec![allow], rules);
            world.run("hi").await;
            let ran = contents(&world)[0] == "ok\n";
            assert_eq!(ran, answers, "{host}, a rule of {level:?}: {:?}", contents(&world));
        }
    }
}

#[tokio::test]
async fn an_always_lifts_the_question_about_the_very_call_and_nothing_else() {
    let script = bash(&["echo 1", "echo 1", "echo  1"]);
    let mut world = World::new(&format!("{script}{script}"), vec![]);
    world.mode = Mode::Default;
    let human = Says::these(&[Answer::Always, Answer::Deny, Answer::Deny]);
    let mut agent = world.builder().human(human.clone()).start();
    turn(&mut agent, "hi").await;
    assert_eq!(human.questions().len(), 2, "a blank more is another call");
    drop(agent);

    // It is kept nowhere: another process asks again.
    let human = Says::these(&[Answer::Deny, Answer::Deny, Answer::Deny]);
    let mut agent = world.builder().human(human.clone()).resume().unwrap();
    turn(&mut agent, "again").await;
    assert_eq!(human.questions().len(), 3);
    assert!(!world.stored().contains("lways"), "{}", world.stored());
}

#[tokio::test]
async fn an_always_is_of_the_agent_that_asked() {
    let call = "[[turn.call]]\ntool = \"Bash\"\ninput = { command = \"echo 1\" }\n";
    let script = format!(
        "[[turn]]\n{call}[[turn.call]]\ntool = \"Agent\"\ninput = {{ prompt = \"p\" }}\n\
         [[turn]]\ntext = \"done\"\n\
         [[turn]]\nagent = \"general\"\n{call}[[turn]]\nagent = \"general\"\ntext = \"end\"\n"
    );
    let mut world = World::new(&script, vec![]);
    world.mode = Mode::Default;
    let human = Says::these(&[Answer::Always, Answer::Allow, Answer::Deny]);
    let mut agent = world.builder().human(human.clone()).start();
    turn(&mut agent, "hi").await;
    let asked: Vec<_> = human.questions().iter().map(|one| one.who.id.clone()).collect();
    assert_eq!(asked, ["main", "main", "agent-1"]);
}

#[tokio::test]
async fn an_always_lifts_no_block_no_failure_and_no_rule_above_the_user() {
    // What the hook does the second time, and a rule of the machine's owner.
    let twice = bash(&["echo 1", "echo 1"]);
    let calls = |then: fn() -> Verdict| {
        let count = std::sync::atomic::AtomicUsize::new(0);
        hook(EventKind::PreToolUse, move |_| {
            match count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
                0 => Verdict::ask("sure?"),
                _ => then(),
            }
        })
    };
    let managed = || {
        let mut rules = RuleSet::new();
        rules.add_ask(Rule::parse("Bash(echo *)").unwrap(), Level::Managed, "test");
        rules
    };
    let fails = calls(|| panic!("on purpose"))
        .configure(|hook| hook.on_failure = Some(tenter::OnFailure::Ask));
    for (hook, rules, asked, last) in [
        (calls(|| Verdict::ask("sure?")), RuleSet::new(), 1, "1\n"),
        (calls(|| Verdict::deny("no")), RuleSet::new(), 1, "permission denied: no"),
        (fails, RuleSet::new(), 2, "permission denied: "),
        (calls(Verdict::none), managed(), 2, "permission denied: the user said no"),
    ] {
        let builder = Engine::builder().function(hook).rules(rules).project("/tmp");
        let world = World::with_engine(&twice, builder);
        let human = Says::these(&[Answer::Always, Answer::Deny]);
        let learner = Arc::new(world.session.clone());
        let mut agent = world.builder().human(human.clone()).learner(learner).start();
        turn(&mut agent, "hi").await;
        assert_eq!(human.questions().len(), asked, "{:?}", contents(&world));
        assert_eq!(contents(&world)[0], "1\n");
        assert!(contents(&world)[1].starts_with(last), "{:?}", contents(&world));
    }
}

#[tokio::test]
async fn a_hook_answers_a_question_as_far_as_it_reaches() {
    // Who asks, who answers on `PermissionRequest`, and whether that is enough.
    for (asks, answers, enough) in [
        (Level::Managed, Level::User, false),
        (Level::User, Level::Managed, true),
        (Level::User, Level::User, true),
        (Level::User, Level::Private, false),
    ] {
        let at = |level| move |hook: &mut tenter::Hook| hook.source.level = level;
        let allow =
            || hook(EventKind::PermissionRequest, |_| Verdict::allow()).configure(at(answers));
        let ask = hook(EventKind::PreToolUse, |_| Verdict::ask("sure?")).configure(at(asks));
        let mut rules = RuleSet::new();
        rules.add_ask(Rule::parse("Bash(echo *)").unwrap(), asks, "test");
        for (hooks, rules) in [(vec![ask, allow()], RuleSet::new()), (vec![allow()], rules)] {
            let world = World::on_host("tenter", &bash(&["echo ok"]), hooks, rules);
            world.run("hi").await;
            let ran = contents(&world)[0] == "ok\n";
            assert_eq!(ran, enough, "{asks:?} {answers:?}: {:?}", contents(&world));
        }
    }
}

#[tokio::test]
async fn hooks_hear_of_a_denial_with_its_call() {
    let seen = Seen::default();
    let saw = seen.clone();
    let note = hook(EventKind::PermissionDenied, move |event| {
        let id = event.origin.call_id.clone().unwrap();
        saw.push(format!("{id} {}", event.extra.get("reason").unwrap().as_str().unwrap()));
        Verdict::none()
    });
    let deny = hook(EventKind::PreToolUse, |_| Verdict::deny("not here"));
    let world = World::new(&bash(&["touch ran"]), vec![note, deny]);
    world.run("hi").await;
    let id = world.of("tool.call")[0]["call_id"].clone();
    assert_eq!(seen.all(), [format!("{} not here", id.as_str().unwrap())]);
}

/// A policy that asks about everything, for these levels in turn.
struct AsksFor(std::sync::Mutex<Vec<Level>>);

impl PermissionPolicy for AsksFor {
    fn judge(&self, _: &PolicyCall<'_>) -> Ruling {
        Ruling::Ask { reason: "asked".into(), answered_by: Some(self.0.lock().unwrap().remove(0)) }
    }

    fn position(&self) -> Permission {
        Permission::AfterHooks
    }
}

#[tokio::test]
async fn an_always_neither_comes_from_a_rule_above_the_user_nor_lifts_one() {
    for (levels, asked) in [
        ([Level::User, Level::User], 1),
        ([Level::Managed, Level::User], 2),
        ([Level::User, Level::Managed], 2),
    ] {
        let world = World::new(&bash(&["echo 1", "echo 1"]), vec![]);
        let human = Says::these(&[Answer::Always, Answer::Deny]);
        let policy = Arc::new(AsksFor(std::sync::Mutex::new(levels.to_vec())));
        let mut agent = world.builder().human(human.clone()).policy(policy).start();
        turn(&mut agent, "hi").await;
        assert_eq!(human.questions().len(), asked, "{levels:?}");
    }
}
