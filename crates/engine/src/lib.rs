//! tenter is a hook engine for coding agents: it runs the hooks that observe, stop, or rewrite what
//! an agent does, the same way for every agent.
//!
//! An [`Engine`] is a loaded configuration, a [`Session`] what lives with one agent session. A host
//! fires an [`Event`] and acts on the [`Outcome`]:
//!
//! ```
//! use tenter::{Decision, Engine, Event, EventKind, FunctionHook, Verdict};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let engine = Engine::builder()
//!     .function(FunctionHook::sync("no-rm", [EventKind::PreToolUse], |event| {
//!         match event.tool_call() {
//!             Some(call) if call.input.as_text().contains("rm -rf") => Verdict::deny("not here"),
//!             _ => Verdict::none(),
//!         }
//!     }))
//!     .build();
//! let session = engine.session("session-1");
//!
//! let input = serde_json::json!({ "command": "rm -rf build" });
//! let outcome = session.fire(&Event::pre_tool("Bash", input.into())).await;
//! assert_eq!(outcome.decision, Decision::Deny);
//! assert_eq!(outcome.reason.as_deref(), Some("not here"));
//! # });
//! ```
//!
//! Hooks that are processes need a tokio runtime with time and I/O enabled; functions that answer
//! at once need none.

#![forbid(unsafe_code)]

pub mod config;
mod detached;
mod engine;
pub mod environment;
mod fire;
mod function;
pub mod guardrail;
mod handlers;
mod mask;
pub mod record;
mod runner;
mod session;
mod snapshot;
mod spill;
mod stops;
pub mod trust;
mod typed;
mod waivers;

pub use tenter_core as core;
pub use tenter_hosts as hosts;

pub use detached::{Finished, NotificationDrain};
pub use engine::{CONCURRENCY, Engine, EngineBuilder, Files, LEAST_CONCURRENCY, UnknownProfile};
pub use fire::Judgement;
pub use function::{FunctionHook, FunctionHooks, FunctionHooksBuilder, ResultView, ToolView};
pub use guardrail::{CheckFailure, CheckRequest, Checker, Guardrail, GuardrailRules};
pub use mask::LiveMask;
pub use runner::{ApprovalLearner, HookRunner, NoHooks, RunContext};
pub use session::{Session, SessionMemory};
pub use tenter_core::{
    Approval, Contract, Decision, Diagnostic, Event, EventKind, EventMask, Fields, Hook,
    HookReport, Json, Level, Message, OnFailure, Origin, Outcome, Plan, Profile, Rewrite, Rule,
    RuleSet, Skip, Status, Verdict,
};
pub use tenter_process::{Cgroups, become_subreaper};
pub use tokio_util::sync::CancellationToken;
pub use typed::{PostToolOutcome, PreToolOutcome, PromptOutcome, StopOutcome};
pub use waivers::Waivers;
