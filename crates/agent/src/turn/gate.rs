//! The gate before a tool: schema, rules, hooks, schema again, rules again, a human.
//!
//! Owns the one decision whether a call runs, and with which input. The place of the rules beside
//! the hooks is the policy's.

use serde_json::Value;
use tenter::core::profile::Permission;
use tenter::{CancellationToken, Decision, Event, EventKind, Json, Level, Outcome};

use crate::hooks::summary;
use crate::human::{Answer, Question};
use crate::message::ToolCall;
use crate::permission::{PolicyCall, Ruling};
use crate::stream::{AnsweredBy, AskedBy, HookSummary, Verdict, What};
use crate::tool::validate;
use crate::turn::Lane;

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

/// Why somebody has to be asked.
struct Doubt {
    reason: String,
    asked_by: AskedBy,
    /// Whether an earlier "always" of the user counts.
    waivable: bool,
}

enum Asked {
    Yes(Json),
    No(String),
    Cancelled,
}

fn wrong(input: Json, content: String) -> Gate {
    Gate::Refused(Refusal { input, content, denied: false, halt: None, hook: None })
}

/// The highest level of a hook that allows.
fn allowed_by(outcome: &Outcome) -> Option<Level> {
    let allows = outcome.hooks.iter().filter(|report| {
        report.decision == Decision::Allow
            || report.recheck().is_some_and(|again| again.decision == Decision::Allow)
    });
    allows.map(|report| report.hook.source.level).min()
}

/// Whether a hook, not a rule alone, asks.
fn hooks_ask(outcome: &Outcome) -> bool {
    outcome.hooks.iter().any(|report| {
        report.decision == Decision::Ask
            || report.status.failure().is_some()
            || report.recheck().is_some_and(|again| again.decision == Decision::Ask)
    })
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
        if position.denies_first() {
            match self.judge(call, &call.input) {
                Ruling::Deny { reason } => return self.denied(call, &call.input, &reason, None),
                Ruling::Ask { reason, answered_by } if position == Permission::BeforeHooks => {
                    let doubt = Doubt {
                        reason,
                        asked_by: AskedBy::Permission,
                        waivable: is_waivable(answered_by),
                    };
                    match self.ask(call, call.input.clone(), doubt, cancel).await {
                        Asked::Yes(_) => answered = true,
                        Asked::No(reason) => {
                            return self.denied(call, &call.input, &reason, None);
                        }
                        Asked::Cancelled => return Gate::Cancelled,
                    }
                }
                Ruling::Ask { .. } | Ruling::Allow => {}
            }
        }

        let event = self.pre_tool(call, call.input.clone());
        let Some(outcome) = self.shared.hooks.fire(&event, &self.who, cancel).await else {
            return Gate::Cancelled;
        };
        self.after_hooks(call, outcome, position, answered, cancel).await
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
            return Gate::Refused(Refusal {
                input: call.input.clone(),
                content: format!("permission denied: {reason}"),
                denied: true,
                halt: Some(reason),
                hook,
            });
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
        let hooks_ask = hooks_ask(&outcome);
        let mut doubts = Vec::new();
        if outcome.decision == Decision::Ask && (hooks_ask || !answered) {
            let asked_by = if hooks_ask { AskedBy::Hook } else { AskedBy::Permission };
            doubts.push(Doubt { reason, asked_by, waivable: true });
        }
        match ruling {
            Ruling::Deny { reason } => return self.denied(call, &input, &reason, hook),
            Ruling::Ask { reason, answered_by } => {
                let allows = outcome.decision == Decision::Allow;
                let by = allowed_by(&outcome).filter(|_| allows);
                let is_answered =
                    answered_by.zip(by).is_some_and(|(of, by)| position.answers(by, of));
                if !is_answered {
                    let waivable = is_waivable(answered_by);
                    doubts.push(Doubt { reason, asked_by: AskedBy::Permission, waivable });
                }
            }
            Ruling::Allow => {}
        }
        if let Some(doubt) = one(doubts) {
            match self.ask(call, input.clone(), doubt, cancel).await {
                Asked::Yes(allowed) => input = allowed,
                Asked::No(reason) => return self.denied(call, &input, &reason, hook),
                Asked::Cancelled => return Gate::Cancelled,
            }
        }
        Gate::Runs(Pass { input, context: outcome.context, hook })
    }

    fn pre_tool(&self, call: &ToolCall, input: Json) -> Event {
        let event = Event::pre_tool(&*call.name, input);
        self.shared.hooks.event(event, &self.who, Some(&call.id))
    }

    fn judge(&self, call: &ToolCall, input: &Json) -> Ruling {
        let event = self.pre_tool(call, input.clone());
        let tool = self.shared.catalog.get(&call.name);
        self.shared.policy.judge(&PolicyCall {
            event: &event,
            read_only: tool.is_some_and(|tool| tool.is_read_only()),
            edits_files: tool.is_some_and(|tool| tool.edits_files()),
        })
    }

    fn still_valid(&self, call: &ToolCall, input: &Json) -> Result<(), String> {
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
        self.shared.hooks.notify(event, &EventKind::PermissionDenied, &self.who);
        Gate::Refused(Refusal {
            input: input.clone(),
            content: format!("permission denied: {reason}"),
            denied: true,
            halt: None,
            hook,
        })
    }

    /// Gets a question answered: by an earlier answer, by hooks, by a human.
    async fn ask(
        &self,
        call: &ToolCall,
        input: Json,
        doubt: Doubt,
        cancel: &CancellationToken,
    ) -> Asked {
        let shared = &self.shared;
        let approve = |verdict, by| {
            shared.send(&self.who, What::Approval { call_id: call.id.clone(), verdict, by });
        };
        let show = |input: &Json| {
            shared.send(
                &self.who,
                What::PermissionAsk {
                    call_id: call.id.clone(),
                    tool: call.name.clone(),
                    input: input.clone(),
                    reason: doubt.reason.clone(),
                    asked_by: doubt.asked_by,
                },
            );
        };
        if doubt.waivable && shared.waivers.covers(&call.name, &input) {
            show(&input);
            approve(Verdict::Allow, AnsweredBy::Waiver);
            return Asked::Yes(input);
        }
        let (input, answer) = match self.ask_hooks(call, input, cancel).await {
            Ok(asked) => asked,
            Err(asked) => return asked,
        };
        show(&input);
        match answer {
            Some(Ok(())) => {
                approve(Verdict::Allow, AnsweredBy::Hook);
                return Asked::Yes(input);
            }
            Some(Err(reason)) => {
                approve(Verdict::Deny, AnsweredBy::Hook);
                return Asked::No(reason);
            }
            None => {}
        }
        if !shared.human.is_there() {
            approve(Verdict::Deny, AnsweredBy::Headless);
            return Asked::No(format!("{} (nobody is there to allow it)", doubt.reason));
        }
        let message = format!("{} waits for permission", call.name);
        shared.tell(&self.who, "blocked", &message);
        let question = Question {
            who: self.who.clone(),
            tool: call.name.clone(),
            input: input.clone(),
            reason: doubt.reason.clone(),
        };
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => return Asked::Cancelled,
            answer = async {
                let _one_at_a_time = shared.asking.lock().await;
                shared.human.ask(&question).await
            } => answer,
        };
        match answer {
            Answer::Allow => approve(Verdict::Allow, AnsweredBy::Human),
            Answer::Always => {
                approve(Verdict::Always, AnsweredBy::Human);
                self.learn(call, &input, doubt.asked_by).await;
            }
            Answer::Deny => {
                approve(Verdict::Deny, AnsweredBy::Human);
                return Asked::No(match doubt.asked_by {
                    AskedBy::Hook => doubt.reason,
                    AskedBy::Permission => "the user said no".into(),
                });
            }
        }
        Asked::Yes(input)
    }

    async fn learn(&self, call: &ToolCall, input: &Json, asked_by: AskedBy) {
        use tenter::ApprovalLearner as _;
        let event = self.pre_tool(call, input.clone());
        self.shared.waivers.learn(&event).await;
        if let (AskedBy::Hook, Some(learner)) = (asked_by, &self.shared.learner) {
            learner.learn(&event).await;
        }
    }

    /// What the hooks on `PermissionRequest` make of a question.
    async fn ask_hooks(
        &self,
        call: &ToolCall,
        input: Json,
        cancel: &CancellationToken,
    ) -> Result<(Json, Option<Result<(), String>>), Asked> {
        if !self.shared.hooks.wants(&EventKind::PermissionRequest) {
            return Ok((input, None));
        }
        let payload = self.pre_tool(call, input.clone()).payload;
        let event = Event::new(EventKind::PermissionRequest, payload);
        let event = self.shared.hooks.event(event, &self.who, Some(&call.id));
        let fired = self.shared.hooks.fire(&event, &self.who, cancel).await;
        let Some(outcome) = fired else { return Err(Asked::Cancelled) };
        let reason = outcome.reason.clone().unwrap_or_else(|| "a hook gave no reason".into());
        if outcome.halt || matches!(outcome.decision, Decision::Deny | Decision::Defer) {
            return Ok((input, Some(Err(reason))));
        }
        let effective = outcome.rewritten.clone().unwrap_or(input);
        if outcome.rewritten.is_some() {
            let denial = match (self.still_valid(call, &effective), self.judge(call, &effective)) {
                (Err(why), _) => Some(why),
                (_, Ruling::Deny { reason }) => Some(reason),
                _ => None,
            };
            if let Some(why) = denial {
                return Ok((effective, Some(Err(why))));
            }
        }
        // An allow rule has had its say already: only a hook's word answers a question.
        let allows = outcome.decision == Decision::Allow && allowed_by(&outcome).is_some();
        Ok((effective, allows.then_some(Ok(()))))
    }
}

/// Whether a user's "always" counts for an ask: not above what the user may loosen.
fn is_waivable(answered_by: Option<Level>) -> bool {
    answered_by.is_some_and(|level| level > Level::Managed)
}

/// Several doubts about one call are one question.
fn one(doubts: Vec<Doubt>) -> Option<Doubt> {
    doubts.into_iter().reduce(|mut first, second| {
        if first.reason != second.reason {
            first.reason = format!("{}\n{}", first.reason, second.reason);
        }
        first.waivable &= second.waivable;
        first
    })
}
