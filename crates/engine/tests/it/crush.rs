//! Crush's own hooks under Crush's rules: what is kept as it is there, and what is mended. The
//! numbers are those of the cases in `tests/spec/crush`.

use std::ffi::OsString;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tenter::config::{Owners, Places, Surroundings};
use tenter::core::json::Json;
use tenter::hosts::crush::AggregateResult;
use tenter::{
    Approval, CancellationToken, Decision, Engine, Event, Files, Hook, Origin, Outcome, RunContext,
    Session, Skip, Status, Verdict,
};
use tenter_testkit::TestHome;

use crate::support::{at, builder, patch, reply, report, rewritten, shell, statuses, with};

fn crush() -> tenter::EngineBuilder {
    builder().profile("crush").unwrap()
}

fn session(hooks: impl IntoIterator<Item = Hook>) -> Session {
    hooks.into_iter().fold(crush(), tenter::EngineBuilder::hook).build().session("s1")
}

fn bash(command: &str) -> Event {
    Event::pre_tool("bash", serde_json::json!({ "command": command }).into())
}

async fn fire(hooks: impl IntoIterator<Item = Hook>, event: &Event) -> Outcome {
    session(hooks).fire(event).await
}

/// A home with files of Crush's, and the engine that they add up to.
struct World(TestHome);

impl World {
    fn new() -> Self {
        Self(TestHome::new())
    }

    fn user(&self, hooks: &str) {
        self.0.write(self.0.config().join("crush/crush.json"), file(hooks));
    }

    fn project(&self, hooks: &str) -> PathBuf {
        self.0.write("crush.json", file(hooks))
    }

    fn engine(&self, edit: impl FnOnce(&mut Files)) -> Engine {
        let env = self.0.env();
        let variable = |name: &str| {
            env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone().into())
        };
        let project = self.0.project();
        let (places, _) = Places::find(&Surroundings {
            variable: &variable,
            session_cwd: Some(&project),
            own_cwd: &project,
            project: None,
        });
        let mut files = Files::new(Places { managed: self.0.root().join("etc/tenter"), ..places });
        files.owners = Owners::of_this_process();
        edit(&mut files);
        let env = env.into_iter().map(|(name, value)| (OsString::from(name), value.into()));
        Engine::builder().profile("crush").unwrap().files(files).environment(env).build()
    }
}

fn file(hooks: &str) -> String {
    format!(r#"{{"hooks":{{"PreToolUse":{hooks}}}}}"#)
}

#[tokio::test]
async fn k7_what_a_variable_said_of_another_call_is_not_inherited() {
    let stale = [("CRUSH_TOOL_INPUT_FILE_PATH", "/stale"), ("CRUSH_TOOL_INPUT_COMMAND", "stale")];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let env = stale.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let hook = shell("env", "echo \"${CRUSH_TOOL_INPUT_FILE_PATH-unset}\" >&2; exit 2");
    let engine = Engine::builder()
        .profile("crush")
        .unwrap()
        .environment(env.into_iter().chain([("PATH".into(), path)]))
        .project("/tmp")
        .hook(hook)
        .build();
    let outcome = engine.session("s").fire(&bash("ls")).await;
    assert_eq!(outcome.reason.as_deref(), Some("unset"));
}

#[tokio::test]
async fn b8_b9_no_command_switches_a_guard_off() {
    let guard = || {
        shell("guard", "echo \"${CRUSH_TOOL_INPUT_COMMAND-omitted} $TENTER_OMITTED\" >&2; exit 2")
    };
    for command in ["rm x\0y".to_owned(), "x".repeat(200 << 10)] {
        let outcome = fire([guard()], &bash(&command)).await;
        assert_eq!(outcome.decision, Decision::Deny, "{outcome:?}");
        assert_eq!(outcome.reason.as_deref(), Some("omitted CRUSH_TOOL_INPUT_COMMAND"));
        let process = report(&outcome, "guard").process().unwrap();
        let stdin = String::from_utf8_lossy(process.stdin.as_deref().unwrap()).into_owned();
        let read = Json::parse(&stdin).unwrap().get("tool_input").unwrap();
        assert_eq!(read.get("command").unwrap().as_str().unwrap(), command, "stdin has all of it");
    }
}

#[tokio::test]
async fn k12_a_hook_that_reads_nothing_of_a_large_payload_is_no_failure() {
    let outcome = fire([shell("deaf", "exit 0")], &bash(&"x".repeat(1 << 20))).await;
    assert_eq!(statuses(&outcome), ["ok"]);
}

#[tokio::test]
async fn b37_an_interpreter_without_its_script_denies_and_the_report_names_it() {
    let outcome = fire([shell("gone", "sh /nowhere/guard.sh 2>&1; exit 2")], &bash("ls")).await;
    assert_eq!(outcome.decision, Decision::Deny);
    let gone = report(&outcome, "gone");
    assert_eq!(gone.status, Status::Ok);
    let outcome = fire([shell("gone", "sh /nowhere/guard.sh")], &bash("ls")).await;
    let told = report(&outcome, "gone")
        .diagnostics()
        .iter()
        .find(|one| one.code == "process.missing-file");
    assert!(told.unwrap().message.contains("/nowhere/guard.sh"));
}

#[tokio::test]
async fn k38_k39_a_matcher_stays_what_it_is_after_a_reload() {
    let world = World::new();
    world.user(r#"[{"name":"bash","matcher":"^bash$","command":"exit 2"}]"#);
    let engine = world.engine(|_| {});
    let session = engine.session("s");
    let view = Event::pre_tool("view", Json::empty_object());
    for _ in 0..2 {
        assert_eq!(session.fire(&bash("ls")).await.decision, Decision::Deny);
        assert_eq!(statuses(&session.fire(&view).await), ["matcher"]);
        engine.reload().unwrap();
    }
}

#[tokio::test]
async fn k41_b42_a_bad_entry_is_told_and_is_never_for_every_tool() {
    let world = World::new();
    world.user(
        r#"[{"name":"bad","matcher":"(","command":"exit 2"},{"name":"good","command":"exit 0"},
            {"name":"strict","matcher":"[","command":"x","on_failure":"block"}]"#,
    );
    let engine = world.engine(|_| {});
    let codes: Vec<_> = engine.loaded().diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["hook.bad-regex", "hook.bad-regex"]);
    let outcome = engine.session("s").fire(&bash("ls")).await;
    assert_eq!(statuses(&outcome), ["disabled", "ok", "config"]);
    assert_eq!(outcome.decision, Decision::Deny, "one that says so fails closed");
}

#[tokio::test]
async fn k48_the_user_s_hooks_come_first_and_the_project_s_win() {
    let world = World::new();
    let sets = |who: &str| {
        let answer =
            format!(r#"{{\"updated_input\":{{\"command\":\"{who}\"}},\"context\":\"{who}\"}}"#);
        format!(r#"[{{"name":"{who}","command":"echo '{answer}'"}}]"#)
    };
    world.user(&sets("user"));
    world.project(&sets("project"));
    let outcome =
        world.engine(|files| files.trust_project = true).session("s").fire(&bash("x")).await;
    let names: Vec<_> = outcome.hooks.iter().map(|one| one.hook.name.as_str()).collect();
    assert_eq!(names, ["user", "project"], "{outcome:?}");
    assert_eq!(outcome.context, ["user", "project"]);
    assert_eq!(rewritten(&outcome).as_deref(), Some(r#"{"command":"project"}"#));
}

#[tokio::test]
async fn b50_a_project_s_hooks_run_once_they_are_trusted_and_not_when_they_changed() {
    use tenter::trust::{Survey, Trust};
    let world = World::new();
    world.project(r#"[{"name":"guard","command":"exit 2"}]"#);
    let engine = world.engine(|_| {});
    let untrusted = engine.session("s").fire(&bash("ls")).await;
    assert_eq!(statuses(&untrusted), ["untrusted"]);
    assert!(untrusted.messages[0].text.contains("tenter trust --profile crush"));

    let record = Trust::new(world.0.state().join("tenter"), Owners::of_this_process());
    let survey = Survey::of(&world.0.project(), &engine.loaded().entries).unwrap();
    let native = record.clone();
    native.trust(&survey).unwrap();
    let still = world.engine(|_| {}).session("s").fire(&bash("ls")).await;
    assert_eq!(statuses(&still), ["untrusted"], "another host's trust says nothing");
    record.of_host("crush").trust(&survey).unwrap();
    let trusted = world.engine(|_| {}).session("s").fire(&bash("ls")).await;
    assert_eq!((statuses(&trusted), trusted.decision), (vec!["ok"], Decision::Deny));
    assert_eq!(native.projects().unwrap().len(), 1, "and takes nothing from it");

    world.project(r#"[{"name":"guard","command":"exit 0"}]"#);
    let changed = world.engine(|_| {}).session("s").fire(&bash("ls")).await;
    assert_eq!(statuses(&changed), ["trust"]);
}

#[tokio::test]
async fn the_administrator_s_policy_holds_for_a_host_s_files_too() {
    let world = World::new();
    world.project(r#"[{"name":"guard","command":"exit 2"}]"#);
    let managed = world.0.root().join("etc/tenter/hooks.toml");
    world.0.write(&managed, "[policy]\nallow_project = false\n");
    let user = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(&managed).unwrap());
    let engine = world.engine(|files| {
        files.trust_project = true;
        files.owners = Owners { root: user, user };
    });
    assert!(engine.hooks().is_empty(), "{:?}", engine.hooks());
    let codes: Vec<_> = engine.loaded().diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["config.refused"]);
}

#[tokio::test]
async fn hooks_may_be_given_as_the_text_of_a_file() {
    use tenter::hosts::config::FileId;
    let id = FileId { name: "hooks", path: "/", folder: "/", level: tenter::Level::User };
    let text = file(r#"[{"matcher":"^bash$","command":"exit 2"},{"matcher":"(","command":"x"}]"#);
    let read = tenter::hosts::crush::config::read(&text, &id);
    assert!(read.has_errors());
    let session = session(read.hooks().cloned());
    assert_eq!(session.engine().hooks().len(), 2);
    assert_eq!(statuses(&session.fire(&bash("ls")).await), ["ok", "disabled"]);
}

#[tokio::test]
async fn a_script_of_the_host_s_is_told_and_not_run() {
    let world = World::new();
    world.0.write("crushrc", "hook add PreToolUse --command 'exit 2'\n");
    let engine = world.engine(|files| files.trust_project = true);
    let codes: Vec<_> = engine.loaded().diagnostics.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["config.not-read"]);
    assert!(engine.hooks().is_empty());
}

#[tokio::test]
async fn a_relative_command_is_meant_from_the_current_directory() {
    let world = World::new();
    world.user(r#"[{"name":"here","command":"./guards/no.sh"}]"#);
    world.0.write_script("guards/no.sh", "#!/bin/sh\npwd >&2\nexit 2\n");
    let outcome = world.engine(|_| {}).session("s").fire(&bash("ls")).await;
    assert_eq!(outcome.reason, Some(world.0.project().display().to_string()), "{outcome:?}");
}

#[tokio::test]
async fn a_script_runs_without_being_executable() {
    let world = World::new();
    world.user(
        r#"[{"name":"shebang","command":"./guards/a b"},{"name":"plain","command":"./guards/plain.sh"},
            {"name":"program","command":"exec ./guards/run.sh"}]"#,
    );
    world.0.write("guards/a", "#!/usr/bin/env bash\n[[ $1 == b ]] && echo \"$1\" >&2; exit 2\n");
    world.0.write("guards/plain.sh", "echo plain >&2; exit 2\n");
    world.0.write_script("guards/run.sh", "#!/bin/sh\necho run >&2; exit 2\n");
    let engine = world.engine(|_| {});
    assert!(engine.loaded().diagnostics.is_empty(), "{:?}", engine.loaded().diagnostics);
    let outcome = engine.session("s").fire(&bash("ls")).await;
    assert_eq!(outcome.reason.as_deref(), Some("b\nplain\nrun"), "{outcome:?}");
}

#[tokio::test]
async fn k52_the_same_command_runs_once() {
    let hooks = [shell("first", "echo x >&2; exit 2"), shell("second", "echo x >&2; exit 2")];
    let outcome = fire(hooks, &bash("ls")).await;
    assert_eq!(statuses(&outcome), ["ok", "duplicate"]);
    assert_eq!(AggregateResult::of(&outcome).hook_count, 1);
    assert_eq!(outcome.reason.as_deref(), Some("x"));
}

#[tokio::test]
async fn k53_reasons_are_in_the_order_of_the_configuration() {
    let hooks =
        [shell("slow", "sleep 0.3; echo slow >&2; exit 2"), shell("fast", "echo fast >&2; exit 2")];
    assert_eq!(fire(hooks, &bash("ls")).await.reason.as_deref(), Some("slow\nfast"));
}

#[tokio::test]
async fn k64_b65_b66_time_is_up_for_the_whole_tree_and_a_denial_is_not_lost() {
    let marker = format!("39{}", std::process::id());
    let hook = with(shell("hangs", &format!("sleep {marker} & sleep {marker}")), |hook| {
        hook.timeout = Some(Duration::from_millis(400));
    });
    let started = Instant::now();
    let outcome = fire([hook.clone()], &bash("ls")).await;
    assert_eq!((statuses(&outcome), outcome.decision), (vec!["timeout"], Decision::None));
    assert!(started.elapsed() < Duration::from_secs(3));
    let alive =
        std::process::Command::new("pgrep").args(["-f", &format!("sleep {marker}")]).output();
    assert!(alive.unwrap().stdout.is_empty(), "nothing of it is alive");

    let closed = with(hook, |hook| hook.on_failure = Some(tenter::OnFailure::Block));
    assert_eq!(fire([closed], &bash("ls")).await.decision, Decision::Deny);

    let started = Instant::now();
    let left = shell("leaves", r#"sleep 3 & echo '{"decision":"deny","reason":"no"}'"#);
    let outcome = fire([left], &bash("ls")).await;
    assert_eq!(outcome.reason.as_deref(), Some("no"));
    assert!(started.elapsed() < Duration::from_secs(2), "the child is not waited for");
}

#[tokio::test]
async fn b67_an_endless_output_is_a_failure_that_fills_no_memory() {
    let outcome = fire([shell("floods", "yes x")], &bash("ls")).await;
    assert_eq!((statuses(&outcome), outcome.decision), (vec!["output-limit"], Decision::None));
    let stdout = report(&outcome, "floods").process().unwrap().stdout.len();
    assert!(stdout <= 2 << 20, "{stdout}");
}

#[tokio::test]
async fn b68_many_hooks_are_bounded_and_stay_in_order() {
    let hooks = (0..40).map(|at| shell(&format!("h{at}"), &format!("echo {at} >&2; exit 2")));
    let outcome = hooks
        .fold(crush().concurrency(8), tenter::EngineBuilder::hook)
        .build()
        .session("s")
        .fire(&bash("ls"))
        .await;
    let expected: Vec<_> = (0..40).map(|at| at.to_string()).collect();
    assert_eq!(outcome.reason, Some(expected.join("\n")));
}

#[tokio::test]
async fn k69_cancelling_ends_the_hooks_at_once() {
    let cancel = CancellationToken::new();
    let cx = RunContext::new().with_cancel(cancel.clone());
    let session = session([shell("slow", "sleep 20")]);
    let started = Instant::now();
    let event = bash("ls");
    let stop = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(session.fire_with(&event, &cx), stop);
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(report(&outcome, "slow").status, Status::Cancelled);
    assert!(outcome.messages.iter().any(|one| one.text.contains("cancelled")));
}

#[tokio::test]
async fn k72_an_allow_approves_one_call_and_no_other() {
    let session = session([reply("allow", Verdict::allow())]);
    let call = |id: &str| {
        bash("ls").with_origin(Origin { call_id: Some(id.to_owned()), ..Origin::default() })
    };
    let event = call("c1");
    let outcome = session.fire(&event).await;
    let profile = session.engine().host().profile;
    let approval = session.approval(&event, &outcome).unwrap();
    assert!(approval.covers("c1") && !approval.covers("c2") && !approval.covers(""));
    assert_eq!(approval.call_id(), "c1");
    assert_eq!(Approval::of(&bash("ls"), &outcome, profile), None, "a call without an id");
    for verdict in [Verdict::none(), Verdict::deny("x"), Verdict::allow().with_halt(true)] {
        let outcome = fire([reply("other", verdict)], &event).await;
        assert_eq!(Approval::of(&event, &outcome, profile), None);
    }
}

#[tokio::test]
async fn k63_k76_b62_b77_metadata_for_a_user_interface() {
    let denied = fire(
        [
            with(reply("rewrites", patch(r#"{"command":"x"}"#)), |hook| {
                hook.matcher = tenter::core::Matcher::regex("^bash$").unwrap();
            }),
            reply("no", Verdict::deny("not here").with_context("c")),
            shell("breaks", "exit 3"),
            with(shell("other", "exit 2"), |hook| {
                hook.matcher = tenter::core::Matcher::regex("^view$").unwrap();
            }),
        ],
        &bash("ls"),
    )
    .await;
    let aggregate = AggregateResult::of(&denied);
    assert_eq!((aggregate.hook_count, aggregate.updated_input.as_str()), (3, ""));
    assert_eq!((aggregate.reason.as_str(), aggregate.context.as_str()), ("not here", "c"));
    assert_eq!(
        aggregate.metadata().beside(r#"{"lines":2}"#),
        concat!(
            r#"{"lines":2,"hook":{"hook_count":3,"decision":"deny","reason":"not here","hooks":["#,
            r#"{"name":"rewrites","matcher":"^bash$","decision":"none"},"#,
            r#"{"name":"no","decision":"deny","reason":"not here"},"#,
            r#"{"name":"breaks","decision":"none","reason":"exit 3","status":"failed"}]}}"#
        )
    );

    let changed = fire(
        [
            reply("a", patch(r#"{"command":"x"}"#).with_context("one")),
            reply("b", Verdict::allow().because("kept in the hook").with_context("two")),
        ],
        &bash("ls"),
    )
    .await;
    let aggregate = AggregateResult::of(&changed);
    assert_eq!(aggregate.updated_input, r#"{"command":"x"}"#);
    assert_eq!((aggregate.context.as_str(), aggregate.reason.as_str()), ("one\ntwo", ""));
    assert_eq!(
        aggregate.metadata().beside(""),
        concat!(
            r#"{"hook":{"hook_count":2,"decision":"allow","input_rewrite":true,"hooks":["#,
            r#"{"name":"a","decision":"none","input_rewrite":true},"#,
            r#"{"name":"b","decision":"allow","reason":"kept in the hook"}]}}"#
        )
    );

    let nobody = AggregateResult::of(&fire([], &bash("ls")).await);
    assert_eq!((nobody.hook_count, nobody.metadata().beside("x").as_str()), (0, "x"));
}

#[tokio::test]
async fn k79_a_subagent_s_own_calls_are_hooked_where_the_entry_says_so() {
    let world = World::new();
    world.user(
        r#"[{"name":"main","command":"exit 0"},
            {"name":"all","include_sub_agents":true,"command":"grep -q '\"is_sub_agent\":true' && exit 2"}]"#,
    );
    let mut event = bash("ls");
    event.origin.agent =
        Some(tenter::core::Agent { id: Some("a1".into()), kind: Some("task".into()), depth: 1 });
    let outcome = world.engine(|_| {}).session("s").fire(&event).await;
    assert_eq!((statuses(&outcome), outcome.decision), (vec!["scope", "ok"], Decision::Deny));
}

#[tokio::test]
async fn k80_without_hooks_there_is_nothing_to_do() {
    let session = session([]);
    assert!(!session.wants(&tenter::EventKind::PreToolUse));
    assert!(session.fire(&bash("ls")).await.hooks.is_empty());
}

#[tokio::test]
async fn levels_do_not_bind_and_no_guard_is_asked_again() {
    let hooks = [
        at(tenter::Level::Managed, reply("managed", patch(r#"{"command":"a"}"#))),
        reply("user", patch(r#"{"command":"b"}"#)),
        shell("guard", "grep -q '\"b\"' && exit 2; exit 0"),
    ];
    let outcome = fire(hooks, &bash("ls")).await;
    assert_eq!(rewritten(&outcome).as_deref(), Some(r#"{"command":"b"}"#));
    assert!(outcome.hooks.iter().all(|one| one.recheck().is_none()));
}

#[tokio::test]
async fn an_event_without_a_row_leaves_its_hooks_out_loudly() {
    let world = World::new();
    world.0.write(
        world.0.config().join("crush/crush.json"),
        r#"{"hooks":{"Stop":[{"name":"never","command":"exit 2"}]}}"#,
    );
    let engine = world.engine(|_| {});
    let hooks = engine.hooks();
    assert_eq!(hooks[0].skip, Some(Skip::Unsupported));
    let outcome =
        engine.session("s").fire(&Event::stop(tenter::core::event::StopFacts::default())).await;
    assert_eq!((statuses(&outcome), outcome.messages.len()), (vec!["unsupported"], 1));
}

#[tokio::test]
async fn a_profile_is_chosen_by_its_name() {
    assert_eq!(crush().build().host().profile.name, "crush");
    let error = Engine::builder().profile("nobody").unwrap_err();
    let told = error.to_string();
    assert!(told.starts_with("there is no profile `nobody`; there are tenter, crush"), "{told}");
}
