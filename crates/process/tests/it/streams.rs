//! stdin, stdout and stderr: all at the same time, all bounded, all as bytes.

use std::time::Duration;

use tenter_process::{Exit, Stopped, Stream};

use crate::support::{
    CommandExt, Folder, ended, hook, in_its_own_process, set_signals, shell, text,
};

/// Far more than a pipe holds.
const LARGE: usize = 2 * 1024 * 1024;

#[test]
fn stdin_arrives_as_it_is_and_ends() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..LARGE).map(|at| u8::try_from(at % 251).unwrap()).collect();
    for length in [0, 1, 2048, 65536, 65537, LARGE] {
        let path = folder.path(&length.to_string());
        let command = hook(&format!("read-stdin-to {}", path.display()));
        let ended = ended(&command.with_stdin(&bytes[..length]));
        assert_eq!(ended.exit, Exit::Code(0));
        assert_eq!(std::fs::read(path).unwrap(), &bytes[..length]);
    }
}

#[test]
fn a_large_stdin_can_come_back_while_it_is_written() {
    let mut command = hook("echo-stdin").with_stdin(vec![b'a'; LARGE]);
    command.limits.stdout = LARGE;
    let ended = ended(&command);
    assert_eq!((ended.exit, ended.stopped, ended.stdout.len()), (Exit::Code(0), None, LARGE));
}

#[test]
fn a_hook_that_never_reads_a_large_stdin_meets_its_deadline() {
    let command = hook("hang").with_stdin(vec![b'a'; LARGE]);
    let ended = ended(&command.with_timeout(Duration::from_millis(200)));
    assert_eq!(ended.stopped, Some(Stopped::Deadline));
    assert_eq!(ended.exit, Exit::Signal(libc::SIGTERM));
    assert!(ended.duration < Duration::from_secs(4), "{:?}", ended.duration);
}

#[test]
fn a_hook_that_closes_stdin_is_not_failed_for_it() {
    let command = hook("close-stdin out fine").with_stdin(vec![b'a'; LARGE]);
    let ended = ended(&command);
    assert_eq!((ended.exit, text(&ended.stdout)), (Exit::Code(0), "fine"));
    assert_eq!((ended.stopped, ended.notes.len()), (None, 0));
}

#[test]
fn a_hook_that_exits_without_reading_is_not_failed_for_it() {
    let ended = ended(&hook("exit 3").with_stdin(vec![b'a'; LARGE]));
    assert_eq!((ended.exit, ended.stopped, ended.notes.len()), (Exit::Code(3), None, 0));
}

#[test]
fn a_host_that_leaves_sigpipe_at_its_default_survives_a_hook_that_does_not_read() {
    in_its_own_process(
        "streams::a_host_that_leaves_sigpipe_at_its_default_survives_a_hook_that_does_not_read",
        || {
            set_signals(&[libc::SIGPIPE], libc::SIG_DFL);
            for words in ["exit 3", "close-stdin exit 3"] {
                let ended = ended(&hook(words).with_stdin(vec![b'a'; LARGE]));
                assert_eq!(ended.exit, Exit::Code(3));
            }
        },
    );
}

#[test]
fn output_that_is_no_utf8_is_kept_as_bytes() {
    let ended = ended(&hook("out-hex ff00fe0a err e"));
    assert_eq!(ended.stdout, [0xff, 0, 0xfe, b'\n']);
    assert_eq!(ended.stderr, b"e");
}

#[test]
fn output_exactly_at_the_limit_is_not_over_it() {
    let mut command = hook("flood-out 100000 flood-err 50000");
    command.limits.stdout = 100_000;
    command.limits.stderr = 50_000;
    let ended = ended(&command);
    assert_eq!((ended.stopped, ended.exit), (None, Exit::Code(0)));
    assert_eq!((ended.stdout.len(), ended.stderr.len()), (100_000, 50_000));
}

#[test]
fn one_byte_more_than_the_limit_is_over_it_even_after_the_exit() {
    let mut command = hook("flood-out 101");
    command.limits.stdout = 100;
    let ended = ended(&command);
    assert_eq!(ended.stopped, Some(Stopped::OutputLimit { stream: Stream::Stdout }));
    assert_eq!(ended.stdout.len(), 100);
}

#[test]
fn a_flood_on_stderr_is_stopped_at_its_limit() {
    let ended = ended(&hook("out before flood-err 1000000000 hang"));
    assert_eq!(ended.stopped, Some(Stopped::OutputLimit { stream: Stream::Stderr }));
    assert_eq!((ended.stderr.len(), text(&ended.stdout)), (256 * 1024, "before"));
}

#[test]
fn a_gigabyte_of_output_is_stopped_at_its_limit_without_grace_and_in_bounded_memory() {
    in_its_own_process(
        "streams::a_gigabyte_of_output_is_stopped_at_its_limit_without_grace_and_in_bounded_memory",
        || {
            // What a first run needs for good is not the flood's.
            ended(&hook("out x"));
            let before = peak_kilobytes();
            let flood = ended(&hook("ignore-term flood-out 1000000000 hang"));
            assert_eq!(flood.stopped, Some(Stopped::OutputLimit { stream: Stream::Stdout }));
            assert_eq!(flood.exit, Exit::Signal(libc::SIGKILL));
            assert_eq!(flood.stdout.len(), 1024 * 1024);
            let grown = peak_kilobytes() - before;
            assert!(grown < 64 * 1024, "the peak grew by {grown} KiB");
        },
    );
}

fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_writer_into_a_closed_pipe_ends_as_in_a_shell() {
    // `head` is done after one line; with SIGPIPE ignored, `yes` would complain on stderr.
    let ended = ended(&shell("yes | head -n 1"));
    assert_eq!((text(&ended.stdout), text(&ended.stderr)), ("y\n", ""));
}
