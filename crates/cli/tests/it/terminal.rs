//! What only a terminal shows: colours, a question, an interrupt.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::thread;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tenter_testkit::{scripted_hook, wait_for_pid, wait_until_dead};

use crate::support::Home;

/// A terminal of 80 columns: the side of whoever sits at it, and the side of the program.
fn terminal() -> (File, OwnedFd) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&theirs, size).unwrap();
    (File::from(ours), theirs)
}

pub(crate) fn on_terminal(home: &Home, args: &[&str]) -> (Child, File) {
    let (ours, theirs) = terminal();
    let stdio = || Stdio::from(theirs.try_clone().unwrap());
    let mut command = home.command(args);
    let child = command
        .env("TERM", "xterm")
        .stdin(stdio())
        .stdout(stdio())
        .stderr(stdio())
        .spawn()
        .unwrap();
    (child, ours)
}

/// Everything that is shown until the program's side is closed.
pub(crate) fn read_to_end(mut ours: File) -> String {
    let mut shown = Vec::new();
    let mut chunk = [0; 4096];
    // At the end a terminal gives an error, not an end of file.
    while let Ok(count @ 1..) = ours.read(&mut chunk) {
        shown.extend_from_slice(&chunk[..count]);
    }
    String::from_utf8(shown).unwrap().replace("\r\n", "\n")
}

pub(crate) fn read_until(ours: &mut File, end: &str) -> String {
    let mut shown = String::new();
    let mut byte = [0; 1];
    let mut bytes = Vec::new();
    while !shown.ends_with(end) {
        ours.read_exact(&mut byte).unwrap();
        bytes.push(byte[0]);
        shown = String::from_utf8_lossy(&bytes).into_owned();
    }
    shown
}

const DENIES: &str = "[[hook]]\nname = \"d\"\nevent = \"PreToolUse\"\nreply = { decision = \"deny\", reason = \"A reason that is long enough to be wrapped, since a terminal of eighty columns ends before it does.\" }\n";

#[test]
fn colours_are_for_terminals_and_for_those_who_force_them() {
    let home = Home::with_user_hooks(DENIES);
    let args = ["fire", "--tool", "Bash"];
    let (mut child, ours) = on_terminal(&home, &args);
    let shown = read_to_end(ours);
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert!(shown.contains("\u{1b}["), "{shown}");
    let plain: String = anstream_strip(&shown);
    let widest = plain.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 80, "{widest}: {plain}");
    assert!(!home.tenter(&args).run().stdout.contains('\u{1b}'));
    assert!(home.tenter(&args).env("CLICOLOR_FORCE", "1").run().stdout.contains('\u{1b}'));
    let refused = home.tenter(&args).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").run();
    assert!(!refused.stdout.contains('\u{1b}'));
}

pub(crate) fn anstream_strip(text: &str) -> String {
    regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap().replace_all(text, "").into_owned()
}

#[test]
fn without_an_event_a_terminal_is_not_read() {
    let home = Home::with_user_hooks(DENIES);
    let (mut child, ours) = on_terminal(&home, &["fire"]);
    let shown = read_to_end(ours);
    assert_eq!(child.wait().unwrap().code(), Some(64));
    insta::assert_snapshot!(anstream_strip(&shown));
    // An event that needs no fields is complete.
    let (mut child, ours) = on_terminal(&home, &["fire", "Stop"]);
    let shown = read_to_end(ours);
    assert_eq!(child.wait().unwrap().code(), Some(0), "{shown}");
}

#[test]
fn trust_asks_and_takes_only_a_yes() {
    let home = Home::with_hooks("[[hook]]\nname = \"h\"\nevent = \"Stop\"\ncommand = \"true\"\n");
    let state = || home.tenter(&["list", "--json"]).run().json()["hooks"][0]["state"].clone();
    for (command, answer, code, after) in [
        ("trust", "\n", 64, "untrusted"),
        ("trust", "no\n", 64, "untrusted"),
        ("trust", "y\n", 0, "active"),
        ("untrust", "\n", 64, "active"),
        ("untrust", "yes\n", 0, "untrusted"),
    ] {
        let (mut child, mut ours) = on_terminal(&home, &[command]);
        let shown = read_until(&mut ours, "[y/N] ");
        assert!(shown.contains("tenter-test-"), "what it is about is shown first: {shown}");
        ours.write_all(answer.as_bytes()).unwrap();
        let rest = read_to_end(ours);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{command} {answer:?}: {shown}{rest}");
        assert_eq!(state(), after, "{command} {answer:?}");
    }
}

#[test]
fn an_interrupt_ends_the_hooks_and_still_gives_the_outcome() {
    let home = Home::with_user_hooks(&format!(
        "[[hook]]\nname = \"hangs\"\nevent = \"PreToolUse\"\ncommand = [\"{}\", \"ready\", \"pid\", \"hang\"]\n",
        scripted_hook().display()
    ));
    let child = home
        .command(&["fire", "--tool", "Bash", "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let hook = wait_for_pid(&home.project().join("pid"));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["hooks"][0]["status"], "cancelled", "{json}");
    assert_eq!(output.status.code(), Some(2), "a guard that did not answer holds the call up");
    wait_until_dead(hook);
}

#[test]
fn a_second_interrupt_ends_the_program() {
    let home = Home::with_user_hooks(&format!(
        "[[hook]]\nname = \"stubborn\"\nevent = \"PreToolUse\"\ncommand = [\"{}\", \"ignore-term\", \"ready\", \"pid\", \"hang\"]\n",
        scripted_hook().display()
    ));
    let mut child = home
        .command(&["fire", "--tool", "Bash"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let hook = wait_for_pid(&home.project().join("pid"));
    let pid = Pid::from_child(&child);
    // The first one may still be on its way when the second is sent, and two are then one: so one
    // is sent again until the program has ended.
    let sender = thread::spawn(move || {
        while kill_process(pid, Signal::INT).is_ok()
            && tenter_testkit::is_alive(pid.as_raw_nonzero().get())
        {
            thread::sleep(std::time::Duration::from_millis(20));
        }
    });
    let status = child.wait().unwrap();
    sender.join().unwrap();
    assert_eq!(status.code(), Some(130));
    wait_until_dead(hook);
}

#[test]
fn progress_of_tests_is_for_terminals() {
    let home = Home::new();
    home.write(
        "tests/a.hooktest.toml",
        "[[case]]\nname = \"a\"\nevent = { tool_name = \"Bash\" }\nexpect = { decision = \"deny\" }\n",
    );
    let (mut child, ours) = on_terminal(&home, &["test"]);
    let shown = read_to_end(ours);
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(shown.contains("1/1 done") && shown.contains("\u{1b}[1m"), "{shown}");
    let said = home.tenter(&["test"]).run();
    assert_eq!(said.stderr, "");
    assert!(!said.stdout.contains('\u{1b}'), "{said}");
}
