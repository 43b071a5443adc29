//! Whose file it is, and who else could change it.
//!
//! Owns the walk along a path, link by link, and the bounded read at its end. What follows from a
//! file that others may write is for the caller to decide.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

/// No hooks file is larger.
const LARGEST_FILE: u64 = 4 * 1024 * 1024;
/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;
/// Write permission of the group and of others.
const WRITABLE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// The owners of files that decide, as user ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owners {
    /// Who owns managed files: the administrator. A test runs as somebody else.
    pub root: u32,
    /// Who the session belongs to.
    pub user: u32,
}

impl Owners {
    /// User 0, and the user of this process.
    pub fn of_this_process() -> Self {
        Self { root: 0, user: rustix::process::geteuid().as_raw() }
    }

    /// Whether a file is the administrator's.
    fn is_root(self, uid: u32) -> bool {
        uid == 0 || uid == self.root
    }

    /// Whether a file is the user's own or the administrator's.
    pub(crate) fn is_own(self, uid: u32) -> bool {
        uid == self.user || self.is_root(uid)
    }
}

/// Why a file does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Somebody else owns it, or something on the way to it.
    Owner {
        /// What is owned.
        path: PathBuf,
        /// By whom.
        uid: u32,
    },
    /// Others may write it, or something on the way to it.
    Writable {
        /// What may be written.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It leads through the project, so whoever changes the project would choose it.
    InProject {
        /// What is in the project.
        path: PathBuf,
    },
    /// It is no regular file.
    NotAFile,
    /// A policy of a managed file leaves it out.
    Policy {
        /// The key of the policy.
        key: &'static str,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner { path, uid } => {
                write!(f, "`{}` is owned by user {uid}", path.display())
            }
            Self::Writable { path, mode } => {
                write!(
                    f,
                    "`{}` can be written by others (mode {:04o})",
                    path.display(),
                    mode & 0o7777
                )
            }
            Self::InProject { path } => write!(f, "`{}` is in the project", path.display()),
            Self::NotAFile => f.write_str("it is not a regular file"),
            Self::Policy { key } => write!(f, "a managed file sets `{key}`"),
        }
    }
}

/// What came of looking at a file.
#[derive(Debug)]
pub(crate) enum Found {
    /// Its bytes, and the path that it has without links.
    Bytes(Vec<u8>, PathBuf),
    Missing,
    Refused(Refusal),
    Unreadable(io::Error),
}

/// Reads a managed file, if nobody but the administrator can change it: not the file, not a link on
/// the way, and not a folder that any of them is in.
pub(crate) fn read_managed(path: &Path, owners: Owners) -> Found {
    match safe_target(path, owners) {
        Ok(Ok(target)) => read(&target),
        Ok(Err(refusal)) => Found::Refused(refusal),
        Err(error) => not_found(error),
    }
}

/// The names of a managed folder in order, if nobody but the administrator can change it.
pub(crate) fn list_managed(
    folder: &Path,
    owners: Owners,
) -> io::Result<Result<Vec<OsString>, Refusal>> {
    let target = match safe_target(folder, owners)? {
        Ok(target) => target,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut names = fs::read_dir(target)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(Ok(names))
}

/// Where a path leads, if only the administrator has a say in it.
///
/// In a sticky folder others cannot touch what the administrator owns, so `/tmp` may be on the way;
/// the folder that holds the file itself may not be written by others at all.
fn safe_target(path: &Path, owners: Owners) -> io::Result<Result<PathBuf, Refusal>> {
    let mut refusal = None;
    let mut last_folder_mode = 0;
    let mut see = |path: &Path, found: &Metadata| {
        let mode = found.mode();
        if !owners.is_root(found.uid()) {
            refusal.get_or_insert(Refusal::Owner { path: path.to_owned(), uid: found.uid() });
        } else if !found.is_symlink()
            && mode & WRITABLE != 0
            && !(found.is_dir() && mode & STICKY != 0)
        {
            refusal.get_or_insert(Refusal::Writable { path: path.to_owned(), mode });
        }
        if found.is_dir() {
            last_folder_mode = mode;
        }
    };
    let target = walk(path, &mut see)?;
    if last_folder_mode & WRITABLE != 0 {
        let folder = if target.is_dir() { Some(&*target) } else { target.parent() };
        let path = folder.unwrap_or(&target).to_owned();
        refusal.get_or_insert(Refusal::Writable { path, mode: last_folder_mode });
    }
    Ok(refusal.map_or(Ok(target), Err))
}

/// Reads the file that a variable names, if it is the user's own and does not lead through the
/// project.
pub(crate) fn read_named_by_variable(path: &Path, project: &Path, owners: Owners) -> Found {
    let folders = [Some(project.to_owned()), project.canonicalize().ok()];
    let mut inside = None;
    let mut see = |path: &Path, _: &Metadata| {
        // The folder itself is on the way to many places; what is in it is not.
        let in_project =
            folders.iter().flatten().any(|folder| path.starts_with(folder) && path != folder);
        if in_project && inside.is_none() {
            inside = Some(path.to_owned());
        }
    };
    let target = match walk(path, &mut see) {
        Ok(target) => target,
        Err(error) => return not_found(error),
    };
    if let Some(path) = inside {
        return Found::Refused(Refusal::InProject { path });
    }
    match fs::symlink_metadata(&target) {
        Ok(found) if owners.is_own(found.uid()) => read(&target),
        Ok(found) => Found::Refused(Refusal::Owner { path: target, uid: found.uid() }),
        Err(error) => not_found(error),
    }
}

/// Reads a file whose owner does not matter.
pub(crate) fn read(path: &Path) -> Found {
    let bytes = open(path).and_then(|file| match file {
        None => Ok(None),
        Some(file) => read_bounded(file).map(Some),
    });
    match bytes {
        Ok(Some(bytes)) => {
            let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            Found::Bytes(bytes, target)
        }
        Ok(None) => Found::Refused(Refusal::NotAFile),
        Err(error) => not_found(error),
    }
}

fn not_found(error: io::Error) -> Found {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Found::Missing,
        _ => Found::Unreadable(error),
    }
}

/// Opens a regular file; `None` if it is something else. A named pipe does not hold it up.
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    Ok(file.metadata()?.is_file().then_some(file))
}

fn read_bounded(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if length > LARGEST_FILE {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 4 MiB"));
    }
    Ok(bytes)
}

/// Goes along an absolute path as the kernel would, shows everything on the way, and gives where it
/// leads.
fn walk(path: &Path, see: &mut dyn FnMut(&Path, &Metadata)) -> io::Result<PathBuf> {
    let mut at = PathBuf::from("/");
    see(&at, &fs::symlink_metadata(&at)?);
    let mut ahead = steps(path);
    let mut links = 0;
    while let Some(step) = ahead.pop() {
        if step == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&step);
        let found = fs::symlink_metadata(&next)?;
        see(&next, &found);
        if !found.is_symlink() {
            at = next;
            continue;
        }
        links += 1;
        if links > MOST_LINKS {
            return Err(io::Error::other("it leads through too many links"));
        }
        let target = fs::read_link(&next)?;
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        ahead.append(&mut steps(&target));
    }
    Ok(at)
}

/// The components of a path, the last one first.
fn steps(path: &Path) -> Vec<OsString> {
    let step = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// A temporary folder whose owner is the administrator of the test.
    fn managed() -> (tempfile::TempDir, PathBuf, Owners) {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        let user = fs::metadata(&path).unwrap().uid();
        (root, path, Owners { root: user, user })
    }

    fn file(path: &Path) -> PathBuf {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        mode(path.parent().unwrap(), 0o755);
        fs::write(path, "version = 1\n").unwrap();
        mode(path, 0o644);
        path.to_owned()
    }

    #[test]
    fn a_file_that_only_the_administrator_can_write_is_read() {
        let (_root, path, owners) = managed();
        let file = file(&path.join("tenter/hooks.toml"));
        assert!(
            matches!(read_managed(&file, owners), Found::Bytes(bytes, _) if bytes == b"version = 1\n")
        );
        assert!(matches!(read_managed(&path.join("none/x.toml"), owners), Found::Missing));
    }

    #[test]
    fn whoever_else_may_write_the_file_or_its_folder_makes_it_refused() {
        let (_root, path, owners) = managed();
        let file = file(&path.join("tenter/hooks.toml"));
        let folder = path.join("tenter");
        for (target, bits) in [(&file, 0o664), (&file, 0o646), (&folder, 0o775), (&folder, 0o1777)]
        {
            let before = fs::metadata(target).unwrap().mode();
            mode(target, bits);
            let found = read_managed(&file, owners);
            assert!(
                matches!(&found, Found::Refused(Refusal::Writable { path, .. }) if path == target),
                "{found:?}"
            );
            mode(target, before & 0o7777);
        }
        assert!(matches!(read_managed(&file, owners), Found::Bytes(..)));
    }

    #[test]
    fn somebody_elses_file_is_refused() {
        let (_root, path, owners) = managed();
        let file = file(&path.join("hooks.toml"));
        let others = Owners { root: owners.root + 1, ..owners };
        // Run by user 0 every file here is the administrator's.
        if owners.user != 0 {
            assert!(matches!(read_managed(&file, others), Found::Refused(Refusal::Owner { .. })));
        } else {
            std::os::unix::fs::chown(&file, Some(4321), None).unwrap();
            let found = read_managed(&file, Owners { root: 0, user: 0 });
            assert!(
                matches!(&found, Found::Refused(Refusal::Owner { uid: 4321, .. })),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_link_to_where_others_may_write_is_refused() {
        let (_root, path, owners) = managed();
        let target = file(&path.join("shared/hooks.toml"));
        mode(&path.join("shared"), 0o777);
        fs::create_dir(path.join("tenter")).unwrap();
        mode(&path.join("tenter"), 0o755);
        symlink(&target, path.join("tenter/hooks.toml")).unwrap();
        let found = read_managed(&path.join("tenter/hooks.toml"), owners);
        assert!(
            matches!(&found, Found::Refused(Refusal::Writable { path: at, .. }) if *at == path.join("shared")),
            "{found:?}"
        );
        mode(&path.join("shared"), 0o755);
        assert!(matches!(
            read_managed(&path.join("tenter/hooks.toml"), owners),
            Found::Bytes(_, at) if at == target
        ));
    }

    #[test]
    fn links_in_a_circle_end() {
        let (_root, path, owners) = managed();
        symlink("b", path.join("a")).unwrap();
        symlink("a", path.join("b")).unwrap();
        assert!(matches!(read_managed(&path.join("a"), owners), Found::Unreadable(_)));
    }

    #[test]
    fn a_named_pipe_is_refused_at_once() {
        let (_root, path, _) = managed();
        let pipe = path.join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert!(matches!(read(&pipe), Found::Refused(Refusal::NotAFile)));
    }

    #[test]
    fn a_variable_may_not_lead_through_the_project() {
        let (_root, path, owners) = managed();
        let outside = file(&path.join("mine/hooks.toml"));
        let inside = file(&path.join("project/ci.toml"));
        symlink(&outside, path.join("project/link.toml")).unwrap();
        symlink(path.join("project"), path.join("way")).unwrap();
        symlink(&inside, path.join("to-project.toml")).unwrap();
        let project = path.join("project");
        let read = |name: &str| read_named_by_variable(&path.join(name), &project, owners);
        assert!(matches!(read("mine/hooks.toml"), Found::Bytes(..)));
        for name in ["project/ci.toml", "project/link.toml", "way/link.toml", "to-project.toml"] {
            let found = read(name);
            assert!(
                matches!(&found, Found::Refused(Refusal::InProject { .. })),
                "{name}: {found:?}"
            );
        }
    }

    #[test]
    fn a_variable_may_not_name_somebody_elses_file() {
        let (_root, path, owners) = managed();
        let file = file(&path.join("hooks.toml"));
        if owners.user == 0 {
            std::os::unix::fs::chown(&file, Some(4321), None).unwrap();
        }
        let stranger = Owners { root: 0, user: owners.user + 1 };
        let found = read_named_by_variable(&file, &path.join("project"), stranger);
        assert!(matches!(found, Found::Refused(Refusal::Owner { .. })), "{found:?}");
    }
}
