//! `tenter trust` and `tenter untrust`: what a project's hooks would do, and whether they may.
//!
//! Nothing is trusted that was not shown: the answer is given to what is on the screen, or to its
//! digest.

use std::fmt::Write as _;
use std::sync::Arc;

use tenter::Files;
use tenter::config::{FileState, Loaded, Owners, Places};
use tenter::core::exit_code::PROCEED;
use tenter::core::hook::{Handler, Hook};
use tenter::hosts::codec::Host;
use tenter::hosts::names;
use tenter::trust::{Digest, Entry, Recorded, Standing, Survey, SurveyedEntry, Trust, TrustError};

use crate::args::{TrustArgs, UntrustArgs};
use crate::console::Console;
use crate::error::{CliError, reason};
use crate::render::diagnostics::draw;
use crate::render::plan::handler;
use crate::render::style::{ASKS, DIM, GOOD, STRONG, WARNING, paint};
use crate::render::text;
use crate::setup;
use crate::world::{self, World};

/// Fewer digits of a digest than these name too many projects.
const LEAST_DIGITS: usize = 32;

/// Trusts the project as it is now.
pub(crate) fn trust(
    args: &TrustArgs,
    world: &World,
    console: &mut Console,
) -> Result<u8, CliError> {
    let command = named("trust", args.profile);
    let places = setup::places(args.project.project.as_deref(), None, world)?;
    let loaded = project_files(&places, args.profile, world)?;
    refuse_broken(&loaded, &places)?;
    if loaded.entries.is_empty() {
        console.err("nothing in this project needs trust: it has no hooks and no allow rules\n");
        return Ok(PROCEED);
    }
    let survey = Survey::of(&places.project, &loaded.entries).map_err(|error| failed(&error))?;
    let digest = survey.digest();
    if let Some(given) = args.digest.as_deref() {
        check_digest(given, &digest, &command)?;
    }
    if loaded.standings.iter().all(|one| matches!(one, Standing::Trusted(_))) {
        console.out(&format!("{} is trusted already, as it is\n", shown(&places)));
        return Ok(PROCEED);
    }
    if args.digest.is_none() {
        console.out(&listing(&survey, &loaded, &places));
        let question = "Trust this project's hooks to run commands as you?";
        confirm(question, &command, &digest, console)?;
    }
    let recorded = record(&places, args.profile).trust(&survey).map_err(|error| failed(&error))?;
    console.out(&summary(&recorded, &places));
    Ok(PROCEED)
}

/// Forgets that the project was trusted.
pub(crate) fn untrust(
    args: &UntrustArgs,
    world: &World,
    console: &mut Console,
) -> Result<u8, CliError> {
    let command = named("untrust", args.profile);
    let places = setup::places(args.project.project.as_deref(), None, world)?;
    let trust = record(&places, args.profile);
    let real = places.project.canonicalize().unwrap_or_else(|_| places.project.clone());
    let projects = trust.projects().map_err(|error| failed(&error))?;
    let Some((_, count)) = projects.into_iter().find(|(project, _)| *project == real) else {
        console.err(&format!("nothing of {} is trusted\n", shown(&places)));
        return Ok(PROCEED);
    };
    let loaded = project_files(&places, args.profile, world)?;
    let survey = Survey::of(&places.project, &loaded.entries).map_err(|error| failed(&error))?;
    let digest = survey.digest();
    if let Some(given) = args.digest.as_deref() {
        check_digest(given, &digest, &command)?;
    } else {
        console.out(&format!("trusted so far: {} of {}\n", entries(count), shown(&places)));
        let question = "Skip this project's hooks from now on, guards included?";
        confirm(question, &command, &digest, console)?;
    }
    let count = trust.untrust(&places.project).map_err(|error| failed(&error))?;
    console.out(&format!("no longer trusted: {} of {}\n", entries(count), shown(&places)));
    Ok(PROCEED)
}

/// The command as it is to be typed for the files of this host.
fn named(command: &str, host: &Host) -> String {
    let host = host.profile.name;
    if names().next() == Some(host) {
        format!("tenter {command}")
    } else {
        format!("tenter {command} --profile {host}")
    }
}

/// The project's own files, whatever stands for them in this shell.
fn project_files(places: &Places, host: &Host, world: &World) -> Result<Arc<Loaded>, CliError> {
    setup::load(Files::new(places.clone()), host, world)
}

fn record(places: &Places, host: &Host) -> Trust {
    Trust::new(&places.state_home, Owners::of_this_process()).of_host(host.profile.name)
}

fn failed(error: &TrustError) -> CliError {
    let message = match std::error::Error::source(error) {
        Some(source) => format!("{error}: {}", reason(&source)),
        None => error.to_string(),
    };
    CliError::bad_input(message)
}

fn shown(places: &Places) -> String {
    text::printable(&places.project.display().to_string()).into_owned()
}

fn entries(count: usize) -> String {
    if count == 1 { "1 entry".into() } else { format!("{count} entries") }
}

/// A file that does not parse may hold anything, and a project without files holds nothing.
fn refuse_broken(loaded: &Loaded, places: &Places) -> Result<(), CliError> {
    use tenter::Level::{Private, Project};
    let of_project: Vec<_> =
        loaded.files.iter().filter(|file| matches!(file.level, Project | Private)).collect();
    let broken = of_project
        .iter()
        .find(|file| matches!(file.state, FileState::Broken | FileState::Untrusted));
    if let Some(file) = broken {
        let said = loaded
            .diagnostics
            .iter()
            .filter(|one| one.position.as_ref().is_some_and(|at| at.file == file.name));
        let drawn = draw(said.map(|one| setup::found(loaded, one)));
        return Err(CliError::bad_input(format!("`{}` cannot be trusted as it is", file.name))
            .drawn(drawn)
            .hint("mend it, then run `tenter trust` again"));
    }
    let refused = of_project.iter().find_map(|file| match &file.state {
        FileState::Refused(why) => Some((file, why)),
        _ => None,
    });
    if let Some((file, why)) = refused {
        return Err(CliError::bad_input(format!(
            "trust would change nothing: `{}` is left out: {why}",
            file.name
        )));
    }
    if of_project.iter().all(|file| file.state == FileState::Missing) {
        return Err(CliError::no_such_file(format!("there is no hooks file in {}", shown(places)))
            .hint("`tenter init` writes one; `--project DIR` names another project"));
    }
    Ok(())
}

/// What would be trusted: each entry, what it starts, and the files that belong to it.
fn listing(survey: &Survey, loaded: &Loaded, places: &Places) -> String {
    let mut out = format!("{}\n", paint(STRONG, shown(places)));
    let mut file = "";
    for (at, entry) in survey.entries().enumerate() {
        if entry.file() != file {
            file = entry.file();
            // Writing to a `String` does not fail.
            let _ = writeln!(out, "\n  {}", text::printable(file));
        }
        let known = loaded.entries.get(at).zip(loaded.standings.get(at));
        show_entry(
            &mut out,
            entry,
            known.map(|(_, standing)| standing),
            hook_of(loaded, known.map(|(entry, _)| entry)),
        );
    }
    // Writing to a `String` does not fail.
    let _ = writeln!(out, "\n  {} {}\n", paint(DIM, "digest"), survey.digest().short());
    out
}

/// The hook that an entry became.
fn hook_of<'a>(loaded: &'a Loaded, entry: Option<&Entry>) -> Option<&'a Hook> {
    let entry = entry?;
    let found = loaded.hooks.iter().find(|hook| {
        hook.source.pointer == entry.pointer
            && hook.source.position.as_ref().is_some_and(|at| at.file == entry.file)
    });
    found.map(|hook| &**hook)
}

fn show_entry(
    out: &mut String,
    entry: SurveyedEntry<'_>,
    standing: Option<&Standing>,
    hook: Option<&Hook>,
) {
    let (mark, word, style) = match standing {
        Some(Standing::Trusted(_)) => ('✓', "trusted", GOOD),
        Some(Standing::Changed(_)) => ('~', "changed", WARNING),
        Some(Standing::Never) | None => ('+', "new", ASKS),
    };
    let name = text::one_line(entry.name(), 60);
    let mut line =
        format!("    {} {} {}", paint(style, mark), paint(STRONG, name), paint(style, word));
    let details = |out: &mut String, label: &str, value: &str| {
        for (at, line) in text::printable(value).lines().enumerate() {
            let label = if at == 0 { label } else { "" };
            // Writing to a `String` does not fail.
            let _ = writeln!(out, "        {} {line}", paint(DIM, text::padded(label, 8)));
        }
    };
    if let Some(hook) = hook {
        let events: Vec<_> = hook.events.iter().map(tenter::EventKind::name).collect();
        let _ = write!(
            line,
            " {}",
            paint(DIM, format!("· {}", text::one_line(&events.join(", "), 60)))
        );
        if !hook.matcher.is_all() {
            let _ = write!(line, " {}", paint(DIM, text::one_line(hook.matcher.source(), 60)));
        }
    }
    let _ = writeln!(out, "{line}");
    if let Some(hook) = hook {
        // The whole command: what is trusted is seen.
        let label = if matches!(hook.handler, Handler::Command(_)) { "runs" } else { "does" };
        details(out, label, &handler(hook));
        if let Handler::Command(command) = &hook.handler {
            if let Some(shell) = &command.shell {
                details(out, "shell", &text::command_line(shell));
            }
            for (name, value) in &command.env {
                details(out, "with", &format!("{name}={value}"));
            }
        }
    }
    for (path, digest) in entry.scripts() {
        details(out, "file", &format!("{} {}", path.display(), digest.short()));
    }
}

/// Asks, or says how to do without a question.
fn confirm(
    question: &str,
    command: &str,
    digest: &Digest,
    console: &mut Console,
) -> Result<(), CliError> {
    let by_digest = format!("{command} --digest {}", digest.short());
    if !world::can_ask() {
        return Err(CliError::usage(format!(
            "`{command}` needs a terminal to ask on, or the digest of what was looked at"
        ))
        .hint(format!("if that is what you want, run `{by_digest}`")));
    }
    console.err(&format!("{question} [y/N] "));
    let answer = world::read_line()?;
    if matches!(answer.to_lowercase().as_str(), "y" | "yes") {
        Ok(())
    } else {
        Err(CliError::usage("nothing was changed"))
    }
}

/// Compares a digest that was given with the one of what is there now.
fn check_digest(given: &str, digest: &Digest, command: &str) -> Result<(), CliError> {
    let given = given.trim().to_ascii_lowercase();
    let is_hex = given.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex || given.len() < LEAST_DIGITS {
        return Err(CliError::usage(format!(
            "`{given}` is not a digest: it has at least {LEAST_DIGITS} hexadecimal digits"
        ))
        .hint(format!("`{command}` shows what is there and its digest")));
    }
    if digest.to_string().starts_with(&given) {
        return Ok(());
    }
    Err(CliError::bad_input(format!(
        "what is there now has the digest {}, not {given}: it was changed after it was looked at",
        digest.short()
    ))
    .hint(format!("look again with `{command}`")))
}

fn summary(recorded: &Recorded, places: &Places) -> String {
    let mut out = String::new();
    let lists = [
        ("new", &recorded.added),
        ("changed", &recorded.changed),
        ("as before", &recorded.kept),
        ("gone", &recorded.removed),
    ];
    // Writing to a `String` does not fail.
    let _ = writeln!(out, "{} {} is trusted", paint(GOOD, '✓'), shown(places));
    for (label, names) in lists {
        if !names.is_empty() {
            let names: Vec<_> = names.iter().map(|name| text::one_line(name, 60)).collect();
            let _ = writeln!(out, "  {} {}", paint(DIM, format!("{label}:")), names.join(", "));
        }
    }
    out
}
