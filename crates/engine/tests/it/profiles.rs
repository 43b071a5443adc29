//! What a profile may say otherwise than the native one, each rule by itself.

use std::time::{Duration, Instant};

use tenter::core::contract::{Contract, Fold, MergeRule, Runs};
use tenter::core::hook::View;
use tenter::core::profile::{Dedupe, MissingFile, Permission, Profile};
use tenter::hosts::codec::Host;
use tenter::hosts::native::{HOST, PROFILE};
use tenter::{
    Decision, Engine, EventKind, Hook, Json, Level, OnFailure, Rule, RuleSet, Session, Verdict,
};

use crate::support::{at, bash, builder, patch, reply, report, rewritten, shell, statuses, with};

/// A host with rules of its own before a tool runs, for the rest of the process.
fn host(edit: impl FnOnce(&mut Profile, &mut Contract)) -> Host {
    let mut row = *PROFILE.contract(&EventKind::PreToolUse);
    let mut profile = PROFILE;
    edit(&mut profile, &mut row);
    let mut rows = *PROFILE.contracts;
    rows[EventKind::PreToolUse.index()] = row;
    profile.contracts = Box::leak(Box::new(rows));
    Host { profile: Box::leak(Box::new(profile)), ..HOST }
}

fn session(host: Host, hooks: impl IntoIterator<Item = Hook>) -> Session {
    hooks.into_iter().fold(builder().host(host), tenter::EngineBuilder::hook).build().session("s")
}

fn ruled(permission: Permission, deny: &[&str], ask: &[&str], hooks: Vec<Hook>) -> Session {
    let mut rules = RuleSet::new();
    for text in deny {
        rules.add_deny(Rule::parse(text).unwrap(), Level::User, "test");
    }
    for text in ask {
        rules.add_ask(Rule::parse(text).unwrap(), Level::User, "test");
    }
    let host = host(|profile, _| {
        profile.permission = permission;
        profile.recheck = false;
    });
    let builder = builder().host(host).rules(rules);
    hooks.into_iter().fold(builder, tenter::EngineBuilder::hook).build().session("s")
}

#[tokio::test]
async fn an_allow_answers_what_the_profile_lets_it_answer() {
    let allow = || vec![at(Level::Project, reply("allow", Verdict::allow()))];
    for (permission, decision) in [
        // The rule is the user's, the hook the project's.
        (Permission::AroundHooks, Decision::Ask),
        (Permission::BeforeHooks, Decision::Ask),
        (Permission::AfterHooks, Decision::Ask),
        (Permission::AfterHooksAllowApproves, Decision::Allow),
    ] {
        let outcome = ruled(permission, &[], &["Bash(git *)"], allow()).fire(&bash("git x")).await;
        assert_eq!(outcome.decision, decision, "{permission:?}");
        let outcome = ruled(permission, &["Bash(git *)"], &[], allow()).fire(&bash("git x")).await;
        assert_eq!(outcome.decision, Decision::Deny, "no hook outranks a deny: {permission:?}");
    }
    let outcome = ruled(Permission::AfterHooks, &[], &[], allow()).fire(&bash("ls")).await;
    assert_eq!(outcome.decision, Decision::None, "a hook that never grants");
}

#[tokio::test]
async fn rules_judge_before_or_after_the_hooks() {
    let rm = || vec![reply("rm", patch(r#"{"command":"rm x"}"#))];
    for (permission, skipped, decision) in [
        (Permission::AroundHooks, true, Decision::Deny),
        (Permission::BeforeHooks, true, Decision::None),
        (Permission::AfterHooks, false, Decision::Deny),
        (Permission::AfterHooksAllowApproves, false, Decision::Deny),
    ] {
        let session = ruled(permission, &["Bash(rm *)"], &[], rm());
        let before = session.fire(&bash("rm y")).await;
        assert_eq!(before.decision, Decision::Deny, "{permission:?}");
        assert_eq!(statuses(&before) == ["permission"], skipped, "{permission:?}");
        let after = session.fire(&bash("ls")).await;
        assert_eq!(after.decision, decision, "of the rewritten call: {permission:?}");
    }
}

#[tokio::test]
async fn hooks_in_turn_see_what_those_before_them_made_of_it() {
    let host = host(|profile, row| {
        row.runs = Runs::InTurn;
        profile.dedupe = Dedupe::Never;
        row.merge = MergeRule { fold: Fold::Last, ..MergeRule::IN_ORDER };
    });
    let script = r#"read -r line; case $line in *first*) echo '{"replace":{"command":"both"}}';; *) echo '{"replace":{"command":"first"}}';; esac"#;
    let outcome = session(host, [shell("a", script), shell("b", script)]).fire(&bash("ls")).await;
    assert_eq!(rewritten(&outcome).as_deref(), Some(r#"{"command":"both"}"#), "{outcome:?}");
}

#[tokio::test]
async fn all_hooks_of_an_event_may_have_one_budget() {
    let host = host(|_, row| {
        row.runs = Runs::InTurn;
        row.on_failure = OnFailure::Allow;
        row.budget = Some(Duration::from_millis(600));
    });
    let started = Instant::now();
    let hooks = ["a", "b", "c"].map(|name| shell(name, &format!("sleep 0.4; : {name}")));
    let outcome = session(host, hooks).fire(&bash("ls")).await;
    assert_eq!(statuses(&outcome), ["ok", "timeout", "timeout"]);
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn a_view_may_be_the_profile_s() {
    let host = host(|profile, row| {
        profile.cap_mark = "[cut]";
        row.view = Some(View { cap: 8, on_truncated: None });
    });
    let echo = r#"read -r line; case $line in *12345678\[cut\]*) echo '{"context":"cut"}';; esac"#;
    let outcome = session(host, [shell("sees", echo)]).fire(&bash("123456789")).await;
    assert_eq!(outcome.context, ["cut"]);
}

#[tokio::test]
async fn a_missing_script_may_be_the_interpreter_s_to_tell() {
    let host = host(|profile, _| profile.missing_file = MissingFile::IsTold);
    let outcome = session(host, [shell("gone", "sh /nowhere/guard.sh")]).fire(&bash("ls")).await;
    let gone = report(&outcome, "gone");
    assert!(gone.process().is_some(), "it was started");
    let told = gone.diagnostics().iter().find(|one| one.code == "process.missing-file").unwrap();
    assert!(told.message.contains("/nowhere/guard.sh"), "{}", told.message);
}

#[tokio::test]
async fn guards_may_be_asked_once_only() {
    let rewrite = reply("rewrite", patch(r#"{"command":"rm"}"#));
    let guard = || shell("guard", "read -r line; case $line in *rm*) exit 2;; esac");
    for (recheck, decision) in [(true, Decision::Deny), (false, Decision::None)] {
        let host = host(|profile, _| profile.recheck = recheck);
        let outcome = session(host, [rewrite.clone(), guard()]).fire(&bash("ls")).await;
        assert_eq!(outcome.decision, decision, "recheck {recheck}");
    }
}

#[tokio::test]
async fn the_same_command_may_run_once_whatever_its_matcher() {
    let host = host(|profile, _| profile.dedupe = Dedupe::SameCommand);
    let matcher = |text: &str| tenter::core::Matcher::parse(text).unwrap();
    let hooks = [
        with(shell("edit", "exit 2"), |hook| hook.matcher = matcher("Edit")),
        with(shell("bash", "exit 2"), |hook| hook.matcher = matcher("Bash")),
        shell("all", "exit 2"),
    ];
    let outcome = session(host, hooks).fire(&bash("ls")).await;
    assert_eq!(statuses(&outcome), ["matcher", "ok", "duplicate"]);
}

#[tokio::test]
async fn rules_know_a_tool_by_the_host_s_name_and_by_their_own() {
    let host = host(|profile, _| profile.tools = &[("run", "Bash")]);
    let mut rules = RuleSet::new();
    rules.add_deny(Rule::parse("Bash(rm *)").unwrap(), Level::User, "test");
    let engine: Engine = builder().host(host).rules(rules).build();
    let input = Json::from(serde_json::json!({ "command": "cd /; rm x" }));
    let event = tenter::Event::pre_tool("run", input);
    assert_eq!(engine.session("s").fire(&event).await.decision, Decision::Deny);
}
