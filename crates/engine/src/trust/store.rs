//! `trust.toml`: what was trusted, project by project.
//!
//! Owns the file's format, who may own it, and that it is written whole or not at all. The file
//! belongs to the user; nothing in a project can write it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::TrustError;
use super::digest::{Digest, Stat};
use crate::config::owner::{self, Found, Owners, Refusal};

/// The format that this version reads and writes.
const VERSION: i64 = 1;
const FILE: &str = "trust.toml";
const LOCK: &str = "trust.lock";
/// Only one process writes at a time, so a left-over one is nobody's.
const TEMPORARY: &str = "trust.toml.new";
const WRITABLE: u32 = 0o022;

const HEAD: &str =
    "# What `tenter trust` recorded. Edit it with `tenter trust` and `tenter untrust`.\n\n";

/// Everything that was trusted.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Store {
    version: i64,
    #[serde(rename = "project", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) projects: Vec<ProjectRecord>,
}

/// What was trusted of one project.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProjectRecord {
    /// Without links.
    pub(super) path: PathBuf,
    /// Whose files they are that were trusted.
    #[serde(default = "own_host", skip_serializing_if = "is_own_host")]
    pub(super) host: String,
    #[serde(rename = "entry", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) entries: Vec<EntryRecord>,
}

/// The host whose records do not name it.
pub(super) const OWN_HOST: &str = "tenter";

fn own_host() -> String {
    OWN_HOST.to_owned()
}

fn is_own_host(host: &str) -> bool {
    host == OWN_HOST
}

impl ProjectRecord {
    pub(super) fn is_of(&self, path: &Path, host: &str) -> bool {
        self.path == path && self.host == host
    }
}

/// One entry of a hooks file as it was trusted.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryRecord {
    pub(super) file: String,
    pub(super) pointer: String,
    pub(super) name: String,
    #[serde(with = "as_text")]
    pub(super) digest: Digest,
    /// For people, and to tell what an edit changed. The digest decides.
    pub(super) text: String,
    #[serde(rename = "script", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) scripts: Vec<ScriptRecord>,
}

/// One file as it was trusted.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptRecord {
    /// From the project, or absolute.
    pub(super) path: PathBuf,
    /// Where it leads, if elsewhere; from the project, or absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<PathBuf>,
    #[serde(with = "as_text")]
    pub(super) digest: Digest,
    /// The mark under which it had that content.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "as_text_if_any")]
    pub(super) stat: Option<Stat>,
}

mod as_text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<T: Display, S: Serializer>(
        value: &T,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(super) fn deserialize<'de, T: FromStr, D: Deserializer<'de>>(
        from: D,
    ) -> Result<T, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(|_| D::Error::custom(format!("`{text}` is no digest")))
    }
}

mod as_text_if_any {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Stat;

    #[expect(clippy::ref_option, reason = "serde passes the field as it is")]
    pub(super) fn serialize<S: Serializer>(value: &Option<Stat>, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => to.collect_str(value),
            None => to.serialize_none(),
        }
    }

    /// A mark that is not understood is only a reason to read the file again.
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Stat>, D::Error> {
        Ok(String::deserialize(from)?.parse().ok())
    }
}

impl Store {
    pub(super) fn project(&self, path: &Path, host: &str) -> Option<&ProjectRecord> {
        self.projects.iter().find(|project| project.is_of(path, host))
    }
}

/// Reads what was trusted; nothing if nothing ever was.
pub(super) fn read(folder: &Path, owners: Owners) -> Result<Store, TrustError> {
    match read_bytes(folder, owners)? {
        Some(bytes) => parse(&bytes).map_err(|problem| problem.in_file(folder)),
        None => Ok(Store { version: VERSION, projects: Vec::new() }),
    }
}

/// Reads what was trusted of one project. Every event of an agent may wait for this, so the records
/// of other projects are not looked at where this one's can be found without them.
pub(super) fn read_project(
    folder: &Path,
    owners: Owners,
    project: &Path,
    host: &str,
) -> Result<Vec<EntryRecord>, TrustError> {
    let Some(bytes) = read_bytes(folder, owners)? else { return Ok(Vec::new()) };
    if let Some(found) = parse_project(&bytes, project, host) {
        return Ok(found.entries);
    }
    let store = parse(&bytes).map_err(|problem| problem.in_file(folder))?;
    let found = store.projects.into_iter().find(|one| one.is_of(project, host));
    Ok(found.map(|one| one.entries).unwrap_or_default())
}

fn read_bytes(folder: &Path, owners: Owners) -> Result<Option<Vec<u8>>, TrustError> {
    let path = folder.join(FILE);
    let bytes = match owner::read(&path) {
        Found::Bytes(bytes, _) => bytes,
        Found::Missing => return Ok(None),
        Found::Refused(why) => return Err(TrustError::Refused { path, why }),
        Found::Unreadable(source) => return Err(TrustError::Read { path, source }),
    };
    for path in [folder, &path] {
        check_owner(path, owners)?;
    }
    Ok(Some(bytes))
}

/// The one project's record, if the file is as this version writes it. `None` means nothing: the
/// whole file has to be read.
fn parse_project(bytes: &[u8], project: &Path, host: &str) -> Option<ProjectRecord> {
    const HEADER: &str = "\n[[project]]\n";
    let text = std::str::from_utf8(bytes).ok()?;
    // Without a text of several lines, a line with the header is one wherever it stands.
    if text.contains("\"\"\"") || text.contains("'''") {
        return None;
    }
    let (head, _) = text.split_once(HEADER)?;
    let empty =
        ProjectRecord { path: project.to_owned(), host: host.to_owned(), entries: Vec::new() };
    let start = toml::to_string(&empty).ok()?;
    let mut blocks = text.split(HEADER).skip(1).filter(|block| block.starts_with(&start));
    blocks.find_map(|block| {
        let store = parse(format!("{head}{HEADER}{block}").as_bytes()).ok()?;
        // A block of another host begins the same where this one's has no name.
        store.projects.into_iter().find(|one| one.is_of(project, host))
    })
}

enum Problem {
    Newer(i64),
    Broken(String),
}

impl Problem {
    fn in_file(self, folder: &Path) -> TrustError {
        let path = folder.join(FILE);
        match self {
            Self::Newer(version) => TrustError::Newer { path, version },
            Self::Broken(message) => TrustError::Broken { path, message },
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Store, Problem> {
    /// What every version has.
    #[derive(Deserialize)]
    struct Head {
        version: i64,
    }

    let text = std::str::from_utf8(bytes).map_err(|error| Problem::Broken(error.to_string()))?;
    let broken = |error: &toml::de::Error| Problem::Broken(error.message().trim().to_owned());
    match toml::from_str::<Store>(text) {
        Ok(store) if store.version == VERSION => Ok(store),
        Ok(store) if store.version > VERSION => Err(Problem::Newer(store.version)),
        Ok(store) => Err(Problem::Broken(format!("there is no format {}", store.version))),
        Err(error) => match toml::from_str::<Head>(text) {
            Ok(head) if head.version > VERSION => Err(Problem::Newer(head.version)),
            _ => Err(broken(&error)),
        },
    }
}

/// Whoever else may write what was trusted could trust anything.
fn check_owner(path: &Path, owners: Owners) -> Result<(), TrustError> {
    let found =
        fs::metadata(path).map_err(|source| TrustError::Read { path: path.to_owned(), source })?;
    let refused = |why| Err(TrustError::Refused { path: path.to_owned(), why });
    if !owners.is_own(found.uid()) {
        return refused(Refusal::Owner { path: path.to_owned(), uid: found.uid() });
    }
    if found.mode() & WRITABLE != 0 {
        return refused(Refusal::Writable { path: path.to_owned(), mode: found.mode() });
    }
    Ok(())
}

/// Changes what was trusted, while nobody else does. What `change` returns is passed on; the file
/// is replaced in one step, so a reader sees the old one or the new one.
pub(super) fn change<T>(
    folder: &Path,
    owners: Owners,
    change: impl FnOnce(&mut Store) -> T,
) -> Result<T, TrustError> {
    let failed = |source| TrustError::Write { path: folder.to_owned(), source };
    make_folder(folder).map_err(failed)?;
    check_owner(folder, owners)?;
    let lock = private().create(true).truncate(false).open(folder.join(LOCK)).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let mut store = read(folder, owners)?;
    let answer = change(&mut store);
    store.projects.sort_by(|a, b| a.path.cmp(&b.path));
    let text = toml::to_string(&store).map_err(|error| failed(io::Error::other(error)))?;
    replace(folder, &format!("{HEAD}{text}")).map_err(failed)?;
    Ok(answer)
}

/// Makes the folder for nobody else to see, and closes one that others may look into.
fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mode = fs::metadata(folder)?.mode();
    if mode & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    options
}

fn replace(folder: &Path, text: &str) -> io::Result<()> {
    let temporary = folder.join(TEMPORARY);
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private().create_new(true).open(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, folder.join(FILE))?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::digest::Domain;
    use proptest::prelude::*;

    /// Texts that a file of this format might be misread by.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z/.]{1,8}",
            Just("[[project]]".to_owned()),
            Just("a\n[[project]]\npath = \"/b\"\n".to_owned()),
            Just("\n\n[[project]]\n".to_owned()),
            Just("'".to_owned()),
            Just("'''\"\"\"".to_owned()),
            Just("\u{0}\u{7f}\\\"".to_owned()),
        ]
    }

    fn store() -> impl Strategy<Value = Store> {
        let script = (text(), prop::option::of(text())).prop_map(|(path, target)| ScriptRecord {
            path: path.into(),
            target: target.map(PathBuf::from),
            digest: Digest::of(Domain::File, b""),
            stat: None,
        });
        let entry = (text(), text(), prop::collection::vec(script, 0..3)).prop_map(
            |(name, text, scripts)| EntryRecord {
                file: "f".into(),
                pointer: "#".into(),
                name,
                digest: Digest::of(Domain::Entry, text.as_bytes()),
                text,
                scripts,
            },
        );
        let host = prop_oneof![Just(OWN_HOST.to_owned()), Just("other".to_owned())];
        let entries = prop::collection::vec(entry, 0..3);
        let project = (text(), host, entries).prop_map(|(path, host, entries)| {
            let path: PathBuf = PathBuf::from(path).components().collect();
            ProjectRecord { path, host, entries }
        });
        prop::collection::vec(project, 0..4).prop_map(|mut projects| {
            projects.sort_by(|a, b| (&a.path, &a.host).cmp(&(&b.path, &b.host)));
            projects.dedup_by(|a, b| a.is_of(&b.path, &b.host));
            Store { version: VERSION, projects }
        })
    }

    proptest! {
        #[test]
        fn one_projects_record_is_what_the_whole_file_says(store in store(), other in text()) {
            let text = format!("{HEAD}{}", toml::to_string(&store).unwrap());
            let whole = parse(text.as_bytes()).ok().unwrap();
            // A project's path is canonical; `b/` is `b` for a `Path` and not for a file.
            let other: PathBuf = PathBuf::from(other).components().collect();
            let paths = store.projects.iter().map(|project| project.path.clone());
            for (path, host) in paths.chain([other]).flat_map(|path| [(path.clone(), OWN_HOST), (path, "other")]) {
                let expected = whole.project(&path, host).map(|found| format!("{found:?}"));
                match parse_project(text.as_bytes(), &path, host) {
                    Some(found) => prop_assert_eq!(Some(format!("{found:?}")), expected),
                    None => prop_assert!(expected.is_none() || text.contains("\"\"\"") || text.contains("'''")),
                }
            }
            prop_assert_eq!(format!("{whole:?}"), format!("{store:?}"));
        }
    }

    #[test]
    fn another_projects_record_does_not_keep_this_one_from_being_found() {
        let text =
            "version = 1\n\n[[project]]\npath = \"/a\"\nbroken =\n\n[[project]]\npath = \"/b\"\n";
        assert!(parse(text.as_bytes()).is_err());
        assert!(parse_project(text.as_bytes(), Path::new("/b"), OWN_HOST).is_some());
        assert!(parse_project(text.as_bytes(), Path::new("/a"), OWN_HOST).is_none());
        let newer = text.replace("version = 1", "version = 2");
        assert!(parse_project(newer.as_bytes(), Path::new("/b"), OWN_HOST).is_none());
    }
}
