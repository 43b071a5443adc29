//! The profile: hooks before a tool runs, and nothing else.

use std::time::Duration;

use tenter_core::contract::{Block, Contract, MergeRule, OnFailure, Rewrites, Subject};
use tenter_core::event::EventKind;
use tenter_core::profile::{Dedupe, MissingFile, Permission, Profile, StartsIn};

/// The rules of Crush for its own hooks.
pub const PROFILE: Profile = Profile {
    name: "crush",
    contracts: &CONTRACTS,
    other: Contract::OBSERVE,
    stop_budget: 0,
    strikes: None,
    context_cap: 10_000,
    cap_mark: tenter_core::views::CAP_MARK,
    reference: "docs/hosts/crush.md",
    trust_command: "tenter trust --profile crush",
    // Crush brings a shell of its own, which reads what bash reads.
    shell: Some("bash"),
    permission: Permission::AfterHooksAllowApproves,
    self_rules: false,
    dedupe: Dedupe::SameCommand,
    recheck: false,
    tools: &TOOLS,
    event_variables: &super::wire::EVENT_VARIABLES,
    missing_file: MissingFile::IsTold,
    starts_in: StartsIn::SessionCwd,
    needs_exec_bit: false,
};

/// Crush's own tools under the names that rules use.
const TOOLS: [(&str, &str); 10] = [
    ("agent", "Agent"),
    ("agentic_fetch", "WebFetch"),
    ("bash", "Bash"),
    ("edit", "Edit"),
    ("fetch", "WebFetch"),
    ("glob", "Glob"),
    ("grep", "Grep"),
    ("multiedit", "MultiEdit"),
    ("view", "Read"),
    ("write", "Write"),
];

/// A hook can deny the call, end the turn, allow without a question, and change the input. Whatever
/// goes wrong with a hook lets the call pass.
const BEFORE_TOOL: Contract = Contract {
    block: Block::StopsTool,
    rewrites: Rewrites::ToolInput,
    on_failure: OnFailure::Allow,
    delivers_context: true,
    subject: Subject::ToolName,
    timeout: Duration::from_secs(30),
    // The project's hooks come after the user's, and win where both set a key.
    merge: MergeRule { levels_bind: false, context_of_stopped: true, ..MergeRule::IN_ORDER },
    ..Contract::OBSERVE
};

const CONTRACTS: [Contract; 34] = {
    let mut rows = [Contract::OBSERVE; 34];
    rows[EventKind::PreToolUse.index()] = BEFORE_TOOL;
    rows
};

/// What a name of an event means: letter case and underscores do not matter, dashes do.
pub(crate) fn event_kind(name: &str) -> Option<EventKind> {
    let plain = name.replace('_', "").to_ascii_lowercase();
    (plain == "pretooluse").then_some(EventKind::PreToolUse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_event_before_a_tool_has_a_row_of_its_own() {
        for kind in EventKind::ALL {
            let is_before_tool = *kind == EventKind::PreToolUse;
            assert_eq!(*PROFILE.contract(kind) != Contract::OBSERVE, is_before_tool, "{kind}");
        }
        assert_eq!(PROFILE.contract(&EventKind::PreToolUse).on_failure, OnFailure::Allow);
    }

    #[test]
    fn every_spelling_without_dashes_is_the_event() {
        for name in ["PreToolUse", "pretooluse", "pre_tool_use", "PRE_TOOL_USE", "preToolUse"] {
            assert_eq!(event_kind(name), Some(EventKind::PreToolUse), "{name}");
        }
        for name in ["pre-tool-use", "PostToolUse", ""] {
            assert_eq!(event_kind(name), None, "{name}");
        }
    }
}
