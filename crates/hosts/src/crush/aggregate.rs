//! What all hooks of one call came to, in the shapes that Crush and its user interface know.
//!
//! Made from an [`Outcome`]; nothing is decided here.

use serde::Serialize;
use tenter_core::json::{Fields, Json};
use tenter_core::outcome::{HookReport, Outcome, Status};
use tenter_core::verdict::{Decision, Rewrite, Verdict};

/// The combined outcome of all hooks of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AggregateResult {
    /// What is to become of the call.
    pub decision: Decision,
    /// Whether any hook ended the turn.
    pub halt: bool,
    /// The number of hooks that ran, failed ones included.
    pub hook_count: usize,
    /// Each of them, in configuration order.
    pub hooks: Vec<HookInfo>,
    /// The reasons of denials and halts, one a line.
    pub reason: String,
    /// The contexts of all hooks, one after the other on lines of their own.
    pub context: String,
    /// The whole input with all patches, as JSON; empty if it stays as it was.
    pub updated_input: String,
}

/// One hook that ran, for a user interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookInfo {
    /// Its name.
    pub name: String,
    /// Its matcher; empty if it is for every tool.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub matcher: String,
    /// `none`, `allow`, `ask` or `deny`.
    pub decision: &'static str,
    /// Whether it ended the turn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub halt: bool,
    /// Its reason; of a failure, what went wrong.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Whether the input is another because of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub input_rewrite: bool,
    /// `failed`, `timeout` or `cancelled`; empty if it ran well.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub status: &'static str,
}

/// What stands in the metadata of a tool's result, so that a user interface can show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookMetadata {
    /// The number of hooks that ran.
    pub hook_count: usize,
    /// What became of the call.
    pub decision: &'static str,
    /// Whether the turn ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub halt: bool,
    /// Why.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Whether the tool ran with another input than the model gave.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub input_rewrite: bool,
    /// Each hook that ran.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookInfo>,
}

/// What one hook said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookResult {
    /// What is to become of the call.
    pub decision: Decision,
    /// Whether the turn ends.
    pub halt: bool,
    /// Why it denies or halts.
    pub reason: String,
    /// What the model is told.
    pub context: String,
    /// The patch of the input, as JSON; empty if there is none.
    pub updated_input: String,
}

impl From<&Verdict> for HookResult {
    fn from(verdict: &Verdict) -> Self {
        let updated_input = match verdict.rewrite() {
            None => String::new(),
            Some(Rewrite::Patch(patch)) => patch.to_json().to_string(),
            Some(Rewrite::Replace(json)) => json.to_string(),
        };
        Self {
            decision: verdict.decision,
            halt: verdict.halt,
            reason: verdict.reason.as_deref().unwrap_or_default().to_owned(),
            context: verdict.context().unwrap_or_default().to_owned(),
            updated_input,
        }
    }
}

impl HookInfo {
    fn of(report: &HookReport) -> Self {
        let matcher = &report.hook.matcher;
        Self {
            name: report.hook.name.clone(),
            matcher: if matcher.is_all() { String::new() } else { matcher.source().to_owned() },
            decision: report.decision.as_str(),
            halt: report.halt,
            reason: report.reason.as_deref().unwrap_or_default().to_owned(),
            input_rewrite: report.rewrite,
            status: if report.status == Status::Ok { "" } else { report.status.as_str() },
        }
    }
}

impl AggregateResult {
    /// What an outcome says.
    pub fn of(outcome: &Outcome) -> Self {
        let ran = outcome.hooks.iter().filter(|report| report.status.ran());
        let hooks: Vec<_> = ran.map(HookInfo::of).collect();
        let holds_up = outcome.decision.restricts() || outcome.halt;
        let reason = outcome.reason.clone().filter(|_| holds_up).unwrap_or_default();
        Self {
            decision: outcome.decision,
            halt: outcome.halt,
            hook_count: hooks.len(),
            hooks,
            reason,
            context: outcome.context.join("\n"),
            updated_input: outcome.rewritten.as_ref().map(ToString::to_string).unwrap_or_default(),
        }
    }

    /// The part of it for a user interface.
    pub fn metadata(&self) -> HookMetadata {
        HookMetadata {
            hook_count: self.hook_count,
            decision: self.decision.as_str(),
            halt: self.halt,
            reason: self.reason.clone(),
            input_rewrite: !self.updated_input.is_empty(),
            hooks: self.hooks.clone(),
        }
    }
}

impl HookMetadata {
    /// The metadata of a tool's result with this beside what the tool put there, under `hook`. Where
    /// no hook ran, and where the tool's own is no object, it stays as it was.
    pub fn beside(&self, existing: &str) -> String {
        let fields = match existing.trim() {
            "" => Some(Fields::new()),
            text => Fields::parse(text).ok(),
        };
        match fields {
            Some(mut fields) if self.hook_count > 0 => {
                fields.set("hook", Json::from_serialize(self));
                fields.to_json().to_string()
            }
            _ => existing.to_owned(),
        }
    }
}
