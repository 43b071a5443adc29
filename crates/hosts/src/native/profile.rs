//! The native profile: one row for every kind of event.

use std::time::Duration;

use tenter_core::contract::{Block, Contract, Delivery, OnFailure, PlainText, Rewrites, Subject};
use tenter_core::event::EventKind;
use tenter_core::profile::{Dedupe, MissingFile, Permission, Profile, StartsIn};

/// The rules of a session that tenter runs itself.
pub const PROFILE: Profile = Profile {
    name: "tenter",
    contracts: &CONTRACTS,
    other: Contract::OBSERVE,
    stop_budget: 8,
    strikes: Some(3),
    context_cap: 10_000,
    cap_mark: tenter_core::views::CAP_MARK,
    reference: "docs/reference/events.md",
    trust_command: "tenter trust",
    shell: None,
    permission: Permission::AroundHooks,
    self_rules: true,
    dedupe: Dedupe::SameWork,
    recheck: true,
    tools: &[],
    event_variables: &[],
    missing_file: MissingFile::Fails,
    starts_in: StartsIn::Entry,
    needs_exec_bit: true,
};

const CONTRACTS: [Contract; 34] = {
    let mut rows = [Contract::OBSERVE; 34];
    let mut at = 0;
    while at < rows.len() {
        rows[at] = row(&EventKind::ALL[at]);
        at += 1;
    }
    rows
};

const OBSERVE: Contract = Contract::OBSERVE;

/// Before a tool runs: the one place where a block is a real veto of an action.
const BEFORE_TOOL: Contract = Contract {
    block: Block::StopsTool,
    rewrites: Rewrites::ToolInput,
    on_failure: OnFailure::Block,
    delivers_context: true,
    subject: Subject::ToolName,
    ..OBSERVE
};

/// After a tool has run: nothing can be undone, but the model sees what a hook makes of the result.
const AFTER_TOOL: Contract = Contract {
    block: Block::Annotates,
    rewrites: Rewrites::Result,
    delivers_context: true,
    subject: Subject::ToolName,
    ..OBSERVE
};

const END_OF_TURN: Contract = Contract { block: Block::GoesOn, delivers_context: true, ..OBSERVE };

const TASK: Contract = Contract { block: Block::Vetoes, on_failure: OnFailure::Block, ..OBSERVE };

const BEHIND: Contract =
    Contract { delivery: Delivery::Detached, timeout: Duration::from_secs(5), ..OBSERVE };

/// A prompt or a session begins: people wait, so hooks are quick.
const START: Contract = Contract {
    plain_text: PlainText::Context,
    delivers_context: true,
    timeout: Duration::from_secs(10),
    ..OBSERVE
};

const fn about(subject: Subject, contract: Contract) -> Contract {
    Contract { subject, ..contract }
}

const fn row(kind: &EventKind) -> Contract {
    use EventKind as E;
    match kind {
        E::SessionStart => {
            about(Subject::Field("source"), Contract { block: Block::EndsRun, ..START })
        }
        E::UserPromptSubmit => {
            Contract { block: Block::RefusesPrompt, rewrites: Rewrites::Prompt, ..START }
        }
        E::UserPromptExpansion => {
            about(Subject::Field("command_name"), Contract { block: Block::RefusesPrompt, ..START })
        }
        E::PreToolUse | E::PreSkillShellCommand => BEFORE_TOOL,
        E::PermissionRequest => {
            // Only the decision reaches the question; there is no model to read a context.
            Contract {
                block: Block::AnswersNo,
                on_failure: OnFailure::Ask,
                delivers_context: false,
                ..BEFORE_TOOL
            }
        }
        E::PostToolUse | E::PostToolUseFailure => AFTER_TOOL,
        E::Stop => END_OF_TURN,
        E::SubagentStop => about(Subject::AgentType, END_OF_TURN),
        E::TaskCreated | E::TaskCompleted => TASK,
        E::PreCompact => {
            about(Subject::Field("trigger"), Contract { block: Block::SkipsCompaction, ..OBSERVE })
        }
        E::PostCompact => about(Subject::Field("trigger"), BEHIND),
        E::Notification => about(Subject::Field("notification_type"), BEHIND),
        E::TeammateIdle => BEHIND,
        E::SubagentStart => {
            about(Subject::AgentType, Contract { delivers_context: true, ..BEHIND })
        }
        E::SessionEnd => about(
            Subject::Field("reason"),
            Contract {
                delivery: Delivery::AwaitedToTheEnd,
                timeout: Duration::from_secs(1),
                ..OBSERVE
            },
        ),
        E::PermissionDenied => about(Subject::ToolName, OBSERVE),
        E::PostToolBatch => Contract { delivers_context: true, ..OBSERVE },
        E::PostModelSwitch => {
            Contract { delivers_context: true, subject: Subject::Field("to_model"), ..OBSERVE }
        }
        E::PreModelSwitch => about(Subject::Field("to_model"), OBSERVE),
        E::Setup => about(Subject::Field("trigger"), OBSERVE),
        E::StopFailure => about(Subject::Field("error"), OBSERVE),
        E::InstructionsLoaded => about(Subject::Field("load_reason"), OBSERVE),
        E::ConfigChange | E::DirectoryAdded => about(Subject::Field("source"), OBSERVE),
        E::FileChanged => about(Subject::Field("file_path"), OBSERVE),
        E::Elicitation | E::ElicitationResult => about(Subject::Field("mcp_server_name"), OBSERVE),
        E::MessageDisplay | E::CwdChanged | E::WorktreeCreate | E::WorktreeRemove | E::Other(_) => {
            OBSERVE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_stands_at_its_own_row() {
        for kind in EventKind::ALL {
            assert_eq!(*PROFILE.contract(kind), row(kind), "{kind}");
        }
        assert_eq!(*PROFILE.contract(&EventKind::of("BeforeModel")), OBSERVE);
    }

    #[test]
    fn only_these_events_fail_closed() {
        let closed: Vec<_> = EventKind::ALL
            .iter()
            .filter(|kind| PROFILE.contract(kind).on_failure == OnFailure::Block)
            .map(EventKind::name)
            .collect();
        assert_eq!(closed, ["PreToolUse", "TaskCreated", "TaskCompleted", "PreSkillShellCommand"]);
    }

    #[test]
    fn only_these_events_run_behind_the_host() {
        let behind: Vec<_> = EventKind::ALL
            .iter()
            .filter(|kind| PROFILE.contract(kind).delivery == Delivery::Detached)
            .map(EventKind::name)
            .collect();
        assert_eq!(behind, ["Notification", "SubagentStart", "TeammateIdle", "PostCompact"]);
    }
}
