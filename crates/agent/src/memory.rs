//! What is remembered of a user from one session to the next: short notes, in a file for its owner's eyes
//! alone.
//!
//! Owns the notes. Who writes them is the reviewer's business, who reads them the embedder's.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// How long a note may be, in characters.
pub const MOST_NOTE: usize = 400;
/// How large the file may become, in bytes: it goes into a system prompt as a whole.
pub const MOST_NOTES: usize = 32 * 1024;

/// Why something cannot be remembered or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The note is too long to be one.
    #[error("a note has {length} characters, and {MOST_NOTE} are allowed")]
    TooLong {
        /// Its length in characters.
        length: usize,
    },
    /// There is no room for more.
    #[error("`{}` is full ({most} bytes): take out what no longer holds", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// Its bound in bytes.
        most: usize,
    },
    /// The system said no.
    #[error("`{}` cannot be used: {error}", path.display())]
    Io {
        /// The file or its folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// Keeps notes.
pub trait Memory: Send + Sync {
    /// Keeps a note; `false` if it says nothing, or is there already.
    ///
    /// # Errors
    /// It is too long, or there is no room, or it cannot be written.
    fn remember(&self, note: &str) -> Result<bool, MemoryError>;

    /// All notes, one a line, the oldest first; empty if there are none.
    ///
    /// # Errors
    /// They cannot be read.
    fn text(&self) -> Result<String, MemoryError>;
}

/// Keeps notes in a text file, one a line, so that its owner can read and mend it.
///
/// ```
/// use tenter_agent::{FileMemory, Memory as _};
///
/// let folder = tempfile::tempdir().unwrap();
/// let memory = FileMemory::new(folder.path().join("user.md"));
/// assert!(memory.remember("Prefers pnpm to npm.").unwrap());
/// assert!(!memory.remember("Prefers pnpm\nto npm.").unwrap(), "it is known");
/// assert_eq!(memory.text().unwrap(), "- Prefers pnpm to npm.\n");
/// ```
#[derive(Debug, Clone)]
pub struct FileMemory {
    path: PathBuf,
    most: usize,
}

impl FileMemory {
    /// The notes in this file. It is made with the first note.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), most: MOST_NOTES }
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn about(&self, error: io::Error) -> MemoryError {
        MemoryError::Io { path: self.path.clone(), error }
    }

    /// Opens and locks the file; the lock is gone with the file.
    fn opened(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut options = OpenOptions::new();
        let file = options.append(true).read(true).create(true).mode(0o600).open(&self.path)?;
        file.lock()?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        Ok(file)
    }
}

impl Memory for FileMemory {
    fn remember(&self, note: &str) -> Result<bool, MemoryError> {
        let plain: String = note.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let note = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        let length = note.chars().count();
        if length > MOST_NOTE {
            return Err(MemoryError::TooLong { length });
        }
        if note.is_empty() {
            return Ok(false);
        }
        let mut file = self.opened().map_err(|error| self.about(error))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| self.about(error))?;
        let known = String::from_utf8_lossy(&bytes);
        let mut line = format!("- {note}\n");
        if known.lines().any(|known| known == line.trim_end()) {
            return Ok(false);
        }
        if !known.is_empty() && !known.ends_with('\n') {
            line.insert(0, '\n');
        }
        if bytes.len() + line.len() > self.most {
            return Err(MemoryError::Full { path: self.path.clone(), most: self.most });
        }
        file.write_all(line.as_bytes()).map_err(|error| self.about(error))?;
        Ok(true)
    }

    fn text(&self) -> Result<String, MemoryError> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(self.about(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> (tempfile::TempDir, FileMemory) {
        let folder = tempfile::tempdir().unwrap();
        let memory = FileMemory::new(folder.path().join("state/user.md"));
        (folder, memory)
    }

    #[test]
    fn notes_are_for_their_owner_one_a_line_and_each_once() {
        let (_folder, memory) = memory();
        assert_eq!(memory.text().unwrap(), "");
        assert!(memory.remember(" Works\n\ton\u{7} Linux. ").unwrap());
        assert!(!memory.remember("Works on Linux.").unwrap());
        assert!(!memory.remember(" \n ").unwrap());
        assert!(memory.remember("Writes Rust.").unwrap());
        assert_eq!(memory.text().unwrap(), "- Works on Linux.\n- Writes Rust.\n");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(memory.path()), 0o600);
        assert_eq!(mode(memory.path().parent().unwrap()), 0o700);
    }

    #[test]
    fn what_a_hand_has_left_behind_is_neither_lost_nor_run_into() {
        let (_folder, memory) = memory();
        fs::create_dir_all(memory.path().parent().unwrap()).unwrap();
        fs::write(memory.path(), b"# Me\n- no line \xff break").unwrap();
        fs::set_permissions(memory.path(), Permissions::from_mode(0o644)).unwrap();
        memory.remember("Writes Rust.").unwrap();
        let text = memory.text().unwrap();
        assert_eq!(text, "# Me\n- no line \u{fffd} break\n- Writes Rust.\n");
        let mode = fs::metadata(memory.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn notes_are_bounded() {
        let (_folder, mut memory) = memory();
        memory.most = 40;
        let long = memory.remember(&"é".repeat(MOST_NOTE + 1)).unwrap_err();
        assert!(matches!(long, MemoryError::TooLong { length: 401 }));
        assert!(memory.remember(&"a".repeat(20)).unwrap());
        let full = memory.remember(&"b".repeat(20)).unwrap_err();
        assert!(full.to_string().contains("is full (40 bytes)"), "{full}");
        assert_eq!(memory.text().unwrap().len(), 23);
    }

    #[test]
    fn a_file_that_cannot_be_used_says_so() {
        let (folder, _) = memory();
        fs::write(folder.path().join("file"), "").unwrap();
        let memory = FileMemory::new(folder.path().join("file/user.md"));
        assert!(memory.remember("a").unwrap_err().to_string().contains("cannot be used"));
        assert!(memory.text().is_err());
    }
}
