//! Finds test files and reads them, with everything that is wrong with them.

use std::fs;
use std::path::{Path, PathBuf};

use tenter::config::{LoadError, Places};
use tenter::core::diagnostic::Diagnostic;
use tenter::hosts::native::config::hooktest::{self, SUFFIX, TestFile};
use tenter::{Engine, Files};

use crate::error::{CliError, reason};
use crate::world::{self, World};

/// Where test files are sought if nobody says where.
const DEFAULT: [&str; 2] = [".tenter", "tests"];

/// Folders in which no test files of ours are.
const SKIPPED: [&str; 3] = [".git", "target", "node_modules"];

/// A test file that was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// As the user would name it.
    pub(crate) name: String,
    /// The absolute path of its folder.
    pub(crate) folder: PathBuf,
    /// What it says.
    pub(crate) file: TestFile,
    /// What there is to say about it, each with the text that it is about.
    pub(crate) findings: Vec<(Diagnostic, String)>,
    invalid: bool,
}

impl Loaded {
    /// Whether none of its cases can run.
    pub(crate) fn is_invalid(&self) -> bool {
        self.invalid
    }
}

/// Finds and reads the test files at these paths, each once and in the order of their names.
///
/// # Errors
/// A path is not there or cannot be read, or there is no test file at all.
pub(crate) fn read_all(paths: &[PathBuf], world: &World) -> Result<Vec<Loaded>, CliError> {
    let mut found = Vec::new();
    if paths.is_empty() {
        for folder in DEFAULT.map(Path::new) {
            if world.cwd().join(folder).is_dir() {
                search(folder, world, &mut found)?;
            }
        }
    }
    for path in paths {
        let whole = world.cwd().join(path);
        let what = whole
            .metadata()
            .map_err(|error| CliError::unreadable("test file or folder", path, &error))?;
        if what.is_dir() {
            search(path, world, &mut found)?;
        } else {
            found.push(path.clone());
        }
    }
    found.sort();
    // One file may be in two of the folders, or be named twice.
    let mut seen = std::collections::HashSet::new();
    found.retain(|path| {
        let whole = world.cwd().join(path);
        seen.insert(whole.canonicalize().unwrap_or(whole))
    });
    if found.is_empty() {
        let places = match paths {
            [] => format!("`{}` and `{}`", DEFAULT[0], DEFAULT[1]),
            paths => paths
                .iter()
                .map(|path| format!("`{}`", path.display()))
                .collect::<Vec<_>>()
                .join(", "),
        };
        return Err(CliError::no_such_file(format!("there is no test file in {places}"))
            .hint(format!(
                "the name of a test file ends in `{SUFFIX}`; `tenter test --help` shows one"
            ))
            .hint("name the file or its folder"));
    }
    found.iter().map(|path| read(path, world)).collect()
}

/// Every test file in a folder and below it. Links to folders are not followed: they may lead round.
fn search(folder: &Path, world: &World, found: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let whole = world.cwd().join(folder);
    let unreadable = |error| CliError::unreadable("folder", folder, &error);
    for entry in fs::read_dir(whole).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        let path = if folder == Path::new(".") { PathBuf::from(&name) } else { folder.join(&name) };
        let kind = entry.file_type().map_err(unreadable)?;
        let name = name.to_string_lossy();
        if kind.is_dir() {
            if !SKIPPED.contains(&&*name) {
                search(&path, world, found)?;
            }
        } else if name.ends_with(SUFFIX) {
            found.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path, world: &World) -> Result<Loaded, CliError> {
    let whole = world.cwd().join(path);
    let text = world::read_file_at("test file", path, &whole)?;
    let name = path.display().to_string();
    let folder = whole.parent().unwrap_or(world.cwd());
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let file = hooktest::read(&text, &name, &folder.to_string_lossy());
    let mut findings: Vec<_> =
        file.diagnostics.iter().map(|one| (one.clone(), text.clone())).collect();
    let mut invalid = file.has_errors();
    if let (Some((config, position)), false) = (&file.config, invalid)
        && let Err(error) = load_config(&file, &folder.join(config))
    {
        invalid = true;
        let shown = path.parent().unwrap_or(Path::new("")).join(config);
        let (diagnostic, more) = config_error(config, &shown, error);
        findings.push((diagnostic.at(position.clone()), text));
        findings.extend(more);
    }
    Ok(Loaded { name, folder, file, findings, invalid })
}

/// Whether the config can be used at all, before any case stumbles over it.
fn load_config(file: &TestFile, config: &Path) -> Result<(), LoadError> {
    let files = Files { explicit: vec![config.to_owned()], ..Files::new(Places::nowhere()) };
    Engine::builder().host(file.host).files(files).try_build().map(drop)
}

/// Why a config cannot be used, and what is wrong inside it. `shown` is its name for the user.
fn config_error(
    config: &str,
    shown: &Path,
    error: LoadError,
) -> (Diagnostic, Vec<(Diagnostic, String)>) {
    let mend = "name a config of the profile's host, relative to the test file";
    let cannot = |why: String| {
        Diagnostic::error("test.config", format!("the config `{config}` cannot be used: {why}"))
            .help(mend)
    };
    match error {
        LoadError::Missing { .. } => (cannot("there is no such file".into()), Vec::new()),
        LoadError::Broken { diagnostics, text, .. } => {
            let named = |mut one: Diagnostic| {
                if let Some(at) = &mut one.position {
                    at.file = shown.display().to_string();
                }
                (one, text.clone())
            };
            let more = diagnostics.into_iter().map(named).collect();
            (cannot("it does not parse".into()), more)
        }
        error => match std::error::Error::source(&error) {
            Some(source) => (cannot(reason(&source).clone()), Vec::new()),
            None => (cannot(error.to_string()), Vec::new()),
        },
    }
}
