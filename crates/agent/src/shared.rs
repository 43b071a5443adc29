//! What all agents of one session share.
//!
//! Owns no flow: the loop, the gate and the tools use it.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use tenter::{ApprovalLearner, Event, EventKind, Waivers};

use crate::hooks::Hooks;
use crate::human::Human;
use crate::permission::PermissionPolicy;
use crate::provider::Provider;
use crate::store::{Record, Store};
use crate::stream::{Stream, What, Who, lock};
use crate::team::Team;
use crate::tool::Catalog;

/// What stays the same for a whole session.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) session_id: String,
    pub(crate) cwd: PathBuf,
    pub(crate) environment: Arc<[(OsString, OsString)]>,
    pub(crate) system: String,
    pub(crate) commands: PathBuf,
    pub(crate) most_samples: u32,
    pub(crate) most_depth: u32,
    /// From which size on a conversation is compacted, in bytes.
    pub(crate) compact_at: Option<usize>,
}

pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) hooks: Hooks,
    pub(crate) learner: Option<Arc<dyn ApprovalLearner>>,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) catalog: Catalog,
    pub(crate) policy: Arc<dyn PermissionPolicy>,
    pub(crate) human: Arc<dyn Human>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) stream: Arc<Stream>,
    /// The user's "always" to questions of the policy; those of hooks are the learner's.
    pub(crate) waivers: Waivers,
    pub(crate) team: Arc<Team>,
    /// What the user says while a turn is going on.
    pub(crate) steering: Arc<Mutex<VecDeque<String>>>,
    pub(crate) agents: AtomicU32,
    pub(crate) call_ids: Mutex<HashSet<String>>,
    pub(crate) store_failed: AtomicBool,
    /// Held while a human is asked: one question at a time.
    pub(crate) asking: tokio::sync::Mutex<()>,
}

impl Shared {
    pub(crate) fn send(&self, who: &Who, what: What) {
        self.stream.send(who, what);
    }

    /// Tells the user something, and the hooks that it was told.
    pub(crate) fn tell(&self, who: &Who, kind: &str, message: &str) {
        self.send(
            who,
            What::Notification { notification_type: kind.into(), message: message.into() },
        );
        let event = || Event::notification(kind, message);
        self.hooks.notify(event, &EventKind::Notification, who, None);
    }

    /// Keeps a record of the main agent. A store that fails does not end the turn; it is said once.
    pub(crate) fn keep(&self, who: &Who, record: &Record) {
        if who.depth == 0 {
            self.keep_of_all(record);
        }
    }

    /// Keeps a record of what all agents of the session have in common.
    pub(crate) fn keep_of_all(&self, record: &Record) {
        if let Err(error) = self.store.append(&self.settings.session_id, record)
            && !self.store_failed.swap(true, Ordering::Relaxed)
        {
            let text = format!("this session is not kept and cannot be resumed whole: {error}");
            self.tell(&Who::main(), "warning", &text);
        }
    }

    /// An id that no other call of the session has. Models number theirs anew in every answer.
    pub(crate) fn call_id(&self, given: &str) -> String {
        let mut ids = lock(&self.call_ids);
        let base = if given.is_empty() { "call" } else { given };
        let mut id = base.to_owned();
        let mut number = 1;
        while (given.is_empty() && number == 1) || !ids.insert(id.clone()) {
            number += 1;
            id = format!("{base}-{}", number - usize::from(given.is_empty()));
        }
        id
    }

    /// A new agent's number.
    pub(crate) fn next_agent(&self) -> u32 {
        let started = self.agents.fetch_add(1, Ordering::Relaxed) + 1;
        self.keep_of_all(&Record::Agents { started });
        started
    }
}
