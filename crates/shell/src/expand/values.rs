//! `$name` where the line itself says what the variable holds.

use super::{Mode, Reader};
use crate::atoms::Atom;
use crate::word::{Piece, Word};

impl Reader<'_> {
    /// `$name`: its value if that is certain.
    pub(super) fn variable(&mut self, start: usize, end: usize, in_quotes: bool) {
        let name = self.raw.get(start..end).unwrap_or_default();
        if name == b"HOME" {
            return self.atoms.push(Atom::Home);
        }
        let fields = !in_quotes && self.mode == Mode::Argument;
        if let Some(value) = self.value(name, fields) {
            self.put(&value, fields);
        } else {
            let atom = self.field(in_quotes);
            self.atoms.push(atom);
        }
    }

    fn value(&self, name: &[u8], fields: bool) -> Option<Word> {
        // What stands before in this word may have set it; a tilde before it is read in two ways.
        if self.out.arithmetic
            || !self.out.assigned.is_empty()
            || self.atoms.last() == Some(&Atom::Plain(b'~'))
        {
            return None;
        }
        let known = self.known?;
        let value = known.state.value(std::str::from_utf8(name).ok()?)?;
        let mut length = 0;
        for piece in value.pieces() {
            let Piece::Text(text) = piece else { continue };
            length += text.len();
            // Unquoted, a value is split and its patterns become file names; in what looks like an
            // assignment, not every shell splits.
            let splits = text.contains([' ', '\t', '\n']);
            if fields
                && (text.contains(['*', '?', '[', '\\'])
                    || (splits && self.atoms.contains(&Atom::Plain(b'='))))
            {
                return None;
            }
        }
        let left = known.budget.get().checked_sub(length + 1)?;
        known.budget.set(left);
        Some(value.clone())
    }

    fn put(&mut self, value: &Word, fields: bool) {
        for piece in value.pieces() {
            match piece {
                Piece::Text(text) => self.atoms.extend(text.bytes().map(|byte| match byte {
                    b' ' | b'\t' | b'\n' if fields => Atom::Break,
                    _ => Atom::Quoted(byte),
                })),
                _ => self.atoms.push(Atom::Home),
            }
        }
    }
}
