//! The house rules that neither the compiler nor clippy knows.
//!
//! Owns the list of rules and the report. Each rule is a function from what it looks at to what is
//! wrong with it, with a test on a small bad example.

mod boundaries;
mod files;
mod graph;
mod source;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use self::source::Source;
use crate::workspace::Workspace;

/// Something that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    /// Where: a path, with a line if there is one.
    place: String,
    /// What is wrong, and what to do.
    message: String,
}

impl Finding {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }

    /// At an offset in a file.
    fn at(source: &Source, offset: usize, message: impl Into<String>) -> Self {
        Self::new(format!("{}:{}", source.path, source.line(offset)), message)
    }
}

/// A rule about Rust files.
type SourceRule = fn(&[Source]) -> Vec<Finding>;

const SOURCE_RULES: &[SourceRule] = &[
    files::modules_say_what_they_own,
    files::files_are_not_too_long,
    files::nothing_is_unfinished,
    boundaries::unsafe_is_kept_in_its_place,
    boundaries::crates_forbid_unsafe,
    boundaries::no_host_is_named,
    boundaries::pure_crates_are_pure,
    boundaries::only_process_starts_programs,
    boundaries::only_cli_has_a_terminal,
];

/// Checks every rule.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut sources = Vec::new();
    let mut texts = Vec::new();
    collect(workspace.root(), "", &mut sources, &mut texts)?;
    let metadata = workspace.metadata()?;
    let lock = fs::read_to_string(workspace.path("Cargo.lock")).context("Cargo.lock")?;

    for long in files::longer_than_wished(&sources) {
        println!("note: {}: {}", long.place, long.message);
    }
    let mut findings: Vec<Finding> = SOURCE_RULES.iter().flat_map(|rule| rule(&sources)).collect();
    findings.extend(files::nothing_private_is_mentioned(&texts));
    findings.extend(files::licences_are_there(|path| workspace.path(path).is_file()));
    findings.extend(graph::licences_are_named(&metadata));
    findings.extend(graph::arrows_point_one_way(&metadata));
    findings.extend(graph::dependencies_stay_few(&lock));
    if findings.is_empty() {
        return Ok(());
    }
    for finding in &findings {
        eprintln!("{}: {}", finding.place, finding.message);
    }
    bail!("house rules are broken in {} place(s)", findings.len())
}

/// Folders that hold nothing of ours.
const SKIPPED: &[&str] = &["target", ".git", "corpus", "artifacts", "snapshots", "node_modules"];

/// Reads every file of ours, in the order of their names.
fn collect(
    root: &Path,
    folder: &str,
    sources: &mut Vec<Source>,
    texts: &mut Vec<(String, String)>,
) -> Result<()> {
    let mut entries: Vec<_> = fs::read_dir(root.join(folder))?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                collect(root, &path, sources, texts)?;
            }
        } else if kind.is_file()
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            if entry.path().extension().is_some_and(|extension| extension == "rs") {
                sources.push(Source::new(path.clone(), text.clone()));
            }
            texts.push((path, text));
        }
    }
    Ok(())
}
