//! What is left of a session when its process is killed, wherever that happens.
//!
//! The test starts itself again as an agent (`agent`), which dies by SIGKILL at one of its writes or
//! starts of a process, or when the test says so. Then the session is resumed, and what was shown to be
//! done must be there, nothing may have run twice, and what may have run must be said to.

#![expect(clippy::unwrap_used, reason = "the helpers of tests fail the test")]

mod child;
mod look;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use child::{AT, FOLDER, STAGE};
use look::{look_at, resumed};

/// How long anything here may take before it counts as hung.
const LIMIT: Duration = Duration::from_mins(1);

/// The agent itself, when the test starts itself again. In a run of the tests it does nothing.
#[test]
fn agent() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        child::run(Path::new(&folder));
    }
}

/// An agent in a process of its own, in the world of this folder.
fn agent_in(folder: &Path, stage: &str, at: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["agent", "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(STAGE, stage)
        .env(AT, at)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn world() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("project")).unwrap();
    folder
}

/// The points of one kind that a whole run passes.
fn points(kind: &str) -> usize {
    let folder = world();
    assert!(agent_in(folder.path(), "start", "").status().unwrap().success());
    let passed = std::fs::read_to_string(folder.path().join("points")).unwrap();
    let count = passed.lines().filter(|line| *line == kind).count();
    assert!(count > 2, "a run passes {kind} {count} times");
    count
}

/// Lets an agent die at each of these points, and looks at what is left.
fn die_at_each(kind: &str) {
    for at in 0..points(kind) {
        let folder = world();
        let at = format!("{kind}:{at}");
        let status = agent_in(folder.path(), "start", &at).status().unwrap();
        assert_eq!(status.code(), None, "{at}: it was killed");
        look_at(folder.path(), &at);
    }
}

#[test]
fn nothing_is_lost_or_done_twice_when_it_dies_before_a_write() {
    die_at_each("before-write");
}

#[test]
fn nothing_is_lost_or_done_twice_when_it_dies_in_a_write() {
    die_at_each("in-write");
}

#[test]
fn nothing_is_lost_or_done_twice_when_it_dies_after_a_write() {
    die_at_each("after-write");
}

#[test]
fn nothing_is_lost_or_done_twice_when_it_dies_before_a_tool_starts() {
    die_at_each("before-tool");
}

#[test]
fn nothing_is_lost_or_done_twice_when_it_dies_after_a_tool_has_run() {
    die_at_each("after-tool");
}

#[test]
fn nothing_is_lost_or_done_twice_when_it_dies_while_a_hook_runs() {
    die_at_each("in-hook");
}

#[test]
fn nothing_is_lost_or_done_twice_when_a_hook_s_process_kills_it() {
    die_at_each("in-process");
}

#[test]
fn a_process_that_dies_while_it_resumes_can_be_resumed() {
    let folder = world();
    let at = format!("after-tool:{}", points("after-tool") - 1);
    assert_eq!(agent_in(folder.path(), "start", &at).status().unwrap().code(), None);
    for kind in ["before-write", "in-write", "after-write"] {
        let at = format!("{kind}:0");
        let status = agent_in(folder.path(), "resume", &at).status().unwrap();
        assert_eq!(status.code(), None, "{at}: it was killed");
    }
    look_at(folder.path(), "twice");
    let history = resumed(folder.path());
    assert!(agent_in(folder.path(), "resume", "").status().unwrap().success());
    assert_eq!(resumed(folder.path())[..history.len()], history);
}

/// A sequence that looks like chance and is the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

#[test]
fn nothing_is_lost_or_done_twice_when_it_is_killed_at_a_hundred_random_moments() {
    let whole = world();
    assert!(agent_in(whole.path(), "start", "").status().unwrap().success());
    let shown = look::shown(whole.path()).len() as u64;
    let mut chance = Chance(0x7e47_e512_0261_2010);
    let mut killed = 0;
    for round in 0..100 {
        let folder = world();
        let mut child = agent_in(folder.path(), "start", "").spawn().unwrap();
        // After so many events, and a little more: the events are what a kill can fall between.
        let after = usize::try_from(chance.below(shown)).unwrap();
        let more = Duration::from_micros(chance.below(3000));
        let begun = Instant::now();
        while look::shown(folder.path()).len() < after && child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < LIMIT, "round {round} hangs");
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(more);
        child.kill().unwrap();
        killed += usize::from(child.wait().unwrap().code().is_none());
        if folder.path().join("state/s.jsonl").exists() {
            look_at(folder.path(), &format!("round {round}"));
        }
    }
    assert!(killed >= 50, "only {killed} of 100 runs were killed before their end");
}
