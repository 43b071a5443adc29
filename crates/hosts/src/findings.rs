//! What there is to say about a host's file while it is read, and the hooks that stand for what is
//! broken in it.
//!
//! Owns: places, the list of diagnostics, and the words of a broken hook. Does not own: what is wrong.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use tenter_core::diagnostic::{Diagnostic, Severity};
use tenter_core::hook::{Handler, Source};

use crate::config::FileId;
use crate::lines::Lines;

/// Everything said about one file so far.
pub(crate) struct Findings<'a> {
    file: FileId<'a>,
    lines: Lines<'a>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(text: &'a str, file: FileId<'a>) -> Self {
        Self { file, lines: Lines::new(text), diagnostics: Vec::new() }
    }

    pub(crate) fn error(
        &mut self,
        code: &'static str,
        span: Range<usize>,
        message: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) {
        self.say(Diagnostic::error(code, message), span, help);
    }

    pub(crate) fn warning(
        &mut self,
        code: &'static str,
        span: Range<usize>,
        message: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) {
        self.say(Diagnostic::warning(code, message), span, help);
    }

    fn say(&mut self, what: Diagnostic, span: Range<usize>, help: impl Into<Cow<'static, str>>) {
        let position = self.lines.position(self.file.name, span);
        self.diagnostics.push(what.help(help).at(position));
    }

    /// How many diagnostics there are: a point in time to look back to.
    pub(crate) fn mark(&self) -> usize {
        self.diagnostics.len()
    }

    /// The errors since a point in time.
    pub(crate) fn errors_since(&self, mark: usize) -> impl Iterator<Item = &Diagnostic> {
        let since = self.diagnostics.get(mark..).unwrap_or_default();
        since.iter().filter(|one| one.severity == Severity::Error)
    }

    /// Everything that was said, in the order of the file.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let mut diagnostics = self.diagnostics;
        diagnostics.sort_by_key(|one| one.position.as_ref().map(|at| at.span.start));
        diagnostics
    }

    pub(crate) fn source(&self, span: Range<usize>, pointer: &str) -> Source {
        Source {
            level: self.file.level,
            position: Some(self.lines.position(self.file.name, span)),
            pointer: pointer.to_owned(),
        }
    }

    /// The handler of an entry with the errors since `mark`.
    pub(crate) fn broken(&self, name: &str, mark: usize) -> Handler {
        let reason = broken_reason(name, self.errors_since(mark));
        Handler::Broken { reason, mend: Some(self.file.path.to_owned()) }
    }
}

/// Why a hook is broken: the first error with its place and the way out, and how many more there are.
pub(crate) fn broken_reason<'d>(
    name: &str,
    mut errors: impl Iterator<Item = &'d Diagnostic>,
) -> String {
    let mut reason = format!("hook `{name}` is broken");
    if let Some(first) = errors.next() {
        if let Some(at) = &first.position {
            // Writing to a `String` does not fail.
            let _ = write!(reason, " at {}:{}:{}", at.file, at.line, at.column);
        }
        let _ = write!(reason, ": {}", first.message);
        if let Some(help) = &first.help {
            let _ = write!(reason, "; {help}");
        }
    }
    match errors.count() {
        0 => {}
        1 => reason.push_str("; and one more error"),
        more => {
            let _ = write!(reason, "; and {more} more errors");
        }
    }
    reason
}
