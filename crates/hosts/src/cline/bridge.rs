//! What Cline tells its hooks, and what they can do there.
//!
//! Facts were seen in runs of Cline CLI 3.0.65 unless a comment says otherwise. A hook is a file named
//! after its event, and the payload calls the event something else. Exit codes mean nothing. A denial
//! ends the whole run, and neither model nor user is told why: there is no other no.

use serde_json::{Map, Value, json};
use tenter_core::event::EventKind as E;

use crate::bridge::Power::{Context, Deny, Halt, Rewrite};
use crate::bridge::{
    Answer, Bridge, EventRow, InputForm, McpName, ResultForm, Saying, Shape, ToolRow, Tools, Wire,
    Word,
};

const PATH: Shape = Shape::Key("path", "file_path");

/// Cline.
pub static BRIDGE: Bridge = Bridge {
    name: "cline",
    title: "Cline",
    seen: "3.0.65",
    events: EVENTS,
    wire: &Wire {
        // `tool_call` and the like: the file's name says more.
        event: &[],
        session: &[&["task_id"]],
        cwd: &[&["workspace_roots", "0"], &["workspace_info", "root_path"]],
        tool: &[
            &["tool_call", "name"],
            &["tool_result", "name"],
            &["pre_tool_use", "tool_name"],
            &["post_tool_use", "tool_name"],
        ],
        input: &[
            &["tool_call", "input"],
            &["tool_result", "input"],
            &["pre_tool_use", "parameters"],
            &["post_tool_use", "parameters"],
        ],
        call: &[&["tool_call", "id"], &["tool_result", "id"]],
        response: &[&["tool_result", "output"], &["post_tool_use", "result"]],
        failed: &[],
        succeeded: &[&["post_tool_use", "success"]],
        prompt: &[&["user_prompt_submit", "prompt"], &["prompt"]],
        last_message: &[&["turn", "output_text"]],
        agent_id: &[&["agent_id"]],
        agent_type: &[&["agent_type"]],
        // The main agent has an id as well.
        parent: &[&["parent_agent_id"]],
        renamed: &[],
    },
    tools: &Tools {
        rows: &[
            ToolRow::new("run_commands", "Bash", &[Shape::Lines("commands", "command")]),
            ToolRow::new(
                "read_files",
                "Read",
                &[Shape::Items {
                    own: "files",
                    item: "path",
                    one: "file_path",
                    many: "file_paths",
                }],
            ),
            ToolRow::new(
                "editor",
                "Edit",
                &[PATH, Shape::Key("old_text", "old_string"), Shape::Key("new_text", "new_string")],
            ),
            // The names of its editor extension, by its documentation.
            ToolRow::new("execute_command", "Bash", &[]),
            ToolRow::new("read_file", "Read", &[PATH]),
            ToolRow::new("write_to_file", "Write", &[PATH]),
            ToolRow::new("replace_in_file", "Edit", &[PATH]),
            ToolRow::new("spawn_agent", "Agent", &[Shape::Key("task", "prompt")]),
            ToolRow::new("fetch_web_content", "WebFetch", &[]),
        ],
        mcp: McpName::Standard,
    },
    inputs: InputForm::Whole,
    results: ResultForm::SameShape,
    project_variables: &[],
    reads_stderr: false,
    only_top_keys: None,
    install: Some(super::install::INSTALL),
    say,
};

static EVENTS: &[EventRow] = &[
    // A cancellation here is passed over, and so is context.
    EventRow::new("TaskStart", &E::SessionStart, &[]),
    EventRow::new("TaskResume", &E::SessionStart, &[]),
    // By its documentation; a run with one prompt has none. Context does not arrive.
    EventRow::new("UserPromptSubmit", &E::UserPromptSubmit, &[Deny, Halt]),
    EventRow::new("PreToolUse", &E::PreToolUse, &[Deny, Halt, Rewrite, Context]),
    EventRow::new("PostToolUse", &E::PostToolUse, &[Context]),
    EventRow::new("TaskComplete", &E::Stop, &[]),
    EventRow::new("PreCompact", &E::PreCompact, &[]),
    EventRow::new("SessionShutdown", &E::SessionEnd, &[]),
    EventRow::only_here("TaskCancel", &[]),
    EventRow::only_here("TaskError", &[]),
];

fn say(saying: &Saying<'_>) -> Answer {
    let mut top = Map::new();
    if saying.word == Word::Deny || saying.halt {
        top.insert("cancel".into(), json!(true));
        top.insert("errorMessage".into(), json!(saying.reason));
    }
    if let Some(input) = saying.rewrite {
        top.insert("overrideInput".into(), input.to_value());
    }
    if let Some(context) = saying.context {
        top.insert("contextModification".into(), json!(context));
    }
    if top.is_empty() { Answer::nothing() } else { Answer::json(&Value::Object(top)) }
}
