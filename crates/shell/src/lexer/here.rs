//! Here-documents: the tag behind the operator, and the bodies behind the line.

use super::{HereDoc, Kind, Lexer, Lexes, Refused, Token};

impl Lexer<'_> {
    /// Reads the delimiter behind `<<`.
    pub(super) fn here_tag(&mut self, strip_tabs: bool) -> Lexes<()> {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.pos += 1;
        }
        let before = self.tokens.len();
        if matches!(
            self.peek(),
            None | Some(b'\n' | b'<' | b'>' | b'&' | b'|' | b';' | b'(' | b')')
        ) {
            return Err(Refused::Syntax);
        }
        self.word()?;
        if self.tokens.len() != before + 1 {
            return Err(Refused::Syntax);
        }
        let raw = self.tokens.last().map(|token| token.text.clone()).ok_or(Refused::Syntax)?;
        let quoted = raw.contains(['\'', '"', '\\']);
        if raw.contains(['$', '`']) {
            return Err(Refused::Unsupported);
        }
        let mut delimiter = Vec::with_capacity(raw.len());
        let mut quote = None;
        let mut bytes = raw.bytes();
        while let Some(byte) = bytes.next() {
            match (quote, byte) {
                (None, b'\'' | b'"') => quote = Some(byte),
                (Some(open), _) if open == byte => quote = None,
                (None, b'\\') => delimiter.extend(bytes.next()),
                (Some(b'"'), b'\\') => return Err(Refused::Unsupported),
                _ => delimiter.push(byte),
            }
        }
        let at = self.tokens.len();
        self.pending.push(HereDoc { delimiter, quoted, strip_tabs, at });
        Ok(())
    }

    /// Reads the bodies of the here-documents whose operators stood on the line that just ended.
    pub(super) fn here_bodies(&mut self) -> Lexes<()> {
        let docs = std::mem::take(&mut self.pending);
        if docs.is_empty() {
            return Ok(());
        }
        let mut bodies = Vec::with_capacity(docs.len());
        for doc in &docs {
            bodies.push(self.here_body(doc)?);
        }
        // The grammar wants body and closing tag right behind the tag.
        let mut tokens = Vec::with_capacity(self.tokens.len() + 2 * docs.len());
        let mut docs = docs.iter().zip(bodies).peekable();
        for (index, token) in std::mem::take(&mut self.tokens).into_iter().enumerate() {
            tokens.push(token);
            while let Some((_, body)) = docs.next_if(|(doc, _)| doc.at == index + 1) {
                let tag = tokens.last().cloned().ok_or(Refused::Syntax)?;
                tokens.push(body);
                tokens.push(Token { first: false, ..tag });
            }
        }
        self.tokens = tokens;
        Ok(())
    }

    pub(super) fn here_body(&mut self, doc: &HereDoc) -> Lexes<Token> {
        let start = self.pos;
        let mut body = Vec::new();
        while self.pos < self.src.len() {
            let mut line = Vec::new();
            self.here_line(doc.quoted, &mut line);
            let tabs = if doc.strip_tabs {
                line.iter().take_while(|byte| **byte == b'\t').count()
            } else {
                0
            };
            let line = line.get(tabs..).unwrap_or_default();
            if line.strip_suffix(b"\n").unwrap_or(line) == doc.delimiter.as_slice() {
                let text = String::from_utf8(body).map_err(|_| Refused::Syntax)?;
                return Ok(Token { kind: Kind::Word, text, start, end: self.pos, first: false });
            }
            body.extend_from_slice(line);
        }
        // Bash takes the rest of the file with a warning; what it then runs is not for us to guess.
        Err(Refused::Syntax)
    }

    /// One line of a here-document; where nothing is quoted, continuations join lines.
    pub(super) fn here_line(&mut self, quoted: bool, line: &mut Vec<u8>) {
        while let Some(&byte) = self.src.get(self.pos) {
            if byte == b'\\' && !quoted {
                match self.src.get(self.pos + 1) {
                    Some(b'\n') => {
                        self.pos += 2;
                        continue;
                    }
                    Some(_) => self.take(line),
                    None => {}
                }
                self.take(line);
                continue;
            }
            self.take(line);
            if byte == b'\n' {
                return;
            }
        }
    }
}
