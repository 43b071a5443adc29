//! One case: its events one after the other, what came of each against what is expected, and the
//! checks at the end.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tenter::core::diagnostic::Position;
use tenter::hosts::native::config::hooktest::{After, Case, Mismatch, Step, TestFile};
use tenter::hosts::native::input::read_event;
use tenter::{CancellationToken, Engine, Origin, RunContext, Session};
use tenter_process::{Command, Environment, Exit, Leftovers, Limits, Stopped};

use super::find::Loaded;
use super::world::{CaseWorld, NoWorld};
use crate::error::reason;
use crate::event::SESSION;
use crate::outcome;
use crate::render::json;

/// How long a command at the end of a case may take.
const AFTER_LIMIT: Duration = Duration::from_secs(30);
/// How much of a command's output stands in a report, in lines.
const MOST_LINES: usize = 20;

/// What became of a case.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Whether it was ended before it was done; then nothing is known of it.
    pub(crate) interrupted: bool,
    /// Everything that is not as it should be.
    pub(crate) problems: Vec<Problem>,
    /// Hooks that failed in events that did not go as expected.
    pub(crate) failed_hooks: Vec<FailedHook>,
    /// How long it took, with everything.
    pub(crate) duration: Duration,
}

impl Verdict {
    /// Whether all is as it should be.
    pub(crate) fn passed(&self) -> bool {
        !self.interrupted && self.problems.is_empty()
    }

    fn failed(problem: Problem) -> Self {
        Self { problems: vec![problem], ..Self::default() }
    }

    /// A case in which the program itself went wrong.
    pub(super) fn panicked(text: String) -> Self {
        Self::failed(Problem::Bug(text))
    }
}

/// Something that is not as it should be.
#[derive(Debug)]
pub(crate) enum Problem {
    /// An outcome does not match. The number of the step is there where there are several.
    Mismatch { step: Option<usize>, line: usize, mismatch: Mismatch },
    /// It took too long.
    TooSlow { step: Option<usize>, line: usize, most: u64, took: Duration },
    /// A command at the end exited otherwise.
    After { line: usize, command: String, expected: i32, actual: String, output: String },
    /// The case could not be made.
    Setup(String),
    /// The program panicked.
    Bug(String),
}

/// A hook that failed.
#[derive(Debug)]
pub(crate) struct FailedHook {
    pub(crate) step: Option<usize>,
    pub(crate) name: String,
    pub(crate) failure: String,
    pub(crate) reason: String,
    pub(crate) stderr: String,
}

/// Runs a case to its end.
pub(super) async fn run(
    loaded: &Loaded,
    case: &Case,
    path: Option<OsString>,
    cancel: &CancellationToken,
) -> Verdict {
    let begun = Instant::now();
    let mut verdict = match Running::new(loaded, case, path, cancel) {
        Ok(running) => running.brought_to_end(case).await,
        Err(problem) => Verdict::failed(problem),
    };
    verdict.duration = begun.elapsed();
    verdict
}

struct Running<'a> {
    file: &'a TestFile,
    engine: Engine,
    sessions: HashMap<String, Session>,
    cancel: &'a CancellationToken,
    verdict: Verdict,
    /// Last, so that it goes after all that is in it.
    world: CaseWorld,
}

impl Drop for Running<'_> {
    /// However it ends, nothing of the case outlives it.
    fn drop(&mut self) {
        self.world.end();
    }
}

impl<'a> Running<'a> {
    fn new(
        loaded: &'a Loaded,
        case: &Case,
        path: Option<OsString>,
        cancel: &'a CancellationToken,
    ) -> Result<Self, Problem> {
        let file = &loaded.file;
        let world = CaseWorld::new(file, case, path).map_err(no_world)?;
        let project = world.project();
        let first = case.steps.first().and_then(|step| step.event.get("cwd"));
        let cwd = first.and_then(|cwd| cwd.as_str().map(std::borrow::Cow::into_owned));
        let cwd = cwd.map_or_else(|| project.clone(), Into::into);
        let engine = world.engine(file, &loaded.folder, case, &cwd).map_err(no_world)?;
        let verdict = Verdict::default();
        Ok(Self { file, engine, sessions: HashMap::new(), cancel, verdict, world })
    }

    async fn brought_to_end(mut self, case: &Case) -> Verdict {
        let several = case.steps.len() > 1;
        let mut fired = Duration::ZERO;
        for (at, step) in case.steps.iter().enumerate() {
            fired += self.step(step, several.then_some(at + 1)).await;
            if self.cancel.is_cancelled() {
                break;
            }
        }
        if let Some(most) = case.max_ms.filter(|most| fired > Duration::from_millis(*most)) {
            let line = case.position.line;
            self.verdict.problems.push(Problem::TooSlow { step: None, line, most, took: fired });
        }
        for session in self.sessions.values() {
            let grace = if self.cancel.is_cancelled() { Duration::ZERO } else { outcome::GRACE };
            session.finish(grace).await;
        }
        for after in &case.after {
            if !self.cancel.is_cancelled() {
                self.after(after).await;
            }
        }
        self.verdict.interrupted = self.cancel.is_cancelled();
        std::mem::take(&mut self.verdict)
    }

    /// Fires one event and compares what came of it. Gives how long the host would have waited.
    async fn step(&mut self, step: &Step, number: Option<usize>) -> Duration {
        let defaults = Origin {
            session_id: SESSION.into(),
            cwd: self.world.project().to_string_lossy().into_owned(),
            ..Origin::default()
        };
        let line = step.position.line;
        let event = match read_event(step.event.as_text(), None, &defaults) {
            Ok(event) => event,
            Err(error) => {
                self.verdict.problems.push(Problem::Setup(error.to_string()));
                return Duration::ZERO;
            }
        };
        let id = event.origin.session_id.clone();
        let session = self.sessions.entry(id.clone()).or_insert_with(|| self.engine.session(id));
        let cx = RunContext::new().with_cancel(self.cancel.child_token());
        let begun = Instant::now();
        let mut out = session.fire_with(&event, &cx).await;
        let took = begun.elapsed();
        if outcome::has_detached(&out) {
            let finished = tokio::select! {
                finished = session.finish(outcome::GRACE) => finished,
                () = self.cancel.cancelled() => session.finish(Duration::ZERO).await,
            };
            outcome::add_detached(&mut out, finished);
        }
        outcome::add_left_out(&mut out, session, &event);
        if self.cancel.is_cancelled() {
            return took;
        }
        let profile = self.file.host.profile;
        let contract = profile.contract(&event.kind);
        let text = json::outcome(&event, &out, contract, profile.name, true);
        let actual: Value = serde_json::from_str(&text).unwrap_or_default();
        let mut is_right = true;
        for mismatch in step.expect.iter().flat_map(|expect| expect.mismatches(&actual)) {
            is_right = false;
            self.verdict.problems.push(Problem::Mismatch { step: number, line, mismatch });
        }
        if let Some(most) = step.max_ms.filter(|most| took > Duration::from_millis(*most)) {
            is_right = false;
            self.verdict.problems.push(Problem::TooSlow { step: number, line, most, took });
        }
        if !is_right {
            let hooks = actual.get("hooks").and_then(Value::as_array).into_iter().flatten();
            self.verdict.failed_hooks.extend(hooks.filter_map(|hook| failed_hook(hook, number)));
        }
        took
    }

    async fn after(&mut self, after: &After) {
        let mut env = Environment::new();
        for (name, value) in &self.world.variables {
            env.set(name, value);
        }
        let command = Command {
            args: vec!["-c".into(), after.command.clone().into()],
            limits: Limits { timeout: AFTER_LIMIT, ..Limits::default() },
            leftovers: Leftovers::Kill,
            ..Command::new("/bin/sh", self.world.project(), env)
        };
        let (actual, output) = match tenter_process::run(&command, self.cancel).await {
            Ok(ended) => {
                if ended.stopped.is_none() && ended.exit == Exit::Code(after.exit) {
                    return;
                }
                let text = [&*ended.stdout, &*ended.stderr].concat();
                let text = self.world.unplaced(&String::from_utf8_lossy(&text));
                (how_it_ended(ended.stopped, ended.exit), first_lines(&text))
            }
            Err(error) => (format!("it did not start: {error}"), String::new()),
        };
        let Position { line, .. } = after.position;
        let (command, expected) = (after.command.clone(), after.exit);
        self.verdict.problems.push(Problem::After { line, command, expected, actual, output });
    }
}

fn how_it_ended(stopped: Option<Stopped>, exit: Exit) -> String {
    match (stopped, exit) {
        (Some(Stopped::Deadline), _) => {
            format!("it was ended after {} s", AFTER_LIMIT.as_secs())
        }
        (Some(Stopped::OutputLimit { .. }), _) => "it wrote too much".into(),
        (Some(Stopped::Cancelled), _) => "it was interrupted".into(),
        (None, Exit::Code(code)) => format!("exit {code}"),
        (None, Exit::Signal(signal)) => format!("signal {signal}"),
        (None, Exit::Lost) => "it ended in a way that nobody saw".into(),
    }
}

fn no_world(error: NoWorld) -> Problem {
    Problem::Setup(match error {
        NoWorld::Unwritable(path, error) => {
            format!("cannot make `{}`: {}", short(&path), reason(&error))
        }
        NoWorld::Config(error) => error.to_string(),
    })
}

/// The last parts of a path in a folder that will not be there any more.
fn short(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    let start = parts.iter().position(|part| part.starts_with("tenter-case-"));
    parts.get(start.map_or(0, |at| at + 1)..).unwrap_or_default().join("/")
}

fn failed_hook(hook: &Value, step: Option<usize>) -> Option<FailedHook> {
    let text = |key: &str| hook.get(key).and_then(Value::as_str).unwrap_or_default();
    if !matches!(text("status"), "failed" | "timeout") {
        return None;
    }
    Some(FailedHook {
        step,
        name: text("name").to_owned(),
        failure: text("failure").to_owned(),
        reason: text("reason").to_owned(),
        stderr: first_lines(text("stderr")),
    })
}

fn first_lines(text: &str) -> String {
    let mut lines: Vec<_> = text.trim_end().lines().take(MOST_LINES + 1).collect();
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        lines.push("…");
    }
    lines.join("\n")
}
