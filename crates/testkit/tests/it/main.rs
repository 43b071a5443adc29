//! The scripted hook does what its words say, so that a test which uses it tests something.

#![expect(clippy::expect_used, reason = "a test that cannot go on panics")]

use std::process::{Command, Output};

use tenter_testkit::{TestHome, is_alive, scripted_hook, wait_for_file, wait_for_pid};

fn perform(words: &str) -> Output {
    Command::new(scripted_hook()).args(words.split(' ')).output().expect("it starts")
}

#[test]
fn words_are_done_in_order_until_an_exit() {
    let output = perform("out a err b out c exit 7 out d");
    assert_eq!((output.stdout, output.stderr), (b"ac".to_vec(), b"b".to_vec()));
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn bytes_come_as_they_are() {
    assert_eq!(perform("out-hex 00ff0a").stdout, [0, 0xff, b'\n']);
    assert_eq!(perform("flood-out 100000").stdout.len(), 100_000);
}

#[test]
fn what_is_no_word_is_a_failure_and_not_ignored() {
    for words in ["dance", "out", "sleep soon", "spawn group -- out x", "spawn far -- out x ;"] {
        let output = perform(words);
        assert_eq!(output.status.code(), Some(99), "{words}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("scripted hook: "), "{words}");
    }
}

#[test]
fn spawned_words_may_spawn_in_turn() {
    let home = TestHome::new();
    let path = |name: &str| home.root().join(name);
    let (inner, outer) = (path("inner"), path("outer"));
    let words = format!(
        "spawn setsid,null -- spawn group -- ready {0} ; wait-file {0} ready {1} ; wait-file {1} out up",
        inner.display(),
        outer.display()
    );
    assert_eq!(perform(&words).stdout, b"up");
    let pids = [wait_for_pid(&inner), wait_for_pid(&outer)];
    assert_ne!(pids.first(), pids.last());
}

#[test]
fn the_polite_signal_is_ignored_or_answered_as_told() {
    let home = TestHome::new();
    for (words, expected) in [("on-term exit 6", Some(6)), ("append", None)] {
        let ready = home.root().join(words.replace(' ', "-"));
        let ready_word = ready.to_str().expect("a temporary path is text").to_owned();
        let mut command = Command::new(scripted_hook());
        if expected.is_some() {
            command.args(words.split(' '));
        }
        let mut child = command.args(["ready", &ready_word, "hang"]).spawn().expect("it starts");
        wait_for_file(&ready);
        let pid = rustix::process::Pid::from_child(&child);
        assert!(is_alive(pid.as_raw_pid()));
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it is ours");
        assert_eq!(child.wait().expect("it ends").code(), expected);
        assert!(!is_alive(pid.as_raw_pid()));
    }
}
