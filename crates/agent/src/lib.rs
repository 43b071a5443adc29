//! A small real coding agent that runs on tenter's hook engine.
//!
//! It shows what a host's loop around the hooks has to guarantee, and lets people try hooks end to
//! end. Everything around it is a port: the model ([`Provider`]), the tools ([`Tool`], [`Catalog`]),
//! what may run ([`PermissionPolicy`]), whom to ask ([`Human`]), where sessions are kept ([`Store`]),
//! who watches ([`EventSink`]), and the hooks (any [`HookRunner`](tenter::HookRunner)).
//!
//! ```
//! use std::sync::Arc;
//! use tenter::{CancellationToken, FunctionHooks, Verdict};
//! use tenter_agent::{Agent, Mode, RulesPolicy, Script, ScriptedProvider, Status};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let script = Script::parse(r#"
//!     [[turn]]
//!     text = "I look around."
//!     [[turn.call]]
//!     tool = "Bash"
//!     input = { command = "ls" }
//!
//!     [[turn]]
//!     text = "I may not."
//! "#).unwrap();
//! let hooks = FunctionHooks::builder()
//!     .on_pre_tool(|view| match view.tool {
//!         "Bash" => Verdict::deny("no shell in this session"),
//!         _ => Verdict::none(),
//!     })
//!     .build();
//! let mut agent = Agent::builder("session-1", "/tmp", Arc::new(ScriptedProvider::new(script)))
//!     .hooks(Arc::new(hooks))
//!     .policy(Arc::new(RulesPolicy::mode_only(Mode::Bypass)))
//!     .start();
//! let end = agent.turn("What is here?", &CancellationToken::new()).await;
//! assert_eq!((end.status, end.text.as_str()), (Status::Complete, "I may not."));
//! # });
//! ```
//!
//! # What it holds to
//!
//! - A result is published once the hooks have seen it: the event stream, the history, the stored
//!   session and the model get the same text. Cancelling publishes nothing that they have not seen.
//! - Reading calls run side by side, changing ones one after the other; results stand in the order
//!   of the calls.
//! - What hooks make of an input is checked against the tool's schema and judged by the rules.
//! - Questions come one after the other. One that is open when the process ends is put again in a
//!   resumed session; no call runs twice.
//! - An "always" is for the very call of the same agent in the same session. It is stored nowhere, and
//!   lifts no block, no failure and no rule above the user.
//! - Agents below an agent have its hooks.
//! - It needs a tokio runtime with time and I/O. It starts processes through `tenter-process` alone,
//!   and has no terminal.

#![forbid(unsafe_code)]

mod agent;
mod checker;
mod command;
mod hooks;
mod human;
mod memory;
mod message;
mod permission;
mod provider;
mod reviewer;
mod shared;
mod store;
mod stream;
mod team;
mod tool;
mod turn;

pub use agent::{Agent, AgentBuilder, Steering, TurnEnd};
pub use checker::ModelChecker;
pub use human::{Answer, Headless, Human, Question};
pub use memory::{FileMemory, MOST_NOTE, MOST_NOTES, Memory, MemoryError};
pub use message::{Message, ToolCall, ToolResult, reminder};
pub use permission::{Mode, PermissionPolicy, PolicyCall, RulesPolicy, Ruling};
#[cfg(feature = "net")]
pub use provider::{
    Anthropic, ApiKey, NetProvider, NetProviderBuilder, Network, OpenAi, SseEvent, SseParser,
    TooLong,
};
pub use provider::{
    Delta, Provider, ProviderError, Request, Script, ScriptError, ScriptedProvider, ToolSpec,
};
pub use reviewer::{Reviews, UserModelReviewer};
pub use store::{FolderStore, NoStore, OpenQuestion, Record, Store, StoreError, Summary};
pub use stream::{
    AnsweredBy, AskedBy, Effect, EventSink, HookNote, HookSummary, MemorySink, Status, StreamEvent,
    Verdict, What, Who,
};
pub use team::{Task, Team};
pub use tool::{
    AskUser, Bash, Branches, Catalog, Delegate, Delegation, Edit, Glob, Grep, InvalidInput, Read,
    SendMessage, Subagent, TaskAdd, TaskClaim, TaskComplete, TeamRun, Tool, ToolContext,
    ToolOutput, Write, validate,
};
pub use turn::Compacted;
