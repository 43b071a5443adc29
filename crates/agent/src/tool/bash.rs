//! `Bash`: runs a shell command, through the one crate that starts processes.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tenter_process::{Command, Ended, Exit, Leftovers, Limits, Stopped, run};

use super::{Tool, ToolContext, ToolOutput, spec, text};
use crate::provider::ToolSpec;

/// How long a command may take unless the call says otherwise.
const TIMEOUT: Duration = Duration::from_mins(2);
/// The most text of a command that the model is shown.
const MOST_SHOWN: usize = 32 * 1024;

/// Runs a shell command in the agent's folder.
#[derive(Debug, Clone, Copy)]
pub struct Bash;

impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        spec(
            "Bash",
            "Runs a shell command in the project and gives what it printed.",
            json!({
                "type": "object",
                "properties": {
                    "command": { "type": "string", "minLength": 1, "description": "The command." },
                    "timeout": { "type": "integer", "minimum": 1, "description": "Milliseconds." },
                    "description": { "type": "string", "description": "What it is for." },
                },
                "required": ["command"],
                "additionalProperties": false,
            }),
        )
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let timeout = input["timeout"].as_u64().map_or(TIMEOUT, Duration::from_millis);
            let environment = cx.environment.iter().map(|(name, value)| (name, value)).collect();
            let command = Command {
                args: vec!["-c".into(), text(input, "command").into()],
                limits: Limits { timeout, ..Limits::default() },
                leftovers: Leftovers::Leave,
                ..Command::new("/bin/sh", &cx.cwd, environment)
            };
            match run(&command, &cx.cancel).await {
                Ok(ended) => told(&ended, timeout),
                Err(error) => ToolOutput::error(format!("the shell did not start: {error}")),
            }
        })
    }
}

fn told(ended: &Ended, timeout: Duration) -> ToolOutput {
    let mut content = String::from_utf8_lossy(&ended.stdout).into_owned();
    let errors = String::from_utf8_lossy(&ended.stderr);
    for part in [errors.as_ref()] {
        if !part.is_empty() {
            if !content.is_empty() && !content.ends_with('\n') {
                content.push('\n');
            }
            content.push_str(part);
        }
    }
    let mut content = clipped(content);
    let note = match (ended.stopped, ended.exit) {
        (Some(Stopped::Deadline), _) => Some(format!("ended after {} ms", timeout.as_millis())),
        (Some(Stopped::Cancelled), _) => Some("cancelled".into()),
        (Some(Stopped::OutputLimit { .. }), _) => Some("ended: it printed too much".into()),
        (None, Exit::Code(0)) => None,
        (None, Exit::Code(code)) => Some(format!("exit code {code}")),
        (None, Exit::Signal(signal)) => Some(format!("ended by signal {signal}")),
        (None, Exit::Lost) => Some("its exit status is not known".into()),
    };
    let Some(note) = note else { return ToolOutput::ok(content) };
    if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    content.push('(');
    content.push_str(&note);
    content.push(')');
    ToolOutput::error(content)
}

/// The beginning and the end of a long text.
fn clipped(text: String) -> String {
    if text.len() <= MOST_SHOWN {
        return text;
    }
    let half = MOST_SHOWN / 2;
    let start = text.floor_char_boundary(half);
    let end = text.ceil_char_boundary(text.len() - half);
    format!("{}\n… {} bytes left out …\n{}", &text[..start], end - start, &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_both_ends() {
        let text = format!("a{}z", "é".repeat(MOST_SHOWN));
        let short = clipped(text);
        assert!(short.starts_with('a') && short.ends_with('z') && short.len() < MOST_SHOWN + 64);
        assert_eq!(clipped("abc".into()), "abc");
    }
}
