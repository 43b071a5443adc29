//! Which parts of a project's hook files the user has looked at and trusts.
//!
//! Owns the digests, the record of them, and what an entry of today is compared with one that was
//! recorded: trusted, never trusted, or changed. What follows from that for a hook is decided where
//! the configuration is loaded; whether a terminal is needed to trust is the command line's rule.
//!
//! **How an edit is told from something new.** An entry whose text was recorded is the same entry,
//! wherever it stands in whichever file of the project: order, comments and notation do not count.
//! An entry whose text was not recorded takes the place of a recorded one of the same file and
//! section that is no longer there: first the one of the same name, then the one at the same
//! place, then the next that is left. Such an entry *changed*. One for which none is left is new,
//! and was *never* trusted. A recorded entry without a successor is just gone.

mod digest;
mod pairing;
mod store;
mod watch;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenter_core::diagnostic::Diagnostic;

pub use self::digest::Digest;
pub use self::watch::{ChangedFile, FileChange, ScriptWatch, Scripts};

use self::digest::{Content, Domain};
use self::pairing::{Pair, pair};
use self::store::{EntryRecord, ProjectRecord, ScriptRecord};
use self::watch::{Trusted, Watched, real_path};
use crate::config::owner::{Owners, Refusal};

/// One part of a hooks file that needs trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The file, from the project.
    pub file: String,
    /// The place in the file, such as `#/hook/0`.
    pub pointer: String,
    /// Its name.
    pub name: String,
    /// What it says, whatever way it is written.
    pub text: String,
    /// The folder of the file; scripts in it count, beside those in the project.
    pub folder: PathBuf,
    /// The files that may belong to it.
    pub files: Vec<CandidateFile>,
}

/// A file that may belong to an entry. It does if it is a regular file, and stands in the project
/// or in the hooks file's folder or is named as a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateFile {
    /// Its absolute path, before links.
    pub path: PathBuf,
    /// Whether the entry lists it as a script: it counts wherever it is.
    pub named: bool,
}

/// How an entry stands.
#[derive(Debug, Clone)]
pub enum Standing {
    /// It and its files are what was trusted; they are to be looked at again before each run.
    Trusted(Arc<ScriptWatch>),
    /// It was never trusted.
    Never,
    /// It was trusted, and is not what it was.
    Changed(Change),
}

/// What changed since an entry was trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The entry itself. `was` is the text that was trusted, if that is known.
    Entry {
        /// The text that was trusted.
        was: Option<String>,
    },
    /// A file of it.
    File(ChangedFile),
}

/// How the entries of a project stand.
#[derive(Debug, Default)]
pub struct Judged {
    /// One for each entry, in their order.
    pub standings: Vec<Standing>,
    /// The files of which anything was trusted.
    pub known_files: BTreeSet<String>,
    /// What there is to say about the record itself.
    pub diagnostics: Vec<Diagnostic>,
}

/// Why trust could not be read or recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The record, or its folder, does not belong to the user alone.
    #[error("`{path}` does not count: {why}; make it yours, and writable by nobody else", path = path.display())]
    Refused {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        why: Refusal,
    },
    /// The record cannot be read.
    #[error("`{path}` cannot be read", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The record is not what tenter wrote.
    #[error("`{path}` is broken: {message}; move it away and trust your projects anew", path = path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The record was written by a later version, and is left as it is.
    #[error("`{path}` has format {version}, which a later version of tenter wrote; update tenter", path = path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: i64,
    },
    /// The record cannot be written.
    #[error("trust cannot be recorded in `{path}`", path = path.display())]
    Write {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The project cannot be found, or has a name that cannot be written down.
    #[error("the project `{path}` cannot be used", path = path.display())]
    Project {
        /// The project.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of an entry cannot be read.
    #[error("`{path}` belongs to hook `{hook}` and cannot be read", path = path.display())]
    Script {
        /// The file.
        path: PathBuf,
        /// The entry.
        hook: String,
        /// Why.
        source: io::Error,
    },
}

/// The record of what is trusted. Making one does not touch the disk.
#[derive(Debug, Clone)]
pub struct Trust {
    folder: PathBuf,
    owners: Owners,
    host: &'static str,
}

impl Trust {
    /// The record in a state folder.
    pub fn new(state_home: impl Into<PathBuf>, owners: Owners) -> Self {
        Self { folder: state_home.into(), owners, host: store::OWN_HOST }
    }

    /// The same record for the files of another host: what is trusted of one host's files says
    /// nothing about another's.
    #[must_use]
    pub fn of_host(self, host: &'static str) -> Self {
        Self { host, ..self }
    }

    /// Compares entries of a project with what was trusted of it. It reads the record, looks at
    /// each of the entries' files, and reads those that may have changed.
    ///
    /// A record that cannot be read trusts nothing, and the diagnostics say so.
    pub fn judge(&self, project: &Path, entries: &[Entry]) -> Judged {
        let mut diagnostics = Vec::new();
        let roots = Roots::of(project);
        let records = store::read_project(&self.folder, self.owners, &roots.real, self.host);
        let records = records.unwrap_or_else(|error| {
            let message = format!("nothing of the project is trusted: {}", with_source(&error));
            diagnostics.push(
                Diagnostic::warning("trust.record", message)
                    .help("hooks of projects are skipped until the record can be read"),
            );
            Vec::new()
        });
        let standings = pair(&records, entries)
            .into_iter()
            .zip(entries)
            .map(|(pair, entry)| match pair {
                Pair::New => Standing::Never,
                Pair::Edited(record) => {
                    let is_true =
                        Digest::of(Domain::Entry, record.text.as_bytes()) == record.digest;
                    let was = is_true.then(|| record.text.clone());
                    Standing::Changed(Change::Entry { was })
                }
                Pair::Same(same) => judge_files(entry, &same, &roots),
            })
            .collect();
        let known_files = records.iter().map(|record| record.file.clone()).collect();
        Judged { standings, known_files, diagnostics }
    }

    /// Records what a survey found as trusted, in place of all that was recorded for its project.
    ///
    /// # Errors
    /// The record cannot be written, or should not be: it is broken, of a later version, or not
    /// the user's.
    pub fn trust(&self, survey: &Survey) -> Result<Recorded, TrustError> {
        if survey.project.to_str().is_none() {
            let source = io::Error::new(io::ErrorKind::InvalidFilename, "its path is not UTF-8");
            return Err(TrustError::Project { path: survey.project.clone(), source });
        }
        store::change(&self.folder, self.owners, |store| {
            let before = store.project(&survey.project, self.host);
            let before = before.map(|project| project.entries.clone());
            store.projects.retain(|project| !project.is_of(&survey.project, self.host));
            store.projects.push(ProjectRecord {
                path: survey.project.clone(),
                host: self.host.to_owned(),
                entries: survey.entries.clone(),
            });
            Recorded::new(survey, &before.unwrap_or_default())
        })
    }

    /// Forgets everything that was trusted of a project; gives how many entries that were.
    ///
    /// # Errors
    /// See [`Trust::trust`].
    pub fn untrust(&self, project: &Path) -> Result<usize, TrustError> {
        let project = real_path(project);
        store::change(&self.folder, self.owners, |store| {
            let record = store.project(&project, self.host);
            let count = record.map_or(0, |project| project.entries.len());
            store.projects.retain(|record| !record.is_of(&project, self.host));
            count
        })
    }

    /// The projects of which anything is trusted, and how many entries of each.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn projects(&self) -> Result<Vec<(PathBuf, usize)>, TrustError> {
        let store = store::read(&self.folder, self.owners)?;
        let of_host = store.projects.into_iter().filter(|one| one.host == self.host);
        Ok(of_host.map(|one| (one.path, one.entries.len())).collect())
    }
}

fn with_source(error: &TrustError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Compares the files of an entry with those of the records of the same text, and takes the record
/// that fits; if none does, the first says what changed.
fn judge_files(entry: &Entry, records: &[&EntryRecord], roots: &Roots) -> Standing {
    let mut first_change = None;
    for record in records {
        match watch_of(entry, record, roots) {
            Ok(watch) => return Standing::Trusted(Arc::new(watch)),
            Err(changed) => {
                first_change.get_or_insert(changed);
            }
        }
    }
    match first_change {
        Some(changed) => Standing::Changed(Change::File(changed)),
        None => Standing::Never,
    }
}

fn watch_of(
    entry: &Entry,
    record: &EntryRecord,
    roots: &Roots,
) -> Result<ScriptWatch, ChangedFile> {
    let mut watched = Vec::new();
    let mut left: Vec<_> = record.scripts.iter().collect();
    for file in &entry.files {
        if !roots.hold(file, &entry.folder) {
            continue;
        }
        let shown = roots.short(&file.path);
        let at = left.iter().position(|script| script.path == shown);
        let trusted = at.map(|at| left.remove(at));
        let shown = shown.display().to_string();
        let one = match trusted {
            Some(script) => {
                let target = roots.real.join(script.target.as_ref().unwrap_or(&script.path));
                let trusted = Trusted::File { digest: script.digest, target };
                Watched::new(file.path.clone(), shown, trusted, script.stat)
            }
            None => Watched::new(file.path.clone(), shown, Trusted::Absent, None),
        };
        one.check()?;
        if trusted.is_some() || could_appear(file, roots) {
            watched.push(one);
        }
    }
    match left.first() {
        Some(script) => {
            let file = script.path.display().to_string();
            Err(ChangedFile { file, change: FileChange::Gone })
        }
        None => Ok(ScriptWatch::new(watched)),
    }
}

/// Whether a file that is not there is worth a look before every run. Most words of a command are
/// no files and never will be.
fn could_appear(file: &CandidateFile, roots: &Roots) -> bool {
    let short = roots.short(&file.path);
    file.named || short.components().count() > 1 || short.extension().is_some()
}

/// The project in both its forms.
struct Roots {
    given: PathBuf,
    real: PathBuf,
}

impl Roots {
    fn of(project: &Path) -> Self {
        Self { given: project.to_owned(), real: real_path(project) }
    }

    /// Whether a file counts: as given or where it leads, it is in one of the folders.
    fn hold(&self, file: &CandidateFile, folder: &Path) -> bool {
        let inside = |path: &Path| {
            // Every path starts with an empty one.
            let starts = |root: &Path| root.is_absolute() && path.starts_with(root);
            starts(&self.given) || starts(&self.real) || starts(folder)
        };
        file.named || inside(&file.path) || inside(&real_path(&file.path))
    }

    /// A path from the project, or the path itself if it is elsewhere.
    fn short(&self, path: &Path) -> PathBuf {
        let inside = path.strip_prefix(&self.given).or_else(|_| path.strip_prefix(&self.real));
        inside.unwrap_or(path).to_owned()
    }
}

/// The entries of a project as they are now, with the digests of all files that belong to them:
/// what is shown to the user is what will be recorded.
#[derive(Debug, Clone)]
pub struct Survey {
    project: PathBuf,
    entries: Vec<EntryRecord>,
}

impl Survey {
    /// Reads all files of the entries.
    ///
    /// # Errors
    /// The project does not exist, or a file of an entry cannot be read.
    pub fn of(project: &Path, entries: &[Entry]) -> Result<Self, TrustError> {
        let real = project
            .canonicalize()
            .map_err(|source| TrustError::Project { path: project.to_owned(), source })?;
        let roots = Roots { given: project.to_owned(), real };
        let entries = entries
            .iter()
            .map(|entry| survey_entry(entry, &roots))
            .collect::<Result<_, TrustError>>()?;
        Ok(Self { project: roots.real, entries })
    }

    /// The project, without links.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// One digest for all of it. It depends neither on where the project is nor on the order of
    /// its entries, so that one machine can check what was looked at on another.
    pub fn digest(&self) -> Digest {
        let path = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
        let mut entries: Vec<Vec<u8>> = self
            .entries
            .iter()
            .map(|entry| {
                let mut scripts: Vec<Vec<u8>> = entry
                    .scripts
                    .iter()
                    .map(|script| {
                        let target = script.target.as_deref().unwrap_or(&script.path);
                        let digest = script.digest.to_string().into_bytes();
                        framed(&[path(&script.path), path(target), digest])
                    })
                    .collect();
                scripts.sort();
                let digest = entry.digest.to_string().into_bytes();
                framed(&[entry.file.clone().into_bytes(), digest, framed(&scripts)])
            })
            .collect();
        entries.sort();
        Digest::of(Domain::Project, &framed(&entries))
    }

    /// The entries, each with the files that belong to it.
    pub fn entries(&self) -> impl Iterator<Item = SurveyedEntry<'_>> {
        self.entries.iter().map(SurveyedEntry)
    }
}

/// Several texts as one, from which they could be told apart again.
fn framed(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        out.extend_from_slice(part.len().to_string().as_bytes());
        out.push(b':');
        out.extend_from_slice(part);
    }
    out
}

fn survey_entry(entry: &Entry, roots: &Roots) -> Result<EntryRecord, TrustError> {
    let mut scripts = Vec::new();
    for file in &entry.files {
        if !roots.hold(file, &entry.folder) {
            continue;
        }
        let content = digest::read(&file.path).map_err(|source| TrustError::Script {
            path: file.path.clone(),
            hook: entry.name.clone(),
            source,
        })?;
        let Some(Content { digest, stat }) = content else { continue };
        let path = roots.short(&file.path);
        let target = roots.short(&real_path(&file.path));
        let target = (target != path).then_some(target);
        scripts.push(ScriptRecord { path, target, digest, stat });
    }
    Ok(EntryRecord {
        file: entry.file.clone(),
        pointer: entry.pointer.clone(),
        name: entry.name.clone(),
        digest: Digest::of(Domain::Entry, entry.text.as_bytes()),
        text: entry.text.clone(),
        scripts,
    })
}

/// One entry of a survey.
#[derive(Debug, Clone, Copy)]
pub struct SurveyedEntry<'a>(&'a EntryRecord);

impl<'a> SurveyedEntry<'a> {
    /// The file, from the project.
    pub fn file(self) -> &'a str {
        &self.0.file
    }

    /// The place in the file.
    pub fn pointer(self) -> &'a str {
        &self.0.pointer
    }

    /// Its name.
    pub fn name(self) -> &'a str {
        &self.0.name
    }

    /// What it says.
    pub fn text(self) -> &'a str {
        &self.0.text
    }

    /// The files that belong to it, from the project, each with its digest.
    pub fn scripts(self) -> impl Iterator<Item = (&'a Path, Digest)> {
        self.0.scripts.iter().map(|script| (&*script.path, script.digest))
    }
}

/// What was recorded, beside what was recorded before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The project, without links.
    pub project: PathBuf,
    /// Names of entries that are trusted now and were not before.
    pub added: Vec<String>,
    /// Names of entries that, or whose files, had changed.
    pub changed: Vec<String>,
    /// Names of entries that are as they were.
    pub kept: Vec<String>,
    /// Names of entries that are gone.
    pub removed: Vec<String>,
    /// The digest of all of it.
    pub digest: Digest,
}

impl Recorded {
    fn new(survey: &Survey, before: &[EntryRecord]) -> Self {
        let mut recorded = Self {
            project: survey.project.clone(),
            added: Vec::new(),
            changed: Vec::new(),
            kept: Vec::new(),
            removed: Vec::new(),
            digest: survey.digest(),
        };
        let files = |record: &EntryRecord| {
            let mut files: Vec<_> = record
                .scripts
                .iter()
                .map(|script| (script.path.clone(), script.target.clone(), script.digest))
                .collect();
            files.sort();
            files
        };
        let mut used = BTreeSet::new();
        for (pair, entry) in pair(before, &survey.entries).into_iter().zip(&survey.entries) {
            let (list, record) = match pair {
                Pair::New => (&mut recorded.added, None),
                Pair::Edited(record) => (&mut recorded.changed, Some(record)),
                Pair::Same(same) => {
                    match same.iter().find(|record| files(record) == files(entry)) {
                        Some(record) => (&mut recorded.kept, Some(*record)),
                        None => (&mut recorded.changed, same.first().copied()),
                    }
                }
            };
            list.push(entry.name.clone());
            used.extend(record.map(std::ptr::from_ref));
        }
        let gone = before.iter().filter(|record| !used.contains(&std::ptr::from_ref(*record)));
        recorded.removed = gone.map(|record| record.name.clone()).collect();
        recorded
    }
}
