//! From a raw word to the words it becomes, and to the substitutions that run on the way.
//!
//! Owns: quote removal, tilde, parameter, brace and file name expansion, as far as the text decides
//! them. Does not own: where a substitution ends (`lexer`), what is in it (`walk`).

use std::cell::Cell;

use crate::arithmetic::{evaluates_names, puts_off_a_substitution, set_by};
use crate::atoms::{Atom, hidden, is_odd, word};
use crate::braces::{MAX_BRACE_WORDS, braces};
use crate::lexer::{self, Refused};
use crate::state::State;
use crate::word::Word;

mod ansi;
mod values;

/// Where a raw word stands, which decides what the shell expands in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// An argument: everything is expanded and split.
    Argument,
    /// The value of an assignment: one word, no braces, no file names.
    Assignment,
    /// The operand of a redirection, `case` or `[[`: one word.
    Single,
    /// A here-document body: as inside double quotes, with quotes standing for themselves.
    Body,
}

/// What kind of substitution it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubKind {
    Command,
    Process,
}

/// A substitution in a raw word: its program's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sub {
    pub(crate) kind: SubKind,
    pub(crate) text: String,
    /// Where the text begins in the raw word; `None` when it had to be decoded first.
    pub(crate) at: Option<usize>,
}

/// Whether literal text holds a substitution that arithmetic on it would run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Hidden {
    #[default]
    No,
    /// The text of one: together with the text of a subscript from elsewhere it may be run.
    Substitution,
    /// One inside a subscript: `a[$(…)]`.
    Subscript,
}

/// What a raw word becomes.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    pub(crate) words: Vec<Word>,
    pub(crate) subs: Vec<Sub>,
    /// `${x@P}`.
    pub(crate) prompt: bool,
    /// Variables it sets: `${x:=…}`.
    pub(crate) assigned: Vec<String>,
    /// Arithmetic that looks at a variable.
    pub(crate) arithmetic: bool,
    /// Literal text that arithmetic would run a substitution of.
    pub(crate) hidden: Hidden,
    /// Control or invisible characters where they would be read as part of a name.
    pub(crate) odd: bool,
}

impl Expanded {
    /// The single word of a mode that gives one.
    pub(crate) fn into_one(mut self) -> Word {
        match self.words.len() {
            0 => Word::Literal(String::new()),
            1 => self.words.swap_remove(0),
            _ => Word::anything(),
        }
    }
}

/// What is known of variables.
pub(crate) struct Known<'a> {
    pub(crate) state: &'a State,
    /// How many bytes of values may still be put into words.
    pub(crate) budget: &'a Cell<usize>,
}

/// Expands a raw word.
///
/// # Errors
/// When a substitution in it does not end, or when it can be read in two ways.
pub(crate) fn expand(raw: &str, mode: Mode, known: &Known<'_>) -> Result<Expanded, Refused> {
    if raw.bytes().all(is_dull) && mode != Mode::Body {
        return Ok(Expanded { words: vec![Word::Literal(raw.to_owned())], ..Expanded::default() });
    }
    let mut reader = Reader::new(raw.as_bytes(), mode);
    reader.known = Some(known);
    if mode == Mode::Body {
        reader.quoted(None)?;
    } else {
        reader.unquoted()?;
    }
    let mut out = reader.out;
    if raw.contains('(') || raw.contains('`') {
        out.hidden = hidden(&reader.atoms);
    }
    out.odd |= is_odd(&reader.atoms);
    if mode == Mode::Argument {
        match braces(&reader.atoms) {
            Some(forms)
                if reader.merges && !matches!(forms.as_slice(), [one] if *one == reader.atoms) =>
            {
                out.words.push(Word::anything());
            }
            Some(forms) if forms.len() <= MAX_BRACE_WORDS => {
                for form in forms {
                    for part in form.split(|atom| *atom == Atom::Break) {
                        out.words.extend(word(part, mode)?);
                    }
                }
            }
            Some(_) | None => out.words.push(Word::anything()),
        }
    } else {
        let one = word(&reader.atoms, mode)?;
        out.words.push(one.unwrap_or_else(|| Word::Literal(String::new())));
    }
    Ok(out)
}

/// The substitutions of an arithmetic expression, a subscript or an offset.
///
/// # Errors
/// As [`expand`].
pub(crate) fn expand_arithmetic(text: &str) -> Result<Expanded, Refused> {
    let mut reader = Reader::new(text.as_bytes(), Mode::Body);
    reader.inner(text.as_bytes(), 0, true)?;
    let mut out = reader.out;
    out.arithmetic |= evaluates_names(text);
    out.assigned.extend(set_by(text));
    Ok(out)
}

/// Bytes that mean nothing to the shell anywhere in a word.
fn is_dull(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'.' | b'/' | b':' | b'=' | b',' | b'@' | b'%' | b'+' | b'-')
}

struct Reader<'a> {
    raw: &'a [u8],
    pos: usize,
    mode: Mode,
    atoms: Vec<Atom>,
    out: Expanded,
    known: Option<&'a Known<'a>>,
    /// Braces expand before parameters: `$x{a,b}` is `$xa $xb`, and `{$x,y}z` begins with `$xz`.
    merges: bool,
}

impl<'a> Reader<'a> {
    fn new(raw: &'a [u8], mode: Mode) -> Self {
        Self {
            raw,
            pos: 0,
            mode,
            atoms: Vec::new(),
            out: Expanded::default(),
            known: None,
            merges: false,
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.raw.get(self.pos + ahead).copied()
    }

    fn unquoted(&mut self) -> Result<(), Refused> {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\\' => {
                    let next = self.peek(1).ok_or(Refused::Syntax)?;
                    self.atoms.push(Atom::Quoted(next));
                    self.pos += 2;
                }
                b'\'' => {
                    self.atoms.push(Atom::Empty);
                    self.pos += 1;
                    loop {
                        let byte = self.peek(0).ok_or(Refused::Syntax)?;
                        self.pos += 1;
                        if byte == b'\'' {
                            break;
                        }
                        self.atoms.push(Atom::Quoted(byte));
                    }
                }
                b'"' => {
                    self.pos += 1;
                    self.double_quotes()?;
                }
                b'$' if self.peek(1) == Some(b'\'') => {
                    self.pos += 2;
                    self.atoms.push(Atom::Empty);
                    let mut decoded = Vec::new();
                    self.ansi(&mut decoded)?;
                    if std::str::from_utf8(&decoded).is_ok() {
                        self.atoms.extend(decoded.into_iter().map(Atom::Quoted));
                    } else {
                        self.atoms.push(Atom::One);
                    }
                }
                b'$' if self.peek(1) == Some(b'"') => {
                    self.pos += 2;
                    self.double_quotes()?;
                }
                b'$' => self.dollar(false)?,
                b'`' => self.backquote(false)?,
                b'<' | b'>' if self.peek(1) == Some(b'(') => {
                    let start = self.pos + 2;
                    let end = lexer::end_of_substitution(self.raw, start)?;
                    self.substitution(SubKind::Process, start, end)?;
                    self.atoms.push(Atom::Pipe);
                }
                _ => {
                    self.atoms.push(Atom::Plain(byte));
                    self.pos += 1;
                }
            }
        }
        Ok(())
    }

    fn double_quotes(&mut self) -> Result<(), Refused> {
        let before = self.atoms.len();
        self.quoted(Some(b'"'))?;
        let only_fields = self.atoms.len() > before
            && self.atoms.iter().skip(before).all(|atom| *atom == Atom::Fields);
        if !only_fields {
            self.atoms.push(Atom::Empty);
        }
        Ok(())
    }

    /// Text inside double quotes up to the closing one, or a here-document body up to its end.
    fn quoted(&mut self, close: Option<u8>) -> Result<(), Refused> {
        loop {
            let Some(byte) = self.peek(0) else {
                return if close.is_none() { Ok(()) } else { Err(Refused::Syntax) };
            };
            match byte {
                _ if Some(byte) == close => {
                    self.pos += 1;
                    return Ok(());
                }
                b'\\' => match self.peek(1) {
                    Some(b'\n') => self.pos += 2,
                    Some(next)
                        if matches!(next, b'$' | b'`' | b'\\')
                            || (next == b'"' && close.is_some()) =>
                    {
                        self.atoms.push(Atom::Quoted(next));
                        self.pos += 2;
                    }
                    _ => {
                        self.atoms.push(Atom::Quoted(b'\\'));
                        self.pos += 1;
                    }
                },
                b'$' => self.dollar(true)?,
                b'`' => self.backquote(close.is_some())?,
                _ => {
                    self.atoms.push(Atom::Quoted(byte));
                    self.pos += 1;
                }
            }
        }
    }

    fn field(&self, in_quotes: bool) -> Atom {
        if in_quotes || self.mode == Mode::Assignment { Atom::One } else { Atom::Split }
    }

    fn substitution(&mut self, kind: SubKind, start: usize, end: usize) -> Result<(), Refused> {
        let text = self.raw.get(start..end.saturating_sub(1)).ok_or(Refused::Syntax)?;
        let text = std::str::from_utf8(text).map_err(|_| Refused::Syntax)?.to_owned();
        self.out.subs.push(Sub { kind, text, at: Some(start) });
        self.pos = end;
        Ok(())
    }

    fn backquote(&mut self, in_double_quotes: bool) -> Result<(), Refused> {
        let start = self.pos + 1;
        let end = lexer::end_of_backquote(self.raw, start)?;
        let raw = self.raw.get(start..end - 1).ok_or(Refused::Syntax)?;
        let text = decode_backquotes(raw, in_double_quotes)?;
        self.out.subs.push(Sub { kind: SubKind::Command, text, at: None });
        self.pos = end;
        let in_quotes = in_double_quotes || self.mode == Mode::Body;
        let atom = self.field(in_quotes);
        self.atoms.push(atom);
        Ok(())
    }

    fn dollar(&mut self, in_quotes: bool) -> Result<(), Refused> {
        match self.peek(1) {
            Some(b'(') => {
                if self.peek(2) == Some(b'(')
                    && let Some(end) = lexer::end_of_arithmetic(self.raw, self.pos + 3)?
                {
                    let start = self.pos + 3;
                    self.arithmetic(start, end - 2)?;
                    self.pos = end;
                } else {
                    let start = self.pos + 2;
                    let end = lexer::end_of_substitution(self.raw, start)?;
                    self.substitution(SubKind::Command, start, end)?;
                }
                let atom = self.field(in_quotes);
                self.atoms.push(atom);
            }
            Some(b'[') => {
                let start = self.pos + 2;
                let end = self.bracket_end(start)?;
                self.arithmetic(start, end - 1)?;
                self.pos = end;
                let atom = self.field(in_quotes);
                self.atoms.push(atom);
            }
            Some(b'{') => {
                let start = self.pos + 2;
                let end = lexer::end_of_parameter(self.raw, start, in_quotes)?;
                self.parameter(start, end - 1, in_quotes)?;
                self.pos = end;
            }
            Some(first) if first.is_ascii_alphabetic() || first == b'_' => {
                let start = self.pos + 1;
                let mut end = start;
                while self.raw.get(end).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
                    end += 1;
                }
                self.pos = end;
                self.merges |= !in_quotes && matches!(self.peek(0), Some(b'{' | b',' | b'}'));
                self.variable(start, end, in_quotes);
            }
            Some(b'@') => {
                self.pos += 2;
                self.atoms.push(Atom::Fields);
            }
            Some(b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'0'..=b'9') => {
                self.pos += 2;
                let atom = self.field(in_quotes);
                self.atoms.push(atom);
            }
            _ => {
                self.atoms.push(Atom::Quoted(b'$'));
                self.pos += 1;
                self.merges |= !in_quotes && matches!(self.peek(0), Some(b'{' | b',' | b'}'));
            }
        }
        Ok(())
    }

    fn bracket_end(&self, start: usize) -> Result<usize, Refused> {
        let mut depth = 0_usize;
        let mut at = start;
        loop {
            match self.raw.get(at) {
                None => return Err(Refused::Syntax),
                // Quotes and substitutions inside could hold brackets; such arithmetic is rare.
                Some(b'\'' | b'"' | b'`' | b'\\') => return Err(Refused::Unsupported),
                Some(b'$') if self.raw.get(at + 1) == Some(&b'(') => {
                    at = lexer::end_of_substitution(self.raw, at + 2)?;
                }
                Some(b'[') => {
                    depth += 1;
                    at += 1;
                }
                Some(b']') if depth == 0 => return Ok(at + 1),
                Some(b']') => {
                    depth -= 1;
                    at += 1;
                }
                Some(_) => at += 1,
            }
        }
    }

    fn arithmetic(&mut self, start: usize, end: usize) -> Result<(), Refused> {
        let raw = self.raw;
        let inner = raw.get(start..end).ok_or(Refused::Syntax)?;
        self.inner(inner, start, true)?;
        let text = std::str::from_utf8(inner).map_err(|_| Refused::Syntax)?;
        if puts_off_a_substitution(inner) {
            return Err(Refused::Unsupported);
        }
        self.out.arithmetic |= evaluates_names(text);
        self.out.assigned.extend(set_by(text));
        Ok(())
    }

    /// `${…}`.
    fn parameter(&mut self, start: usize, end: usize, in_quotes: bool) -> Result<(), Refused> {
        let raw = self.raw;
        let inner = raw.get(start..end).ok_or(Refused::Syntax)?;
        if matches!(inner.first(), None | Some(b' ' | b'\t' | b'\n' | b'|' | b'(')) {
            // `${ command; }` runs it in newer shells.
            return Err(Refused::Unsupported);
        }
        self.inner(inner, start, in_quotes)?;
        if inner.ends_with(b"@P") {
            self.out.prompt = true;
        }
        let plain = inner.strip_prefix(b"#").or(inner.strip_prefix(b"!")).unwrap_or(inner);
        let name = plain.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let rest = plain.get(name..).unwrap_or_default();
        let behind = match rest.first() {
            // What follows a subscript is looked for by its bracket; one inside may only add.
            Some(b'[') => {
                rest.iter().position(|byte| *byte == b']').and_then(|at| rest.get(at + 1..))
            }
            _ => Some(rest),
        };
        if behind.is_some_and(|rest| rest.starts_with(b"=") || rest.starts_with(b":=")) {
            let name = plain.get(..name).unwrap_or_default();
            self.out.assigned.push(String::from_utf8_lossy(name).into_owned());
        }
        // `${x:1+y}` and `${a[i]}` evaluate; `${x:-…}` and its kin do not.
        let offset = rest
            .strip_prefix(b":")
            .is_some_and(|rest| !matches!(rest.first(), Some(b'-' | b'=' | b'+' | b'?')));
        let subscript = rest.first() == Some(&b'[') && !matches!(rest.get(1), Some(b'@' | b'*'));
        if (offset || subscript) && puts_off_a_substitution(rest) {
            return Err(Refused::Unsupported);
        }
        if offset || subscript || inner.first() == Some(&b'!') {
            self.out.arithmetic |= std::str::from_utf8(rest).is_ok_and(evaluates_names)
                || inner.first() == Some(&b'!');
        }
        if name == inner.len() {
            self.variable(start, end, in_quotes);
            return Ok(());
        }
        let atom = if inner.contains(&b'@') { Atom::Fields } else { self.field(in_quotes) };
        self.atoms.push(atom);
        Ok(())
    }

    /// Finds the substitutions in the inside of a parameter or arithmetic expansion, which begins
    /// at `base` of the raw word.
    fn inner(&mut self, text: &[u8], base: usize, in_quotes: bool) -> Result<(), Refused> {
        let has = |byte: u8| text.contains(&byte);
        if !has(b'$') && !has(b'`') && !has(b'<') && !has(b'>') {
            return Ok(());
        }
        let mut at = 0;
        let mut in_double = in_quotes;
        // Which quotes hold inside nested expansions inside quotes is not worked out here: one of
        // each at this level and the text is refused.
        let (mut single, mut double, mut nested) = (false, false, false);
        while let Some(&byte) = text.get(at) {
            let next = text.get(at + 1).copied();
            single |= byte == b'\'';
            double |= byte == b'"';
            nested |= byte == b'$' && next == Some(b'{');
            match byte {
                b'\\' => at += 2,
                b'"' => {
                    in_double = !in_double || in_quotes;
                    at += 1;
                }
                b'\'' if !in_double => {
                    at += 1;
                    while text.get(at).is_some_and(|byte| *byte != b'\'') {
                        at += 1;
                    }
                    at += 1;
                }
                b'$' if next == Some(b'\'') && !in_double => {
                    at += 2;
                    while let Some(byte) = text.get(at) {
                        at += if *byte == b'\\' { 2 } else { 1 };
                        if *byte == b'\'' {
                            break;
                        }
                    }
                }
                b'$' if next == Some(b'(') => {
                    if text.get(at + 2) == Some(&b'(')
                        && lexer::end_of_arithmetic(text, at + 3)?.is_some()
                    {
                        self.out.arithmetic = true;
                        // What is inside is passed over by this very loop.
                        at += 3;
                        continue;
                    }
                    let end = lexer::end_of_substitution(text, at + 2)?;
                    self.inner_sub(SubKind::Command, text, base, at + 2, end)?;
                    at = end;
                }
                b'<' | b'>' if next == Some(b'(') && !in_double => {
                    let end = lexer::end_of_substitution(text, at + 2)?;
                    self.inner_sub(SubKind::Process, text, base, at + 2, end)?;
                    at = end;
                }
                b'`' => {
                    let end = lexer::end_of_backquote(text, at + 1)?;
                    let raw = text.get(at + 1..end - 1).ok_or(Refused::Syntax)?;
                    let text = decode_backquotes(raw, in_double)?;
                    self.out.subs.push(Sub { kind: SubKind::Command, text, at: None });
                    at = end;
                }
                b'@' if next == Some(b'P') && text.get(at + 2) == Some(&b'}') => {
                    self.out.prompt = true;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        if single && double && nested { Err(Refused::Unsupported) } else { Ok(()) }
    }

    fn inner_sub(
        &mut self,
        kind: SubKind,
        text: &[u8],
        base: usize,
        start: usize,
        end: usize,
    ) -> Result<(), Refused> {
        let program = text.get(start..end.saturating_sub(1)).ok_or(Refused::Syntax)?;
        let program = std::str::from_utf8(program).map_err(|_| Refused::Syntax)?.to_owned();
        self.out.subs.push(Sub { kind, text: program, at: Some(base + start) });
        Ok(())
    }
}

fn decode_backquotes(raw: &[u8], in_double_quotes: bool) -> Result<String, Refused> {
    let mut text = Vec::with_capacity(raw.len());
    let mut bytes = raw.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let escaped = byte == b'\\'
            && bytes.peek().is_some_and(|next| {
                matches!(next, b'`' | b'\\' | b'$') || (in_double_quotes && *next == b'"')
            });
        if escaped { text.extend(bytes.next()) } else { text.push(byte) }
    }
    String::from_utf8(text).map_err(|_| Refused::Syntax)
}
