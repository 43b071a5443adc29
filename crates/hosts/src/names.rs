//! How other hosts call their events: aliases of a standard kind, and events that only they have.
//!
//! Until a host has a module of its own, its names stand here, so that a hooks file may use them
//! and a slip is told from a stranger.

use tenter_core::event::EventKind;

/// Names that mean a standard kind.
const ALIASES: &[(EventKind, &[&str])] = &[
    (
        EventKind::SessionStart,
        &[
            "session_start",
            "sessionStart",
            "agentSpawn",
            "TaskStart",
            "TaskResume",
            "session.created",
            "session.start",
            "on_session_start",
        ],
    ),
    (
        EventKind::SessionEnd,
        &["session_end", "sessionEnd", "SessionShutdown", "session_shutdown", "on_session_end"],
    ),
    (
        EventKind::UserPromptSubmit,
        &[
            "BeforeAgent",
            "user_prompt_submit",
            "PromptSubmit",
            "beforeSubmitPrompt",
            "userPromptSubmitted",
            "pre_user_prompt",
            "userPromptSubmit",
            "user_prompt",
            "chat.message",
            "input",
            "agent.start",
        ],
    ),
    (EventKind::UserPromptExpansion, &["userPromptTransformed"]),
    (
        EventKind::PreToolUse,
        &[
            "BeforeTool",
            "pre_tool_use",
            "preToolUse",
            "tool.execute.before",
            "tool_call",
            "tool.call",
            "pre_tool",
            "pre_tool_call",
            "beforeShellExecution",
            "beforeMCPExecution",
            "beforeReadFile",
            "preMcpToolCall",
            "pre_read_code",
            "pre_write_code",
            "pre_run_command",
            "pre_mcp_tool_use",
            "BeforeReadFile",
            "BeforeShellExecution",
        ],
    ),
    (
        EventKind::PermissionRequest,
        &[
            "permission_request",
            "permissionRequest",
            "permission.ask",
            "permission.asked",
            "pre_approval_request",
        ],
    ),
    (
        EventKind::PostToolUse,
        &[
            "AfterTool",
            "post_tool_use",
            "postToolUse",
            "tool.execute.after",
            "tool_result",
            "tool.result",
            "post_tool",
            "post_tool_call",
            "afterShellExecution",
            "afterMCPExecution",
            "afterFileEdit",
            "post_read_code",
            "post_write_code",
            "post_run_command",
            "post_mcp_tool_use",
            "AfterFileEdit",
            "AfterShellExecution",
        ],
    ),
    (EventKind::PostToolUseFailure, &["postToolUseFailure"]),
    (EventKind::SubagentStart, &["subagent_start", "subagentStart"]),
    (EventKind::SubagentStop, &["subagent_stop", "subagentStop", "SubagentEnd"]),
    (
        EventKind::Stop,
        &[
            "AfterAgent",
            "stop",
            "agentStop",
            "post_cascade_response",
            "TaskComplete",
            "session.idle",
            "agent_end",
            "agent.end",
            "post_agent",
        ],
    ),
    (
        EventKind::PreCompact,
        &[
            "PreCompress",
            "pre_compact",
            "preCompact",
            "experimental.session.compacting",
            "session_before_compact",
        ],
    ),
    (EventKind::PostCompact, &["PostCompaction", "session.compacted", "session_compact"]),
    (EventKind::Notification, &["notification"]),
    (EventKind::TaskCompleted, &["task_completion"]),
];

/// Events that have no standard kind, or are only near one.
const ONLY_THERE: &[&str] = &[
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "PreModelRequest",
    "PostModelRequest",
    "Interrupt",
    "StopCancelled",
    "UserPromptQueued",
    "PermissionResult",
    "PreToolUseResult",
    "TodoCreated",
    "TodoCompleted",
    "TaskStarted",
    "SessionDelete",
    "TurnStarted",
    "SessionHeartbeat",
    "errorOccurred",
    "TaskError",
    "session.error",
    "api_request_error",
    "TaskCancel",
    "tui.toast.show",
    "afterAgentResponse",
    "afterAgentThought",
    "experimental.chat.messages.transform",
    "experimental.chat.system.transform",
    "PreInvocation",
    "PostInvocation",
    "context",
    "message_end",
    "pre_llm_call",
    "post_llm_call",
    "beforeTabFileRead",
    "afterTabFileEdit",
    "workspaceOpen",
    "post_setup_worktree",
    "PostFileCreate",
    "PostFileSave",
    "PostFileDelete",
    "PreTaskExec",
    "PostTaskExec",
    "Manual",
    "file.edited",
    "file.watcher.updated",
];

/// The kind that a name means, in any host that tenter knows of; `None` for a name nobody uses.
pub fn event_kind(name: &str) -> Option<EventKind> {
    EventKind::from_name(name)
        .or_else(|| {
            let alias = ALIASES.iter().find(|(_, names)| names.contains(&name));
            alias.map(|(kind, _)| kind.clone())
        })
        .or_else(|| ONLY_THERE.contains(&name).then(|| EventKind::of(name)))
}

/// Whether any host that tenter knows of has an event with this name.
pub fn is_known_event(name: &str) -> bool {
    event_kind(name).is_some()
}

/// Every name, the standard ones first: what to suggest for a slip.
pub fn all_events() -> impl Iterator<Item = &'static str> {
    let aliases = ALIASES.iter().flat_map(|(_, names)| names.iter().copied());
    EventKind::NAMES.iter().copied().chain(aliases).chain(ONLY_THERE.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_name_means_two_things() {
        let mut seen = BTreeSet::new();
        for name in all_events() {
            assert!(seen.insert(name), "{name} stands twice");
            assert!(is_known_event(name));
        }
    }

    #[test]
    fn an_alias_is_its_kind_and_a_host_s_own_event_stays_its_own() {
        assert_eq!(event_kind("BeforeTool"), Some(EventKind::PreToolUse));
        assert_eq!(event_kind("BeforeModel"), Some(EventKind::of("BeforeModel")));
        assert_eq!(event_kind("PreTolUse"), None);
    }
}
