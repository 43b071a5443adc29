//! One row, and what it refers to: tests, cases of the suite, items of the library.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::workspace::Workspace;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rows {
    #[serde(default)]
    pub(super) item: Vec<Item>,
    #[serde(default)]
    pub(super) behaviour: Vec<Behaviour>,
}

/// An item of a page, and what stands for it here.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Item {
    pub(super) id: String,
    /// What the page says, in our words.
    pub(super) text: String,
    /// Paths of items that an embedder reaches, methods as `path::Type::method`.
    #[serde(default)]
    pub(super) ours: Vec<String>,
    #[serde(default)]
    pub(super) tests: Vec<String>,
    /// Why there is none.
    pub(super) reason: Option<String>,
}

/// A numbered behaviour, and what shows it besides the cases that carry its number.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Behaviour {
    pub(super) page: String,
    pub(super) number: u32,
    #[serde(default)]
    pub(super) tests: Vec<String>,
    /// Why nothing does.
    pub(super) reason: Option<String>,
}

impl Behaviour {
    pub(super) fn of(page: &str, number: u32) -> Self {
        Self { page: page.to_owned(), number, tests: Vec::new(), reason: None }
    }
}

/// The cases of the suite by the page and the number that their names begin with.
pub(super) fn spec_cases(workspace: &Workspace) -> Result<BTreeMap<(String, u32), Vec<String>>> {
    let mut found: BTreeMap<(String, u32), Vec<String>> = BTreeMap::new();
    for (page, _) in super::PAGES {
        let folder = workspace.path(&format!("tests/spec/{page}"));
        let mut files: Vec<PathBuf> = match fs::read_dir(&folder) {
            Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
            Err(_) => Vec::new(),
        };
        files.sort();
        for path in files {
            let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            for name in case_names(&path)? {
                for number in numbers(&name) {
                    let test = format!("tests/spec/{page}/{file}: {name}");
                    found.entry(((*page).to_owned(), number)).or_default().push(test);
                }
            }
        }
    }
    Ok(found)
}

/// The tests of a page in Rust by the number that their names begin with: those in its own file
/// beside the engine and beside the agent, and those in its host's module.
pub(super) fn rust_tests(workspace: &Workspace) -> BTreeMap<(String, u32), Vec<String>> {
    let mut found: BTreeMap<(String, u32), Vec<String>> = BTreeMap::new();
    for (page, _) in super::PAGES {
        let mut paths = vec![
            format!("crates/engine/tests/it/{page}.rs"),
            format!("crates/agent/tests/it/{page}.rs"),
            format!("crates/hosts/src/{page}"),
        ];
        while let Some(path) = paths.pop() {
            let full = workspace.path(&path);
            if let Ok(entries) = fs::read_dir(&full) {
                let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
                paths.extend(names.map(|name| format!("{path}/{name}")));
                continue;
            }
            let Ok(source) = fs::read_to_string(&full) else { continue };
            let names = source.lines().filter_map(|line| {
                let (_, behind) = line.split_once("fn ")?;
                behind.split_once("()").map(|(name, _)| name)
            });
            for name in names {
                for number in numbered(name) {
                    let test = format!("{path}: {name}");
                    found.entry(((*page).to_owned(), number)).or_default().push(test);
                }
            }
        }
    }
    for tests in found.values_mut() {
        tests.sort();
    }
    found
}

/// The numbers that the name of a function begins with: `k12_…`, or `k12_b14_…`.
fn numbered(name: &str) -> Vec<u32> {
    let words = name.split('_');
    let read = words.map_while(|word| word.strip_prefix(['k', 'b', 's'])?.parse().ok());
    read.collect()
}

/// The numbers that a name begins with: `K12: …`, or `K12 B14: …`.
fn numbers(name: &str) -> Vec<u32> {
    let head = name.split(':').next().unwrap_or_default();
    let words: Vec<&str> = head.split([' ', ',', '/']).filter(|word| !word.is_empty()).collect();
    let read: Option<Vec<u32>> =
        words.iter().map(|word| word.strip_prefix(['K', 'B', 'S'])?.parse().ok()).collect();
    read.unwrap_or_default()
}

fn case_names(path: &Path) -> Result<Vec<String>> {
    #[derive(Deserialize)]
    struct File {
        #[serde(default)]
        case: Vec<Case>,
    }
    #[derive(Deserialize)]
    struct Case {
        name: String,
    }
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
    Ok(file.case.into_iter().map(|case| case.name).collect())
}

/// Looks a test up: `FILE: name of a case` of the suite, or `FILE: function`.
pub(super) fn find_test(workspace: &Workspace, test: &str) -> Result<(), String> {
    let (file, name) = test.split_once(": ").ok_or("write `FILE: NAME`")?;
    let path = workspace.path(file);
    if path.extension().is_some_and(|extension| extension == "toml") {
        let names = case_names(&path).map_err(|error| format!("{error:#}"))?;
        let known = names.iter().any(|known| known == name);
        return known.then_some(()).ok_or_else(|| "there is no such case".to_owned());
    }
    let source = fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
    let known = source.contains(&format!("fn {name}("));
    known.then_some(()).ok_or_else(|| "there is no such test".to_owned())
}

/// Whether a path names something of a type: a method, or a constant that belongs to it.
pub(super) fn is_method(path: &str) -> bool {
    let mut names = path.rsplit("::");
    let (last, before) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
    let is_type = |name: &str| name.starts_with(|c: char| c.is_ascii_uppercase());
    is_type(before) && !(is_type(last) && last.chars().any(|c| c.is_ascii_lowercase()))
}

/// Whether the sources have a method or constant of this name in an `impl` or `trait` of its type.
pub(super) fn has_method(workspace: &Workspace, path: &str) -> bool {
    let mut names = path.rsplit("::");
    let (method, of) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
    let mut folders = vec![workspace.path("crates")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && fs::read_to_string(&path).is_ok_and(|text| defines(&text, of, method))
            {
                return true;
            }
        }
    }
    false
}

fn defines(text: &str, of: &str, method: &str) -> bool {
    let is_head = |line: &str| {
        let head = line.trim_start_matches("pub ");
        (head.starts_with("impl") || head.starts_with("trait"))
            && line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == of)
    };
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with(|c: char| !c.is_whitespace()) {
            inside = is_head(line);
        }
        let named = [format!("fn {method}("), format!("fn {method}<"), format!("const {method}:")];
        if inside && named.iter().any(|name| line.contains(name)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_begin_with_numbers() {
        assert_eq!(numbers("K12: exit 2 denies"), [12]);
        assert_eq!(numbers("K12 B14: both"), [12, 14]);
        assert!(numbers("other tools pass: K1").is_empty());
        assert!(numbers("no number").is_empty());
        assert_eq!(numbered("k38_b39_a_matcher_of_2"), [38, 39]);
        assert!(numbered("key_1").is_empty());
    }

    #[test]
    fn methods_are_told_from_types_functions_and_variants() {
        for path in ["tenter::Engine::reload", "tenter::EventMask::ALL"] {
            assert!(is_method(path), "{path}");
        }
        for path in ["tenter::Engine", "tenter::core::merge::merge", "tenter::PreToolOutcome::Ask"]
        {
            assert!(!is_method(path), "{path}");
        }
    }

    #[test]
    fn a_method_stands_in_an_impl_of_its_type() {
        let text = "struct A;\nimpl A {\n    pub fn one(&self) {}\n}\nimpl B for C {\n    const X: u8 = 1;\n}\n";
        assert!(defines(text, "A", "one") && defines(text, "C", "X") && defines(text, "B", "X"));
        assert!(!defines(text, "A", "X") && !defines(text, "D", "one"));
    }
}
