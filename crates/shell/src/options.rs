//! Reads the options of a program far enough to find what it starts.
//!
//! Owns: the conservative reading: an option that is not listed, or a word that is not known,
//! makes the answer unclear. Does not own: the lists.

use crate::word::Word;

/// The options of a program that starts another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec {
    /// Short options without a value.
    pub(crate) flags: &'static str,
    /// Short options with one, attached or in the next word.
    pub(crate) valued: &'static str,
    /// Long options without a value, or with an attached one only.
    pub(crate) long: &'static [&'static str],
    /// Long options with one, attached or in the next word.
    pub(crate) long_valued: &'static [&'static str],
    /// How many operands stand before the command.
    pub(crate) skip: usize,
    /// Whether `NAME=value` words stand before the command.
    pub(crate) assigns: bool,
}

impl Spec {
    pub(crate) const PLAIN: Self =
        Self { flags: "", valued: "", long: &[], long_valued: &[], skip: 0, assigns: false };
}

/// Where the command begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// At this word.
    At(usize),
    /// It starts nothing.
    Nothing,
    /// It cannot be told.
    Unclear,
}

/// Where the operands begin.
pub(crate) fn operands(spec: &Spec, args: &[Word]) -> Start {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let Some(text) = arg.literal() else {
            // What begins with a known text other than a dash is an operand.
            let prefix = arg.known_prefix();
            let operand = !prefix.is_empty() && !prefix.starts_with('-') && arg.is_one();
            let home = matches!(arg.pieces().first(), Some(crate::word::Piece::Home));
            return if operand || (home && arg.is_one()) { Start::At(at) } else { Start::Unclear };
        };
        if text == "--" {
            return Start::At(at + 1);
        }
        if matches!(text, "--help" | "--version") {
            return Start::Nothing;
        }
        let width = match text.strip_prefix("--") {
            Some(long) => long_width(spec, long),
            None => match text.strip_prefix('-') {
                Some("") => spec.flags.contains('-').then_some(1),
                Some(cluster) => cluster_width(spec, cluster),
                None => return Start::At(at),
            },
        };
        let Some(width) = width else { return Start::Unclear };
        // A value that may be several words, or none, shifts everything behind it.
        if args.get(at + 1..at + width).is_some_and(|values| !values.iter().all(Word::is_one)) {
            return Start::Unclear;
        }
        at += width;
    }
    Start::Nothing
}

fn long_width(spec: &Spec, long: &str) -> Option<usize> {
    let (name, attached) = match long.split_once('=') {
        Some((name, _)) => (name, true),
        None => (long, false),
    };
    if spec.long.contains(&name) {
        Some(1)
    } else if spec.long_valued.contains(&name) {
        Some(if attached { 1 } else { 2 })
    } else {
        None
    }
}

fn cluster_width(spec: &Spec, cluster: &str) -> Option<usize> {
    let mut rest = cluster.chars();
    while let Some(option) = rest.next() {
        if spec.valued.contains(option) {
            return Some(if rest.as_str().is_empty() { 2 } else { 1 });
        }
        if !spec.flags.contains(option) {
            return None;
        }
    }
    Some(1)
}

/// Where the command begins behind options, operands and assignments.
pub(crate) fn command(spec: &Spec, args: &[Word]) -> Start {
    let mut at = match operands(spec, args) {
        Start::At(at) => at,
        other => return other,
    };
    if spec.assigns {
        while args.get(at).is_some_and(assigns) {
            at += 1;
        }
    }
    for _ in 0..spec.skip {
        match args.get(at) {
            Some(word) if word.is_one() => at += 1,
            Some(_) => return Start::Unclear,
            None => return Start::Nothing,
        }
    }
    if args.get(at).is_none() { Start::Nothing } else { Start::At(at) }
}

/// Whether a word is `NAME=value` whatever its run-time parts become.
pub(crate) fn assigns(word: &Word) -> bool {
    word.is_one() && word.known_prefix().find('=').is_some_and(|at| at > 0)
}

/// What stands behind the first `--`, if everything before it is known to be single words.
pub(crate) fn behind_dashes(args: &[Word]) -> Start {
    for (at, arg) in args.iter().enumerate() {
        if !arg.is_one() {
            return Start::Unclear;
        }
        if arg.literal() == Some("--") {
            return if args.len() > at + 1 { Start::At(at + 1) } else { Start::Nothing };
        }
    }
    Start::Nothing
}
