//! What a host's configuration is: where its files are, what they say, and how its own words for
//! events and matchers are read.
//!
//! Owns the trait and its plain data. Whether a file belongs to whom it should, and whether its
//! project is trusted, is for the engine to judge.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tenter_core::hook::Level;

pub use crate::native::config::{
    ConfigFile, Dialect, Entry, EnvPolicy, FileId, Part, Permission, Policy,
};

/// The configuration of one host.
pub trait ConfigFormat: Send + Sync {
    /// Reads one file. Reading never fails: what cannot be read is a diagnostic and, where it may
    /// have been a guard, a hook that is broken.
    fn read(&self, text: &str, file: &FileId<'_>) -> ConfigFile;

    /// Where the files of a session are, in the order in which they count within their level.
    fn candidates(&self, places: &ConfigPlaces<'_>) -> Vec<Candidate>;

    /// Whether a file with this path is one of the host's, for a file that is named by itself.
    fn is_named(&self, path: &Path) -> bool;

    /// The variable in which a user may name a file in place of those that are found.
    fn file_variable(&self) -> Option<&'static str> {
        None
    }

    /// Whether its managed files set tenter's own policy. Where they do not, that of tenter's own
    /// managed files holds.
    fn sets_policy(&self) -> bool {
        false
    }

    /// How hooks with native keys are read under this host's rules.
    fn dialect(&self) -> Dialect;
}

/// The places that a host's files are sought from, all absolute.
#[derive(Clone, Copy)]
pub struct ConfigPlaces<'a> {
    /// The home folder.
    pub home: &'a Path,
    /// The folder of all programs' configuration.
    pub config_home: &'a Path,
    /// The folder of the whole machine's configuration, `/etc`.
    pub system: &'a Path,
    /// The folder of tenter's own managed files.
    pub managed: &'a Path,
    /// The project.
    pub project: &'a Path,
    /// The agent's current directory: the project, or below it.
    pub cwd: &'a Path,
    /// Looks up a variable of the session.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl std::fmt::Debug for ConfigPlaces<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfigPlaces").field("project", &self.project).finish_non_exhaustive()
    }
}

impl ConfigPlaces<'_> {
    /// The folder that a variable names, if it names an absolute one.
    pub fn named_folder(&self, variable: &str) -> Option<PathBuf> {
        (self.variable)(variable).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// The folders from the project down to the current directory.
    pub fn folders_down(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = self
            .cwd
            .ancestors()
            .take_while(|folder| folder.starts_with(self.project))
            .collect::<Vec<_>>()
            .into_iter()
            .map(Path::to_owned)
            .collect();
        folders.reverse();
        if folders.is_empty() {
            folders.push(self.cwd.to_owned());
        }
        folders
    }
}

/// Where a file, or a folder of files, may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Where.
    pub path: PathBuf,
    /// Its level.
    pub level: Level,
    /// What is there.
    pub kind: CandidateKind,
}

impl Candidate {
    /// A file that is read.
    pub fn file(path: PathBuf, level: Level) -> Self {
        Self { path, level, kind: CandidateKind::File }
    }
}

/// What is at a place where configuration may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateKind {
    /// One file.
    File,
    /// A folder whose files with this extension count, by name.
    Folder {
        /// The extension, without the dot.
        extension: &'static str,
    },
    /// A file that the host runs instead of reading it: tenter says that it is there, and no more.
    Program,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_go_from_the_project_down() {
        let places = |project, cwd| ConfigPlaces {
            home: Path::new("/home/u"),
            config_home: Path::new("/home/u/.config"),
            system: Path::new("/etc"),
            managed: Path::new("/etc/tenter"),
            project: Path::new(project),
            cwd: Path::new(cwd),
            variable: &|_| None,
        };
        let down = |project, cwd| places(project, cwd).folders_down();
        assert_eq!(down("/p", "/p/a/b"), [Path::new("/p"), Path::new("/p/a"), Path::new("/p/a/b")]);
        assert_eq!(down("/p", "/p"), [Path::new("/p")]);
        assert_eq!(down("/p", "/q"), [Path::new("/q")]);
    }
}
