//! The command line of an entry, and how it is known again.

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;

use super::{Closed, Install};
use crate::bridge::{Bridge, EventRow};

/// What stands in for an answer when tenter did not run.
const DID_NOT_RUN: &str =
    "tenter did not run, so this is refused: see `tenter list`, or undo it with `tenter uninstall`";

/// One entry of tenter in a host's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The host's name of the event.
    pub event: &'static str,
    /// The command line.
    pub command: String,
    /// How long the host waits, in its unit; `None` where an entry has no time.
    pub timeout: Option<u64>,
    /// Whether a failure of the entry is to stop an action.
    pub is_guard: bool,
}

/// The command line of an entry.
pub(super) fn line(
    install: &Install,
    bridge: &Bridge,
    row: &'static EventRow,
    program: &str,
    deadline: Duration,
    is_guard: bool,
) -> String {
    let deadline = match deadline.subsec_millis() {
        0 => format!("{}s", deadline.as_secs()),
        _ => format!("{}ms", deadline.as_millis()),
    };
    let (program, name, event) = (quoted(program), bridge.name, row.own);
    let plain = format!("{program} hook {name} {event} --deadline {deadline}");
    if !is_guard {
        return match install.closed {
            // Gemini 0.61 reads 127 as a no, also at the end of a turn, which would never end.
            Closed::Shell | Closed::AnyShell => format!("{plain} || exit 0"),
            _ => plain,
        };
    }
    // A line that wrote its reason has exited with 2 already.
    let or_2 =
        format!("{plain} || {{ [ $? -eq 2 ] || echo {} >&2; exit 2; }}", quoted(DID_NOT_RUN));
    match install.closed {
        Closed::Itself | Closed::Text(..) | Closed::True(_) => plain,
        Closed::Shell => or_2,
        Closed::AnyShell => format!("/bin/sh -c {}", quoted(&or_2)),
        Closed::Answer => {
            let answer = bridge.refuse(Some(row), DID_NOT_RUN).stdout;
            let line = format!("{plain} || echo {}", quoted(&answer));
            if install.form.is_programs() { line } else { format!("/bin/sh -c {}", quoted(&line)) }
        }
    }
}

/// A word for a shell: as it is if nothing in it is special, else in single quotes.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Whether a command line is tenter as a hook of this host, wherever tenter was when it was written.
pub fn is_ours(command: &str, host: &str) -> bool {
    static CALL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?:^|[\s/'"])tenter['"\\]*\s+hook\s+([a-z][a-z0-9-]*)\b"#).ok()
    });
    CALL.as_ref()
        .and_then(|call| call.captures(command))
        .and_then(|found| found.get(1))
        .is_some_and(|found| found.as_str() == host)
}
