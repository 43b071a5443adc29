//! The files that may belong to a command, for trust.
//!
//! Owns the reading of words as names of files. Which of them count is decided where they are
//! digested.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tenter_core::hook::{Command, CommandLine};

use super::placeholder::{CommandContext, fill_in, is_name};
use super::places::lexical;

/// The files that may belong to a command, for trust: absolute, whether they exist or not.
///
/// Every word counts, of a text every run without white space, whatever stands around it that a
/// shell would take away; too many are no harm. What `scripts` names is marked: it counts wherever
/// it is.
pub(super) fn candidate_files(
    command: &Command,
    context: &CommandContext<'_>,
) -> Vec<(PathBuf, bool)> {
    let base = command.base.as_ref().map_or(context.project, Path::new);
    let mut files: Vec<(PathBuf, bool)> = Vec::new();
    let mut add = |word: &str, named: bool| {
        if word.is_empty() || word.contains('\0') {
            return;
        }
        let word = fill_in(word, context, true).unwrap_or_else(|_| OsString::from(word));
        let path = lexical(&base.join(word));
        if !files.iter().any(|(known, _)| *known == path) {
            files.push((path, named));
        }
    };
    command.scripts.iter().for_each(|script| add(script, true));
    command.shell.iter().flatten().for_each(|word| add(word, false));
    match &command.line {
        CommandLine::Argv(words) => {
            for word in words {
                add(word, false);
                if let Some((_, value)) = word.split_once('=') {
                    add(value, false);
                }
            }
        }
        CommandLine::Shell(text) => {
            for word in text.split_whitespace() {
                for word in shell_readings(word) {
                    add(&word, false);
                }
            }
        }
    }
    files
}

/// What a run of a text may mean as the name of a file.
fn shell_readings(run: &str) -> Vec<String> {
    let mut readings = vec![run.to_owned()];
    for part in run.split([';', '&', '|', '<', '>', '(', ')', '`', '=']) {
        let bare: String = part.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect();
        readings.push(with_braces(&bare));
    }
    readings
}

/// `$NAME` written as `${NAME}`, so that one place fills them in.
fn with_braces(word: &str) -> String {
    let mut out = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('$') {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = rest.get(..end).unwrap_or_default();
        if is_name(name) {
            out.push_str("${");
            out.push_str(name);
            out.push('}');
            rest = rest.get(end..).unwrap_or_default();
        } else {
            out.push('$');
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_core::hook::{Cwd, Leftovers};

    fn command(line: CommandLine) -> Command {
        Command {
            line,
            shell: None,
            env: Vec::new(),
            cwd: Cwd::Project,
            leftovers: Leftovers::Leave,
            scripts: Vec::new(),
            base: None,
        }
    }

    #[test]
    fn every_word_may_name_a_file() {
        let host = [("CLAUDE_PROJECT_DIR".to_owned(), OsString::from("/p"))];
        let context = CommandContext {
            home: Path::new("/home/u"),
            project: Path::new("/p"),
            session_cwd: Path::new("/p"),
            placeholders: &host,
        };
        let files = |command: &Command| {
            let files = candidate_files(command, &context);
            files.into_iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            files(&command(CommandLine::Argv(vec!["./a".into(), "--rules=r/x.json".into()]))),
            ["/p/a", "/p/--rules=r/x.json", "/p/r/x.json"]
        );
        let text = files(&command(CommandLine::Shell(
            "A=$CLAUDE_PROJECT_DIR/a 'b.sh';\"${TENTER_PROJECT_DIR}\"/c.sh>/dev/null".into(),
        )));
        for path in ["/p/a", "/p/b.sh", "/p/c.sh", "/dev/null"] {
            assert!(text.iter().any(|known| known == path), "{path}: {text:?}");
        }
    }
}
