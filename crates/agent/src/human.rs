//! The port to a human: questions go out, answers come back.
//!
//! Owns no terminal: whoever embeds the agent has one, or says that nobody is there.

use futures_util::future::BoxFuture;
use tenter::Json;

use crate::stream::Who;

/// A question whether a call may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Who wants to run it.
    pub who: Who,
    /// The call; `None` if it is about a prompt.
    pub call_id: Option<String>,
    /// The tool.
    pub tool: String,
    /// The effective input.
    pub input: Json,
    /// Why it is asked.
    pub reason: String,
}

/// The answer to a [`Question`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Yes, this once.
    Allow,
    /// Yes, and do not ask again about this very call in this session.
    Always,
    /// No.
    Deny,
}

/// Somebody to ask.
pub trait Human: Send + Sync {
    /// Whether anybody is there. If not, every question is answered no.
    fn is_there(&self) -> bool;

    /// Asks whether a call may run.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;

    /// Asks for words; `None` if there are none.
    fn words<'a>(
        &'a self,
        question: &'a str,
        choices: &'a [String],
    ) -> BoxFuture<'a, Option<String>>;
}

/// Nobody: every question is answered no.
#[derive(Debug, Clone, Copy, Default)]
pub struct Headless;

impl Human for Headless {
    fn is_there(&self) -> bool {
        false
    }

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Answer> {
        Box::pin(std::future::ready(Answer::Deny))
    }

    fn words<'a>(&'a self, _: &'a str, _: &'a [String]) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}
