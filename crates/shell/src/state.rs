//! What the line itself has said by the time a command runs: the folder, and variables with a value
//! that is certain.
//!
//! Owns: the state, how two ways to one place are joined, and which variables are followed. Does not
//! own: who sets what (`walk`, `commands`), what folders are (`folder`).
//!
//! A variable that is not in the state may hold anything. It gets in by a plain assignment of a text
//! and falls out whenever that text may not be all of its value any more.

use std::rc::Rc;

use crate::folder::Folder;
use crate::word::{Piece, Word};

/// More variables than this are not followed at a time.
const MAX_VALUES: usize = 32;

/// Longer values are not followed.
const MAX_VALUE: usize = 256;

/// What is known where a command runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct State {
    pub(crate) folder: Folder,
    values: Rc<Vec<(String, Word)>>,
    /// Something may change folders at any time: a function, a trap, `CDPATH`.
    roams: bool,
    /// Something may change what assignments mean: attributes, references, a function, a trap.
    shifts: bool,
    /// How often the folder has changed.
    pub(crate) moves: usize,
    /// How often a variable has changed.
    pub(crate) sets: usize,
}

impl State {
    /// The value of a variable.
    pub(crate) fn value(&self, name: &str) -> Option<&Word> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// A variable is set, to this value if it is certain.
    pub(crate) fn set(&mut self, name: &str, value: Option<&Word>) {
        self.sets += 1;
        let at = self.values.iter().position(|(known, _)| known == name);
        let value = value.filter(|value| !self.shifts && is_followed(name) && is_certain(value));
        match (at, value) {
            (None, None) => {}
            (Some(at), None) => {
                Rc::make_mut(&mut self.values).remove(at);
            }
            (None, Some(value)) => {
                if self.values.len() < MAX_VALUES {
                    Rc::make_mut(&mut self.values).push((name.to_owned(), value.clone()));
                }
            }
            (Some(at), Some(value)) => {
                if let Some(entry) = Rc::make_mut(&mut self.values).get_mut(at) {
                    entry.1 = value.clone();
                }
            }
        }
    }

    /// Any variable may have changed.
    pub(crate) fn forget(&mut self) {
        self.sets += 1;
        if !self.values.is_empty() {
            self.values = Rc::default();
        }
    }

    /// From here on no variable is certain.
    pub(crate) fn shift(&mut self) {
        self.forget();
        self.shifts = true;
    }

    /// From here on no folder is certain.
    pub(crate) fn roam(&mut self) {
        self.moves += 1;
        self.roams = true;
        self.move_to(Folder::Unknown);
    }

    /// The folder changes.
    pub(crate) fn move_to(&mut self, folder: Folder) {
        self.moves += 1;
        self.folder = match (&self.folder, folder) {
            (Folder::Away, _) => Folder::Away,
            (Folder::Inside, _) => Folder::Inside,
            (Folder::OtherRoot, _) => Folder::OtherRoot,
            (_, Folder::Here | Folder::Among(_)) if self.roams => Folder::Unknown,
            (_, folder) => folder,
        };
    }

    /// What is known in a shell that is started here: its folder.
    pub(crate) fn child(&self) -> Self {
        Self { folder: self.folder.clone(), roams: self.roams, ..Self::default() }
    }

    /// What is known when `inside` ran at some time, or may run at any: nothing that it changed.
    pub(crate) fn after_any_time(&mut self, before: &Self, inside: &Self) {
        if inside.moves != before.moves {
            self.roam();
        }
        if inside.sets != before.sets {
            self.shift();
        }
        self.roams |= inside.roams;
        self.shifts |= inside.shifts;
    }

    /// What is known where either way may have been taken.
    pub(crate) fn join(&mut self, other: &Self) {
        self.folder = self.folder.or(&other.folder);
        self.roams |= other.roams;
        self.shifts |= other.shifts;
        self.moves = self.moves.max(other.moves);
        self.sets = self.sets.max(other.sets);
        if !Rc::ptr_eq(&self.values, &other.values) && self.values != other.values {
            let values = Rc::make_mut(&mut self.values);
            values.retain(|entry| other.values.contains(entry));
        }
        if self.shifts {
            self.values = Rc::default();
        }
    }
}

/// Whether a value is one text, known up to the home folder.
fn is_certain(value: &Word) -> bool {
    let mut length = 0;
    let known = value.pieces().iter().all(|piece| match piece {
        Piece::Text(text) => {
            length += text.len();
            true
        }
        Piece::Home => true,
        Piece::Glob(_) | Piece::Any | Piece::Below | Piece::Pipe => false,
    });
    known && length <= MAX_VALUE && value.is_one()
}

/// Whether a variable holds what it is assigned: not those the shell itself sets or guards.
fn is_followed(name: &str) -> bool {
    let shells = name.starts_with("BASH")
        || name.starts_with("COMP")
        || name.starts_with("COPROC")
        || name.starts_with("EPOCH")
        || name.starts_with("HIST")
        || name.starts_with("OPT");
    !shells
        && !matches!(
            name,
            "_" | "IFS"
                | "HOME"
                | "PWD"
                | "OLDPWD"
                | "UID"
                | "EUID"
                | "GID"
                | "EGID"
                | "PPID"
                | "RANDOM"
                | "SRANDOM"
                | "SECONDS"
                | "LINENO"
                | "FUNCNAME"
                | "GROUPS"
                | "DIRSTACK"
                | "PIPESTATUS"
                | "SHELLOPTS"
                | "SHLVL"
                | "REPLY"
                | "MAPFILE"
                | "ERRNO"
                | "TTYIDLE"
                | "USERNAME"
                | "argv"
                | "status"
                | "pipestatus"
                | "path"
                | "cdpath"
                | "fpath"
                | "options"
        )
}
