//! Deadlines, cancelling and dropping: what is stopped, what is kept, what is left (nothing).

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use tenter_process::{Cgroups, Command, Containment, Ended, Exit, Stopped, run, settle};
use tenter_testkit::{LIMIT, is_alive, wait_for_pid, wait_until_dead};
use tokio_util::sync::CancellationToken;

use crate::support::{
    CommandExt, Folder, current_thread, ended, hook, in_its_own_process, multi_thread, shell, text,
    zombies,
};

const SOON: Duration = Duration::from_millis(300);
/// Time enough for a hook to have come as far as its test wants it.
const LATER: Duration = Duration::from_secs(1);
const SHORT_GRACE: Duration = Duration::from_millis(200);
/// Five times what any of these may take, and far less than what the hooks would.
const BOUND: Duration = Duration::from_secs(5);

#[test]
fn a_shell_and_what_it_waits_for_end_at_the_deadline() {
    let ended = ended(&shell("sleep 300").with_timeout(SOON));
    assert_eq!((ended.stopped, ended.exit), (Some(Stopped::Deadline), Exit::Signal(libc::SIGTERM)));
    assert_eq!((ended.held, ended.left.len()), (false, 0));
    assert!(ended.duration >= SOON && ended.duration < BOUND, "{:?}", ended.duration);
}

#[test]
fn every_part_of_a_pipeline_ends_at_the_deadline() {
    let folder = Folder::new();
    let program = tenter_testkit::scripted_hook();
    let script = format!(
        "{0} ready {1} hang | {0} ready {2} hang | cat",
        program.display(),
        folder.word("one"),
        folder.word("two")
    );
    let ended = ended(&shell(&script).with_timeout(LATER));
    assert_eq!(ended.stopped, Some(Stopped::Deadline));
    for name in ["one", "two"] {
        assert!(!is_alive(wait_for_pid(&folder.path(name))));
    }
}

#[test]
fn output_from_before_the_deadline_and_from_the_grace_is_kept() {
    let script = "trap 'echo cleaned; exit 7' TERM; echo before; echo oops >&2; sleep 300 & wait";
    let ended = ended(&shell(script).with_timeout(LATER));
    assert_eq!((ended.stopped, ended.exit), (Some(Stopped::Deadline), Exit::Code(7)));
    assert_eq!((text(&ended.stdout), text(&ended.stderr)), ("before\ncleaned\n", "oops\n"));
}

#[test]
fn who_ignores_the_polite_signal_is_killed_after_the_grace() {
    let command = hook("ignore-term out before hang").with_timeout(LATER).with_grace(SHORT_GRACE);
    let ended = ended(&command);
    assert_eq!((ended.stopped, ended.exit), (Some(Stopped::Deadline), Exit::Signal(libc::SIGKILL)));
    assert_eq!(text(&ended.stdout), "before");
    assert!(ended.duration >= LATER + SHORT_GRACE && ended.duration < BOUND);
}

/// A hook that starts a grandchild which goes as far as `kind` says, ignores SIGTERM, and holds the
/// output. It is cancelled when both are ready and hang.
async fn with_escaped(kind: &str, folder: &Folder, cgroups: Option<Cgroups>) -> Ended {
    let (escaped, ready) = (folder.word("escaped"), folder.word("ready"));
    let words = format!(
        "spawn {kind} -- ignore-term ready {escaped} hang ; \
         wait-file {escaped} out up ready {ready} hang"
    );
    let command = Command { cgroups, ..hook(&words).with_grace(SHORT_GRACE) };
    let cancel = CancellationToken::new();
    let (ended, ()) = tokio::join!(run(&command, &cancel), async {
        when_ready(&folder.path("ready")).await;
        cancel.cancel();
    });
    let ended = ended.unwrap();
    assert_eq!(ended.stopped, Some(Stopped::Cancelled), "{kind}");
    assert_eq!(text(&ended.stdout), "up", "{kind}");
    assert!(!is_alive(wait_for_pid(&folder.path("escaped"))), "{kind} escaped");
    assert_eq!((ended.held, &ended.left[..]), (false, &[][..]), "{kind}: {ended:?}");
    ended
}

#[test]
fn a_grandchild_that_left_the_session_is_found_and_killed() {
    for kind in [
        "group",
        "setpgid",
        "setsid",
        "double-setsid",
        "bare-env-setsid",
        "setsid,null",
        "bare-env-setsid,null",
        "double-setsid,null",
        "lost-setsid",
    ] {
        let ended = current_thread().block_on(with_escaped(kind, &Folder::new(), None));
        assert_eq!(ended.contained_by, Containment::Scan, "{kind}");
    }
}

/// Whatever cleared its environment, left the session and let go of every pipe cannot be told from a
/// stranger by looking at it. These two find it by other means.
#[test]
fn a_subreaper_finds_also_what_left_no_trace() {
    in_its_own_process("ends::a_subreaper_finds_also_what_left_no_trace", || {
        tenter_process::become_subreaper().unwrap();
        for kind in ["lost-setsid,null", "double-setsid,null", "group"] {
            let ended = multi_thread().block_on(with_escaped(kind, &Folder::new(), None));
            assert_eq!(ended.contained_by, Containment::Subreaper, "{kind}");
        }
        assert_eq!(zombies(), []);
    });
}

#[test]
fn a_cgroup_holds_also_what_left_no_trace() {
    let cgroups = match Cgroups::detect() {
        Ok(cgroups) => cgroups,
        Err(error) => {
            // Not to be had here. That has to be said, and is all there is to see.
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    for kind in ["lost-setsid,null", "setsid", "group"] {
        let folder = Folder::new();
        let ended = with_escaped(kind, &folder, Some(cgroups.clone()));
        let ended = current_thread().block_on(ended);
        assert_eq!(ended.contained_by, Containment::Cgroup, "{kind}: {:?}", ended.notes);
    }
}

#[test]
fn cancelling_stops_a_run() {
    for runtime in [current_thread(), multi_thread()] {
        let folder = Folder::new();
        let command = hook(&format!("out before ready {} hang", folder.word("ready")));
        let cancel = CancellationToken::new();
        let ended = runtime.block_on(async {
            let running = tokio::spawn({
                let cancel = cancel.clone();
                async move { run(&command, &cancel).await }
            });
            when_ready(&folder.path("ready")).await;
            cancel.cancel();
            running.await.unwrap().unwrap()
        });
        assert_eq!(ended.stopped, Some(Stopped::Cancelled));
        assert_eq!((ended.exit, text(&ended.stdout)), (Exit::Signal(libc::SIGTERM), "before"));
    }
}

async fn when_ready(path: &std::path::Path) {
    tokio::time::timeout(LIMIT, async {
        while !path.exists() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await
    .unwrap();
}

#[test]
fn dropping_the_future_ends_what_it_started_and_leaves_no_zombie() {
    let name = "ends::dropping_the_future_ends_what_it_started_and_leaves_no_zombie";
    in_its_own_process(name, || {
        drop_in_every_state();
        assert_eq!(zombies(), []);
    });
}

fn drop_in_every_state() {
    for runtime in [current_thread(), multi_thread()] {
        for words in
            ["hang", "ignore-term hang", "spawn setsid -- ignore-term ready {other} hang ; hang"]
        {
            let folder = Folder::new();
            let words = words.replace("{other}", &folder.word("other"));
            let ready = folder.path("ready");
            let waited = if words.contains("spawn") { folder.path("other") } else { ready.clone() };
            let command = hook(&format!("ready {} {words}", ready.display()))
                .with_grace(Duration::from_millis(100));
            let cancel = CancellationToken::new();
            runtime.block_on(async {
                tokio::select! {
                    ended = run(&command, &cancel) => panic!("it ended by itself: {ended:?}"),
                    () = when_ready(&waited) => {}
                }
            });
            assert!(settle(LIMIT), "{words}");
            assert!(!is_alive(wait_for_pid(&ready)), "{words}");
            assert!(!is_alive(wait_for_pid(&waited)), "{words}");
        }
    }
}

#[test]
fn dropping_a_future_that_is_stopping_already_leaves_the_rest_of_the_grace() {
    let folder = Folder::new();
    let ready = folder.path("ready");
    let command = hook(&format!("ignore-term ready {} hang", ready.display()))
        .with_timeout(Duration::from_millis(500))
        .with_grace(Duration::from_secs(2));
    current_thread().block_on(async {
        let cancel = CancellationToken::new();
        let result = tokio::time::timeout(Duration::from_secs(1), run(&command, &cancel)).await;
        assert!(result.is_err(), "{result:?}");
    });
    let pid = wait_for_pid(&ready);
    assert!(is_alive(pid), "the grace is not over");
    assert!(settle(LIMIT));
    assert!(!is_alive(pid));
}

#[test]
fn an_exit_that_happened_before_the_deadline_was_noticed_counts() {
    // The runtime is kept from looking until both have happened: the exit and the deadline.
    let folder = Folder::new();
    let ready = folder.path("ready");
    let command = hook(&format!("out done ready {} exit 2", ready.display()))
        .with_timeout(Duration::from_millis(400));
    let ended = current_thread().block_on(async {
        let cancel = CancellationToken::new();
        let blocking = async {
            let pid = wait_for_pid(&ready);
            wait_until_dead(pid);
            std::thread::sleep(Duration::from_millis(500));
        };
        let (ended, ()) = tokio::join!(run(&command, &cancel), blocking);
        ended.unwrap()
    });
    assert_eq!((ended.stopped, ended.exit), (None, Exit::Code(2)));
    assert_eq!(text(&ended.stdout), "done");
}

#[test]
fn an_exit_that_happened_before_the_cancel_counts() {
    // The cancel comes before the runtime has had a chance to tell of the exit.
    let folder = Folder::new();
    let ready = folder.path("ready");
    let command = hook(&format!("out done ready {} exit 2", ready.display()));
    let ended = current_thread().block_on(async {
        let cancel = CancellationToken::new();
        let mut running = Box::pin(run(&command, &cancel));
        let started = poll_fn(|cx| Poll::Ready(running.as_mut().poll(cx).is_pending())).await;
        assert!(started);
        wait_until_dead(wait_for_pid(&ready));
        cancel.cancel();
        running.await.unwrap()
    });
    assert_eq!((ended.stopped, ended.exit), (None, Exit::Code(2)));
    assert_eq!(text(&ended.stdout), "done");
}

#[test]
fn a_run_without_a_deadline_ends_by_itself() {
    let ended = ended(&hook("out x").with_timeout(Duration::MAX));
    assert_eq!((ended.exit, ended.stopped), (Exit::Code(0), None));
}

#[test]
fn a_signal_of_its_own_is_told_from_an_exit() {
    assert_eq!(ended(&hook("signal 6")).exit, Exit::Signal(libc::SIGABRT));
    assert_eq!(ended(&hook("exit 134")).exit, Exit::Code(134));
}
