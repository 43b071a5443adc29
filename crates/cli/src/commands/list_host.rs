//! `tenter list --host`: what another agent would run, from its own files.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Serialize;
use tenter::core::exit_code::PROCEED;
use tenter::hosts::bridge::Bridge;
use tenter::hosts::hostfile::{self, Entry};
use tenter::hosts::install::{Install, Unit, Wait, is_ours};

use crate::args::ListArgs;
use crate::commands::install::hosts;
use crate::console::Console;
use crate::error::CliError;
use crate::install::{Scope, Target, read};
use crate::render::json::pretty;
use crate::render::style::{DIM, GOOD, STRONG, paint};
use crate::render::text::one_line;
use crate::setup;
use crate::world::World;

/// One entry of a host's file.
#[derive(Serialize)]
struct Row {
    event: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    matcher: Option<String>,
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<String>,
    tenter: bool,
}

/// The entries of one file.
#[derive(Serialize)]
struct Listed {
    file: String,
    scope: &'static str,
    entries: Vec<Row>,
}

/// Runs the command.
pub(super) fn run(
    name: &str,
    args: &ListArgs,
    world: &World,
    console: &mut Console,
) -> Result<u8, CliError> {
    let places = setup::places(args.config.project.project.as_deref(), None, world)?;
    let mut files = Vec::new();
    let mut looked = Vec::new();
    for (bridge, install) in hosts(&[name.to_owned()])? {
        for scope in [Scope::User, Scope::Project] {
            let target = Target { bridge, install: &install, scope, places: &places, world };
            for (spot, path) in target.files_at() {
                let shown = places.shown(&path);
                looked.push(shown.clone());
                let entries = if install.form.is_programs() {
                    programs(bridge, &path)
                } else {
                    let Some(text) = read(&path)? else { continue };
                    if !hostfile::reads(&install) {
                        return Err(CliError::usage(format!(
                            "the files of {} are not read: look at {shown} yourself",
                            bridge.title
                        )));
                    }
                    let file = hostfile::read(bridge, spot, &text)
                        .map_err(|error| target.not_editable(&path, &error))?;
                    file.entries.iter().map(|entry| row(&install, entry)).collect()
                };
                if !entries.is_empty() {
                    files.push(Listed { file: shown, scope: scope.as_str(), entries });
                }
            }
        }
    }
    if args.json {
        #[derive(Serialize)]
        struct Listing {
            version: u32,
            host: String,
            files: Vec<Listed>,
        }
        console.out(&pretty(&Listing { version: 1, host: name.to_owned(), files }));
        return Ok(PROCEED);
    }
    console.out(&draw(&files, console.width()));
    if files.is_empty() {
        console.err("no hooks; these files were looked for:\n");
        for file in looked {
            console.err(&format!("  {file}\n"));
        }
        console.hint(&format!("`tenter install {name}` makes tenter one of its hooks"));
    }
    Ok(PROCEED)
}

fn row(install: &Install, entry: &Entry) -> Row {
    let unit = if install.unit == Unit::Seconds { "s" } else { "ms" };
    Row {
        event: entry.event.text.clone(),
        matcher: entry.matcher.as_ref().map(|matcher| matcher.text.clone()),
        command: entry.command.as_ref().map_or_else(|| "(none)".into(), |line| line.text.clone()),
        timeout: entry.timeout.as_ref().map(|time| format!("{}{unit}", time.text)),
        tenter: entry.is_ours,
    }
}

/// The hooks of a host that runs a file for each event.
fn programs(bridge: &Bridge, folder: &Path) -> Vec<Row> {
    let rows = bridge.events.iter().filter_map(|event| {
        let path = folder.join(event.own);
        let text = fs::read(&path).ok()?;
        let tenter = String::from_utf8_lossy(&text).lines().any(|line| is_ours(line, bridge.name));
        let timeout = bridge.install.and_then(|install| match install.wait {
            Wait::Fixed(time) => Some(format!("{}s", time.as_secs())),
            Wait::Written => None,
        });
        let command = path.display().to_string();
        Some(Row { event: event.own.into(), matcher: None, command, timeout, tenter })
    });
    rows.collect()
}

fn draw(files: &[Listed], width: usize) -> String {
    let mut out = String::new();
    for file in files {
        // Writing to a `String` does not fail.
        let _ = writeln!(out, "{}  {}", paint(STRONG, &file.file), paint(DIM, file.scope));
        let widest = file.entries.iter().map(|row| row.event.len()).max().unwrap_or(0);
        for row in &file.entries {
            let matcher = row.matcher.as_deref().map(|it| format!(" {it}")).unwrap_or_default();
            let time = row.timeout.as_deref().map(|it| format!("  {it}")).unwrap_or_default();
            let what = if row.tenter {
                paint(GOOD, "tenter")
            } else {
                one_line(&row.command, width.saturating_sub(widest + 12).max(20))
            };
            let _ = writeln!(out, "  {:widest$}{matcher}  {what}{}", row.event, paint(DIM, time));
        }
    }
    out
}
