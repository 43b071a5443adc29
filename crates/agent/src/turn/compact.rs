//! Compaction: a long conversation becomes a summary of it and its end.
//!
//! Owns when, how, and what stays word for word. A hook may keep it from happening, and is told of it
//! afterwards; a model that cannot summarise costs the turn nothing but a warning.

use futures_util::StreamExt as _;
use tenter::core::event::Payload;
use tenter::{CancellationToken, Decision, Event, EventKind, Json};

use crate::message::Message;
use crate::provider::{Delta, ProviderError, Request};
use crate::store::Record;
use crate::stream::Status;
use crate::turn::{Ended, Lane};

/// What the model is asked for.
const ASK: &str = "Summarise our conversation so far, so that the work can go on from your summary \
                   alone: what the user wants, in their words where they matter; what was decided and \
                   why; what was done, with the names of files and commands; what is known to work \
                   or fail; what comes next. Write the summary and nothing else.";
/// What stands before a summary.
const HEAD: &str = "The conversation so far is not shown any more. This is a summary of it:";

/// What a compaction came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compacted {
    /// The conversation begins with this summary now.
    Done {
        /// The summary.
        summary: String,
    },
    /// A hook kept it from happening, or there was nothing to summarise.
    Skipped {
        /// Why.
        reason: String,
    },
    /// The model could not summarise.
    Failed {
        /// Why.
        reason: String,
    },
}

/// Who wants a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trigger {
    Manual,
    Auto,
}

impl Trigger {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
        }
    }
}

/// How much of a conversation there is, in bytes.
fn size(history: &[Message]) -> usize {
    let texts = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
    let of = |message: &Message| match message {
        Message::User { text, context } => text.len() + texts(context),
        Message::Assistant { text, calls } => {
            text.len() + calls.iter().map(|call| call.input.as_text().len()).sum::<usize>()
        }
        Message::Results(results) => {
            results.iter().map(|one| one.content.len() + texts(&one.context)).sum()
        }
    };
    history.iter().map(of).sum()
}

/// How many messages at the end stay word for word: what the user has just said, or what the model has
/// just called with what that gave. A call is never parted from its result.
fn kept(history: &[Message]) -> usize {
    match history {
        [.., Message::User { .. }] => 1,
        [.., Message::Assistant { .. }, Message::Results(_)] => 2,
        _ => 0,
    }
}

/// A summary in the place of all but the last `kept` messages.
pub(crate) fn summarised(history: &mut Vec<Message>, summary: &str, kept: usize) {
    let end = history.len().saturating_sub(kept);
    history.drain(..end);
    history.insert(0, Message::user(format!("{HEAD}\n\n{summary}")));
}

impl Lane {
    /// Compacts the conversation if it has become too long. `Err` is how the turn ends instead.
    pub(super) async fn compact_if_long(
        &mut self,
        cancel: &CancellationToken,
    ) -> Result<(), Ended> {
        let Some(most) = self.shared.settings.compact_at else { return Ok(()) };
        let now = size(&self.history);
        if now <= most.max(self.compact_above) {
            return Ok(());
        }
        let done = self.compact(Trigger::Auto, "", cancel).await?;
        self.compact_above = match &done {
            Compacted::Done { .. } => 0,
            // What did not work is tried again when there is a good deal more.
            _ => now + now / 4,
        };
        if let Compacted::Failed { reason } = &done {
            let text = format!("the conversation could not be summarised: {reason}");
            self.shared.tell(&self.who, "warning", &text);
        }
        Ok(())
    }

    /// Compacts the conversation. `Err` is how the turn ends instead.
    pub(crate) async fn compact(
        &mut self,
        trigger: Trigger,
        wishes: &str,
        cancel: &CancellationToken,
    ) -> Result<Compacted, Ended> {
        let kept = match trigger {
            Trigger::Auto => kept(&self.history),
            // Between two turns nothing is under way.
            Trigger::Manual => 0,
        };
        if self.history.len() <= kept {
            let reason = "there is nothing to summarise yet".into();
            return Ok(Compacted::Skipped { reason });
        }
        let about = |kind: EventKind| {
            Event::new(kind, Payload::Open).with_field("trigger", Json::string(trigger.as_str()))
        };
        let event =
            about(EventKind::PreCompact).with_field("custom_instructions", Json::string(wishes));
        let fired = self.shared.hooks.fire(&self.event(event), &self.who, cancel).await;
        let outcome = fired.ok_or_else(Ended::cancelled)?;
        if outcome.halt {
            return Err(Ended::new(Status::Halted, outcome.reason));
        }
        if !matches!(outcome.decision, Decision::None | Decision::Allow) {
            let reason = outcome.reason.unwrap_or_else(|| "a hook gave no reason".into());
            return Ok(Compacted::Skipped { reason });
        }
        let summary = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Ended::cancelled()),
            summary = self.summary(kept, wishes) => summary,
        };
        let summary = match summary {
            Ok(summary) if !summary.trim().is_empty() => summary,
            Ok(_) => return Ok(Compacted::Failed { reason: "the model gave no summary".into() }),
            Err(error) => return Ok(Compacted::Failed { reason: error.message }),
        };
        let (messages, bytes) = (self.history.len(), size(&self.history));
        self.shared.keep(&self.who, &Record::Compacted { summary: summary.clone(), kept });
        summarised(&mut self.history, &summary, kept);
        let text = format!(
            "the conversation was summarised: {messages} messages of {bytes} bytes became {} of {}",
            self.history.len(),
            size(&self.history)
        );
        self.shared.tell(&self.who, "compacted", &text);
        let told = summary.clone();
        let event =
            || about(EventKind::PostCompact).with_field("compact_summary", Json::string(&told));
        self.shared.hooks.notify(event, &EventKind::PostCompact, &self.who, None);
        Ok(Compacted::Done { summary })
    }

    async fn summary(&self, kept: usize, wishes: &str) -> Result<String, ProviderError> {
        let mut messages = self.history.clone();
        messages.truncate(self.history.len() - kept);
        let text = if wishes.is_empty() { ASK.to_owned() } else { format!("{ASK}\n\n{wishes}") };
        messages.push(Message::user(text));
        let request = Request {
            agent: self.who.clone(),
            system: self.shared.settings.system.clone(),
            messages,
            tools: self.shared.catalog.specs(),
            may_call: false,
        };
        let mut deltas = self.shared.provider.stream(request);
        let mut summary = String::new();
        while let Some(delta) = deltas.next().await {
            match delta? {
                Delta::Text(text) => summary.push_str(&text),
                // It was told that it may call none.
                Delta::Call(_) => {}
            }
        }
        Ok(summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{ToolCall, ToolResult};

    fn called() -> [Message; 2] {
        let call =
            ToolCall { id: "c".into(), name: "Bash".into(), input: Json::parse("{}").unwrap() };
        let result = ToolResult {
            call_id: "c".into(),
            tool: "Bash".into(),
            content: "12345".into(),
            is_error: false,
            context: vec!["123".into()],
        };
        [
            Message::Assistant { text: "1234".into(), calls: vec![call] },
            Message::Results(vec![result]),
        ]
    }

    #[test]
    fn what_is_under_way_stays_whole() {
        let [assistant, results] = called();
        let user = Message::user("abc");
        assert_eq!(kept(&[]), 0);
        assert_eq!(kept(std::slice::from_ref(&user)), 1);
        assert_eq!(kept(&[user.clone(), assistant.clone(), results.clone()]), 2);
        assert_eq!(kept(&[user.clone(), assistant.clone()]), 0);
        let mut history = vec![user.clone(), assistant.clone(), results.clone()];
        assert_eq!(size(&history), 3 + 4 + 2 + 5 + 3);
        summarised(&mut history, "s", 2);
        assert_eq!(history, [Message::user(format!("{HEAD}\n\ns")), assistant, results]);
    }
}
