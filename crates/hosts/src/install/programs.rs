//! Hooks that are files, one an event, which the host runs.

use super::{EditError, Line, is_ours};

/// The file of an event.
pub(super) fn with(text: Option<&str>, host: &str, lines: &[Line]) -> Result<String, EditError> {
    let event = lines.first().map_or("", |line| line.event);
    if let Some(text) = text.filter(|text| !text.trim().is_empty())
        && !holds_ours(text, host)
    {
        return Err(EditError::Taken { event: event.to_owned() });
    }
    let commands: Vec<&str> = lines.iter().map(|line| line.command.as_str()).collect();
    Ok(format!(
        "#!/bin/sh\n# Written by `tenter install {host}`; `tenter uninstall {host}` removes it.\n{}\n",
        commands.join("\n")
    ))
}

/// The file without tenter: none, if it is tenter's.
pub(super) fn without(text: &str, host: &str) -> Option<String> {
    (!holds_ours(text, host)).then(|| text.to_owned())
}

fn holds_ours(text: &str, host: &str) -> bool {
    text.lines().filter(|line| !line.starts_with('#')).any(|line| is_ours(line, host))
}
