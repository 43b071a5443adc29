//! Files that a shell command names by a pattern of its own, such as `src/*.rs`.
//!
//! Owns: how such a pattern stands to the pattern of a rule. It is judged by its text: links among
//! the files that it finds are not followed.

use tenter_shell::{Glob, Piece, Word};

use super::{PathPair, Truth};
use crate::glob::{Segment, Token};

/// The files that a file name pattern stands for.
#[derive(Debug, Clone)]
pub(super) struct Wildcard {
    /// The folder that its first wildcard is in, in every reading.
    pub(super) folders: Vec<PathPair>,
    /// A file that it may find and that nobody has thought of: what matches it matches all.
    pub(super) probe: Vec<PathPair>,
    /// What stands behind the folder.
    pub(super) segments: Vec<Segment>,
    /// Whether wildcards find names that begin with a dot.
    dots: bool,
    /// What is found may lie at any depth.
    pub(super) deep: bool,
    /// It lies in the repository that the folder is in.
    pub(super) around: bool,
}

/// A name that no rule means.
const NOBODY: &str = "\u{1}";

impl Wildcard {
    /// Reads a word whose only run-time parts are wildcards; `None` for any other.
    pub(super) fn of(
        word: &Word,
        dots: bool,
        paths: &mut dyn FnMut(&str) -> Option<Vec<PathPair>>,
    ) -> Option<Self> {
        let mut parts: Vec<Option<Vec<Token>>> = vec![Some(Vec::new())];
        let mut deep = false;
        let mut probe = String::new();
        // How many components and bytes stand before the first wildcard.
        let mut known: Option<(usize, usize)> = None;
        for piece in word.pieces() {
            match piece {
                Piece::Text(text) => {
                    probe.push_str(&text);
                    for (at, part) in text.split('/').enumerate() {
                        if at > 0 {
                            parts.push(Some(Vec::new()));
                        }
                        parts.last_mut()?.as_mut()?.extend(part.chars().map(Token::Char));
                    }
                }
                Piece::Home => {
                    probe.push('~');
                    parts.last_mut()?.as_mut()?.push(Token::Char('~'));
                }
                Piece::Glob(glob) => {
                    let folder = probe.rfind('/').map_or(0, |at| at + 1);
                    known.get_or_insert((parts.len() - 1, folder));
                    probe.push_str(NOBODY);
                    parts.last_mut()?.as_mut()?.push(match glob {
                        Glob::Run => Token::Run,
                        Glob::One | Glob::Set(_) => Token::Any,
                    });
                }
                Piece::Below => {
                    deep = true;
                    probe.push('/');
                    known.get_or_insert((parts.len(), probe.len()));
                    probe.push_str(NOBODY);
                    parts.push(None);
                    parts.push(Some(Vec::new()));
                }
                Piece::Any | Piece::Pipe => return None,
            }
        }
        let (components, folder) = known?;
        let folder = match probe.get(..folder)? {
            "" => ".",
            "/" => "/",
            folder => folder.trim_end_matches('/'),
        };
        let parts = parts.split_off(components).into_iter();
        let segments = parts.filter_map(|part| match part {
            Some(part) if part.is_empty() => None,
            Some(part) => Some(Segment::Tokens(part.into())),
            None => Some(Segment::Deep),
        });
        Some(Self {
            folders: paths(folder)?,
            probe: paths(&probe)?,
            segments: segments.collect(),
            // A program finds hidden files too.
            dots: dots || deep,
            deep,
            around: false,
        })
    }

    /// Whether a file may be found below `folder` that `pattern` matches, which starts at `base`;
    /// both folders in normal form.
    pub(super) fn meets(&self, folder: &str, base: &str, pattern: &[Segment]) -> bool {
        let literal = |path: &str| -> Vec<Segment> {
            let names = path.split('/').filter(|name| !name.is_empty());
            names.map(|name| Segment::Literal(name.into())).collect()
        };
        let mut own = literal(folder);
        own.extend(self.segments.iter().cloned());
        let mut other = literal(base);
        other.extend(pattern.iter().cloned());
        self.both(&own, &other)
    }

    /// Whether one path is in both.
    fn both(&self, own: &[Segment], pattern: &[Segment]) -> bool {
        // For each start of `own`: whether it is matched by the part of the pattern seen so far.
        let mut row: Vec<bool> = (0..=own.len()).map(|at| at == 0).collect();
        let skip = |row: &mut [bool]| {
            // What lies at any depth may lie in the folder itself.
            for (at, own) in own.iter().enumerate() {
                if matches!(own, Segment::Deep)
                    && row.get(at).copied().unwrap_or(false)
                    && let Some(next) = row.get_mut(at + 1)
                {
                    *next = true;
                }
            }
        };
        skip(&mut row);
        for segment in pattern {
            let mut next = vec![false; row.len()];
            for (at, reached) in row.iter().enumerate() {
                match segment {
                    Segment::Deep if *reached => next.iter_mut().skip(at).for_each(|n| *n = true),
                    // It may take this part and more.
                    _ if *reached && matches!(own.get(at), Some(Segment::Deep)) => {
                        if let Some(next) = next.get_mut(at) {
                            *next = true;
                        }
                    }
                    _ if *reached && own.get(at).is_some_and(|own| self.one(own, segment)) => {
                        if let Some(next) = next.get_mut(at + 1) {
                            *next = true;
                        }
                    }
                    _ => {}
                }
            }
            row = next;
            skip(&mut row);
        }
        row.last().copied().unwrap_or(false)
    }

    /// Whether one component is in both.
    fn one(&self, own: &Segment, pattern: &Segment) -> bool {
        let chars = |name: &str| -> Vec<Token> { name.chars().map(Token::Char).collect() };
        let tokens = |segment: &Segment| match segment {
            Segment::Deep => vec![Token::Run],
            Segment::Literal(name) => chars(name),
            Segment::Tokens(tokens) => tokens.to_vec(),
        };
        let (own, pattern) = (tokens(own), tokens(pattern));
        let hides = matches!(pattern.first(), Some(Token::Char('.')));
        if hides && !self.dots && !matches!(own.first(), Some(Token::Char(_))) {
            return false;
        }
        meet(&own, &pattern)
    }
}

/// Whether one text is in both.
fn meet(left: &[Token], right: &[Token]) -> bool {
    let mut row = vec![false; right.len() + 1];
    if let Some(first) = row.first_mut() {
        *first = true;
    }
    runs(&mut row, right);
    for token in left {
        let mut next = vec![false; row.len()];
        if matches!(token, Token::Run) {
            // Any of what is on the right may be taken, one token or one more character at a time.
            let mut on = false;
            for (next, reached) in next.iter_mut().zip(&row) {
                on |= *reached;
                *next = on;
            }
        } else {
            for (at, other) in right.iter().enumerate() {
                if !row.get(at).copied().unwrap_or(false) {
                    continue;
                }
                let to = if matches!(other, Token::Run) { at } else { at + 1 };
                if common(token, other)
                    && let Some(next) = next.get_mut(to)
                {
                    *next = true;
                }
            }
        }
        runs(&mut next, right);
        row = next;
    }
    row.last().copied().unwrap_or(false)
}

/// A run may be empty.
fn runs(row: &mut [bool], right: &[Token]) {
    for (at, token) in right.iter().enumerate() {
        if matches!(token, Token::Run)
            && row.get(at).copied().unwrap_or(false)
            && let Some(next) = row.get_mut(at + 1)
        {
            *next = true;
        }
    }
}

/// Whether one character is in both.
fn common(left: &Token, right: &Token) -> bool {
    match (left, right) {
        (Token::Char(left), right) => right.accepts(*left) || matches!(right, Token::Run),
        (left, Token::Char(right)) => left.accepts(*right),
        _ => true,
    }
}

/// What two answers about one set of files are together: all of them, some, or none.
pub(super) fn all_or_some(all: Truth, some: bool) -> Truth {
    match (all, some) {
        (Truth::Yes, _) => Truth::Yes,
        (Truth::Maybe, _) | (Truth::No, true) => Truth::Maybe,
        (Truth::No, false) => Truth::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glob::parse_path;

    fn meets(word: &str, pattern: &str, dots: bool) -> bool {
        let word: Vec<Segment> = parse_path(word).unwrap().remove(0).1;
        let pattern = parse_path(pattern).unwrap().remove(0).1;
        let wildcard = Wildcard {
            folders: vec![],
            probe: vec![],
            segments: word,
            dots,
            deep: false,
            around: false,
        };
        wildcard.meets("/p", "/p", &pattern)
    }

    #[test]
    fn two_patterns_meet_where_a_file_is_in_both() {
        for (word, pattern, met) in [
            ("*.rs", "*.rs", true),
            ("*.rs", "main.*", true),
            ("*.rs", "*.toml", false),
            ("a*", "*b", true),
            ("a*", "b*", false),
            ("*", ".env", false),
            (".*", ".env", true),
            (".e?v", ".env", true),
            ("*/x", "**/.env", false),
            ("*/.env", "**/.env", true),
            ("src/*", "src/**", true),
            ("src/*", "docs/**", false),
            ("*", "a/b", false),
            ("*/*", "a/b", true),
            ("?", "ab", false),
            ("??", "ab", true),
            ("x*y", "x[a-c]*", true),
        ] {
            assert_eq!(meets(word, pattern, false), met, "{word} {pattern}");
        }
        assert!(meets("*", ".env", true));
    }
}
