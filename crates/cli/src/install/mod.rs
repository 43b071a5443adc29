//! tenter in the files of hosts: which files, what changes in them, and what they were before.
//!
//! | module | owns |
//! |---|---|
//! | `kept` | what a file was before tenter came, so that it can be that again |
//! | `write` | one file, replaced in one step |
//!
//! What stands in a file is the library's; this finds, reads and writes it.

mod kept;
mod write;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tenter::config::Places;
use tenter::hosts::bridge::Bridge;
use tenter::hosts::install::{EditError, Install, Line, Spot, WAIT};

use crate::error::CliError;
use crate::world::World;

use kept::{Kept, Original};

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The user's: it counts in every project.
    User,
    /// The project's.
    Project,
}

impl Scope {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// What is to become of one file.
#[derive(Debug)]
pub(crate) struct Edit {
    pub(crate) host: &'static str,
    pub(crate) scope: Scope,
    /// The file as its host calls it.
    pub(crate) path: PathBuf,
    /// What is there, if anything is.
    pub(crate) before: Option<String>,
    /// What is to be there; `None` if nothing is.
    pub(crate) after: Option<String>,
    /// The host's names of the events that tenter is told of then.
    pub(crate) events: Vec<&'static str>,
    /// Whether the file is as it was before tenter came, byte for byte.
    pub(crate) restores: bool,
    /// What is there without anything of tenter's.
    original: Option<String>,
    is_program: bool,
    kept: Kept,
}

impl Edit {
    /// Whether anything changes.
    pub(crate) fn changes(&self) -> bool {
        self.before != self.after
    }

    /// Makes it so.
    ///
    /// # Errors
    /// The file cannot be written, or is no longer what it was.
    pub(crate) fn apply(&self) -> Result<(), CliError> {
        if !self.changes() {
            return Ok(());
        }
        let target = write::target(&self.path);
        if read(&self.path)? != self.before {
            return Err(CliError::bad_input(format!(
                "`{}` has changed meanwhile and is left as it is",
                self.path.display()
            ))
            .hint("run the command again"));
        }
        match &self.after {
            // What it was is kept first: a crash between the two leaves a record of nothing.
            Some(after) if !self.events.is_empty() => {
                self.kept.keep(&target, self, after)?;
                write::replace(&target, after, self.is_program)
            }
            Some(after) => write::replace(&target, after, self.is_program)
                .and_then(|()| self.kept.forget(&target)),
            None => {
                fs::remove_file(&target).map_err(|error| CliError::unwritable(&target, &error))?;
                self.kept.forget(&target)
            }
        }
    }
}

/// A host with what is known of how it is told of tenter.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) bridge: &'static Bridge,
    pub(crate) install: &'a Install,
    pub(crate) scope: Scope,
    pub(crate) places: &'a Places,
    pub(crate) world: &'a World,
}

impl Target<'_> {
    /// The edits that put tenter in.
    ///
    /// # Errors
    /// A file cannot be read, or is not as the host reads it.
    pub(crate) fn install(&self, program: &Path, wait: Duration) -> Result<Vec<Edit>, CliError> {
        let program = program.to_str().ok_or_else(|| {
            CliError::bad_input(format!("the path of tenter is not UTF-8: {}", program.display()))
                .hint("put it somewhere else, or a link to it")
        })?;
        let lines = self.install.lines(self.bridge, program, wait);
        let (spot, place) = self.spot()?;
        let mut edits = Vec::new();
        for (path, lines) in self.files(&place, &lines) {
            let before = read(&path)?;
            let after = self
                .install
                .with(spot, before.as_deref(), self.bridge.name, &lines)
                .map_err(|error| self.not_editable(&path, &error))?;
            let events = lines.iter().map(|line| line.event).collect();
            let original = match &before {
                Some(before) => self
                    .install
                    .without(spot, before, self.bridge.name)
                    .map_err(|error| self.not_editable(&path, &error))?,
                None => None,
            };
            edits.push(Edit { original, ..self.edit(path, before, Some(after), events) });
        }
        Ok(edits)
    }

    /// The edits that take tenter out.
    ///
    /// # Errors
    /// A file cannot be read, or is not as the host reads it.
    pub(crate) fn uninstall(&self) -> Result<Vec<Edit>, CliError> {
        let lines = self.install.lines(self.bridge, "tenter", WAIT);
        let mut edits = Vec::new();
        // It may have been another one of them when tenter came.
        for spot in self.spots() {
            for (path, _) in self.files(&self.path_of(spot), &lines) {
                let Some(before) = read(&path)? else { continue };
                let mut edit = self.edit(path, Some(before.clone()), None, Vec::new());
                match edit.kept.original(&write::target(&edit.path), &before) {
                    Some(Original(original)) => {
                        edit.after = original;
                        edit.restores = true;
                    }
                    None => {
                        edit.after = self
                            .install
                            .without(spot, &before, self.bridge.name)
                            .map_err(|error| self.not_editable(&edit.path, &error))?;
                    }
                }
                edits.push(edit);
            }
        }
        Ok(edits)
    }

    fn edit(
        &self,
        path: PathBuf,
        before: Option<String>,
        after: Option<String>,
        events: Vec<&'static str>,
    ) -> Edit {
        Edit {
            host: self.bridge.name,
            scope: self.scope,
            path,
            before,
            after,
            events,
            restores: false,
            original: None,
            is_program: self.install.form.is_programs(),
            kept: Kept::below(&self.places.state_home),
        }
    }

    /// The places of the host's files, there or not.
    pub(crate) fn files_at(&self) -> Vec<(&'static Spot, PathBuf)> {
        self.spots().iter().map(|spot| (spot, self.path_of(spot))).collect()
    }

    fn spots(&self) -> &'static [Spot] {
        match self.scope {
            Scope::User => self.install.user,
            Scope::Project => self.install.project,
        }
    }

    /// The place that counts: the first that is there, else the last.
    fn spot(&self) -> Result<(&'static Spot, PathBuf), CliError> {
        let mut places = self.spots().iter().map(|spot| (spot, self.path_of(spot)));
        let found = places.clone().find(|(_, path)| path.exists()).or_else(|| places.next_back());
        found.ok_or_else(|| {
            CliError::usage(format!(
                "{} runs no hooks of a {}",
                self.bridge.title,
                self.scope.as_str()
            ))
            .hint(format!("`tenter install {}` does it for you in every project", self.bridge.name))
        })
    }

    fn path_of(&self, spot: &Spot) -> PathBuf {
        let named = spot.variable.and_then(|name| self.world.variable(name)).map(PathBuf::from);
        let folder = match self.scope {
            Scope::User => named
                .filter(|folder| folder.is_absolute())
                .unwrap_or_else(|| self.places.home.join(spot.folder)),
            Scope::Project => self.places.project.join(spot.folder),
        };
        folder.join(spot.file)
    }

    /// The files below a place, each with its lines.
    fn files(&self, place: &Path, lines: &[Line]) -> Vec<(PathBuf, Vec<Line>)> {
        if self.install.form.is_programs() {
            lines.iter().map(|line| (place.join(line.event), vec![line.clone()])).collect()
        } else {
            vec![(place.to_owned(), lines.to_vec())]
        }
    }

    pub(crate) fn not_editable(&self, path: &Path, error: &EditError) -> CliError {
        CliError::bad_input(format!("{}: {error}", path.display())).hint(format!(
            "mend it first: {} cannot read it either, and nothing was written",
            self.bridge.title
        ))
    }
}

/// The text of a file; `None` if there is none.
pub(crate) fn read(path: &Path) -> Result<Option<String>, CliError> {
    match fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| {
            CliError::bad_input(format!("`{}` is not UTF-8", path.display()))
                .hint("write it as UTF-8")
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CliError::unreadable("file", path, &error)),
    }
}
