//! `tenter install` and `tenter uninstall`: tenter as a hook in the files of hosts.
//!
//! All changes are worked out before the first is made, so that a file which cannot be edited leaves
//! the others alone.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use tenter::config::Places;
use tenter::core::exit_code::PROCEED;
use tenter::core::suggest::nearest;
use tenter::hosts::bridge::{self, Bridge};
use tenter::hosts::install::{Install, WAIT, deadline};

use crate::args::{InstallArgs, TargetArgs, UninstallArgs};
use crate::console::Console;
use crate::error::CliError;
use crate::install::{Edit, Scope, Target};
use crate::render::style::{ADDED, DIM, GOOD, REMOVED, STRONG, paint};
use crate::setup;
use crate::world::{self, World};

/// Puts tenter in.
pub(crate) fn install(
    args: &InstallArgs,
    world: &World,
    console: &mut Console,
) -> Result<u8, CliError> {
    let places = setup::places(None, None, world)?;
    let program = program(world)?;
    let wait = args.timeout.unwrap_or(WAIT);
    let scope = if args.target.scope.project { Scope::Project } else { Scope::User };
    let mut edits = Vec::new();
    for (bridge, install) in hosts(&args.target.hosts)? {
        let target = Target { bridge, install: &install, scope, places: &places, world };
        edits.extend(target.install(&program, wait)?);
    }
    carry_out(&edits, &args.target, &places, console)?;
    if args.target.json || args.target.dry_run {
        return Ok(PROCEED);
    }
    for (bridge, install) in hosts(&args.target.hosts)? {
        if let Some(trust) = install.trust {
            console.hint(&format!("{}: {trust}", bridge.title));
        }
    }
    console.err(&format!(
        "\nIt answers within {}. Next:\n  \
         tenter check     are the hooks sound?\n  \
         tenter trust     let those of this project run\n  \
         tenter list      what counts here? With --host: what the host would run\n",
        shown_time(deadline(wait))
    ));
    Ok(PROCEED)
}

/// Takes tenter out.
pub(crate) fn uninstall(
    args: &UninstallArgs,
    world: &World,
    console: &mut Console,
) -> Result<u8, CliError> {
    let places = setup::places(None, None, world)?;
    // Unless one was named, it is taken out wherever it is.
    let scopes: &[Scope] = match (args.target.scope.user, args.target.scope.project) {
        (true, false) => &[Scope::User],
        (false, true) => &[Scope::Project],
        _ => &[Scope::User, Scope::Project],
    };
    let mut edits = Vec::new();
    for (bridge, install) in hosts(&args.target.hosts)? {
        for scope in scopes {
            let target =
                Target { bridge, install: &install, scope: *scope, places: &places, world };
            edits.extend(target.uninstall()?.into_iter().filter(Edit::changes));
        }
    }
    if edits.is_empty() && !args.target.json {
        console.err("nothing to take out: tenter stands in none of these files\n");
        return Ok(PROCEED);
    }
    carry_out(&edits, &args.target, &places, console)?;
    Ok(PROCEED)
}

/// Does it, or shows it.
fn carry_out(
    edits: &[Edit],
    args: &TargetArgs,
    places: &Places,
    console: &mut Console,
) -> Result<(), CliError> {
    if !args.dry_run {
        for edit in edits {
            edit.apply()?;
        }
    }
    if args.json {
        console.out(&json(edits, args.dry_run));
        return Ok(());
    }
    for edit in edits {
        let shown = places.shown(&edit.path);
        if args.dry_run && edit.changes() {
            console.out(&diff(edit, &shown));
        } else {
            console.out(&line(edit, &shown));
        }
    }
    Ok(())
}

/// The hosts of these names.
pub(super) fn hosts(names: &[String]) -> Result<Vec<(&'static Bridge, Install)>, CliError> {
    let all = || bridge::all().filter(|bridge| bridge.install.is_some()).map(|bridge| bridge.name);
    names
        .iter()
        .map(|name| {
            let bridge = bridge::by_name(name);
            bridge.and_then(|bridge| Some((bridge, bridge.install?))).ok_or_else(|| {
                let error = CliError::usage(format!("there is no host `{name}`"));
                error.hint(nearest(name, all()).map_or_else(
                    || format!("the hosts are {}", all().collect::<Vec<_>>().join(", ")),
                    |near| format!("did you mean `{near}`?"),
                ))
            })
        })
        .collect()
}

/// The path of this program that will last: that on the search path, if it is this one. What a
/// package manager puts there is a link, and what it leads to changes with each version.
fn program(world: &World) -> Result<PathBuf, CliError> {
    let own = world::own_program()?;
    let paths = world.variable("PATH").map(std::env::split_paths);
    let on_path = paths
        .into_iter()
        .flatten()
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("tenter"))
        .find(|path| path.is_file());
    let is_own = |path: &Path| path.canonicalize().ok() == own.canonicalize().ok();
    Ok(on_path.filter(|path| is_own(path)).unwrap_or(own))
}

fn line(edit: &Edit, shown: &str) -> String {
    let what = match (edit.changes(), edit.events.len(), edit.restores) {
        (false, 0, _) => paint(DIM, "nothing of tenter's"),
        (false, ..) => paint(DIM, "as it was: tenter stands there already"),
        (true, 0, true) => paint(GOOD, "as it was before tenter came"),
        (true, 0, false) => paint(GOOD, "without tenter"),
        (true, 1, _) => paint(GOOD, format!("tenter is a hook of {}", edit.events.concat())),
        (true, count, _) => paint(GOOD, format!("tenter is a hook of {count} events")),
    };
    format!("{}  {shown}  {what}\n", paint(STRONG, edit.host))
}

fn diff(edit: &Edit, shown: &str) -> String {
    let (before, after) = (edit.before.as_deref(), edit.after.as_deref());
    let diff = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    let name =
        |side: Option<&str>| side.map_or_else(|| "/dev/null".to_owned(), |_| shown.to_owned());
    let mut out = format!("--- {}\n+++ {}\n", name(before), name(after));
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        // Writing to a `String` does not fail.
        let _ = writeln!(out, "{}", paint(DIM, hunk.header()));
        for change in hunk.iter_changes() {
            let text = change.value().trim_end_matches(['\n', '\r']);
            let _ = match change.tag() {
                ChangeTag::Equal => writeln!(out, " {text}"),
                ChangeTag::Delete => writeln!(out, "{}", paint(REMOVED, format!("-{text}"))),
                ChangeTag::Insert => writeln!(out, "{}", paint(ADDED, format!("+{text}"))),
            };
        }
    }
    out
}

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    dry_run: bool,
    files: Vec<FileReport<'a>>,
}

#[derive(Serialize)]
struct FileReport<'a> {
    host: &'a str,
    scope: &'a str,
    file: &'a Path,
    changed: bool,
    restored: bool,
    events: &'a [&'static str],
}

fn json(edits: &[Edit], dry_run: bool) -> String {
    let files = edits.iter().map(|edit| FileReport {
        host: edit.host,
        scope: edit.scope.as_str(),
        file: &edit.path,
        changed: edit.changes(),
        restored: edit.restores,
        events: &edit.events,
    });
    let report = Report { version: 1, dry_run, files: files.collect() };
    crate::render::json::pretty(&report)
}

fn shown_time(time: std::time::Duration) -> String {
    match time.subsec_millis() {
        0 => format!("{} s", time.as_secs()),
        _ => format!("{} ms", time.as_millis()),
    }
}
