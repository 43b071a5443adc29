//! The profile: nine phases, of which five can hold something up and three are told behind the run.
//!
//! Where the page of mecatl and its code differ, the page holds; numbers name measured behaviours.

use std::time::Duration;

use tenter_core::contract::{
    Asks, Block, Contract, Delivery, MergeRule, OnFailure, Rewrites, Runs, Subject,
};
use tenter_core::event::EventKind;
use tenter_core::profile::{Dedupe, MissingFile, Permission, Profile, StartsIn};

/// The rules of mecatl for its hooks.
pub const PROFILE: Profile = Profile {
    name: "mecatl",
    contracts: &CONTRACTS,
    other: Contract::OBSERVE,
    stop_budget: 0,
    strikes: None,
    context_cap: 10_000,
    cap_mark: tenter_core::views::CAP_MARK,
    reference: "docs/hosts/mecatl.md",
    trust_command: "tenter trust --profile mecatl",
    shell: None,
    // Hooks hear of calls that policy has let through; a rewrite is not judged again (52–57).
    permission: Permission::BeforeHooks,
    self_rules: false,
    dedupe: Dedupe::Never,
    recheck: false,
    tools: &[("Shell", "Bash"), ("Subagent", "Agent")],
    event_variables: &[],
    // Some interpreters exit with 2 for a script that is not there, which would read as a block.
    missing_file: MissingFile::Fails,
    // The workspace (B31): what a hook is must not depend on where the agent has gone.
    starts_in: StartsIn::Entry,
    needs_exec_bit: true,
};

/// A replacement takes the place of the one before it, whatever the levels. A block that may be asked
/// about is a block where no tool is to run (74).
const MERGE: MergeRule =
    MergeRule { levels_bind: false, asks: Asks::Denies, ..MergeRule::IN_ORDER };

/// Hooks are asked one after the other and waited for, as mecatl's runners are that stand around each
/// other: each sees what those before it made of the payload (B125), so that a second redactor cannot
/// bring back what the first one took out.
const ASKED: Contract = Contract {
    timeout: Duration::from_secs(30),
    runs: Runs::InTurn,
    merge: MERGE,
    ..Contract::OBSERVE
};

/// How long all hooks of a phase have that is told behind the run, whatever their own time (B100).
pub const BEHIND: Duration = Duration::from_secs(5);

/// The run is not held up, and a block or an error is nothing (99–106).
const TOLD: Contract = Contract {
    delivery: Delivery::Detached,
    timeout: BEHIND,
    budget: Some(BEHIND),
    ..Contract::OBSERVE
};

const TASK: Contract = Contract { block: Block::Vetoes, on_failure: OnFailure::Block, ..ASKED };

const AFTER_TOOL: Contract = Contract {
    block: Block::Annotates,
    rewrites: Rewrites::Result,
    subject: Subject::ToolName,
    ..ASKED
};

const CONTRACTS: [Contract; 34] = {
    let mut rows = [Contract::OBSERVE; 34];
    rows[EventKind::SessionStart.index()] =
        Contract { block: Block::EndsRun, on_failure: OnFailure::Block, ..ASKED };
    rows[EventKind::UserPromptSubmit.index()] = Contract {
        block: Block::RefusesPrompt,
        rewrites: Rewrites::Prompt,
        on_failure: OnFailure::Block,
        ..ASKED
    };
    rows[EventKind::PreToolUse.index()] = Contract {
        block: Block::StopsTool,
        rewrites: Rewrites::ToolInput,
        on_failure: OnFailure::Block,
        subject: Subject::ToolName,
        // What is asked about is the call without what the asking hook would make of it (69, 75).
        merge: MergeRule { asks: Asks::Bare, ..MERGE },
        ..ASKED
    };
    // A tool that failed has run too: the phase is the same (91).
    rows[EventKind::PostToolUse.index()] = AFTER_TOOL;
    rows[EventKind::PostToolUseFailure.index()] = AFTER_TOOL;
    rows[EventKind::Stop.index()] = TOLD;
    rows[EventKind::SubagentStop.index()] = TOLD;
    rows[EventKind::TeammateIdle.index()] = TOLD;
    rows[EventKind::TaskCreated.index()] = TASK;
    rows[EventKind::TaskCompleted.index()] = TASK;
    rows
};

/// The phases, as hooks are told of them.
pub const PHASES: [&str; 9] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "SubagentStop",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
];

/// The phase of an event; `None` for one that mecatl does not have.
pub fn phase(kind: &EventKind) -> Option<&'static str> {
    let name = match kind {
        EventKind::PostToolUseFailure => "PostToolUse",
        other => other.name(),
    };
    PHASES.into_iter().find(|phase| *phase == name)
}

/// What the name of a phase means.
pub(super) fn event_kind(name: &str) -> Option<EventKind> {
    PHASES.contains(&name).then(|| EventKind::of(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_has_a_row_and_nothing_else_has() {
        for kind in EventKind::ALL {
            let has_row = *PROFILE.contract(kind) != Contract::OBSERVE;
            assert_eq!(has_row, phase(kind).is_some(), "{kind}");
        }
        for name in PHASES {
            assert_eq!(event_kind(name).as_ref().and_then(phase), Some(name));
        }
        assert_eq!(event_kind("Notification"), None);
    }

    #[test]
    fn an_error_blocks_where_the_page_says_so() {
        let closed: Vec<_> = PHASES
            .into_iter()
            .filter(|name| PROFILE.contract(&EventKind::of(name)).on_failure == OnFailure::Block)
            .collect();
        assert_eq!(
            closed,
            ["SessionStart", "UserPromptSubmit", "PreToolUse", "TaskCreated", "TaskCompleted"]
        );
    }
}
