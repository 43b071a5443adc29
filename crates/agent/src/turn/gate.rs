//! The gate before a tool: schema, rules, hooks, schema again, rules again, a human.
//!
//! Owns the one decision whether a call runs, and with which input. The place of the rules beside
//! the hooks is the policy's.

use std::borrow::Cow;

use serde_json::Value;
use tenter::core::profile::Permission;
use tenter::{CancellationToken, Decision, Event, EventKind, Json, Level, Outcome};

use crate::hooks::summary;
use crate::message::ToolCall;
use crate::permission::{PolicyCall, Ruling};
use crate::store::OpenQuestion;
use crate::stream::{HookSummary, What};
use crate::tool::validate;
use crate::turn::Lane;
use crate::turn::ask::{Asked, Doubt, Heard};

/// What the gate says about a call.
pub(super) enum Gate {
    /// It runs.
    Runs(Pass),
    /// It does not.
    Refused(Refusal),
    /// The turn was cancelled meanwhile.
    Cancelled,
}

/// A call that runs.
pub(super) struct Pass {
    pub(super) input: Json,
    pub(super) context: Vec<String>,
    pub(super) hook: Option<HookSummary>,
}

/// A call that does not run.
pub(super) struct Refusal {
    pub(super) input: Json,
    /// What the model is told.
    pub(super) content: String,
    /// Whether somebody said no, and it was not just wrong.
    pub(super) denied: bool,
    /// Why the turn ends, if it does.
    pub(super) halt: Option<String>,
    pub(super) hook: Option<HookSummary>,
}

fn wrong(input: Json, content: String) -> Gate {
    Gate::Refused(Refusal { input, content, denied: false, halt: None, hook: None })
}

fn halted(input: Json, reason: String, hook: Option<HookSummary>) -> Gate {
    let content = format!("permission denied: {reason}");
    Gate::Refused(Refusal { input, content, denied: true, halt: Some(reason), hook })
}

/// The highest level of a hook that allows.
pub(super) fn allowed_by(outcome: &Outcome) -> Option<Level> {
    let allows = outcome.hooks.iter().filter(|report| {
        report.decision == Decision::Allow
            || report.recheck().is_some_and(|again| again.decision == Decision::Allow)
    });
    allows.map(|report| report.hook.source.level).min()
}

/// The highest level of a hook that asks; `None` if it is a rule alone.
pub(super) fn asked_by(outcome: &Outcome) -> Option<Level> {
    let asks = outcome.hooks.iter().filter(|report| {
        report.decision == Decision::Ask
            || report.status.failure().is_some()
            || report.recheck().is_some_and(|again| again.decision == Decision::Ask)
    });
    asks.map(|report| report.hook.source.level).min()
}

impl Lane {
    /// Decides about a call.
    pub(super) async fn gate(&self, call: &ToolCall, cancel: &CancellationToken) -> Gate {
        let (id, tool, input) = (call.id.clone(), call.name.clone(), call.input.clone());
        self.shared.send(&self.who, What::ToolCall { call_id: id, tool, input });
        let Some(spec) = self.shared.catalog.spec(&call.name) else {
            let names: Vec<_> = self.shared.catalog.names().collect();
            let text = format!("there is no tool `{}`; there are {}", call.name, names.join(", "));
            return wrong(call.input.clone(), text);
        };
        // What no tool would take is not worth a hook's time, and cannot run.
        if let Err(error) = validate(&call.input.to_value(), &spec.schema) {
            return wrong(call.input.clone(), format!("the input is not valid: {error}"));
        }

        let position = self.shared.policy.position();
        let mut answered = false;
        let mut call = Cow::Borrowed(call);
        if position.denies_first() {
            match self.judge(&call, &call.input) {
                Ruling::Deny { reason } => return self.denied(&call, &call.input, &reason, None),
                Ruling::Ask { reason, answered_by } if position == Permission::BeforeHooks => {
                    let doubts = vec![Doubt::of_policy(reason, answered_by)];
                    let input = call.input.clone();
                    match self.ask(&call, input, doubts, Heard::NotYet, cancel).await {
                        Asked::Yes(input) => {
                            answered = true;
                            call.to_mut().input = input;
                        }
                        Asked::No(reason) => {
                            return self.denied(&call, &call.input, &reason, None);
                        }
                        Asked::Halted(reason) => return halted(call.input.clone(), reason, None),
                        Asked::Cancelled => return Gate::Cancelled,
                    }
                }
                Ruling::Ask { .. } | Ruling::Allow => {}
            }
        }

        let event = self.pre_tool(&call, call.input.clone());
        let Some(outcome) = self.shared.hooks.fire(&event, &self.who, cancel).await else {
            return Gate::Cancelled;
        };
        self.after_hooks(&call, outcome, position, answered, cancel).await
    }

    /// Puts a question again that a process before this one has not heard the answer to. The hooks
    /// have had their say then; what the policy forbids by now stays forbidden.
    pub(super) async fn gate_again(
        &self,
        call: &ToolCall,
        open: OpenQuestion,
        cancel: &CancellationToken,
    ) -> Gate {
        let (id, tool, input) = (call.id.clone(), call.name.clone(), call.input.clone());
        self.shared.send(&self.who, What::ToolCall { call_id: id, tool, input });
        let Some(spec) = self.shared.catalog.spec(&call.name) else {
            return wrong(call.input.clone(), format!("there is no tool `{}` any more", call.name));
        };
        if let Err(error) = validate(&call.input.to_value(), &spec.schema) {
            return wrong(call.input.clone(), format!("the input is not valid: {error}"));
        }
        if let Ruling::Deny { reason } = self.judge(call, &call.input) {
            return self.denied(call, &call.input, &reason, None);
        }
        let OpenQuestion { reason, by_hook, by_policy, context, .. } = open;
        let doubt = Doubt { reason, by_hook, by_policy, answered_by: None };
        let heard = Heard::Context(&context);
        match self.ask_human(call, call.input.clone(), doubt, heard, cancel).await {
            Asked::Yes(input) => Gate::Runs(Pass { input, context, hook: None }),
            Asked::No(reason) => self.denied(call, &call.input, &reason, None),
            Asked::Halted(reason) => halted(call.input.clone(), reason, None),
            Asked::Cancelled => Gate::Cancelled,
        }
    }

    async fn after_hooks(
        &self,
        call: &ToolCall,
        outcome: Outcome,
        position: Permission,
        answered: bool,
        cancel: &CancellationToken,
    ) -> Gate {
        let hook = summary(&outcome);
        let reason = outcome.reason.clone().unwrap_or_else(|| "a hook gave no reason".into());
        if outcome.halt {
            return halted(call.input.clone(), reason, hook);
        }
        if matches!(outcome.decision, Decision::Deny | Decision::Defer) {
            return self.denied(call, &call.input, &reason, hook);
        }
        let mut input = outcome.rewritten.clone().unwrap_or_else(|| call.input.clone());
        if outcome.rewritten.is_some()
            && let Err(why) = self.still_valid(call, &input)
        {
            return self.denied(call, &call.input, &why, hook);
        }

        let ruling =
            if position.judges_rewrites() { self.judge(call, &input) } else { Ruling::Allow };
        let mut doubts = Vec::new();
        if outcome.decision == Decision::Ask {
            if let Some(level) = asked_by(&outcome) {
                doubts.push(Doubt::of_hook(reason, level));
            } else if !answered && !matches!(ruling, Ruling::Ask { .. }) {
                // A rule that the engine knows and the policy does not: nobody knows its level here.
                doubts.push(Doubt::of_policy(reason, None));
            }
        }
        match ruling {
            Ruling::Deny { reason } => return self.denied(call, &input, &reason, hook),
            Ruling::Ask { reason, answered_by } => {
                let allows = outcome.decision == Decision::Allow;
                let by = allowed_by(&outcome).filter(|_| allows);
                let is_answered =
                    answered_by.zip(by).is_some_and(|(of, by)| position.answers(by, of));
                if !is_answered {
                    doubts.push(Doubt::of_policy(reason, answered_by));
                }
            }
            Ruling::Allow => {}
        }
        if !doubts.is_empty() {
            let heard = Heard::Context(&outcome.context);
            match self.ask(call, input.clone(), doubts, heard, cancel).await {
                Asked::Yes(allowed) => input = allowed,
                Asked::No(reason) => return self.denied(call, &input, &reason, hook),
                Asked::Halted(reason) => return halted(input, reason, hook),
                Asked::Cancelled => return Gate::Cancelled,
            }
        }
        Gate::Runs(Pass { input, context: outcome.context, hook })
    }

    pub(super) fn pre_tool(&self, call: &ToolCall, input: Json) -> Event {
        let event = Event::pre_tool(&*call.name, input);
        self.shared.hooks.event(event, &self.who, Some(&call.id))
    }

    pub(super) fn judge(&self, call: &ToolCall, input: &Json) -> Ruling {
        let event = self.pre_tool(call, input.clone());
        let tool = self.shared.catalog.get(&call.name);
        self.shared.policy.judge(&PolicyCall {
            event: &event,
            read_only: tool.is_some_and(|tool| tool.is_read_only()),
            edits_files: tool.is_some_and(|tool| tool.edits_files()),
        })
    }

    pub(super) fn still_valid(&self, call: &ToolCall, input: &Json) -> Result<(), String> {
        let schema = self.shared.catalog.spec(&call.name).map_or(&Value::Null, |spec| &spec.schema);
        validate(&input.to_value(), schema).map_err(|error| {
            format!("a hook made an input of this call that is not valid: {error}")
        })
    }

    /// A denial, with the event for it.
    fn denied(
        &self,
        call: &ToolCall,
        input: &Json,
        reason: &str,
        hook: Option<HookSummary>,
    ) -> Gate {
        let event = || {
            Event::new(EventKind::PermissionDenied, self.pre_tool(call, input.clone()).payload)
                .with_field("reason", Json::string(reason))
        };
        let kind = EventKind::PermissionDenied;
        self.shared.hooks.notify(event, &kind, &self.who, Some(&call.id));
        Gate::Refused(Refusal {
            input: input.clone(),
            content: format!("permission denied: {reason}"),
            denied: true,
            halt: None,
            hook,
        })
    }
}
