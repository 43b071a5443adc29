//! What tenter says about something that is not as it should be: a code, a text, a place, a way out.
//!
//! A diagnostic is data. Drawing it (colours, source lines, SARIF) is the command line's business.

use std::borrow::Cow;
use std::ops::Range;

use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know; nothing is lost.
    Info,
    /// Works, but probably not as meant.
    Warning,
    /// Does not work.
    Error,
}

/// A place in a file: 1-based line and column (in characters), and the bytes it covers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Position {
    /// The file as the user would name it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The bytes of the file that are meant.
    pub span: Range<usize>,
}

impl Position {
    /// The place of a byte range in a text. A range past the end is drawn back into it.
    pub fn of(file: impl Into<String>, text: &str, span: Range<usize>) -> Self {
        let start = floor_char_boundary(text, span.start);
        let end = floor_char_boundary(text, span.end).max(start);
        let before = text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            file: file.into(),
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
            span: start..end,
        }
    }
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// One finding.
///
/// `message` is a lower-case fragment that says what and why; `help` says what to do. Codes are
/// stable words with a dot: the part of tenter, then the finding (`hook.unknown-key`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The stable name of the finding.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong and why.
    pub message: Cow<'static, str>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<Cow<'static, str>>,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

impl Diagnostic {
    fn new(severity: Severity, code: &'static str, message: Cow<'static, str>) -> Self {
        Self { code, severity, message, help: None, position: None }
    }

    /// Something does not work.
    pub fn error(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Severity::Error, code, message.into())
    }

    /// Something works otherwise than it was probably meant.
    pub fn warning(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Severity::Warning, code, message.into())
    }

    /// Something worth knowing.
    pub fn info(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Severity::Info, code, message.into())
    }

    /// With what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With the place it is about.
    #[must_use]
    pub fn at(mut self, position: Position) -> Self {
        self.position = Some(position);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let text = "a = 1\nnäme = \"ü\"\n";
        let at = Position::of("f", text, text.find('"').unwrap()..text.len());
        assert_eq!((at.line, at.column), (2, 8));
    }

    #[test]
    fn a_span_past_the_end_or_inside_a_character_is_drawn_back() {
        let at = Position::of("f", "ä", 1..99);
        assert_eq!((at.line, at.column, at.span), (1, 1, 0..2));
    }
}
