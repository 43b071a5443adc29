//! What Gemini CLI tells its hooks, and what they can do there.
//!
//! Facts were seen in runs of 0.61.0 unless a comment says otherwise. Any JSON on stdout cancels the
//! exit code there, and the standard's own words for a denial mean nothing: it has others. What a hook
//! writes on stderr while stdout is empty is read as an answer too, so nothing is written there.

use serde_json::{Map, Value, json};
use tenter_core::event::EventKind as E;

use crate::bridge::Power::{Context, Deny, Halt, Message, Rewrite};
use crate::bridge::{
    Answer, Bridge, EventRow, InputForm, McpName, ResultForm, Saying, Shape, ToolRow, Tools, Wire,
    Word,
};

/// Gemini CLI.
pub static BRIDGE: Bridge = Bridge {
    name: "gemini",
    title: "Gemini CLI",
    seen: "0.61.0",
    events: EVENTS,
    wire: &Wire {
        // A tool that failed has its error beside what the model is shown.
        failed: &[&["tool_response", "error"]],
        last_message: &[&["prompt_response"]],
        ..Wire::STANDARD
    },
    tools: &Tools {
        rows: &[
            ToolRow::new("run_shell_command", "Bash", &[]),
            // Earlier versions said `absolute_path`.
            ToolRow::new("read_file", "Read", &[Shape::Key("absolute_path", "file_path")]),
            ToolRow::new("read_many_files", "Read", &[Shape::Key("include", "file_paths")]),
            ToolRow::new("write_file", "Write", &[]),
            ToolRow::new("replace", "Edit", &[]),
            ToolRow::new("glob", "Glob", &[]),
            ToolRow::new("grep_search", "Grep", &[]),
            ToolRow::new("search_file_content", "Grep", &[]),
            ToolRow::new("google_web_search", "WebSearch", &[]),
            ToolRow::new("web_fetch", "WebFetch", &[]),
        ],
        mcp: McpName::Single,
    },
    inputs: InputForm::Whole,
    results: ResultForm::Text,
    project_variables: &["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    reads_stderr: true,
    only_top_keys: None,
    install: Some(super::install::INSTALL),
    say,
};

static EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", &E::SessionStart, &[Context, Message]),
    // It fires without a prompt too, in the middle of a turn.
    EventRow::new("BeforeAgent", &E::UserPromptSubmit, &[Deny, Context, Halt, Message])
        .with_prompt(),
    // `ask` hangs where nobody can be asked, also in yolo mode; context does not arrive.
    EventRow::new("BeforeTool", &E::PreToolUse, &[Deny, Rewrite, Halt, Message]),
    // A block puts its reason in the place of the result.
    EventRow::new("AfterTool", &E::PostToolUse, &[Rewrite, Context, Halt, Message]),
    EventRow::new("AfterAgent", &E::Stop, &[Deny, Halt, Message]),
    // It fires before every call of the model, whether anything is to be compressed or not.
    EventRow::new("PreCompress", &E::PreCompact, &[]).not_installed(),
    EventRow::new("Notification", &E::Notification, &[]),
    EventRow::new("SessionEnd", &E::SessionEnd, &[]),
    EventRow::only_here("BeforeModel", &[]),
    // A denial here does not stop what the model has asked for.
    EventRow::only_here("AfterModel", &[]),
    EventRow::only_here("BeforeToolSelection", &[]),
];

fn say(saying: &Saying<'_>) -> Answer {
    let mut top = Map::new();
    let mut own = Map::new();
    let mut deny = |reason: &str| {
        top.insert("decision".into(), json!("deny"));
        top.insert("reason".into(), json!(reason));
    };
    match (saying.word, saying.content) {
        (Word::Deny, _) => deny(saying.reason),
        // An empty reason is none.
        (_, Some(content)) => deny(if content.is_empty() { "(no output)" } else { content }),
        _ => {}
    }
    if saying.halt {
        top.insert("continue".into(), json!(false));
        top.insert("stopReason".into(), json!(saying.reason));
    }
    if let Some(message) = saying.message {
        top.insert("systemMessage".into(), json!(message));
    }
    if let (Some(input), None) = (saying.rewrite, saying.content) {
        own.insert("tool_input".into(), input.to_value());
    }
    if let Some(context) = saying.context {
        own.insert("additionalContext".into(), json!(context));
    }
    if !own.is_empty() {
        own.insert("hookEventName".into(), json!(saying.row.own));
        top.insert("hookSpecificOutput".into(), Value::Object(own));
    }
    if top.is_empty() { Answer::nothing() } else { Answer::json(&Value::Object(top)) }
}
