//! The rules of one host, as data. The values stand in the `hosts` crate, one module a host.

use crate::contract::Contract;
use crate::event::EventKind;

/// The rules of one host.
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    /// The host's name on the command line.
    pub name: &'static str,
    /// The row of each standard event, at [`EventKind::index`].
    pub contracts: &'static [Contract; 34],
    /// The row of the host's own events.
    pub other: Contract,
    /// How many ends of a turn in a row hooks may block.
    pub stop_budget: u32,
    /// After how many failures in a row a hook that is no guard is left out for the rest of the
    /// session.
    pub strikes: Option<u32>,
    /// The largest context in characters; what is longer is written to a file.
    pub context_cap: usize,
    /// Stands at the end of a text that was clipped for a hook.
    pub cap_mark: &'static str,
    /// Where the host's rules are written down, for messages.
    pub reference: &'static str,
}

impl Profile {
    /// The row of an event.
    pub fn contract(&self, kind: &EventKind) -> &Contract {
        self.contracts.get(kind.index()).unwrap_or(&self.other)
    }
}
