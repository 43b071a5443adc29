//! The world of `tenter demo`: a home and a project with hooks, a scripted model, and one session.
//!
//! Owns what is in it. How it is shown is the renderer's, and the rest is the agent and the engine as
//! everybody has them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tenter::config::Places;
use tenter::{CancellationToken, Engine, Files};
use tenter_agent::{
    Agent, EventSink, FolderStore, MemorySink, Mode, RulesPolicy, Script, ScriptedProvider,
    StreamEvent,
};

use crate::error::CliError;
use crate::runtime;
use crate::setup::not_loaded;
use crate::world::World;

/// What the planted secret starts with.
const SECRET: &str = "TENTER-DEMO-SECRET";

const SCRIPT: &str = include_str!("script.toml");
const PROJECT: [(&str, &str); 5] = [
    (".tenter/hooks.toml", include_str!("hooks.toml")),
    ("settings.env", "API_TOKEN=TENTER-DEMO-SECRET-8f3a61c09d\n"),
    ("build.sh", "echo \"built with: ${*:-no options}\"\n"),
    (
        "hooks/redact.sh",
        "if grep -q TENTER-DEMO-SECRET; then\n\
         \techo '{\"replace\":{\"content\":\"[a secret was taken out here]\",\"is_error\":false}}'\n\
         fi\n",
    ),
    (
        "hooks/tests-first.sh",
        "grep -q '\"stop_hook_active\":true' && exit 0\n\
         echo 'Run the tests before you stop.' >&2\nexit 2\n",
    ),
];

/// How long what runs behind the agent may take at the end.
const GRACE: Duration = Duration::from_secs(5);

/// What a demonstration came to.
pub(crate) struct Shown {
    /// Its event stream.
    pub(crate) events: Vec<StreamEvent>,
    /// Whether the planted secret stands in the stream or in what was stored.
    pub(crate) leaked: bool,
}

/// Runs the demonstration in a folder that is empty.
///
/// # Errors
/// Its files cannot be written, or there is no runtime.
pub(crate) fn run(folder: &Path, world: &World) -> Result<Shown, CliError> {
    let (home, project) = (folder.join("home"), folder.join("project"));
    for made in [home.clone(), project.join(".git")] {
        fs::create_dir_all(&made).map_err(|error| CliError::unwritable(&made, &error))?;
    }
    for (name, content) in PROJECT {
        write(&project.join(name), content)?;
    }
    let state = home.join(".local/state/tenter");
    let engine = engine(&home, &project, &state, world)?;
    let sink = Arc::new(MemorySink::default());
    runtime::current_thread()?.block_on(session(&engine, &project, &state, &sink, world))?;
    let events = sink.events();
    let in_stream = events.iter().any(|event| json(event).contains(SECRET));
    let leaked = in_stream || holds_secret(&state);
    Ok(Shown { events, leaked })
}

fn write(path: &Path, content: &str) -> Result<(), CliError> {
    let about = |error| CliError::unwritable(path, &error);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(about)?;
    }
    fs::write(path, content).map_err(about)
}

/// The hooks of the project and of nobody else. Whoever runs a demonstration vouches for it.
fn engine(home: &Path, project: &Path, state: &Path, world: &World) -> Result<Engine, CliError> {
    let places = Places {
        home: home.to_owned(),
        config_home: home.join(".config"),
        state_home: state.to_owned(),
        managed: home.join("managed"),
        cwd: project.to_owned(),
        project: project.to_owned(),
    };
    let files = Files { trust_project: true, ..Files::new(places) };
    let engine = Engine::builder().files(files).environment(environment(home, world)).try_build();
    engine.map_err(not_loaded)
}

fn environment(home: &Path, world: &World) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    let path = world.variable("PATH").unwrap_or_else(|| "/usr/bin:/bin".as_ref()).to_owned();
    vec![("PATH".into(), path), ("HOME".into(), home.into())]
}

async fn session(
    engine: &Engine,
    project: &Path,
    state: &Path,
    sink: &Arc<MemorySink>,
    world: &World,
) -> Result<(), CliError> {
    let script = Script::parse(SCRIPT).map_err(|error| CliError::bad_input(error.to_string()))?;
    let hooks = engine.session("demo");
    let mut agent = Agent::builder("demo", project, Arc::new(ScriptedProvider::new(script)))
        .hooks(Arc::new(hooks.clone()))
        .policy(Arc::new(RulesPolicy::new(engine.clone(), Mode::Bypass)))
        .store(Arc::new(FolderStore::new(state.join("agent"))))
        .environment(environment(project, world))
        .sink(Arc::clone(sink) as Arc<dyn EventSink>)
        .start();
    agent.turn("Publish the branch, and mind our rules.", &CancellationToken::new()).await;
    agent.end("exit", GRACE).await;
    hooks.finish(GRACE).await;
    Ok(())
}

/// One line of the event stream.
pub(crate) fn json(event: &StreamEvent) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

/// Whether any file below a folder holds the planted secret.
fn holds_secret(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path: PathBuf| {
        if path.is_dir() {
            return holds_secret(&path);
        }
        let bytes = fs::read(&path).unwrap_or_default();
        bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes())
    })
}
