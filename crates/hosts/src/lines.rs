//! From bytes of a file to lines and columns, without reading it from its beginning each time.

use std::ops::Range;

use tenter_core::diagnostic::Position;

/// How many bytes stand between two counts of characters.
const BLOCK: usize = 1024;

/// How many characters of UTF-8 text start in these bytes.
fn starts_in(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xc0) != 0x80).count()
}

/// The lines of a text.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// How many characters start before each block of the text, and in all of it: a file may be
    /// one long line.
    blocks: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(after_breaks.map(|(at, _)| at + 1)).collect();
        let mut blocks = vec![0];
        let mut count = 0;
        for block in text.as_bytes().chunks(BLOCK) {
            count += starts_in(block);
            blocks.push(count);
        }
        Self { text, starts, blocks }
    }

    /// The place of a byte range: [`Position::of`] in short time.
    pub(crate) fn position(&self, file: &str, span: Range<usize>) -> Position {
        let start = self.text.floor_char_boundary(span.start);
        let end = self.text.floor_char_boundary(span.end).max(start);
        let line = self.starts.partition_point(|at| *at <= start).max(1);
        let line_start = self.starts.get(line - 1).copied().unwrap_or(0);
        let column = self.characters_before(start) - self.characters_before(line_start) + 1;
        Position { file: file.to_owned(), line, column, span: start..end }
    }

    /// How many characters stand before a place.
    fn characters_before(&self, at: usize) -> usize {
        let block = at / BLOCK;
        let counted = self.blocks.get(block).copied().unwrap_or(0);
        counted + starts_in(self.text.as_bytes().get(block * BLOCK..at).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_place_is_the_one_that_a_slow_count_finds(
            text in "[aä\n€]{0,3000}", from in 0usize..9000, len in 0usize..20,
        ) {
            let span = from..from + len;
            prop_assert_eq!(
                Lines::new(&text).position("f", span.clone()),
                Position::of("f", &text, span)
            );
        }
    }
}
