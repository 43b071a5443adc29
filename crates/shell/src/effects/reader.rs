//! Reads the arguments of a program by its row: options, their values, and operands.
//!
//! Owns: clusters of short options, attached values, long options cut short, `--`. Does not own: the
//! rows (`table`), what becomes of a value (`effects`).

use std::borrow::Cow;

use crate::word::Word;

/// What an option or its value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It has no value, or an attached one only.
    Flag,
    /// Its value is no file.
    Value,
    /// Its value is a file that is written.
    Write,
    /// Its value is a file that is read.
    Read,
    /// Its value is a file that is read and written.
    Edit,
    /// Its value is a folder; what is written gets into it.
    Folder,
    /// Its value is a text that may name a file behind `@`, `=<`, `file:` or `file://`.
    Text,
    /// Its value is a file if it looks like one.
    Guess,
    /// Its value stands for the first operand, such as a pattern or a script.
    Stands,
    /// The same; the value is a file that holds it.
    StandsRead,
    /// The operands are changed in place. A suffix may be attached.
    Changes,
    /// The operands are not changed.
    Keeps,
    /// Something that only the program's own code knows.
    Note(char),
}

impl Role {
    const fn takes_value(self) -> bool {
        !matches!(self, Self::Flag | Self::Changes | Self::Keeps | Self::Note(_))
    }
}

/// What the operands of a program are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// No files.
    None,
    /// Files that are read, where they look like files.
    Guess,
    /// Files that are read.
    Read,
    /// Files that are written.
    Write,
    /// Files that are read and written.
    Edit,
    /// Files that are read, and at the end one that is written.
    Last,
    /// A file that is written, and then files that are read.
    First,
    /// A file that is read, and then files that are written.
    Rest,
}

/// How options are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// As GNU programs read them.
    Gnu,
    /// Long options have one dash, and none is cut short.
    OneDash,
    /// Short options do not cluster.
    Alone,
    /// As GNU programs read them, and the first operand ends them.
    Stops,
}

/// One row: letters, or names with a blank between them, that have one role.
pub(super) type Options = &'static [(&'static str, Role)];

/// What the arguments of a program are. An option that is not listed takes no word after it: a
/// value that is taken for a file costs little, a file that is taken for a value is missed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spec {
    pub(super) short: Options,
    pub(super) long: Options,
    pub(super) operands: Operands,
    /// So many operands stand before those that are files.
    pub(super) skip: usize,
    pub(super) style: Style,
}

impl Spec {
    pub(super) const fn of(operands: Operands) -> Self {
        Self { short: &[], long: &[], operands, skip: 0, style: Style::Gnu }
    }

    pub(super) const fn short(mut self, short: Options) -> Self {
        self.short = short;
        self
    }

    pub(super) const fn long(mut self, long: Options) -> Self {
        self.long = long;
        self
    }

    pub(super) const fn skip(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }

    pub(super) const fn style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }
}

/// The arguments of a program, taken apart.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    pub(super) operands: Vec<&'a Word>,
    /// The values of options that may be files.
    pub(super) values: Vec<(Role, Cow<'a, Word>)>,
    pub(super) changes: bool,
    pub(super) keeps: bool,
    /// A value stands for the first operand.
    pub(super) stands: bool,
    pub(super) notes: Vec<char>,
}

impl<'a> Found<'a> {
    pub(super) fn has(&self, note: char) -> bool {
        self.notes.contains(&note)
    }

    pub(super) fn of(&self, role: Role) -> impl Iterator<Item = &Word> {
        self.values.iter().filter(move |(own, _)| *own == role).map(|(_, value)| value.as_ref())
    }

    /// The operands behind those that are no files.
    pub(super) fn files(&self, spec: &Spec) -> &[&'a Word] {
        let skip = if self.stands { 0 } else { spec.skip };
        self.operands.get(skip..).unwrap_or_default()
    }

    fn mark(&mut self, role: Role) {
        match role {
            Role::Changes => self.changes = true,
            Role::Keeps => self.keeps = true,
            Role::Stands | Role::StandsRead => self.stands = true,
            Role::Note(note) => self.notes.push(note),
            _ => {}
        }
    }

    fn value(&mut self, role: Role, value: Option<Cow<'a, Word>>) {
        self.mark(role);
        if let Some(value) = value.filter(|_| role != Role::Value) {
            self.values.push((role, value));
        }
    }
}

/// Takes the arguments of a program apart.
pub(super) fn read<'a>(spec: &Spec, args: &'a [Word]) -> Found<'a> {
    let mut found = Found::default();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let text = arg.known_prefix();
        if !text.starts_with('-') || text == "-" {
            found.operands.push(arg);
            if spec.style == Style::Stops {
                break;
            }
        } else if arg.literal() == Some("--") {
            found.operands.extend(rest);
            break;
        } else if let Some(long) = text.strip_prefix("--") {
            long_option(spec, arg, long, &mut rest, &mut found);
        } else if spec.style != Style::OneDash
            || !long_option(spec, arg, text.trim_start_matches('-'), &mut rest, &mut found)
        {
            cluster(spec, arg, &mut rest, &mut found);
        }
    }
    found
}

/// Reads a long option; `false` if it is not listed.
fn long_option<'a>(
    spec: &Spec,
    arg: &'a Word,
    long: &str,
    rest: &mut std::slice::Iter<'a, Word>,
    found: &mut Found<'a>,
) -> bool {
    let dashes = arg.known_prefix().len() - long.len();
    let (name, mut value) = match long.split_once('=') {
        Some((name, _)) => (name, Some(Cow::Owned(arg.without_prefix(dashes + name.len() + 1)))),
        // The value, and the end of the name, are decided at run time.
        None if arg.literal().is_none() => (long, Some(Cow::Owned(Word::one_of_any_text()))),
        None => (long, None),
    };
    let names = || spec.long.iter().flat_map(|(names, role)| names.split(' ').map(|n| (n, *role)));
    if let Some((_, role)) = names().find(|(known, _)| *known == name) {
        if value.is_none() && role.takes_value() {
            value = rest.next().map(Cow::Borrowed);
        }
        give(found, role, value);
        return true;
    }
    if spec.style == Style::OneDash || name.is_empty() {
        return false;
    }
    // Cut short. Where more than one name begins so, the program refuses, or knows better.
    let mut known = false;
    for (_, role) in names().filter(|(known, _)| known.starts_with(name)) {
        if value.is_none() && role.takes_value() {
            value = rest.next().map(Cow::Borrowed);
        }
        give(found, role, value.clone());
        known = true;
    }
    known
}

fn give<'a>(found: &mut Found<'a>, role: Role, value: Option<Cow<'a, Word>>) {
    if role.takes_value() {
        found.value(role, value);
    } else {
        found.mark(role);
    }
}

fn cluster<'a>(
    spec: &Spec,
    arg: &'a Word,
    rest: &mut std::slice::Iter<'a, Word>,
    found: &mut Found<'a>,
) {
    let text = arg.known_prefix();
    for (at, letter) in text.char_indices().skip(1) {
        let role = spec.short.iter().find(|(letters, _)| letters.contains(letter));
        match role {
            Some((_, role)) if role.takes_value() => {
                let end = at + letter.len_utf8();
                if text.len() == end && arg.literal().is_some() {
                    return found.value(*role, rest.next().map(Cow::Borrowed));
                }
                let value = arg.without_prefix(end);
                // Some programs take `-o=file` for `-o file`.
                if value.known_prefix().starts_with('=') {
                    found.value(*role, Some(Cow::Owned(value.without_prefix(1))));
                }
                return found.value(*role, Some(Cow::Owned(value)));
            }
            Some((_, role)) => {
                found.mark(*role);
                // What is behind it is a suffix.
                if *role == Role::Changes {
                    return;
                }
            }
            None => {}
        }
        if matches!(spec.style, Style::Alone | Style::OneDash) {
            return;
        }
    }
}
