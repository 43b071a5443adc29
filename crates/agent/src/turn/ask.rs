//! Questions: what is in doubt about a call, who answers it, and what an answer is worth later.
//!
//! Owns the way to the human, for calls, prompts and tools alike: one question at a time, each told to
//! the hooks before it is put. Whether there is a doubt is the gate's to say.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tenter::{CancellationToken, Decision, Event, EventKind, Json, Level};

use crate::human::{Answer, Human, Question};
use crate::message::ToolCall;
use crate::permission::Ruling;
use crate::shared::Shared;
use crate::store::{OpenQuestion, Record};
use crate::stream::{AnsweredBy, AskedBy, Verdict, What, Who};
use crate::turn::Lane;
use crate::turn::gate::{allowed_by, asked_by};

/// Why somebody has to be asked about a call.
#[derive(Debug, Clone)]
pub(super) struct Doubt {
    pub(super) reason: String,
    /// Whether a hook asks. Its "always" is the learner's, who knows what it lifts.
    pub(super) by_hook: bool,
    /// Whether the policy asks, and then whether the user's "always" counts for it.
    pub(super) by_policy: Option<bool>,
    /// A hook on `PermissionRequest` of this level or above can answer; `None` if none can.
    pub(super) answered_by: Option<Level>,
}

impl Doubt {
    /// A doubt of the policy.
    pub(super) fn of_policy(reason: String, answered_by: Option<Level>) -> Self {
        // The user's "always" does not reach above what the user may loosen.
        let waivable = answered_by.is_some_and(|level| level > Level::Managed);
        Self { reason, by_hook: false, by_policy: Some(waivable), answered_by }
    }

    /// A doubt of hooks, of which this is the highest level.
    pub(super) fn of_hook(reason: String, level: Level) -> Self {
        Self { reason, by_hook: true, by_policy: None, answered_by: Some(level) }
    }

    fn asked_by(&self) -> AskedBy {
        if self.by_hook { AskedBy::Hook } else { AskedBy::Permission }
    }

    fn and(mut self, other: Self) -> Self {
        let Self { reason, by_hook, by_policy, answered_by } = other;
        if self.reason != reason {
            self.reason = [self.reason, reason].join("\n");
        }
        self.by_hook |= by_hook;
        self.by_policy = match (self.by_policy, by_policy) {
            (Some(one), Some(other)) => Some(one && other),
            (one, other) => one.or(other),
        };
        self.answered_by = self.answered_by.zip(answered_by).map(|(one, other)| one.min(other));
        self
    }
}

/// What a question came to.
pub(super) enum Asked {
    /// The call runs with this input.
    Yes(Json),
    /// It does not, and why.
    No(String),
    /// It does not, and the turn ends.
    Halted(String),
    /// The turn was cancelled meanwhile.
    Cancelled,
}

/// Whether the hooks have had their say about the call that is asked about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Heard<'a> {
    /// Not yet: its input may still change.
    NotYet,
    /// Yes, and this is what they tell the model. Then the question outlives the process.
    Context(&'a [String]),
}

impl Lane {
    /// Gets doubts about one call answered, as one question: by an earlier answer, by hooks, by a
    /// human.
    pub(super) async fn ask(
        &self,
        call: &ToolCall,
        input: Json,
        doubts: Vec<Doubt>,
        heard: Heard<'_>,
        cancel: &CancellationToken,
    ) -> Asked {
        let may_be_waived = |doubt: &Doubt| doubt.by_policy == Some(true) && !doubt.by_hook;
        let is_covered = doubts.iter().any(may_be_waived)
            && self.shared.waivers.covers(&self.pre_tool(call, input.clone()), "");
        let (waived, open): (Vec<_>, Vec<_>) =
            doubts.into_iter().partition(|doubt| is_covered && may_be_waived(doubt));
        let Some(doubt) = open.into_iter().reduce(Doubt::and) else {
            if let Some(doubt) = waived.into_iter().reduce(Doubt::and) {
                self.show_question(call, &input, &doubt);
                self.show_answer(call, Verdict::Allow, AnsweredBy::Waiver);
            }
            return Asked::Yes(input);
        };
        let mut doubt = doubt;
        let before = input.clone();
        let (mut input, mut answer) =
            match self.ask_hooks(call, input, doubt.answered_by, cancel).await {
                Ok(asked) => asked,
                Err(asked) => return asked,
            };
        if matches!(heard, Heard::Context(_)) && input != before && !matches!(answer, Some(Err(_)))
        {
            // The hooks before a tool have looked at another input.
            match self.hear_again(call, input, cancel).await {
                Ok((effective, more)) => {
                    input = effective;
                    if let Some(more) = more {
                        doubt = doubt.and(more);
                        answer = None;
                    }
                }
                Err(asked) => return asked,
            }
        }
        match answer {
            Some(Ok(())) => {
                self.show_question(call, &input, &doubt);
                self.show_answer(call, Verdict::Allow, AnsweredBy::Hook);
                Asked::Yes(input)
            }
            Some(Err(reason)) => {
                self.show_question(call, &input, &doubt);
                self.show_answer(call, Verdict::Deny, AnsweredBy::Hook);
                Asked::No(reason)
            }
            None => self.ask_human(call, input, doubt, heard, cancel).await,
        }
    }

    /// Puts a question to the human, or answers no if nobody is there.
    pub(super) async fn ask_human(
        &self,
        call: &ToolCall,
        input: Json,
        doubt: Doubt,
        heard: Heard<'_>,
        cancel: &CancellationToken,
    ) -> Asked {
        let shared = &self.shared;
        if !shared.human.is_there() {
            return Asked::No(format!("{} (nobody is there to allow it)", doubt.reason));
        }
        let question = Question {
            who: self.who.clone(),
            call_id: Some(call.id.clone()),
            tool: call.name.clone(),
            input: input.clone(),
            reason: doubt.reason.clone(),
        };
        let waiting = async {
            let _one_at_a_time = shared.asking.lock().await;
            self.show_question(call, &input, &doubt);
            if let Heard::Context(context) = heard {
                // What hooks may still change is not kept: a question outlives the process with its
                // effective input or not at all.
                let open = OpenQuestion {
                    id: call.id.clone(),
                    input: input.clone(),
                    reason: doubt.reason.clone(),
                    by_hook: doubt.by_hook,
                    by_policy: doubt.by_policy,
                    context: context.to_vec(),
                };
                shared.keep(&self.who, &Record::Asked(open));
            }
            put(shared, &self.who, &question).await
        };
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => return Asked::Cancelled,
            answer = waiting => answer,
        };
        match answer {
            Answer::Allow => self.show_answer(call, Verdict::Allow, AnsweredBy::Human),
            Answer::Always => {
                self.show_answer(call, Verdict::Always, AnsweredBy::Human);
                self.learn(call, &input, &doubt).await;
            }
            Answer::Deny => {
                self.show_answer(call, Verdict::Deny, AnsweredBy::Human);
                let reason = if doubt.by_hook { doubt.reason } else { "the user said no".into() };
                return Asked::No(reason);
            }
        }
        Asked::Yes(input)
    }

    fn show_question(&self, call: &ToolCall, input: &Json, doubt: &Doubt) {
        let question = What::PermissionAsk {
            call_id: Some(call.id.clone()),
            tool: call.name.clone(),
            input: input.clone(),
            reason: doubt.reason.clone(),
            asked_by: doubt.asked_by(),
        };
        self.shared.send(&self.who, question);
    }

    fn show_answer(&self, call: &ToolCall, verdict: Verdict, by: AnsweredBy) {
        let call_id = Some(call.id.clone());
        self.shared.send(&self.who, What::Approval { call_id, verdict, by });
    }

    /// Remembers an "always" where it counts: for the hooks that asked, and for the policy if it did.
    async fn learn(&self, call: &ToolCall, input: &Json, doubt: &Doubt) {
        let event = self.pre_tool(call, input.clone());
        if doubt.by_policy == Some(true) {
            self.shared.waivers.learn(&event, "");
        }
        if let (true, Some(learner)) = (doubt.by_hook, &self.shared.learner) {
            learner.learn(&event).await;
        }
    }

    /// What the hooks on `PermissionRequest` make of a question.
    async fn ask_hooks(
        &self,
        call: &ToolCall,
        input: Json,
        answered_by: Option<Level>,
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
        let mut answered_by = answered_by;
        if outcome.rewritten.is_some() {
            if let Err(why) = self.still_valid(call, &effective) {
                return Ok((effective, Some(Err(why))));
            }
            match self.judge(call, &effective) {
                Ruling::Deny { reason } => return Ok((effective, Some(Err(reason)))),
                // What asks about this input may be out of the hook's reach.
                Ruling::Ask { answered_by: of, .. } => {
                    answered_by = answered_by.zip(of).map(|(one, other)| one.min(other));
                }
                Ruling::Allow => {}
            }
        }
        // An allow rule has had its say already: only a hook's word answers a question, and only as
        // far as it reaches.
        let by = allowed_by(&outcome).filter(|_| outcome.decision == Decision::Allow);
        let position = self.shared.policy.position();
        let answers = answered_by.zip(by).is_some_and(|(of, by)| position.answers(by, of));
        Ok((effective, answers.then_some(Ok(()))))
    }

    /// Asks the hooks before a tool about an input that a hook on the question made. It is judged like
    /// any other; what they ask goes to the human.
    async fn hear_again(
        &self,
        call: &ToolCall,
        input: Json,
        cancel: &CancellationToken,
    ) -> Result<(Json, Option<Doubt>), Asked> {
        let event = self.pre_tool(call, input.clone());
        let fired = self.shared.hooks.fire(&event, &self.who, cancel).await;
        let Some(outcome) = fired else { return Err(Asked::Cancelled) };
        let reason = outcome.reason.clone().unwrap_or_else(|| "a hook gave no reason".into());
        if outcome.halt {
            return Err(Asked::Halted(reason));
        }
        if matches!(outcome.decision, Decision::Deny | Decision::Defer) {
            return Err(Asked::No(reason));
        }
        let effective = outcome.rewritten.clone().unwrap_or_else(|| input.clone());
        let mut doubt = (outcome.decision == Decision::Ask)
            .then(|| Doubt::of_hook(reason, asked_by(&outcome).unwrap_or(Level::Managed)));
        if effective != input {
            self.still_valid(call, &effective).map_err(Asked::No)?;
            match self.judge(call, &effective) {
                Ruling::Deny { reason } => return Err(Asked::No(reason)),
                Ruling::Ask { reason, answered_by } => {
                    let more = Doubt::of_policy(reason, answered_by);
                    doubt = Some(doubt.map_or(more.clone(), |doubt| doubt.and(more)));
                }
                Ruling::Allow => {}
            }
        }
        Ok((effective, doubt))
    }

    /// Asks the human whether a prompt may pass.
    pub(super) async fn ask_about_prompt(
        &self,
        prompt: &str,
        reason: Option<&str>,
        cancel: &CancellationToken,
    ) -> Option<bool> {
        let shared = &self.shared;
        let reason = reason.unwrap_or("a hook asks about this prompt");
        let answered = |verdict, by| {
            shared.send(&self.who, What::Approval { call_id: None, verdict, by });
            Some(verdict != Verdict::Deny)
        };
        let show = || {
            let question = What::PermissionAsk {
                call_id: None,
                tool: PROMPT.into(),
                // The prompt may yet be refused, and then it is nowhere.
                input: Json::empty_object(),
                reason: reason.into(),
                asked_by: AskedBy::Hook,
            };
            shared.send(&self.who, question);
        };
        if !shared.human.is_there() {
            return Some(false);
        }
        let question = Question {
            who: self.who.clone(),
            call_id: None,
            tool: PROMPT.into(),
            input: Json::from(serde_json::json!({ "prompt": prompt })),
            reason: reason.into(),
        };
        let waiting = async {
            let _one_at_a_time = shared.asking.lock().await;
            show();
            put(shared, &self.who, &question).await
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            answer = waiting => answered(verdict_of(answer), AnsweredBy::Human),
        }
    }
}

/// What is asked about where it is no tool.
const PROMPT: &str = "prompt";

/// An answer as the stream tells it. About a prompt there is no "always".
fn verdict_of(answer: Answer) -> Verdict {
    match answer {
        Answer::Deny => Verdict::Deny,
        Answer::Allow | Answer::Always => Verdict::Allow,
    }
}

/// Puts a question to the human. An answer that is none, because asking failed, is a no.
async fn put(shared: &Shared, who: &Who, question: &Question) -> Answer {
    shared.tell(who, "blocked", &format!("{} waits for permission", question.tool));
    let asking = AssertUnwindSafe(async { shared.human.ask(question).await });
    asking.catch_unwind().await.unwrap_or(Answer::Deny)
}

/// The human as tools meet them: in turn with all other questions, and with the hooks told.
pub(super) struct InTurn {
    pub(super) shared: Arc<Shared>,
    pub(super) who: Who,
}

impl Human for InTurn {
    fn is_there(&self) -> bool {
        self.shared.human.is_there()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            let _one_at_a_time = self.shared.asking.lock().await;
            put(&self.shared, &self.who, question).await
        })
    }

    fn words<'a>(
        &'a self,
        question: &'a str,
        choices: &'a [String],
    ) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let _one_at_a_time = self.shared.asking.lock().await;
            self.shared.tell(&self.who, "blocked", question);
            self.shared.human.words(question, choices).await
        })
    }
}
