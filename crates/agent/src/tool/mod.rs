//! The port to tools, and the catalog of those that an agent has.
//!
//! Owns what a tool is and how it is found. What it needs of the agent comes in its context: no tool
//! knows the loop, and none asks for permission itself.

mod ask_user;
mod bash;
mod delegate;
mod files;
mod schema;
mod search;
pub(crate) mod team;

pub use ask_user::AskUser;
pub use bash::Bash;
pub use delegate::{Branches, Subagent};
pub use files::{Edit, Read, Write};
pub use schema::{InvalidInput, validate};
pub use search::{Glob, Grep};
pub use team::{SendMessage, TaskAdd, TaskClaim, TaskComplete, TeamRun};

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tenter::CancellationToken;

use crate::human::Human;
use crate::provider::ToolSpec;
use crate::stream::Who;
use crate::team::Team;

/// What a tool gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// The text for the model.
    pub content: String,
    /// Whether it is an error.
    pub is_error: bool,
}

impl ToolOutput {
    /// It worked.
    pub fn ok(content: impl Into<String>) -> Self {
        Self { content: content.into(), is_error: false }
    }

    /// It did not.
    pub fn error(content: impl Into<String>) -> Self {
        Self { content: content.into(), is_error: true }
    }
}

/// What another agent is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delegation {
    /// What it is told.
    pub prompt: String,
    /// Its kind.
    pub kind: String,
    /// Its id, where it has one already.
    pub id: Option<String>,
}

/// Starts agents below the one that calls a tool. They have the same hooks.
pub trait Delegate: Send + Sync {
    /// Lets another agent do something and gives its last words.
    fn delegate(&self, task: Delegation, cancel: CancellationToken) -> BoxFuture<'_, ToolOutput>;

    /// Lets the members of a team work until all of them are idle.
    fn run_team(
        &self,
        members: Vec<Delegation>,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, ToolOutput>;

    /// Asks the hooks whether a task may be created or completed; `Err` is why not.
    fn task_gate(
        &self,
        completed: bool,
        task: Value,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<(), String>>;

    /// A task is another now: a session that is kept keeps it.
    fn task_changed(&self, _id: &str) {}
}

/// What a call of a tool happens in.
#[derive(Clone)]
pub struct ToolContext {
    /// The agent's folder.
    pub cwd: PathBuf,
    /// The environment for processes.
    pub environment: Arc<[(OsString, OsString)]>,
    /// Ends the call.
    pub cancel: CancellationToken,
    /// Who calls.
    pub who: Who,
    /// Whom to ask.
    pub human: Arc<dyn Human>,
    /// Starts other agents.
    pub delegate: Arc<dyn Delegate>,
    /// The tasks and messages of the session's team.
    pub team: Arc<Team>,
}

impl ToolContext {
    /// A path as the model gives it, made absolute.
    pub fn path(&self, given: &str) -> PathBuf {
        self.cwd.join(given)
    }

    /// A path as it is shown.
    pub fn shown<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.cwd).unwrap_or(path).display()
    }
}

impl std::fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolContext").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

/// A tool of an agent.
pub trait Tool: Send + Sync {
    /// What the model is told about it.
    fn spec(&self) -> ToolSpec;

    /// Whether it changes nothing, so that several calls may run at once and need no question.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Whether it changes files and nothing else.
    fn edits_files(&self) -> bool {
        false
    }

    /// Runs a call. The input is valid by the tool's schema. Dropping the future ends the call.
    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput>;
}

/// A tool with what is said about it, asked once.
#[derive(Clone)]
struct Entry {
    spec: ToolSpec,
    tool: Arc<dyn Tool>,
}

/// The tools of an agent, in the order in which the model is told of them.
#[derive(Clone, Default)]
pub struct Catalog {
    entries: Vec<Entry>,
}

impl std::fmt::Debug for Catalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Catalog {
    /// No tools.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The tools that come with the agent.
    pub fn standard() -> Self {
        let mut catalog = Self::empty();
        let tools: [Arc<dyn Tool>; 14] = [
            Arc::new(Bash),
            Arc::new(Read),
            Arc::new(Write),
            Arc::new(Edit),
            Arc::new(Glob),
            Arc::new(Grep),
            Arc::new(AskUser),
            Arc::new(Subagent),
            Arc::new(Branches),
            Arc::new(TeamRun),
            Arc::new(TaskAdd),
            Arc::new(TaskClaim),
            Arc::new(TaskComplete),
            Arc::new(SendMessage),
        ];
        for tool in tools {
            catalog.put(tool);
        }
        catalog
    }

    /// Adds a tool; one of the same name is replaced in its place.
    pub fn put(&mut self, tool: Arc<dyn Tool>) -> &mut Self {
        let entry = Entry { spec: tool.spec(), tool };
        match self.entries.iter_mut().find(|old| old.spec.name == entry.spec.name) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
        self
    }

    /// Takes a tool out; `false` if there is none of that name.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.spec.name != name);
        self.entries.len() < before
    }

    /// A tool by its name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        Some(&self.entries.iter().find(|entry| entry.spec.name == name)?.tool)
    }

    /// What the model is told about a tool.
    pub fn spec(&self, name: &str) -> Option<&ToolSpec> {
        Some(&self.entries.iter().find(|entry| entry.spec.name == name)?.spec)
    }

    /// What the model is told about all of them.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.entries.iter().map(|entry| entry.spec.clone()).collect()
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.spec.name.as_str())
    }
}

/// The text at a key of an input that its schema has let through.
pub(crate) fn text<'a>(input: &'a Value, key: &str) -> &'a str {
    input.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The schema of an object whose keys are texts: name, whether it must be there, and what it is.
pub(crate) fn texts(keys: &[(&str, bool, &str)]) -> Value {
    let properties: serde_json::Map<_, _> = keys
        .iter()
        .map(|(name, _, doc)| {
            ((*name).to_owned(), serde_json::json!({ "type": "string", "description": doc }))
        })
        .collect();
    let required: Vec<_> = keys.iter().filter(|key| key.1).map(|key| key.0).collect();
    serde_json::json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

pub(crate) fn spec(name: &str, description: &str, schema: Value) -> ToolSpec {
    ToolSpec { name: name.into(), description: description.into(), schema }
}
