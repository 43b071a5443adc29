//! Slash commands: `/name words` becomes the text of `.tenter/commands/name.md`.
//!
//! Owns the expansion alone. What is no command, or has no file, stays as it was typed.

use std::fs;
use std::path::Path;

/// The longest file of a command, in bytes.
const MOST: u64 = 1024 * 1024;

/// A typed command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Typed<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
}

/// Reads a prompt as a command, if it is one.
pub(crate) fn typed(prompt: &str) -> Option<Typed<'_>> {
    let rest = prompt.trim().strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (!name.is_empty() && name.chars().all(plain))
        .then(|| Typed { name, arguments: arguments.trim() })
}

/// The text of a command; `None` if it has no file.
///
/// `$ARGUMENTS` stands for all words, `$1` to `$9` for one; where neither stands, the words follow
/// the text. A header between lines of `---` is left out.
pub(crate) fn expand(typed: &Typed<'_>, folder: &Path) -> Option<String> {
    let path = folder.join(typed.name).with_extension("md");
    // A pipe or a device would never end, and nobody could interrupt reading it.
    let about = fs::metadata(&path).ok()?;
    if !about.is_file() || about.len() > MOST {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    Some(filled(body(&text), typed.arguments))
}

fn body(text: &str) -> &str {
    let header = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    header.map_or(text, |(_, body)| body).trim()
}

/// One pass, so that words which look like a placeholder stay words.
fn filled(text: &str, arguments: &str) -> String {
    let words: Vec<_> = arguments.split_whitespace().collect();
    let (mut out, mut rest, mut used) = (String::new(), text, false);
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let digit = after.chars().next().filter(|c| ('1'..='9').contains(c));
        if let Some(more) = after.strip_prefix("ARGUMENTS") {
            out.push_str(arguments);
            (rest, used) = (more, true);
        } else if let Some(number) = digit.and_then(|digit| digit.to_digit(10)) {
            out.push_str(words.get(number as usize - 1).unwrap_or(&""));
            (rest, used) = (&after[1..], true);
        } else {
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    if !used && !arguments.is_empty() {
        out.push('\n');
        out.push_str(arguments);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_slash_and_a_plain_name() {
        assert_eq!(typed("/fix a b "), Some(Typed { name: "fix", arguments: "a b" }));
        for other in ["fix", "/", "/a/b c", "/../x", "/etc/passwd"] {
            assert_eq!(typed(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_no_plain_file_is_no_command() {
        let folder = tempfile::tempdir().unwrap();
        let typed = Typed { name: "x", arguments: "" };
        assert_eq!(expand(&typed, folder.path()), None);
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("x.md")).unwrap();
        assert_eq!(expand(&typed, folder.path()), None);
        fs::remove_file(folder.path().join("x.md")).unwrap();
        fs::write(folder.path().join("x.md"), "text\n").unwrap();
        assert_eq!(expand(&typed, folder.path()).as_deref(), Some("text"));
    }

    #[test]
    fn words_are_put_in_once() {
        assert_eq!(filled("do $1, then $2: $ARGUMENTS", "$2 b"), "do $2, then b: $2 b");
        assert_eq!(filled("costs $5 or $x", ""), "costs  or $x");
        assert_eq!(filled("review", "this file"), "review\nthis file");
        assert_eq!(body("---\ndescription: x\n---\ntext\n"), "text");
    }
}
