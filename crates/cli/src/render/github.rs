//! Diagnostics as workflow commands, which annotate the lines of a pull request.

use std::fmt::Write as _;

use tenter::core::diagnostic::{Diagnostic, Severity};

/// One command a diagnostic.
pub(crate) fn draw<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        let level = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        // Writing to a `String` does not fail.
        let _ = write!(out, "::{level} title={}", property(diagnostic.code));
        if let Some(at) = &diagnostic.position {
            let _ = write!(out, ",file={},line={},col={}", property(&at.file), at.line, at.column);
        }
        let mut message = diagnostic.message.to_string();
        if let Some(help) = &diagnostic.help {
            let _ = write!(message, "\nhint: {help}");
        }
        let _ = writeln!(out, "::{}", data(&message));
    }
    out
}

/// Text after the second `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, in which more characters mean something.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter::core::diagnostic::Position;

    #[test]
    fn what_means_something_to_the_runner_is_escaped() {
        let diagnostic = Diagnostic::error("hook.x", "50% of\nit").help("a, b: c").at(Position {
            file: "a,b:c.toml".into(),
            line: 2,
            column: 3,
            span: 4..5,
        });
        assert_eq!(
            draw([&diagnostic]),
            "::error title=hook.x,file=a%2Cb%3Ac.toml,line=2,col=3::50%25 of%0Ait%0Ahint: a, b: c\n"
        );
    }
}
