//! Failures of hook systems that have to do with processes, tried on real ones; `docs/failures.md`
//! lists them.

use std::path::Path;
use std::time::{Duration, Instant};

use tenter::core::contract::OnFailure;
use tenter::core::event::{Payload, StopFacts};
use tenter::core::hook::{CommandLine, Handler, Hook};
use tenter::core::json::Json;
use tenter::{CancellationToken, Decision, Event, EventKind, RunContext};
use tenter_testkit::{is_alive, wait_for_file, wait_for_pid, wait_until, wait_until_dead};

use crate::support::*;

/// Catches a hang and measures nothing.
const HANGS: Duration = Duration::from_secs(20);

fn word(path: &Path) -> String {
    path.display().to_string()
}

fn lax(hook: Hook) -> Hook {
    with(hook, |hook| hook.on_failure = Some(OnFailure::Allow))
}

fn on(kind: EventKind, hook: Hook) -> Hook {
    with(hook, |hook| hook.events = vec![kind])
}

fn in_time(seconds: f64, hook: Hook) -> Hook {
    with(hook, |hook| hook.timeout = Some(Duration::from_secs_f64(seconds)))
}

/// Waits on a thread of its own, so that the runtime goes on.
async fn off_the_runtime<T: Send + 'static>(wait: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(wait).await.unwrap()
}

#[tokio::test]
async fn a_hook_that_leaves_its_output_open_behind_it_has_answered() {
    let deny = r#"{"decision":"deny","reason":"seen"}"#;
    for (answer, decision) in [("", Decision::None), (deny, Decision::Deny)] {
        let folder = tempfile::tempdir().unwrap();
        let (ready, go) = (folder.path().join("ready"), folder.path().join("go"));
        let (ready_word, go_word) = (word(&ready), word(&go));
        let words = [
            "spawn",
            "group",
            "--",
            "ready",
            &ready_word,
            "wait-file",
            &go_word,
            ";",
            "wait-file",
            &ready_word,
            "out",
            answer,
        ];
        let session = engine([in_time(60.0, scripted("leaves", &words))]).session("s");
        let started = Instant::now();
        let outcome = session.fire(&bash("ls")).await;
        assert!(started.elapsed() < HANGS, "{:?}", started.elapsed());
        assert_eq!((statuses(&outcome), outcome.decision), (vec!["ok"], decision));
        let codes: Vec<_> =
            report(&outcome, "leaves").diagnostics().iter().map(|said| said.code).collect();
        assert!(codes.contains(&"process.pipe-held"), "{codes:?}");
        let left = wait_for_pid(&ready);
        assert!(is_alive(left), "what a hook leaves behind on purpose lives on");
        std::fs::write(go, "").unwrap();
        wait_until_dead(left);
    }
}

/// A hook for each way to fail, with the word for it.
fn failures() -> Vec<(Hook, &'static str)> {
    let argv = |name: &str, words: &[&str]| {
        with(shell(name, "unused"), |hook| {
            if let Handler::Command(command) = &mut hook.handler {
                let words = words.iter().map(|word| (*word).to_owned()).collect();
                command.line = CommandLine::Argv(words);
            }
        })
    };
    vec![
        (scripted("exits", &["out", r#"{"decision":"allow"}"#, "exit", "1"]), "crash"),
        (scripted("is killed", &["signal", "9"]), "signal"),
        (argv("is not there", &["/nonexistent/guard"]), "start"),
        (argv("has no script", &["python3", "/nonexistent/guard.py"]), "start"),
        (shell("is not found", "no-such-guard-anywhere"), "start"),
        (shell("does not parse", "if then"), "start"),
        (shell("says half", r#"printf '{"decision":"allow"'"#), "output"),
        (shell("says nonsense", r#"echo '{"decision":"perhaps"}'"#), "output"),
        (scripted("floods", &["flood-out", "2000000"]), "output-limit"),
        (in_time(0.3, scripted("hangs", &["hang"])), "timeout"),
    ]
}

#[tokio::test]
async fn no_failure_of_a_guard_lets_the_call_through_or_looks_like_success() {
    for (hook, status) in failures() {
        for (hook, decision) in [(hook.clone(), Decision::Deny), (lax(hook), Decision::None)] {
            let name = hook.name.clone();
            let outcome = engine([hook]).session("s").fire(&bash("ls")).await;
            assert_eq!((statuses(&outcome), outcome.decision), (vec![status], decision), "{name}");
            let said = outcome.messages.iter().any(|message| {
                message.hook.as_deref() == Some(&*name) && message.text.contains(status)
            });
            assert!(said, "{name}: {:?}", outcome.messages);
            if decision == Decision::Deny {
                assert!(outcome.reason.unwrap().contains(&name));
            }
        }
    }
}

#[tokio::test]
async fn a_call_that_no_environment_could_hold_is_shown_whole() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let commands = ["rm \0-r x".to_owned(), format!(": {}; rm -r x", "#".repeat(300 * 1024))];
    for (tool, omitted) in [("Bash", None), ("Ba\0sh", Some("TENTER_TOOL_NAME"))] {
        for command in &commands {
            let words = ["read-stdin-to", &word(&seen), "env", "TENTER_OMITTED"];
            let input = serde_json::json!({ "command": command });
            let event = Event::pre_tool(tool, input.clone().into());
            let outcome = engine([scripted("guard", &words)]).session("s").fire(&event).await;
            assert_eq!(statuses(&outcome), ["ok"]);
            let line: serde_json::Value = serde_json::from_str(&wait_for_file(&seen)).unwrap();
            assert_eq!((&line["tool_input"], &line["tool_name"]), (&input, &tool.into()));
            let printed = &report(&outcome, "guard").process().unwrap().stdout;
            let expected = match omitted {
                Some(name) => format!("TENTER_OMITTED={name}\n"),
                None => "TENTER_OMITTED\n".to_owned(),
            };
            assert_eq!(String::from_utf8_lossy(printed), expected);
            std::fs::remove_file(&seen).unwrap();
        }
    }
}

#[tokio::test]
async fn a_program_that_never_gets_to_its_own_code_meets_the_deadline() {
    // The loader opens what is to be loaded first, and nobody ever opens the other end.
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("library.so");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let hook = with(in_time(0.5, scripted("stuck", &["out", "ran"])), |hook| {
        if let Handler::Command(command) = &mut hook.handler {
            command.env = vec![("LD_PRELOAD".to_owned(), word(&pipe))];
        }
    });
    let started = Instant::now();
    let outcome = engine([hook]).session("s").fire(&bash("ls")).await;
    assert!(started.elapsed() < HANGS);
    assert_eq!((statuses(&outcome), outcome.decision), (vec!["timeout"], Decision::Deny));
    assert!(report(&outcome, "stuck").process().unwrap().stdout.is_empty());
}

#[tokio::test]
async fn a_guard_that_waits_for_its_turn_denies_at_the_deadline_and_is_never_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: String| word(&folder.path().join(name));
    let go = file("go".to_owned());
    let busy = (0..8).map(|n| {
        let ready = file(format!("ready {n}"));
        on(EventKind::Stop, scripted(&format!("busy {n}"), &["ready", &ready, "wait-file", &go]))
    });
    let ran = folder.path().join("ran");
    let guard = scripted("guard", &["ready", &word(&ran)]);
    let engine = busy.fold(builder().concurrency(8), tenter::EngineBuilder::hook).hook(guard);
    let session = engine.build().session("s");
    let holding = tokio::spawn({
        let session = session.clone();
        async move { session.fire(&Event::stop(StopFacts::default())).await }
    });
    for n in 0..8 {
        let ready = folder.path().join(format!("ready {n}"));
        off_the_runtime(move || wait_for_pid(&ready)).await;
    }
    let cx = RunContext::new().with_deadline(Instant::now() + Duration::from_millis(200));
    let outcome = session.fire_with(&bash("ls"), &cx).await;
    assert_eq!((statuses(&outcome), outcome.decision), (vec!["timeout"], Decision::Deny));
    assert!(!ran.exists());
    std::fs::write(&go, "").unwrap();
    assert_eq!(statuses(&holding.await.unwrap()), ["ok"; 8]);
    // With room again, nothing of it is left.
    let outcome = session.fire(&bash("ls")).await;
    assert!(outcome.may_proceed() && ran.exists());
}

#[tokio::test]
async fn no_more_processes_run_at_once_than_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    let (log, go) = (folder.path().join("log"), folder.path().join("go"));
    let hooks = (0..40).map(|n| {
        let (log, go) = (word(&log), word(&go));
        let words = ["append", &log, "+", "wait-file", &go, "append", &log, "-"];
        scripted(&n.to_string(), &[&words[..], &["exit", "0", &n.to_string()]].concat())
    });
    let engine = hooks.fold(builder().concurrency(8), tenter::EngineBuilder::hook).build();
    let firing = tokio::spawn(async move { engine.session("s").fire(&bash("ls")).await });
    let begun = log.clone();
    off_the_runtime(move || {
        wait_until("eight hooks should run", || {
            std::fs::read_to_string(&begun).is_ok_and(|text| text.lines().count() == 8)
        });
    })
    .await;
    std::fs::write(&go, "").unwrap();
    assert_eq!(statuses(&firing.await.unwrap()), ["ok"; 40]);
    let (mut running, mut most) = (0, 0);
    for line in std::fs::read_to_string(&log).unwrap().lines() {
        running += if line == "+" { 1 } else { -1 };
        most = most.max(running);
    }
    assert_eq!((running, most), (0, 8));
}

#[tokio::test]
async fn an_interrupt_reaches_the_hooks_of_every_event_that_is_waited_for() {
    let events = [
        Event::session_start("startup"),
        Event::user_prompt("hi"),
        bash("ls"),
        Event::post_tool("Bash", Json::empty_object(), Json::string("out")),
        Event::stop(StopFacts::default()),
    ];
    for event in events {
        let folder = tempfile::tempdir().unwrap();
        let ready = folder.path().join("pid");
        let words = ["ready", &word(&ready), "hang"];
        let hook = in_time(240.0, on(event.kind.clone(), scripted("slow", &words)));
        let session = engine([hook]).session("s");
        let cancel = CancellationToken::new();
        let cx = RunContext::new().with_cancel(cancel.clone());
        let started = Instant::now();
        let (outcome, pid) = tokio::join!(session.fire_with(&event, &cx), async {
            let pid = off_the_runtime(move || wait_for_pid(&ready)).await;
            cancel.cancel();
            pid
        });
        assert!(started.elapsed() < HANGS, "{}", event.kind);
        assert_eq!(statuses(&outcome), ["cancelled"], "{}", event.kind);
        assert!(!is_alive(pid), "{}", event.kind);
    }
}

#[tokio::test]
async fn an_interrupt_before_the_start_starts_nothing_and_publishes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let ran = folder.path().join("ran");
    let hook = on(EventKind::PostToolUse, scripted("redact", &["ready", &word(&ran)]));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let event = Event::post_tool("Bash", Json::empty_object(), Json::string("a secret"));
    let cx = RunContext::new().with_cancel(cancel);
    let outcome = engine([hook]).session("s").fire_with(&event, &cx).await;
    assert_eq!(statuses(&outcome), ["cancelled"]);
    assert!(!ran.exists() && !outcome.rewritten.unwrap().as_text().contains("a secret"));
}

#[tokio::test]
async fn a_process_is_given_no_credential_of_a_model_and_starts_in_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap();
    let names = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "TENTER_TOOL_NAME", "EDITOR", "TENTER_CWD"];
    let words: Vec<_> = names.iter().flat_map(|name| ["env", name]).chain(["cwd"]).collect();
    let session = tenter::Engine::builder()
        .environment([
            ("ANTHROPIC_API_KEY".into(), "secret".into()),
            ("OPENAI_API_KEY".into(), "secret".into()),
            ("TENTER_TOOL_NAME".into(), "of an outer event".into()),
            ("EDITOR".into(), "vi".into()),
        ])
        .project(&project)
        .hook(scripted("looks", &words))
        .build()
        .session("s");
    let mut event = bash("ls");
    event.origin.cwd = "/".into();
    let outcome = session.fire(&event).await;
    let printed = &report(&outcome, "looks").process().unwrap().stdout;
    let expected = format!(
        "ANTHROPIC_API_KEY\nOPENAI_API_KEY\nTENTER_TOOL_NAME=Bash\nEDITOR=vi\nTENTER_CWD=/\n{}\n",
        project.display()
    );
    assert_eq!(String::from_utf8_lossy(printed), expected);
}

#[tokio::test]
async fn one_success_takes_the_failures_before_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let fine = folder.path().join("fine");
    let text = format!("test -e {} || exit 3", fine.display());
    let session = engine([lax(shell("flaky", &text))]).session("s");
    for _ in 0..3 {
        for _ in 0..2 {
            assert_eq!(statuses(&session.fire(&bash("ls")).await), ["crash"]);
        }
        std::fs::write(&fine, "").unwrap();
        assert_eq!(statuses(&session.fire(&bash("ls")).await), ["ok"]);
        std::fs::remove_file(&fine).unwrap();
    }
}

#[tokio::test]
async fn a_gate_whose_hook_breaks_stays_shut() {
    for kind in [EventKind::TaskCreated, EventKind::TaskCompleted] {
        let hook = on(kind.clone(), shell("tests pass", "exit 1"));
        let event = Event::new(kind, Payload::Open);
        let outcome = engine([hook]).session("s").fire(&event).await;
        assert_eq!((statuses(&outcome), outcome.decision), (vec!["crash"], Decision::Deny));
    }
}

#[tokio::test]
async fn what_a_hook_has_said_before_its_time_was_up_still_holds_the_action_up() {
    for (words, halt) in [
        (vec!["out", r#"{"halt":true,"reason":"seen"}"#, "hang"], true),
        (vec!["on-term", "exit", "2", "err", "seen", "hang"], false),
        (vec!["on-term", "exit", "49", "err", "seen", "hang"], true),
    ] {
        let hook = in_time(1.0, lax(scripted("slow", &words)));
        let outcome = engine([hook]).session("s").fire(&bash("ls")).await;
        assert_eq!(statuses(&outcome), ["timeout"], "{words:?}");
        assert_eq!((outcome.may_proceed(), outcome.halt), (false, halt), "{words:?}");
    }
}

#[tokio::test]
async fn a_reason_as_long_as_a_build_log_is_clipped_for_the_model_and_kept_in_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let hook = scripted("builds", &["flood-err", "200000", "exit", "2"]);
    for (spill, kept) in [(false, 9_000..=10_000), (true, 2_000..=3_000)] {
        let builder = builder().hook(hook.clone());
        let builder = if spill { builder.spill_folder(folder.path()) } else { builder };
        let outcome = builder.build().session("s").fire(&bash("make")).await;
        assert_eq!(outcome.decision, Decision::Deny);
        let length = outcome.reason.as_deref().unwrap().chars().count();
        assert!(kept.contains(&length), "{length}");
        assert_eq!(report(&outcome, "builds").reason.as_deref().unwrap().len(), 200_000);
    }
    let whole = std::fs::read_dir(folder.path().join("s")).unwrap().next().unwrap().unwrap();
    assert_eq!(std::fs::read(whole.path()).unwrap(), "x".repeat(200_000).into_bytes());
}
