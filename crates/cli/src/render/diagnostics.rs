//! Diagnostics for people: the source line with what is wrong in it, as compilers draw it.

use std::fmt::Write as _;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use tenter::core::diagnostic::{Diagnostic, Severity};

use super::style::{ERROR, HINT, WARNING, paint};
use super::text;

/// A diagnostic, and the text of the file that it is about as far as that is known.
pub(crate) struct Found<'a> {
    pub(crate) diagnostic: &'a Diagnostic,
    pub(crate) source: Option<&'a str>,
}

/// Draws diagnostics one after the other, with an empty line after each.
pub(crate) fn draw<'a>(found: impl IntoIterator<Item = Found<'a>>) -> String {
    let mut out = String::new();
    for one in found {
        match (&one.diagnostic.position, one.source) {
            (Some(at), Some(source)) => snippet(&mut out, one.diagnostic, at, source),
            _ => plain(&mut out, one.diagnostic),
        }
        out.push('\n');
    }
    out
}

fn snippet(
    out: &mut String,
    diagnostic: &Diagnostic,
    at: &tenter::core::diagnostic::Position,
    source: &str,
) {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    // A place at the end of the file still has a line to point at.
    let span = at.span.start.min(source.len())..at.span.end.min(source.len());
    let message = text::printable(&diagnostic.message);
    let title = level.primary_title(message).id(diagnostic.code);
    let annotation = AnnotationKind::Primary.span(span);
    let snippet = Snippet::source(source).path(at.file.as_str()).annotation(annotation);
    let mut group = Group::with_title(title).element(snippet);
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.with_name("hint").message(text::printable(help)));
    }
    let renderer = Renderer::styled().decor_style(DecorStyle::Ascii);
    out.push_str(&renderer.render(&[group]));
    out.push('\n');
}

/// A diagnostic without a place to show.
fn plain(out: &mut String, diagnostic: &Diagnostic) {
    let (label, style) = match diagnostic.severity {
        Severity::Error => ("error", ERROR),
        Severity::Warning => ("warning", WARNING),
        Severity::Info => ("info", HINT),
    };
    let label = paint(style, format!("{label}[{}]", diagnostic.code));
    // Writing to a `String` does not fail.
    let _ = writeln!(out, "{label}: {}", text::printable(&diagnostic.message));
    if let Some(at) = &diagnostic.position {
        let _ = writeln!(out, " --> {}:{}:{}", text::printable(&at.file), at.line, at.column);
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "{}: {}", paint(HINT, "hint"), text::printable(help));
    }
}

/// How many errors and warnings there are.
pub(crate) fn count<'a>(diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> (usize, usize) {
    diagnostics.into_iter().fold((0, 0), |(errors, warnings), one| match one.severity {
        Severity::Error => (errors + 1, warnings),
        Severity::Warning => (errors, warnings + 1),
        Severity::Info => (errors, warnings),
    })
}
