//! The agent as the command line has it: built from its options, and a person at the terminal.
//!
//! | module | owns |
//! |---|---|
//! | `model` | who answers for the model |
//! | `human` | the agent's questions on their way to the desk |
//! | `desk` | the one place where events, questions, typed lines and signals meet |
//! | `watch` | who stands around the hooks: reviewer, guardrail |
//! | `view` | how the event stream is shown |

mod desk;
mod human;
mod model;
mod view;
mod watch;

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use tenter::Session;
use tenter::config::Places;
use tenter::record::{JsonLines, Recorder};
use tenter_agent::{
    Agent, AgentBuilder, EventSink, FolderStore, Headless, Human, Mode, RulesPolicy, StreamEvent,
    UserModelReviewer,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::args::{AgentMode, AgentOptions};
use crate::console::Console;
use crate::error::{CliError, reason};
use crate::setup;
use crate::world::{self, World};

use watch::Notes;

pub(crate) use desk::{Desk, Typed};
pub(crate) use human::Asked;
pub(crate) use view::View;

/// An agent that can be started or resumed, with the ends of its ports that are on our side.
pub(crate) struct Parts {
    pub(crate) builder: AgentBuilder,
    pub(crate) hooks: Session,
    pub(crate) reviewer: Option<Arc<UserModelReviewer>>,
    pub(crate) events: UnboundedReceiver<StreamEvent>,
    pub(crate) questions: UnboundedReceiver<Asked>,
}

/// Where the agent's sessions are.
pub(crate) fn store(places: &Places) -> FolderStore {
    FolderStore::new(places.state_home.join("agent"))
}

/// Takes events to the desk.
struct ToDesk(UnboundedSender<StreamEvent>);

impl EventSink for ToDesk {
    fn take(&self, event: StreamEvent) {
        // Without a desk the program is about to end.
        let _ = self.0.send(event);
    }
}

/// Puts an agent together.
///
/// # Errors
/// A file that was named cannot be used, or there is no such model.
pub(crate) fn parts(
    options: &AgentOptions,
    id: &str,
    store: Arc<FolderStore>,
    places: &Places,
    world: &World,
    console: &mut Console,
) -> Result<Parts, CliError> {
    let provider = model::provider(options, None, world)?;
    let mut engine = setup::builder(&options.config, places, world);
    let record = places.state_home.join("records").join(id).with_extension("jsonl");
    let mut recorder: Option<Arc<dyn Recorder>> = None;
    match JsonLines::open(&record) {
        Ok(lines) => {
            let lines: Arc<dyn Recorder> = Arc::new(lines);
            engine = engine.recorder(Arc::clone(&lines));
            recorder = Some(lines);
        }
        // A record that fails never changes what is done.
        Err(error) => console.warn(&format!(
            "decisions are not recorded: cannot open `{}`: {}",
            record.display(),
            reason(&error)
        )),
    }
    let engine = engine.try_build().map_err(setup::not_loaded)?;
    setup::report(&engine.loaded(), console);

    let hooks = engine.session(id);
    let notes = Notes {
        provider: Arc::clone(&provider),
        store: Arc::clone(&store),
        state_home: &places.state_home,
    };
    let checker = || model::provider(options, options.guardrail_model.as_deref(), world);
    let watched = watch::around(&hooks, options, notes, checker, recorder, world, console)?;
    let (to_desk, events) = unbounded_channel();
    let (asks, questions) = unbounded_channel();
    let somebody_is_there = !options.headless && world::can_ask();
    let human: Arc<dyn Human> =
        if somebody_is_there { Arc::new(human::AtDesk::new(asks)) } else { Arc::new(Headless) };
    let builder = Agent::builder(id, folder(places, options), provider)
        .hooks(watched.hooks)
        .learner(watched.learner)
        .known_of_user(watched.known)
        .compact_at(Some(options.compact_at))
        .policy(Arc::new(RulesPolicy::new(engine, mode(options.mode))))
        .human(human)
        .store(store)
        .sink(Arc::new(ToDesk(to_desk)))
        .commands(places.project.join(".tenter/commands"))
        .environment(world.variables().iter().cloned());
    Ok(Parts { builder, hooks, reviewer: watched.reviewer, events, questions })
}

/// The agent's folder: the project that was named, or where the program was started.
pub(crate) fn folder(places: &Places, options: &AgentOptions) -> PathBuf {
    let named = options.config.project.project.as_ref();
    named.map_or_else(|| places.cwd.clone(), |_| places.project.clone())
}

const fn mode(mode: AgentMode) -> Mode {
    match mode {
        AgentMode::Default => Mode::Default,
        AgentMode::AcceptEdits => Mode::AcceptEdits,
        AgentMode::Plan => Mode::Plan,
        AgentMode::Bypass => Mode::Bypass,
    }
}

/// A new session's id: when it began, to be read, and something that no other session has.
pub(crate) fn new_id() -> String {
    let now = Timestamp::now().strftime("%Y%m%d-%H%M%S");
    // The standard library seeds its hashers at random.
    let random = RandomState::new().build_hasher().finish();
    format!("{now}-{:06x}", random & 0x00ff_ffff)
}

/// The id of the last session of a folder, or the one that was named.
///
/// # Errors
/// There is none.
pub(crate) fn named_or_last(
    id: &str,
    folder: &Path,
    store: &FolderStore,
) -> Result<String, CliError> {
    use tenter_agent::Store as _;
    if id != "last" {
        return Ok(id.to_owned());
    }
    let sessions = store.list().map_err(|error| CliError::bad_input(error.to_string()))?;
    let here = sessions.into_iter().rfind(|session| Path::new(&session.cwd) == folder);
    here.map(|session| session.id).ok_or_else(|| {
        CliError::no_such_file(format!("no session of `{}` was kept", folder.display()))
            .hint("`tenter agent list --all` shows those of other folders")
    })
}
