//! Crush: one event before a tool runs, hooks in `crush.json`, answers in its own form or Claude's.

pub mod aggregate;
mod bridge;
pub mod config;
mod install;
pub mod output;
pub mod profile;
pub mod wire;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use tenter_core::contract::Contract;
use tenter_core::event::{Event, EventKind, Origin};
use tenter_core::hook::Level;

use crate::codec::{About, Codec, Decoded, Host, Ran, Shown};
use crate::config::{
    Candidate, CandidateKind, ConfigFile, ConfigFormat, ConfigPlaces, Dialect, FileId,
};
use crate::native::input::EventError;

pub use aggregate::{AggregateResult, HookInfo, HookMetadata, HookResult};
pub use bridge::BRIDGE;
pub use output::{HALT_EXIT_CODE, SUPPORTED_OUTPUT_VERSION};
pub use profile::PROFILE;
pub use wire::{EVENT_PRE_TOOL_USE, build_env, build_payload};

/// Crush.
pub const HOST: Host = Host { profile: &PROFILE, codec: &Crush, config: &Crush };

/// Crush's wire and files.
#[derive(Debug)]
struct Crush;

impl Codec for Crush {
    fn read(
        &self,
        text: &str,
        given: Option<&str>,
        defaults: &Origin,
    ) -> Result<Event, EventError> {
        wire::read(text, given, defaults)
    }

    fn encode(&self, event: &Event, _shown: &Shown<'_>) -> Vec<u8> {
        wire::write(event)
    }

    fn variables(&self, about: &About<'_>) -> Vec<(&'static str, OsString)> {
        wire::build_env(about)
    }

    fn decode(&self, ran: &Ran<'_>, _kind: &EventKind, contract: &Contract) -> Decoded {
        output::decode(ran, contract)
    }
}

/// The names of its files, in the order in which a folder's are read.
const FILES: [&str; 2] = ["crush.json", ".crush.json"];
/// The names of its scripts, which come after the files of the same folder.
const SCRIPTS: [&str; 2] = ["crushrc", ".crushrc"];

impl ConfigFormat for Crush {
    fn read(&self, text: &str, file: &FileId<'_>) -> ConfigFile {
        config::read(text, file)
    }

    fn candidates(&self, places: &ConfigPlaces<'_>) -> Vec<Candidate> {
        let program = |path, level| Candidate { path, level, kind: CandidateKind::Program };
        let global = places
            .named_folder("CRUSH_GLOBAL_CONFIG")
            .unwrap_or_else(|| places.config_home.join("crush"));
        let data = places.named_folder("CRUSH_GLOBAL_DATA").unwrap_or_else(|| {
            let data_home = places.named_folder("XDG_DATA_HOME");
            data_home.unwrap_or_else(|| places.home.join(".local/share")).join("crush")
        });
        let mut candidates = vec![
            Candidate::file(places.system.join("crush/crush.json"), Level::Managed),
            Candidate::file(global.join("crush.json"), Level::User),
            program(global.join("crushrc"), Level::User),
            Candidate::file(data.join("crush.json"), Level::User),
        ];
        for folder in places.folders_down() {
            let files = FILES.map(|name| Candidate::file(folder.join(name), Level::Project));
            let scripts = SCRIPTS.map(|name| program(folder.join(name), Level::Project));
            candidates.extend(files.into_iter().chain(scripts));
        }
        candidates.push(Candidate::file(places.cwd.join(".crush/crush.json"), Level::Private));
        candidates
    }

    fn is_named(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| FILES.contains(&name))
    }

    fn dialect(&self) -> Dialect {
        config::DIALECT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_files_are_found_from_the_machine_s_down_to_the_current_folder_s() {
        let found = |variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            };
            let places = ConfigPlaces {
                home: Path::new("/h"),
                config_home: Path::new("/h/.config"),
                system: Path::new("/etc"),
                managed: Path::new("/etc/tenter"),
                project: Path::new("/p"),
                cwd: Path::new("/p/a"),
                variable: &variable,
            };
            let candidates = Crush.candidates(&places).into_iter();
            let files = candidates.filter(|one| one.kind == CandidateKind::File);
            files.map(|one| (one.path.display().to_string(), one.level)).collect::<Vec<_>>()
        };
        let owned = |list: &[(&str, Level)]| {
            list.iter().map(|(path, level)| ((*path).to_owned(), *level)).collect::<Vec<_>>()
        };
        assert_eq!(
            found(&[]),
            owned(&[
                ("/etc/crush/crush.json", Level::Managed),
                ("/h/.config/crush/crush.json", Level::User),
                ("/h/.local/share/crush/crush.json", Level::User),
                ("/p/crush.json", Level::Project),
                ("/p/.crush.json", Level::Project),
                ("/p/a/crush.json", Level::Project),
                ("/p/a/.crush.json", Level::Project),
                ("/p/a/.crush/crush.json", Level::Private),
            ])
        );
        let named = found(&[("CRUSH_GLOBAL_CONFIG", "/g"), ("XDG_DATA_HOME", "/d")]);
        assert_eq!(named[1].0, "/g/crush.json");
        assert_eq!(named[2].0, "/d/crush/crush.json");
    }
}
