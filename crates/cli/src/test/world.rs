//! The world of one case: a home and a project of its own, an environment without anything of ours
//! but `PATH`, and an engine in it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tenter::config::places::resolve_links;
use tenter::config::{CommandContext, LoadError, Places, Surroundings, resolve};
use tenter::core::hook::{Command, Handler};
use tenter::hosts::native::config::Permission;
use tenter::hosts::native::config::hooktest::{Case, NewFile, Setting, TestFile};
use tenter::{Decision, Engine, Files, Hook, Level, RuleSet};

/// Where programs are sought if this process was not told.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A world that is gone when it is dropped.
#[derive(Debug)]
pub(super) struct CaseWorld {
    root: TempDir,
    /// Its path, without links.
    path: PathBuf,
    /// The variables of the session.
    pub(super) variables: Vec<(OsString, OsString)>,
}

/// Why a case has no world or no engine.
#[derive(Debug)]
pub(super) enum NoWorld {
    /// A file or folder cannot be made.
    Unwritable(PathBuf, io::Error),
    /// The configuration does not load.
    Config(LoadError),
}

impl CaseWorld {
    /// Makes the folders and files of a case.
    pub(super) fn new(
        file: &TestFile,
        case: &Case,
        path: Option<OsString>,
    ) -> Result<Self, NoWorld> {
        let unwritable = |error| NoWorld::Unwritable(std::env::temp_dir(), error);
        let root = tempfile::Builder::new().prefix("tenter-case-").tempdir().map_err(unwritable)?;
        let whole = root.path().canonicalize().map_err(unwritable)?;
        let mut world = Self { root, path: whole, variables: Vec::new() };
        let home = world.home();
        let variables = [
            ("PATH", path.unwrap_or_else(|| PATH.into())),
            ("HOME", home.clone().into()),
            ("XDG_CONFIG_HOME", home.join(".config").into()),
            ("XDG_STATE_HOME", home.join(".local/state").into()),
            ("XDG_DATA_HOME", home.join(".local/share").into()),
            ("XDG_CACHE_HOME", home.join(".cache").into()),
            ("XDG_RUNTIME_DIR", world.path.join("run").into()),
        ];
        for (_, folder) in variables.iter().skip(1) {
            make_folder(Path::new(folder))?;
        }
        world.variables = variables.map(|(name, value)| (OsString::from(name), value)).into();
        let settings = [&file.setting, &case.setting];
        for (name, value) in settings.iter().flat_map(|setting| &setting.env) {
            world.variables.retain(|(other, _)| other != name.as_str());
            world.variables.push((name.into(), value.into()));
        }
        let project = world.project();
        make_folder(&project)?;
        for setting in settings {
            make_files(&project, &setting.files)?;
            make_files(&home, &setting.home_files)?;
        }
        // What makes it a project. A case may have put its own there.
        if project.join(".git").symlink_metadata().is_err() {
            make_folder(&project.join(".git"))?;
        }
        Ok(world)
    }

    fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    /// The project, where the session is.
    pub(super) fn project(&self) -> PathBuf {
        self.path.join("project")
    }

    /// The engine of a case whose first event is in `cwd`.
    pub(super) fn engine(
        &self,
        file: &TestFile,
        folder: &Path,
        case: &Case,
        cwd: &Path,
    ) -> Result<Engine, NoWorld> {
        let variable = |name: &str| {
            self.variables.iter().find(|(other, _)| other == name).map(|(_, v)| v.clone())
        };
        let (mut places, _) = Places::find(&Surroundings {
            variable: &variable,
            session_cwd: Some(cwd),
            own_cwd: &self.project(),
            project: None,
        });
        // What the administrator of this machine says is not the case's business.
        places.managed = self.path.join("etc");
        let given = file.hooks.is_some() || case.hooks.is_some();
        let explicit = match &file.config {
            Some((config, _)) => vec![folder.join(config)],
            None => Vec::new(),
        };
        let trusted = [&case.setting, &file.setting].into_iter().find_map(|one| one.trust_project);
        let files = Files {
            explicit,
            // Hooks of the test file stand for those that would be found, as a named file does.
            only_explicit: given,
            config_variable: variable("TENTER_CONFIG"),
            trust_project: trusted.unwrap_or(false),
            ..Files::new(places.clone())
        };
        let mut builder = Engine::builder()
            .host(file.host)
            .files(files)
            .environment(self.variables.iter().cloned())
            .spill_folder(places.state_home.join("contexts"))
            .rules(rules([&file.setting, &case.setting]));
        for hook in [&file.hooks, &case.hooks].into_iter().flatten().flatten() {
            builder = builder.hook(prepared(hook.clone(), &places));
        }
        builder.try_build().map_err(NoWorld::Config)
    }

    /// Ends what the case has left behind. Everything that it started knows its home.
    pub(super) fn end(&self) {
        tenter_process::end_world(&self.path.to_string_lossy());
    }

    /// A text with the world's own paths replaced by words that are the same in every run.
    pub(super) fn unplaced(&self, text: &str) -> String {
        let root = self.root.path().to_string_lossy();
        text.replace(&*self.path.to_string_lossy(), "[CASE]").replace(&*root, "[CASE]")
    }
}

fn make_folder(path: &Path) -> Result<(), NoWorld> {
    fs::create_dir_all(path).map_err(|error| NoWorld::Unwritable(path.to_owned(), error))
}

fn make_files(folder: &Path, files: &[NewFile]) -> Result<(), NoWorld> {
    for file in files {
        let path = folder.join(&file.path);
        if let Some(above) = path.parent() {
            make_folder(above)?;
        }
        let made = write(&path, file);
        made.map_err(|error| NoWorld::Unwritable(path, error))?;
    }
    Ok(())
}

fn write(path: &Path, file: &NewFile) -> io::Result<()> {
    fs::write(path, &file.content)?;
    match file.mode {
        Some(mode) => fs::set_permissions(path, fs::Permissions::from_mode(mode)),
        None => Ok(()),
    }
}

fn rules(settings: [&Setting; 2]) -> RuleSet {
    let mut rules = RuleSet::new();
    for Permission { decision, rule, position, pointer } in
        settings.into_iter().flat_map(|setting| setting.permissions.clone())
    {
        let source = format!("{}{pointer}", position.file);
        match decision {
            Decision::Deny => rules.add_deny(rule, Level::User, source),
            Decision::Allow => rules.add_allow(rule, Level::User, source),
            Decision::None | Decision::Ask | Decision::Defer => {
                rules.add_ask(rule, Level::User, source);
            }
        }
    }
    rules
}

/// A hook of a test file, at home in the case: its rules know where the case is, and a relative
/// program is one of the case's project, or else one beside the test file.
fn prepared(mut hook: Hook, places: &Places) -> Hook {
    let rule_places = places.for_rules();
    for rule in &mut hook.condition {
        rule.resolve_bases(&rule_places, &mut |path: &str| resolve_links(path));
    }
    if let Handler::Command(command) = &mut hook.handler {
        let context = CommandContext::of(places, &[]);
        let missing =
            |command: &Command| resolve(command, &context).is_ok_and(|it| it.missing().is_some());
        let beside = command.base.take();
        if missing(command) {
            command.base = beside;
            if missing(command) {
                command.base = None;
            }
        }
    }
    hook
}
