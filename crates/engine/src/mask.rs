//! The mask of one session as a value that others can hold: one place that says how it is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tenter_core::event::{EventKind, EventMask};

/// Stands for no event: whether hooks are left out that are still to be reported to whoever fires
/// an event without asking the mask.
const STRUCK: u64 = 1 << 63;

/// The events for which a session has hooks, as they are now. Cheap to clone; clones are the same
/// mask.
///
/// What is taken out stays out until the configuration is loaded anew.
///
/// ```
/// use tenter::{EventKind, EventMask, FunctionHooks, HookRunner as _, Verdict};
///
/// let hooks = FunctionHooks::builder().on_stop(|_| Verdict::none()).build();
/// let mask = hooks.session().live_mask();
/// assert_eq!(mask.get(), EventMask::EMPTY.with(&EventKind::Stop));
/// mask.take_out(mask.get());
/// assert!(!hooks.session().wants(&EventKind::Stop));
/// assert!(hooks.mask().is_empty());
/// ```
#[derive(Debug, Clone)]
pub struct LiveMask(Arc<AtomicU64>);

impl LiveMask {
    pub(crate) fn new(mask: EventMask) -> Self {
        Self(Arc::new(AtomicU64::new(mask.bits())))
    }

    /// The events of this moment.
    #[inline]
    pub fn get(&self) -> EventMask {
        EventMask::from_bits(self.0.load(Ordering::Acquire))
    }

    /// Takes events out. Two that do so at the same time lose nothing of each other.
    pub fn take_out(&self, events: EventMask) {
        self.0.fetch_and(!events.bits(), Ordering::AcqRel);
    }

    /// Whether an event has hooks, or may have some that struck out.
    #[inline]
    pub(crate) fn get_or_struck(&self, kind: &EventKind) -> bool {
        let asked = STRUCK | 1 << kind.index();
        self.0.load(Ordering::Acquire) & asked != 0
    }

    /// Takes out what is not in `events`.
    pub(crate) fn keep(&self, events: EventMask, struck: bool) {
        if struck {
            self.0.fetch_or(STRUCK, Ordering::AcqRel);
        }
        self.0.fetch_and(events.bits() | STRUCK, Ordering::AcqRel);
    }

    /// Starts anew.
    pub(crate) fn set(&self, events: EventMask) {
        self.0.store(events.bits(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_take_out_at_once_is_out() {
        for _ in 0..200 {
            let mask = LiveMask::new(EventMask::ALL);
            std::thread::scope(|scope| {
                for kind in [EventKind::Stop, EventKind::PreToolUse] {
                    let mask = mask.clone();
                    scope.spawn(move || mask.take_out(EventMask::EMPTY.with(&kind)));
                }
            });
            let left = mask.get();
            assert!(!left.contains(&EventKind::Stop) && !left.contains(&EventKind::PreToolUse));
            assert!(left.contains(&EventKind::SessionEnd));
        }
    }

    #[test]
    fn what_struck_out_is_gone_for_those_who_ask_and_reported_to_those_who_do_not() {
        let mask = LiveMask::new(EventMask::EMPTY.with(&EventKind::Stop));
        mask.keep(EventMask::EMPTY, true);
        assert!(mask.get().is_empty());
        assert!(mask.get_or_struck(&EventKind::Stop));
        mask.set(EventMask::EMPTY);
        assert!(!mask.get_or_struck(&EventKind::Stop));
    }
}
