//! The reader of the hooks file: what is read, what is refused where and with which way out, and
//! that nothing which may have been a guard vanishes.

mod guards;
mod mistakes;
mod properties;
mod values;

use tenter_core::diagnostic::Diagnostic;
use tenter_core::hook::{Handler, Hook, Level};

use super::{ConfigFile, FileId, read};

fn read_at(level: Level, text: &str) -> ConfigFile {
    let file = FileId {
        name: ".tenter/hooks.toml",
        path: "/p/.tenter/hooks.toml",
        folder: "/p/.tenter",
        level,
    };
    read(text, &file)
}

fn read_project(text: &str) -> ConfigFile {
    read_at(Level::Project, text)
}

/// The file's only hook, which must be sound.
fn only_hook(file: &ConfigFile) -> &Hook {
    assert_eq!(shown(&file.diagnostics), "");
    assert_eq!(file.entries.len(), 1);
    &file.entries[0].hook
}

/// A hook with these lines beside event and command.
fn hook_with(lines: &str) -> String {
    format!("[[hook]]\nevent = \"PreToolUse\"\ncommand = [\"true\"]\n{lines}\n")
}

/// Diagnostics as text: place, code, what, and the way out on a line of its own.
fn shown(diagnostics: &[Diagnostic]) -> String {
    let line = |diagnostic: &Diagnostic| {
        let at = diagnostic.position.as_ref().unwrap();
        let help = diagnostic.help.as_deref().unwrap();
        let severity = format!("{:?}", diagnostic.severity).to_lowercase();
        let place = format!("{}:{}", at.line, at.column);
        format!("{place} {severity} {}: {}\n    = {help}\n", diagnostic.code, diagnostic.message)
    };
    diagnostics.iter().map(line).collect()
}

fn broken_reason(hook: &Hook) -> &str {
    match &hook.handler {
        Handler::Broken { reason, mend } => {
            assert_eq!(mend.as_deref(), Some("/p/.tenter/hooks.toml"));
            reason
        }
        other => panic!("{} is sound: {other:?}", hook.name),
    }
}
