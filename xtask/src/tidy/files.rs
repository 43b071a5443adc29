//! Rules about files as such: their heads, their length, what must not stand in them.

use super::Finding;
use super::source::{Source, find_tokens};

/// Longer files are listed.
const WISHED: usize = 600;
/// Longer files fail.
const MOST: usize = 800;
/// Tests may be longer: a table of cases is no worse for being long.
const MOST_IN_TESTS: usize = 1000;

/// Every module says at its top what it owns.
pub(super) fn modules_say_what_they_own(sources: &[Source]) -> Vec<Finding> {
    sources
        .iter()
        .filter(|source| {
            let first = source.text().lines().find(|line| !line.trim().is_empty());
            !first.is_some_and(|line| line.starts_with("//!"))
        })
        .map(|source| {
            Finding::new(
                &source.path,
                "begin with `//!`: what this module owns, and what it does not",
            )
        })
        .collect()
}

/// No file is so long that nobody reads it.
pub(super) fn files_are_not_too_long(sources: &[Source]) -> Vec<Finding> {
    longer(sources, |source| if source.is_test() { MOST_IN_TESTS } else { MOST })
}

/// Files that could be split before they have to be.
pub(super) fn longer_than_wished(sources: &[Source]) -> Vec<Finding> {
    longer(sources, |source| if source.is_test() { MOST } else { WISHED })
}

fn longer(sources: &[Source], most: impl Fn(&Source) -> usize) -> Vec<Finding> {
    sources
        .iter()
        .filter_map(|source| {
            let (lines, most) = (source.text().lines().count(), most(source));
            let message = format!("{lines} lines are more than {most}: split it by what it owns");
            (lines > most).then(|| Finding::new(&source.path, message))
        })
        .collect()
}

/// Nothing is left for later in code.
pub(super) fn nothing_is_unfinished(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        let code = source.code();
        for name in ["todo!", "unimplemented!", "dbg!"] {
            findings.extend(find_tokens(&code, name).map(|at| {
                Finding::at(source, at, format!("`{name}` stands for something that is not done"))
            }));
        }
    }
    findings
}

/// Words about the place where somebody works have no business in a public repository. They are
/// put together here so that this file does not mention them.
const PRIVATE: &[&str] = &[concat!("..", "/shared"), concat!("/wo", "rk/"), concat!("issue", " A")];

/// No file speaks of a place or a thing that its readers do not have.
pub(super) fn nothing_private_is_mentioned(texts: &[(String, String)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in texts {
        for (number, line) in text.lines().enumerate() {
            for word in PRIVATE {
                if mentions(line, word) {
                    let place = format!("{path}:{}", number + 1);
                    findings.push(Finding::new(place, format!("nobody outside knows `{word}`")));
                }
            }
        }
    }
    findings
}

/// Whether a word stands in a line and not inside a longer word or path.
fn mentions(line: &str, word: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    // `/x/` at the start of a path is a place; inside a longer path it is only a folder's name.
    let in_path = |c: char| word.starts_with('/') && "./}~".contains(c);
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let begins = before.is_none_or(|c| !(in_word(c) || in_path(c)));
        begins && (word.ends_with('/') || after.is_none_or(|c| !in_word(c)))
    })
}

/// Both licences stand at the root.
pub(super) fn licences_are_there(exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    ["LICENSE-APACHE", "LICENSE-MIT"]
        .into_iter()
        .filter(|path| !exists(path))
        .map(|path| Finding::new(path, "the licence's text is missing"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.place.as_str()).collect()
    }

    #[test]
    fn a_module_without_a_head_is_found() {
        let sources = [
            Source::new("good.rs", "//! Owns x.\n"),
            Source::new("late.rs", "use a;\n//! Owns x.\n"),
            Source::new("empty.rs", ""),
        ];
        assert_eq!(places(&modules_say_what_they_own(&sources)), ["late.rs", "empty.rs"]);
    }

    #[test]
    fn long_files_are_listed_and_too_long_ones_fail() {
        let of = |path: &str, lines: usize| Source::new(path, "x\n".repeat(lines));
        let sources = [
            of("a.rs", 600),
            of("b.rs", 601),
            of("c.rs", 801),
            of("x/tests.rs", 1000),
            of("x/tests/d.rs", 1001),
        ];
        assert_eq!(
            places(&longer_than_wished(&sources)),
            ["b.rs", "c.rs", "x/tests.rs", "x/tests/d.rs"]
        );
        assert_eq!(places(&files_are_not_too_long(&sources)), ["c.rs", "x/tests/d.rs"]);
    }

    #[test]
    fn unfinished_code_is_found_and_a_text_about_it_is_not() {
        let sources = [Source::new(
            "a.rs",
            "// todo!() is no code\nlet a = \"dbg!(x)\";\nlet b = dbg!(a);\nfn c() { todo!() }\n",
        )];
        assert_eq!(places(&nothing_is_unfinished(&sources)), ["a.rs:4", "a.rs:3"]);
    }

    #[test]
    fn private_places_are_found_and_public_ones_are_not() {
        let text = |line: &str| [("a.md".to_owned(), line.to_owned())];
        for line in [
            format!("see {}/design.md", PRIVATE[0]),
            format!("in {}main", PRIVATE[1]),
            format!("as {} says", PRIVATE[2]),
        ] {
            assert_eq!(places(&nothing_private_is_mentioned(&text(&line))), ["a.md:1"], "{line}");
        }
        for line in ["/home/me/work/x", "../work/x", "shared/state", "issue Apple", "/worker/"] {
            assert!(nothing_private_is_mentioned(&text(line)).is_empty(), "{line}");
        }
    }

    #[test]
    fn a_missing_licence_is_found() {
        assert_eq!(places(&licences_are_there(|path| path == "LICENSE-MIT")), ["LICENSE-APACHE"]);
    }
}
