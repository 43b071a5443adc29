//! Typed entry points for the events that every loop has: what comes back can only be used rightly.
//!
//! They are [`Session::fire_with`] and a reading of its outcome; whoever needs reports, messages or
//! contexts of other events fires the event.

use std::borrow::Cow;

use tenter_core::event::{Event, Origin, ResultPair, StopFacts};
use tenter_core::json::Json;
use tenter_core::outcome::Outcome;
use tenter_core::verdict::Decision;

use crate::runner::RunContext;
use crate::session::Session;

/// What to do with a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreToolOutcome {
    /// Run the tool with this input.
    Proceed {
        /// The effective input.
        input: Json,
        /// Whether a hook or rule has allowed it, so that nobody need be asked.
        approved: bool,
        /// What the model is told beside the result.
        context: Vec<String>,
    },
    /// Ask a human; on a headless host this is a denial.
    Ask {
        /// Why.
        reason: String,
        /// The input that is to be allowed.
        input: Json,
        /// What the model is told if it is.
        context: Vec<String>,
    },
    /// Park the call; a host that cannot denies it.
    Defer {
        /// Why.
        reason: String,
        /// The input that is parked.
        input: Json,
        /// What the model is told when it runs.
        context: Vec<String>,
    },
    /// Do not run the tool; tell the model why.
    Deny {
        /// Why.
        reason: String,
    },
    /// Do not run the tool, and end the turn.
    Halt {
        /// Why.
        reason: String,
    },
}

/// What to do with a tool's result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostToolOutcome {
    /// The one result that the model, the history and the record get.
    pub result: ResultPair,
    /// What the model is told beside it.
    pub context: Vec<String>,
    /// Why the turn ends after the result is recorded, if it does.
    pub halt: Option<String>,
}

/// What to do with a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptOutcome {
    /// Send this prompt.
    Proceed {
        /// The effective prompt.
        prompt: String,
        /// What the model is told beside it.
        context: Vec<String>,
    },
    /// Ask a human; on a headless host this is a refusal.
    Ask {
        /// Why.
        reason: String,
        /// The prompt that is to be allowed.
        prompt: String,
        /// What the model is told beside it.
        context: Vec<String>,
    },
    /// Neither send nor record it.
    Refuse {
        /// Why.
        reason: String,
    },
    /// Neither send nor record it, and end the turn.
    Halt {
        /// Why.
        reason: String,
    },
}

/// What to do at the end of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopOutcome {
    /// The turn ends.
    End {
        /// What the model is told next time.
        context: Vec<String>,
    },
    /// The turn goes on with the reason.
    GoOn {
        /// What is still to be done.
        reason: String,
        /// What the model is told beside it.
        context: Vec<String>,
    },
}

fn reason_of(outcome: &Outcome) -> String {
    outcome.reason.clone().unwrap_or_else(|| "a hook gave no reason".to_owned())
}

impl Session {
    /// A tool is about to run.
    ///
    /// It takes no longer than the hooks may take together, and no longer than `cx` lets it: then
    /// each hook's failure policy says what that means.
    ///
    /// ```
    /// use tenter::{FunctionHooks, Json, Origin, PreToolOutcome, RunContext, Verdict};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let hooks = FunctionHooks::builder().on_pre_tool(|_| Verdict::deny("not now")).build();
    /// let (origin, cx) = (Origin::default(), RunContext::new());
    /// let outcome = hooks.session().pre_tool("Bash", Json::empty_object(), &origin, &cx).await;
    /// assert_eq!(outcome, PreToolOutcome::Deny { reason: "not now".into() });
    /// # });
    /// ```
    pub async fn pre_tool(
        &self,
        tool: &str,
        input: Json,
        origin: &Origin,
        cx: &RunContext,
    ) -> PreToolOutcome {
        let event = Event::pre_tool(tool, input.clone()).with_origin(origin.clone());
        let outcome = self.fire_with(&event, cx).await;
        let reason = reason_of(&outcome);
        if outcome.halt {
            return PreToolOutcome::Halt { reason };
        }
        let input = outcome.rewritten.clone().unwrap_or(input);
        match outcome.decision {
            Decision::Deny => PreToolOutcome::Deny { reason },
            Decision::Defer => PreToolOutcome::Defer { reason, input, context: outcome.context },
            Decision::Ask => PreToolOutcome::Ask { reason, input, context: outcome.context },
            Decision::None | Decision::Allow => PreToolOutcome::Proceed {
                input,
                approved: outcome.decision == Decision::Allow,
                context: outcome.context,
            },
        }
    }

    /// A tool has run on this input and given this response, in any shape.
    ///
    /// ```
    /// use tenter::{Fields, FunctionHooks, Json, Origin, Rewrite, RunContext, Verdict};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let hooks = FunctionHooks::builder()
    ///     .on_post_tool(|view| {
    ///         let text = Json::string(&view.result.content.replace("hunter2", "***"));
    ///         Verdict::none().with_rewrite(Rewrite::Patch(Fields::from_iter([("content", text)])))
    ///     })
    ///     .build();
    /// let (origin, cx) = (Origin::default(), RunContext::new());
    /// let given = Json::string("password: hunter2");
    /// let outcome =
    ///     hooks.session().post_tool("Bash", Json::empty_object(), given, &origin, &cx).await;
    /// assert_eq!(outcome.result.content, "password: ***");
    /// # });
    /// ```
    pub async fn post_tool(
        &self,
        tool: &str,
        input: Json,
        response: Json,
        origin: &Origin,
        cx: &RunContext,
    ) -> PostToolOutcome {
        let original = ResultPair::of(&response, false);
        let event = Event::post_tool(tool, input, response).with_origin(origin.clone());
        let outcome = self.fire_with(&event, cx).await;
        let is_error = original.is_error;
        let rewritten = outcome.rewritten.as_ref();
        let result = rewritten.map_or(original, |json| ResultPair::of(json, is_error));
        let halt = outcome.halt.then(|| reason_of(&outcome));
        PostToolOutcome { result, context: outcome.context, halt }
    }

    /// The user has sent a prompt.
    ///
    /// ```
    /// use tenter::{FunctionHooks, Origin, PromptOutcome, RunContext, Verdict};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let hooks = FunctionHooks::builder()
    ///     .on_user_prompt(|_| Verdict::none().with_context("today is Tuesday"))
    ///     .build();
    /// let outcome =
    ///     hooks.session().user_prompt("hi", &Origin::default(), &RunContext::new()).await;
    /// let context = vec!["today is Tuesday".to_owned()];
    /// assert_eq!(outcome, PromptOutcome::Proceed { prompt: "hi".into(), context });
    /// # });
    /// ```
    pub async fn user_prompt(
        &self,
        prompt: &str,
        origin: &Origin,
        cx: &RunContext,
    ) -> PromptOutcome {
        let event = Event::user_prompt(prompt).with_origin(origin.clone());
        let outcome = self.fire_with(&event, cx).await;
        let reason = reason_of(&outcome);
        if outcome.halt {
            return PromptOutcome::Halt { reason };
        }
        let rewritten = outcome.rewritten.as_ref().and_then(|json| json.get("prompt"));
        let rewritten = rewritten.as_ref().and_then(Json::as_str);
        let prompt = rewritten.map_or_else(|| prompt.to_owned(), Cow::into_owned);
        let context = outcome.context;
        match outcome.decision {
            Decision::Deny | Decision::Defer => PromptOutcome::Refuse { reason },
            Decision::Ask => PromptOutcome::Ask { reason, prompt, context },
            Decision::None | Decision::Allow => PromptOutcome::Proceed { prompt, context },
        }
    }

    /// The session ends: its hooks are waited for, whatever the host has cancelled, and no longer than
    /// they may take. A host calls it before it lets go of its runtime.
    ///
    /// ```
    /// use tenter::{Event, FunctionHooks, Origin, Verdict};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let hooks = FunctionHooks::builder().on_session_end(|_| Verdict::none()).build();
    /// let outcome = hooks.session().session_end("exit", &Origin::default()).await;
    /// assert!(outcome.hooks[0].status.ran());
    /// # });
    /// ```
    pub async fn session_end(&self, reason: &str, origin: &Origin) -> Outcome {
        self.fire(&Event::session_end(reason).with_origin(origin.clone())).await
    }

    /// The turn is about to end.
    ///
    /// ```
    /// use tenter::core::event::StopFacts;
    /// use tenter::{FunctionHooks, Origin, RunContext, StopOutcome, Verdict};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let hooks = FunctionHooks::builder().on_stop(|_| Verdict::deny("run the tests")).build();
    /// let outcome = hooks
    ///     .session()
    ///     .stop(StopFacts::default(), &Origin::default(), &RunContext::new())
    ///     .await;
    /// assert!(matches!(outcome, StopOutcome::GoOn { reason, .. } if reason == "run the tests"));
    /// # });
    /// ```
    pub async fn stop(&self, facts: StopFacts, origin: &Origin, cx: &RunContext) -> StopOutcome {
        let event = Event::stop(facts).with_origin(origin.clone());
        let outcome = self.fire_with(&event, cx).await;
        if outcome.decision == Decision::Deny && !outcome.halt {
            let reason = reason_of(&outcome);
            StopOutcome::GoOn { reason, context: outcome.context }
        } else {
            StopOutcome::End { context: outcome.context }
        }
    }
}
