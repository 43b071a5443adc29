//! In which folder a command runs, as far as the line says.
//!
//! Owns: folders and how `cd` and its kin change them. Does not own: what else a line has set by
//! then (`state`), who uses a file (`effects`).
//!
//! A `CDPATH` that comes from outside is taken for unset.

use std::rc::Rc;

use crate::walk::Walker;
use crate::word::{Pattern, Piece, Word};

/// A failed `cd` leaves two folders to choose from; with more than this many nothing is known.
const MAX_FOLDERS: usize = 4;

/// A longer path is not followed.
const MAX_PATH: usize = 1024;

/// Where a relative path starts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Folder {
    /// Where the line starts.
    #[default]
    Here,
    /// One of these.
    Among(Rc<[Base]>),
    /// Somewhere: only a path from the root is known.
    Unknown,
    /// Under another root, or where folders of ours may have other names: no path is known.
    OtherRoot,
    /// In a container: it writes no file of ours, and what it reads is told as it is written, since
    /// a secret is one there too.
    Inside,
    /// On another machine: no file of ours is used.
    Away,
}

/// A folder by its path; an empty one is where the line starts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Base {
    /// The path starts in the home folder.
    home: bool,
    path: String,
}

impl Base {
    fn of(word: &Word) -> Option<Self> {
        let pieces = word.pieces();
        let (home, text) = match pieces.as_slice() {
            [Piece::Text(text)] => (false, text.as_str()),
            [Piece::Home] => (true, ""),
            [Piece::Home, Piece::Text(text)] if text.starts_with('/') => (true, text.as_str()),
            _ => return None,
        };
        let path = if home { text.trim_start_matches('/') } else { text };
        Some(Self { home, path: path.to_owned() })
    }

    fn is_rooted(&self) -> bool {
        self.home || self.path.starts_with('/')
    }

    /// The folder that `to` is from here, as a shell counts `..`: by the text.
    fn enter(&self, to: &Self) -> Option<Self> {
        let from = if to.is_rooted() { "" } else { self.path.as_str() };
        let home = if to.is_rooted() { to.home } else { self.home };
        let root = from.starts_with('/') || (!to.home && to.path.starts_with('/'));
        let mut parts: Vec<&str> = Vec::new();
        for part in from.split('/').chain(to.path.split('/')) {
            match part {
                "" | "." => {}
                ".." => match parts.last() {
                    Some(last) if *last != ".." => {
                        parts.pop();
                    }
                    _ if root => {}
                    // Where the home folder lies is not known.
                    _ if home => return None,
                    _ => parts.push(part),
                },
                _ => parts.push(part),
            }
        }
        let path = format!("{}{}", if root { "/" } else { "" }, parts.join("/"));
        (path.len() <= MAX_PATH).then_some(Self { home, path })
    }

    /// A relative path that starts here.
    fn join(&self, path: &Word) -> Word {
        if *self == Self::default() {
            return path.clone();
        }
        let mut text = self.path.clone();
        if !text.ends_with('/') {
            text.push('/');
        }
        let mut pieces = Vec::new();
        if self.home {
            pieces.push(Piece::Home);
            text = if text == "/" { text } else { format!("/{text}") };
        }
        let path = without_dots(path);
        let (splits, none) = (path.may_be_several() && !is_glob(&path), path.may_be_none());
        for piece in path.pieces() {
            match piece {
                Piece::Text(more) => text.push_str(&more),
                other => {
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    pieces.push(other);
                }
            }
        }
        if pieces.is_empty() {
            return Word::Literal(text);
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        Word::Pattern(Pattern { pieces, splits, none })
    }
}

fn is_glob(word: &Word) -> bool {
    matches!(word, Word::Pattern(pattern) if pattern.is_glob())
}

fn without_dots(path: &Word) -> Word {
    let prefix = path.known_prefix();
    let mut rest = prefix;
    while let Some(more) = rest.strip_prefix("./") {
        rest = more.trim_start_matches('/');
    }
    if rest.len() == prefix.len() {
        path.clone()
    } else {
        path.without_prefix(prefix.len() - rest.len())
    }
}

/// Whether a path starts in the current folder whatever its run-time parts become.
fn is_relative(path: &Word) -> bool {
    match path {
        Word::Literal(text) => !text.starts_with('/'),
        Word::Pattern(pattern) => match pattern.pieces.first() {
            Some(Piece::Text(text)) => !text.starts_with('/'),
            Some(Piece::Glob(_)) => true,
            Some(Piece::Home | Piece::Any | Piece::Below | Piece::Pipe) | None => false,
        },
    }
}

/// How what a program starts finds itself placed.
#[derive(Debug, Clone)]
pub(crate) enum Move {
    /// Where the program itself is.
    Stay,
    /// In the folder of this name.
    To(Word),
    /// Somewhere.
    Unknown,
    /// Where no path means what it means here.
    OtherRoot,
    /// In a container.
    Inside,
    /// On another machine.
    Away,
}

impl Folder {
    fn bases(&self) -> Option<&[Base]> {
        const HERE: &[Base] = &[Base { home: false, path: String::new() }];
        match self {
            Self::Here => Some(HERE),
            Self::Among(bases) => Some(bases),
            Self::Unknown | Self::OtherRoot | Self::Inside | Self::Away => None,
        }
    }

    fn among(bases: Vec<Base>) -> Self {
        match bases.as_slice() {
            [one] if *one == Base::default() => Self::Here,
            _ if bases.len() > MAX_FOLDERS => Self::Unknown,
            _ => Self::Among(bases.into()),
        }
    }

    /// The folder after this move.
    pub(crate) fn after(&self, to: &Move) -> Self {
        match (self, to) {
            (_, Move::Stay) => self.clone(),
            (Self::Away, _) | (_, Move::Away) => Self::Away,
            (Self::Inside, _) | (_, Move::Inside) => Self::Inside,
            (Self::OtherRoot, _) | (_, Move::OtherRoot) => Self::OtherRoot,
            (_, Move::Unknown) => Self::Unknown,
            (_, Move::To(word)) => Base::of(word)
                .filter(|to| !to.path.is_empty() || to.home)
                .and_then(|to| {
                    if to.is_rooted() {
                        return Some(vec![Base::default().enter(&to)?]);
                    }
                    let mut out = Vec::new();
                    for base in self.bases()? {
                        let entered = base.enter(&to)?;
                        if !out.contains(&entered) {
                            out.push(entered);
                        }
                    }
                    Some(out)
                })
                .map_or(Self::Unknown, Self::among),
        }
    }

    /// Either this one or the other.
    pub(crate) fn or(&self, other: &Self) -> Self {
        if self == other {
            return self.clone();
        }
        match (self.bases(), other.bases()) {
            (Some(one), Some(two)) => {
                let more = two.iter().filter(|base| !one.contains(base));
                Self::among(one.iter().chain(more).cloned().collect())
            }
            _ if [self, other]
                .iter()
                .all(|f| matches!(f, Self::Unknown | Self::Here | Self::Among(_))) =>
            {
                Self::Unknown
            }
            _ => Self::OtherRoot,
        }
    }

    /// Calls `each` with every path that `path` may be from here, and whether its folder is unknown.
    pub(crate) fn paths(&self, path: Word, mut each: impl FnMut(Word, bool)) {
        match self {
            Self::Away | Self::Inside => {}
            Self::OtherRoot => each(Word::one_of_any_text(), false),
            _ if !is_relative(&path) => each(path, false),
            Self::Here => each(path, false),
            Self::Unknown => each(path, true),
            Self::Among(bases) => bases.iter().for_each(|base| each(base.join(&path), false)),
        }
    }
}

/// `cd` and its kin.
pub(crate) fn cd(walker: &mut Walker<'_>, name: &str, args: &[Word]) {
    let mut operands = args;
    let mut physical = false;
    while let Some((first, rest)) = operands.split_first() {
        match first.literal() {
            Some("--") => {
                operands = rest;
                break;
            }
            Some("-L" | "-e" | "-@" | "-Le") if name != "pushd" => {}
            Some("-P" | "-Pe" | "-eP") if name != "pushd" => physical = true,
            _ => break,
        }
        operands = rest;
    }
    let to = match operands {
        [] if matches!(name, "cd" | "chdir") => Move::To(Word::Pattern(Pattern {
            pieces: vec![Piece::Home],
            splits: false,
            none: false,
        })),
        [to] if name != "popd" && to.is_one() => {
            let text = to.to_string();
            if text.starts_with(['-', '+']) || (physical && text.contains("..")) {
                Move::Unknown
            } else {
                Move::To(to.clone())
            }
        }
        _ => Move::Unknown,
    };
    walker.moves(&to);
}
