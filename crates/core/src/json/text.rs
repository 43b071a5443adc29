//! Valid JSON as text: its depth, its white space, its halves of characters.

use std::borrow::Cow;

use memchr::memchr2_iter;

/// Whether brackets nest deeper than so many levels in valid JSON.
pub(super) fn is_deeper_than(text: &str, levels: usize) -> bool {
    // Most texts do not have as many brackets, and counting them is quick.
    if memchr2_iter(b'[', b'{', text.as_bytes()).count() < levels {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for byte in text.bytes() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth >= levels {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Valid JSON in which every `\u` that is half of a surrogate pair is `\ufffd`.
pub(super) fn without_half_pairs(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return Cow::Borrowed(text);
    }
    // The four digits of an escape; valid JSON has backslashes nowhere but in strings.
    let unit_at = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(escape) = text.get(at..).and_then(|rest| rest.find('\\')) {
        let start = at + escape;
        let (length, kept) = match (unit_at(start), unit_at(start + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, true),
            (Some(0xd800..=0xdfff), _) => (6, false),
            // The character after any other backslash may be one itself.
            _ => (2, true),
        };
        out.push_str(text.get(at..start).unwrap_or_default());
        out.push_str(if kept {
            text.get(start..start + length).unwrap_or_default()
        } else {
            "\\ufffd"
        });
        at = start + length;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(out)
}

/// Valid JSON without the white space between its tokens.
pub(super) fn without_white_space(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for character in text.chars() {
        if in_string {
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else if character.is_ascii_whitespace() {
            continue;
        } else {
            in_string = character == '"';
        }
        out.push(character);
    }
    out
}
