//! A word of a command as far as the text decides it.
//!
//! Owns: the three-valued word and its pieces. Does not own: how raw text becomes a word (`expand`),
//! how words are matched (`matching`).

use std::fmt;

/// A word after quote removal and expansion: known, or a pattern of what it may become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Exactly this text, as exactly one argument.
    Literal(String),
    /// Decided when the command runs.
    Pattern(Pattern),
}

/// A word with parts that are decided at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    pub(crate) pieces: Vec<Piece>,
    /// Its run-time parts may hold several arguments.
    pub(crate) splits: bool,
    pub(crate) none: bool,
}

impl Pattern {
    /// Whether it has parts that stand for file names.
    pub(crate) fn is_glob(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)))
    }

    fn several(&self) -> bool {
        self.splits || self.is_glob()
    }
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// This text.
    Text(String),
    /// The home folder: `~`, `$HOME` or `${HOME}`.
    Home,
    /// A part of a file name pattern. Where no file matches, its own text stays.
    Glob(Glob),
    /// Any text. It may hold blanks; whether it may be several arguments or none is the word's
    /// [`Word::may_be_several`] and [`Word::may_be_none`].
    Any,
    /// Nothing, or a slash and any path without `..`: what a program finds or puts below the folder
    /// that stands before it.
    Below,
    /// A process substitution: the path of a pipe, which the shell chooses.
    Pipe,
}

/// A part of a file name pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Glob {
    /// `*`: any run of characters.
    Run,
    /// `?`: one character.
    One,
    /// `[…]`: one character of a set, written as in the source with its brackets.
    Set(String),
}

impl Word {
    /// A word that may be anything: any text, several words, or none.
    pub(crate) fn anything() -> Self {
        Self::Pattern(Pattern { pieces: vec![Piece::Any], splits: true, none: true })
    }

    /// A word that is one argument with any text.
    pub(crate) fn one_of_any_text() -> Self {
        Self::Pattern(Pattern { pieces: vec![Piece::Any], splits: false, none: false })
    }

    /// Whether it is a path below a folder.
    pub(crate) fn is_below(&self) -> bool {
        matches!(self, Self::Pattern(pattern) if pattern.pieces.contains(&Piece::Below))
    }

    /// The text, if the word is known.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Pattern(_) => None,
        }
    }

    /// The pieces of the word, in order; one text for a literal, which may be empty.
    pub fn pieces(&self) -> Vec<Piece> {
        match self {
            Self::Literal(text) => vec![Piece::Text(text.clone())],
            Self::Pattern(pattern) => pattern.pieces.clone(),
        }
    }

    /// Whether the shell may make several arguments of it.
    pub fn may_be_several(&self) -> bool {
        matches!(self, Self::Pattern(pattern) if pattern.several())
    }

    /// Whether the shell may make no argument of it.
    pub fn may_be_none(&self) -> bool {
        matches!(self, Self::Pattern(pattern) if pattern.none)
    }

    /// Whether it is one argument, whatever its text.
    pub fn is_one(&self) -> bool {
        !self.may_be_several() && !self.may_be_none()
    }

    /// Whether it is a process substitution and nothing else, which names no file.
    pub(crate) fn is_pipe(&self) -> bool {
        matches!(self, Self::Pattern(pattern) if pattern.pieces == [Piece::Pipe])
    }

    /// The text every form of this word begins with.
    pub fn known_prefix(&self) -> &str {
        match self {
            Self::Literal(text) => text,
            Self::Pattern(pattern) => match pattern.pieces.first() {
                Some(Piece::Text(text)) => text,
                _ => "",
            },
        }
    }

    /// The text of a word of literal and home parts, with the home folder written as `$HOME`.
    pub(crate) fn shell_text(&self) -> Option<String> {
        match self {
            Self::Literal(text) => Some(text.clone()),
            Self::Pattern(pattern) => {
                let mut out = String::new();
                for piece in &pattern.pieces {
                    match piece {
                        Piece::Text(text) => out.push_str(text),
                        Piece::Home => out.push_str("$HOME"),
                        Piece::Glob(_) | Piece::Any | Piece::Below | Piece::Pipe => return None,
                    }
                }
                Some(out)
            }
        }
    }

    /// The name of the program this word would start, without its folder; `None` when that is
    /// decided at run time.
    pub fn program_name(&self) -> Option<&str> {
        let (text, whole) = match self {
            Self::Literal(text) => (text.as_str(), true),
            Self::Pattern(pattern) if !pattern.several() && !pattern.none => {
                match pattern.pieces.last() {
                    Some(Piece::Text(text)) => (text.as_str(), false),
                    _ => return None,
                }
            }
            Self::Pattern(_) => return None,
        };
        match text.rsplit_once('/') {
            Some((_, name)) => Some(name),
            None if whole => Some(text),
            None => None,
        }
    }

    /// The word with every occurrence of `mark` in its literal text standing for any text.
    pub(crate) fn with_hole(&self, mark: &str) -> Self {
        if mark.is_empty() || !self.pieces().iter().any(|piece| has(piece, mark)) {
            return self.clone();
        }
        let mut pieces = Vec::new();
        for piece in self.pieces() {
            match piece {
                Piece::Text(text) => {
                    for (index, part) in text.split(mark).enumerate() {
                        if index > 0 {
                            pieces.push(Piece::Any);
                        }
                        if !part.is_empty() {
                            pieces.push(Piece::Text(part.to_owned()));
                        }
                    }
                }
                Piece::Home | Piece::Glob(_) | Piece::Any | Piece::Below | Piece::Pipe => {
                    pieces.push(piece);
                }
            }
        }
        let (splits, none) = match self {
            Self::Literal(_) => (false, false),
            Self::Pattern(pattern) => (pattern.splits, pattern.none),
        };
        Self::Pattern(Pattern { pieces, splits, none })
    }

    /// The word as a path without `//`, `/./` and a `/` at its end, as far as its text is known.
    #[must_use]
    pub fn as_plain_path(&self) -> Self {
        let tidy = |text: &str| {
            let mut text = text.to_owned();
            for (from, to) in [("/./", "/"), ("//", "/")] {
                while text.contains(from) {
                    text = text.replace(from, to);
                }
            }
            text
        };
        let whole =
            |text: &str| if text.len() > 1 { text.trim_end_matches('/') } else { text }.to_owned();
        match self {
            Self::Literal(text) => Self::Literal(whole(&tidy(text))),
            Self::Pattern(pattern) => {
                let mut pattern = pattern.clone();
                let last = pattern.pieces.len().saturating_sub(1);
                for (at, piece) in pattern.pieces.iter_mut().enumerate() {
                    if let Piece::Text(text) = piece {
                        *text = tidy(text);
                        if at == last && at > 0 {
                            *text = text.trim_end_matches('/').to_owned();
                        }
                    }
                }
                pattern.pieces.retain(|piece| *piece != Piece::Text(String::new()));
                Self::Pattern(pattern)
            }
        }
    }

    /// The word without its first `count` bytes, which are literal.
    #[must_use]
    pub fn without_prefix(&self, count: usize) -> Self {
        match self {
            Self::Literal(text) => Self::Literal(text.get(count..).unwrap_or_default().to_owned()),
            Self::Pattern(pattern) => {
                let mut pattern = pattern.clone();
                if let Some(Piece::Text(text)) = pattern.pieces.first_mut() {
                    *text = text.get(count..).unwrap_or_default().to_owned();
                }
                pattern.pieces.retain(|piece| *piece != Piece::Text(String::new()));
                Self::Pattern(pattern)
            }
        }
    }
}

fn has(piece: &Piece, mark: &str) -> bool {
    matches!(piece, Piece::Text(text) if text.contains(mark))
}

/// The word as a person would read it: holes show as `…`, the home folder as `~`.
impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(text) => f.write_str(text),
            Self::Pattern(pattern) => {
                for piece in &pattern.pieces {
                    match piece {
                        Piece::Text(text) => f.write_str(text)?,
                        Piece::Home => f.write_str("~")?,
                        Piece::Glob(Glob::Run) => f.write_str("*")?,
                        Piece::Glob(Glob::One) => f.write_str("?")?,
                        Piece::Glob(Glob::Set(set)) => f.write_str(set)?,
                        Piece::Below => f.write_str("/…")?,
                        Piece::Any | Piece::Pipe => f.write_str("…")?,
                    }
                }
                Ok(())
            }
        }
    }
}
