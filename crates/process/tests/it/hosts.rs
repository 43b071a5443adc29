//! Hosts that are strange in ways a library has to live with, and hosts that die.

use std::process::Stdio;
use std::time::Duration;

use tenter_process::{Exit, Stopped, run, settle};
use tenter_testkit::{LIMIT, is_alive, wait_for_pid, wait_until_dead};
use tokio_util::sync::CancellationToken;

use crate::support::{
    CommandExt, Folder, block_signal, current_thread, ended, hook, in_its_own_process,
    is_own_process, own_process, set_signals, text, zombies,
};

#[test]
fn a_hook_lives_on_when_the_thread_that_started_it_ends() {
    let folder = Folder::new();
    let go = folder.word("go");
    let command = hook(&format!("ready {} wait-file {go} out alive", folder.word("ready")));
    let runtime = crate::support::multi_thread();
    let handle = runtime.handle().clone();
    let mut running = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                let _inside = handle.enter();
                let mut running =
                    Box::pin(async { run(&command, &CancellationToken::new()).await });
                // The first poll starts the process, on this thread.
                let waker = std::task::Waker::noop();
                let polled = running.as_mut().poll(&mut std::task::Context::from_waker(waker));
                assert!(polled.is_pending());
                running
            })
            .join()
            .unwrap()
    });
    assert!(is_alive(wait_for_pid(&folder.path("ready"))));
    std::fs::write(&go, "").unwrap();
    let ended = runtime.block_on(running.as_mut()).unwrap();
    assert_eq!((ended.exit, text(&ended.stdout)), (Exit::Code(0), "alive"));
}

#[test]
fn a_thread_that_blocks_the_polite_signal_does_not_pass_that_on() {
    let ended = std::thread::spawn(|| {
        block_signal(libc::SIGTERM);
        let command = hook("hang").with_timeout(Duration::from_millis(300));
        ended(&command.with_grace(Duration::from_mins(1)))
    })
    .join()
    .unwrap();
    assert_eq!((ended.stopped, ended.exit), (Some(Stopped::Deadline), Exit::Signal(libc::SIGTERM)));
}

#[test]
fn a_host_that_ignores_the_signals_of_its_children_still_learns_how_they_ended() {
    in_its_own_process(
        "hosts::a_host_that_ignores_the_signals_of_its_children_still_learns_how_they_ended",
        || {
            set_signals(&[libc::SIGCHLD], libc::SIG_IGN);
            for _ in 0..20 {
                status_is_kept_or_lost(ended(&hook("exit 5")).exit, Exit::Code(5));
            }
            let stopped = ended(&hook("hang").with_timeout(Duration::from_millis(200)));
            assert_eq!(stopped.stopped, Some(Stopped::Deadline));
            status_is_kept_or_lost(stopped.exit, Exit::Signal(libc::SIGTERM));
        },
    );
}

#[test]
fn a_host_that_reaps_every_child_still_learns_how_they_ended() {
    in_its_own_process("hosts::a_host_that_reaps_every_child_still_learns_how_they_ended", || {
        std::thread::spawn(|| {
            loop {
                if rustix::process::wait(rustix::process::WaitOptions::empty()).is_err() {
                    std::thread::yield_now();
                }
            }
        });
        let folder = Folder::new();
        for _ in 0..20 {
            status_is_kept_or_lost(ended(&hook("exit 5")).exit, Exit::Code(5));
        }
        // The leader is gone and reaped by another; what is left of its group still has to end.
        let ready = folder.word("ready");
        let words = format!(
            "spawn group -- ignore-term ready {ready} hang ; wait-file {ready} on-term exit 6 hang"
        );
        let command = hook(&words).with_timeout(Duration::from_secs(1));
        let stopped = ended(&command.with_grace(Duration::from_millis(200)));
        assert_eq!(stopped.stopped, Some(Stopped::Deadline));
        status_is_kept_or_lost(stopped.exit, Exit::Code(6));
        assert!(!is_alive(wait_for_pid(&folder.path("ready"))));
    });
}

/// Linux 6.15 and later keep the status; before, it is said to be lost, which is never a success.
fn status_is_kept_or_lost(exit: Exit, kept: Exit) {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let expected = if version >= (6, 15) { kept } else { Exit::Lost };
    assert_eq!(exit, expected);
}

#[test]
fn a_host_without_standard_descriptors_of_its_own_can_run_hooks() {
    in_its_own_process(
        "hosts::a_host_without_standard_descriptors_of_its_own_can_run_hooks",
        || {
            // Keep where the test harness writes, and free 0 to 2 for the pipes to fall into.
            let kept: Vec<_> = [
                rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 50).unwrap(),
                rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 50).unwrap(),
                rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), 50).unwrap(),
            ]
            .into();
            // The runtime has its descriptors already; the first to be made are the pipes.
            let runtime = current_thread();
            let command = hook("read-stdin err e fds").with_stdin(vec![b'a'; 1 << 20]);
            let cancel = CancellationToken::new();
            close_standard_descriptors();
            let result = runtime.block_on(run(&command, &cancel));
            rustix::stdio::dup2_stdin(&kept[0]).unwrap();
            rustix::stdio::dup2_stdout(&kept[1]).unwrap();
            rustix::stdio::dup2_stderr(&kept[2]).unwrap();
            let ended = result.unwrap();
            assert_eq!((text(&ended.stdout), text(&ended.stderr)), ("0 1 2 60\n", "e"));
        },
    );
}

#[expect(unsafe_code, reason = "closing the standard descriptors has no safe form")]
fn close_standard_descriptors() {
    for descriptor in 0..3 {
        // SAFETY: nothing in this process uses them until they are put back.
        unsafe { libc::close(descriptor) };
    }
}

/// The test binary starts itself, and the second one is the engine that is killed.
#[test]
fn when_the_engine_is_killed_its_hooks_and_their_groups_die() {
    const NAME: &str = "hosts::when_the_engine_is_killed_its_hooks_and_their_groups_die";
    const FOLDER: &str = "TENTER_TEST_FOLDER";
    const HOOKS: usize = 8;
    if is_own_process(NAME) {
        let folder = std::env::var(FOLDER).unwrap();
        let commands: Vec<_> = (0..HOOKS)
            .map(|number| {
                hook(&format!(
                    "ignore-term spawn group,null -- ignore-term ready {folder}/group{number} hang ; \
                     spawn group -- ignore-term ready {folder}/held{number} hang ; \
                     ready {folder}/leader{number} hang"
                ))
            })
            .collect();
        current_thread().block_on(async {
            let cancel = CancellationToken::new();
            let mut runs: Vec<_> =
                commands.iter().map(|command| Box::pin(run(command, &cancel))).collect();
            std::future::poll_fn(|cx| {
                for run in &mut runs {
                    assert!(run.as_mut().poll(cx).is_pending());
                }
                std::task::Poll::<()>::Pending
            })
            .await;
        });
        return;
    }
    let folder = Folder::new();
    let mut engine = own_process(NAME)
        .env(FOLDER, folder.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut pids = Vec::new();
    for number in 0..HOOKS {
        for kind in ["leader", "group", "held"] {
            pids.push(wait_for_pid(&folder.path(&format!("{kind}{number}"))));
        }
    }
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    engine.kill().unwrap();
    engine.wait().unwrap();
    for pid in pids {
        wait_until_dead(pid);
    }
}

/// Whenever it happens, also between the making of a process and its exec.
#[test]
fn an_engine_that_is_killed_while_it_starts_hooks_leaves_none() {
    const NAME: &str = "hosts::an_engine_that_is_killed_while_it_starts_hooks_leaves_none";
    const FOLDER: &str = "TENTER_TEST_FOLDER";
    if is_own_process(NAME) {
        let folder = std::env::var(FOLDER).unwrap();
        let command = hook(&format!("out {folder} hang"));
        std::fs::write(format!("{folder}/begun"), "").unwrap();
        current_thread().block_on(async {
            let cancel = CancellationToken::new();
            let mut runs = Vec::new();
            for _ in 0..40 {
                let mut run = Box::pin(run(&command, &cancel));
                std::future::poll_fn(|cx| std::task::Poll::Ready(run.as_mut().poll(cx).is_ready()))
                    .await;
                runs.push(run);
            }
            std::future::pending::<()>().await;
        });
        return;
    }
    for round in 0..20 {
        let folder = Folder::new();
        let mut engine = own_process(NAME)
            .env(FOLDER, folder.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        tenter_testkit::wait_for_file(&folder.path("begun"));
        // Not a hope that something is ready: every moment is as good, and each round has another.
        std::thread::sleep(Duration::from_micros(700 * round));
        engine.kill().unwrap();
        engine.wait().unwrap();
        let mark = folder.word("");
        tenter_testkit::wait_until("no hook should be left", || running_with(&mark).is_empty());
    }
}

/// Lists the processes with this in their command line.
fn running_with(mark: &str) -> Vec<i32> {
    let pids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        entry.unwrap().file_name().to_str().and_then(|name| name.parse::<i32>().ok())
    });
    pids.filter(|pid| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.windows(mark.len()).any(|window| window == mark.as_bytes()) && is_alive(*pid)
    })
    .collect()
}

#[test]
fn a_fork_of_the_host_is_not_taken_for_a_process_of_the_run() {
    in_its_own_process("hosts::a_fork_of_the_host_is_not_taken_for_a_process_of_the_run", || {
        let folder = Folder::new();
        let command = hook(&format!("ready {} hang", folder.word("ready")));
        let (fork, ended) = current_thread().block_on(async {
            let cancel = CancellationToken::new();
            let mut running = Box::pin(run(&command, &cancel));
            let started =
                std::future::poll_fn(|cx| std::task::Poll::Ready(running.as_mut().poll(cx))).await;
            assert!(started.is_pending());
            // This copy of the host has every descriptor of the run, and for good.
            let fork = fork_that_waits();
            wait_for_pid(&folder.path("ready"));
            cancel.cancel();
            (fork, running.await.unwrap())
        });
        assert_eq!((ended.stopped, ended.left), (Some(Stopped::Cancelled), vec![]));
        assert!(is_alive(fork));
        let fork = rustix::process::Pid::from_raw(fork).unwrap();
        rustix::process::kill_process(fork, rustix::process::Signal::KILL).unwrap();
    });
}

#[expect(unsafe_code, reason = "a fork has no safe form")]
fn fork_that_waits() -> i32 {
    // SAFETY: the copy does nothing but wait for a signal that ends it, or for its alarm.
    unsafe {
        match libc::fork() {
            0 => {
                libc::alarm(120);
                libc::pause();
                libc::_exit(1)
            }
            pid => pid,
        }
    }
}

#[test]
fn a_subreaper_that_stops_one_run_leaves_the_others_alone() {
    in_its_own_process("hosts::a_subreaper_that_stops_one_run_leaves_the_others_alone", || {
        tenter_process::become_subreaper().unwrap();
        let folder = Folder::new();
        let (other, go, ready) = (folder.word("other"), folder.word("go"), folder.word("ready"));
        // Its own grandchild is an orphan of ours by the time the other run is stopped.
        let staying = hook(&format!(
            "spawn double-setsid -- ready {other} wait-file {go} out late ; wait-file {go} out x"
        ));
        let stopping = hook(&format!("spawn setsid -- ignore-term ready {ready} hang ; hang"))
            .with_grace(Duration::from_millis(100));
        current_thread().block_on(async {
            let (never, cancel) = (CancellationToken::new(), CancellationToken::new());
            let (stays, stopped, ()) =
                tokio::join!(run(&staying, &never), run(&stopping, &cancel), async {
                    for path in ["other", "ready"] {
                        while !folder.path(path).exists() {
                            tokio::time::sleep(Duration::from_millis(2)).await;
                        }
                    }
                    cancel.cancel();
                    while is_alive(wait_for_pid(&folder.path("ready"))) {
                        tokio::time::sleep(Duration::from_millis(2)).await;
                    }
                    assert!(is_alive(wait_for_pid(&folder.path("other"))));
                    std::fs::write(&go, "").unwrap();
                });
            assert_eq!(stopped.unwrap().stopped, Some(Stopped::Cancelled));
            let stays = stays.unwrap();
            assert_eq!((stays.exit, stays.stopped), (Exit::Code(0), None));
        });
        wait_until_dead(wait_for_pid(&folder.path("other")));
        ended(&hook("exit 0"));
        assert_eq!(zombies(), []);
    });
}

#[test]
fn nothing_is_left_of_runs_that_ended_in_every_way() {
    in_its_own_process("hosts::nothing_is_left_of_runs_that_ended_in_every_way", || {
        let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        ended(&hook("out x").with_stdin("x"));
        let before = open();
        let tiny = Duration::from_millis(50);
        ended(&hook("exit 1"));
        ended(&hook("hang").with_timeout(tiny));
        ended(&hook("flood-out 2000000 hang"));
        ended(&hook("hang").with_stdin(vec![0; 1 << 20]).with_timeout(tiny));
        crate::support::start_error(&tenter_process::Command::new(
            "/none",
            "/",
            crate::support::environment(),
        ));
        let command = hook("hang");
        current_thread().block_on(async {
            let cancel = CancellationToken::new();
            let running = run(&command, &cancel);
            assert!(tokio::time::timeout(tiny, running).await.is_err());
        });
        assert!(settle(LIMIT));
        assert_eq!((open(), zombies()), (before, vec![]));
    });
}
