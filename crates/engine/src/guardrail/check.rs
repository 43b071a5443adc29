//! One check: the port to the checker, and what keeps a check within its bounds.
//!
//! Owns the time, the cancellation and the size of a check. What its verdict means is not decided here.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tenter_core::outcome::Failure;
use tokio::runtime::Handle;

use super::prompt::prompt;
use super::rules::Phase;
use super::verdict::{CheckVerdict, MOST_REASON, one_line};
use crate::function::panic_text;
use crate::runner::RunContext;

/// How much is checked at once, in bytes. More is not cut, for then the end would pass unread: it is what
/// could not be checked.
pub const MOST_CHECKED: usize = 1 << 20;

/// What a checker is asked. Both texts are for the model as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRequest {
    /// Whether it is about a call or about a result.
    pub phase: Phase,
    /// The tool's name as the event gives it.
    pub tool: String,
    /// What the model is told about its task: the system prompt.
    pub instructions: String,
    /// What it is to judge, between markers that the instructions name: the one message.
    pub content: String,
}

/// Why a checker gave no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CheckFailure {
    /// What went wrong: a lower-case fragment.
    pub message: String,
}

impl CheckFailure {
    /// A failure with this text.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// The port to the model that judges: text goes in, text comes out.
///
/// It is no agent. It has no tools and fires no events, so a check cannot lead to another one. Dropping
/// the future ends the request.
pub trait Checker: Send + Sync {
    /// Asks the model and gives its whole reply as it came.
    fn check<'a>(
        &'a self,
        request: &'a CheckRequest,
    ) -> BoxFuture<'a, Result<String, CheckFailure>>;
}

/// What a check came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Checked {
    /// The checker has judged.
    Judged(CheckVerdict),
    /// The checker was asked and did not judge.
    Failed(Failure, String),
    /// There is more to read than a check may hold, so the checker was not asked.
    TooLong(String),
    /// The caller no longer wants to know.
    Cancelled,
}

/// Asks a checker about a text, within `most_time` and what the caller lets it.
pub(super) async fn check(
    checker: &dyn Checker,
    phase: Phase,
    tool: &str,
    untrusted: &str,
    rubric: Option<&str>,
    most_time: Duration,
    cx: &RunContext,
) -> Checked {
    if cx.cancel.is_cancelled() {
        return Checked::Cancelled;
    }
    if untrusted.len() > MOST_CHECKED {
        let (length, most) = (untrusted.len(), MOST_CHECKED);
        return Checked::TooLong(format!("it has {length} bytes, and {most} can be checked"));
    }
    if Handle::try_current().is_err() {
        let text = "a checker can only be waited for inside a tokio runtime";
        return Checked::Failed(Failure::Start, text.to_owned());
    }
    let written = prompt(phase, tool, untrusted, rubric, &secret());
    let request = CheckRequest {
        phase,
        tool: tool.to_owned(),
        instructions: written.instructions,
        content: written.content,
    };
    let left = cx.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    let limit = left.map_or(most_time, |left| left.min(most_time));
    // A checker that panics before it gives a future has failed as well.
    let asked = AssertUnwindSafe(async { checker.check(&request).await }).catch_unwind();
    tokio::select! {
        biased;
        reply = asked => match reply {
            Ok(Ok(reply)) => match CheckVerdict::parse(&reply) {
                Ok(verdict) => Checked::Judged(verdict),
                Err(why) => Checked::Failed(Failure::Output, why),
            },
            Ok(Err(failure)) => {
                Checked::Failed(Failure::Http, one_line(&failure.message, MOST_REASON))
            }
            Err(panic) => {
                Checked::Failed(Failure::Panic, one_line(&panic_text(panic), MOST_REASON))
            }
        },
        () = cx.cancel.cancelled() => Checked::Cancelled,
        () = tokio::time::sleep(limit) => {
            let text = format!("the checker took longer than {} ms", limit.as_millis());
            Checked::Failed(Failure::Timeout, text)
        }
    }
}

/// A word that nobody outside this process can guess, another one for each check: what hashes under a
/// random key come to.
fn secret() -> String {
    let keys = RandomState::new();
    format!("{:016x}{:016x}", keys.hash_one(0_u8), keys.hash_one(1_u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_checks_share_a_word() {
        let words: std::collections::HashSet<String> = (0..1000).map(|_| secret()).collect();
        assert_eq!(words.len(), 1000);
        assert!(words.iter().all(|word| word.len() == 32));
    }
}
