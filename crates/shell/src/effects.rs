//! Which files a program writes and reads by its arguments.
//!
//! Owns: what becomes of the options and operands of a program, and what is guessed of a program
//! without a row. Does not own: redirections (`walk`), paths' meaning: a path is given as written.
//!
//! What is written and read errs on the side of too much, for deny and ask rules. What is merely
//! guessed is known text only, so that a guess never makes anything unknown.

use crate::analysis::{By, Span};
use crate::walk::Walker;
use crate::word::{Pattern, Piece, Word};

mod download;
pub(crate) mod git;
mod reader;
mod special;
mod table;

use reader::{Found, Operands, Role, Spec, read};

/// Longer words are not taken for a path.
const MAX_GUESSED: usize = 4096;

/// What an unlisted program's `-o` names where it names no file.
const FORMATS: &[&str] =
    &["json", "yaml", "yml", "table", "wide", "text", "name", "csv", "xml", "tsv", "pretty"];

struct Uses<'w, 'g> {
    walker: &'w mut Walker<'g>,
    name: &'w str,
    span: Span,
}

impl Uses<'_, '_> {
    fn write(&mut self, path: &Word) {
        if path.literal() != Some("-") {
            self.walker.writes(path.clone(), By::Program(self.name.to_owned()), self.span);
        }
    }

    fn read(&mut self, path: &Word) {
        if path.literal() != Some("-") {
            self.walker.reads(path.clone(), By::Program(self.name.to_owned()), self.span);
        }
    }

    fn write_all<'a>(&mut self, paths: impl IntoIterator<Item = &'a Word>) {
        for path in paths {
            self.write(path);
        }
    }

    fn read_all<'a>(&mut self, paths: impl IntoIterator<Item = &'a Word>) {
        for path in paths {
            self.read(path);
        }
    }

    /// It writes files that its arguments do not name.
    fn write_any(&mut self) {
        self.write(&Word::one_of_any_text());
    }

    /// A later use of `link`, or of a path below it, is one of `target`.
    fn link(&mut self, target: &Word, link: &Word) {
        self.walker.links(target.clone(), link.clone(), self.span);
    }

    /// Reads the word, or what is behind its `=`, if that looks like a path and is known.
    fn guess(&mut self, word: &Word) {
        let mut word = std::borrow::Cow::Borrowed(word);
        loop {
            let at = usize::from(word.known_prefix().starts_with('@'));
            if at > 0 {
                word = std::borrow::Cow::Owned(word.without_prefix(at));
            }
            if looks_like_path(&word) && !self.is_read(&word) {
                self.read(&word);
            }
            let Some(at) = word.known_prefix().find('=') else { return };
            word = std::borrow::Cow::Owned(word.without_prefix(at + 1));
        }
    }

    /// Whether this command is said to read it already.
    fn is_read(&self, path: &Word) -> bool {
        let reads = self.walker.out.reads.iter().rev();
        reads.take(16).any(|read| read.span == self.span && read.path == *path)
    }

    fn guess_all<'a>(&mut self, words: impl IntoIterator<Item = &'a Word>) {
        for word in words {
            self.guess(word);
        }
    }

    /// What the values of options are.
    fn values(&mut self, found: &Found<'_>) {
        for (role, value) in &found.values {
            match role {
                Role::Write | Role::Folder => self.write(value),
                Role::Read | Role::StandsRead => self.read(value),
                Role::Edit => {
                    self.read(value);
                    self.write(value);
                }
                Role::Text => self.text(value),
                Role::Guess => self.guess(value),
                _ => {}
            }
        }
    }

    /// A text that may name a file: `@f`, `name=@f`, `name=<f`, `file:f`, `file://f`.
    fn text(&mut self, value: &Word) {
        let prefix = value.known_prefix();
        let at = if let Some(rest) = prefix.strip_prefix("file:") {
            prefix.len() - rest.strip_prefix("//").unwrap_or(rest).len()
        } else if let Some(at) = prefix.find('@') {
            at + 1
        } else if let Some(at) = prefix.find("=<") {
            at + 2
        } else {
            return;
        };
        let path = value.without_prefix(at);
        // What may follow is the file's type: `f=@x;type=y`.
        match path.literal().and_then(|text| text.split_once([';', ','])) {
            Some((path, _)) => self.read(&Word::Literal(path.to_owned())),
            None => self.read(&path),
        }
    }

    fn by_spec(&mut self, spec: &Spec, args: &[Word]) {
        let found = read(spec, args);
        self.values(&found);
        let files = found.files(spec).iter().copied();
        let operands = match spec.operands {
            Operands::Edit | Operands::Write if found.keeps => Operands::Read,
            Operands::Read | Operands::Guess if found.changes => Operands::Edit,
            other => other,
        };
        match operands {
            Operands::None => {}
            Operands::Guess => self.guess_all(files),
            Operands::Read => self.read_all(files),
            Operands::Write => self.write_all(files),
            Operands::Edit => {
                self.write_all(files.clone());
                self.read_all(files);
            }
            Operands::Last => {
                self.write_all(files.clone().last());
                self.read_all(files.rev().skip(1));
            }
            Operands::First => {
                self.write_all(files.clone().take(1));
                self.read_all(files.skip(1));
            }
            Operands::Rest => {
                self.read_all(files.clone().take(1));
                self.write_all(files.skip(1));
            }
        }
    }

    /// A program without a row: `-o` and the like name what is written, and what looks like a path
    /// is read.
    fn unlisted(&mut self, args: &[Word]) {
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let text = arg.known_prefix();
            if !text.starts_with('-') {
                self.guess(arg);
                continue;
            }
            let (name, attached) = match text.split_once('=') {
                Some((name, _)) => (name, Some(arg.without_prefix(name.len() + 1))),
                None => (text, None),
            };
            let output = matches!(
                name,
                "-o" | "-out"
                    | "-output"
                    | "--out"
                    | "--output"
                    | "--outfile"
                    | "--output-file"
                    | "--out-file"
            );
            match (output, attached) {
                (true, Some(value)) => self.output(&value),
                (true, None) if arg.literal().is_some() => {
                    if let Some(value) = args.next() {
                        self.output(value);
                    }
                }
                (true, None) => self.write_any(),
                (false, Some(value)) => self.guess(&value),
                (false, None) => {}
            }
        }
    }

    fn output(&mut self, path: &Word) {
        if !path.literal().is_some_and(|text| FORMATS.contains(&text)) {
            self.write(path);
        }
    }
}

/// Notes the files a program uses. `wraps`: it is a builtin or starts its arguments, which are
/// looked at by themselves.
pub(crate) fn uses(walker: &mut Walker<'_>, name: &str, args: &[Word], wraps: bool, span: Span) {
    if args.is_empty() {
        return;
    }
    let mut uses = Uses { walker, name, span };
    if special::uses(&mut uses, args) {
        return;
    }
    if let Some(spec) = table::spec(name) {
        uses.by_spec(&spec, args);
    } else if !wraps {
        uses.unlisted(args);
    }
}

/// Whether a known word looks like the path of a file here, and not like an address or a text.
fn looks_like_path(word: &Word) -> bool {
    let text = match word {
        Word::Literal(text) => text.as_str(),
        // `~` and `$HOME` with known text behind.
        Word::Pattern(pattern) => {
            return matches!(
                pattern.pieces.as_slice(),
                [Piece::Home] | [Piece::Home, Piece::Text(_)]
            );
        }
    };
    if text.is_empty() || text.len() > MAX_GUESSED || text.contains("://") || text.contains('\n') {
        return false;
    }
    if ["/", "./", "../", "~/"].iter().any(|start| text.starts_with(start)) {
        return true;
    }
    if text.contains(|char: char| char.is_whitespace() || "(){}<>;|&\"'`$".contains(char)) {
        return false;
    }
    text.contains('/') || text.starts_with(['.', '~']) || has_extension(text)
}

fn has_extension(text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && extension.len() <= 12
            && extension.starts_with(|char: char| char.is_ascii_alphabetic())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The path inside a folder.
fn inside(folder: &Word, path: &Word) -> Word {
    let text = path.known_prefix();
    if text.starts_with('/') || matches!(path.pieces().first(), Some(Piece::Home)) {
        return path.clone();
    }
    let slash = !matches!(folder, Word::Literal(text) if text.ends_with('/'));
    let between = slash.then(|| Piece::Text("/".to_owned()));
    joined(folder.pieces().into_iter().chain(between).chain(path.pieces()))
}

/// Any path below a folder, and the folder itself.
fn below(folder: &Word) -> Word {
    below_folder(folder).unwrap_or_else(|| inside(folder, &Word::one_of_any_text()))
}

/// The same, as a path that cannot leave the folder; `None` where the folder is not known, or is the
/// root of everything.
pub(crate) fn below_folder(folder: &Word) -> Option<Word> {
    let mut pieces = folder.pieces();
    match pieces.as_mut_slice() {
        [Piece::Text(text)] => {
            text.truncate(text.trim_end_matches('/').len());
            if text.is_empty() || text.starts_with('-') {
                return None;
            }
        }
        [Piece::Home] => {}
        [Piece::Home, Piece::Text(text)] => text.truncate(text.trim_end_matches('/').len()),
        _ => return None,
    }
    pieces.push(Piece::Below);
    Some(joined(pieces))
}

/// One word of these pieces.
pub(crate) fn joined(all: impl IntoIterator<Item = Piece>) -> Word {
    let mut pieces: Vec<Piece> = Vec::new();
    for piece in all {
        match (pieces.last_mut(), piece) {
            (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(&more),
            (_, piece) => pieces.push(piece),
        }
    }
    match pieces.as_slice() {
        [] => Word::Literal(String::new()),
        [Piece::Text(text)] => Word::Literal(text.clone()),
        _ => Word::Pattern(Pattern { pieces, splits: false, none: false }),
    }
}
