//! `Glob` and `Grep`: which files there are, and what stands in them.

use std::fs;
use std::path::{Path, PathBuf};

use futures_util::future::BoxFuture;
use globset::GlobBuilder;
use regex::Regex;
use serde_json::Value;
use tenter::CancellationToken;

use super::{Tool, ToolContext, ToolOutput, spec, text, texts};
use crate::provider::ToolSpec;

/// The most lines that are given.
const MOST_LINES: usize = 500;
/// The largest file that is searched.
const MOST_BYTES: u64 = 1024 * 1024;

/// Every file below a folder in order of its path, links not followed, `.git` left out.
fn files(root: &Path, cancel: &CancellationToken) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        if cancel.is_cancelled() {
            break;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => {
                    folders.push(entry.path());
                }
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// Looks on a thread of its own, so that a large tree holds up nobody.
fn later<'a>(
    cancel: &CancellationToken,
    look: impl FnOnce(&CancellationToken) -> Result<Vec<String>, String> + Send + 'static,
) -> BoxFuture<'a, ToolOutput> {
    // Dropping the future lets the thread stop at the next folder.
    let guard = cancel.child_token().drop_guard();
    Box::pin(async move {
        let token = guard.disarm();
        let guard = token.clone().drop_guard();
        let found = tokio::task::spawn_blocking(move || look(&token)).await;
        drop(guard);
        match found {
            Ok(Ok(lines)) if lines.is_empty() => ToolOutput::ok("nothing found"),
            Ok(Ok(lines)) => ToolOutput::ok(lines.join("\n")),
            Ok(Err(why)) => ToolOutput::error(why),
            Err(error) => ToolOutput::error(format!("the search did not end: {error}")),
        }
    })
}

fn matcher(pattern: &str) -> Result<globset::GlobMatcher, String> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| format!("the glob is not valid: {error}"))
}

/// Finds files by their names.
#[derive(Debug, Clone, Copy)]
pub struct Glob;

impl Tool for Glob {
    fn spec(&self) -> ToolSpec {
        spec(
            "Glob",
            "Finds files by a pattern such as `src/**/*.rs`.",
            texts(&[("pattern", true, "The pattern."), ("path", false, "The folder to search.")]),
        )
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        let (root, pattern) = (cx.path(text(input, "path")), text(input, "pattern").to_owned());
        later(&cx.cancel, move |cancel| {
            let matcher = matcher(&pattern)?;
            let inside = |path: &PathBuf| {
                path.strip_prefix(&root).ok().map(Path::to_owned).unwrap_or_default()
            };
            let found = files(&root, cancel).into_iter();
            let found = found.map(|path| inside(&path)).filter(|path| matcher.is_match(path));
            Ok(found.take(MOST_LINES).map(|path| path.display().to_string()).collect())
        })
    }
}

/// Finds lines in files.
#[derive(Debug, Clone, Copy)]
pub struct Grep;

impl Tool for Grep {
    fn spec(&self) -> ToolSpec {
        spec(
            "Grep",
            "Finds lines that match a regular expression, as `file:line: text`.",
            texts(&[
                ("pattern", true, "The regular expression."),
                ("path", false, "The folder or file to search."),
                ("glob", false, "Which files to search, by name."),
            ]),
        )
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        let root = cx.path(text(input, "path"));
        let (pattern, glob) = (text(input, "pattern").to_owned(), text(input, "glob").to_owned());
        later(&cx.cancel, move |cancel| {
            let pattern = Regex::new(&pattern)
                .map_err(|error| format!("the pattern is not valid: {error}"))?;
            let glob = (!glob.is_empty()).then(|| matcher(&glob)).transpose()?;
            let named = |path: &Path| {
                glob.as_ref().is_none_or(|glob| {
                    glob.is_match(path) || path.file_name().is_some_and(|name| glob.is_match(name))
                })
            };
            let paths = if root.is_file() { vec![root.clone()] } else { files(&root, cancel) };
            let mut lines = Vec::new();
            for path in paths {
                let inside = path.strip_prefix(&root).unwrap_or(&path).to_owned();
                let small = fs::metadata(&path).is_ok_and(|meta| meta.len() <= MOST_BYTES);
                if !named(&inside) || !small || cancel.is_cancelled() {
                    continue;
                }
                let Ok(whole) = fs::read_to_string(&path) else { continue };
                let shown = if inside.as_os_str().is_empty() { &path } else { &inside };
                for (at, line) in whole.lines().enumerate() {
                    if pattern.is_match(line) {
                        lines.push(format!("{}:{}: {line}", shown.display(), at + 1));
                    }
                    if lines.len() >= MOST_LINES {
                        return Ok(lines);
                    }
                }
            }
            Ok(lines)
        })
    }
}
