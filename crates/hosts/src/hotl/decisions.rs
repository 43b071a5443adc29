//! hotl's words for what hooks decide, and its rules for several of them, for programs that have no
//! configuration: plain values in, plain values out.
//!
//! The rules are those of [`merge`](tenter_core::merge()) under the contracts of the profile; there
//! is no second set of them.

use std::fmt;

use tenter_core::event::EventKind;
use tenter_core::hook::Level;
use tenter_core::json::Json;
use tenter_core::merge::{Said, Voice, merge};
use tenter_core::verdict::{Decision, Rewrite, Verdict};

use super::PROFILE;
use super::output::DENIED;

/// What is to become of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PreToolDecision {
    /// It meets the permission rules as it is. This grants nothing.
    #[default]
    Continue,
    /// It does not run.
    Deny {
        /// What the model is told.
        message: String,
    },
    /// It meets the permission rules with this input.
    Rewrite {
        /// The whole input.
        input: Json,
    },
}

impl From<PreToolDecision> for Verdict {
    fn from(decision: PreToolDecision) -> Self {
        match decision {
            PreToolDecision::Continue => Self::none(),
            PreToolDecision::Deny { message } => Self::deny(message),
            PreToolDecision::Rewrite { input } => {
                Self::none().with_rewrite(Rewrite::Replace(input))
            }
        }
    }
}

/// What is to become of the end of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StopDecision {
    /// The turn ends.
    #[default]
    Allow,
    /// The turn goes on.
    Block {
        /// What is still to be done.
        reason: String,
    },
}

impl From<StopDecision> for Verdict {
    fn from(decision: StopDecision) -> Self {
        match decision {
            StopDecision::Allow => Self::none(),
            StopDecision::Block { reason } => Self::deny(reason),
        }
    }
}

/// What the agent tells its user.
///
/// ```
/// use tenter_core::Event;
/// use tenter_hosts::hotl::NotificationKind;
///
/// let event = Event::notification(NotificationKind::Blocked.as_str(), "run bash?");
/// assert_eq!(event.extra.get("notification_type").unwrap().as_text(), "\"blocked\"");
/// assert_eq!(NotificationKind::from_name("done"), Some(NotificationKind::Done));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotificationKind {
    /// It waits for a human.
    Blocked,
    /// It waits for a prompt.
    Idle,
    /// A turn has ended.
    Done,
}

impl NotificationKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Blocked, Self::Idle, Self::Done];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Idle => "idle",
            Self::Done => "done",
        }
    }

    /// The kind of a word on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for NotificationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What several decisions about one call come to: the first denial, else the first rewrite, else
/// nothing. They are given in the order in which their hooks were registered; who was done first
/// does not matter.
///
/// ```
/// use tenter_core::Json;
/// use tenter_hosts::hotl::{PreToolDecision, merge_pre_tool};
///
/// let input = Json::parse(r#"{"command":"ls"}"#)?;
/// let deny = |text: &str| PreToolDecision::Deny { message: text.into() };
/// let said = [
///     PreToolDecision::Continue,
///     PreToolDecision::Rewrite { input },
///     deny("first"),
///     deny("second"),
/// ];
/// assert_eq!(merge_pre_tool(said), deny("first"));
/// assert_eq!(merge_pre_tool([]), PreToolDecision::Continue);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn merge_pre_tool(decisions: impl IntoIterator<Item = PreToolDecision>) -> PreToolDecision {
    let verdicts: Vec<Verdict> = decisions.into_iter().map(Verdict::from).collect();
    let merged = merge(
        &voices(&verdicts),
        Some(&Json::empty_object()),
        PROFILE.contract(&EventKind::PreToolUse),
    );
    if merged.decision == Decision::Deny {
        return PreToolDecision::Deny { message: merged.reason.unwrap_or_else(|| DENIED.into()) };
    }
    // The rewrite itself and not what it makes of an input: nobody has said what that is.
    let applied = merged.applied.first().and_then(|at| verdicts.get(*at));
    match applied.and_then(Verdict::rewrite) {
        Some(Rewrite::Replace(input)) => PreToolDecision::Rewrite { input: input.clone() },
        _ => PreToolDecision::Continue,
    }
}

/// What several decisions about the end of a turn come to: the first block, else it ends.
///
/// ```
/// use tenter_hosts::hotl::{StopDecision, merge_stop};
///
/// let block = |text: &str| StopDecision::Block { reason: text.into() };
/// assert_eq!(merge_stop([StopDecision::Allow, block("a"), block("b")]), block("a"));
/// assert_eq!(merge_stop([StopDecision::Allow]), StopDecision::Allow);
/// ```
pub fn merge_stop(decisions: impl IntoIterator<Item = StopDecision>) -> StopDecision {
    let verdicts: Vec<Verdict> = decisions.into_iter().map(Verdict::from).collect();
    let merged = merge(&voices(&verdicts), None, PROFILE.contract(&EventKind::Stop));
    if merged.decision == Decision::Deny {
        StopDecision::Block { reason: merged.reason.unwrap_or_else(|| DENIED.into()) }
    } else {
        StopDecision::Allow
    }
}

fn voices(verdicts: &[Verdict]) -> Vec<Voice<'_>> {
    let voice = |verdict| Voice { level: Level::User, said: Said::Verdict(verdict) };
    verdicts.iter().map(voice).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rewrite(text: &str) -> PreToolDecision {
        PreToolDecision::Rewrite { input: Json::parse(text).unwrap() }
    }

    #[test]
    fn k3_of_rewrites_the_first_that_can_be_executed_is_taken() {
        let (a, b) = (rewrite(r#"{"command":"a"}"#), rewrite(r#"{"command":"b"}"#));
        assert_eq!(merge_pre_tool([PreToolDecision::Continue, a.clone(), b]), a);
        // The original hands a text to the tool.
        assert_eq!(merge_pre_tool([rewrite(r#""text""#), a.clone()]), a);
        assert_eq!(merge_pre_tool([rewrite("7")]), PreToolDecision::Continue);
        assert_eq!(merge_pre_tool([rewrite("{}")]), rewrite("{}"));
    }

    #[test]
    fn k1_k2_k4_deny_over_rewrite_over_continue_and_the_first_block() {
        let deny = |text: &str| PreToolDecision::Deny { message: text.into() };
        let change = rewrite(r#"{"a":1}"#);
        let said = [PreToolDecision::Continue, change.clone(), deny("a"), deny("b")];
        assert_eq!(merge_pre_tool(said.clone()), deny("a"));
        assert_eq!(merge_pre_tool(said.into_iter().rev()), deny("b"));
        assert_eq!(merge_pre_tool([PreToolDecision::Continue, change.clone()]), change);
        assert_eq!(merge_pre_tool([]), PreToolDecision::Continue);
        let block = |text: &str| StopDecision::Block { reason: text.into() };
        assert_eq!(merge_stop([StopDecision::Allow, block("a"), block("b")]), block("a"));
        assert_eq!(merge_stop([]), StopDecision::Allow);
    }

    fn any_decision() -> impl Strategy<Value = PreToolDecision> {
        prop_oneof![
            Just(PreToolDecision::Continue),
            "[a-c]{1,2}".prop_map(|message| PreToolDecision::Deny { message }),
            "[a-c]".prop_map(|key| rewrite(&format!(r#"{{"{key}":1}}"#))),
        ]
    }

    proptest! {
        /// Written a second time, slow and plain.
        #[test]
        fn the_rules_are_deny_over_rewrite_over_continue_first_among_equals(
            said in proptest::collection::vec(any_decision(), 0..6),
        ) {
            let deny = said.iter().find(|one| matches!(one, PreToolDecision::Deny { .. }));
            let change = said.iter().find(|one| matches!(one, PreToolDecision::Rewrite { .. }));
            let expected = deny.or(change).cloned().unwrap_or_default();
            prop_assert_eq!(merge_pre_tool(said), expected);
        }
    }
}
