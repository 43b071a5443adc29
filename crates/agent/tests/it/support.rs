//! A scripted agent with hooks that are functions, and ways to look at what it did.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tenter::{CancellationToken, Engine, Event, EventKind, FunctionHook, Session, Verdict};
use tenter_agent::{
    Agent, AgentBuilder, Answer, EventSink, FolderStore, Human, MemorySink, Mode, Question,
    RulesPolicy, Script, ScriptedProvider, StreamEvent, TurnEnd,
};

/// How long a test waits for what has to happen.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// A world of one test: a project, a store, a script, hooks.
pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) provider: ScriptedProvider,
    pub(crate) sink: Arc<MemorySink>,
    pub(crate) session: Session,
    pub(crate) mode: Mode,
    engine: Engine,
}

/// A hook that notes what it saw and answers.
pub(crate) fn hook(
    kind: EventKind,
    answer: impl Fn(&Event) -> Verdict + Send + Sync + 'static,
) -> FunctionHook {
    FunctionHook::sync(format!("on {kind}"), [kind], answer)
}

/// What hooks saw, in order.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    pub(crate) fn push(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// Hooks that note these events and say nothing.
    pub(crate) fn observers(&self, kinds: &[EventKind]) -> Vec<FunctionHook> {
        let observer = |kind: &EventKind| {
            let seen = self.clone();
            FunctionHook::sync(format!("observe {kind}"), [kind.clone()], move |event| {
                seen.push(event.kind.name());
                Verdict::none()
            })
        };
        kinds.iter().map(observer).collect()
    }
}

impl World {
    pub(crate) fn new(script: &str, hooks: Vec<FunctionHook>) -> Self {
        Self::with_engine(script, Engine::builder().functions(hooks).build())
    }

    pub(crate) fn with_engine(script: &str, engine: Engine) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("project")).unwrap();
        Self {
            folder,
            provider: ScriptedProvider::new(Script::parse(script).unwrap()),
            sink: Arc::default(),
            session: engine.session("s"),
            mode: Mode::Bypass,
            engine,
        }
    }

    pub(crate) fn project(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn builder(&self) -> AgentBuilder {
        let path = std::env::var_os("PATH").unwrap_or_default();
        Agent::builder("s", self.project(), Arc::new(self.provider.clone()))
            .hooks(Arc::new(self.session.clone()))
            .policy(Arc::new(RulesPolicy::new(self.engine.clone(), self.mode)))
            .store(Arc::new(FolderStore::new(self.folder.path().join("state"))))
            .environment([("PATH".into(), path)])
            .sink(Arc::clone(&self.sink) as Arc<dyn EventSink>)
    }

    /// Runs one turn of a new session and ends it.
    pub(crate) async fn run(&self, prompt: &str) -> TurnEnd {
        let mut agent = self.builder().start();
        let end = turn(&mut agent, prompt).await;
        assert_eq!(agent.end("exit", LIMIT).await, 0);
        end
    }

    pub(crate) fn events(&self) -> Vec<StreamEvent> {
        self.sink.events()
    }

    /// The stream as JSON.
    pub(crate) fn stream(&self) -> Vec<Value> {
        self.events().iter().map(|event| serde_json::to_value(event).unwrap()).collect()
    }

    /// The events of one type.
    pub(crate) fn of(&self, kind: &str) -> Vec<Value> {
        self.stream().into_iter().filter(|event| event["type"] == kind).collect()
    }

    /// The hook events of one kind.
    pub(crate) fn hook_events(&self, kind: &str) -> Vec<Value> {
        self.of("hook").into_iter().filter(|event| event["event"] == kind).collect()
    }

    /// The stored session as text.
    pub(crate) fn stored(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("state/s.jsonl")).unwrap_or_default()
    }

    /// Everything that the model was asked, as text.
    pub(crate) fn model_log(&self) -> String {
        format!("{:?}", self.provider.log())
    }
}

/// One turn, which must end in time.
pub(crate) async fn turn(agent: &mut Agent, prompt: &str) -> TurnEnd {
    let cancel = CancellationToken::new();
    tokio::time::timeout(LIMIT, agent.turn(prompt, &cancel)).await.expect("the turn ends in time")
}

/// A human who gives these answers, one after the other.
pub(crate) struct Says {
    answers: Mutex<Vec<Answer>>,
    pub(crate) asked: Mutex<Vec<Question>>,
}

impl Says {
    pub(crate) fn these(answers: &[Answer]) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.to_vec()), asked: Mutex::default() })
    }

    pub(crate) fn questions(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }
}

impl Human for Says {
    fn is_there(&self) -> bool {
        true
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        self.asked.lock().unwrap().push(question.clone());
        let answer = self.answers.lock().unwrap().remove(0);
        Box::pin(std::future::ready(answer))
    }

    fn words<'a>(&'a self, question: &'a str, _: &'a [String]) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::ready(Some(format!("an answer to: {question}"))))
    }
}

/// A script of one answer that calls Bash with these commands, and a last word.
pub(crate) fn bash(commands: &[&str]) -> String {
    let calls: Vec<_> = commands
        .iter()
        .map(|command| {
            format!("[[turn.call]]\ntool = \"Bash\"\ninput = {{ command = {command:?} }}\n")
        })
        .collect();
    let calls = calls.concat();
    format!("[[turn]]\n{calls}\n[[turn]]\ntext = \"done\"\n")
}

/// The command of a call of Bash.
pub(crate) fn command(event: &Event) -> String {
    let call = event.tool_call().unwrap();
    call.input.get("command").unwrap().as_str().unwrap().into_owned()
}

/// A rewrite of top-level keys.
pub(crate) fn patch(json: &str) -> Verdict {
    let fields = tenter::Json::parse(json).unwrap().to_fields().unwrap();
    Verdict::none().with_rewrite(tenter::Rewrite::Patch(fields))
}
