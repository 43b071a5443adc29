//! The machine-readable form of an outcome and of a plan, version 1.
//!
//! Keys are only ever added. The schema of each form stands in [`crate::schemas`].

use serde::Serialize;
use tenter::core::contract::Contract;
use tenter::core::diagnostic::Diagnostic;
use tenter::core::event::Event;
use tenter::core::hook::Hook;
use tenter::core::json::Json;
use tenter::core::outcome::{Failure, HookReport, Message, Outcome, ProcessReport, Recheck, Skip};

/// What `tenter fire --json` writes.
#[derive(Debug, Serialize)]
struct OutcomeForm<'a> {
    version: u32,
    event: &'a str,
    profile: &'a str,
    decision: &'static str,
    halt: bool,
    reason: Option<&'a str>,
    context: &'a [String],
    rewritten: bool,
    payload: Json,
    messages: &'a [Message],
    hooks: Vec<HookForm<'a>>,
    duration_ms: f64,
}

/// One hook of an outcome. What says nothing about a hook that did not run is left out.
#[derive(Debug, Serialize)]
struct HookForm<'a> {
    name: &'a str,
    source: String,
    matcher: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    skip: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'static str>,
    #[serde(flatten)]
    ran: Option<RanForm<'a>>,
}

#[derive(Debug, Serialize)]
struct RanForm<'a> {
    decision: &'static str,
    halt: bool,
    reason: Option<&'a str>,
    rewrite: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    recheck: Option<&'a Recheck>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    detached: bool,
    exit_code: Option<i32>,
    signal: Option<i32>,
    duration_ms: f64,
    #[serde(flatten)]
    process: Option<ProcessForm<'a>>,
    diagnostics: &'a [Diagnostic],
}

#[derive(Debug, Serialize)]
struct ProcessForm<'a> {
    contained_by: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    left: &'a [String],
    stdin: Stream,
    stdout: Stream,
    stderr: Stream,
}

/// What went through a pipe, or how much that was.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Stream {
    Text(String),
    Size(usize),
}

/// An outcome as JSON. With `io` the streams of commands stand in it, else their sizes.
pub(crate) fn outcome(
    event: &Event,
    outcome: &Outcome,
    contract: &Contract,
    profile: &str,
    io: bool,
) -> String {
    let original = || event.rewritable(contract.rewrites).unwrap_or_else(Json::empty_object);
    pretty(&OutcomeForm {
        version: 1,
        event: outcome.kind.name(),
        profile,
        decision: outcome.decision.as_str(),
        halt: outcome.halt,
        reason: outcome.reason.as_deref(),
        context: &outcome.context,
        rewritten: outcome.rewritten.is_some(),
        payload: outcome.rewritten.clone().unwrap_or_else(original),
        messages: &outcome.messages,
        hooks: outcome.hooks.iter().map(|report| hook_form(report, io)).collect(),
        duration_ms: milliseconds(outcome.duration),
    })
}

fn hook_form(report: &HookReport, io: bool) -> HookForm<'_> {
    let Head { name, source, matcher } = head(&report.hook);
    HookForm {
        name,
        source,
        matcher,
        status: report.status.as_str(),
        skip: report.status.skip().map(Skip::as_str),
        failure: report.status.failure().map(Failure::as_str),
        ran: report.status.ran().then(|| ran_form(report, io)),
    }
}

fn ran_form(report: &HookReport, io: bool) -> RanForm<'_> {
    let process = report.process();
    RanForm {
        decision: report.decision.as_str(),
        halt: report.halt,
        reason: report.reason.as_deref(),
        rewrite: report.rewrite,
        recheck: report.recheck(),
        context: report.context(),
        detached: report.detached,
        exit_code: process.and_then(|process| process.exit_code),
        signal: process.and_then(|process| process.signal),
        duration_ms: milliseconds(report.duration),
        process: process.map(|process| process_form(process, io)),
        diagnostics: report.diagnostics(),
    }
}

fn process_form(process: &ProcessReport, io: bool) -> ProcessForm<'_> {
    let stream = |bytes: &[u8]| {
        if io {
            Stream::Text(String::from_utf8_lossy(bytes).into_owned())
        } else {
            Stream::Size(bytes.len())
        }
    };
    ProcessForm {
        contained_by: process.contained_by,
        left: &process.left,
        stdin: stream(process.stdin.as_deref().unwrap_or_default()),
        stdout: stream(&process.stdout),
        stderr: stream(&process.stderr),
    }
}

/// What every form says of a hook first.
pub(crate) struct Head<'a> {
    pub(crate) name: &'a str,
    pub(crate) source: String,
    pub(crate) matcher: &'a str,
}

pub(crate) fn head(hook: &Hook) -> Head<'_> {
    Head { name: &hook.name, source: hook.source.to_string(), matcher: hook.matcher.source() }
}

/// A value as JSON with line breaks, and one at the end.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    // No form has a map with keys that are no texts, so it serialises.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// Milliseconds with the microseconds behind the point.
pub(crate) fn milliseconds(duration: std::time::Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1000.0
}
