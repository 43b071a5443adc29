//! The files that belong to a trusted hook, looked at again before each run.
//!
//! What is certain after a check: at the moment of the check each file held what was trusted. What
//! is not: between the check and the moment in which the system opens the file, whoever may write
//! it can still change it, and so can the hook's own process for what it reads later. Closing that
//! gap would take a copy of every script for every run; whoever can win that race can as well
//! change the agent itself.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::digest::{self, Content, Digest, Stat};

/// What happened to a file since it was trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// It holds something else.
    Content,
    /// A link on the way to it leads elsewhere.
    Target,
    /// It is gone.
    Gone,
    /// It was not there before.
    New,
    /// It can no longer be read.
    Unreadable,
}

/// A file that is not what was trusted. Its text says so; what to do about it is left to whoever
/// shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path from the project, or the whole path if it is elsewhere.
    pub file: String,
    /// What happened to it.
    pub change: FileChange,
}

impl fmt::Display for ChangedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.change {
            FileChange::Content => "changed after it was trusted",
            FileChange::Target => "leads elsewhere since it was trusted",
            FileChange::Gone => "is gone since it was trusted",
            FileChange::New => "was not there when the hook was trusted",
            FileChange::Unreadable => "can no longer be read",
        };
        write!(f, "`{}` {what}", self.file)
    }
}

/// One file as it was trusted.
#[derive(Debug)]
pub(super) struct Watched {
    path: PathBuf,
    shown: String,
    trusted: Trusted,
    /// The mark under which the trusted content was seen last.
    seen: Mutex<Option<Stat>>,
}

/// What was trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trusted {
    /// A file with this content, at the end of all links.
    File { digest: Digest, target: PathBuf },
    /// That there is no such file.
    Absent,
}

impl Watched {
    pub(super) fn new(path: PathBuf, shown: String, trusted: Trusted, seen: Option<Stat>) -> Self {
        Self { path, shown, trusted, seen: Mutex::new(seen) }
    }

    pub(super) fn check(&self) -> Result<(), ChangedFile> {
        let changed = |change| ChangedFile { file: self.shown.clone(), change };
        let found = digest::stat(&self.path).map_err(|_| changed(FileChange::Unreadable))?;
        let (digest, target) = match (&self.trusted, found) {
            (Trusted::Absent, None) => return Ok(()),
            (Trusted::Absent, Some(_)) => return Err(changed(FileChange::New)),
            (Trusted::File { .. }, None) => return Err(changed(FileChange::Gone)),
            (Trusted::File { digest, target }, Some(found)) => {
                // A panic elsewhere cannot leave a mark half written.
                let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
                if *seen == Some(found) {
                    return Ok(());
                }
                (digest, target)
            }
        };
        let content = digest::read(&self.path).map_err(|_| changed(FileChange::Unreadable))?;
        let Some(Content { digest: now, stat }) = content else {
            return Err(changed(FileChange::Gone));
        };
        if now != *digest {
            return Err(changed(FileChange::Content));
        }
        if real_path(&self.path) != *target {
            return Err(changed(FileChange::Target));
        }
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = stat;
        Ok(())
    }
}

/// Where a path leads; itself if that cannot be told.
pub(super) fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The files of one trusted hook.
#[derive(Debug, Default)]
pub struct ScriptWatch {
    files: Vec<Watched>,
}

impl ScriptWatch {
    pub(super) fn new(files: Vec<Watched>) -> Self {
        Self { files }
    }

    /// Looks whether every file still is what was trusted: one `stat` a file, and a read only of
    /// one whose device, inode, size or times changed. It blocks as long as that takes.
    ///
    /// # Errors
    /// The first file that is not.
    pub fn check(&self) -> Result<(), ChangedFile> {
        self.files.iter().try_for_each(Watched::check)
    }

    /// How many files it looks at.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is nothing to look at.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// The watches of all hooks of a configuration, by their place in it.
#[derive(Debug, Clone, Default)]
pub struct Scripts {
    watches: Vec<Option<Arc<ScriptWatch>>>,
}

impl Scripts {
    /// The watches of hooks in configuration order; `None` for a hook that needs no trust.
    pub fn new(watches: Vec<Option<Arc<ScriptWatch>>>) -> Self {
        Self { watches }
    }

    /// Checks the files of the hook at a place, see [`ScriptWatch::check`].
    ///
    /// # Errors
    /// The first file that is not what was trusted.
    pub fn check(&self, at: usize) -> Result<(), ChangedFile> {
        match self.watches.get(at) {
            Some(Some(watch)) => watch.check(),
            _ => Ok(()),
        }
    }

    /// The watch of the hook at a place.
    pub fn get(&self, at: usize) -> Option<&Arc<ScriptWatch>> {
        self.watches.get(at)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::digest::Domain;
    use std::fs;

    fn watched(path: &Path, trusted: &[u8], seen: &Path) -> Watched {
        let trusted =
            Trusted::File { digest: Digest::of(Domain::File, trusted), target: real_path(path) };
        Watched::new(path.to_owned(), "f".into(), trusted, digest::stat(seen).unwrap())
    }

    #[test]
    fn a_file_is_read_again_exactly_if_its_marks_are_not_those_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("f"), folder.path().join("o"));
        fs::write(&file, "now").unwrap();
        fs::write(&other, "now").unwrap();
        assert_eq!(watched(&file, b"then", &file).check(), Ok(()), "it is not read");
        let change = watched(&file, b"then", &other).check().unwrap_err().change;
        assert_eq!(change, FileChange::Content);
        assert_eq!(watched(&file, b"now", &other).check(), Ok(()));
    }

    #[test]
    fn a_changed_file_stays_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        fs::write(&file, "now").unwrap();
        let watched = watched(&file, b"then", folder.path());
        watched.check().unwrap_err();
        watched.check().unwrap_err();
    }
}
