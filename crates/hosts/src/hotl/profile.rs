//! The profile: six events, views of 2048 bytes, the first rewrite, and hooks that never grant.

use std::time::Duration;

use tenter_core::contract::{
    Block, Contract, Delivery, Fold, LongText, MergeRule, PlainText, Reasons, Rewrites, Runs,
    Subject,
};
use tenter_core::event::EventKind;
use tenter_core::hook::View;
use tenter_core::profile::{Dedupe, MissingFile, Permission, Profile, StartsIn};
use tenter_core::views::{ADDITIONAL_CONTEXT_CAP, HOOK_PAYLOAD_CAP};

/// How long all hooks of one awaited event may take together.
///
/// ```
/// use tenter_hosts::hotl::{HOOK_CALL_TIMEOUT, PROFILE};
/// use tenter_core::EventKind;
///
/// assert_eq!(PROFILE.contract(&EventKind::Stop).budget, Some(HOOK_CALL_TIMEOUT));
/// ```
pub const HOOK_CALL_TIMEOUT: Duration = Duration::from_secs(15);

/// How long one process may take, unless its entry says otherwise.
pub const HOOK_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a hook may take that nobody waits for, or that runs at the end of a session.
///
/// ```
/// use tenter_hosts::hotl::{NOTIFICATION_TIMEOUT, PROFILE};
/// use tenter_core::EventKind;
///
/// assert_eq!(PROFILE.contract(&EventKind::Notification).timeout, NOTIFICATION_TIMEOUT);
/// assert_eq!(PROFILE.contract(&EventKind::SessionEnd).timeout, NOTIFICATION_TIMEOUT);
/// ```
pub const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(10);

/// Stands at the end of a text that was clipped for a hook. It never changes with the text: hooks
/// look for it, and a view that comes back unchanged is recognised by its bytes.
pub const CAP_MARK: &str = "\n<capped — the tool receives the full value>";

/// The rules of hotl for its own hooks.
pub const PROFILE: Profile = Profile {
    name: "hotl",
    contracts: &CONTRACTS,
    other: Contract::OBSERVE,
    stop_budget: 3,
    // In a row, for one session, and never for a guard: the original counts all failures of all
    // sessions (B65, B66, B67).
    strikes: Some(3),
    context_cap: ADDITIONAL_CONTEXT_CAP,
    cap_mark: CAP_MARK,
    reference: "docs/hosts/hotl.md",
    trust_command: "tenter trust --profile hotl",
    shell: None,
    permission: Permission::AfterHooks,
    self_rules: false,
    // The original runs equal entries twice (B63).
    dedupe: Dedupe::SameWork,
    // Only for guards, which the original does not have: its own hooks all let failures pass.
    recheck: true,
    tools: &TOOLS,
    event_variables: &super::wire::EVENT_VARIABLES,
    missing_file: MissingFile::IsTold,
    // A session's own root, and not that of the process (B56).
    starts_in: StartsIn::SessionCwd,
    needs_exec_bit: true,
};

/// hotl's own tools under the names that rules use.
pub(super) const TOOLS: [(&str, &str); 6] = [
    ("bash", "Bash"),
    ("edit", "Edit"),
    ("glob", "Glob"),
    ("grep", "Grep"),
    ("read", "Read"),
    ("write", "Write"),
];

/// A hook can deny and rewrite; whatever goes wrong with it is as if it had said nothing.
const BEFORE_TOOL: Contract = Contract {
    block: Block::StopsTool,
    rewrites: Rewrites::ToolInput,
    subject: Subject::ToolName,
    view: Some(View { cap: HOOK_PAYLOAD_CAP, on_truncated: None }),
    merge: MergeRule { fold: Fold::First, ..AWAITED.merge },
    ..AWAITED
};

/// Hooks replace the result one after the other. What was replaced within the time stays (B37).
const AFTER_TOOL: Contract = Contract {
    block: Block::Annotates,
    rewrites: Rewrites::Result,
    subject: Subject::ToolName,
    view: Some(View { cap: HOOK_PAYLOAD_CAP, on_truncated: None }),
    runs: Runs::InTurn,
    // After an interrupt the real output is what is recorded.
    withholds_cancelled: false,
    ..AWAITED
};

/// A hook adds context. One that clearly refuses the prompt is not passed over.
const PROMPT: Contract = Contract {
    block: Block::RefusesPrompt,
    delivers_context: true,
    plain_text: PlainText::Context,
    ..AWAITED
};

/// A hook sends the turn on, and is not asked once it has done so too often (section 9).
const END_OF_TURN: Contract = Contract { block: Block::GoesOn, asks_when_spent: false, ..AWAITED };

const BEHIND: Contract = Contract {
    delivery: Delivery::Detached,
    timeout: NOTIFICATION_TIMEOUT,
    budget: Some(NOTIFICATION_TIMEOUT),
    ..AWAITED
};

const LAST: Contract = Contract { delivery: Delivery::AwaitedToTheEnd, ..BEHIND };

const AWAITED: Contract = Contract {
    timeout: HOOK_TIMEOUT,
    budget: Some(HOOK_CALL_TIMEOUT),
    merge: MergeRule { reasons: Reasons::First, levels_bind: false, ..MergeRule::IN_ORDER },
    joins_context: true,
    long_context: LongText::IsClipped,
    fires_for_struck: false,
    ..Contract::OBSERVE
};

const CONTRACTS: [Contract; 34] = {
    let mut rows = [Contract::OBSERVE; 34];
    rows[EventKind::PreToolUse.index()] = BEFORE_TOOL;
    rows[EventKind::PostToolUse.index()] = AFTER_TOOL;
    rows[EventKind::UserPromptSubmit.index()] = PROMPT;
    rows[EventKind::Notification.index()] = BEHIND;
    rows[EventKind::Stop.index()] = END_OF_TURN;
    rows[EventKind::SessionEnd.index()] = LAST;
    rows
};

/// The events by their names in the configuration and on the wire.
pub(super) const EVENTS: [(&str, EventKind); 6] = [
    ("pre_tool", EventKind::PreToolUse),
    ("post_tool", EventKind::PostToolUse),
    ("user_prompt", EventKind::UserPromptSubmit),
    ("notification", EventKind::Notification),
    ("stop", EventKind::Stop),
    ("session_end", EventKind::SessionEnd),
];

/// What a name in the configuration means: exact, in lower case.
pub(super) fn event_kind(name: &str) -> Option<EventKind> {
    EVENTS.iter().find(|(known, _)| *known == name).map(|(_, kind)| kind.clone())
}

/// The name of an event on the wire.
pub(super) fn event_name(kind: &EventKind) -> &str {
    EVENTS.iter().find(|(_, known)| known == kind).map_or_else(|| kind.name(), |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use tenter_core::contract::OnFailure;

    use super::*;

    #[test]
    fn only_the_six_events_have_rows_of_their_own_and_none_fails_closed() {
        for kind in EventKind::ALL {
            let is_one = EVENTS.iter().any(|(_, known)| known == kind);
            let row = PROFILE.contract(kind);
            assert_eq!(*row != Contract::OBSERVE, is_one, "{kind}");
            assert_eq!(row.on_failure, OnFailure::Allow, "{kind}");
        }
    }

    #[test]
    fn the_mark_and_the_view_have_the_sizes_that_hooks_of_hotl_know() {
        assert_eq!(CAP_MARK.len(), 46);
        for kind in [EventKind::PreToolUse, EventKind::PostToolUse] {
            assert_eq!(PROFILE.contract(&kind).view.map(|view| view.cap), Some(2048));
        }
        // Prompts, last words and notifications are shown whole.
        for kind in [EventKind::UserPromptSubmit, EventKind::Stop, EventKind::Notification] {
            assert_eq!(PROFILE.contract(&kind).view, None, "{kind}");
        }
    }

    #[test]
    fn names_are_exact() {
        assert_eq!(event_kind("pre_tool"), Some(EventKind::PreToolUse));
        assert_eq!(event_kind("Pre_Tool"), None);
        assert_eq!(event_kind("PreToolUse"), None);
        assert_eq!(event_name(&EventKind::SessionEnd), "session_end");
        assert_eq!(event_name(&EventKind::SessionStart), "SessionStart");
    }
}
