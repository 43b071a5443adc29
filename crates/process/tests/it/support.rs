//! What the tests share: commands for the scripted hook, both runtimes, tests in their own process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tenter_process::{Command, Ended, Environment, StartError, run};
use tenter_testkit::scripted_hook;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

/// An environment with nothing but a `PATH`.
pub(crate) fn environment() -> Environment {
    Environment::from_iter([("PATH", "/usr/bin:/bin")])
}

/// The scripted hook with these words, separated by blanks.
pub(crate) fn hook(words: &str) -> Command {
    let args = words.split_whitespace().map(OsString::from).collect();
    Command { args, ..Command::new(scripted_hook(), "/", environment()) }
}

/// `/bin/sh -c`.
pub(crate) fn shell(script: &str) -> Command {
    let args = vec!["-c".into(), script.into()];
    Command { args, ..Command::new("/bin/sh", "/", environment()) }
}

pub(crate) trait CommandExt {
    fn with_timeout(self, timeout: Duration) -> Self;
    fn with_grace(self, grace: Duration) -> Self;
    fn with_stdin(self, bytes: impl Into<Vec<u8>>) -> Self;
}

impl CommandExt for Command {
    fn with_timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = timeout;
        self
    }

    fn with_grace(mut self, grace: Duration) -> Self {
        self.limits.grace = grace;
        self
    }

    fn with_stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into().into();
        self
    }
}

pub(crate) fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

pub(crate) fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Runs it to its end on a runtime of its own.
pub(crate) fn ended(command: &Command) -> Ended {
    try_run(command).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn start_error(command: &Command) -> StartError {
    match try_run(command) {
        Ok(ended) => panic!("it should not have started: {ended:?}"),
        Err(error) => error,
    }
}

fn try_run(command: &Command) -> Result<Ended, StartError> {
    current_thread().block_on(run(command, &CancellationToken::new()))
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A folder for one test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::Builder::new().prefix("tenter-process-").tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The path of a file in it, for use in a list of words.
    pub(crate) fn word(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }
}

/// Set in the process that does the work of a test which must not share one with other tests.
const OWN_PROCESS: &str = "TENTER_TEST_OWN_PROCESS";

/// Does the body in a process of its own: a second start of this test binary with only this test. For
/// what belongs to a whole process, such as what it does about a signal.
///
/// `name` is the test's path, e.g. `hosts::a_host_does_so`.
pub(crate) fn in_its_own_process(name: &str, body: impl FnOnce()) {
    if std::env::var_os(OWN_PROCESS).is_some_and(|own| own == *name) {
        body();
        return;
    }
    let output = own_process(name).output().unwrap();
    assert!(
        output.status.success(),
        "{name} failed in its own process: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let ran = String::from_utf8_lossy(&output.stdout).contains("1 passed");
    assert!(ran, "there is no test `{name}`");
}

/// The command that starts this test binary again for this one test.
pub(crate) fn own_process(name: &str) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(OWN_PROCESS, name);
    command
}

/// Whether this is the process that [`own_process`] starts.
pub(crate) fn is_own_process(name: &str) -> bool {
    std::env::var_os(OWN_PROCESS).is_some_and(|own| own == *name)
}

/// Lists the children of this process that have ended and that nobody has reaped.
pub(crate) fn zombies() -> Vec<i32> {
    let own = std::process::id();
    let mut zombies = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{own}/task")).unwrap() {
        let children = std::fs::read_to_string(task.unwrap().path().join("children"));
        for child in children.unwrap_or_default().split_whitespace() {
            let stat = std::fs::read_to_string(Path::new("/proc").join(child).join("stat"));
            if stat.is_ok_and(|stat| stat.contains(") Z ")) {
                zombies.push(child.parse().unwrap());
            }
        }
    }
    zombies
}

/// Sets what this whole process does about signals.
#[expect(unsafe_code, reason = "there is no safe way to ignore a signal")]
pub(crate) fn set_signals(signals: &[i32], action: libc::sighandler_t) {
    for signal in signals {
        // SAFETY: the action is to ignore or the default, so no handler can run in a bad moment.
        let before = unsafe { libc::signal(*signal, action) };
        assert_ne!(before, libc::SIG_ERR);
    }
}

/// Blocks a signal for the calling thread.
#[expect(unsafe_code, reason = "there is no safe way to block a signal")]
pub(crate) fn block_signal(signal: i32) {
    // SAFETY: the set is initialised by the first call and lives as long as the others use it.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        assert_eq!(libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()), 0);
    }
}
