//! How often hooks have sent a turn on: the budget of a Stop.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use tenter_core::event::{Event, EventKind};

use crate::session::{Blocked, lock};

/// Ends of a turn that hooks have blocked in a row, for each agent and each kind of end. They belong
/// to the session and outlive a reload.
#[derive(Debug, Default)]
pub(crate) struct Stops {
    /// Whether anything is counted, so that most prompts need not look.
    any: AtomicBool,
    blocked: Mutex<HashMap<(EventKind, String), u32>>,
}

impl Stops {
    fn key(event: &Event) -> (EventKind, String) {
        let agent = event.origin.agent.as_ref().and_then(|agent| agent.id.clone());
        (event.kind.clone(), agent.unwrap_or_default())
    }

    /// How many ends in a row hooks have blocked.
    pub(crate) fn count(&self, event: &Event) -> u32 {
        if !self.any.load(Ordering::Acquire) {
            return 0;
        }
        lock(&self.blocked).get(&Self::key(event)).copied().unwrap_or(0)
    }

    /// Counts one more block; `false` if it is one too many.
    pub(crate) fn block(&self, event: &Event, budget: u32) -> bool {
        let mut blocked = lock(&self.blocked);
        self.any.store(true, Ordering::Release);
        let count = blocked.entry(Self::key(event)).or_insert(0);
        if *count >= budget {
            *count = 0;
            return false;
        }
        *count += 1;
        true
    }

    /// The turn may end: the next block is the first in a row.
    pub(crate) fn may_end(&self, event: &Event) {
        if self.any.load(Ordering::Acquire) {
            lock(&self.blocked).remove(&Self::key(event));
        }
    }

    /// What was counted, to be kept.
    pub(crate) fn kept(&self) -> Vec<Blocked> {
        let blocked = lock(&self.blocked);
        let mut kept: Vec<Blocked> = blocked
            .iter()
            .filter(|(_, times)| **times > 0)
            .map(|((event, agent), times)| Blocked {
                event: event.name().to_owned(),
                agent: agent.clone(),
                times: *times,
            })
            .collect();
        kept.sort_by(|a, b| (&a.event, &a.agent).cmp(&(&b.event, &b.agent)));
        kept
    }

    /// Takes up what was kept.
    pub(crate) fn take_up(&self, kept: &[Blocked]) {
        let mut blocked = lock(&self.blocked);
        self.any.store(!kept.is_empty(), Ordering::Release);
        *blocked = kept
            .iter()
            .map(|one| ((EventKind::of(&one.event), one.agent.clone()), one.times))
            .collect();
    }

    /// A new prompt: blocks in a row start anew for everybody.
    pub(crate) fn forget(&self) {
        if self.any.load(Ordering::Acquire) {
            let mut blocked = lock(&self.blocked);
            self.any.store(false, Ordering::Release);
            blocked.clear();
        }
    }
}
