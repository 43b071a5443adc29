//! tenter's own host: the native rules, the Claude-shaped wire format, and the hooks file.

pub mod config;
pub mod input;
pub mod keys;
pub mod output;
pub mod profile;
pub mod schema;

pub use profile::PROFILE;

use std::ffi::OsStr;
use std::path::Path;

use tenter_core::contract::Contract;
use tenter_core::event::{Event, EventKind, Origin};
use tenter_core::hook::Level;

use crate::codec::{Codec, Decoded, Host, Ran, Shown};
use crate::config::{
    Candidate, CandidateKind, ConfigFile, ConfigFormat, ConfigPlaces, Dialect, FileId,
};

/// tenter's own host.
pub const HOST: Host = Host { profile: &PROFILE, codec: &Native, config: &Native };

/// The native wire.
#[derive(Debug)]
struct Native;

impl Codec for Native {
    fn read(
        &self,
        text: &str,
        given: Option<&str>,
        defaults: &Origin,
    ) -> Result<Event, input::EventError> {
        input::read_event(text, given, defaults)
    }

    fn encode(&self, event: &Event, shown: &Shown<'_>) -> Vec<u8> {
        input::write_event(event, shown)
    }

    fn decode(&self, ran: &Ran<'_>, kind: &EventKind, contract: &Contract) -> Decoded {
        output::decode(ran, kind, contract)
    }
}

impl ConfigFormat for Native {
    fn read(&self, text: &str, file: &FileId<'_>) -> ConfigFile {
        config::read(text, file)
    }

    fn candidates(&self, places: &ConfigPlaces<'_>) -> Vec<Candidate> {
        let in_project = |name: &str| places.project.join(".tenter").join(name);
        vec![
            Candidate::file(places.managed.join("hooks.toml"), Level::Managed),
            Candidate {
                path: places.managed.join("hooks.d"),
                level: Level::Managed,
                kind: CandidateKind::Folder { extension: "toml" },
            },
            Candidate::file(places.config_home.join("tenter/hooks.toml"), Level::User),
            Candidate::file(in_project("hooks.toml"), Level::Project),
            Candidate::file(in_project("hooks.local.toml"), Level::Private),
        ]
    }

    fn is_named(&self, path: &Path) -> bool {
        path.extension() == Some(OsStr::new("toml"))
    }

    fn file_variable(&self) -> Option<&'static str> {
        Some("TENTER_CONFIG")
    }

    fn sets_policy(&self) -> bool {
        true
    }

    fn dialect(&self) -> Dialect {
        config::NATIVE
    }
}
