//! A JSON file with the place of every key and value.
//!
//! Owns places only. The text is strict JSON, without comments; one level of it is taken apart at a
//! time, so a file costs what is looked at.

use std::ops::Range;

use serde_json::value::RawValue;
use tenter_core::json::{Json, RawMembers};

use crate::native::input::type_of_text;

/// A value and the bytes that it covers.
#[derive(Debug, Clone)]
pub(crate) struct Node<'t> {
    text: &'t str,
    span: Range<usize>,
}

/// A member of an object.
#[derive(Debug, Clone)]
pub(crate) struct Member<'t> {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node<'t>,
}

/// Why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) message: String,
    pub(crate) span: Range<usize>,
}

/// Reads a whole file.
pub(crate) fn parse(text: &str) -> Result<Node<'_>, SyntaxError> {
    // It also refuses what nests too deep for other readers.
    Json::parse(text).map_err(|error| syntax_error(text, &error))?;
    let raw =
        serde_json::from_str::<&RawValue>(text).map_err(|error| syntax_error(text, &error))?;
    Ok(Node::inside(text, 0, raw))
}

fn syntax_error(text: &str, error: &serde_json::Error) -> SyntaxError {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default().to_owned();
    let line_start = match error.line().checked_sub(2) {
        None => 0,
        Some(before) => text
            .bytes()
            .enumerate()
            .filter(|(_, byte)| *byte == b'\n')
            .nth(before)
            .map_or(text.len(), |(at, _)| at + 1),
    };
    // Columns count bytes from 1, and 0 is the break before the line.
    let end = (line_start + error.column()).min(text.len());
    let start = text.floor_char_boundary(end.saturating_sub(1).max(line_start.min(end)));
    SyntaxError { message, span: start..text.ceil_char_boundary(end) }
}

impl<'t> Node<'t> {
    /// A value that was found inside `outer`, which begins at byte `at` of the file.
    fn inside(outer: &str, at: usize, raw: &'t RawValue) -> Self {
        let text = raw.get();
        let from = text.as_ptr().addr().saturating_sub(outer.as_ptr().addr()) + at;
        Self { text, span: from..from + text.len() }
    }

    pub(crate) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The text as it stands in the file.
    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// The members of an object, keys that stand twice included; `None` for any other value, and
    /// for an object with a key that is no text.
    pub(crate) fn members(&self) -> Option<Vec<Member<'t>>> {
        let raw = serde_json::from_str::<RawMembers<'t>>(self.text).ok()?;
        let mut members = Vec::with_capacity(raw.0.len());
        // After the brace, or the value before.
        let mut at = 1;
        for (key, value) in raw.0 {
            let value = Node::inside(self.text, self.span.start, value);
            let value_at = value.span.start - self.span.start;
            let key_span = key_between(self.text, at, value_at);
            at = value.span.end - self.span.start;
            let key_span = self.span.start + key_span.start..self.span.start + key_span.end;
            members.push(Member { key, key_span, value });
        }
        Some(members)
    }

    /// The values of a list; `None` for any other value.
    pub(crate) fn items(&self) -> Option<Vec<Self>> {
        let raw = serde_json::from_str::<Vec<&'t RawValue>>(self.text).ok()?;
        Some(raw.into_iter().map(|value| Node::inside(self.text, self.span.start, value)).collect())
    }

    /// A text with its escapes undone; `None` for any other value.
    pub(crate) fn as_str(&self) -> Option<String> {
        serde_json::from_str(self.text).ok()
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        serde_json::from_str(self.text).ok()
    }

    pub(crate) fn is_null(&self) -> bool {
        self.text == "null"
    }

    /// What it is, in words.
    pub(crate) fn type_name(&self) -> &'static str {
        type_of_text(self.text)
    }
}

/// The key between two places of an object, which holds a comma, the key and a colon.
fn key_between(text: &str, from: usize, to: usize) -> Range<usize> {
    let between = text.get(from..to).unwrap_or_default();
    let start = between.find('"').unwrap_or(0);
    let end = between.trim_end().trim_end_matches(':').trim_end().len().max(start);
    from + start..from + end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_and_value_has_its_place() {
        let text = "\n{ \"a\\\"b\" : [ 1, {\"ü\":null}] ,\"c\":\"x\" }\n";
        let root = parse(text).unwrap();
        let members = root.members().unwrap();
        let shown: Vec<_> = members
            .iter()
            .map(|one| (one.key.as_str(), &text[one.key_span.clone()], &text[one.value.span()]))
            .collect();
        assert_eq!(
            shown,
            [("a\"b", r#""a\"b""#, r#"[ 1, {"ü":null}]"#), ("c", r#""c""#, r#""x""#)]
        );
        let inner = members[0].value.items().unwrap()[1].members().unwrap();
        assert_eq!(&text[inner[0].key_span.clone()], "\"ü\"");
        assert!(inner[0].value.is_null() && inner[0].value.as_bool().is_none());
        assert_eq!(members[1].value.as_str().as_deref(), Some("x"));
    }

    #[test]
    fn what_is_no_json_says_where() {
        for (text, at) in [
            ("{\"a\": x}", 6),
            ("", 0),
            ("{\n\"a\":1,\n}", 9),
            ("{} // comment", 3),
            ("[1,\n  2", 6),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.span.start, at, "{text}: {error:?}");
            assert!(text.get(error.span.clone()).is_some());
        }
        assert!(parse(&"[".repeat(500)).is_err());
        assert!(parse(&format!("{}{}", "[".repeat(500), "]".repeat(500))).is_err());
    }
}
