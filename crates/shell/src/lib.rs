//! What a shell command line would run, write and read, as far as its text tells: pure.
//!
//! [`analyse`] takes a line as a person or an agent would give it to `bash -c` and returns the
//! simple commands in it with their quotes undone, how each is reached, the files that are written
//! and read, and, first-class, everything that could not be analysed. Nothing is ever left out
//! silently: for every command bash would start there is a [`Simple`] whose words may become its
//! arguments, or an [`Unknown`] that stands for it.
//!
//! ```
//! use tenter_shell::{Match, analyse};
//!
//! let analysis = analyse(r#"cd app && sudo rm -r"f" "$dir""#);
//! assert!(analysis.unknowns.is_empty());
//! let programs: Vec<_> = analysis.commands.iter().filter_map(|c| c.program()).collect();
//! assert_eq!(programs, ["cd", "sudo", "rm"]);
//! assert_eq!(analysis.commands[2].matches("rm -rf *"), Match::Yes);
//! assert_eq!(analysis.commands[2].matches("rm -rf /"), Match::Maybe);
//!
//! let analysis = analyse("curl https://example.org/install | sh");
//! assert_eq!(analysis.unknowns.len(), 1);
//! ```
//!
//! The crate does no I/O, reads no clock, runs nothing, knows no host and does not panic. It has one
//! thread, for lines that nest deep ([`limits::MAX_DEPTH_IN_PLACE`]): the parser is recursive, and
//! a stack that overflows ends the process. Limits are in bytes, depth and steps, never in time, so
//! one line always gets one answer.
//!
//! What it takes for granted: the line is bash's or a POSIX shell's; aliases are off unless the line
//! turns them on; variables that come from outside hold no code that arithmetic would run, `HOME`
//! holds one word, and `CDPATH` is not set; a program's name says which program it is. A shell's start-up files and a
//! script that was there before are not part of the line.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![expect(
    clippy::similar_names,
    reason = "`argv` is a whole command, `args` what follows its program"
)]
#![cfg_attr(test, allow(clippy::indexing_slicing, reason = "a failing index fails the test"))]

pub mod analysis;
mod arithmetic;
mod atoms;
mod braces;
mod brush;
mod commands;
mod deep;
mod effects;
mod expand;
mod folder;
mod git;
mod grammar;
mod interpreters;
mod lexer;
pub mod limits;
mod links;
pub mod matching;
mod options;
mod state;
mod tools;
mod walk;
pub mod word;
mod wrappers;
mod written;

pub use analysis::{
    Analysis, Assignment, By, FileUse, Link, Note, NoteKind, Reach, Redirection, RedirectionKind,
    Simple, Span, Unknown, UnknownReason,
};
pub use matching::{Match, matches, may_become};
pub use word::{Glob, Pattern, Piece, Word};

use brush::Brush;
use walk::{Base, Walker};

/// Says what a command line would run, write and read.
///
/// A line longer than [`limits::MAX_BYTES`] is one unknown, decided by its length alone. An empty
/// line, or one of comments only, gives an empty analysis.
pub fn analyse(line: &str) -> Analysis {
    if line.len() > limits::MAX_BYTES {
        return only_unknown(line, UnknownReason::TooLong);
    }
    let (analysis, too_deep) = within(line, limits::MAX_DEPTH_IN_PLACE);
    if !too_deep {
        return analysis;
    }
    deep::run(line, |line| within(line, limits::MAX_DEPTH).0)
        .unwrap_or_else(|| only_unknown(line, UnknownReason::TooDeep))
}

fn within(line: &str, depth: usize) -> (Analysis, bool) {
    let mut walker = Walker::new(&Brush, depth);
    walker.program(line, Base::Exact(0), whole(line));
    let too_deep = walker.too_deep;
    (walker.finish(), too_deep)
}

fn whole(line: &str) -> Span {
    Span { start: 0, end: line.len() }
}

fn only_unknown(line: &str, reason: UnknownReason) -> Analysis {
    let unknown = Unknown { span: whole(line), reason, text: String::new(), via: Vec::new() };
    Analysis { unknowns: vec![unknown], ..Analysis::default() }
}
