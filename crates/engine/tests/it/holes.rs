//! Ways around a guard, or into a wrong report, that were open once.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tenter::core::contract::OnFailure;
use tenter::core::event::{Agent, Origin, Payload, StopFacts};
use tenter::core::hook::{Level, Order, Scope, View};
use tenter::core::matcher::Matcher;
use tenter::core::rules::{Rule, RuleSet};
use tenter::core::verdict::Rewrite;
use tenter::record::{Record, Recorder};
use tenter::{
    Decision, Event, EventKind, FunctionHook, FunctionHooks, Hook, Json, PreToolOutcome,
    RunContext, ToolView, Verdict,
};

use crate::support::*;
use crate::world::World;

fn read(path: &str) -> Event {
    Event::pre_tool("Read", serde_json::json!({ "file_path": path }).into())
}

fn function(name: &str, call: impl Fn(&str) -> Verdict + Send + Sync + 'static) -> FunctionHook {
    FunctionHook::sync(name, [EventKind::PreToolUse], move |event| {
        call(event.tool_call().map_or("", |call| call.input.as_text()))
    })
}

fn rules(level: Level, deny: &[&str], ask: &[&str]) -> RuleSet {
    let mut rules = RuleSet::new();
    for rule in deny {
        rules.add_deny(Rule::parse(rule).unwrap(), level, "test");
    }
    for rule in ask {
        rules.add_ask(Rule::parse(rule).unwrap(), level, "test");
    }
    rules
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_ends_on_an_old_configuration_does_not_narrow_the_new_mask() {
    let world = World::new();
    let release = world.home.root().join("release");
    let slow = format!(
        "[[hook]]\nname = \"once\"\nevent = \"UserPromptSubmit\"\nonce = true\ncommand = \"until test -e {}; do sleep 0.01; done\"\n",
        release.display()
    );
    world.user(&slow);
    let files = tenter::Files { owners: world.owners(), ..tenter::Files::new(world.places()) };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let engine = tenter::Engine::builder()
        .environment([("PATH".into(), path)])
        .files(files)
        .try_build()
        .unwrap();
    let session = engine.session("s");
    let prompt = tokio::spawn({
        let session = session.clone();
        async move { session.fire(&Event::user_prompt("x")).await }
    });
    tokio::task::yield_now().await;
    world.user(&format!(
        "{slow}[[hook]]\nevent = \"PreToolUse\"\nreply = {{ decision = \"deny\" }}\n"
    ));
    engine.reload().unwrap();
    assert_eq!(session.fire(&bash("ls")).await.decision, Decision::Deny);
    std::fs::write(release, "").unwrap();
    prompt.await.unwrap();
    assert_eq!(session.fire(&bash("ls")).await.decision, Decision::Deny);
}

#[tokio::test]
async fn an_allow_for_the_original_does_not_approve_what_others_made_of_it() {
    let allow_a = function("allow a", |input| {
        if input.contains("/tmp/a") { Verdict::allow() } else { Verdict::none() }
    })
    .configure(|hook| hook.source.level = Level::Managed);
    let patches = at(Level::Private, reply("patch", patch(r#"{"file_path":"/etc/shadow"}"#)));
    let engine = builder()
        .function(allow_a.clone())
        .hook(patches.clone())
        .rules(rules(Level::Managed, &[], &["Read(/etc/**)"]))
        .build();
    let outcome = engine.session("s").fire(&read("/tmp/a")).await;
    assert_eq!(outcome.decision, Decision::Ask);
    let outcome =
        builder().function(allow_a).hook(patches).build().session("s").fire(&read("/tmp/a")).await;
    assert_eq!(outcome.decision, Decision::None);
    assert!(outcome.rewritten.is_some());

    // A hook that allows its own rewrite, or allows again, is heard.
    let own = reply("own", patch(r#"{"file_path":"/tmp/b"}"#).with_message("m"));
    let own = with(own, |hook| {
        if let tenter::core::hook::Handler::Reply(verdict) = &mut hook.handler {
            verdict.decision = Decision::Allow;
        }
    });
    assert_eq!(engine_of([own]).fire(&read("/tmp/a")).await.decision, Decision::Allow);
}

fn engine_of(hooks: impl IntoIterator<Item = Hook>) -> tenter::Session {
    engine(hooks).session("s")
}

#[tokio::test]
async fn permission_rules_judge_permission_requests_too() {
    let rules = || rules(Level::Managed, &["Read(/etc/**)"], &[]);
    let on_request =
        |hook: Hook| with(hook, |hook| hook.events = vec![EventKind::PermissionRequest]);
    let mut request = read("/tmp/a");
    request.kind = EventKind::PermissionRequest;
    let engine = builder()
        .rules(rules())
        .hook(on_request(reply("patch", patch(r#"{"file_path":"/etc/shadow"}"#))))
        .hook(on_request(reply("allow", Verdict::allow())))
        .build();
    assert_eq!(engine.session("s").fire(&request).await.decision, Decision::Deny);
    let mut request = read("/etc/shadow");
    request.kind = EventKind::PermissionRequest;
    let session = builder().rules(rules()).build().session("s");
    assert!(session.wants(&EventKind::PermissionRequest));
    assert_eq!(session.fire(&request).await.decision, Decision::Deny);
}

#[tokio::test]
async fn a_replacement_with_a_key_twice_is_refused() {
    let twice = Json::parse(r#"{"command":"evil","command":"ls"}"#).unwrap();
    let session =
        engine_of([reply("twice", Verdict::none().with_rewrite(Rewrite::Replace(twice)))]);
    let outcome = session.fire(&bash("pwd")).await;
    assert!(outcome.rewritten.is_none());
    assert_eq!(report(&outcome, "twice").diagnostics()[0].code, "rewrite.shape");
}

#[tokio::test]
async fn a_rewrite_of_digits_that_some_readers_round_is_a_rewrite() {
    let guard = function("guard", |input| {
        if input.contains("0002") { Verdict::deny("not that one") } else { Verdict::none() }
    });
    let engine = builder()
        .function(guard)
        .hook(reply("patch", patch(r#"{"account":10000000000000000000000002}"#)))
        .build();
    let input = Json::parse(r#"{"account":10000000000000000000000001}"#).unwrap();
    let outcome = engine.session("s").fire(&Event::pre_tool("pay", input)).await;
    assert_eq!(outcome.decision, Decision::Deny);
}

#[tokio::test]
async fn depth_zero_is_the_main_agent() {
    let main = with(reply("main", Verdict::deny("no")), |hook| hook.scope = Scope::Main);
    let mut event = bash("ls");
    event.origin.agent = Some(Agent { id: Some("x".into()), kind: None, depth: 0 });
    assert_eq!(engine_of([main]).fire(&event).await.decision, Decision::Deny);
}

#[tokio::test]
async fn a_tool_with_a_strange_name_is_not_taken_for_none() {
    let guard = with(reply("guard", Verdict::deny("no")), |hook| {
        hook.matcher = Matcher::regex("[^a]").unwrap();
    });
    let session = engine_of([guard]);
    session.fire(&Event::new(EventKind::PreToolUse, Payload::Open)).await;
    let event = Event::pre_tool("\0", Json::empty_object());
    assert_eq!(session.fire(&event).await.decision, Decision::Deny);
}

#[test]
fn decide_folds_rewrites_and_asks_again_as_the_port_does() {
    let origin = Origin::default();
    let input = Json::parse(r#"{"command":"ls"}"#).unwrap();
    let view = ToolView { tool: "Bash", input: &input, origin: &origin };
    let replaced = |verdict: &Verdict| match verdict.rewrite() {
        Some(Rewrite::Replace(json)) => Some(json.to_string()),
        _ => None,
    };
    let clean = |_: ToolView<'_>| patch(r#"{"command":"ls -l"}"#);
    let clean_text = Some(r#"{"command":"ls -l"}"#.to_owned());

    let hooks = FunctionHooks::builder()
        .on_pre_tool(|_| Verdict::none().with_context("c"))
        .on_pre_tool(clean)
        .build();
    assert_eq!(replaced(&hooks.decide(view)), clean_text);
    let hooks =
        FunctionHooks::builder().on_pre_tool(clean).on_pre_tool(|_| Verdict::allow()).build();
    let verdict = hooks.decide(view);
    assert_eq!((verdict.decision, replaced(&verdict)), (Decision::Allow, clean_text));
    let hooks = FunctionHooks::builder()
        .on_pre_tool(|_| patch(r#"{"command":"rm -rf /"}"#))
        .on_pre_tool(|view| {
            if view.input.as_text().contains("rm") { Verdict::deny("no") } else { Verdict::none() }
        })
        .build();
    let verdict = hooks.decide(view);
    assert_eq!((verdict.decision, replaced(&verdict)), (Decision::Deny, None));
    let hooks = FunctionHooks::builder()
        .on_event(EventKind::PreToolUse, |_| Verdict::deny("no"))
        .on_pre_tool(|_| Verdict::allow())
        .build();
    assert_eq!(hooks.decide(view).decision, Decision::Deny);
    let hooks = FunctionHooks::builder()
        .on_pre_tool(|_| Verdict::halt("stop"))
        .on_pre_tool(|_| panic!("x"))
        .build();
    let verdict = hooks.decide(view);
    assert!(verdict.halt && verdict.decision == Decision::Deny);
}

#[tokio::test]
async fn the_budget_of_a_stop_is_the_sessions_and_each_agents_own() {
    let goes_on = |kind| reply_on(kind, "go on", Verdict::deny("more"));
    let session = engine_of([goes_on(EventKind::Stop)]);
    let stop = Event::stop(StopFacts::default());
    let blocks = async |times: u32| {
        for _ in 0..times {
            assert_eq!(session.fire(&stop).await.decision, Decision::Deny);
        }
    };
    // A prompt that no hook is for gives the budget back all the same.
    blocks(5).await;
    session.fire(&Event::user_prompt("next")).await;
    blocks(5).await;
    // So does a Stop that ends.
    let cancelled = StopFacts { stop_reason: Some("cancelled".into()), ..StopFacts::default() };
    session.fire(&Event::stop(cancelled)).await;
    blocks(5).await;
    // A reload does not, and neither does the end of a subagent.
    session.engine().reload().unwrap();
    let mut subagent = Event::stop(StopFacts::default());
    subagent.kind = EventKind::SubagentStop;
    session.fire(&subagent).await;
    blocks(3).await;
    assert_eq!(session.fire(&stop).await.decision, Decision::None);
}

#[tokio::test]
async fn what_a_guard_does_when_it_is_asked_again_is_told() {
    let fails_on_rewrite = function("fails", |input| {
        assert!(!input.contains("rm"), "it cannot read that");
        Verdict::none()
    });
    let silent = function("silent", |input| {
        if input.contains("rm") {
            Verdict::decide(Decision::Deny).with_message("look")
        } else {
            Verdict::none()
        }
    });
    let hooks = |guard| {
        builder().function(guard).hook(reply("rewrite", patch(r#"{"command":"rm"}"#))).build()
    };
    let outcome = hooks(fails_on_rewrite).session("s").fire(&bash("ls")).await;
    assert_eq!(statuses(&outcome), ["ok", "panic"]);
    assert!(outcome.messages.iter().any(|message| message.text.contains("`fails` failed")));
    let outcome = hooks(silent).session("s").fire(&bash("ls")).await;
    assert!(outcome.reason.unwrap().contains("`silent` says deny without a reason"));
    assert!(outcome.messages.iter().any(|message| message.text == "look"));
}

#[tokio::test]
async fn once_is_once_for_events_side_by_side_for_detached_hooks_and_when_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let count = |name: &str| {
        std::fs::read_to_string(folder.path().join(name)).unwrap_or_default().lines().count()
    };
    let appends = |name: &str| {
        let path = folder.path().join(name).display().to_string();
        with(shell(name, &format!("echo x >> {path}; sleep 0.05")), |hook| hook.once = true)
    };
    let session = engine_of([appends("parallel")]);
    let (call_a, call_b) = (bash("a"), bash("b"));
    tokio::join!(session.fire(&call_a), session.fire(&call_b));
    assert_eq!(count("parallel"), 1);

    let session = engine_of([with(appends("detached"), |hook| hook.detach = true)]);
    for _ in 0..5 {
        session.fire(&bash("ls")).await;
    }
    session.finish(Duration::from_secs(30)).await;
    assert_eq!(count("detached"), 1);

    let again =
        with(appends("again"), |hook| hook.condition = vec![Rule::parse("Read(/tmp/b)").unwrap()]);
    let session = engine_of([reply("rewrite", patch(r#"{"file_path":"/tmp/b"}"#)), again]);
    for _ in 0..3 {
        session.fire(&read("/tmp/a")).await;
    }
    assert_eq!(count("again"), 1);
}

#[tokio::test]
async fn a_detached_hook_never_holds_a_call_up_whatever_its_order() {
    let hook = with(shell("behind", "echo '{\"decision\":\"deny\"}'"), |hook| {
        hook.detach = true;
        hook.order = Order::Sequence;
    });
    let session = engine_of([hook]);
    let outcome = session.fire(&bash("ls")).await;
    assert!(outcome.may_proceed() && report(&outcome, "behind").detached);
    session.finish(Duration::from_secs(30)).await;
}

/// A recorder that breaks.
struct Breaks;

impl Recorder for Breaks {
    #[expect(clippy::panic, reason = "that is what it is for")]
    fn record(&self, _: Record) {
        panic!("the disk is gone");
    }
}

#[tokio::test]
async fn a_recorder_that_panics_takes_no_decision_away() {
    let session = builder()
        .hook(reply("no", Verdict::deny("no")))
        .recorder(Arc::new(Breaks))
        .build()
        .session("s");
    assert_eq!(session.fire(&bash("ls")).await.decision, Decision::Deny);
}

#[test]
fn without_a_runtime_what_needs_one_has_failed_to_start() {
    let session = builder()
        .hook(shell("process", "true"))
        .function(FunctionHook::blocking("blocking", [EventKind::PreToolUse], |_| Verdict::none()))
        .build()
        .session("s");
    let event = bash("ls");
    let outcome = futures_util::FutureExt::now_or_never(session.fire(&event)).unwrap();
    assert_eq!(statuses(&outcome), ["start", "start"]);
    assert_eq!(outcome.decision, Decision::Deny);
    session.notify(&Event::notification("idle", "x"));
    assert!(
        futures_util::FutureExt::now_or_never(session.finish(Duration::from_secs(30))).is_some()
    );
}

#[tokio::test]
async fn the_end_of_a_session_is_bounded_even_if_a_function_hangs() {
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let hook = FunctionHook::sync("hangs", [EventKind::Notification], move |_| {
        let _ = wait.lock().unwrap().recv();
        Verdict::none()
    });
    let session = builder().function(hook).build().session("s");
    session.notify(&Event::notification("idle", "x"));
    let started = Instant::now();
    let finished = session.finish(Duration::from_millis(50)).await;
    assert_eq!(finished.ended, 1);
    assert!(started.elapsed() < Duration::from_secs(10));
    drop(release);
}

#[tokio::test]
async fn a_small_view_is_small_for_everything_that_is_shown() {
    let long = "x".repeat(5000);
    let strict = |kind| {
        with(reply_on(kind, "strict", Verdict::none()), |hook| {
            hook.view = Some(View { cap: 100, on_truncated: Some(OnFailure::Block) });
        })
    };
    let stop = StopFacts { last_assistant_message: Some(long.clone()), ..StopFacts::default() };
    let outcome = engine_of([strict(EventKind::Stop)]).fire(&Event::stop(stop)).await;
    assert_eq!(outcome.decision, Decision::Deny);

    let small = with(shell("small", "cat >/dev/null"), |hook| {
        hook.events = vec![EventKind::PostToolUse];
        hook.view = Some(View { cap: 100, on_truncated: None });
    });
    let input = serde_json::json!({ "command": long });
    let event = Event::post_tool("Bash", input.into(), Json::string("short"))
        .with_field("note", Json::string(&long));
    let outcome = engine_of([small]).fire(&event).await;
    let stdin = report(&outcome, "small").process().unwrap().stdin.clone().unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&stdin).unwrap();
    assert!(shown["tool_input"]["command"].as_str().unwrap().len() < 300);
    assert!(shown["note"].as_str().unwrap().len() < 300);
    assert_eq!(shown["tool_response"], "short", "what is not clipped is as the host sent it");
    assert_eq!(shown["tenter"]["truncated"], serde_json::json!(["command", "note"]));
}

#[tokio::test]
async fn a_rewritten_failure_leaves_no_copy_of_what_it_was() {
    let clean = with(
        reply_on(EventKind::PostToolUseFailure, "clean", patch(r#"{"content":"clean"}"#)),
        |_| {},
    );
    let later = with(shell("later", "cat >/dev/null"), |hook| {
        hook.events = vec![EventKind::PostToolUseFailure];
        hook.order = Order::Sequence;
    });
    let text = r#"{"hook_event_name":"PostToolUseFailure","tool_name":"Bash","error":"a secret"}"#;
    let event = tenter::hosts::native::input::read_event(text, None, &Origin::default()).unwrap();
    let outcome = engine_of([clean, later]).fire(&event).await;
    let stdin = report(&outcome, "later").process().unwrap().stdin.clone().unwrap();
    let shown = String::from_utf8_lossy(&stdin).into_owned();
    assert!(!shown.contains("a secret") && shown.contains("clean"), "{shown}");
}

#[tokio::test]
async fn a_loud_skip_stays_loud_when_another_hook_is_done() {
    let once = with(reply("once", Verdict::none()), |hook| hook.once = true);
    let untrusted =
        with(reply("untrusted", Verdict::none()), |hook| hook.skip = Some(tenter::Skip::Untrusted));
    let session = engine_of([once, untrusted]);
    for _ in 0..3 {
        assert_eq!(session.fire(&bash("ls")).await.messages.len(), 1);
    }
}

#[tokio::test]
async fn the_typed_entry_points_carry_the_origin_and_give_what_a_loop_can_act_on() {
    let calls = counter();
    let counted = calls.clone();
    let sees = FunctionHook::sync("sees", [EventKind::PreToolUse], move |event| {
        assert_eq!(
            (event.origin.cwd.as_str(), event.origin.session_id.as_str()),
            ("/work-here", "s")
        );
        counted.fetch_add(1, Ordering::SeqCst);
        patch(r#"{"command":"ls -l"}"#)
    });
    let session = builder().function(sees).build().session("s");
    let origin = Origin { cwd: "/work-here".into(), ..Origin::default() };
    let input = Json::parse(r#"{"command":"ls"}"#).unwrap();
    let outcome = session.pre_tool("Bash", input, &origin, &RunContext::new()).await;
    let PreToolOutcome::Proceed { input, approved, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!((input.as_text(), approved), (r#"{"command":"ls -l"}"#, false));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_guard_that_runs_once_is_not_lost_while_it_runs_or_when_it_fails() {
    let folder = tempfile::tempdir().unwrap();
    let release = folder.path().join("release").display().to_string();
    let guard = with(
        shell("guard", &format!("until test -e {release}; do sleep 0.01; done; exit 7")),
        |hook| hook.once = true,
    );
    let other = with(reply("other", Verdict::none()), |hook| {
        hook.once = true;
        hook.matcher = Matcher::parse("Read").unwrap();
    });
    let session = engine_of([guard, other]);
    let (call, look) = (bash("ls"), read("/tmp/a"));
    let (outcome, ()) = tokio::join!(session.fire(&call), async {
        // The other one is done while the guard still runs.
        assert_eq!(statuses(&session.fire(&look).await), ["once", "ok"]);
        std::fs::write(&release, "").unwrap();
    });
    assert_eq!((outcome.decision, statuses(&outcome)[0]), (Decision::Deny, "crash"));
    assert_eq!(session.fire(&call).await.decision, Decision::Deny, "it failed, so it runs again");
}

#[tokio::test]
async fn a_dropped_event_gives_the_one_run_of_a_guard_back() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("pid");
    let words = ["ready", &ready.display().to_string(), "hang"];
    let guard = with(scripted("guard", &words), |hook| {
        hook.once = true;
        hook.timeout = Some(Duration::from_millis(300));
    });
    let session = engine_of([guard]);
    let call = bash("ls");
    {
        let firing = session.fire(&call);
        tokio::pin!(firing);
        let path = ready.clone();
        let started = tokio::task::spawn_blocking(move || tenter_testkit::wait_for_pid(&path));
        tokio::select! {
            _ = &mut firing => panic!("it hangs"),
            pid = started => assert!(pid.unwrap() > 0),
        }
    }
    let outcome = session.fire(&call).await;
    assert_eq!((outcome.decision, statuses(&outcome)[0]), (Decision::Deny, "timeout"));
}

#[tokio::test]
async fn a_broken_guard_of_reading_denies_and_another_says_that_it_lets_reading_through() {
    let world = World::new();
    world.user("[permissions]\ndeny = [\"Read(secrets/**\"]\n");
    let files = || tenter::Files { owners: world.owners(), ..tenter::Files::new(world.places()) };
    let session = tenter::Engine::builder().files(files()).try_build().unwrap().session("s");
    assert_eq!(session.fire(&read("secrets/a")).await.decision, Decision::Deny);

    world.user("[[hook]]\nevent = \"PreToolUse\"\nfrobnicate = 1\nreply = {}\n");
    let session = tenter::Engine::builder().files(files()).try_build().unwrap().session("s");
    let outcome = session.fire(&read("a")).await;
    assert_eq!((outcome.decision, statuses(&outcome)[0]), (Decision::None, "config"));
    assert!(!outcome.messages.is_empty());
    assert_eq!(outcome.hooks[0].diagnostics()[0].code, "hook.let-through");
}

#[tokio::test]
async fn a_broken_rule_guards_every_event_that_rules_judge() {
    let world = World::new();
    world.user("[permissions]\ndeny = [\"Bash(\"]\n");
    let files = tenter::Files { owners: world.owners(), ..tenter::Files::new(world.places()) };
    let session = tenter::Engine::builder().files(files).try_build().unwrap().session("s");
    for kind in
        [EventKind::PreToolUse, EventKind::PreSkillShellCommand, EventKind::PermissionRequest]
    {
        let mut event = bash("ls");
        event.kind = kind.clone();
        assert_eq!(session.fire(&event).await.decision, Decision::Deny, "{kind}");
    }
}

#[tokio::test]
async fn no_allow_answers_what_a_deny_rule_could_not_make_out() {
    let session = builder()
        .rules(rules(Level::User, &["Write(/etc/**)"], &[]))
        .hook(reply("allow", Verdict::allow()))
        .build()
        .session("s");
    let input = Json::parse(r#"{"file_path":["/etc/passwd"]}"#).unwrap();
    assert_eq!(session.fire(&Event::pre_tool("Write", input)).await.decision, Decision::Ask);
}

#[tokio::test]
async fn a_script_that_changes_while_its_hook_waits_for_its_turn_is_not_trusted() {
    let world = World::new();
    let script = world.home.write("guard.sh", "#!/bin/sh\nexit 2\n");
    crate::world::mode(&script, 0o755);
    world.project(
        "[[hook]]\nname = \"guard\"\nevent = \"PreToolUse\"\ncommand = [\"./guard.sh\"]\n",
    );
    world.trust_it();
    let go = world.home.root().join("go");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let files = tenter::Files { owners: world.owners(), ..tenter::Files::new(world.places()) };
    let waits = (0..tenter::LEAST_CONCURRENCY).map(|n| {
        let text = format!(
            "touch {}; until test -e {}; do sleep 0.01; done; true {n}",
            world.home.root().join(n.to_string()).display(),
            go.display()
        );
        with(shell(&format!("waits {n}"), &text), |hook| hook.on_failure = Some(OnFailure::Allow))
    });
    let engine = waits
        .fold(tenter::Engine::builder(), tenter::EngineBuilder::hook)
        .environment([("PATH".into(), path)])
        .concurrency(1)
        .files(files)
        .try_build()
        .unwrap();
    let session = engine.session("s");
    let root = world.home.root();
    let call = bash("ls");
    let (outcome, ()) = tokio::join!(session.fire(&call), async {
        let started = tokio::task::spawn_blocking(move || {
            for n in 0..tenter::LEAST_CONCURRENCY {
                tenter_testkit::wait_for_file(&root.join(n.to_string()));
            }
        });
        started.await.unwrap();
        std::fs::write(&script, "#!/bin/sh\nexit 0 # changed\n").unwrap();
        std::fs::write(&go, "").unwrap();
    });
    assert_eq!(statuses(&outcome).last(), Some(&"trust"));
    assert_eq!(outcome.decision, Decision::Deny);
}

#[tokio::test]
async fn what_is_dropped_behind_the_host_is_told() {
    let hooks = (0..300)
        .map(|n| with(shell(&n.to_string(), &format!("true {n}")), |hook| hook.detach = true));
    let session = engine_of(hooks);
    let outcome = session.fire(&bash("ls")).await;
    let dropped = statuses(&outcome).iter().filter(|status| **status == "cancelled").count();
    let finished = session.finish(Duration::from_mins(1)).await;
    assert_eq!(finished.dropped, dropped);
    assert_eq!(outcome.messages.len(), dropped);
    assert_eq!(finished.outcomes.len() + finished.more, 300 - dropped);
}

#[test]
fn a_session_ends_in_a_runtime_without_timers() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let listen = FunctionHook::sync("listen", [EventKind::Notification], |_| Verdict::none());
        let session = builder().function(listen).build().session("s");
        session.notify(&Event::notification("idle", "x"));
        assert_eq!(session.finish(Duration::from_secs(30)).await.outcomes.len(), 1);
    });
}
