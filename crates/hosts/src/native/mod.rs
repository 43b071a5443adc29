//! tenter's own host: the native rules, the Claude-shaped wire format, and the hooks file.

pub mod config;
pub mod input;
pub mod keys;
pub mod output;
pub mod profile;
pub mod schema;

pub use profile::PROFILE;

use tenter_core::contract::Contract;
use tenter_core::event::{Event, EventKind};

use crate::codec::{Codec, Decoded, Host, Ran, Shown};

/// tenter's own host.
pub const HOST: Host = Host { profile: &PROFILE, codec: &Native };

/// The native wire.
#[derive(Debug)]
struct Native;

impl Codec for Native {
    fn encode(&self, event: &Event, shown: &Shown<'_>) -> Vec<u8> {
        input::write_event(event, shown)
    }

    fn decode(&self, ran: &Ran<'_>, kind: &EventKind, contract: &Contract) -> Decoded {
        output::decode(ran, kind, contract)
    }
}
