//! The list in `docs/failures.md` names tests; here they are looked for, so that the list stays true.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates that the list may name, by the name that code gives them, and their folders.
const CRATES: &[(&str, &str)] = &[
    ("tenter_shell", "shell"),
    ("tenter_core", "core"),
    ("tenter_hosts", "hosts"),
    ("tenter_process", "process"),
    ("tenter", "engine"),
    ("tenter_agent", "agent"),
];

/// One row of the list: what fails, and the tests that show it does not fail here.
struct Row {
    line: usize,
    failure: String,
    tests: Vec<String>,
}

/// The rows of every table whose last column is `tests`.
fn rows(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut inside = false;
    for (at, line) in text.lines().enumerate() {
        let Some(cells) = line.strip_prefix('|').and_then(|line| line.strip_suffix('|')) else {
            inside = false;
            continue;
        };
        let cells: Vec<_> = cells.split(" | ").map(str::trim).collect();
        let (first, last) = (cells[0], cells[cells.len() - 1]);
        if last == "tests" {
            inside = true;
        } else if inside && !first.starts_with("---") {
            assert_eq!(cells.len(), 3, "line {}: a row has three cells", at + 1);
            let tests = last.split('`').skip(1).step_by(2).map(str::to_owned).collect();
            rows.push(Row { line: at + 1, failure: first.to_owned(), tests });
        }
    }
    rows
}

/// Every test of a crate as its path: modules, then the function.
fn tests_of(folder: &Path) -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for (root, program) in [("src", ""), ("tests/it", ""), ("tests/kills", "kills")] {
        let root = folder.join(root);
        for file in rust_files(&root) {
            let module = module_of(file.strip_prefix(&root).unwrap());
            let text = fs::read_to_string(&file).unwrap();
            let mut is_test = false;
            let mut inner = "";
            for line in text.lines().map(str::trim) {
                let line = line.strip_prefix("async ").unwrap_or(line);
                if line == "#[test]" || line.starts_with("#[tokio::test") {
                    is_test = true;
                } else if line == "mod tests {" {
                    inner = "tests";
                } else if let Some(rest) = line.strip_prefix("fn ") {
                    let name = rest.split('(').next().unwrap_or_default();
                    if is_test {
                        let parts = [program, &*module, inner, name];
                        let parts: Vec<_> = parts.into_iter().filter(|p| !p.is_empty()).collect();
                        tests.insert(parts.join("::"));
                    }
                    is_test = false;
                }
            }
        }
    }
    tests
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The module that a file is.
fn module_of(path: &Path) -> String {
    let path = path.with_extension("");
    let parts = path.iter().map(|part| part.to_str().unwrap());
    parts.filter(|part| !matches!(*part, "mod" | "lib" | "main")).collect::<Vec<_>>().join("::")
}

#[test]
fn every_failure_on_the_list_has_tests_and_they_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("docs/failures.md")).unwrap();
    let rows = rows(&text);
    assert!(rows.len() > 40, "{} rows", rows.len());
    let known: BTreeMap<_, _> = CRATES
        .iter()
        .map(|(name, folder)| (*name, tests_of(&root.join("crates").join(folder))))
        .collect();
    for Row { line, failure, tests } in rows {
        assert!(
            !tests.is_empty(),
            "line {line}: nothing shows that we do not have this: {failure}"
        );
        for test in tests {
            let (name, path) = test.split_once("::").unwrap_or((&test, ""));
            let exists = known.get(name).is_some_and(|tests| tests.contains(path));
            assert!(exists, "line {line}: there is no test `{test}`");
        }
    }
}

#[test]
fn this_very_test_is_found_where_it_is() {
    let tests = tests_of(Path::new(env!("CARGO_MANIFEST_DIR")));
    assert!(tests.contains("field_table::this_very_test_is_found_where_it_is"));
    assert!(tests.contains("environment::tests::patterns_match_whole_names"));
    assert!(!tests.contains("field_table::rows"));
}
