//! In-process hooks: synchronous, blocking, asynchronous, and those that panic.

use std::time::{Duration, Instant};

use tenter::core::contract::OnFailure;
use tenter::core::event::Origin;
use tenter::core::json::Json;
use tenter::core::matcher::Matcher;
use tenter::{
    Decision, Event, EventKind, FunctionHook, FunctionHooks, HookRunner, RunContext, ToolView,
    Verdict,
};

use crate::support::*;

#[tokio::test]
async fn a_panicking_hook_has_failed_and_the_others_go_on() {
    let hooks = [
        FunctionHook::sync("sync", [EventKind::PreToolUse], |_| panic!("boom {}", 1)),
        FunctionHook::blocking("blocking", [EventKind::PreToolUse], |_| panic!("boom")),
        FunctionHook::future("future", [EventKind::PreToolUse], |_| async { panic!("boom") }),
        FunctionHook::sync("fine", [EventKind::PreToolUse], |_| {
            Verdict::none().with_context("here")
        }),
    ]
    .map(|hook| hook.configure(|hook| hook.on_failure = Some(OnFailure::Allow)));
    let outcome = builder().functions(hooks.into()).build().session("s").fire(&bash("ls")).await;
    assert_eq!(statuses(&outcome), ["panic", "panic", "panic", "ok"]);
    assert_eq!(outcome.context, ["here"]);
    assert!(report(&outcome, "sync").reason.as_deref().unwrap().contains("boom 1"));
}

#[tokio::test]
async fn a_panicking_guard_denies() {
    let hook = FunctionHook::sync("guard", [EventKind::PreToolUse], |_| panic!("boom"));
    let outcome = builder().function(hook).build().session("s").fire(&bash("ls")).await;
    assert_eq!(outcome.decision, Decision::Deny);
}

#[tokio::test]
async fn a_blocking_hook_cannot_hold_the_caller_past_its_deadline() {
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let hook = FunctionHook::blocking("slow", [EventKind::PreToolUse], move |_| {
        let _ = wait.lock().unwrap().recv();
        Verdict::none()
    })
    .configure(|hook| hook.timeout = Some(Duration::from_millis(100)));
    let started = Instant::now();
    let outcome = builder().function(hook).build().session("s").fire(&bash("ls")).await;
    assert_eq!(statuses(&outcome), ["timeout"]);
    assert!(started.elapsed() < Duration::from_secs(5));
    drop(release);
}

#[tokio::test]
async fn an_asynchronous_hook_is_raced_with_its_deadline() {
    let hook = FunctionHook::future("never", [EventKind::PreToolUse], |_| std::future::pending())
        .configure(|hook| hook.timeout = Some(Duration::from_millis(50)));
    let quick = FunctionHook::future("quick", [EventKind::PreToolUse], |event: Event| async move {
        Verdict::none().with_context(event.tool_name().unwrap_or_default())
    });
    let outcome =
        builder().function(hook).function(quick).build().session("s").fire(&bash("ls")).await;
    assert_eq!(statuses(&outcome), ["timeout", "ok"]);
}

#[test]
fn synchronous_hooks_need_no_runtime() {
    let session = builder()
        .function(FunctionHook::sync("a", [EventKind::PreToolUse], |_| Verdict::deny("no")))
        .build()
        .session("s");
    let event = bash("ls");
    let mut fire = std::pin::pin!(session.fire(&event));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(outcome) = fire.as_mut().poll(&mut cx) else {
        panic!("it waits for something")
    };
    assert_eq!(outcome.decision, Decision::Deny);
}

#[test]
fn decide_gives_the_most_severe_verdict_and_the_first_among_equals() {
    let hooks = FunctionHooks::builder()
        .on_pre_tool(|_| Verdict::allow())
        .on_pre_tool_matching(Matcher::parse("Edit").unwrap(), |_| Verdict::deny("not asked"))
        .on_pre_tool(
            |view| if view.tool == "Bash" { Verdict::deny("first") } else { Verdict::none() },
        )
        .on_pre_tool(|_| Verdict::deny("second"))
        .build();
    let origin = Origin::default();
    let verdict =
        hooks.decide(ToolView { tool: "Bash", input: &Json::empty_object(), origin: &origin });
    assert_eq!(verdict, Verdict::deny("first"));
}

#[tokio::test]
async fn function_hooks_run_through_the_port_for_every_event() {
    let hooks = FunctionHooks::builder()
        .on_pre_tool(|_| Verdict::none())
        .on_post_tool(|view| Verdict::none().with_context(view.result.content.clone()))
        .on_user_prompt(|prompt| Verdict::deny(format!("no {prompt}")))
        .on_stop(|facts| {
            Verdict::none().with_context(facts.last_assistant_message.clone().unwrap_or_default())
        })
        .build();
    let runner: &dyn HookRunner = &hooks;
    let cx = RunContext::new();
    let event = Event::post_tool("Bash", Json::empty_object(), Json::string("out"));
    assert_eq!(runner.run(&event, &cx).await.context, ["out"]);
    assert_eq!(runner.run(&Event::user_prompt("hi"), &cx).await.reason.as_deref(), Some("no hi"));
    assert!(
        runner.mask().contains(&EventKind::Stop) && !runner.mask().contains(&EventKind::SessionEnd)
    );
}

#[tokio::test]
async fn a_hook_may_fire_an_event_of_its_own() {
    // It holds no permit, so even the least number of permits cannot make it wait for itself.
    let inner = engine([shell("inner", "echo '{}'")]).session("inner");
    let hooks = (0..12).map(|n| {
        let inner = inner.clone();
        FunctionHook::future(format!("outer {n}"), [EventKind::PreToolUse], move |event: Event| {
            let inner = inner.clone();
            async move {
                let outcome = inner.fire(&event).await;
                Verdict::none().with_context(outcome.hooks.len().to_string())
            }
        })
    });
    let engine = builder().concurrency(1).functions(hooks.collect()).build();
    assert_eq!(engine.session("s").fire(&bash("ls")).await.context.len(), 12);
}
