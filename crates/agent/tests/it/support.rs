//! A scripted agent with hooks that are functions, and ways to look at what it did.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tenter::core::event::ResultPair;
use tenter::record::{Memory, Record};
use tenter::{
    CancellationToken, Engine, EngineBuilder, Event, EventKind, FunctionHook, Json, Outcome,
    RuleSet, Session, Verdict,
};
use tenter_agent::{
    Agent, AgentBuilder, Answer, EventSink, FolderStore, Human, MemorySink, Message, Mode,
    Question, RulesPolicy, Script, ScriptedProvider, StreamEvent, ToolResult, TurnEnd,
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
    /// What the engine has recorded.
    pub(crate) record: Arc<Memory>,
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
        Self::with_engine(script, Engine::builder().functions(hooks))
    }

    /// A world by the rules of another host.
    pub(crate) fn on_host(
        host: &str,
        script: &str,
        hooks: Vec<FunctionHook>,
        rules: RuleSet,
    ) -> Self {
        let builder = Engine::builder().profile(host).unwrap();
        Self::with_engine(script, builder.functions(hooks).rules(rules).project("/tmp"))
    }

    pub(crate) fn with_engine(script: &str, engine: EngineBuilder) -> Self {
        let record = Arc::new(Memory::new(1000));
        let engine =
            engine.recorder(Arc::clone(&record) as Arc<dyn tenter::record::Recorder>).build();
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("project")).unwrap();
        Self {
            folder,
            provider: ScriptedProvider::new(Script::parse(script).unwrap()),
            sink: Arc::default(),
            session: engine.session("s"),
            mode: Mode::Bypass,
            record,
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

    /// This text stands nowhere: not on the stream, in the history, in the record, in the stored
    /// session or in what the model was asked.
    pub(crate) fn assert_nowhere(&self, agent: &Agent, secret: &str) {
        for (place, text) in [
            ("the stream", serde_json::to_string(&self.stream()).unwrap()),
            ("the history", format!("{:?}", agent.history())),
            ("the record", serde_json::to_string(&self.record.records()).unwrap()),
            ("the stored session", self.stored()),
            ("the model's log", self.model_log()),
        ] {
            assert!(!text.contains(secret), "{secret} stands in {place}: {text}");
        }
    }

    /// The results of Bash of this agent are these on the stream and in what the model was asked next;
    /// where hooks made them, the record says so by their digests. For the main agent also in the
    /// history and in the stored session.
    pub(crate) fn assert_results(&self, agent: &Agent, of: &str, effective: &[ResultPair]) {
        let pair = |result: &Value| ResultPair {
            content: result["content"].as_str().unwrap().to_owned(),
            is_error: result["is_error"].as_bool().unwrap(),
        };
        let streamed = self.of("tool.result");
        let streamed =
            streamed.iter().filter(|one| one["agent"]["id"] == of && one["tool"] == "Bash");
        assert_eq!(streamed.map(pair).collect::<Vec<_>>(), effective, "the stream of {of}");

        let told = self.provider.log().into_iter().rfind(|request| request.agent.id == of).unwrap();
        assert_eq!(of_bash(&told.messages), effective, "what the model of {of} was told");

        let digests: Vec<_> = effective.iter().map(digest_of).collect();
        let recorded: Vec<_> = self.record.records();
        let is_mine = |one: &&Record| {
            one.event.starts_with("PostToolUse")
                && one.tool.as_deref() == Some("Bash")
                && one.agent_id.as_deref().unwrap_or("main") == of
        };
        let recorded: Vec<_> = recorded
            .iter()
            .filter(is_mine)
            .map(|one| one.rewritten_sha256.clone().or_else(|| one.payload_sha256.clone()))
            .collect();
        assert_eq!(recorded, digests, "the record of {of}");

        if of == "main" {
            assert_eq!(of_bash(agent.history()), effective, "the history");
            let kept: Vec<_> = self
                .stored()
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).unwrap())
                .filter(|record| record["result"]["tool"] == "Bash")
                .map(|record| pair(&record["result"]))
                .collect();
            assert_eq!(kept, effective, "the stored session");
        }
    }

    /// Everything that the model was asked, as text.
    pub(crate) fn model_log(&self) -> String {
        format!("{:?}", self.provider.log())
    }
}

fn of_bash(messages: &[Message]) -> Vec<ResultPair> {
    let of_bash = results(messages).into_iter().filter(|one| one.tool == "Bash");
    of_bash.map(|one| ResultPair { content: one.content, is_error: one.is_error }).collect()
}

/// What the record says of a payload that is this result.
fn digest_of(result: &ResultPair) -> Option<String> {
    let event = Event::post_tool("Bash", Json::empty_object(), result.to_json());
    Record::of(&event, &Outcome::proceed(EventKind::PostToolUse)).payload_sha256
}

/// The results in a conversation, in order.
pub(crate) fn results(messages: &[Message]) -> Vec<ToolResult> {
    let of = |message: &Message| match message {
        Message::Results(results) => results.clone(),
        _ => Vec::new(),
    };
    messages.iter().flat_map(of).collect()
}

/// A hook that takes what looks like the secret out of every result of Bash.
pub(crate) fn redactor() -> FunctionHook {
    let kinds = [EventKind::PostToolUse, EventKind::PostToolUseFailure];
    FunctionHook::sync("redact", kinds, |event| match &event.payload {
        tenter::core::event::Payload::ToolResult { call, response, .. }
            if call.name == "Bash" && response.as_text().contains("SECRET") =>
        {
            patch(r#"{"content":"redacted"}"#)
        }
        _ => Verdict::none(),
    })
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

/// A human who is asked and never answers.
#[derive(Default)]
pub(crate) struct Silent(pub(crate) tokio::sync::Notify);

impl Human for Silent {
    fn is_there(&self) -> bool {
        true
    }

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        self.0.notify_one();
        Box::pin(std::future::pending())
    }

    fn words<'a>(&'a self, _: &'a str, _: &'a [String]) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::pending())
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
