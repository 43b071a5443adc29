//! What a user has allowed for the rest of a session, so that no hook asks about it again.
//!
//! Owns the memory of such calls. It is exact: one byte more in the input, another tool, directory,
//! agent or session, and it is another call. It is never written anywhere, and starts anew with a new
//! configuration. What it is worth against other hooks and rules is for `fire` to say.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest as _, Sha256};
use tenter_core::event::{Event, EventKind};

use crate::session::lock;

/// How many calls of one session are remembered. Who allows more is asked again.
const MOST: usize = 256;

/// The calls that a user has allowed, for those who keep such answers beside hooks as well.
///
/// A call is known by its session, folder, agent, tool and the bytes of its input.
#[derive(Debug, Default)]
pub struct Waivers {
    /// Whether there is any, so that most events need not look.
    any: AtomicBool,
    calls: Mutex<HashSet<[u8; 32]>>,
}

impl Waivers {
    /// Remembers a call; an event that is no call before it runs is none.
    ///
    /// `default_cwd` is the folder of an event that names none.
    pub fn learn(&self, event: &Event, default_cwd: &str) {
        let Some(key) = key(event, default_cwd) else { return };
        let mut calls = lock(&self.calls);
        if calls.len() < MOST {
            calls.insert(key);
            self.any.store(true, Ordering::Release);
        }
    }

    /// Whether the user has allowed this very call.
    pub fn covers(&self, event: &Event, default_cwd: &str) -> bool {
        self.any.load(Ordering::Acquire)
            && key(event, default_cwd).is_some_and(|key| lock(&self.calls).contains(&key))
    }
}

/// What a call is known by. Each part stands behind its length, so that none runs into the next.
fn key(event: &Event, default_cwd: &str) -> Option<[u8; 32]> {
    let call = event.tool_call().filter(|_| event.kind == EventKind::PreToolUse)?;
    let origin = &event.origin;
    let cwd = if origin.cwd.is_empty() { default_cwd } else { &origin.cwd };
    let agent = origin.agent.as_ref().filter(|agent| agent.depth > 0);
    let agent = agent.map_or_else(String::new, |agent| format!("{agent:?}"));
    let mut hasher = Sha256::new();
    for part in [&origin.session_id, cwd, &agent, &call.name, call.input.as_text()] {
        hasher.update(part.len().to_le_bytes());
        hasher.update(part);
    }
    Some(hasher.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_core::event::{Agent, Origin};
    use tenter_core::json::Json;

    fn call(tool: &str, input: &str, edit: impl FnOnce(&mut Origin)) -> Event {
        let mut event = Event::pre_tool(tool, Json::parse(input).unwrap());
        event.origin.session_id = "s".into();
        edit(&mut event.origin);
        event
    }

    #[test]
    fn only_the_very_call_is_known_again() {
        let waivers = Waivers::default();
        let learnt = call("Shell", r#"{"command":"ls"}"#, |_| {});
        assert!(!waivers.covers(&learnt, "/p"));
        waivers.learn(&learnt, "/p");
        assert!(waivers.covers(&learnt, "/p"));
        let another_id = call("Shell", r#"{"command":"ls"}"#, |origin| {
            origin.call_id = Some("c2".into());
        });
        assert!(waivers.covers(&another_id, "/p"), "the same call, made again");
        let sub = Agent { id: Some("a".into()), kind: None, depth: 1 };
        for other in [
            call("Shell", r#"{"command":"ls "}"#, |_| {}),
            call("Shell", r#"{"command": "ls"}"#, |_| {}),
            call("Shell2", r#"{"command":"ls"}"#, |_| {}),
            call("Shell", r#"{"command":"ls"}"#, |origin| origin.session_id = "t".into()),
            call("Shell", r#"{"command":"ls"}"#, |origin| origin.cwd = "/q".into()),
            call("Shell", r#"{"command":"ls"}"#, |origin| origin.agent = Some(sub)),
        ] {
            assert!(!waivers.covers(&other, "/p"), "{other:?}");
        }
    }

    #[test]
    fn no_part_of_a_call_runs_into_the_next() {
        let waivers = Waivers::default();
        waivers.learn(&call("ab", "1", |origin| origin.session_id = "s".into()), "/p");
        assert!(!waivers.covers(&call("b", "1", |origin| origin.session_id = "sa".into()), "/p"));
        assert!(!waivers.covers(&call("a", r#""b""#, |_| {}), "/p"));
    }

    #[test]
    fn what_is_no_call_and_what_is_too_much_is_not_remembered() {
        let waivers = Waivers::default();
        waivers.learn(&Event::user_prompt("hi"), "/p");
        assert!(lock(&waivers.calls).is_empty());
        for at in 0..MOST + 10 {
            waivers.learn(&call("Shell", &at.to_string(), |_| {}), "/p");
        }
        assert_eq!(lock(&waivers.calls).len(), MOST);
        assert!(!waivers.covers(&call("Shell", &(MOST + 1).to_string(), |_| {}), "/p"));
    }
}
