//! `tenter check`: finds mistakes in hooks files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use tenter::Files;
use tenter::config::{BrokenExplicit, FileState, Loaded, Places};
use tenter::core::diagnostic::{Diagnostic, Position, Severity};
use tenter::core::exit_code::{FAILED, PROCEED};
use tenter::core::hook::Level;
use tenter::hosts::bridge::Bridge;
use tenter::hosts::codec::Host;
use tenter::hosts::config::{CandidateKind, ConfigPlaces};
use tenter::hosts::hostfile;
use tenter::hosts::install::{EditError, Spot};
use tenter::hosts::native::HOST;
use tenter::hosts::{by_file, by_name, names};

use crate::args::{CheckArgs, CheckFormat};
use crate::console::Console;
use crate::error::CliError;
use crate::render::diagnostics::{self, Found};
use crate::render::style::{BAD, GOOD, WARNING, paint};
use crate::render::{github, json, sarif, text};
use crate::setup;
use crate::world::{self, World};

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
        // A file that only its own host reads is looked at by that host's rules.
        if host.is_none()
            && by_file(&whole).is_none()
            && let Some((bridge, spot)) = hostfile::by_path(&whole)
        {
            self.add_host_file(bridge, spot, &whole, &shown, project.unwrap_or(world.cwd()))?;
            return Ok(());
        }
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

    /// The file of another agent.
    fn add_host_file(
        &mut self,
        bridge: &Bridge,
        spot: &Spot,
        whole: &Path,
        shown: &str,
        project: &Path,
    ) -> Result<(), CliError> {
        let text = world::read_file_at("hooks file", Path::new(shown), whole)?;
        let source: Arc<str> = text.as_str().into();
        let mut found = Vec::new();
        match hostfile::read(bridge, spot, &text) {
            Ok(file) => {
                found.extend(hostfile::lint(bridge, &file, shown, &text));
                let scripts = hostfile::scripts(&file);
                let wrong = scripts.iter().filter_map(|script| {
                    let (code, what, help) = wrong_script(&project.join(&script.text))?;
                    let what = format!("the script `{}` {what}", script.text);
                    let at = Position::of(shown, &text, script.span.clone());
                    Some(Diagnostic::error(code, what).help(help).at(at))
                });
                found.extend(wrong);
            }
            Err(error) => {
                let at = match &error {
                    EditError::Unreadable { line, column, .. } => place(&text, *line, *column),
                    _ => 0..0,
                };
                let what = match &error {
                    EditError::Unreadable { what, .. } => format!("this is not JSON: {what}"),
                    other => other.to_string(),
                };
                let help = format!("{} runs none of its hooks until it is mended", bridge.title);
                let at = Position::of(shown, &text, at);
                found.push(Diagnostic::error("host.unreadable", what).help(help).at(at));
            }
        }
        self.all.extend(
            found
                .into_iter()
                .map(|diagnostic| Finding { diagnostic, source: Some(source.clone()) }),
        );
        Ok(())
    }
}

/// What is wrong with a script as a host starts it.
fn wrong_script(path: &Path) -> Option<(&'static str, &'static str, &'static str)> {
    use std::io::Read as _;
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(found) = path.metadata() else {
        let help = "correct the path; a relative one is meant from the project";
        return Some(("host.script-missing", "does not exist", help));
    };
    if found.is_file() && found.permissions().mode() & 0o111 == 0 {
        return Some(("host.script-not-executable", "is not executable", "`chmod +x` it"));
    }
    let mut head = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(512).read_to_end(&mut head).ok()?;
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    (first.starts_with(b"#!") && first.ends_with(b"\r")).then_some((
        "host.script-crlf",
        "has a carriage return at the end of its first line",
        "write it with line feeds alone",
    ))
}

/// The bytes of a place in a text.
fn place(text: &str, line: usize, column: usize) -> std::ops::Range<usize> {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let rest = text.get(start..).unwrap_or_default();
    let offset = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at);
    start + offset..start + offset + 1
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
