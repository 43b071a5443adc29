//! What a host's file was before tenter came, kept in the state folder.

use std::fmt::Write as _;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::CliError;
use crate::install::{Edit, write};

/// The form of a record.
const VERSION: u32 = 1;

/// Where the records are.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    folder: PathBuf,
}

/// A file before tenter came; nothing in it if there was none.
pub(super) struct Original(pub(super) Option<String>);

#[derive(Serialize, Deserialize)]
struct Record {
    version: u32,
    /// The file.
    path: PathBuf,
    /// What it was; nothing if there was none.
    before: Option<String>,
    /// What tenter made of it.
    after: String,
}

impl Kept {
    pub(super) fn below(state: &Path) -> Self {
        Self { folder: state.join("installed") }
    }

    /// Keeps what a file was before tenter makes `after` of it. If it is what tenter made of it
    /// earlier, that is what was kept then; else it is what is there without anything of tenter's.
    pub(super) fn keep(&self, path: &Path, edit: &Edit, after: &str) -> Result<(), CliError> {
        let before = match self.read(path) {
            Some(known) if Some(&known.after) == edit.before.as_ref() => known.before,
            _ => edit.original.clone(),
        };
        let record =
            Record { version: VERSION, path: path.to_owned(), before, after: after.into() };
        let file = self.file(path);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(|error| CliError::unwritable(&self.folder, &error))?;
        write::replace(&file, &serde_json::to_string(&record).unwrap_or_default(), false)
    }

    /// What a file was before tenter came, if it is what tenter made of it.
    pub(super) fn original(&self, path: &Path, now: &str) -> Option<Original> {
        let known = self.read(path).filter(|known| known.after == now)?;
        Some(Original(known.before))
    }

    /// Forgets a file.
    pub(super) fn forget(&self, path: &Path) -> Result<(), CliError> {
        let file = self.file(path);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(CliError::unwritable(&file, &error))
            }
            _ => Ok(()),
        }
    }

    fn read(&self, path: &Path) -> Option<Record> {
        let text = fs::read_to_string(self.file(path)).ok()?;
        let record: Record = serde_json::from_str(&text).ok()?;
        (record.version == VERSION && record.path == path).then_some(record)
    }

    /// The record of a file: its path, in one name.
    fn file(&self, path: &Path) -> PathBuf {
        let mut name = String::new();
        for letter in path.to_string_lossy().chars() {
            match letter {
                '/' => name.push_str("__"),
                letter if letter.is_ascii_alphanumeric() || letter == '-' => name.push(letter),
                // Writing to a `String` does not fail.
                letter => drop(write!(name, "_{:x}_", u32::from(letter))),
            }
        }
        // The end tells files apart; the record itself names the whole path.
        let skip = name.chars().count().saturating_sub(200);
        let name: String = name.chars().skip(skip).collect();
        self.folder.join(format!("{name}.json"))
    }
}
