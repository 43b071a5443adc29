//! hotl's own hooks under hotl's rules, as a program that embeds the library runs them. The numbers
//! are those of the cases in `tests/spec/hotl`.

use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use tenter::config::{Owners, Places, Surroundings};
use tenter::core::contract::{Contract, Rewrites};
use tenter::core::event::StopFacts;
use tenter::core::hook::{Cwd, Handler};
use tenter::core::json::Json;
use tenter::core::profile::Profile;
use tenter::hosts::codec::Host;
use tenter::hosts::hotl::{CAP_MARK, HOST, NotificationKind, PROFILE, PreToolDecision};
use tenter::{
    CancellationToken, Decision, Engine, Event, EventKind, EventMask, Fields, Files, FunctionHook,
    FunctionHooks, Hook, HookRunner, NoHooks, OnFailure, Origin, Outcome, PostToolOutcome,
    PromptOutcome, Rewrite, RunContext, Session, Skip, Status, StopOutcome, Verdict,
};
use tenter_testkit::{LIMIT, TestHome, wait_for_file, wait_until};

use crate::support::{builder, counter, report, rewritten, shell, statuses, with};

/// The six events.
const EVENTS: [EventKind; 6] = [
    EventKind::PreToolUse,
    EventKind::PostToolUse,
    EventKind::UserPromptSubmit,
    EventKind::Notification,
    EventKind::Stop,
    EventKind::SessionEnd,
];

fn event(kind: &EventKind) -> Event {
    match kind {
        EventKind::PreToolUse => bash("ls"),
        EventKind::PostToolUse => post("out"),
        EventKind::UserPromptSubmit => Event::user_prompt("hi"),
        EventKind::Notification => Event::notification(NotificationKind::Done.as_str(), "done"),
        EventKind::Stop => Event::stop(StopFacts::default()),
        _ => Event::session_end("exit"),
    }
}

fn bash(command: &str) -> Event {
    Event::pre_tool("bash", serde_json::json!({ "command": command }).into())
}

fn post(result: &str) -> Event {
    Event::post_tool("bash", Json::empty_object(), Json::string(result))
}

fn content(text: &str) -> Verdict {
    let fields = Fields::from_iter([("content", Json::string(text))]);
    Verdict::none().with_rewrite(Rewrite::Patch(fields))
}

fn on(kind: &EventKind, hook: Hook) -> Hook {
    with(hook, |hook| hook.events = vec![kind.clone()])
}

fn session(hooks: impl IntoIterator<Item = Hook>) -> Session {
    session_on(HOST, hooks)
}

fn session_on(host: Host, hooks: impl IntoIterator<Item = Hook>) -> Session {
    hooks.into_iter().fold(builder().host(host), tenter::EngineBuilder::hook).build().session("s")
}

fn functions(hooks: impl Into<Vec<FunctionHook>>) -> Session {
    builder().host(HOST).functions(hooks.into()).build().session("s")
}

/// hotl with shorter times, so that a test need not wait for ten seconds.
fn quick(budget: u64) -> Host {
    let rows = PROFILE
        .contracts
        .map(|row| Contract { budget: row.budget.map(|_| Duration::from_millis(budget)), ..row });
    let profile = Profile { contracts: Box::leak(Box::new(rows)), ..PROFILE };
    Host { profile: Box::leak(Box::new(profile)), ..HOST }
}

fn hung(kind: &EventKind) -> FunctionHook {
    FunctionHook::future("hung", [kind.clone()], |_| std::future::pending())
}

#[test]
fn k9_functions_run_in_the_order_in_which_they_were_registered() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut builder = FunctionHooks::builder().host(HOST);
    for name in ["a", "b", "c"] {
        let order = Arc::clone(&order);
        builder = builder.on_pre_tool(move |_| {
            order.lock().unwrap().push(name);
            Verdict::none()
        });
    }
    let hooks = builder.build();
    // Whether the call fits into a view or not.
    for command in ["ls".to_owned(), "x".repeat(5000)] {
        let outcome = hooks.run(&bash(&command), &RunContext::new()).now_or_never().unwrap();
        assert_eq!(outcome.decision, Decision::None);
        assert_eq!(std::mem::take(&mut *order.lock().unwrap()), ["a", "b", "c"]);
    }
}

#[test]
fn k11_a_mask_has_a_bit_for_each_event() {
    let one = |kind: &EventKind| EventMask::EMPTY.with(kind);
    let all: EventMask = EVENTS.iter().collect();
    for kind in &EVENTS {
        let without = all.difference(one(kind));
        assert!(!without.contains(kind));
        assert_eq!(without.union(one(kind)), all);
        assert_eq!(without.difference(one(kind)), without, "it was not in it");
    }
    assert_eq!(EventMask::from_bits(u64::MAX), EventMask::ALL);
}

#[tokio::test]
async fn k12_b17_hooks_get_the_events_that_they_are_for_and_the_mask_says_which() {
    for kind in &EVENTS {
        let count = counter();
        let seen = Arc::clone(&count);
        let hooks = FunctionHooks::builder()
            .host(HOST)
            .on_event(kind.clone(), move |_| {
                seen.fetch_add(1, Ordering::SeqCst);
                Verdict::none()
            })
            .build();
        assert_eq!(hooks.mask(), EventMask::EMPTY.with(kind));
        for other in &EVENTS {
            hooks.run(&event(other), &RunContext::new()).await;
            assert_eq!(hooks.wants(other), other == kind);
        }
        assert_eq!(count.load(Ordering::SeqCst), 1, "{kind}");
    }
    let all = FunctionHook::sync("all", EVENTS, |_| Verdict::none());
    let session = functions([all]);
    for kind in &EVENTS {
        assert_eq!(statuses(&session.fire(&event(kind)).await), ["ok"], "{kind}");
    }
}

#[tokio::test]
async fn k13_k16_an_event_without_hooks_is_as_if_there_were_none_at_all() {
    let session = session([shell("deny", "exit 2")]);
    for kind in EVENTS.iter().filter(|kind| **kind != EventKind::PreToolUse) {
        assert!(!session.wants(kind), "{kind}");
        let cx = RunContext::new();
        let (ours, none) = (session.fire(&event(kind)).await, NoHooks.run(&event(kind), &cx).await);
        assert_eq!(format!("{ours:?}"), format!("{none:?}"), "{kind}");
    }
}

#[tokio::test]
async fn k14_a_mask_that_is_narrowed_during_a_call_holds_for_the_next() {
    let mask = Arc::new(std::sync::OnceLock::<tenter::LiveMask>::new());
    let (seen, count) = (Arc::clone(&mask), counter());
    let calls = Arc::clone(&count);
    let hook = FunctionHook::sync("thrice", [EventKind::PreToolUse], move |_| {
        if calls.fetch_add(1, Ordering::SeqCst) == 2 {
            seen.get().unwrap().take_out(EventMask::EMPTY.with(&EventKind::PreToolUse));
        }
        Verdict::none()
    });
    let session = functions([hook]);
    mask.set(session.live_mask()).unwrap();
    for _ in 0..5 {
        session.fire(&bash("ls")).await;
    }
    assert_eq!(count.load(Ordering::SeqCst), 3);
    assert!(session.mask().is_empty());
}

#[test]
fn k15_of_two_who_narrow_at_once_neither_is_lost() {
    for _ in 0..100 {
        let session = functions([FunctionHook::sync("all", EVENTS, |_| Verdict::none())]);
        std::thread::scope(|scope| {
            for kind in [EventKind::Stop, EventKind::PreToolUse] {
                let mask = session.live_mask();
                scope.spawn(move || mask.take_out(EventMask::EMPTY.with(&kind)));
            }
        });
        assert!(!session.wants(&EventKind::Stop) && !session.wants(&EventKind::PreToolUse));
        assert!(session.wants(&EventKind::SessionEnd));
    }
}

#[tokio::test]
async fn k18_k20_b24_functions_have_the_same_views_as_commands() {
    let long = "x".repeat(5000);
    let answer = |make: fn(&str) -> String| {
        FunctionHooks::builder()
            .host(HOST)
            .on_pre_tool(move |call| {
                let shown = call.input.get("command").unwrap();
                let text = make(&shown.as_str().unwrap());
                let input = serde_json::json!({ "command": text }).into();
                PreToolDecision::Rewrite { input }.into()
            })
            .build()
    };
    let cx = RunContext::new();
    let length = answer(|text| text.len().to_string()).run(&bash(&long), &cx).await;
    assert_eq!(rewritten(&length).as_deref(), Some(r#"{"command":"2094"}"#));
    let echo = answer(str::to_owned).run(&bash(&long), &cx).await;
    assert_eq!(echo.rewritten, None);
    let edited = answer(|text| format!("sudo {text}")).run(&bash(&long), &cx).await;
    assert_eq!(edited.rewritten, None);
    assert!(edited.hooks[0].diagnostics().iter().any(|one| one.code == "view.edited"));
    assert_eq!(2048 + CAP_MARK.len(), 2094);
}

#[tokio::test]
async fn b27_b42_functions_blank_and_echo_a_result_as_commands_do() {
    let cx = RunContext::new();
    let long = "x".repeat(9000);
    let echo = FunctionHooks::builder()
        .host(HOST)
        .on_post_tool(|view| content(&view.result.content))
        .build();
    assert_eq!(echo.run(&post(&long), &cx).await.rewritten, None);
    let blank = FunctionHooks::builder().host(HOST).on_post_tool(|_| content("")).build();
    let outcome = blank.run(&post(&long), &cx).await;
    assert_eq!(rewritten(&outcome).as_deref(), Some(r#"{"content":"","is_error":false}"#));
}

#[tokio::test]
async fn k29_k36_a_hung_hook_is_as_if_it_were_not_there() {
    for kind in &EVENTS {
        let session = builder().host(quick(200)).function(hung(kind)).build().session("s");
        let started = Instant::now();
        let outcome = session.fire(&event(kind)).await;
        assert!(started.elapsed() < LIMIT);
        assert_eq!(statuses(&outcome), ["timeout"], "{kind}");
        assert_eq!((outcome.decision, outcome.rewritten), (Decision::None, None), "{kind}");
        assert!(outcome.context.is_empty() && !outcome.halt, "{kind}");
    }
}

#[test]
fn k29_the_bounds_are_those_of_the_page() {
    let of = |kind: EventKind| {
        let row = PROFILE.contract(&kind);
        (row.timeout.as_secs(), row.budget.map(|budget| budget.as_secs()))
    };
    for kind in [EventKind::PreToolUse, EventKind::PostToolUse, EventKind::UserPromptSubmit] {
        assert_eq!(of(kind), (10, Some(15)));
    }
    assert_eq!(of(EventKind::Stop), (10, Some(15)));
    assert_eq!(of(EventKind::Notification), (10, Some(10)));
    assert_eq!(of(EventKind::SessionEnd), (10, Some(10)));
}

#[tokio::test]
async fn k30_a_cancelled_turn_waits_for_nothing_and_keeps_the_real_result() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let cx = RunContext::new().with_cancel(cancel);
    let started = Instant::now();
    let before = session([shell("slow", "sleep 60")]).fire_with(&bash("ls"), &cx).await;
    assert_eq!((statuses(&before), before.decision), (vec!["cancelled"], Decision::None));
    let hook = || on(&EventKind::PostToolUse, shell("slow", "sleep 60"));
    let after = session([hook()]).fire_with(&post("out"), &cx).await;
    assert_eq!((statuses(&after), after.rewritten), (vec!["cancelled"], None));
    assert!(started.elapsed() < LIMIT);

    // Where a host has it so, or the hook guards the result, it is withheld.
    let guard = with(hook(), |hook| hook.on_failure = Some(OnFailure::Block));
    let after = session([guard]).fire_with(&post("out"), &cx).await;
    assert!(rewritten(&after).unwrap().contains("withheld"));
    let native = session_on(tenter::hosts::native::HOST, [hook()]);
    assert!(native.fire_with(&post("out"), &cx).await.rewritten.is_some());
    assert_eq!(PROFILE.contract(&EventKind::PostToolUse).rewrites, Rewrites::Result);
}

#[tokio::test]
async fn k31_b32_b33_an_interrupt_ends_the_wait_at_once() {
    for kind in [EventKind::PreToolUse, EventKind::UserPromptSubmit, EventKind::Stop] {
        let home = TestHome::new();
        let there = home.root().join("there");
        let script = format!("touch {}; sleep 60", there.display());
        let session = session([on(&kind, shell("slow", &script))]);
        let cancel = CancellationToken::new();
        let cx = RunContext::new().with_cancel(cancel.clone());
        let interrupt = tokio::task::spawn_blocking(move || {
            wait_for_file(&there);
            cancel.cancel();
            Instant::now()
        });
        let outcome = session.fire_with(&event(&kind), &cx).await;
        let took = interrupt.await.unwrap().elapsed();
        assert!(took < Duration::from_secs(5), "{kind}: {took:?}");
        assert_eq!((statuses(&outcome), outcome.decision), (vec!["cancelled"], Decision::None));
    }
}

#[tokio::test]
async fn b34_a_hook_that_panics_harms_nobody() {
    for kind in &EVENTS {
        let boom = FunctionHook::sync("boom", [kind.clone()], |_| panic!("boom"));
        let fine = FunctionHook::sync("fine", [kind.clone()], |_| Verdict::none());
        let session = functions([boom, fine]);
        for _ in 0..2 {
            let outcome = session.fire(&event(kind)).await;
            assert_eq!(statuses(&outcome), ["panic", "ok"], "{kind}");
            assert_eq!(outcome.decision, Decision::None, "{kind}");
        }
    }
}

#[tokio::test]
async fn b35_a_hook_that_blocks_its_thread_is_bounded() {
    let (release, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let hook = FunctionHook::blocking("blocks", [EventKind::PreToolUse], move |_| {
        // It ends with the test and not before.
        let _ = wait.lock().unwrap().recv();
        Verdict::deny("too late")
    });
    let session = builder().host(quick(200)).function(hook).build().session("s");
    let outcome = session.fire(&bash("ls")).await;
    assert_eq!((statuses(&outcome), outcome.decision), (vec!["timeout"], Decision::None));
    drop(release);
}

#[tokio::test]
async fn b37_what_a_chain_has_made_of_a_result_stays_when_the_time_is_up() {
    let first = FunctionHook::sync("first", [EventKind::PostToolUse], |_| content("redacted"));
    let hooks = vec![first, hung(&EventKind::PostToolUse)];
    let engine = builder().host(quick(300)).functions(hooks).build();
    let outcome = engine.session("s").fire(&post("secret")).await;
    assert_eq!(statuses(&outcome), ["ok", "timeout"]);
    assert_eq!(rewritten(&outcome).as_deref(), Some(r#"{"content":"redacted","is_error":false}"#));
}

#[tokio::test]
async fn b38_a_guard_that_finds_no_free_process_denies() {
    let home = TestHome::new();
    let started = |at: usize| home.root().join(at.to_string());
    let occupy = r#"read -r line; touch "$(expr "$line" : '.*"command":"\([^"]*\)"')"; sleep 60"#;
    let hooks = [
        with(shell("slow", occupy), |hook| hook.matcher = matcher("slow")),
        with(shell("guard", "exit 0"), |hook| {
            hook.matcher = matcher("bash");
            hook.on_failure = Some(OnFailure::Block);
        }),
    ];
    let builder = builder().host(quick(3000)).concurrency(8);
    let engine = hooks.into_iter().fold(builder, tenter::EngineBuilder::hook).build();
    let cancel = CancellationToken::new();
    let busy: Vec<_> = (0..8)
        .map(|at| {
            let (session, cancel) = (engine.session(at.to_string()), cancel.clone());
            let path = started(at).display().to_string();
            tokio::spawn(async move {
                let input = serde_json::json!({ "command": path }).into();
                let cx = RunContext::new().with_cancel(cancel);
                session.fire_with(&Event::pre_tool("slow", input), &cx).await
            })
        })
        .collect();
    for at in 0..8 {
        let path = started(at);
        tokio::task::spawn_blocking(move || wait_for_file(&path)).await.unwrap();
    }
    // The caller can wait for a moment only, and every process is taken.
    let cx = RunContext::new().with_deadline(Instant::now() + Duration::from_millis(200));
    let outcome = engine.session("s").fire_with(&bash("ls"), &cx).await;
    assert_eq!(outcome.decision, Decision::Deny);
    assert_eq!(report(&outcome, "guard").status.as_str(), "timeout");
    cancel.cancel();
    for one in busy {
        one.await.unwrap();
    }
    assert_eq!(engine.session("s").fire(&bash("ls")).await.decision, Decision::None);
}

fn matcher(name: &str) -> tenter::core::Matcher {
    tenter::core::Matcher::names([name])
}

#[tokio::test]
async fn b56_a_hook_starts_in_its_session_s_own_root() {
    let (one, two) = (TestHome::new(), TestHome::new());
    // As an entry of hotl's file has it.
    let hook = with(shell("where", "pwd >&2; exit 2"), |hook| {
        if let Handler::Command(command) = &mut hook.handler {
            command.cwd = Cwd::Session;
        }
    });
    let session = session([hook]);
    for home in [&one, &two] {
        let cwd = home.project().canonicalize().unwrap().display().to_string();
        let origin = Origin { cwd: cwd.clone(), ..Origin::default() };
        let outcome = session.fire(&bash("ls").with_origin(origin)).await;
        assert_eq!(outcome.reason.as_deref(), Some(cwd.as_str()));
    }
}

#[tokio::test]
async fn k61_a_reload_that_fails_keeps_the_hooks_and_one_that_works_counts_anew() {
    let home = TestHome::new();
    let file = home.config().join("hotl/config.toml");
    let fails = "[[hook]]\nevent = \"pre_tool\"\ncommand = \"exit 1\"\n";
    home.write(&file, fails);
    let env = home.env();
    let variable = |name: &str| {
        env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone().into())
    };
    let project = home.project();
    let (places, _) = Places::find(&Surroundings {
        variable: &variable,
        session_cwd: Some(&project),
        own_cwd: &project,
        project: None,
    });
    let files = Files { owners: Owners::of_this_process(), ..Files::new(places) };
    let variables = env.iter().map(|(name, value)| (OsString::from(name), value.into()));
    let engine = Engine::builder().host(HOST).files(files).environment(variables).build();
    let session = engine.session("s");
    for _ in 0..3 {
        assert_eq!(statuses(&session.fire(&bash("ls")).await), ["crash"]);
    }
    assert!(!session.wants(&EventKind::PreToolUse));
    home.write(&file, "[[hook]\n");
    engine.reload().unwrap_err();
    assert_eq!(statuses(&session.fire(&bash("ls")).await), ["strikes"]);
    home.write(&file, fails);
    engine.reload().unwrap();
    assert!(session.wants(&EventKind::PreToolUse));
    assert_eq!(statuses(&session.fire(&bash("ls")).await), ["crash"]);
}

#[tokio::test]
async fn k64_the_last_hook_that_strikes_out_takes_its_event_out_of_the_mask() {
    let other = with(shell("other", "exit 1"), |hook| hook.matcher = matcher("write"));
    let session = session([shell("one", "exit 1"), other, on(&EventKind::Stop, shell("x", ""))]);
    for _ in 0..3 {
        session.fire(&bash("ls")).await;
    }
    assert!(session.wants(&EventKind::PreToolUse), "another one is left");
    let write = Event::pre_tool("write", Json::empty_object());
    for _ in 0..3 {
        session.fire(&write).await;
    }
    assert!(!session.wants(&EventKind::PreToolUse) && session.wants(&EventKind::Stop));
    // Who fires it all the same is told why nothing runs.
    let outcome = session.fire(&bash("ls")).await;
    assert_eq!(report(&outcome, "one").status, Status::Skipped(Skip::Strikes));
}

#[tokio::test]
async fn b66_a_guard_keeps_its_event_in_the_mask() {
    let guard = with(shell("guard", "exit 1"), |hook| hook.on_failure = Some(OnFailure::Block));
    let session = session([guard]);
    for _ in 0..5 {
        let outcome = session.fire(&bash("ls")).await;
        assert_eq!(outcome.decision, Decision::Deny);
        assert!(!outcome.messages.is_empty());
    }
    assert!(session.wants(&EventKind::PreToolUse));
}

#[tokio::test]
async fn k69_k75_k78_the_typed_calls_say_what_a_loop_is_to_do() {
    let hooks = FunctionHooks::builder()
        .host(HOST)
        .on_pre_tool(|_| PreToolDecision::Deny { message: "no".into() }.into())
        .on_post_tool(|_| content("x"))
        .on_user_prompt(|_| Verdict::none().with_context("a"))
        .on_user_prompt(|_| Verdict::none().with_context("b"))
        .on_stop(|_| Verdict::deny("more"))
        .build();
    let (session, origin, cx) = (hooks.session(), Origin::default(), RunContext::new());
    let before = session.pre_tool("bash", Json::empty_object(), &origin, &cx).await;
    assert_eq!(before, tenter::PreToolOutcome::Deny { reason: "no".into() });
    let given = Json::string("out");
    let after = session.post_tool("bash", Json::empty_object(), given, &origin, &cx).await;
    let PostToolOutcome { result, .. } = after;
    assert_eq!(result.content, "x");
    let prompt = session.user_prompt("hi", &origin, &cx).await;
    let context = vec!["a\nb".to_owned()];
    assert_eq!(prompt, PromptOutcome::Proceed { prompt: "hi".into(), context });
    for _ in 0..3 {
        let stop = session.stop(StopFacts::default(), &origin, &cx).await;
        assert!(matches!(stop, StopOutcome::GoOn { .. }));
    }
    let stop = session.stop(StopFacts::default(), &origin, &cx).await;
    assert!(matches!(stop, StopOutcome::End { .. }));
}

#[tokio::test]
async fn k83_b82_notifications_are_handed_over_at_once_and_arrive_in_order() {
    let (release, wait) = mpsc::channel::<()>();
    let (wait, order) = (Mutex::new(wait), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&order);
    let hook = FunctionHook::blocking("slow", [EventKind::Notification], move |event| {
        let kind = event.extra.get("notification_type").unwrap().as_str().unwrap().into_owned();
        if kind == "blocked" {
            let _ = wait.lock().unwrap().recv();
        }
        seen.lock().unwrap().push(kind);
        Verdict::none()
    });
    let session = functions([hook]);
    for kind in NotificationKind::ALL {
        session.notify(&Event::notification(kind.as_str(), ""));
    }
    // All three were handed over although the first is not done.
    assert!(order.lock().unwrap().is_empty());
    assert!(!session.notification_drain().is_idle());
    drop(release);
    let finished = session.notification_drain().finish(LIMIT).await;
    assert_eq!((finished.outcomes.len(), finished.ended, finished.dropped), (3, 0, 0));
    assert_eq!(*order.lock().unwrap(), ["blocked", "idle", "done"]);
}

#[test]
fn k84_a_one_shot_run_loses_neither_notifications_nor_the_end() {
    let home = TestHome::new();
    let file = |name: &str| home.root().join(name);
    let touch = |kind: &EventKind, name: &str| {
        let path = file(name).display().to_string();
        on(kind, shell(name, &format!("sleep 0.2; touch {path}")))
    };
    let session =
        session([touch(&EventKind::Notification, "told"), touch(&EventKind::SessionEnd, "ended")]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        session.notify(&Event::notification("done", ""));
        session.session_end("exit", &Origin::default()).await;
        session.finish(LIMIT).await;
    });
    drop(runtime);
    assert!(file("told").exists() && file("ended").exists());
}

#[tokio::test]
async fn k85_a_hung_notifier_is_waited_for_no_longer_than_the_grace() {
    let session = functions([hung(&EventKind::Notification)]);
    session.notify(&Event::notification("done", ""));
    let (drain, started) = (session.notification_drain(), Instant::now());
    let finished = drain.finish(Duration::from_millis(100)).await;
    assert_eq!(finished.ended, 1);
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn k86_the_end_of_a_session_is_awaited_though_everything_is_cancelled() {
    let count = counter();
    let calls = Arc::clone(&count);
    let hook = FunctionHook::future("end", [EventKind::SessionEnd], move |_| {
        let calls: Arc<AtomicUsize> = Arc::clone(&calls);
        async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            calls.fetch_add(1, Ordering::SeqCst);
            Verdict::none()
        }
    });
    let cancel = CancellationToken::new();
    cancel.cancel();
    let cx = RunContext::new().with_cancel(cancel);
    let outcome: Outcome = functions([hook]).fire_with(&event(&EventKind::SessionEnd), &cx).await;
    assert_eq!((statuses(&outcome), count.load(Ordering::SeqCst)), (vec!["ok"], 1));
    wait_until("it ran once", || count.load(Ordering::SeqCst) == 1);
}
