//! From arguments to a loaded configuration: places, options, engine, and what is wrong with it.
//!
//! The one place that turns the surroundings of the process into the library's options.

use std::path::Path;
use std::sync::Arc;

use tenter::config::{LoadError, Loaded, Places, Surroundings};
use tenter::core::diagnostic::{Diagnostic, Severity};
use tenter::hosts::codec::Host;
use tenter::{Engine, EngineBuilder, Files};

use crate::args::ConfigArgs;
use crate::console::Console;
use crate::error::{CliError, reason};
use crate::render::diagnostics::{Found, draw};
use crate::world::World;

/// Finds the places of this run. `project` is the one that was named, `session_cwd` the agent's
/// current directory as far as it is known.
///
/// # Errors
/// The project that was named is not there.
pub(crate) fn places(
    project: Option<&Path>,
    session_cwd: Option<&Path>,
    world: &World,
) -> Result<Places, CliError> {
    if let Some(project) = project {
        let found = world.cwd().join(project).metadata();
        let is_folder =
            found.map_err(|error| CliError::unreadable("project", project, &error))?.is_dir();
        if !is_folder {
            return Err(CliError::usage(format!(
                "the project `{}` is not a folder",
                project.display()
            ))
            .hint("name the folder that holds `.tenter`"));
        }
    }
    let project = project.map(|project| world.cwd().join(project));
    // What is to be said about the session's directory is said in the report of the event.
    let (places, _) = Places::find(&Surroundings {
        variable: &|name| world.variable(name).map(ToOwned::to_owned),
        session_cwd,
        own_cwd: world.cwd(),
        project: project.as_deref().map(Path::as_os_str),
    });
    Ok(places)
}

/// The files of a run that reads what counts at these places.
pub(crate) fn files(places: &Places, host: &Host, world: &World) -> Files {
    let variable = host.config.file_variable().and_then(|name| world.variable(name));
    Files { config_variable: variable.map(ToOwned::to_owned), ..Files::new(places.clone()) }
}

/// Loads the configuration that the arguments ask for.
///
/// # Errors
/// A file that was named cannot be used.
pub(crate) fn engine(
    args: &ConfigArgs,
    session_cwd: Option<&Path>,
    world: &World,
) -> Result<Engine, CliError> {
    let places = places(args.project.project.as_deref(), session_cwd, world)?;
    builder(args, &places, world).try_build().map_err(not_loaded)
}

/// The configuration that the arguments ask for, not loaded yet.
pub(crate) fn builder(args: &ConfigArgs, places: &Places, world: &World) -> EngineBuilder {
    let files = Files {
        explicit: args.config.iter().map(|path| world.cwd().join(path)).collect(),
        trust_project: args.trust_project,
        ..files(places, args.profile, world)
    };
    Engine::builder()
        .host(*args.profile)
        .files(files)
        .environment(world.variables().iter().cloned())
        .spill_folder(places.state_home.join("contexts"))
}

/// Loads files without anything to run them in.
///
/// # Errors
/// A file that was named cannot be used.
pub(crate) fn load(files: Files, host: &Host, world: &World) -> Result<Arc<Loaded>, CliError> {
    let engine = Engine::builder()
        .host(*host)
        .files(files)
        .environment(world.variables().iter().cloned())
        .try_build()
        .map_err(not_loaded)?;
    Ok(engine.loaded())
}

/// Why a configuration does not load, as an error of the program.
pub(crate) fn not_loaded(error: LoadError) -> CliError {
    let text = match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {}", reason(&source)),
        None => error.to_string(),
    };
    match error {
        LoadError::Missing { .. } => {
            CliError::no_such_file(text).hint("name a hooks file that exists, or name none")
        }
        LoadError::Broken { diagnostics, text: source, .. } => {
            let found =
                diagnostics.iter().map(|diagnostic| Found { diagnostic, source: Some(&source) });
            CliError::bad_input(text).drawn(draw(found))
        }
        _ => CliError::bad_input(text),
    }
}

/// Says what is wrong with the files that were read: errors with their lines, the rest in short.
pub(crate) fn report(loaded: &Loaded, console: &mut Console) {
    let (errors, others): (Vec<_>, Vec<_>) = loaded
        .diagnostics
        .iter()
        .filter(|one| one.severity != Severity::Info)
        .partition(|one| one.severity == Severity::Error);
    console.err(&draw(errors.into_iter().map(|diagnostic| found(loaded, diagnostic))));
    for diagnostic in others {
        let place = diagnostic.position.as_ref();
        let place = place.map(|at| format!("{}:{}:{}: ", at.file, at.line, at.column));
        console.warn(&format!("{}{}", place.unwrap_or_default(), diagnostic.message));
        if let Some(help) = &diagnostic.help {
            console.hint(help);
        }
    }
}

/// A diagnostic with the text of its file.
pub(crate) fn found<'a>(loaded: &'a Loaded, diagnostic: &'a Diagnostic) -> Found<'a> {
    let text = diagnostic.position.as_ref().and_then(|at| loaded.texts.get(&at.file));
    Found { diagnostic, source: text.map(|text| &**text) }
}
