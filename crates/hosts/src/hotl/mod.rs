//! hotl: six events, hooks in the user's `config.toml`, and answers in its own form.
//!
//! What of Claude's form holds an action up is honoured as well. Owns hotl's words for decisions
//! too, for those who have no configuration at all.

pub mod config;
pub mod decisions;
pub mod output;
pub mod profile;
pub mod wire;

use std::ffi::OsString;
use std::path::Path;

use tenter_core::contract::Contract;
use tenter_core::event::{Event, EventKind, Origin};
use tenter_core::hook::Level;

use crate::codec::{About, Codec, Decoded, Host, Ran, Shown};
use crate::config::{Candidate, ConfigFile, ConfigFormat, ConfigPlaces, Dialect, FileId};
use crate::native::input::EventError;

pub use decisions::{NotificationKind, PreToolDecision, StopDecision, merge_pre_tool, merge_stop};
pub use profile::{CAP_MARK, HOOK_CALL_TIMEOUT, HOOK_TIMEOUT, NOTIFICATION_TIMEOUT, PROFILE};
pub use tenter_core::views::{ADDITIONAL_CONTEXT_CAP, HOOK_PAYLOAD_CAP};

/// hotl.
pub const HOST: Host = Host { profile: &PROFILE, codec: &Hotl, config: &Hotl };

/// hotl's wire and file.
#[derive(Debug)]
struct Hotl;

impl Codec for Hotl {
    fn read(
        &self,
        text: &str,
        given: Option<&str>,
        defaults: &Origin,
    ) -> Result<Event, EventError> {
        wire::read(text, given, defaults)
    }

    fn encode(&self, event: &Event, shown: &Shown<'_>) -> Vec<u8> {
        wire::write(event, shown)
    }

    fn variables(&self, about: &About<'_>) -> Vec<(&'static str, OsString)> {
        wire::variables(about)
    }

    fn decode(&self, ran: &Ran<'_>, kind: &EventKind, contract: &Contract) -> Decoded {
        output::decode(ran, kind, contract)
    }
}

/// Its file, below the folder of all programs' configuration.
const FILE: &str = "hotl/config.toml";

impl ConfigFormat for Hotl {
    fn read(&self, text: &str, file: &FileId<'_>) -> ConfigFile {
        config::read(text, file)
    }

    /// The user's file alone: a repository cannot bring hooks (K60).
    fn candidates(&self, places: &ConfigPlaces<'_>) -> Vec<Candidate> {
        vec![Candidate::file(places.config_home.join(FILE), Level::User)]
    }

    fn is_named(&self, path: &Path) -> bool {
        path.ends_with(FILE)
    }

    fn dialect(&self) -> Dialect {
        config::DIALECT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k60_only_the_user_s_own_file_counts() {
        let places = ConfigPlaces {
            home: Path::new("/h"),
            config_home: Path::new("/h/.config"),
            system: Path::new("/etc"),
            managed: Path::new("/etc/tenter"),
            project: Path::new("/p"),
            cwd: Path::new("/p/a"),
            variable: &|_| None,
        };
        let found = Hotl.candidates(&places);
        let only = Candidate::file("/h/.config/hotl/config.toml".into(), Level::User);
        assert_eq!(found, [only]);
    }

    #[test]
    fn its_file_is_told_by_its_folder() {
        for (path, is_its) in [
            ("/h/.config/hotl/config.toml", true),
            ("hotl/config.toml", true),
            (".codex/config.toml", false),
            ("config.toml", false),
            ("nothotl/config.toml", false),
        ] {
            assert_eq!(Hotl.is_named(Path::new(path)), is_its, "{path}");
        }
    }
}
