//! One agent's conversation: it asks the model, runs what it calls, and asks again, until the turn
//! may end.
//!
//! Owns the order of things. What may run is the gate's to say, how it runs the tools'.

mod ask;
mod below;
mod compact;
mod gate;
mod tools;

use std::sync::Arc;

use futures_util::StreamExt as _;
use tenter::core::event::Payload;
use tenter::{CancellationToken, Decision, Event, EventKind, Json};

use crate::command;
use crate::message::{Message, ToolCall, ToolResult};
use crate::provider::{Delta, Request};
use crate::shared::Shared;
use crate::store::{Open, Record};
use crate::stream::{Status, What, Who};
use crate::turn::tools::Ran;

pub(crate) use below::Below;
pub use compact::Compacted;
pub(crate) use compact::{Trigger, summarised};

/// How a conversation, or a turn of it, ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) status: Status,
    pub(crate) reason: Option<String>,
}

impl Ended {
    pub(crate) fn new(status: Status, reason: Option<String>) -> Self {
        Self { status, reason }
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(Status::Cancelled, None)
    }
}

/// One agent with what it remembers.
pub(crate) struct Lane {
    pub(crate) shared: Arc<Shared>,
    pub(crate) who: Who,
    pub(crate) history: Vec<Message>,
    /// What hooks tell the model with the next words of the user.
    pub(crate) carried: Vec<String>,
    pub(crate) last_words: String,
    pub(crate) samples: u32,
    /// Whether it is a member of a team, which is idle when it has nothing to do, and does not stop.
    /// Its kind does not say so: the model chooses the kind of a subagent.
    is_member: bool,
    /// Below this size no compaction is tried, since one did not work.
    compact_above: usize,
}

/// An answer of the model.
struct Answered {
    text: String,
    calls: Vec<ToolCall>,
    /// Why it is not whole.
    broken: Option<Ended>,
}

impl Lane {
    pub(crate) fn new(shared: Arc<Shared>, who: Who) -> Self {
        Self {
            shared,
            who,
            history: Vec::new(),
            carried: Vec::new(),
            last_words: String::new(),
            samples: 0,
            is_member: false,
            compact_above: 0,
        }
    }

    fn event(&self, event: Event) -> Event {
        self.shared.hooks.event(event, &self.who, None)
    }

    /// Puts words of the user into the conversation.
    pub(crate) fn hear(&mut self, text: String, mut context: Vec<String>) -> Vec<String> {
        if !self.carried.is_empty() {
            context.splice(0..0, std::mem::take(&mut self.carried));
        }
        self.shared.keep(&self.who, &Record::User { text: text.clone(), context: context.clone() });
        self.history.push(Message::User { text, context: context.clone() });
        context
    }

    /// Expands what was typed, asks the hooks, and records what they make of it. `Err` is how the
    /// turn ends instead: then nothing was recorded.
    pub(crate) async fn prompt(
        &mut self,
        typed: &str,
        steering: bool,
        cancel: &CancellationToken,
    ) -> Result<(), Ended> {
        let prompt = self.expand(typed, cancel).await?;
        let event = self.event(Event::user_prompt(&*prompt));
        let fired = self.shared.hooks.fire(&event, &self.who, cancel).await;
        let outcome = fired.ok_or_else(Ended::cancelled)?;
        if outcome.halt {
            return Err(Ended::new(Status::Halted, outcome.reason));
        }
        let effective = outcome.rewritten.as_ref().and_then(|json| json.get("prompt"));
        let effective = effective.as_ref().and_then(Json::as_str);
        let text = effective.map_or(prompt, std::borrow::Cow::into_owned);
        let refused = match outcome.decision {
            Decision::Deny | Decision::Defer => true,
            Decision::Ask => {
                let reason = outcome.reason.as_deref();
                let passes = self.ask_about_prompt(&text, reason, cancel).await;
                !passes.ok_or_else(Ended::cancelled)?
            }
            Decision::None | Decision::Allow => false,
        };
        if refused {
            let reason = outcome.reason.unwrap_or_else(|| "a hook gave no reason".into());
            return Err(Ended::new(Status::Refused, Some(reason)));
        }
        let context = self.hear(text.clone(), outcome.context);
        self.shared.send(&self.who, What::UserPrompt { text, context, steering });
        Ok(())
    }

    async fn expand(&self, typed: &str, cancel: &CancellationToken) -> Result<String, Ended> {
        let Some(found) = command::typed(typed) else { return Ok(typed.to_owned()) };
        let Some(text) = command::expand(&found, &self.shared.settings.commands) else {
            return Ok(typed.to_owned());
        };
        let event = Event::new(EventKind::UserPromptExpansion, Payload::Prompt(typed.to_owned()))
            .with_field("expansion_type", Json::string("slash_command"))
            .with_field("command_name", Json::string(found.name))
            .with_field("command_args", Json::string(found.arguments));
        let event = self.event(event);
        let fired = self.shared.hooks.fire(&event, &self.who, cancel).await;
        let outcome = fired.ok_or_else(Ended::cancelled)?;
        match outcome.decision {
            _ if outcome.halt => Err(Ended::new(Status::Halted, outcome.reason)),
            Decision::None | Decision::Allow => Ok(text),
            Decision::Ask | Decision::Defer | Decision::Deny => {
                Err(Ended::new(Status::Refused, outcome.reason))
            }
        }
    }

    /// Asks the model and runs what it calls until the turn may end.
    pub(crate) async fn converse(&mut self, cancel: &CancellationToken) -> Ended {
        self.samples = 0;
        let mut sent_on = false;
        loop {
            if cancel.is_cancelled() {
                return Ended::cancelled();
            }
            if let Err(ended) = self.hear_more(cancel).await {
                return ended;
            }
            if self.samples >= self.shared.settings.most_samples {
                let most = self.shared.settings.most_samples;
                let reason = format!("the model was asked {most} times in one turn");
                return Ended::new(Status::Limit, Some(reason));
            }
            if let Err(ended) = self.compact_if_long(cancel).await {
                return ended;
            }
            let answer = self.sample(cancel).await;
            if let Some(ended) = answer.broken {
                // What was seen of the answer is remembered; its calls are not run.
                if !answer.text.is_empty() {
                    self.remember(answer.text, Vec::new());
                }
                return ended;
            }
            self.last_words.clone_from(&answer.text);
            self.remember(answer.text, answer.calls.clone());
            if !answer.calls.is_empty() {
                if let Some(ended) = self.run_calls(answer.calls, cancel).await {
                    return ended;
                }
                continue;
            }
            if self.has_more_to_hear() {
                continue;
            }
            match self.may_end(sent_on, cancel).await {
                // Something may have been said while the hooks were asked.
                Ok(None) if self.has_more_to_hear() => {}
                Ok(None) => return Ended::new(Status::Complete, None),
                Ok(Some(reason)) => {
                    sent_on = true;
                    self.hear(reason, Vec::new());
                }
                Err(ended) => return ended,
            }
        }
    }

    /// Gets the question answered with which a process before this one ended, and gives the model
    /// what its calls came to. `Err` is how the turn ends instead of hearing more.
    pub(crate) async fn close(
        &mut self,
        open: Open,
        cancel: &CancellationToken,
    ) -> Result<(), Ended> {
        let Ran { calls, results, ended } = self.run_open(open, cancel).await;
        self.give(calls, results);
        ended.map_or(Ok(()), Err)
    }

    /// The conversation holds what was decided about, not what was asked for.
    fn give(&mut self, decided: Vec<ToolCall>, results: Vec<ToolResult>) {
        if let Some(Message::Assistant { calls, .. }) = self.history.last_mut() {
            *calls = decided;
        }
        self.history.push(Message::Results(results));
    }

    fn remember(&mut self, text: String, calls: Vec<ToolCall>) {
        let named = calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
        self.shared.keep(&self.who, &Record::Assistant { text: text.clone(), calls: named });
        self.history.push(Message::Assistant { text, calls });
    }

    fn has_more_to_hear(&self) -> bool {
        self.who.depth == 0 && !crate::stream::lock(&self.shared.steering).is_empty()
    }

    /// What was said to this agent while it worked. Words of the user pass the hooks; refused ones
    /// are not recorded, and the turn goes on without them.
    async fn hear_more(&mut self, cancel: &CancellationToken) -> Result<(), Ended> {
        for message in self.shared.team.read(&self.who.id) {
            self.hear(message, Vec::new());
        }
        while self.who.depth == 0 {
            let next = crate::stream::lock(&self.shared.steering).pop_front();
            let Some(text) = next else { break };
            match self.prompt(&text, true, cancel).await {
                Err(Ended { status: Status::Refused, reason }) => {
                    let reason = reason.unwrap_or_default();
                    let text = format!("what you said was refused: {reason}");
                    self.shared.tell(&self.who, "warning", &text);
                }
                other => other?,
            }
        }
        Ok(())
    }

    async fn sample(&mut self, cancel: &CancellationToken) -> Answered {
        self.samples += 1;
        let shared = Arc::clone(&self.shared);
        let request = Request {
            agent: self.who.clone(),
            system: shared.settings.system.clone(),
            messages: self.history.clone(),
            tools: shared.catalog.specs(),
            may_call: true,
        };
        let mut deltas = shared.provider.stream(request);
        let mut answer = Answered { text: String::new(), calls: Vec::new(), broken: None };
        loop {
            let next = tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    answer.broken = Some(Ended::cancelled());
                    return answer;
                }
                next = deltas.next() => next,
            };
            match next {
                None => return answer,
                Some(Ok(Delta::Text(text))) => {
                    answer.text.push_str(&text);
                    shared.send(&self.who, What::ModelDelta { text });
                }
                Some(Ok(Delta::Call(mut call))) => {
                    call.id = shared.call_id(&call.id);
                    answer.calls.push(call);
                }
                Some(Err(error)) => {
                    answer.broken = Some(Ended::new(Status::Error, Some(error.message)));
                    return answer;
                }
            }
        }
    }

    /// Runs the calls of one answer and gives the model their results; the turn's end if it ends.
    async fn run_calls(
        &mut self,
        calls: Vec<ToolCall>,
        cancel: &CancellationToken,
    ) -> Option<Ended> {
        let Ran { calls, results, ended } = self.run_all(calls, cancel).await;
        self.give(calls, results);
        ended
    }

    /// Asks the hooks whether the turn may end; a reason is why it goes on.
    async fn may_end(
        &mut self,
        sent_on: bool,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, Ended> {
        if self.is_member {
            return Ok(None);
        }
        let event = self.event(self.stop_event(Status::Complete, sent_on));
        let fired = self.shared.hooks.fire(&event, &self.who, cancel).await;
        let outcome = fired.ok_or_else(Ended::cancelled)?;
        if outcome.decision == Decision::Deny && !outcome.halt {
            let reason = outcome.reason.unwrap_or_else(|| "a hook gave no reason".into());
            self.carried.extend(outcome.context);
            return Ok(Some(reason));
        }
        self.carried.extend(outcome.context);
        Ok(None)
    }

    /// The end of a turn as hooks are told of it.
    pub(crate) fn stop_event(&self, status: Status, sent_on: bool) -> Event {
        let facts = tenter::core::event::StopFacts {
            stop_reason: Some(status.as_str().into()),
            last_assistant_message: Some(self.last_words.clone()),
            stop_hook_active: sent_on,
            ..tenter::core::event::StopFacts::default()
        };
        let kind = if self.who.depth == 0 { EventKind::Stop } else { EventKind::SubagentStop };
        Event::new(kind, Payload::Stop(facts))
    }

    /// Tells the hooks of an end that did not come by itself. Nobody waits for them.
    pub(crate) fn tell_of_end(&self, status: Status) {
        if status != Status::Complete && !self.is_member {
            let event = || self.stop_event(status, false);
            let kind = event().kind;
            self.shared.hooks.notify(event, &kind, &self.who, None);
        }
    }
}
