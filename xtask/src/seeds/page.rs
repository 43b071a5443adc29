//! What is made of the rows: the page for people, and the paths for the compiler.

use std::fmt::Write as _;

use super::rows::{Item, is_method};
use super::{PAGES, Shown};

/// `docs/seeds.md`.
pub(super) fn markdown(items: &[Item], shown: &Shown) -> String {
    let mut out = String::from(
        "<!-- Made by `cargo xtask seeds` from `seeds.toml`; changes here are lost. -->\n\n\
         # Where tenter comes from\n\n\
         Three published hook systems set the mission: mecatl's HookRunner, hotl's hooks module and\n\
         Crush's hooks package. Each thing that their pages name is here with its counterpart, and each\n\
         behaviour that was measured with what shows it. A number with K is kept as the original has it,\n\
         one with B is done better.\n",
    );
    for (page, _) in PAGES {
        // Writing to a `String` does not fail.
        let _ = writeln!(out, "\n## {page}: items\n\n| item | here | shown by |\n|---|---|---|");
        let start = format!("{page}.");
        for item in items.iter().filter(|item| item.id.starts_with(&start)) {
            let ours = item.ours.iter().map(|path| format!("`{path}`"));
            let ours = match &item.reason {
                Some(reason) => cell(reason),
                None => ours.collect::<Vec<_>>().join(" "),
            };
            let _ = writeln!(out, "| {} | {ours} | {} |", cell(&item.text), tests(&item.tests));
        }
        let _ = writeln!(out, "\n## {page}: behaviours\n\n| number | shown by |\n|---|---|");
        for ((of, number), row) in shown {
            if of == page {
                let by = row.reason.as_deref().map_or_else(|| tests(&row.tests), cell);
                let _ = writeln!(out, "| {number} | {by} |");
            }
        }
    }
    out
}

fn tests(tests: &[String]) -> String {
    tests.iter().map(|test| cell(test)).collect::<Vec<_>>().join("<br>")
}

/// A text in a cell of a table: a bar would end it, and a bracket may begin a tag.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

/// A test file that names every path into one crate.
pub(super) fn paths<'a>(of: &str, ours: impl Iterator<Item = &'a String>) -> String {
    let is_in = |path: &&str| path.split("::").next() == Some(of);
    let paths = ours.map(String::as_str).filter(|path| !is_method(path));
    let mut paths: Vec<&str> = paths.filter(is_in).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut out = String::from(
        "//! Made by `cargo xtask seeds`; changes here are lost. Every item that `docs/seeds.toml` names is\n\
         //! where it says: what cannot be resolved does not compile.\n\n\
         #![expect(unused_imports, reason = \"they are named, not used\")]\n\n",
    );
    for (number, path) in paths.iter().enumerate() {
        let _ = writeln!(out, "use {path} as _Item{number};");
    }
    out
}
