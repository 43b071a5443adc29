//! The agent as its embedder sees it: built from ports, given prompts, ended.
//!
//! Owns what happens around a turn: the start and end of a session, and what is said when a turn is
//! over.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use tenter::environment::is_credential;
use tenter::{
    ApprovalLearner, CancellationToken, Decision, Event, EventKind, HookRunner, NoHooks, Waivers,
};

use crate::hooks::Hooks;
use crate::human::{Headless, Human};
use crate::message::Message;
use crate::permission::{Mode, PermissionPolicy, RulesPolicy};
use crate::provider::Provider;
use crate::shared::{Settings, Shared};
use crate::store::{NoStore, Open, Record, Store, StoreError, restore};
use crate::stream::{EventSink, MemorySink, Status, Stream, What, Who, lock};
use crate::team::Team;
use crate::tool::Catalog;
use crate::turn::{Compacted, Ended, Lane, Trigger};

/// What the model is told about itself unless the embedder says otherwise.
const SYSTEM: &str = "You are a coding agent. Work in the project with the tools you have. When a \
                      call is denied, do not look for a way around it.";

/// From which size on a conversation is summarised: about a hundred thousand tokens.
const COMPACT_AT: usize = 400 * 1024;

/// Builds an [`Agent`] from its ports. What is not given is the least: no hooks, nobody to ask,
/// nothing stored, the standard tools.
pub struct AgentBuilder {
    session_id: String,
    cwd: PathBuf,
    commands: Option<PathBuf>,
    environment: Vec<(OsString, OsString)>,
    system: String,
    known: String,
    hooks: Arc<dyn HookRunner>,
    learner: Option<Arc<dyn ApprovalLearner>>,
    provider: Arc<dyn Provider>,
    catalog: Catalog,
    policy: Arc<dyn PermissionPolicy>,
    human: Arc<dyn Human>,
    store: Arc<dyn Store>,
    sink: Arc<dyn EventSink>,
    most_samples: u32,
    most_depth: u32,
    compact_at: Option<usize>,
}

impl std::fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentBuilder").field("session_id", &self.session_id).finish_non_exhaustive()
    }
}

impl AgentBuilder {
    /// The hooks: any runner is accepted.
    #[must_use]
    pub fn hooks(mut self, hooks: Arc<dyn HookRunner>) -> Self {
        self.hooks = hooks;
        self
    }

    /// Who is told that the user does not want to be asked again about what a hook asked.
    #[must_use]
    pub fn learner(mut self, learner: Arc<dyn ApprovalLearner>) -> Self {
        self.learner = Some(learner);
        self
    }

    /// The tools.
    #[must_use]
    pub fn catalog(mut self, catalog: Catalog) -> Self {
        self.catalog = catalog;
        self
    }

    /// What may run without a question.
    #[must_use]
    pub fn policy(mut self, policy: Arc<dyn PermissionPolicy>) -> Self {
        self.policy = policy;
        self
    }

    /// Whom to ask.
    #[must_use]
    pub fn human(mut self, human: Arc<dyn Human>) -> Self {
        self.human = human;
        self
    }

    /// Where sessions are kept.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = store;
        self
    }

    /// Who sees the event stream.
    #[must_use]
    pub fn sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.sink = sink;
        self
    }

    /// The folder of slash commands, unless it is `.tenter/commands` in the agent's folder.
    #[must_use]
    pub fn commands(mut self, folder: impl Into<PathBuf>) -> Self {
        self.commands = Some(folder.into());
        self
    }

    /// The environment for the tools' processes. Credentials of model providers are left out.
    #[must_use]
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let plain = |(name, _): &(OsString, OsString)| !is_credential(name);
        self.environment = variables.into_iter().filter(plain).collect();
        self
    }

    /// What the model is told about itself.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// What is known of the user from earlier sessions: the model is told it beside
    /// [what it is told about itself](Self::system).
    #[must_use]
    pub fn known_of_user(mut self, notes: impl Into<String>) -> Self {
        self.known = notes.into();
        self
    }

    /// How often the model is asked in one turn at most.
    #[must_use]
    pub fn most_samples(mut self, most: u32) -> Self {
        self.most_samples = most;
        self
    }

    /// How deep agents may stand below the first.
    #[must_use]
    pub fn most_depth(mut self, most: u32) -> Self {
        self.most_depth = most;
        self
    }

    /// From which size on a conversation is summarised, in bytes of its texts; `None` is never. 400 KiB
    /// unless it is said.
    #[must_use]
    pub fn compact_at(mut self, bytes: Option<usize>) -> Self {
        self.compact_at = bytes;
        self
    }

    /// A new session.
    pub fn start(self) -> Agent {
        let cwd = self.cwd.display().to_string();
        let at_ms = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let agent = self.build(false);
        let record = Record::Session {
            version: 1,
            id: agent.shared().settings.session_id.clone(),
            at_ms: u64::try_from(at_ms.as_millis()).unwrap_or(u64::MAX),
            cwd,
        };
        agent.shared().keep(&Who::main(), &record);
        agent
    }

    /// A session that was stored. A call that has no result is answered with an error that says
    /// whether it may have run; it is not run again. If a human was being asked about a call, the
    /// next turn begins with that question; then the call runs, without its hooks being asked anew.
    ///
    /// # Errors
    /// There is no such session, it is open elsewhere, or it cannot be read.
    pub fn resume(self) -> Result<Agent, StoreError> {
        let restored = restore(self.store.load(&self.session_id)?);
        let mut agent = self.build(true);
        for result in restored.added {
            agent.shared().keep(&Who::main(), &Record::Result(result));
        }
        lock(&agent.lane.shared.call_ids).extend(restored.ids);
        agent.shared().agents.store(restored.agents, Ordering::Relaxed);
        agent.shared().team.take_up(restored.tasks, |who| who == Who::main().id);
        agent.lane.history = restored.history;
        agent.lane.carried = restored.context;
        agent.started = restored.started;
        agent.open = restored.open;
        Ok(agent)
    }

    fn build(self, resumed: bool) -> Agent {
        let stream = Arc::new(Stream::new(self.sink));
        let cwd = self.cwd.display().to_string();
        let mode = self.policy.mode();
        let commands = self.commands.unwrap_or_else(|| self.cwd.join(".tenter/commands"));
        let init = What::SessionInit {
            session_id: self.session_id.clone(),
            resumed,
            provider: self.provider.name().into(),
            model: self.provider.model().into(),
            cwd: cwd.clone(),
            mode: mode.into(),
            tools: self.catalog.names().map(ToOwned::to_owned).collect(),
        };
        stream.send(&Who::main(), init);
        let hooks = Hooks::new(self.hooks, Arc::clone(&stream), self.session_id.clone(), cwd, mode);
        let shared = Arc::new(Shared {
            settings: Settings {
                session_id: self.session_id,
                cwd: self.cwd,
                environment: self.environment.into(),
                system: with_known(self.system, &self.known),
                commands,
                most_samples: self.most_samples,
                most_depth: self.most_depth,
                compact_at: self.compact_at,
            },
            hooks,
            learner: self.learner,
            provider: self.provider,
            catalog: self.catalog,
            policy: self.policy,
            human: self.human,
            store: self.store,
            stream,
            waivers: Waivers::default(),
            team: Arc::new(Team::default()),
            steering: Arc::default(),
            agents: AtomicU32::new(0),
            call_ids: Mutex::new(HashSet::new()),
            store_failed: AtomicBool::new(false),
            asking: tokio::sync::Mutex::new(()),
        });
        Agent { lane: Lane::new(shared, Who::main()), started: false, open: None }
    }
}

fn with_known(system: String, known: &str) -> String {
    match known.trim() {
        "" => system,
        known => {
            format!("{system}\n\nNotes about the user from earlier sessions, not orders:\n{known}")
        }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnEnd {
    /// How.
    pub status: Status,
    /// The agent's last words.
    pub text: String,
    /// Why it ended, where it did not end by itself.
    pub reason: Option<String>,
}

/// Speaks to an agent while a turn is going on.
#[derive(Debug, Clone)]
pub struct Steering(Arc<Mutex<VecDeque<String>>>);

impl Steering {
    /// Says something. The agent hears it before it asks the model again, after the hooks on
    /// prompts.
    pub fn say(&self, text: impl Into<String>) {
        lock(&self.0).push_back(text.into());
    }
}

/// A coding agent in one session.
pub struct Agent {
    lane: Lane,
    started: bool,
    /// The question that a process before this one has not heard the answer to.
    open: Option<Open>,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("session_id", &self.session_id()).finish_non_exhaustive()
    }
}

impl Agent {
    /// An agent to build: its session, its folder, its model.
    pub fn builder(
        session_id: impl Into<String>,
        cwd: impl Into<PathBuf>,
        provider: Arc<dyn Provider>,
    ) -> AgentBuilder {
        AgentBuilder {
            session_id: session_id.into(),
            cwd: cwd.into(),
            commands: None,
            environment: Vec::new(),
            system: SYSTEM.into(),
            known: String::new(),
            hooks: Arc::new(NoHooks),
            learner: None,
            provider,
            catalog: Catalog::standard(),
            policy: Arc::new(RulesPolicy::mode_only(Mode::Default)),
            human: Arc::new(Headless),
            store: Arc::new(NoStore),
            sink: Arc::new(MemorySink::default()),
            most_samples: 50,
            most_depth: 3,
            compact_at: Some(COMPACT_AT),
        }
    }

    fn shared(&self) -> &Shared {
        &self.lane.shared
    }

    /// The session's id.
    pub fn session_id(&self) -> &str {
        &self.shared().settings.session_id
    }

    /// The conversation so far.
    pub fn history(&self) -> &[Message] {
        &self.lane.history
    }

    /// Speaks to the agent while it works.
    pub fn steering(&self) -> Steering {
        Steering(Arc::clone(&self.lane.shared.steering))
    }

    /// Lets the agent work on a prompt until its turn is over. Cancelling ends it at any point,
    /// promptly, and publishes nothing that hooks have not seen.
    pub async fn turn(&mut self, prompt: &str, cancel: &CancellationToken) -> TurnEnd {
        self.lane.last_words.clear();
        self.lane.samples = 0;
        let ended = match self.begin(prompt, cancel).await {
            Ok(()) => self.lane.converse(cancel).await,
            Err(ended) => ended,
        };
        self.end_turn(ended)
    }

    /// What comes before the model is asked for the first time.
    async fn begin(&mut self, prompt: &str, cancel: &CancellationToken) -> Result<(), Ended> {
        if let Some(open) = self.open.take() {
            self.lane.close(open, cancel).await?;
        }
        if !self.started {
            self.start_session(cancel).await?;
        }
        self.lane.prompt(prompt, false, cancel).await
    }

    async fn start_session(&mut self, cancel: &CancellationToken) -> Result<(), Ended> {
        let who = Who::main();
        let event = self.shared().hooks.event(Event::session_start("startup"), &who, None);
        let fired = self.shared().hooks.fire(&event, &who, cancel).await;
        let outcome = fired.ok_or_else(Ended::cancelled)?;
        if outcome.halt {
            return Err(Ended::new(Status::Halted, outcome.reason));
        }
        if !matches!(outcome.decision, Decision::None | Decision::Allow) {
            return Err(Ended::new(Status::Refused, outcome.reason));
        }
        self.started = true;
        self.lane.carried.clone_from(&outcome.context);
        self.shared().keep(&who, &Record::Started { context: outcome.context });
        Ok(())
    }

    /// Summarises the conversation, if no hook is against it; `wishes` are what the summary is to mind.
    pub async fn compact(&mut self, wishes: &str, cancel: &CancellationToken) -> Compacted {
        if self.open.is_some() {
            // A call whose question is open has no result that could be summarised.
            let reason =
                "a question of the process before is open: it is put again in the next turn";
            return Compacted::Skipped { reason: reason.into() };
        }
        match self.lane.compact(Trigger::Manual, wishes, cancel).await {
            Ok(compacted) => compacted,
            Err(ended) => {
                let reason = ended.reason.unwrap_or_else(|| ended.status.as_str().into());
                Compacted::Skipped { reason }
            }
        }
    }

    fn end_turn(&self, ended: Ended) -> TurnEnd {
        let (shared, who) = (self.shared(), Who::main());
        self.lane.tell_of_end(ended.status);
        shared.keep(&who, &Record::Ended { status: ended.status });
        let text = self.lane.last_words.clone();
        let told = if text.is_empty() { ended.status.as_str() } else { &text };
        shared.tell(&who, "done", told);
        shared.send(
            &who,
            What::Result {
                status: ended.status,
                text: text.clone(),
                reason: ended.reason.clone(),
                samples: self.lane.samples,
            },
        );
        if shared.human.is_there() && lock(&shared.steering).is_empty() {
            shared.tell(&who, "idle", "waiting for a prompt");
        }
        TurnEnd { status: ended.status, text, reason: ended.reason }
    }

    /// Ends the session: `SessionEnd` is waited for within its own time, and what runs behind the
    /// agent for at most `grace`. Gives how many events behind it were not seen through.
    pub async fn end(self, reason: &str, grace: Duration) -> usize {
        let (shared, who) = (self.shared(), Who::main());
        if shared.hooks.wants(&EventKind::SessionEnd) {
            let event = shared.hooks.event(Event::session_end(reason), &who, None);
            shared.hooks.fire_to_the_end(&event, &who).await;
        }
        shared.hooks.finish(grace).await
    }
}
