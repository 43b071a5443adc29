//! What a hook leaves behind after a clean exit.

use std::time::Duration;

use tenter_process::{Command, Containment, Exit, Leftovers};
use tenter_testkit::{is_alive, wait_for_pid, wait_until_dead};

use crate::support::{Folder, ended, hook, text};

/// A hook that exits with 2 as soon as its grandchild is there.
fn leaving(kind: &str, folder: &Folder, leftovers: Leftovers) -> Command {
    let (ready, go, after) = (folder.word("left"), folder.word("go"), folder.word("after"));
    let words = format!(
        "spawn {kind} -- ready {ready} wait-file {go} ready {after} ; \
         wait-file {ready} out no exit 2"
    );
    Command { leftovers, ..hook(&words) }
}

/// Proves that the grandchild is alive by what it does, and lets it end.
fn goes_on(pid: i32, folder: &Folder) {
    std::fs::write(folder.path("go"), "").unwrap();
    assert_eq!(wait_for_pid(&folder.path("after")), pid);
    wait_until_dead(pid);
}

#[test]
fn a_grandchild_that_keeps_stdout_does_not_delay_the_verdict() {
    for kind in ["group", "setsid", "bare-env-setsid"] {
        let folder = Folder::new();
        let ended = ended(&leaving(kind, &folder, Leftovers::Leave));
        let pid = wait_for_pid(&folder.path("left"));
        assert_eq!((ended.exit, ended.stopped, text(&ended.stdout)), (Exit::Code(2), None, "no"));
        assert!(ended.held, "{kind}");
        assert!(ended.duration < Duration::from_secs(5), "{kind}: {:?}", ended.duration);
        let left: Vec<_> = ended.left.iter().map(|left| (left.pid, left.name.as_str())).collect();
        // Linux keeps 15 bytes of a name.
        assert_eq!(left, [(pid, "tenter-scripted")], "{kind}");
        // It lives on, although the lifeline has been closed by now.
        goes_on(pid, &folder);
    }
}

#[test]
fn a_grandchild_that_lets_go_of_the_output_costs_no_drain() {
    let folder = Folder::new();
    let mut command = leaving("group,null", &folder, Leftovers::Leave);
    command.limits.drain = Duration::from_mins(1);
    let ended = ended(&command);
    assert_eq!((ended.exit, ended.held, ended.left.len()), (Exit::Code(2), false, 0));
    assert_eq!(ended.contained_by, Containment::Group);
    assert!(ended.duration < Duration::from_secs(20), "{:?}", ended.duration);
    goes_on(wait_for_pid(&folder.path("left")), &folder);
}

#[test]
fn leftovers_are_killed_where_that_is_asked_for() {
    for kind in ["group", "setsid", "bare-env-setsid", "group,null", "setsid,null"] {
        let folder = Folder::new();
        let ended = ended(&leaving(kind, &folder, Leftovers::Kill));
        assert_eq!((ended.exit, ended.stopped, text(&ended.stdout)), (Exit::Code(2), None, "no"));
        assert_eq!(ended.left, [], "{kind}");
        // It was told to die, and on a busy machine it takes a moment to do so.
        wait_until_dead(wait_for_pid(&folder.path("left")));
    }
}

#[test]
fn what_a_hook_writes_just_before_its_exit_is_read() {
    let ended = ended(&hook("flood-out 60000 exit 0"));
    assert_eq!((ended.stdout.len(), ended.held), (60000, false));
}

#[test]
fn a_world_is_ended_with_all_that_lives_in_it_and_nothing_else() {
    let (folder, other) = (Folder::new(), Folder::new());
    let in_world = |folder: &Folder, kind: &str| {
        let mut command = leaving(kind, folder, Leftovers::Leave);
        command.env.set("HOME", folder.path("home"));
        ended(&command);
        wait_for_pid(&folder.path("left"))
    };
    let stranger = in_world(&other, "setsid,null");
    for kind in ["group", "setsid", "double-setsid,null"] {
        let pid = in_world(&folder, kind);
        assert!(is_alive(pid), "{kind}");
        assert_eq!(tenter_process::end_world(&folder.word("home")), 1, "{kind}");
        wait_until_dead(pid);
        std::fs::remove_file(folder.path("left")).unwrap();
    }
    assert_eq!(tenter_process::end_world(&folder.word("home")), 0);
    assert_eq!(tenter_process::end_world(""), 0);
    goes_on(stranger, &other);
}
