//! What one hook said.

use std::borrow::Cow;

use serde::Serialize;

use crate::json::{Fields, Json};

/// What is to become of the action. The order is the order of severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// No opinion.
    #[default]
    None,
    /// It may go ahead.
    Allow,
    /// A human decides.
    Ask,
    /// It is parked, to be decided later.
    Defer,
    /// It does not happen.
    Deny,
}

impl Decision {
    /// The word in JSON and in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Defer => "defer",
            Self::Deny => "deny",
        }
    }

    /// Whether it holds the action up.
    pub const fn restricts(self) -> bool {
        matches!(self, Self::Ask | Self::Defer | Self::Deny)
    }
}

/// A change to the payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewrite {
    /// Replaces top-level keys and leaves the others.
    Patch(Fields),
    /// Replaces the whole.
    Replace(Json),
}

/// What one hook said. Small when it says little: a verdict without an opinion allocates nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// What is to become of the action.
    pub decision: Decision,
    /// Whether the whole turn ends.
    pub halt: bool,
    /// Why, for the model or the user.
    pub reason: Option<Cow<'static, str>>,
    more: Option<Box<More>>,
}

/// The rarer parts of a verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct More {
    context: Option<String>,
    rewrite: Option<Rewrite>,
    message: Option<String>,
}

impl Verdict {
    /// No opinion.
    #[inline]
    pub const fn none() -> Self {
        Self { decision: Decision::None, halt: false, reason: None, more: None }
    }

    /// A decision without a reason.
    #[inline]
    pub const fn decide(decision: Decision) -> Self {
        Self { decision, halt: false, reason: None, more: None }
    }

    /// The action may go ahead.
    pub const fn allow() -> Self {
        Self::decide(Decision::Allow)
    }

    /// The action does not happen.
    pub fn deny(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::decide(Decision::Deny).because(reason)
    }

    /// A human decides.
    pub fn ask(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::decide(Decision::Ask).because(reason)
    }

    /// The action is parked.
    pub fn defer(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::decide(Decision::Defer).because(reason)
    }

    /// The action does not happen and the turn ends.
    pub fn halt(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::deny(reason).with_halt(true)
    }

    /// With a reason.
    #[must_use]
    pub fn because(mut self, reason: impl Into<Cow<'static, str>>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Ending the turn, or not.
    #[must_use]
    pub fn with_halt(mut self, halt: bool) -> Self {
        self.halt = halt;
        self
    }

    /// With a text for the model.
    #[must_use]
    pub fn with_context(mut self, context: impl Into<String>) -> Self {
        self.more.get_or_insert_default().context = Some(context.into());
        self
    }

    /// With a change to the payload.
    #[must_use]
    pub fn with_rewrite(mut self, rewrite: Rewrite) -> Self {
        self.more.get_or_insert_default().rewrite = Some(rewrite);
        self
    }

    /// With a text for the user.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.more.get_or_insert_default().message = Some(message.into());
        self
    }

    /// The text for the model.
    pub fn context(&self) -> Option<&str> {
        self.more.as_ref()?.context.as_deref()
    }

    /// The change to the payload.
    pub fn rewrite(&self) -> Option<&Rewrite> {
        self.more.as_ref()?.rewrite.as_ref()
    }

    /// The text for the user.
    pub fn message(&self) -> Option<&str> {
        self.more.as_ref()?.message.as_deref()
    }

    /// Takes the change to the payload out.
    pub fn take_rewrite(&mut self) -> Option<Rewrite> {
        self.more.as_mut()?.rewrite.take()
    }

    /// Whether it says nothing at all.
    #[inline]
    pub fn is_silent(&self) -> bool {
        self.decision == Decision::None
            && !self.halt
            && self.reason.is_none()
            && self.more.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn severity_is_deny_defer_ask_allow_none() {
        use Decision::{Allow, Ask, Defer, Deny, None};
        let mut all = [Allow, Deny, None, Ask, Defer];
        all.sort();
        assert_eq!(all, [None, Allow, Ask, Defer, Deny]);
    }

    #[test]
    fn a_verdict_stays_small() {
        assert!(size_of::<Verdict>() <= 40, "{}", size_of::<Verdict>());
    }
}
