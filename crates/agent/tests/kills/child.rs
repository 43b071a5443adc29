//! The agent that dies: its ports are the real ones, with a place to die before and after each.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tenter::config::Places;
use tenter::{CancellationToken, Engine, EventKind, Files, FunctionHook, Verdict};
use tenter_agent::{
    Agent, Bash, Catalog, EventSink, FolderStore, Mode, Record, RulesPolicy, Script,
    ScriptedProvider, Store, StoreError, StreamEvent, Summary, Tool, ToolContext, ToolOutput,
    ToolSpec,
};

/// The variables that make a test the agent: its world, what it does there, and where it dies.
pub(crate) const FOLDER: &str = "TENTER_KILLS_FOLDER";
pub(crate) const STAGE: &str = "TENTER_KILLS_STAGE";
pub(crate) const AT: &str = "TENTER_KILLS_AT";

const SCRIPT: &str = include_str!("script.toml");

/// Counts the points that are passed, and dies at one of them.
struct Points {
    at: String,
    passed: Mutex<(File, Vec<String>)>,
}

impl Points {
    fn pass(&self, kind: &str) {
        if self.comes(kind) {
            die();
        }
    }

    /// Whether this is the point to die at.
    fn comes(&self, kind: &str) -> bool {
        let mut passed = self.passed.lock().unwrap();
        let number = passed.1.iter().filter(|one| *one == kind).count();
        passed.1.push(kind.to_owned());
        writeln!(passed.0, "{kind}").unwrap();
        self.at == format!("{kind}:{number}")
    }
}

fn die() -> ! {
    let own = rustix::process::getpid();
    rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
    unreachable!("a process does not survive that signal");
}

/// A store that dies around, or in the middle of, a write.
struct Deadly {
    store: FolderStore,
    file: PathBuf,
    points: Arc<Points>,
}

impl Store for Deadly {
    fn append(&self, session: &str, record: &Record) -> Result<(), StoreError> {
        self.points.pass("before-write");
        if self.points.comes("in-write") {
            let line = serde_json::to_vec(record).unwrap();
            if let Ok(mut file) = OpenOptions::new().append(true).open(&self.file) {
                file.write_all(&line[..line.len() / 2]).unwrap();
            }
            die();
        }
        let done = self.store.append(session, record);
        self.points.pass("after-write");
        done
    }

    fn load(&self, session: &str) -> Result<Vec<Record>, StoreError> {
        self.store.load(session)
    }

    fn list(&self) -> Result<Vec<Summary>, StoreError> {
        self.store.list()
    }
}

/// A tool that dies before it starts anything, or when that is over.
struct DeadlyBash(Arc<Points>);

impl Tool for DeadlyBash {
    fn spec(&self) -> ToolSpec {
        Bash.spec()
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            self.0.pass("before-tool");
            let output = Bash.run(input, cx).await;
            self.0.pass("after-tool");
            output
        })
    }
}

/// Writes down what is shown, as it is shown.
struct Shown(Mutex<File>);

impl EventSink for Shown {
    fn take(&self, event: StreamEvent) {
        let mut line = serde_json::to_vec(&event).unwrap();
        line.push(b'\n');
        self.0.lock().unwrap().write_all(&line).unwrap();
    }
}

fn appended(path: &Path) -> File {
    OpenOptions::new().append(true).create(true).open(path).unwrap()
}

/// The hooks: a function, and a process that counts its starts and may kill who started it.
fn engine(folder: &Path, function: FunctionHook) -> Engine {
    let hooks = folder.join("hooks.toml");
    std::fs::write(&hooks, include_str!("hooks.toml")).unwrap();
    let (home, project) = (folder.join("home"), folder.join("project"));
    let places = Places {
        config_home: home.join("config"),
        state_home: home.join("state"),
        managed: home.join("managed"),
        home,
        cwd: project.clone(),
        project,
    };
    let files = Files { explicit: vec![hooks], ..Files::new(places) };
    let variables = ["PATH", FOLDER, AT];
    let variables = variables.map(|name| (name.into(), std::env::var_os(name).unwrap_or_default()));
    Engine::builder().files(files).environment(variables).function(function).try_build().unwrap()
}

/// Works on one prompt in the world of this folder.
pub(crate) fn run(folder: &Path) {
    let at = std::env::var(AT).unwrap_or_default();
    let passed = Mutex::new((appended(&folder.join("points")), Vec::new()));
    let points = Arc::new(Points { at, passed });
    let kinds = [EventKind::PreToolUse, EventKind::PostToolUse, EventKind::UserPromptSubmit];
    let in_hook = Arc::clone(&points);
    let hook = FunctionHook::sync("dies", kinds, move |_| {
        in_hook.pass("in-hook");
        Verdict::none()
    });
    let engine = engine(folder, hook);
    let session = engine.session("s");
    let store = Deadly {
        store: FolderStore::new(folder.join("state")),
        file: folder.join("state/s.jsonl"),
        points: Arc::clone(&points),
    };
    let mut catalog = Catalog::standard();
    catalog.put(Arc::new(DeadlyBash(points)));
    let resumes = std::env::var(STAGE).is_ok_and(|stage| stage == "resume");
    let script = if resumes { "[[turn]]\ntext = \"going on\"\n" } else { SCRIPT };
    let provider = ScriptedProvider::new(Script::parse(script).unwrap());
    let builder = Agent::builder("s", folder.join("project"), Arc::new(provider))
        .hooks(Arc::new(session))
        .policy(Arc::new(RulesPolicy::new(engine, Mode::Bypass)))
        .catalog(catalog)
        .store(Arc::new(store))
        .environment([("PATH".into(), std::env::var_os("PATH").unwrap_or_default())])
        .sink(Arc::new(Shown(Mutex::new(appended(&folder.join("stream"))))));
    let work = async move {
        let mut agent = if resumes { builder.resume().unwrap() } else { builder.start() };
        agent.turn("Work.", &CancellationToken::new()).await;
        agent.end("other", Duration::from_secs(5)).await;
    };
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
}
