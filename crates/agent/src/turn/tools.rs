//! Runs the calls of one answer: reading ones side by side, changing ones one after the other.
//!
//! Owns the way of a result. Between the tool and everybody else stands `PostToolUse`: stream,
//! history, store and model get what it leaves, and a result that it could not judge is published
//! nowhere.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::stream::{FuturesOrdered, StreamExt as _};
use tenter::core::event::{Payload, ResultPair};
use tenter::{CancellationToken, Event, EventKind};

use crate::message::{ToolCall, ToolResult};
use crate::store::{Open, Record};
use crate::stream::{HookSummary, Status, What};
use crate::tool::{Tool, ToolContext, ToolOutput};
use crate::turn::ask::InTurn;
use crate::turn::gate::{Gate, Pass, Refusal};
use crate::turn::{Below, Ended, Lane};

/// What the calls of one answer came to.
pub(super) struct Ran {
    /// The calls with the inputs that were decided about.
    pub(super) calls: Vec<ToolCall>,
    /// One result a call, in their order.
    pub(super) results: Vec<ToolResult>,
    /// The turn's end, if it ends here.
    pub(super) ended: Option<Ended>,
}

/// A call on its way.
struct Slot {
    call: ToolCall,
    gate: Option<Pass>,
    finished: Option<Finished>,
}

impl Slot {
    /// Takes what the gate says; the turn's end if it ends here.
    fn pass(&mut self, gate: Gate) -> Option<Ended> {
        match gate {
            Gate::Runs(pass) => {
                self.call.input = pass.input.clone();
                self.gate = Some(pass);
                None
            }
            Gate::Refused(Refusal { input, content, denied, halt, hook }) => {
                self.call.input = input;
                let ends = halt.clone();
                self.finished = Some(Finished { denied, hook, halt, ..Finished::not_run(content) });
                ends.map(|reason| Ended::new(Status::Halted, Some(reason)))
            }
            Gate::Cancelled => {
                self.finished = Some(Finished::cancelled(false));
                Some(Ended::cancelled())
            }
        }
    }

    /// What the model is given for the call, once it has come to its end.
    fn result(&self) -> Option<ToolResult> {
        self.finished.as_ref().map(|finished| ToolResult {
            call_id: self.call.id.clone(),
            tool: self.call.name.clone(),
            content: finished.content.clone(),
            is_error: finished.is_error,
            context: finished.context.clone(),
        })
    }
}

/// A call that has come to its end.
struct Finished {
    content: String,
    is_error: bool,
    context: Vec<String>,
    executed: bool,
    denied: bool,
    hook: Option<HookSummary>,
    halt: Option<String>,
}

impl Finished {
    fn not_run(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            is_error: true,
            context: Vec::new(),
            executed: false,
            denied: false,
            hook: None,
            halt: None,
        }
    }

    fn cancelled(executed: bool) -> Self {
        let content = if executed {
            "cancelled while it ran: it may have done its work in part, and its result is not known"
        } else {
            "not run: the turn was cancelled"
        };
        Self { executed, ..Self::not_run(content) }
    }
}

impl Lane {
    /// Runs all calls of one answer.
    pub(super) async fn run_all(&self, calls: Vec<ToolCall>, cancel: &CancellationToken) -> Ran {
        let mut slots: Vec<_> =
            calls.into_iter().map(|call| Slot { call, gate: None, finished: None }).collect();
        let mut ended = None;
        let mut at = 0;
        while at < slots.len() && ended.is_none() {
            let is_read_only = |slot: &Slot| {
                self.shared.catalog.get(&slot.call.name).is_some_and(|tool| tool.is_read_only())
            };
            let side_by_side = slots[at..].iter().take_while(|slot| is_read_only(slot)).count();
            let batch = &mut slots[at..at + side_by_side.max(1)];
            at += batch.len();
            ended = self.decide(batch, cancel).await;
            // A halt at the gate stops what has not begun, though it was let through.
            if ended.is_none() {
                ended = self.execute_all(batch, cancel).await;
            }
            for slot in batch.iter_mut().filter(|slot| slot.finished.is_some()) {
                self.publish(slot);
            }
        }
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for mut slot in slots {
            let finished = slot.finished.take();
            let was_published = finished.is_some();
            let finished = finished.unwrap_or_else(|| match &ended {
                Some(Ended { status: Status::Cancelled, .. }) => Finished::cancelled(false),
                _ => Finished::not_run("not run: the turn was halted"),
            });
            slot.finished = Some(finished);
            if !was_published {
                if slot.gate.is_none() {
                    let (call_id, tool) = (slot.call.id.clone(), slot.call.name.clone());
                    let input = slot.call.input.clone();
                    self.shared.send(&self.who, What::ToolCall { call_id, tool, input });
                }
                self.publish(&slot);
            }
            results.extend(slot.result());
            calls.push(slot.call);
        }
        Ran { calls, results, ended }
    }

    /// Asks the gate about each call of a batch, one after the other in their order.
    async fn decide(&self, batch: &mut [Slot], cancel: &CancellationToken) -> Option<Ended> {
        for slot in batch {
            let gate = self.gate(&slot.call, cancel).await;
            if let Some(ended) = slot.pass(gate) {
                return Some(ended);
            }
        }
        None
    }

    /// Runs the one call of an answer that waits for a human since a process before this one; its
    /// siblings have their results.
    pub(super) async fn run_open(&self, open: Open, cancel: &CancellationToken) -> Ran {
        let Open { call, question, siblings, before } = open;
        let mut slot = Slot { call, gate: None, finished: None };
        let gate = self.gate_again(&slot.call, question, cancel).await;
        let mut ended = slot.pass(gate);
        if ended.is_none() {
            ended = self.execute_all(std::slice::from_mut(&mut slot), cancel).await;
        }
        self.publish(&slot);
        let (mut calls, mut results): (Vec<_>, Vec<_>) = siblings.into_iter().unzip();
        if let Some(result) = slot.result() {
            let at = before.min(calls.len());
            calls.insert(at, slot.call);
            results.insert(at, result);
        }
        Ran { calls, results, ended }
    }

    /// Runs what the gate has let through. A halt after one result ends the others.
    async fn execute_all(&self, batch: &mut [Slot], cancel: &CancellationToken) -> Option<Ended> {
        let ends_batch = cancel.child_token();
        let mut running: FuturesOrdered<_> = FuturesOrdered::new();
        for (at, slot) in batch.iter_mut().enumerate() {
            let Some(pass) = slot.gate.take().filter(|_| slot.finished.is_none()) else { continue };
            let call = slot.call.clone();
            let ends_batch = &ends_batch;
            running.push_back(async move {
                let finished = self.execute(&call, pass, ends_batch).await;
                if finished.halt.is_some() {
                    ends_batch.cancel();
                }
                (at, finished)
            });
        }
        let mut ended = None;
        while let Some((at, finished)) = running.next().await {
            if let Some(reason) = &finished.halt
                && ended.is_none()
            {
                ended = Some(Ended::new(Status::Halted, Some(reason.clone())));
            }
            if let Some(slot) = batch.get_mut(at) {
                slot.finished = Some(finished);
            }
        }
        if cancel.is_cancelled() { Some(Ended::cancelled()) } else { ended }
    }

    /// Runs one call and lets the hooks see its result before anybody else does.
    async fn execute(&self, call: &ToolCall, pass: Pass, cancel: &CancellationToken) -> Finished {
        if cancel.is_cancelled() {
            return Finished { hook: pass.hook, ..Finished::cancelled(false) };
        }
        let Some(tool) = self.shared.catalog.get(&call.name).cloned() else {
            return Finished::not_run("the tool is gone");
        };
        self.shared.keep(
            &self.who,
            &Record::Call { id: call.id.clone(), input: call.input.clone(), runs: true },
        );
        let ran = self.run_tool(&*tool, call, cancel).await;
        let withheld = |hook| Finished { hook, ..Finished::cancelled(true) };
        let Some(output) = ran else { return withheld(pass.hook) };

        let raw = ResultPair { content: output.content, is_error: output.is_error };
        let kind =
            if raw.is_error { EventKind::PostToolUseFailure } else { EventKind::PostToolUse };
        let mut context = pass.context;
        let as_it_is = |raw: ResultPair, context, hook| Finished {
            content: raw.content,
            is_error: raw.is_error,
            context,
            executed: true,
            denied: false,
            hook,
            halt: None,
        };
        if !self.shared.hooks.wants(&kind) {
            return as_it_is(raw, context, pass.hook);
        }
        let event = self.post_tool(kind.clone(), call, &raw);
        let Some(outcome) = self.shared.hooks.fire(&event, &self.who, cancel).await else {
            if self.shared.hooks.keeps_cancelled_results(&kind) {
                return as_it_is(raw, context, pass.hook);
            }
            return withheld(pass.hook);
        };
        let is_error = raw.is_error;
        let effective = outcome.rewritten.as_ref();
        let effective = effective.map_or(raw, |json| ResultPair::of(json, is_error));
        let halt = outcome
            .halt
            .then(|| outcome.reason.clone().unwrap_or_else(|| "a hook gave no reason".into()));
        context.extend(outcome.context);
        Finished {
            content: effective.content,
            is_error: effective.is_error,
            context,
            executed: true,
            denied: false,
            hook: pass.hook,
            halt,
        }
    }

    fn post_tool(&self, kind: EventKind, call: &ToolCall, raw: &ResultPair) -> Event {
        let named = Event::post_tool(&*call.name, call.input.clone(), raw.to_json());
        let mut event = Event { kind, ..named };
        if let Payload::ToolResult { failed, .. } = &mut event.payload {
            *failed = raw.is_error;
        }
        self.shared.hooks.event(event, &self.who, Some(&call.id))
    }

    /// `None` if it was cancelled meanwhile.
    async fn run_tool(
        &self,
        tool: &dyn Tool,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Option<ToolOutput> {
        let below = Below { shared: Arc::clone(&self.shared), who: self.who.clone() };
        let cx = ToolContext {
            cwd: self.shared.settings.cwd.clone(),
            environment: Arc::clone(&self.shared.settings.environment),
            cancel: cancel.clone(),
            who: self.who.clone(),
            human: Arc::new(InTurn { shared: Arc::clone(&self.shared), who: self.who.clone() }),
            delegate: Arc::new(below),
            team: Arc::clone(&self.shared.team),
        };
        let input = call.input.to_value();
        let run = AssertUnwindSafe(tool.run(&input, &cx)).catch_unwind();
        let ran = tokio::select! {
            biased;
            () = cancel.cancelled() => return None,
            ran = run => ran,
        };
        if cancel.is_cancelled() {
            return None;
        }
        Some(ran.unwrap_or_else(|_| ToolOutput::error(format!("the tool {} panicked", call.name))))
    }

    /// Shows and keeps what a call came to.
    fn publish(&self, slot: &Slot) {
        let Some(finished) = &slot.finished else { return };
        if !finished.executed {
            self.shared.keep(
                &self.who,
                &Record::Call {
                    id: slot.call.id.clone(),
                    input: slot.call.input.clone(),
                    runs: false,
                },
            );
        }
        if let Some(result) = slot.result() {
            self.shared.keep(&self.who, &Record::Result(result));
        }
        self.shared.send(
            &self.who,
            What::ToolResult {
                call_id: slot.call.id.clone(),
                tool: slot.call.name.clone(),
                input: slot.call.input.clone(),
                executed: finished.executed,
                denied: finished.denied,
                content: finished.content.clone(),
                is_error: finished.is_error,
                context: finished.context.clone(),
                hook: finished.hook.clone(),
            },
        );
    }
}
