//! The worst hooks there are, all at once: a clear status for each, no hang, bounded memory.

use std::time::{Duration, Instant};

use tenter::core::contract::OnFailure;
use tenter::core::hook::{CommandLine, Handler, Hook};
use tenter::{Event, Json};

use crate::support::*;

#[test]
fn the_worst_hooks_have_a_clear_status_no_hang_and_bounded_memory() {
    let text = run_alone("processes::the_worst_hooks_inside");
    let peak = text.lines().find_map(|line| line.split("peak KiB: ").nth(1)).unwrap();
    let peak: u64 = peak.trim().parse().unwrap();
    assert!(peak < 128 * 1024, "{peak} KiB");
}

fn argv(name: &str, words: &[&str]) -> Hook {
    with(shell(name, "unused"), |hook| {
        if let Handler::Command(command) = &mut hook.handler {
            command.line = CommandLine::Argv(words.iter().map(|word| (*word).to_owned()).collect());
        }
    })
}

#[tokio::test]
#[ignore = "run by the test above in a process of its own"]
#[expect(clippy::print_stdout, reason = "the test above reads it")]
async fn the_worst_hooks_inside() {
    let folder = tempfile::tempdir().unwrap();
    let no_interpreter = folder.path().join("no-interpreter");
    std::fs::write(&no_interpreter, "#!/nonexistent/interpreter\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&no_interpreter, mode).unwrap();

    let mut hooks = vec![
        scripted("never reads", &["out", "{}"]),
        scripted("floods", &["flood-out", "1073741824"]),
        scripted("floods on the side", &["flood-err", "1073741824"]),
        scripted("closes stdin", &["close-stdin", "out", "{}"]),
        scripted("no utf-8", &["out-hex", "fffe"]),
        argv("a directory", &["/tmp"]),
        argv("no interpreter", &[&no_interpreter.display().to_string()]),
        argv("no program", &["/nonexistent/program"]),
        argv("not on the path", &["no-such-program-anywhere"]),
        with(scripted("hangs", &["ignore-term", "hang"]), |hook| {
            hook.timeout = Some(Duration::from_millis(300));
        }),
    ];
    // Different in their text, so that none is a duplicate of another.
    hooks.extend((0..200).map(|n| shell(&format!("one of many {n}"), &format!("true {n}"))));
    for hook in &mut hooks {
        hook.on_failure = Some(OnFailure::Allow);
    }
    let session = engine(hooks).session("s");
    let input = serde_json::json!({ "command": "x".repeat(2 << 20) });
    let started = Instant::now();
    let outcome = session.fire(&Event::pre_tool("Bash", Json::from(input))).await;
    assert!(started.elapsed() < Duration::from_mins(1));

    let mut expected = vec![
        "ok",
        "output-limit",
        "output-limit",
        "ok",
        "ok",
        "start",
        "start",
        "start",
        "start",
        "timeout",
    ];
    expected.extend(std::iter::repeat_n("ok", 200));
    assert_eq!(statuses(&outcome), expected);
    let reason =
        |name: &str| report(&outcome, name).reason.clone().unwrap_or_default().into_owned();
    assert!(reason("a directory").contains("not a file"), "{}", reason("a directory"));
    assert!(
        reason("no interpreter").contains("/nonexistent/interpreter"),
        "{}",
        reason("no interpreter")
    );
    assert_eq!(report(&outcome, "no utf-8").diagnostics()[0].code, "output.utf8");

    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("peak KiB: {}", peak.trim().trim_end_matches(" kB"));
}

#[tokio::test]
async fn a_hook_that_leaves_an_escaped_grandchild_and_ignores_term_is_ended_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = folder.path().join("grandchild");
    let hook = with(
        scripted(
            "escapes",
            &[
                "ignore-term",
                "spawn",
                "setsid",
                "--",
                "ignore-term",
                "ready",
                &pid_file.display().to_string(),
                "hang",
                ";",
                "hang",
            ],
        ),
        |hook| hook.timeout = Some(Duration::from_millis(500)),
    );
    let session = engine([hook]).session("s");
    let started = Instant::now();
    let outcome = session.fire(&bash("ls")).await;
    // Deadline, 500 ms of grace, 100 ms to look for the rest; the bound only catches a hang.
    assert!(started.elapsed() < Duration::from_millis(1100 * 5), "{:?}", started.elapsed());
    assert_eq!(statuses(&outcome), ["timeout"]);
    assert!(!tenter_testkit::is_alive(tenter_testkit::read_pid(&pid_file).unwrap()));
    let process = report(&outcome, "escapes").process().unwrap();
    assert_eq!(process.contained_by, "scan");
    assert!(process.left.is_empty());
}
