//! The agent's questions on their way to the desk, and the answers on their way back.

use futures_util::future::BoxFuture;
use tenter_agent::{Answer, Human, Question};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// A question that waits for an answer. Without one it is answered no.
pub(crate) enum Asked {
    /// Whether a call may run.
    Permission(Question, oneshot::Sender<Answer>),
    /// For words.
    Words {
        /// The question.
        question: String,
        /// What may be chosen from; anything, if there is none.
        choices: Vec<String>,
        /// Where the words go.
        answer: oneshot::Sender<Option<String>>,
    },
}

/// Somebody at the desk.
pub(super) struct AtDesk(UnboundedSender<Asked>);

impl AtDesk {
    pub(super) const fn new(desk: UnboundedSender<Asked>) -> Self {
        Self(desk)
    }
}

impl Human for AtDesk {
    fn is_there(&self) -> bool {
        true
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        let (answer, answered) = oneshot::channel();
        let _ = self.0.send(Asked::Permission(question.clone(), answer));
        Box::pin(async move { answered.await.unwrap_or(Answer::Deny) })
    }

    fn words<'a>(
        &'a self,
        question: &'a str,
        choices: &'a [String],
    ) -> BoxFuture<'a, Option<String>> {
        let (answer, answered) = oneshot::channel();
        let question = question.to_owned();
        let _ = self.0.send(Asked::Words { question, choices: choices.to_vec(), answer });
        Box::pin(async move { answered.await.unwrap_or_default() })
    }
}
