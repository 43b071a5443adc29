//! Many runs at once, on both kinds of runtime.

use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, getrlimit, setrlimit};
use tenter_process::{Exit, Stopped, run, settle};
use tenter_testkit::{LIMIT, is_alive, wait_for_pid};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::support::{
    CommandExt, Folder, current_thread, hook, in_its_own_process, multi_thread, text,
};

const RUNS: usize = 200;
const STOPPED: usize = 32;

#[test]
fn two_hundred_runs_at_once_keep_their_answers_apart() {
    let name = "many::two_hundred_runs_at_once_keep_their_answers_apart";
    in_its_own_process(name, || {
        // Each run needs five descriptors, and the usual limit is 1024.
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum.or(Some(4096));
        setrlimit(Resource::Nofile, limit).unwrap();
        many_at_once();
    });
}

fn many_at_once() {
    for runtime in [current_thread(), multi_thread()] {
        runtime.block_on(async {
            let cancel = Arc::new(CancellationToken::new());
            let mut runs = JoinSet::new();
            for number in 0..RUNS {
                let cancel = Arc::clone(&cancel);
                let code = number % 100;
                let command = hook(&format!("echo-stdin err {number} exit {code}"))
                    .with_stdin(format!("input {number}"));
                runs.spawn(async move { (number, run(&command, &cancel).await.unwrap()) });
            }
            let mut count = 0;
            while let Some(done) = runs.join_next().await {
                let (number, ended) = done.unwrap();
                assert_eq!(text(&ended.stdout), format!("input {number}"));
                assert_eq!(text(&ended.stderr), number.to_string());
                assert_eq!(ended.exit, Exit::Code(i32::try_from(number % 100).unwrap()));
                assert_eq!((ended.held, ended.stopped), (false, None));
                count += 1;
            }
            assert_eq!(count, RUNS);
        });
    }
}

#[test]
fn runs_that_are_stopped_together_are_all_swept() {
    let folder = Folder::new();
    let ready = |number: usize| folder.path(&number.to_string());
    multi_thread().block_on(async {
        let cancel = Arc::new(CancellationToken::new());
        let mut runs = JoinSet::new();
        for number in 0..STOPPED {
            let cancel = Arc::clone(&cancel);
            let ready = ready(number);
            let words =
                format!("spawn setsid -- ignore-term ready {} hang ; hang", ready.display());
            let command = hook(&words).with_grace(Duration::from_millis(50));
            runs.spawn(async move { run(&command, &cancel).await.unwrap() });
        }
        for number in 0..STOPPED {
            while !ready(number).exists() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
        cancel.cancel();
        while let Some(done) = runs.join_next().await {
            assert_eq!(done.unwrap().stopped, Some(Stopped::Cancelled));
        }
    });
    // A machine that is too busy for the caller to wait for it is swept all the same.
    assert!(settle(LIMIT));
    for number in 0..STOPPED {
        assert!(!is_alive(wait_for_pid(&ready(number))));
    }
}

/// A process that is just being made has copies of every descriptor of its host, those of the run that
/// is being swept for too, until it closes them.
#[test]
fn a_sweep_does_not_hit_runs_that_are_just_starting() {
    multi_thread().block_on(async {
        let mut runs = JoinSet::new();
        for _ in 0..8 {
            runs.spawn(async {
                for _ in 0..12 {
                    let command = hook("ignore-term hang")
                        .with_timeout(Duration::from_millis(30))
                        .with_grace(Duration::from_millis(1));
                    let ended = run(&command, &CancellationToken::new()).await.unwrap();
                    assert_eq!(ended.stopped, Some(Stopped::Deadline));
                }
            });
            runs.spawn(async {
                for _ in 0..60 {
                    let ended = run(&hook("out x"), &CancellationToken::new()).await.unwrap();
                    assert_eq!((ended.exit, text(&ended.stdout)), (Exit::Code(0), "x"));
                }
            });
        }
        while let Some(done) = runs.join_next().await {
            done.unwrap();
        }
    });
}
