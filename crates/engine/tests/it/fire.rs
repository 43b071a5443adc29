//! The way of one event: what runs, in which order, and what it means.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tenter::core::contract::OnFailure;
use tenter::core::event::{Agent, StopFacts};
use tenter::core::hook::{Level, Order, Scope, View};
use tenter::core::json::Json;
use tenter::core::matcher::Matcher;
use tenter::core::rules::{Rule, RuleSet};
use tenter::{CancellationToken, Decision, Event, EventKind, FunctionHook, RunContext, Verdict};

use crate::support::*;

#[tokio::test]
async fn an_event_without_hooks_passes_at_once() {
    let session = engine([]).session("s");
    assert!(!session.wants(&EventKind::PreToolUse));
    let outcome = session.fire(&bash("ls")).await;
    assert!(outcome.may_proceed() && outcome.hooks.is_empty());
}

#[tokio::test]
async fn every_hook_has_its_report_in_configuration_order() {
    let session = engine([
        reply("first", Verdict::none()),
        with(reply("other", Verdict::none()), |hook| {
            hook.matcher = Matcher::parse("Edit").unwrap();
        }),
        scripted("second", &["out", r#"{"context":"hello"}"#]),
    ])
    .session("s");
    let outcome = session.fire(&bash("ls")).await;
    assert_eq!(statuses(&outcome), ["ok", "matcher", "ok"]);
    assert_eq!(outcome.context, ["hello"]);
    assert_eq!(report(&outcome, "second").process().unwrap().exit_code, Some(0));
}

#[tokio::test]
async fn the_first_to_finish_has_no_more_say_than_the_last() {
    // Each hook waits for another's file, so that the order of completion is the reverse.
    let folder = tempfile::tempdir().unwrap();
    let file = |n: usize| folder.path().join(n.to_string()).display().to_string();
    let deny = |n: usize| format!(r#"{{"decision":"deny","reason":"{n}"}}"#);
    let hooks = (0..4usize).map(|n| {
        let (mine, next, answer) = (file(n), file(n + 1), deny(n));
        let mut words: Vec<&str> = Vec::new();
        if n < 3 {
            words.extend(["wait-file", &next]);
        }
        words.extend(["out", &answer, "ready", &mine]);
        scripted(&n.to_string(), &words)
    });
    let outcome = engine(hooks).session("s").fire(&bash("ls")).await;
    assert_eq!(outcome.reason.as_deref(), Some("0\n1\n2\n3"));
}

#[tokio::test]
async fn a_sequence_hook_sees_the_rewrites_before_it_and_is_judged_on_them() {
    let sees = |name: &str, condition: &str| {
        with(scripted(name, &["read-stdin", "exit", "0"]), |hook| {
            hook.order = Order::Sequence;
            hook.condition = vec![Rule::parse(condition).unwrap()];
        })
    };
    let input = serde_json::json!({"file_path": "/tmp/a"});
    let session = engine([
        reply("rewrite", patch(r#"{"file_path":"/tmp/b"}"#)),
        sees("on a", "Read(//tmp/a)"),
        sees("on b", "Read(/tmp/b)"),
    ])
    .session("s");
    let outcome = session.fire(&Event::pre_tool("Read", input.into())).await;
    assert_eq!(statuses(&outcome), ["ok", "condition", "ok"]);
    let stdin = report(&outcome, "on b").process().unwrap().stdin.clone().unwrap();
    assert!(String::from_utf8_lossy(&stdin).contains(r#""file_path":"/tmp/b""#));
}

#[tokio::test]
async fn a_sequence_stops_at_a_deny_and_others_still_run() {
    let later = with(reply("later", Verdict::none()), |hook| hook.order = Order::Sequence);
    let session =
        engine([reply("no", Verdict::deny("no")), later, reply("beside", Verdict::none())])
            .session("s");
    let outcome = session.fire(&bash("ls")).await;
    assert_eq!(statuses(&outcome), ["ok", "stopped", "ok"]);
    assert_eq!(outcome.exit_code(), 2);
}

#[tokio::test]
async fn no_rewrite_carries_a_call_past_a_guard() {
    let guard = |name: &str| {
        let function = |event: &Event| match event.tool_call() {
            Some(call) if call.input.as_text().contains("rm") => Verdict::deny("no rm"),
            _ => Verdict::none(),
        };
        FunctionHook::sync(name, [EventKind::PreToolUse], function)
    };
    let engine = builder()
        .hook(reply("rewrite", patch(r#"{"command":"rm -r x"}"#)))
        .function(guard("guard"))
        .function(guard("opted out").configure(|hook| hook.recheck = false))
        .build();
    let outcome = engine.session("s").fire(&bash("ls")).await;
    assert_eq!((outcome.decision, outcome.reason.as_deref()), (Decision::Deny, Some("no rm")));
    assert!(outcome.rewritten.is_none() && !report(&outcome, "rewrite").rewrite);
    assert_eq!(report(&outcome, "guard").recheck().unwrap().decision, Decision::Deny);
    assert_eq!(report(&outcome, "guard").decision, Decision::None);
    assert!(report(&outcome, "opted out").recheck().is_none());
}

#[tokio::test]
async fn a_guard_that_matches_only_after_the_rewrite_is_asked() {
    let guard = with(reply("guard", Verdict::deny("not there")), |hook| {
        hook.condition = vec![Rule::parse("Read(/etc/**)").unwrap()];
    });
    let session =
        engine([reply("rewrite", patch(r#"{"file_path":"/etc/x"}"#)), guard]).session("s");
    let outcome = session
        .fire(&Event::pre_tool("Read", Json::parse(r#"{"file_path":"/tmp/x"}"#).unwrap()))
        .await;
    assert_eq!(outcome.decision, Decision::Deny);
    assert_eq!(statuses(&outcome), ["ok", "ok"]);
    assert_eq!(report(&outcome, "guard").recheck().unwrap().reason.as_deref(), Some("not there"));
}

#[tokio::test]
async fn a_guard_whose_own_rewrite_made_the_payload_is_not_asked_again() {
    let calls = counter();
    let counted = calls.clone();
    let guard = FunctionHook::sync("guard", [EventKind::PreToolUse], move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        patch(r#"{"command":"ls -l"}"#)
    });
    let outcome = builder().function(guard).build().session("s").fire(&bash("ls")).await;
    assert_eq!(rewritten(&outcome).as_deref(), Some(r#"{"command":"ls -l"}"#));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn deny_rules_come_before_hooks_and_again_after_their_rewrites() {
    let rules = || {
        let mut rules = RuleSet::new();
        rules.add_deny(Rule::parse("Read(**/.env)").unwrap(), Level::User, "test");
        rules
    };
    let session =
        builder().rules(rules()).hook(reply("never asked", Verdict::allow())).build().session("s");
    let outcome = session
        .fire(&Event::pre_tool("Read", Json::parse(r#"{"file_path":"/tmp/.env"}"#).unwrap()))
        .await;
    assert_eq!(statuses(&outcome), ["permission"]);
    assert_eq!(outcome.decision, Decision::Deny);
    assert!(outcome.reason.unwrap().contains("Read(**/.env)"));

    let hook = reply("rewrite", patch(r#"{"file_path":"/tmp/.env"}"#));
    let session = builder().rules(rules()).hook(hook).build().session("s");
    let outcome = session
        .fire(&Event::pre_tool("Read", Json::parse(r#"{"file_path":"/tmp/a"}"#).unwrap()))
        .await;
    assert_eq!((outcome.decision, outcome.rewritten), (Decision::Deny, None));
}

#[tokio::test]
async fn an_allow_answers_an_ask_of_its_own_level_or_below_and_no_deny() {
    for (hook_level, rule_level, deny, expected) in [
        (Level::User, Level::User, false, Decision::Allow),
        (Level::User, Level::Project, false, Decision::Allow),
        (Level::Project, Level::User, false, Decision::Ask),
        (Level::Managed, Level::Private, true, Decision::Deny),
    ] {
        let mut rules = RuleSet::new();
        let rule = Rule::parse("Bash").unwrap();
        if deny {
            rules.add_deny(rule, rule_level, "test");
        } else {
            rules.add_ask(rule, rule_level, "test");
        }
        let hook = at(hook_level, reply("yes", Verdict::allow()));
        let outcome =
            builder().rules(rules).hook(hook).build().session("s").fire(&bash("ls")).await;
        assert_eq!(outcome.decision, expected, "{hook_level:?} {rule_level:?}");
    }
}

#[tokio::test]
async fn a_link_is_no_way_around_a_path_rule() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join(".env");
    std::fs::write(&secret, "x").unwrap();
    let link = folder.path().join("plain");
    std::os::unix::fs::symlink(&secret, &link).unwrap();
    let mut rules = RuleSet::new();
    rules.add_deny(Rule::parse("Read(**/.env)").unwrap(), Level::User, "test");
    let session = builder().rules(rules).build().session("s");
    assert!(session.wants(&EventKind::PreToolUse));
    let input = serde_json::json!({ "file_path": link });
    assert_eq!(session.fire(&Event::pre_tool("Read", input.into())).await.decision, Decision::Deny);
}

#[tokio::test]
async fn a_stop_is_sent_on_eight_times_in_a_row_and_not_when_it_did_not_end_by_itself() {
    let session =
        engine([reply_on(EventKind::Stop, "go on", Verdict::deny("tests fail"))]).session("s");
    let stop = Event::stop(StopFacts::default());
    for _ in 0..8 {
        assert_eq!(session.fire(&stop).await.decision, Decision::Deny);
    }
    let ninth = session.fire(&stop).await;
    assert_eq!(ninth.decision, Decision::None);
    assert!(ninth.messages[0].text.contains("8 times"));
    assert_eq!(session.fire(&stop).await.decision, Decision::Deny, "in a row starts anew");

    let cancelled =
        Event::stop(StopFacts { stop_reason: Some("cancelled".into()), ..StopFacts::default() });
    assert_eq!(session.fire(&cancelled).await.decision, Decision::None);
}

#[tokio::test]
async fn a_new_prompt_gives_a_stop_its_whole_budget_back() {
    let session = engine([
        reply_on(EventKind::Stop, "go on", Verdict::deny("more")),
        reply_on(EventKind::UserPromptSubmit, "prompt", Verdict::none()),
    ])
    .session("s");
    let stop = Event::stop(StopFacts::default());
    for _ in 0..3 {
        for _ in 0..8 {
            assert_eq!(session.fire(&stop).await.decision, Decision::Deny);
        }
        session.fire(&Event::user_prompt("next")).await;
    }
}

#[tokio::test]
async fn a_hook_that_fails_three_times_in_a_row_is_left_out_unless_it_is_a_guard() {
    let lax = with(shell("lax", "exit 1"), |hook| hook.on_failure = Some(OnFailure::Allow));
    let guard = shell("guard", "exit 4");
    let session = engine([lax.clone(), guard]).session("s");
    for _ in 0..3 {
        assert_eq!(statuses(&session.fire(&bash("ls")).await), ["crash", "crash"]);
    }
    let outcome = session.fire(&bash("ls")).await;
    assert_eq!(statuses(&outcome), ["strikes", "crash"]);
    assert_eq!(outcome.decision, Decision::Deny);
    assert!(outcome.messages.iter().any(|message| message.text.contains("`lax` is left out")));
    let fresh = session.engine().session("other");
    assert_eq!(
        statuses(&fresh.fire(&bash("ls")).await),
        ["crash", "crash"],
        "strikes are a session's own"
    );
}

#[tokio::test]
async fn a_hook_that_runs_once_leaves_the_mask_when_it_has() {
    let once = with(reply("once", Verdict::none().with_context("hi")), |hook| hook.once = true);
    let session = engine([once]).session("s");
    assert_eq!(session.fire(&bash("ls")).await.context, ["hi"]);
    assert!(!session.wants(&EventKind::PreToolUse));
    assert!(session.fire(&bash("ls")).await.hooks.is_empty());
}

#[tokio::test]
async fn a_hook_for_subagents_does_not_run_for_the_main_agent() {
    let session =
        engine([with(reply("sub", Verdict::deny("no")), |hook| hook.scope = Scope::Subagents)])
            .session("s");
    assert_eq!(statuses(&session.fire(&bash("ls")).await), ["scope"]);
    let mut event = bash("ls");
    event.origin.agent = Some(Agent { id: Some("a".into()), kind: None, depth: 1 });
    assert_eq!(session.fire(&event).await.decision, Decision::Deny);
}

#[tokio::test]
async fn equal_hooks_run_once() {
    let session = engine([shell("a", "echo '{}'"), shell("b", "echo '{}'")]).session("s");
    assert_eq!(statuses(&session.fire(&bash("ls")).await), ["ok", "duplicate"]);
}

#[tokio::test]
async fn a_clipped_view_never_becomes_what_is_executed() {
    let long = "x".repeat(5000);
    let view = Some(View { cap: 100, on_truncated: None });
    // The hook hands back what it was shown, with one key changed.
    let echo = with(
        shell(
            "echo",
            r#"python3 -c 'import json,sys; e=json.load(sys.stdin); i=e["tool_input"]; i["b"]=1; print(json.dumps({"replace": i}))'"#,
        ),
        |hook| hook.view = view,
    );
    let input = serde_json::json!({"command": long, "b": 0});
    let outcome = engine([echo]).session("s").fire(&Event::pre_tool("Bash", input.into())).await;
    let expected = serde_json::json!({"command": long, "b": 1});
    assert_eq!(outcome.rewritten.unwrap().to_value(), expected);

    let strict = with(shell("strict", "echo '{}'"), |hook| {
        hook.view = Some(View { cap: 100, on_truncated: Some(OnFailure::Block) });
    });
    let outcome = engine([strict]).session("s").fire(&bash(&long)).await;
    assert_eq!(outcome.decision, Decision::Deny);
}

#[tokio::test]
async fn a_context_that_is_too_long_goes_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let long = "é".repeat(20_000);
    let hook = reply("long", Verdict::none().with_context(long.clone()));
    let engine = builder().hook(hook).spill_folder(folder.path()).build();
    let outcome = engine.session("s").fire(&bash("ls")).await;
    let context = &outcome.context[0];
    assert!(context.chars().count() < 3_000);
    let path = context.rsplit(" is in ").next().unwrap().trim_end_matches(']');
    assert_eq!(std::fs::read_to_string(path).unwrap(), long);
}

#[tokio::test]
async fn cancelling_ends_the_hooks_and_withholds_what_they_would_have_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("pid").display().to_string();
    let redact = with(scripted("redact", &["ready", &ready, "hang"]), |hook| {
        hook.events = vec![EventKind::PostToolUse];
    });
    let session = engine([redact]).session("s");
    let event = Event::post_tool("Bash", Json::empty_object(), Json::string("a secret"));
    let cancel = CancellationToken::new();
    let cx = RunContext::new().with_cancel(cancel.clone());
    let path = std::path::PathBuf::from(&ready);
    let (outcome, pid) = tokio::join!(session.fire_with(&event, &cx), async {
        let pid =
            tokio::task::spawn_blocking(move || tenter_testkit::wait_for_pid(&path)).await.unwrap();
        cancel.cancel();
        pid
    });
    assert_eq!(statuses(&outcome), ["cancelled"]);
    let effective = outcome.rewritten.unwrap();
    assert!(!effective.as_text().contains("a secret") && effective.as_text().contains("withheld"));
    assert!(!tenter_testkit::is_alive(pid));
}

#[tokio::test]
async fn the_callers_deadline_bounds_every_hook_and_a_guard_that_misses_it_denies() {
    let session = engine([scripted("slow", &["hang"])]).session("s");
    let started = Instant::now();
    let cx = RunContext::new().with_deadline(started + Duration::from_millis(200));
    let outcome = session.fire_with(&bash("ls"), &cx).await;
    assert_eq!(statuses(&outcome), ["timeout"]);
    assert_eq!(outcome.decision, Decision::Deny);
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_deny_that_was_printed_before_the_deadline_counts_and_the_report_says_timeout() {
    let hook = with(
        scripted("slow", &["out", r#"{"decision":"deny","reason":"seen"}"#, "hang"]),
        |hook| {
            hook.timeout = Some(Duration::from_millis(300));
            hook.on_failure = Some(OnFailure::Allow);
        },
    );
    let outcome = engine([hook]).session("s").fire(&bash("ls")).await;
    assert_eq!(statuses(&outcome), ["timeout"]);
    assert_eq!((outcome.decision, outcome.reason.as_deref()), (Decision::Deny, Some("seen")));
}

#[tokio::test]
async fn a_redaction_that_fails_closed_withholds_the_result() {
    let hook = with(shell("redact", "exit 3"), |hook| {
        hook.events = vec![EventKind::PostToolUse];
        hook.on_failure = Some(OnFailure::Block);
    });
    let event = Event::post_tool("Bash", Json::empty_object(), Json::string("a secret"));
    let outcome = engine([hook]).session("s").fire(&event).await;
    assert!(!outcome.rewritten.unwrap().as_text().contains("a secret"));
    assert_eq!(outcome.decision, Decision::None);
}

#[tokio::test]
async fn plan_and_fire_agree() {
    let session = engine([
        reply("runs", Verdict::none()),
        with(reply("matcher", Verdict::none()), |hook| {
            hook.matcher = Matcher::parse("Edit").unwrap();
        }),
        with(reply("scope", Verdict::none()), |hook| hook.scope = Scope::Subagents),
        with(reply("if", Verdict::none()), |hook| {
            hook.condition = vec![Rule::parse("Read").unwrap()];
        }),
    ])
    .session("s");
    let event = bash("ls");
    let plan: Vec<_> = session.plan(&event).hooks.iter().map(|planned| planned.skip).collect();
    let fired: Vec<_> = session
        .fire(&event)
        .await
        .hooks
        .iter()
        .map(|report| match report.status {
            tenter::Status::Skipped(skip) => Some(skip),
            _ => None,
        })
        .collect();
    assert_eq!(plan, fired);
}
