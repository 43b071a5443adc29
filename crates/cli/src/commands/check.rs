//! `tenter check`: finds mistakes in hooks files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use tenter::Files;
use tenter::config::{BrokenExplicit, FileState, Loaded, Places};
use tenter::core::diagnostic::{Diagnostic, Severity};
use tenter::core::exit_code::{FAILED, PROCEED};
use tenter::core::hook::Level;
use tenter::hosts::codec::Host;
use tenter::hosts::config::{CandidateKind, ConfigPlaces};
use tenter::hosts::native::HOST;
use tenter::hosts::{by_file, by_name, names};

use crate::args::{CheckArgs, CheckFormat};
use crate::console::Console;
use crate::error::CliError;
use crate::render::diagnostics::{self, Found};
use crate::render::style::{BAD, GOOD, WARNING, paint};
use crate::render::{github, json, sarif, text};
use crate::setup;
use crate::world::World;

/// One finding and the text of its file.
struct Finding {
    diagnostic: Diagnostic,
    source: Option<Arc<str>>,
}

/// What was looked at and what was found.
#[derive(Default)]
struct Findings {
    files: Vec<String>,
    all: Vec<Finding>,
}

/// Runs the command.
pub(crate) fn run(args: &CheckArgs, world: &World, console: &mut Console) -> Result<u8, CliError> {
    let project = args.project.project.as_deref();
    let mut findings = Findings::default();
    if args.paths.is_empty() {
        let host = args.profile.unwrap_or(&HOST);
        findings.add_discovered(&setup::places(project, None, world)?, host, world)?;
    }
    for path in &args.paths {
        findings.add_path(path, args.profile, project, world)?;
    }
    // In the order in which somebody mends them: file by file, from the top.
    let files = findings.files.clone();
    findings.all.sort_by_key(|one| {
        let position = one.diagnostic.position.as_ref();
        position.map(|at| (files.iter().position(|file| *file == at.file), at.span.start))
    });
    let (errors, warnings) = diagnostics::count(findings.all.iter().map(|one| &one.diagnostic));
    let found = findings.all.iter();
    let found: Vec<_> = found
        .map(|one| Found { diagnostic: &one.diagnostic, source: one.source.as_deref() })
        .collect();
    match args.format {
        CheckFormat::Human => {
            console.out(&diagnostics::draw(found));
            summary(&findings.files, errors, warnings, console);
        }
        CheckFormat::Json => console.out(&form(&findings, errors, warnings)),
        CheckFormat::Sarif => console.out(&sarif::draw(&found)),
        CheckFormat::Github => {
            console.out(&github::draw(found.iter().map(|one| one.diagnostic)));
        }
    }
    let failed = errors > 0 || (args.strict && warnings > 0);
    Ok(if failed { FAILED } else { PROCEED })
}

impl Findings {
    /// Every file that counts here.
    fn add_discovered(
        &mut self,
        places: &Places,
        host: &Host,
        world: &World,
    ) -> Result<(), CliError> {
        let files = Files {
            trust_project: true,
            // What a variable names is checked like what is found.
            broken_explicit: BrokenExplicit::Guards,
            ..setup::files(places, host, world)
        };
        let (loaded, examples) = load(files, host, world)?;
        for file in &loaded.files {
            if !matches!(file.state, FileState::Missing | FileState::Replaced) {
                self.files.push(file.name.clone());
            }
        }
        let findings = findings_of(&loaded, &examples, |_| true);
        self.all.extend(findings);
        Ok(())
    }

    /// One file, or the files of one project.
    fn add_path(
        &mut self,
        path: &Path,
        host: Option<&'static Host>,
        project: Option<&Path>,
        world: &World,
    ) -> Result<(), CliError> {
        let whole = world.cwd().join(path);
        let found =
            whole.metadata().map_err(|error| CliError::unreadable("hooks file", path, &error))?;
        if found.is_dir() {
            for host in host.map_or_else(|| hosts().collect::<Vec<_>>(), |host| vec![host]) {
                for file in files_in(&whole, host) {
                    self.add_path(&path.join(file), Some(host), project, world)?;
                }
            }
            return Ok(());
        }
        let shown = path.display().to_string();
        self.files.push(shown.clone());
        // The file of a project is read as such, wherever that project is: relative scripts are
        // meant from there.
        let host = host.or_else(|| by_file(&whole)).unwrap_or(&HOST);
        let folder = whole
            .parent()
            .filter(|folder| files_in(folder, host).iter().any(|file| folder.join(file) == whole));
        let files = if let Some(project) = project_of(&whole) {
            let places = setup::places(Some(&project), None, world)?;
            Files { trust_project: true, ..setup::files(&places, host, world) }
        } else {
            // What is one of a folder's files is meant from there.
            let places = setup::places(project, folder, world)?;
            Files {
                explicit: vec![whole.clone()],
                broken_explicit: BrokenExplicit::Guards,
                ..setup::files(&places, host, world)
            }
        };
        let by_default = files.places.shown(&whole);
        let (loaded, examples) = load(files, host, world)?;
        let name =
            loaded.files.iter().find(|file| file.path == whole).map(|file| file.name.clone());
        let name = name.unwrap_or(by_default);
        for mut finding in findings_of(&loaded, &examples, |diagnostic| {
            diagnostic.position.as_ref().is_some_and(|at| at.file == name)
        }) {
            if let Some(at) = &mut finding.diagnostic.position {
                at.file.clone_from(&shown);
            }
            self.all.push(finding);
        }
        Ok(())
    }
}

/// Loads files, and tries their rules on the examples that they carry.
fn load(
    files: Files,
    host: &Host,
    world: &World,
) -> Result<(Arc<Loaded>, Vec<Diagnostic>), CliError> {
    let places = files.places.for_rules();
    let loaded = setup::load(files, host, world)?;
    let failed = loaded.failed_examples(&places);
    Ok((loaded, failed))
}

/// Every host.
fn hosts() -> impl Iterator<Item = &'static Host> {
    names().filter_map(by_name)
}

/// The files of a host that there are in a folder, as in a project, from the folder.
fn files_in(folder: &Path, host: &Host) -> Vec<PathBuf> {
    let nowhere = Path::new("/nonexistent");
    let candidates = host.config.candidates(&ConfigPlaces {
        home: nowhere,
        config_home: nowhere,
        system: nowhere,
        managed: nowhere,
        project: folder,
        cwd: folder,
        variable: &|_| None,
    });
    let of_project = candidates
        .into_iter()
        .filter(|one| one.level >= Level::Project && one.kind == CandidateKind::File);
    of_project
        .filter(|one| one.path.is_file())
        .filter_map(|one| one.path.strip_prefix(folder).ok().map(Path::to_owned))
        .collect()
}

/// The project of a file that is one of a project's hooks files.
fn project_of(file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?;
    let folder = file.parent()?;
    let is_native = matches!(name, "hooks.toml" | "hooks.local.toml");
    (is_native && folder.file_name() == Some(OsStr::new(".tenter")))
        .then(|| folder.parent().map(Path::to_owned))?
}

/// What there is to say about files. Whether they are trusted is no mistake in them.
fn findings_of(
    loaded: &Loaded,
    examples: &[Diagnostic],
    is_meant: impl Fn(&Diagnostic) -> bool,
) -> Vec<Finding> {
    let said = loaded.diagnostics.iter().chain(examples);
    let said = said.filter(|one| one.severity != Severity::Info && is_meant(one));
    said.map(|diagnostic| Finding {
        diagnostic: diagnostic.clone(),
        source: diagnostic.position.as_ref().and_then(|at| loaded.texts.get(&at.file)).cloned(),
    })
    .collect()
}

fn summary(files: &[String], errors: usize, warnings: usize, console: &mut Console) {
    if files.is_empty() {
        console.err("there is no hooks file to check\n");
        console.hint("`tenter init` writes a first one");
        return;
    }
    let of = match files {
        [file] => file.clone(),
        files => text::count(files.len(), "file"),
    };
    let counts = match (errors, warnings) {
        (0, 0) => paint(GOOD, "sound"),
        (0, _) => paint(WARNING, text::count(warnings, "warning")),
        (_, 0) => paint(BAD, text::count(errors, "error")),
        _ => format!(
            "{}, {}",
            paint(BAD, text::count(errors, "error")),
            paint(WARNING, text::count(warnings, "warning"))
        ),
    };
    console.out(&format!("{of}: {counts}\n"));
}

/// What `--format json` writes.
#[derive(Debug, Serialize)]
struct CheckForm<'a> {
    version: u32,
    files: &'a [String],
    errors: usize,
    warnings: usize,
    diagnostics: Vec<DiagnosticForm<'a>>,
}

#[derive(Debug, Serialize)]
struct DiagnosticForm<'a> {
    code: &'a str,
    severity: Severity,
    message: &'a str,
    help: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
}

fn form(findings: &Findings, errors: usize, warnings: usize) -> String {
    let diagnostics = findings.all.iter().map(|finding| {
        let one = &finding.diagnostic;
        let at = one.position.as_ref();
        let end = at.and_then(|at| sarif::end(finding.source.as_deref()?, &at.span));
        DiagnosticForm {
            code: one.code,
            severity: one.severity,
            message: &one.message,
            help: one.help.as_deref(),
            file: at.map(|at| at.file.as_str()),
            line: at.map(|at| at.line),
            column: at.map(|at| at.column),
            end_line: end.map(|(line, _)| line),
            end_column: end.map(|(_, column)| column),
        }
    });
    json::pretty(&CheckForm {
        version: 1,
        files: &findings.files,
        errors,
        warnings,
        diagnostics: diagnostics.collect(),
    })
}
