//! Diagnostics as SARIF 2.1.0, the format of code scanners.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

use serde_json::{Value, json};
use tenter::core::diagnostic::{Diagnostic, Severity};

use super::diagnostics::Found;
use super::json::pretty;

/// One run with all results.
pub(crate) fn draw(found: &[Found<'_>]) -> String {
    let codes: BTreeSet<_> = found.iter().map(|one| one.diagnostic.code).collect();
    let rules: Vec<_> = codes.iter().map(|code| json!({ "id": code })).collect();
    let results: Vec<_> = found.iter().map(result).collect();
    pretty(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "tenter",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

fn result(found: &Found<'_>) -> Value {
    let diagnostic = found.diagnostic;
    let level = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    };
    let message = match &diagnostic.help {
        Some(help) => format!("{}\nhint: {help}", diagnostic.message),
        None => diagnostic.message.to_string(),
    };
    let mut result = json!({
        "ruleId": diagnostic.code,
        "level": level,
        "message": { "text": message },
    });
    if let (Some(location), Some(result)) =
        (location(diagnostic, found.source), result.as_object_mut())
    {
        result.insert("locations".into(), json!([location]));
    }
    result
}

fn location(diagnostic: &Diagnostic, source: Option<&str>) -> Option<Value> {
    let at = diagnostic.position.as_ref()?;
    let mut region = json!({ "startLine": at.line, "startColumn": at.column });
    let end = source.and_then(|source| end(source, &at.span));
    if let (Some((line, column)), Some(region)) = (end, region.as_object_mut()) {
        region.insert("endLine".into(), line.into());
        region.insert("endColumn".into(), column.into());
    }
    Some(json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&at.file) },
            "region": region,
        },
    }))
}

/// Line and column just after a span, from 1 and in characters.
pub(crate) fn end(source: &str, span: &Range<usize>) -> Option<(usize, usize)> {
    let before = source.get(..span.end)?;
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.matches('\n').count() + 1;
    Some((line, before.get(line_start..)?.chars().count() + 1))
}

/// A path as a relative or absolute reference.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                // Writing to a `String` does not fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    if path.starts_with('/') { format!("file://{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_ends_after_its_last_character() {
        assert_eq!(end("ab\nüx", &(3..5)), Some((2, 2)));
        assert_eq!(end("ab", &(0..9)), None);
    }

    #[test]
    fn paths_become_references() {
        assert_eq!(uri(".tenter/hooks.toml"), ".tenter/hooks.toml");
        assert_eq!(uri("/etc/a b.toml"), "file:///etc/a%20b.toml");
    }
}
