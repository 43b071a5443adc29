//! `cargo xtask seeds`: every item of the three pages that the mission comes from has its
//! counterpart here, and every numbered behaviour of their systems a test or a reason.
//!
//! Owns: the rows of `docs/seeds.toml`, what is wrong with them, and `docs/seeds.md`, which is made
//! of them. Does not own: whether a test passes; `cargo test` says that.

mod items;
mod page;
mod rows;

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context as _, Result, bail};

use self::items::{ITEMS, PAGES};
use self::rows::{Behaviour, Item, Rows};
use crate::workspace::Workspace;

/// `cargo xtask seeds`
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Args {
    /// Write nothing; fail where a file is not what it would be
    #[arg(long)]
    pub(crate) check: bool,
}

/// The rows.
const TABLE: &str = "docs/seeds.toml";
/// The page that is made of them.
const PAGE: &str = "docs/seeds.md";
/// The tests that name every item of a crate by its path, so that the compiler resolves them.
const PATHS: [(&str, &str); 2] = [
    ("tenter", "crates/engine/tests/it/seed_items.rs"),
    ("tenter_agent", "crates/agent/tests/it/seed_items.rs"),
];

/// Checks the rows, and writes or compares what is made of them.
pub(crate) fn run(workspace: &Workspace, args: Args) -> Result<()> {
    let text = fs::read_to_string(workspace.path(TABLE)).context(TABLE)?;
    let rows: Rows = toml::from_str(&text).context(TABLE)?;
    let mut cases = rows::spec_cases(workspace)?;
    for (of, tests) in rows::rust_tests(workspace) {
        cases.entry(of).or_default().extend(tests);
    }
    let mut faults = Vec::new();
    check_items(workspace, &rows.item, &mut faults);
    let shown = check_behaviours(workspace, &rows.behaviour, &cases, &mut faults);
    if !faults.is_empty() {
        let count = faults.len();
        bail!("{TABLE}: {count} rows are wrong\n  {}", faults.join("\n  "));
    }
    let mut made = vec![(PAGE, page::markdown(&rows.item, &shown))];
    for (of, path) in PATHS {
        made.push((path, page::paths(of, rows.item.iter().flat_map(|item| &item.ours))));
    }
    for (path, content) in made {
        let file = workspace.path(path);
        if fs::read_to_string(&file).is_ok_and(|old| old == content) {
            continue;
        }
        if args.check {
            bail!("{path} has drifted; run `cargo xtask seeds`");
        }
        fs::write(&file, content).context(path)?;
        println!("wrote {path}");
    }
    println!("{} items and {} behaviours have their rows", rows.item.len(), shown.len());
    Ok(())
}

fn check_items(workspace: &Workspace, rows: &[Item], faults: &mut Vec<String>) {
    for id in ITEMS {
        match rows.iter().filter(|row| row.id == *id).count() {
            0 => faults.push(format!("{id}: there is no row")),
            1 => {}
            count => faults.push(format!("{id}: there are {count} rows")),
        }
    }
    for row in rows {
        let id = &row.id;
        if !ITEMS.contains(&id.as_str()) {
            faults.push(format!("{id}: no page has such an item"));
        }
        match (&row.reason, row.ours.is_empty() || row.tests.is_empty()) {
            (None, true) => {
                faults.push(format!("{id}: neither an item of ours with a test nor a reason"));
            }
            (Some(_), false) => faults.push(format!("{id}: done, and yet a reason why not")),
            _ => {}
        }
        let methods = row.ours.iter().filter(|path| rows::is_method(path));
        for path in methods.filter(|path| !rows::has_method(workspace, path)) {
            faults.push(format!("{id}: there is no `{path}`"));
        }
        let is_known = |path: &str| PATHS.iter().any(|(of, _)| path.split("::").next() == Some(of));
        for path in row.ours.iter().filter(|path| !is_known(path)) {
            faults.push(format!("{id}: `{path}` is in no crate that embedders use"));
        }
        check_tests(workspace, id, &row.tests, faults);
    }
}

fn check_tests(workspace: &Workspace, of: &str, tests: &[String], faults: &mut Vec<String>) {
    for test in tests {
        if let Err(why) = rows::find_test(workspace, test) {
            faults.push(format!("{of}: `{test}`: {why}"));
        }
    }
}

/// A behaviour with everything that shows it, by page and number.
type Shown = BTreeMap<(String, u32), Behaviour>;

/// The behaviours of all pages: cases and tests whose names begin with a number show themselves.
fn check_behaviours(
    workspace: &Workspace,
    rows: &[Behaviour],
    cases: &BTreeMap<(String, u32), Vec<String>>,
    faults: &mut Vec<String>,
) -> Shown {
    let mut shown = Shown::new();
    for row in rows {
        let of = format!("{} {}", row.page, row.number);
        check_tests(workspace, &of, &row.tests, faults);
        if row.tests.is_empty() == row.reason.is_none() {
            faults.push(format!("{of}: either tests or a reason"));
        }
        if shown.insert((row.page.clone(), row.number), row.clone()).is_some() {
            faults.push(format!("{of}: there are two rows"));
        }
    }
    for ((page, number), names) in cases {
        let row =
            shown.entry((page.clone(), *number)).or_insert_with(|| Behaviour::of(page, *number));
        row.tests.extend(names.iter().cloned());
        if row.reason.is_some() {
            faults.push(format!("{page} {number}: a case shows it, and yet a reason why not"));
        }
    }
    for (page, count) in PAGES {
        for number in 1..=*count {
            if !shown.contains_key(&((*page).to_owned(), number)) {
                faults.push(format!("{page} {number}: neither a case, a test nor a reason"));
            }
        }
        let last = shown.keys().filter(|(of, _)| of == page).map(|(_, number)| *number).max();
        if let Some(last) = last.filter(|last| last > count) {
            faults.push(format!("{page} {last}: the page has {count} behaviours"));
        }
    }
    shown
}
