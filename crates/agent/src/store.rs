//! Sessions on disk: append-only JSON lines, one file a session, for its owner's eyes alone.
//!
//! Owns what is kept and how it is read back. Everything here is effective: no input or result from
//! before the hooks ever reaches it. One record is one write, so a killed process leaves at most one
//! torn line at the end, which readers leave out.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tenter::Json;

use crate::message::{Message, ToolCall, ToolResult};
use crate::stream::{Status, lock};
use crate::team::Task;
use crate::turn::summarised;

/// How long the process before may take to let go of a session's file.
const LETS_GO: Duration = Duration::from_millis(250);

/// What is kept of a session, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The head of the file.
    Session {
        /// The form of the file.
        version: u32,
        /// The session's id.
        id: String,
        /// When it began, in milliseconds since 1970.
        at_ms: u64,
        /// The agent's folder.
        cwd: String,
    },
    /// `SessionStart` has been fired and let the session begin.
    Started {
        /// What hooks told the model, one entry a hook.
        context: Vec<String>,
    },
    /// Words of the user, or of a hook that sent the turn on.
    User {
        /// The effective text.
        text: String,
        /// What hooks told the model beside it.
        context: Vec<String>,
    },
    /// Words of the model, and which calls it made; their inputs follow as they are decided.
    Assistant {
        /// The text.
        text: String,
        /// Ids and tools of the calls.
        calls: Vec<(String, String)>,
    },
    /// A call was decided about.
    Call {
        /// The call.
        id: String,
        /// The effective input.
        input: Json,
        /// Whether the tool is started now.
        runs: bool,
    },
    /// A human is asked whether a call may run, after the hooks have had their say about it.
    Asked(OpenQuestion),
    /// What the model is given for a call.
    Result(ToolResult),
    /// All but the last messages became a summary.
    Compacted {
        /// The summary.
        summary: String,
        /// How many messages at the end stayed.
        kept: usize,
    },
    /// An agent below was started: how many there have been.
    Agents {
        /// The number.
        started: u32,
    },
    /// A task of the team, as it is now.
    Task(Task),
    /// A turn ended.
    Ended {
        /// How.
        status: Status,
    },
}

/// A question as it was put to a human.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// The call.
    pub id: String,
    /// The effective input.
    pub input: Json,
    /// Why it is asked.
    pub reason: String,
    /// Whether a hook asks.
    pub by_hook: bool,
    /// Whether the policy asks, and then whether the user's "always" counts for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_policy: Option<bool>,
    /// What hooks tell the model if the call runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
}

/// Why a session cannot be kept or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is none of that id.
    #[error("there is no session `{id}`")]
    Missing {
        /// The id.
        id: String,
    },
    /// It is open elsewhere.
    #[error("the session `{id}` is open in another process")]
    Busy {
        /// The id.
        id: String,
    },
    /// A line of it is no record.
    #[error("{}:{line}:{column}: the session is damaged: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in bytes.
        column: usize,
        /// What is wrong.
        why: String,
    },
    /// The system said no.
    #[error("`{}` cannot be used: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// What a list of sessions shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The id.
    pub id: String,
    /// When it began, in milliseconds since 1970.
    pub at_ms: u64,
    /// The agent's folder.
    pub cwd: String,
    /// How many turns have ended.
    pub turns: usize,
    /// The first prompt.
    pub first_prompt: Option<String>,
    /// What is wrong with it, where it cannot be gone on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
}

/// Keeps sessions.
pub trait Store: Send + Sync {
    /// Adds to a session; its first record makes it.
    ///
    /// # Errors
    /// It cannot be written.
    fn append(&self, session: &str, record: &Record) -> Result<(), StoreError>;

    /// Everything that was kept of a session.
    ///
    /// # Errors
    /// It is not there, is open elsewhere, or cannot be read.
    fn load(&self, session: &str) -> Result<Vec<Record>, StoreError>;

    /// What is there, the oldest first.
    ///
    /// # Errors
    /// The folder cannot be read.
    fn list(&self) -> Result<Vec<Summary>, StoreError>;
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoStore;

impl Store for NoStore {
    fn append(&self, _: &str, _: &Record) -> Result<(), StoreError> {
        Ok(())
    }

    fn load(&self, session: &str) -> Result<Vec<Record>, StoreError> {
        Err(StoreError::Missing { id: session.into() })
    }

    fn list(&self) -> Result<Vec<Summary>, StoreError> {
        Ok(Vec::new())
    }
}

/// Keeps each session in a file of a folder.
#[derive(Debug)]
pub struct FolderStore {
    folder: PathBuf,
    /// The files that this process writes; each is locked against others.
    open: Mutex<HashMap<String, File>>,
}

impl FolderStore {
    /// A store in this folder. It is made when the first session is.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), open: Mutex::default() }
    }

    fn path(&self, session: &str) -> PathBuf {
        self.folder.join(session).with_extension("jsonl")
    }

    /// Opens and locks a session's file for writing at its end.
    fn opened(&self, session: &str, new: bool) -> Result<File, StoreError> {
        let path = self.path(session);
        let about = |error| StoreError::Io { path: path.clone(), error };
        if new {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(about)?;
        }
        let mut options = OpenOptions::new();
        let opened = options.append(true).read(true).create(new).mode(0o600).open(&path);
        let mut file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => StoreError::Missing { id: session.into() },
            _ => about(error),
        })?;
        if !locked(&file) {
            return Err(StoreError::Busy { id: session.into() });
        }
        // A torn line stays where it is; what follows begins on a line of its own.
        let whole = fs::read(&path).map_err(about)?;
        if !whole.is_empty() && whole.last() != Some(&b'\n') {
            file.write_all(b"\n").map_err(about)?;
        }
        Ok(file)
    }
}

/// Locks a file. A process that was killed while it started another lets go of it a moment later.
fn locked(file: &File) -> bool {
    let until = Instant::now() + LETS_GO;
    loop {
        if file.try_lock().is_ok() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

impl Drop for FolderStore {
    /// A process that is being started holds a copy of every file until it runs its program, so
    /// closing alone would not let go of the lock at once.
    fn drop(&mut self) {
        for file in lock(&self.open).values() {
            drop(file.unlock());
        }
    }
}

/// Whether an id can be the name of a file.
fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.len() <= 100 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// The records of a file. A line that does not parse is a torn one if nothing of its own follows it:
/// only the last record before a process began anew can be torn.
fn read(path: &Path) -> Result<Vec<Record>, StoreError> {
    let bytes = fs::read(path).map_err(|error| StoreError::Io { path: path.into(), error })?;
    let text = String::from_utf8_lossy(&bytes);
    let mut records = Vec::new();
    for (at, line) in text.lines().enumerate() {
        match serde_json::from_str(line) {
            Ok(record) => records.push(record),
            // What was torn is the start of a record: it is cut off, not wrong inside.
            Err(error) if error.is_eof() => {}
            Err(error) => {
                let column = error.column().max(1);
                let why = error.to_string();
                let why = why.split(" at line ").next().unwrap_or_default().to_owned();
                return Err(StoreError::Damaged { path: path.into(), line: at + 1, column, why });
            }
        }
    }
    if !matches!(records.first(), None | Some(Record::Session { .. })) {
        let why = "it does not begin with a session".into();
        return Err(StoreError::Damaged { path: path.into(), line: 1, column: 1, why });
    }
    Ok(records)
}

impl Store for FolderStore {
    fn append(&self, session: &str, record: &Record) -> Result<(), StoreError> {
        let path = self.path(session);
        let mut open = lock(&self.open);
        if !open.contains_key(session) {
            let new = matches!(record, Record::Session { .. });
            open.insert(session.into(), self.opened(session, new)?);
        }
        let mut line = serde_json::to_vec(record).unwrap_or_default();
        line.push(b'\n');
        let Some(file) = open.get_mut(session) else { return Ok(()) };
        if let Err(error) = file.write_all(&line) {
            // A part of it may stand there: what follows is not to be glued to it. Opening the file
            // again sees to that, when there is room again.
            drop(open.remove(session).map(|file| file.unlock()));
            return Err(StoreError::Io { path, error });
        }
        Ok(())
    }

    fn load(&self, session: &str) -> Result<Vec<Record>, StoreError> {
        if !is_plain(session) {
            return Err(StoreError::Missing { id: session.into() });
        }
        let mut open = lock(&self.open);
        if !open.contains_key(session) {
            open.insert(session.into(), self.opened(session, false)?);
        }
        drop(open);
        read(&self.path(session))
    }

    fn list(&self) -> Result<Vec<Summary>, StoreError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::Io { path: self.folder.clone(), error }),
        };
        let paths = entries.flatten().map(|entry| entry.path());
        let mut found: Vec<_> = paths
            .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
            // One damaged file does not hide the others, nor itself.
            .filter_map(|path| match read(&path) {
                Ok(records) => summary(&records),
                Err(error) => Some(damaged(&path, &error)),
            })
            .collect();
        found.sort_by(|a, b| (a.at_ms, &a.id).cmp(&(b.at_ms, &b.id)));
        Ok(found)
    }
}

/// What can be told of a session that cannot be read.
fn damaged(path: &Path, error: &StoreError) -> Summary {
    let changed = fs::metadata(path).and_then(|found| found.modified()).ok();
    let at = changed.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    Summary {
        id: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        at_ms: at.and_then(|at| u64::try_from(at.as_millis()).ok()).unwrap_or(0),
        cwd: String::new(),
        turns: 0,
        first_prompt: None,
        damaged: Some(error.to_string()),
    }
}

fn summary(records: &[Record]) -> Option<Summary> {
    let Some(Record::Session { id, at_ms, cwd, .. }) = records.first() else { return None };
    let first_prompt = records.iter().find_map(|record| match record {
        Record::User { text, .. } => Some(text.clone()),
        _ => None,
    });
    let turns = records.iter().filter(|record| matches!(record, Record::Ended { .. })).count();
    let (id, cwd) = (id.clone(), cwd.clone());
    Some(Summary { id, at_ms: *at_ms, cwd, turns, first_prompt, damaged: None })
}

/// A session as it stood when it was last written.
#[derive(Debug, Default)]
pub(crate) struct Restored {
    pub(crate) history: Vec<Message>,
    pub(crate) started: bool,
    /// What hooks told the model when the session began, if no prompt has carried it yet.
    pub(crate) context: Vec<String>,
    /// The results of calls that had none: they belong into the file as well.
    pub(crate) added: Vec<ToolResult>,
    pub(crate) ids: Vec<String>,
    /// How many agents below have been started.
    pub(crate) agents: u32,
    /// The team's tasks.
    pub(crate) tasks: Vec<Task>,
    /// The question whose answer nobody has heard. The last answer of the model then has no results
    /// in the history yet.
    pub(crate) open: Option<Open>,
}

/// The calls of one answer, of which one waits for a human.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) call: ToolCall,
    pub(crate) question: OpenQuestion,
    /// The other calls with their results.
    pub(crate) siblings: Vec<(ToolCall, ToolResult)>,
    /// How many of them come before it.
    pub(crate) before: usize,
}

/// What is known of each call, whatever the order of the records.
#[derive(Default)]
struct Known {
    inputs: HashMap<String, (Json, bool)>,
    results: HashMap<String, ToolResult>,
    /// The last question, unless its call has gone on since.
    question: Option<OpenQuestion>,
}

impl Known {
    fn of(records: &[Record]) -> Self {
        let mut known = Self::default();
        for record in records {
            let gone_on = match record {
                Record::Call { id, input, runs } => {
                    let ran = known.inputs.get(id).is_some_and(|(_, ran)| *ran);
                    known.inputs.insert(id.clone(), (input.clone(), ran || *runs));
                    id
                }
                Record::Result(result) => {
                    known.results.insert(result.call_id.clone(), result.clone());
                    &result.call_id
                }
                Record::Asked(question) => {
                    known.question = Some(question.clone());
                    continue;
                }
                _ => continue,
            };
            known.question.take_if(|question| question.id == *gone_on);
        }
        known
    }

    /// A call with its result; whether the result had to be made up.
    fn closed(&mut self, id: String, name: String) -> (ToolCall, ToolResult, bool) {
        let (input, ran) = self.inputs.remove(&id).unwrap_or_else(|| (Json::empty_object(), false));
        let kept = self.results.remove(&id);
        let is_new = kept.is_none();
        let result = kept.unwrap_or_else(|| {
            let content = if ran {
                "the session ended while this call was running: it may have done its work, in part \
                 or whole, and was not run again"
            } else {
                "aborted: the session ended before this call ran, and it was not run"
            };
            ToolResult {
                call_id: id.clone(),
                tool: name.clone(),
                content: content.into(),
                is_error: true,
                context: Vec::new(),
            }
        });
        (ToolCall { id, name, input }, result, is_new)
    }
}

/// Puts a conversation together again. A call without a result is answered here: it is never run
/// again, and the model is told whether it may have run. The one that waits for a human stays open.
pub(crate) fn restore(records: Vec<Record>) -> Restored {
    let mut restored = Restored::default();
    let mut known = Known::of(&records);
    for record in records {
        match record {
            Record::Started { context } => {
                restored.started = true;
                restored.context = context;
            }
            Record::User { text, context } => {
                restored.context.clear();
                restored.history.push(Message::User { text, context });
            }
            Record::Assistant { text, calls } => restored.answer(text, calls, &mut known),
            Record::Agents { started } => restored.agents = started,
            Record::Task(task) => match restored.tasks.iter_mut().find(|it| it.id == task.id) {
                Some(known) => *known = task,
                None => restored.tasks.push(task),
            },
            Record::Compacted { summary, kept } => {
                summarised(&mut restored.history, &summary, kept);
            }
            _ => {}
        }
    }
    restored
}

impl Restored {
    fn answer(&mut self, text: String, calls: Vec<(String, String)>, known: &mut Known) {
        let mut open = None;
        let mut closed = Vec::new();
        for (id, name) in calls {
            self.ids.push(id.clone());
            if let Some(question) = known.question.take_if(|question| question.id == id) {
                let call = ToolCall { id, name, input: question.input.clone() };
                open = Some((call, question, closed.len()));
                continue;
            }
            let (call, result, is_new) = known.closed(id, name);
            if is_new {
                self.added.push(result.clone());
            }
            closed.push((call, result));
        }
        let mut calls: Vec<_> = closed.iter().map(|(call, _)| call.clone()).collect();
        let has_calls = !calls.is_empty();
        if let Some((call, question, before)) = open {
            calls.insert(before, call.clone());
            self.open = Some(Open { call, question, siblings: closed, before });
            self.history.push(Message::Assistant { text, calls });
            return;
        }
        self.history.push(Message::Assistant { text, calls });
        if has_calls {
            let results = closed.into_iter().map(|(_, result)| result).collect();
            self.history.push(Message::Results(results));
        }
    }
}

#[cfg(test)]
mod tests;
