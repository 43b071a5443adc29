//! The parts of a word: quotes, expansions and substitutions, each up to its own end.

use super::{Lexer, Lexes, MAX_NESTED_TEXT, Refused, end_of_backquote};

impl Lexer<'_> {
    /// One part of a word that begins with `byte`: an escape, a quoted part, an expansion, or a
    /// plain byte.
    pub(super) fn word_part(&mut self, byte: u8, out: &mut Vec<u8>) -> Lexes<()> {
        match byte {
            b'\\' => {
                self.take(out);
                if self.pos >= self.src.len() {
                    return Err(Refused::Syntax);
                }
                self.take(out);
                Ok(())
            }
            b'\'' => self.single_quoted(out),
            b'"' => self.double_quoted(out),
            b'`' => self.backquoted(out),
            b'$' => self.dollar(false, out),
            _ => {
                self.take(out);
                Ok(())
            }
        }
    }

    pub(super) fn single_quoted(&mut self, out: &mut Vec<u8>) -> Lexes<()> {
        self.take(out);
        loop {
            match self.src.get(self.pos) {
                None => return Err(Refused::Syntax),
                Some(b'\'') => {
                    self.take(out);
                    return Ok(());
                }
                Some(_) => self.take(out),
            }
        }
    }

    pub(super) fn ansi_quoted(&mut self, out: &mut Vec<u8>) -> Lexes<()> {
        self.take(out);
        loop {
            match self.src.get(self.pos) {
                None => return Err(Refused::Syntax),
                Some(b'\'') => {
                    self.take(out);
                    return Ok(());
                }
                Some(b'\\') => {
                    self.take(out);
                    self.take(out);
                }
                Some(_) => self.take(out),
            }
        }
    }

    pub(super) fn double_quoted(&mut self, out: &mut Vec<u8>) -> Lexes<()> {
        self.take(out);
        loop {
            match self.peek() {
                None => return Err(Refused::Syntax),
                Some(b'"') => {
                    self.take(out);
                    return Ok(());
                }
                Some(b'\\') => {
                    self.take(out);
                    self.take(out);
                }
                Some(b'`') => self.backquoted(out)?,
                Some(b'$') => self.dollar(true, out)?,
                Some(_) => self.take(out),
            }
        }
    }

    pub(super) fn backquoted(&mut self, out: &mut Vec<u8>) -> Lexes<()> {
        let end = end_of_backquote(self.src, self.pos + 1)?;
        self.no_body_between(end)?;
        self.take_to(end, out);
        Ok(())
    }

    /// A newline inside a substitution, while a here-document of the line still waits for its
    /// body, is read differently by different shells.
    pub(super) fn no_body_between(&self, end: usize) -> Lexes<()> {
        let spans_lines = self.src.get(self.pos..end).is_some_and(|part| part.contains(&b'\n'));
        if spans_lines && !self.pending.is_empty() { Err(Refused::Unsupported) } else { Ok(()) }
    }

    /// Where `((` turns out to be two subshells, bash reads the text a second time, and loses its
    /// way in a here-document.
    pub(super) fn no_here_document_in(&self, start: usize, end: usize) -> Lexes<()> {
        let part = self.src.get(start..end).unwrap_or_default();
        if part.windows(2).any(|pair| pair == b"<<") { Err(Refused::Unsupported) } else { Ok(()) }
    }

    pub(super) fn dollar(&mut self, in_quotes: bool, out: &mut Vec<u8>) -> Lexes<()> {
        let next = self.peek_second();
        self.take(out);
        self.peek();
        match next {
            Some(b'(') => {
                self.take(out);
                if self.peek() == Some(b'(') {
                    let inner = self.pos + 1;
                    if let Some(end) = self.arithmetic_end(inner)? {
                        self.no_body_between(end)?;
                        self.take_to(end, out);
                        return Ok(());
                    }
                    let end = self.nested_end(self.pos)?;
                    self.no_here_document_in(self.pos, end)?;
                }
                let end = self.nested_end(self.pos)?;
                self.no_body_between(end)?;
                self.take_to(end, out);
                Ok(())
            }
            Some(b'{') => {
                self.take(out);
                self.parameter(in_quotes, out)
            }
            Some(b'[') => {
                self.take(out);
                self.bracketed(out)
            }
            Some(b'\'') if !in_quotes => self.ansi_quoted(out),
            Some(b'"') if !in_quotes => self.double_quoted(out),
            _ => Ok(()),
        }
    }

    /// The rest of `$[…]` or of an array subscript.
    pub(super) fn bracketed(&mut self, out: &mut Vec<u8>) -> Lexes<()> {
        self.level += 1;
        if self.level > MAX_NESTED_TEXT {
            return Err(Refused::TooDeep);
        }
        let mut depth = 0_usize;
        loop {
            let Some(byte) = self.peek() else { return Err(Refused::Syntax) };
            match byte {
                b'[' => {
                    depth += 1;
                    self.take(out);
                }
                b']' => {
                    self.take(out);
                    if depth == 0 {
                        self.level -= 1;
                        return Ok(());
                    }
                    depth -= 1;
                }
                _ => self.word_part(byte, out)?,
            }
        }
    }

    /// `name[` at a place where an assignment may stand: blanks inside belong to the word.
    pub(super) fn subscript(&mut self, out: &mut Vec<u8>) -> Lexes<()> {
        self.take(out);
        self.bracketed(out)
    }

    /// The rest of `${…}`, up to and with the brace.
    pub(super) fn parameter(&mut self, in_quotes: bool, out: &mut Vec<u8>) -> Lexes<()> {
        self.level += 1;
        if self.level > MAX_NESTED_TEXT {
            return Err(Refused::TooDeep);
        }
        loop {
            let Some(byte) = self.peek() else { return Err(Refused::Syntax) };
            match byte {
                b'}' => {
                    self.take(out);
                    self.level -= 1;
                    return Ok(());
                }
                b'\'' if in_quotes => self.apostrophe(out)?,
                b'$' => self.dollar(in_quotes, out)?,
                b'<' | b'>' if self.peek_second() == Some(b'(') && !in_quotes => {
                    self.process_substitution(out)?;
                }
                _ => self.word_part(byte, out)?,
            }
        }
    }

    /// An apostrophe in a parameter expansion inside double quotes quotes with some operators and
    /// stands for itself with others. Both readings agree if its partner follows with only plain
    /// text between them; else the text is refused.
    pub(super) fn apostrophe(&mut self, out: &mut Vec<u8>) -> Lexes<()> {
        self.take(out);
        loop {
            match self.src.get(self.pos) {
                Some(b'\'') => {
                    self.take(out);
                    return Ok(());
                }
                None | Some(b'}' | b'{' | b'"' | b'`' | b'$' | b'\\' | b'\n') => {
                    return Err(Refused::Unsupported);
                }
                Some(_) => self.take(out),
            }
        }
    }

    pub(super) fn process_substitution(&mut self, out: &mut Vec<u8>) -> Lexes<()> {
        self.take(out);
        self.peek();
        let end = self.nested_end(self.pos + 1)?;
        self.no_body_between(end)?;
        self.take_to(end, out);
        Ok(())
    }

    pub(super) fn extended_glob(&mut self, out: &mut Vec<u8>) -> Lexes<()> {
        let mut depth = 1_usize;
        while depth > 0 {
            let Some(byte) = self.peek() else { return Err(Refused::Syntax) };
            match byte {
                b'(' => {
                    depth += 1;
                    self.take(out);
                }
                b')' => {
                    depth -= 1;
                    self.take(out);
                }
                _ => self.word_part(byte, out)?,
            }
        }
        Ok(())
    }
}
