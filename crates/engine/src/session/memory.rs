//! What a session has learnt, for hosts that start a process for each event: how often the end of a
//! turn was blocked, which hooks have had their one run, and which failed.
//!
//! Owns the file that this is kept in between the processes of one session. It holds no payload. A
//! file that cannot be read counts as none: a session that forgets asks again, it never lets go.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};
use tenter_core::hook::Hook;

use super::{DONE, Session};
use crate::record::sha256;

/// The form of the file.
const VERSION: u32 = 1;
/// The largest file that is read.
const LARGEST: u64 = 1 << 20;

/// What a session has learnt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionMemory {
    version: u32,
    /// Ends of a turn that hooks blocked in a row.
    #[serde(default)]
    pub(crate) blocked: Vec<Blocked>,
    /// The hooks that run once and have run.
    #[serde(default)]
    pub(crate) done: Vec<String>,
    /// Hooks with the number of failures in a row.
    #[serde(default)]
    pub(crate) strikes: Vec<(String, u32)>,
    /// The digest of the reason with which a turn was sent on last.
    #[serde(default)]
    sent_on: Option<String>,
}

/// How often hooks have blocked one kind of end in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Blocked {
    pub(crate) event: String,
    pub(crate) agent: String,
    pub(crate) times: u32,
}

impl SessionMemory {
    /// What is known of the ends of turns, and nothing else yet.
    pub(crate) fn of_stops(blocked: Vec<Blocked>) -> Self {
        Self { version: VERSION, blocked, ..Self::default() }
    }

    /// Remembers the reason with which a turn was sent on.
    pub fn send_on(&mut self, reason: &str) {
        self.sent_on = Some(sha256(reason.trim()));
    }

    /// What is known after a prompt, if what was known before says that the prompt is the reason with
    /// which the turn was sent on: some hosts hand it to the model as one. Then it is no new turn.
    pub fn go_on(&mut self, before: &Self, prompt: &str) {
        if before.sent_on.as_deref() == Some(&sha256(prompt.trim())) {
            self.blocked.clone_from(&before.blocked);
            self.sent_on.clone_from(&before.sent_on);
        }
    }

    /// Whether nothing was learnt.
    pub fn is_empty(&self) -> bool {
        self.blocked.is_empty() && self.done.is_empty() && self.strikes.is_empty()
    }

    /// The file of a session of a host below a state folder. Whatever the session calls itself, the
    /// name is one of a file in that folder.
    pub fn file(state: &Path, host: &str, session: &str) -> PathBuf {
        let mut name: String = session
            .chars()
            .map(
                |letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' },
            )
            .take(64)
            .collect();
        if name != session {
            // Two sessions whose names differ in what was replaced are two.
            let digest = sha256(session);
            name = format!("{name}.{}", digest.get(..16).unwrap_or_default());
        }
        state.join("sessions").join(host).join(format!("{name}.json"))
    }

    /// Reads what is kept; what is not there or cannot be read is nothing.
    pub fn load(file: &Path) -> Self {
        let is_small = fs::metadata(file).is_ok_and(|found| found.len() <= LARGEST);
        let text = if is_small { fs::read(file).ok() } else { None };
        let memory: Option<Self> = text.and_then(|text| serde_json::from_slice(&text).ok());
        memory
            .filter(|memory| memory.version == VERSION)
            .unwrap_or_else(|| Self::of_stops(Vec::new()))
    }

    /// Keeps it, in one step: a reader sees the old file or the new one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, file: &Path) -> io::Result<()> {
        if self.is_empty() {
            return match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let folder = file.parent().unwrap_or(file);
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let temporary = file.with_extension(format!("{}.new", std::process::id()));
        let text = serde_json::to_vec(&Self { version: VERSION, ..self.clone() })
            .map_err(io::Error::other)?;
        let mut options = OpenOptions::new();
        let mut new =
            options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        new.write_all(&text)?;
        fs::rename(&temporary, file)
    }
}

impl Session {
    /// What the session has learnt, for a later process that goes on with it.
    pub fn memory(&self) -> SessionMemory {
        let current = self.current();
        let mut memory = SessionMemory::of_stops(self.inner.stops.kept());
        for (at, hook) in current.snapshot.table.hooks().iter().enumerate() {
            if current.live.once_at(at) == DONE {
                memory.done.push(identity(hook));
            }
            let strikes = current.live.strikes.get(at).map_or(0, |n| n.load(Ordering::Acquire));
            if strikes > 0 {
                memory.strikes.push((identity(hook), strikes));
            }
        }
        memory
    }

    /// Goes on with what an earlier process of the same session has learnt. Hooks that are no longer
    /// there are forgotten.
    pub fn take_up(&self, memory: &SessionMemory) {
        self.inner.stops.take_up(&memory.blocked);
        if memory.done.is_empty() && memory.strikes.is_empty() {
            return;
        }
        let current = self.current();
        for (at, hook) in current.snapshot.table.hooks().iter().enumerate() {
            let name = identity(hook);
            if hook.once
                && memory.done.contains(&name)
                && let Some(state) = current.live.once.get(at)
            {
                state.store(DONE, Ordering::Release);
                current.live.touched.store(true, Ordering::Release);
                current.live.narrowed.store(true, Ordering::Release);
            }
            let strikes = memory.strikes.iter().find(|(known, _)| *known == name);
            if let (Some((_, strikes)), Some(count)) = (strikes, current.live.strikes.get(at)) {
                count.store(*strikes, Ordering::Release);
                current.live.touched.store(true, Ordering::Release);
            }
        }
    }
}

/// What tells a hook from all others of a configuration, from one process to the next.
fn identity(hook: &Hook) -> String {
    format!("{} {}", hook.source, hook.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_read_again_and_what_is_broken_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = SessionMemory::file(folder.path(), "claude", "s1");
        let nothing = SessionMemory::of_stops(Vec::new());
        assert_eq!(SessionMemory::load(&file), nothing);
        let memory = SessionMemory {
            version: VERSION,
            done: vec!["a".into()],
            strikes: vec![("b".into(), 2)],
            ..SessionMemory::default()
        };
        memory.save(&file).unwrap();
        assert_eq!(SessionMemory::load(&file), memory);
        SessionMemory::default().save(&file).unwrap();
        assert!(!file.exists());
        fs::write(&file, b"{\"version\":1,\"done\":[").unwrap();
        assert_eq!(SessionMemory::load(&file), nothing);
    }

    #[test]
    fn a_prompt_that_is_the_reason_of_a_stop_starts_nothing_anew() {
        let blocked = Blocked { event: "Stop".into(), agent: String::new(), times: 3 };
        let mut before = SessionMemory::of_stops(vec![blocked]);
        before.send_on("go on\n");
        for (prompt, goes_on) in [("go on", true), ("go on, please", false), ("", false)] {
            let mut after = SessionMemory::of_stops(Vec::new());
            after.go_on(&before, prompt);
            assert_eq!(after == before, goes_on, "{prompt}");
        }
    }

    #[test]
    fn no_session_can_name_a_file_elsewhere_and_no_two_share_one() {
        let state = Path::new("/s");
        let names = ["a", "../a", "a/b", "a_b", "", ".", "..", &"x".repeat(300), &"x".repeat(301)];
        let files: std::collections::BTreeSet<_> =
            names.iter().map(|name| SessionMemory::file(state, "h", name)).collect();
        assert_eq!(files.len(), names.len());
        for file in files {
            assert_eq!(file.parent(), Some(Path::new("/s/sessions/h")));
            assert!(file.file_name().is_some_and(|name| name.len() < 128));
        }
    }
}
