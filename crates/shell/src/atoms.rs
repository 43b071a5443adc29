//! The atoms of a word: bytes with or without a meaning, and holes; and the word they make.
//!
//! Owns: tilde and file name expansion, and what looks odd or hides something in a word's text. Does
//! not own: how raw text becomes atoms (`expand`), braces (`braces`).

use crate::braces::position;
use crate::expand::{Hidden, Mode};
use crate::lexer::{self, Refused};
use crate::word::{Glob, Pattern, Piece, Word};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Atom {
    /// A byte that may have a meaning for braces, tildes and file names.
    Plain(u8),
    /// A byte without one.
    Quoted(u8),
    /// Quotes stood here: the word is not dropped when empty.
    Empty,
    /// One field of any text.
    One,
    /// A process substitution.
    Pipe,
    /// Fields of an unquoted expansion.
    Split,
    /// Fields of `"$@"` and the like.
    Fields,
    Home,
    /// A blank in a value that is split there.
    Break,
}

/// Whether literal text holds a substitution, which arithmetic on it would run.
pub(crate) fn hidden(atoms: &[Atom]) -> Hidden {
    let mut bracket = false;
    let mut dollar = false;
    let mut found = Hidden::No;
    for atom in atoms {
        let byte = match atom {
            Atom::Plain(byte) | Atom::Quoted(byte) => *byte,
            _ => continue,
        };
        if byte == b'`' || (dollar && byte == b'(') {
            found = found.max(if bracket { Hidden::Subscript } else { Hidden::Substitution });
        }
        bracket |= byte == b'[';
        dollar = byte == b'$';
    }
    found
}

/// Whether the word has characters that a person does not see, or takes for blanks.
pub(crate) fn is_odd(atoms: &[Atom]) -> bool {
    let suspicious = |byte: &u8| byte.is_ascii_control() || *byte >= 0x80;
    if !atoms.iter().any(|a| matches!(a, Atom::Plain(b) | Atom::Quoted(b) if suspicious(b))) {
        return false;
    }
    let mut plain = Vec::new();
    for atom in atoms {
        match atom {
            Atom::Plain(byte) => plain.push(*byte),
            Atom::Quoted(b'\t' | b'\n' | b'\r') => {}
            Atom::Quoted(byte) if byte.is_ascii_control() => return true,
            _ => {}
        }
    }
    String::from_utf8(plain).is_ok_and(|text| text.chars().any(is_odd_char))
}

/// Control and format characters, and blanks the shell does not split at.
pub(crate) fn is_odd_char(char: char) -> bool {
    (char.is_control() && char != '\t' && char != '\n')
        || (char.is_whitespace() && !char.is_ascii())
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{2800}' | '\u{e0000}'..='\u{e007f}')
}

/// The word these atoms make; `None` when the shell drops it.
pub(crate) fn word(atoms: &[Atom], mode: Mode) -> Result<Option<Word>, Refused> {
    if atoms.is_empty() {
        return Ok(if mode == Mode::Argument { None } else { Some(Word::Literal(String::new())) });
    }
    let mut builder = Builder::default();
    let mut at = 0;
    let mut tilde_may_start = mode != Mode::Body;
    // Behind the last bracket no set ends, and none is looked for.
    let last_close = atoms.iter().rposition(|atom| *atom == Atom::Plain(b']')).unwrap_or(0);
    while let Some(atom) = atoms.get(at) {
        let tilde = std::mem::take(&mut tilde_may_start);
        match atom {
            Atom::Plain(b'~') if tilde => {
                let name = login_name(atoms.get(at + 1..).unwrap_or_default(), mode);
                match name {
                    Some(0) => builder.piece(Piece::Home)?,
                    Some(length) => {
                        builder.piece(Piece::Any)?;
                        at += length;
                    }
                    None => builder.text.push(b'~'),
                }
            }
            Atom::Plain(byte @ (b'*' | b'?')) if mode == Mode::Argument || mode == Mode::Single => {
                let glob = if *byte == b'*' { Glob::Run } else { Glob::One };
                builder.piece(Piece::Glob(glob))?;
            }
            Atom::Plain(b'[')
                if at < last_close && (mode == Mode::Argument || mode == Mode::Single) =>
            {
                if let Some((set, length)) = glob_set(atoms.get(at..).unwrap_or_default()) {
                    builder.piece(Piece::Glob(Glob::Set(set)))?;
                    at += length;
                    continue;
                }
                if let Some(length) = open_set(atoms.get(at..).unwrap_or_default()) {
                    builder.piece(Piece::Any)?;
                    builder.splits = true;
                    at += length;
                    continue;
                }
                builder.text.push(b'[');
            }
            Atom::Plain(byte) => {
                builder.text.push(*byte);
                // After `name=`, and after colons in an assignment, a tilde expands too.
                tilde_may_start = match byte {
                    b'=' => builder.is_name_and_equals() && mode == Mode::Argument,
                    b':' => mode == Mode::Assignment || builder.assigns,
                    _ => false,
                };
                builder.assigns |= tilde_may_start;
            }
            Atom::Quoted(byte) => builder.text.push(*byte),
            Atom::Empty => builder.quoted = true,
            Atom::One => builder.piece(Piece::Any)?,
            Atom::Pipe => builder.piece(Piece::Pipe)?,
            Atom::Split | Atom::Fields => {
                builder.piece(Piece::Any)?;
                builder.splits = true;
                builder.vanishing += 1;
            }
            Atom::Home => builder.piece(Piece::Home)?,
            // Words are split there before.
            Atom::Break => builder.text.push(b' '),
        }
        at += 1;
    }
    builder.finish().map(Some)
}

/// How long the login name behind a tilde is; `None` when quoting stops the expansion.
fn login_name(rest: &[Atom], mode: Mode) -> Option<usize> {
    for (length, atom) in rest.iter().enumerate() {
        match atom {
            Atom::Plain(b'/') => return Some(length),
            Atom::Plain(b':') if mode != Mode::Single => return Some(length),
            Atom::Plain(_) => {}
            // An expansion behind the tilde is not part of a name: bash leaves the tilde alone,
            // other shells may not.
            Atom::Split | Atom::One | Atom::Pipe | Atom::Fields | Atom::Home => return Some(0),
            Atom::Quoted(_) | Atom::Empty | Atom::Break => return None,
        }
    }
    Some(rest.len())
}

/// A bracket expression at the start: its text, and how many atoms it takes.
fn glob_set(atoms: &[Atom]) -> Option<(String, usize)> {
    let mut text = Vec::new();
    for (at, atom) in atoms.iter().enumerate() {
        let (byte, plain) = match atom {
            Atom::Plain(byte) => (*byte, true),
            Atom::Quoted(byte) => (*byte, false),
            Atom::Empty => continue,
            Atom::One | Atom::Pipe | Atom::Split | Atom::Fields | Atom::Home | Atom::Break => {
                return None;
            }
        };
        text.push(byte);
        let negated = matches!(text.get(1), Some(b'!' | b'^'));
        if byte == b']' && plain && text.len() > if negated { 3 } else { 2 } {
            return String::from_utf8(text).ok().map(|text| (text, at + 1));
        }
    }
    None
}

/// How many atoms a bracket expression takes that is only complete at run time.
fn open_set(atoms: &[Atom]) -> Option<usize> {
    let close = position(atoms, 1, b']')?;
    let hole = |atom: &Atom| {
        matches!(atom, Atom::One | Atom::Pipe | Atom::Split | Atom::Fields | Atom::Home)
    };
    atoms.get(..close)?.iter().any(hole).then_some(close + 1)
}

#[derive(Debug, Default)]
struct Builder {
    text: Vec<u8>,
    pieces: Vec<Piece>,
    splits: bool,
    vanishing: usize,
    quoted: bool,
    assigns: bool,
}

impl Builder {
    fn is_name_and_equals(&self) -> bool {
        self.pieces.is_empty() && self.text.strip_suffix(b"=").is_some_and(lexer::is_name)
    }

    fn flush(&mut self) -> Result<(), Refused> {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            let text = String::from_utf8(text).map_err(|_| Refused::Unsupported)?;
            self.pieces.push(Piece::Text(text));
        }
        Ok(())
    }

    fn piece(&mut self, piece: Piece) -> Result<(), Refused> {
        self.flush()?;
        self.pieces.push(piece);
        Ok(())
    }

    fn finish(mut self) -> Result<Word, Refused> {
        self.flush()?;
        let none = self.vanishing > 0 && self.vanishing == self.pieces.len() && !self.quoted;
        match self.pieces.as_slice() {
            [] => Ok(Word::Literal(String::new())),
            [Piece::Text(text)] => Ok(Word::Literal(text.clone())),
            _ => Ok(Word::Pattern(Pattern { pieces: self.pieces, splits: self.splits, none })),
        }
    }
}
