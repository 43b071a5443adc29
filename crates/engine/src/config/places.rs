//! Where a session's files are: home, configuration, state, project.
//!
//! Owns how these places follow from variables and folders. It reads no variable of this process
//! itself: the caller hands in a way to look them up, so that a test has a world of its own.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use tenter_core::diagnostic::Diagnostic;
use tenter_core::rules;

/// The folder of the managed files.
pub const MANAGED: &str = "/etc/tenter";

/// Stands for a home folder that nobody has: nothing is found there, and nothing can be made there.
const NOWHERE: &str = "/nonexistent";

/// What the places of a session follow from.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Looks up a variable of the session.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
    /// The agent's current directory, as far as it is known.
    pub session_cwd: Option<&'a Path>,
    /// The current directory of this process, absolute.
    pub own_cwd: &'a Path,
    /// The value of the variable in which the host names its project.
    pub project: Option<&'a OsStr>,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings")
            .field("session_cwd", &self.session_cwd)
            .field("own_cwd", &self.own_cwd)
            .field("project", &self.project)
            .finish_non_exhaustive()
    }
}

/// Where a session's files are. All paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The home folder.
    pub home: PathBuf,
    /// The folder of all programs' configuration; ours is `tenter` in it.
    pub config_home: PathBuf,
    /// The folder of tenter's own state.
    pub state_home: PathBuf,
    /// The folder of the managed files. No variable moves it; an embedder and a test may.
    pub managed: PathBuf,
    /// The agent's current directory, or the one that stands in for it.
    pub cwd: PathBuf,
    /// The project.
    pub project: PathBuf,
}

impl Places {
    /// No files of anybody, and the root as the project: for an engine that is built of values.
    pub fn nowhere() -> Self {
        let (root, nowhere) = (PathBuf::from("/"), PathBuf::from(NOWHERE));
        Self {
            home: nowhere.clone(),
            config_home: nowhere.clone(),
            state_home: nowhere.clone(),
            managed: nowhere,
            cwd: root.clone(),
            project: root,
        }
    }

    /// Finds the places of a session, with what there is to say about it.
    ///
    /// The project is the one that the host names if that is a folder, else the nearest folder at
    /// or above the current directory with a `.git` or a `.tenter` folder, else that directory. A
    /// current directory that does not exist is replaced by that of this process.
    pub fn find(around: &Surroundings<'_>) -> (Self, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let absolute =
            |name| (around.variable)(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = absolute("HOME").unwrap_or_else(|| {
            diagnostics.push(
                Diagnostic::warning(
                    "places.no-home",
                    "`HOME` names no absolute path, so there are no files of the user",
                )
                .help("set `HOME`"),
            );
            PathBuf::from(NOWHERE)
        });
        let config_home = absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let state = absolute("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state"));
        let cwd = current(around, &mut diagnostics);
        let project =
            named_project(around, &cwd, &mut diagnostics).unwrap_or_else(|| project_above(&cwd));
        let places = Self {
            home,
            config_home,
            state_home: state.join("tenter"),
            managed: PathBuf::from(MANAGED),
            cwd,
            project,
        };
        (places, diagnostics)
    }

    /// The user's hooks file.
    pub fn user_file(&self) -> PathBuf {
        self.config_home.join("tenter/hooks.toml")
    }

    /// The project's hooks file.
    pub fn project_file(&self) -> PathBuf {
        self.project.join(".tenter/hooks.toml")
    }

    /// The hooks file of the project on this machine.
    pub fn private_file(&self) -> PathBuf {
        self.project.join(".tenter/hooks.local.toml")
    }

    /// A path as the user would name it: from the project, from home, or whole.
    pub fn shown(&self, path: &Path) -> String {
        if let Ok(inside) = path.strip_prefix(&self.project)
            && inside != Path::new("")
        {
            return inside.display().to_string();
        }
        match path.strip_prefix(&self.home) {
            Ok(inside) => Path::new("~").join(inside).display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }

    /// The places that permission rules are anchored at, with where they lead.
    pub fn for_rules(&self) -> rules::Places {
        rules::Places {
            project: place(&self.project),
            home: (self.home != Path::new(NOWHERE)).then(|| place(&self.home)),
            cwd: self.cwd.to_string_lossy().into_owned(),
        }
    }
}

fn place(path: &Path) -> rules::Place {
    let given = path.to_string_lossy();
    match path.canonicalize() {
        Ok(resolved) => rules::Place::with_resolved(given, resolved.to_string_lossy()),
        Err(_) => rules::Place::new(given),
    }
}

/// The agent's current directory, or the one of this process if that does not exist.
fn current(around: &Surroundings<'_>, diagnostics: &mut Vec<Diagnostic>) -> PathBuf {
    let Some(cwd) = around.session_cwd else { return around.own_cwd.to_owned() };
    let cwd = around.own_cwd.join(cwd);
    if cwd.is_dir() {
        return cwd;
    }
    diagnostics.push(
        Diagnostic::info(
            "places.no-cwd",
            format!(
                "the session's current directory `{}` does not exist, so `{}` stands in for it",
                cwd.display(),
                around.own_cwd.display()
            ),
        )
        .help("that is to be expected for a recording, or for a session of another machine"),
    );
    around.own_cwd.to_owned()
}

fn named_project(
    around: &Surroundings<'_>,
    cwd: &Path,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<PathBuf> {
    let named = around.project.filter(|named| !named.is_empty())?;
    let project = lexical(&cwd.join(named));
    if project.is_dir() {
        return Some(project);
    }
    diagnostics.push(
        Diagnostic::info(
            "places.no-project",
            format!("the project `{}` that the host names does not exist", project.display()),
        )
        .help("the project is sought from the current directory instead"),
    );
    None
}

/// The nearest folder with a mark of a project. Links are followed first, as `git` does: a project
/// that is entered through a link is the same project.
fn project_above(cwd: &Path) -> PathBuf {
    let cwd = cwd.canonicalize().unwrap_or_else(|_| lexical(cwd));
    let is_project = |folder: &&Path| {
        // In a worktree `.git` is a file.
        folder.join(".git").symlink_metadata().is_ok() || folder.join(".tenter").is_dir()
    };
    cwd.ancestors().find(is_project).unwrap_or(&cwd).to_owned()
}

/// The form of an absolute path without links, as far as it exists: what is to be made below an
/// existing folder resolves with that folder. `None` if it cannot be told.
pub fn resolve_links(path: &str) -> Option<String> {
    let mut missing = Vec::new();
    let mut known = Path::new(path);
    loop {
        match known.canonicalize() {
            Ok(mut resolved) => {
                resolved.extend(missing.iter().rev());
                return resolved.into_os_string().into_string().ok();
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                // A link that leads nowhere exists itself: where it will lead is not known.
                if known.symlink_metadata().is_ok() {
                    return None;
                }
                missing.push(known.file_name()?);
                known = known.parent()?;
            }
            Err(_) => return None,
        }
    }
}

/// An absolute path without `.`, and without `..` as far as the text alone can tell.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct World {
        root: tempfile::TempDir,
    }

    impl World {
        fn new(folders: &[&str]) -> Self {
            let root = tempfile::tempdir().unwrap();
            for folder in folders {
                fs::create_dir_all(root.path().join(folder)).unwrap();
            }
            Self { root }
        }

        fn path(&self, path: &str) -> PathBuf {
            self.root.path().canonicalize().unwrap().join(path)
        }

        fn find(&self, cwd: &str, project: Option<&str>) -> (Places, Vec<&'static str>) {
            let home = self.path("home");
            let variable = |name: &str| (name == "HOME").then(|| home.clone().into_os_string());
            let project = project.map(|project| self.path(project));
            let (places, diagnostics) = Places::find(&Surroundings {
                variable: &variable,
                session_cwd: Some(&self.path(cwd)),
                own_cwd: &self.path("own"),
                project: project.as_ref().map(|path| path.as_os_str()),
            });
            (places, diagnostics.iter().map(|diagnostic| diagnostic.code).collect())
        }
    }

    #[test]
    fn the_nearest_mark_above_the_current_directory_is_the_project() {
        let world = World::new(&["a/.git", "a/b/c", "a/b/.tenter", "own", "plain"]);
        let project = |cwd| world.find(cwd, None).0.project;
        assert_eq!(project("a/b/c"), world.path("a/b"));
        assert_eq!(project("a"), world.path("a"));
        assert_eq!(project("plain"), world.path("plain"));
    }

    #[test]
    fn a_worktree_is_a_project_and_a_file_named_tenter_is_none() {
        let world = World::new(&["a/.git", "a/b", "a/w/sub", "own"]);
        fs::write(world.path("a/w/.git"), "gitdir: elsewhere\n").unwrap();
        fs::write(world.path("a/b/.tenter"), "").unwrap();
        assert_eq!(world.find("a/w/sub", None).0.project, world.path("a/w"));
        assert_eq!(world.find("a/b", None).0.project, world.path("a"));
    }

    #[test]
    fn a_project_that_is_entered_through_a_link_is_the_same_project() {
        let world = World::new(&["real/.git", "real/sub", "own", "other/.git"]);
        std::os::unix::fs::symlink(world.path("real/sub"), world.path("other/link")).unwrap();
        assert_eq!(world.find("other/link", None).0.project, world.path("real"));
    }

    #[test]
    fn the_project_that_the_host_names_wins_if_it_exists() {
        let world = World::new(&["a/.git", "named", "own"]);
        let (places, said) = world.find("a", Some("named"));
        assert_eq!((places.project, said), (world.path("named"), vec![]));
        let (places, said) = world.find("a", Some("gone"));
        assert_eq!((places.project, said), (world.path("a"), vec!["places.no-project"]));
    }

    #[test]
    fn a_current_directory_that_is_gone_is_replaced_with_an_info() {
        let world = World::new(&["own/.git"]);
        let (places, said) = world.find("gone/sub", None);
        assert_eq!((&places.cwd, &places.project), (&world.path("own"), &world.path("own")));
        assert_eq!(said, ["places.no-cwd"]);
    }

    #[test]
    fn xdg_variables_count_only_if_absolute_and_a_missing_home_is_nowhere() {
        let find = |pairs: &'static [(&str, &str)]| {
            let variable = move |name: &str| {
                pairs.iter().find(|pair| pair.0 == name).map(|pair| OsString::from(pair.1))
            };
            let own = Path::new("/");
            Places::find(&Surroundings {
                variable: &variable,
                session_cwd: None,
                own_cwd: own,
                project: None,
            })
        };
        let (places, _) =
            find(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "rel"), ("XDG_STATE_HOME", "/s")]);
        assert_eq!(places.user_file(), Path::new("/h/.config/tenter/hooks.toml"));
        assert_eq!(places.state_home, Path::new("/s/tenter"));
        let (places, said) = find(&[("HOME", "")]);
        assert_eq!(places.home, Path::new(NOWHERE));
        assert_eq!(said.first().map(|one| one.code), Some("places.no-home"));
        assert!(places.for_rules().home.is_none());
    }
}
