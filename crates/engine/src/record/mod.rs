//! What is kept of events: one record each, with one entry for every hook.
//!
//! A recorder never changes an event: a failure to record is its own to report.

mod json_lines;
mod memory;

pub use json_lines::JsonLines;
pub use memory::Memory;

use std::time::SystemTime;

use serde::Serialize;
use sha2::{Digest, Sha256};
use tenter_core::event::{Event, Payload};
use tenter_core::outcome::{Failure, Outcome, Skip};

/// Keeps what happened.
pub trait Recorder: Send + Sync {
    /// Keeps one event. It must be quick: the host waits.
    fn record(&self, record: Record);

    /// Makes sure that what was recorded is not lost with the process.
    fn flush(&self) {}
}

/// What is kept of one event.
///
/// No payload stands here, only its digest: what a hook was shown or has changed may be a secret.
#[derive(Debug, Clone, Serialize)]
pub struct Record {
    /// The form of the record.
    pub version: u32,
    /// When the outcome was there, in milliseconds since 1970.
    pub at_ms: u64,
    /// The event.
    pub event: String,
    /// The host.
    pub host: String,
    /// The session.
    pub session_id: String,
    /// The subagent, if one acted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The tool call, if the event is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The tool, if the event is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// SHA-256 of the payload as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_sha256: Option<String>,
    /// SHA-256 of the payload that the host was told to use, if that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rewritten_sha256: Option<String>,
    /// The final decision.
    pub decision: &'static str,
    /// Whether the turn was ended.
    pub halt: bool,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long it took.
    pub duration_ms: f64,
    /// Every hook of the event, in configuration order.
    pub hooks: Vec<HookRecord>,
}

/// What is kept of one hook.
#[derive(Debug, Clone, Serialize)]
pub struct HookRecord {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub status: &'static str,
    /// Why it did not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip: Option<&'static str>,
    /// How it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<&'static str>,
    /// What it decided.
    pub decision: &'static str,
    /// Whether its rewrite was applied.
    pub rewrite: bool,
    /// Its exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: f64,
}

impl Record {
    /// The record of an event and its outcome, as of now.
    pub fn of(event: &Event, outcome: &Outcome) -> Self {
        let origin = &event.origin;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self {
            version: 1,
            at_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            event: event.kind.name().to_owned(),
            host: if origin.host.is_empty() { "tenter".to_owned() } else { origin.host.clone() },
            session_id: origin.session_id.clone(),
            agent_id: origin.agent.as_ref().and_then(|agent| agent.id.clone()),
            call_id: origin.call_id.clone(),
            tool: event.tool_name().map(str::to_owned),
            payload_sha256: payload_text(event).map(sha256),
            rewritten_sha256: outcome.rewritten.as_ref().map(|payload| sha256(payload.as_text())),
            decision: outcome.decision.as_str(),
            halt: outcome.halt,
            reason: outcome.reason.clone(),
            duration_ms: outcome.duration.as_secs_f64() * 1000.0,
            hooks: outcome
                .hooks
                .iter()
                .map(|report| HookRecord {
                    name: report.hook.name.clone(),
                    status: report.status.as_str(),
                    skip: report.status.skip().map(Skip::as_str),
                    failure: report.status.failure().map(Failure::as_str),
                    decision: report.decision.as_str(),
                    rewrite: report.rewrite,
                    exit_code: report.process().and_then(|process| process.exit_code),
                    duration_ms: report.duration.as_secs_f64() * 1000.0,
                })
                .collect(),
        }
    }
}

fn payload_text(event: &Event) -> Option<&str> {
    match &event.payload {
        Payload::Tool(call) => Some(call.input.as_text()),
        Payload::ToolResult { response, .. } => Some(response.as_text()),
        Payload::Prompt(prompt) => Some(prompt),
        Payload::Stop(_) | Payload::Open => None,
    }
}

/// The SHA-256 of a text, in hexadecimal digits.
pub(crate) fn sha256(text: &str) -> String {
    use std::fmt::Write as _;
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(text) {
        // Writing into a text does not fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
