//! The loaded configuration: built once, shared, swapped as a whole.

use std::ffi::OsString;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, RwLock, Weak};

use tenter_core::contract::Contract;
use tenter_core::diagnostic::Diagnostic;
use tenter_core::event::{Event, EventKind, EventMask};
use tenter_core::hook::{Handler, Hook, Source, merge_duplicates};
use tenter_core::outcome::Outcome;
use tenter_core::plan::Plan;
use tenter_core::profile::Dedupe;
use tenter_core::rules::RuleSet;
use tenter_core::verdict::Decision;
use tenter_hosts::codec::Host;
use tenter_process::Cgroups;

use crate::config::places::{Places as FilePlaces, resolve_links};
use crate::config::self_rules::SelfRules;
use crate::config::{
    self, BrokenExplicit, FileState, LoadError, LoadOptions, Loaded, NamedBy, Owners,
};
use crate::environment::BaseEnvironment;
use crate::fire::{self, Judgement};
use crate::function::{Function, FunctionHook, panic_text};
use crate::record::{Record, Recorder};
use crate::session::{self, Session};
use crate::snapshot::{Parts, Snapshot};
use crate::trust::{ScriptWatch, Scripts, Trust};

/// How many hook processes of one engine run at once, unless the builder says otherwise.
pub const CONCURRENCY: usize = 32;
/// The least that the builder takes.
pub const LEAST_CONCURRENCY: usize = 8;

/// The loaded configuration. Cheap to clone; clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    settings: Settings,
    current: RwLock<Arc<Snapshot>>,
    loaded: RwLock<Arc<Loaded>>,
    sessions: Mutex<Vec<Weak<session::Inner>>>,
    /// Held by a reload from reading to swapping, so that the last one to start wins.
    reloading: Mutex<()>,
    recorder: Option<Arc<dyn Recorder>>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("snapshot", &self.snapshot()).finish_non_exhaustive()
    }
}

/// Which hooks files an engine reads, and how.
#[derive(Debug, Clone)]
pub struct Files {
    /// Where to look.
    pub places: FilePlaces,
    /// Files that stand for those of user, project and private level.
    pub explicit: Vec<PathBuf>,
    /// Whether no other file of these levels counts, even if none is named.
    pub only_explicit: bool,
    /// The value of `TENTER_CONFIG`.
    pub config_variable: Option<OsString>,
    /// What becomes of a named file that is not there or does not parse.
    pub broken_explicit: BrokenExplicit,
    /// Whether the caller vouches for the project.
    pub trust_project: bool,
    /// Who may own which files.
    pub owners: Owners,
    /// The host's own placeholders in commands.
    pub placeholders: Vec<(String, OsString)>,
}

impl Files {
    /// The files that are found from these places, with nobody vouching for anything.
    pub fn new(places: FilePlaces) -> Self {
        Self {
            places,
            explicit: Vec::new(),
            only_explicit: false,
            config_variable: None,
            broken_explicit: BrokenExplicit::Fails,
            trust_project: false,
            owners: Owners::of_this_process(),
            placeholders: Vec::new(),
        }
    }
}

/// There is no host of a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile `{name}`; there are {}", tenter_hosts::names().collect::<Vec<_>>().join(", "))]
pub struct UnknownProfile {
    /// The name.
    pub name: String,
}

/// What stays the same over a reload.
struct Settings {
    host: Host,
    files: Option<Files>,
    hooks: Vec<Hook>,
    functions: Vec<FunctionHook>,
    rules: RuleSet,
    places: FilePlaces,
    environment: Vec<(OsString, OsString)>,
    spill: Option<PathBuf>,
    concurrency: usize,
    cgroups: Option<Cgroups>,
}

/// Builds an [`Engine`]. It needs no file: hooks can be given as values.
pub struct EngineBuilder {
    settings: Settings,
    recorder: Option<Arc<dyn Recorder>>,
}

impl fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineBuilder").finish_non_exhaustive()
    }
}

impl EngineBuilder {
    fn new() -> Self {
        let settings = Settings {
            host: tenter_hosts::native::HOST,
            files: None,
            hooks: Vec::new(),
            functions: Vec::new(),
            rules: RuleSet::new(),
            places: FilePlaces::nowhere(),
            environment: Vec::new(),
            spill: None,
            concurrency: CONCURRENCY,
            cgroups: None,
        };
        Self { settings, recorder: None }
    }

    /// Another host's rules and wire than tenter's own.
    #[must_use]
    pub fn host(mut self, host: Host) -> Self {
        self.settings.host = host;
        self
    }

    /// The rules and wire of a host by its name, such as `crush`.
    ///
    /// # Errors
    /// No host has that name.
    pub fn profile(self, name: &str) -> Result<Self, UnknownProfile> {
        match tenter_hosts::by_name(name) {
            Some(host) => Ok(self.host(*host)),
            None => Err(UnknownProfile { name: name.to_owned() }),
        }
    }

    /// Hooks files: where to look for them, and whom to trust.
    #[must_use]
    pub fn files(mut self, files: Files) -> Self {
        self.settings.places = files.places.clone();
        self.settings.files = Some(files);
        self
    }

    /// One more hook. Hooks given as values count as trusted, and come after those of files with
    /// the same level.
    #[must_use]
    pub fn hook(mut self, hook: Hook) -> Self {
        self.settings.hooks.push(hook);
        self
    }

    /// One more function of this program.
    #[must_use]
    pub fn function(mut self, function: FunctionHook) -> Self {
        self.settings.functions.push(function);
        self
    }

    /// Functions of this program, in order.
    #[must_use]
    pub fn functions(mut self, functions: Vec<FunctionHook>) -> Self {
        self.settings.functions.extend(functions);
        self
    }

    /// Permission rules beside those of files.
    #[must_use]
    pub fn rules(mut self, rules: RuleSet) -> Self {
        self.settings.rules.extend(rules);
        self
    }

    /// The project: where commands start, and where relative patterns begin.
    #[must_use]
    pub fn project(mut self, project: impl Into<PathBuf>) -> Self {
        self.settings.places.project = project.into();
        self.settings.places.cwd.clone_from(&self.settings.places.project);
        self
    }

    /// The environment that hooks get, before credentials are taken out of it. Without this call
    /// it is empty.
    #[must_use]
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        self.settings.environment = variables.into_iter().collect();
        let home = self.settings.environment.iter().find(|(name, _)| name == "HOME");
        if let (Some((_, home)), None) = (home, &self.settings.files) {
            self.settings.places.home = home.into();
        }
        self
    }

    /// A folder for contexts that are too long for the model. Without one they are clipped.
    #[must_use]
    pub fn spill_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.settings.spill = Some(folder.into());
        self
    }

    /// How many hook processes run at once; never fewer than [`LEAST_CONCURRENCY`].
    #[must_use]
    pub fn concurrency(mut self, most: usize) -> Self {
        self.settings.concurrency = most.max(LEAST_CONCURRENCY);
        self
    }

    /// Cgroups for hooks to run in.
    #[must_use]
    pub fn cgroups(mut self, cgroups: Cgroups) -> Self {
        self.settings.cgroups = Some(cgroups);
        self
    }

    /// Keeps every event.
    #[must_use]
    pub fn recorder(mut self, recorder: Arc<dyn Recorder>) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// The engine. What is wrong with hooks files is in [`Engine::loaded`]; where a file that was
    /// named cannot be used, a guard stands for it that denies tool calls and says why.
    pub fn build(mut self) -> Engine {
        match self.settings.load() {
            Ok(loaded) => self.with(loaded),
            Err(error) => {
                let mut loaded = Loaded::default();
                loaded.diagnostics.push(Diagnostic::error("config.load", error.to_string()));
                let broken = Handler::Broken { reason: error.to_string(), mend: None };
                let events = vec![EventKind::PreToolUse];
                self.settings.hooks.push(Hook::new(
                    "configuration",
                    Source::code("files"),
                    events,
                    broken,
                ));
                self.with(loaded)
            }
        }
    }

    /// The engine, if every hooks file that was named can be used.
    ///
    /// # Errors
    /// A file that was named does not exist or does not parse. What is wrong with files that were
    /// merely found is in [`Engine::loaded`].
    pub fn try_build(self) -> Result<Engine, LoadError> {
        let loaded = self.settings.load()?;
        Ok(self.with(loaded))
    }

    fn with(self, loaded: Loaded) -> Engine {
        let snapshot = Arc::new(self.settings.snapshot(1, &loaded));
        Engine {
            inner: Arc::new(Inner {
                settings: self.settings,
                current: RwLock::new(snapshot),
                loaded: RwLock::new(Arc::new(loaded)),
                sessions: Mutex::default(),
                reloading: Mutex::default(),
                recorder: self.recorder,
            }),
        }
    }
}

/// An entry on its way into a snapshot, with what belongs to it.
struct Compiled {
    hook: Arc<Hook>,
    function: Option<Function>,
    scripts: Option<Arc<ScriptWatch>>,
}

impl Compiled {
    fn of(hook: &Hook, function: Option<Function>) -> Self {
        Self { hook: Arc::new(hook.clone()), function, scripts: None }
    }
}

impl Settings {
    fn load(&self) -> Result<Loaded, LoadError> {
        match &self.files {
            Some(files) => {
                let options = LoadOptions {
                    explicit: files.explicit.clone(),
                    only_explicit: files.only_explicit,
                    config_variable: files.config_variable.clone(),
                    broken_explicit: files.broken_explicit,
                    trust_project: files.trust_project,
                    owners: files.owners,
                    host: self.host,
                    variables: &self.environment,
                    placeholders: &files.placeholders,
                };
                let trust = Trust::new(&files.places.state_home, files.owners)
                    .of_host(self.host.profile.name);
                config::load(&files.places, &options, &trust)
            }
            None => Ok(Loaded::default()),
        }
    }

    fn snapshot(&self, generation: u64, loaded: &Loaded) -> Snapshot {
        let contract_of = |kind: &EventKind| -> Contract { *self.host.profile.contract(kind) };
        let files = loaded.hooks.iter().enumerate().map(|(at, hook)| Compiled {
            hook: Arc::clone(hook),
            function: None,
            scripts: loaded.scripts.get(at).cloned(),
        });
        let values = self.hooks.iter().map(|hook| Compiled::of(hook, None));
        let functions = self
            .functions
            .iter()
            .map(|entry| Compiled::of(&entry.hook, Some(entry.function.clone())));
        let mut entries: Vec<Compiled> = files.chain(values).chain(functions).collect();
        // Higher levels first; within a level, in the order in which they were given.
        entries.sort_by_key(|entry| entry.hook.source.level);
        let mut hooks = Vec::with_capacity(entries.len());
        let mut functions = Vec::with_capacity(entries.len());
        let mut watches = Vec::with_capacity(entries.len());
        for entry in entries {
            hooks.push(entry.hook);
            functions.push(entry.function);
            watches.push(entry.scripts);
        }
        if self.host.profile.dedupe == Dedupe::SameWork {
            merge_duplicates(&mut hooks, contract_of);
        }

        let places = self.places.for_rules();
        let mut resolve = |path: &str| resolve_links(path);
        let mut rules = self.rules.clone();
        rules.resolve_bases(&places, &mut resolve);
        rules.extend(loaded.rules.clone());
        for hook in hooks.iter_mut().filter(|hook| hook.source.position.is_none()) {
            // Rules of files are resolved already.
            for rule in &mut Arc::make_mut(hook).condition {
                rule.resolve_bases(&places, &mut resolve);
            }
        }
        Snapshot::new(Parts {
            generation,
            host: self.host,
            hooks,
            functions,
            rules,
            own: self
                .files
                .as_ref()
                .filter(|_| self.host.profile.self_rules)
                .map(|files| SelfRules::new(&files.places, &files.placeholders, loaded)),
            places,
            project: self.places.project.clone(),
            home: self.places.home.clone(),
            placeholders: self
                .files
                .as_ref()
                .map(|files| files.placeholders.clone())
                .unwrap_or_default(),
            environment: BaseEnvironment::new(
                self.environment.clone(),
                loaded.env.clone(),
                self.host.profile.event_variables,
            ),
            scripts: Scripts::new(watches),
            spill: self.spill.clone(),
            concurrency: self.concurrency,
            cgroups: self.cgroups.clone(),
        })
    }
}

/// A file that parsed before and does not any more.
fn newly_broken(now: &Loaded, before: &Loaded) -> Option<LoadError> {
    let broken = |state: &FileState| matches!(state, FileState::Broken | FileState::Untrusted);
    let file = now.files.iter().find(|file| {
        broken(&file.state)
            && before.files.iter().any(|old| old.path == file.path && !broken(&old.state))
    })?;
    let of_file = |diagnostic: &&Diagnostic| {
        diagnostic.position.as_ref().is_some_and(|position| position.file == file.name)
    };
    Some(LoadError::Broken {
        path: file.path.clone(),
        by: NamedBy::Found,
        diagnostics: now.diagnostics.iter().filter(of_file).cloned().collect(),
        text: now.texts.get(&file.name).map(ToString::to_string).unwrap_or_default(),
    })
}

impl Engine {
    /// An engine to build.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::new()
    }

    /// A new agent session.
    pub fn session(&self, id: impl Into<String>) -> Session {
        // Taken first: a reload that happens meanwhile finds the session or has ended before it.
        let mut sessions = match self.inner.sessions.lock() {
            Ok(sessions) => sessions,
            Err(poisoned) => poisoned.into_inner(),
        };
        let session = Session::new(self.clone(), id.into());
        sessions.retain(|session| session.strong_count() > 0);
        sessions.push(Arc::downgrade(session.inner()));
        session
    }

    /// Which hooks would run for an event in a fresh session, and for every other one why not.
    pub fn plan(&self, event: &Event) -> Plan {
        fire::plan(&self.snapshot(), None, event)
    }

    /// What the permission rules alone say about a tool call, and which of them says it; `None` if
    /// none speaks of it, or the event is about no tool call that rules judge.
    pub fn judge(&self, event: &Event) -> Option<Judgement> {
        fire::judgement(&self.snapshot(), event)
    }

    /// What a running event asks first: which hooks are for it. For measurements.
    #[doc(hidden)]
    pub fn selector(&self) -> impl Fn(&Event) -> tenter_core::plan::Selection + use<> {
        let snapshot = self.snapshot();
        move |event| snapshot.select(event, snapshot.contract(&event.kind))
    }

    /// Whether anything could hold up an action of this kind: what to assume of an event that cannot
    /// be read. `None` stands for any kind.
    pub fn has_guard(&self, kind: Option<&EventKind>) -> bool {
        let snapshot = self.snapshot();
        let guards = |kind: &EventKind| {
            let contract = snapshot.contract(kind);
            snapshot.table.has_guard(kind, contract)
                || (fire::is_judged(contract) && !snapshot.rules.is_empty())
        };
        match kind {
            Some(kind) => guards(kind),
            None => EventKind::ALL.iter().any(guards),
        }
    }

    /// All hooks in configuration order.
    pub fn hooks(&self) -> Vec<Arc<Hook>> {
        self.snapshot().table.hooks().to_vec()
    }

    /// The permission rules.
    pub fn rules(&self) -> RuleSet {
        self.snapshot().rules.clone()
    }

    /// The events for which anything is to be done.
    pub fn mask(&self) -> EventMask {
        self.snapshot().mask()
    }

    /// The host's rules that the engine runs by.
    pub fn host(&self) -> Host {
        self.inner.settings.host
    }

    /// What was read from files, with everything that is wrong with it.
    pub fn loaded(&self) -> Arc<Loaded> {
        match self.inner.loaded.read() {
            Ok(loaded) => Arc::clone(&loaded),
            Err(poisoned) => Arc::clone(&poisoned.into_inner()),
        }
    }

    /// Reads the files again and swaps the configuration as a whole. Events that run finish on the
    /// old one; strikes start anew; when the call returns, the masks of live sessions are right.
    ///
    /// # Errors
    /// A named file cannot be used, or a file that worked no longer parses. Then nothing changes.
    pub fn reload(&self) -> Result<Arc<Loaded>, LoadError> {
        let _reloading = match self.inner.reloading.lock() {
            Ok(reloading) => reloading,
            Err(poisoned) => poisoned.into_inner(),
        };
        let loaded = self.inner.settings.load()?;
        if let Some(error) = newly_broken(&loaded, &self.loaded()) {
            return Err(error);
        }
        let loaded = Arc::new(loaded);
        // Sessions are listed under this lock too, so none is made on the old snapshot meanwhile.
        let sessions = match self.inner.sessions.lock() {
            Ok(sessions) => sessions,
            Err(poisoned) => poisoned.into_inner(),
        };
        let generation = self.snapshot().generation + 1;
        let snapshot = Arc::new(self.inner.settings.snapshot(generation, &loaded));
        match self.inner.current.write() {
            Ok(mut current) => *current = Arc::clone(&snapshot),
            Err(poisoned) => *poisoned.into_inner() = Arc::clone(&snapshot),
        }
        match self.inner.loaded.write() {
            Ok(mut slot) => *slot = Arc::clone(&loaded),
            Err(poisoned) => *poisoned.into_inner() = Arc::clone(&loaded),
        }
        for session in sessions.iter().filter_map(Weak::upgrade) {
            session.switch(&snapshot);
        }
        Ok(loaded)
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        match self.inner.current.read() {
            Ok(current) => Arc::clone(&current),
            Err(poisoned) => Arc::clone(&poisoned.into_inner()),
        }
    }

    /// A recorder never changes an event, not even by a panic.
    pub(crate) fn record(&self, event: &Event, outcome: &Outcome) {
        if let Some(recorder) = &self.inner.recorder {
            let record = || {
                recorder.record(Record::of(event, outcome));
                if outcome.halt || outcome.decision == Decision::Deny {
                    recorder.flush();
                }
            };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(record)) {
                drop(panic_text(panic));
            }
        }
    }

    pub(crate) fn flush(&self) {
        if let Some(recorder) = &self.inner.recorder
            && let Err(panic) = catch_unwind(AssertUnwindSafe(|| recorder.flush()))
        {
            drop(panic_text(panic));
        }
    }
}
