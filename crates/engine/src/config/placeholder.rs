//! The meaning of `~` and `${NAME}` in a hooks file.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::Path;

use super::places::Places;

/// The placeholder for the project, in every command.
pub const PROJECT_DIR: &str = "TENTER_PROJECT_DIR";

/// What a command is resolved with.
#[derive(Debug, Clone, Copy)]
pub struct CommandContext<'a> {
    /// What `~` stands for.
    pub home: &'a Path,
    /// What `${TENTER_PROJECT_DIR}` stands for.
    pub project: &'a Path,
    /// Where a command with `cwd = "session"` starts; absolute.
    pub session_cwd: &'a Path,
    /// The host's own placeholders, which are variables of the command too.
    pub placeholders: &'a [(String, OsString)],
}

impl<'a> CommandContext<'a> {
    /// The context of a session that is where its places say.
    pub fn of(places: &'a Places, placeholders: &'a [(String, OsString)]) -> Self {
        Self {
            home: &places.home,
            project: &places.project,
            session_cwd: &places.cwd,
            placeholders,
        }
    }

    fn value(&self, name: &str) -> Option<&OsStr> {
        if name == PROJECT_DIR {
            return Some(self.project.as_os_str());
        }
        let found = self.placeholders.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_os_str())
    }

    fn known(&self) -> String {
        let others = self.placeholders.iter().map(|(name, _)| format!(", `${{{name}}}`"));
        format!("`${{{PROJECT_DIR}}}`{}", others.collect::<String>())
    }
}

/// Why a command cannot be resolved: its entry is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandError {
    /// The name between the braces.
    pub placeholder: String,
    /// The text that it stands in.
    pub text: String,
    known: String,
    in_argv: bool,
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { placeholder, text, .. } = self;
        write!(f, "`${{{placeholder}}}` in `{text}` stands for nothing; {}", self.help())
    }
}

impl std::error::Error for CommandError {}

impl CommandError {
    /// What to do about it.
    pub fn help(&self) -> String {
        let known = &self.known;
        if self.in_argv {
            format!(
                "known are {known}; for other variables write the command as one text, which a shell reads"
            )
        } else {
            format!("known are {known}")
        }
    }
}

/// Fills in the placeholders of a word.
pub(super) fn fill_in(
    word: &str,
    context: &CommandContext<'_>,
    in_argv: bool,
) -> Result<OsString, CommandError> {
    let mut out = OsString::new();
    let mut rest = word;
    if rest == "~" || rest.starts_with("~/") {
        out.push(context.home);
        rest = rest.get(1..).unwrap_or_default();
    }
    while let Some(at) = rest.find("${") {
        let before = rest.get(..at).unwrap_or_default();
        let after = rest.get(at + 2..).unwrap_or_default();
        if let Some(before) = before.strip_suffix('$') {
            out.push(before);
            out.push("${");
            rest = after;
            continue;
        }
        out.push(before);
        let name = after.split('}').next().filter(|name| is_name(name) && name.len() < after.len());
        let Some(name) = name else {
            out.push("${");
            rest = after;
            continue;
        };
        match context.value(name) {
            Some(value) => out.push(value),
            None => {
                return Err(CommandError {
                    placeholder: name.to_owned(),
                    text: word.to_owned(),
                    known: context.known(),
                    in_argv,
                });
            }
        }
        rest = after.get(name.len() + 1..).unwrap_or_default();
    }
    out.push(rest);
    Ok(out)
}

pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
