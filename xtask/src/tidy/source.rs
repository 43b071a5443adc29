//! Rust source in three layers: code, texts and comments, so that a rule about one of them is not
//! fooled by another.
//!
//! This is no parser. It knows just enough of the language to tell where a comment or a text begins
//! and ends, and which lines are only compiled for tests.

use std::ops::Range;

/// One file of Rust.
#[derive(Debug)]
pub(super) struct Source {
    /// Its path from the root, with `/`.
    pub(super) path: String,
    text: String,
    layers: Vec<Layer>,
    tests: Vec<Range<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Code,
    Text,
    Comment,
}

impl Source {
    /// Reads a file's text.
    pub(super) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let layers = layers(text.as_bytes());
        let mut source = Self { path, text, layers, tests: Vec::new() };
        source.tests = source.test_ranges();
        source
    }

    /// The file as it is.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether all of it is for tests: an integration test, or a module of tests.
    pub(super) fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    /// The code alone, texts and comments blanked. Offsets are those of the file.
    pub(super) fn code(&self) -> String {
        self.keep(|layer| layer == Layer::Code)
    }

    /// Code and texts, comments blanked.
    pub(super) fn code_and_texts(&self) -> String {
        self.keep(|layer| layer != Layer::Comment)
    }

    /// The comments alone.
    pub(super) fn comments(&self) -> String {
        self.keep(|layer| layer == Layer::Comment)
    }

    /// The code alone, without what is only compiled for tests.
    pub(super) fn shipped_code(&self) -> String {
        self.without_tests(self.code())
    }

    /// Takes what is only compiled for tests out of a layer.
    pub(super) fn without_tests(&self, layer: String) -> String {
        if self.is_test() {
            return String::new();
        }
        let mut bytes = layer.into_bytes();
        for range in &self.tests {
            blank(&mut bytes[range.clone()]);
        }
        // Only whole characters were blanked: a range begins and ends at ASCII.
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// The line of an offset, from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.text[..offset].matches('\n').count() + 1
    }

    fn keep(&self, wanted: impl Fn(Layer) -> bool) -> String {
        let mut bytes = self.text.clone().into_bytes();
        for (byte, layer) in bytes.iter_mut().zip(&self.layers) {
            if !wanted(*layer) && *byte != b'\n' {
                *byte = b' ';
            }
        }
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// What follows `#[cfg(test)]`, up to the end of its block or statement.
    fn test_ranges(&self) -> Vec<Range<usize>> {
        let code = self.code();
        let mut ranges = Vec::new();
        for (start, mark) in code.match_indices("#[cfg(test)]") {
            let mut depth = 0_usize;
            let begin = start + mark.len();
            let mut end = code.len();
            for (at, byte) in code.bytes().enumerate().skip(begin) {
                match byte {
                    b'{' => depth += 1,
                    b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth == 0 && matches!(byte, b'}' | b';') {
                    end = at + 1;
                    break;
                }
            }
            ranges.push(start..end);
        }
        ranges
    }
}

fn blank(bytes: &mut [u8]) {
    for byte in bytes {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// The layer of each byte.
fn layers(text: &[u8]) -> Vec<Layer> {
    let mut layers = vec![Layer::Code; text.len()];
    let mut at = 0;
    while at < text.len() {
        let (layer, end) = match text[at] {
            b'/' if text[at..].starts_with(b"//") => (Layer::Comment, end_of_line(text, at)),
            b'/' if text[at..].starts_with(b"/*") => (Layer::Comment, end_of_block(text, at)),
            b'"' => (Layer::Text, end_of_quoted(text, at + 1, b'"')),
            b'r' if !follows_word(text, at) => match raw_text(text, at) {
                Some(end) => (Layer::Text, end),
                None => (Layer::Code, at + 1),
            },
            // `br"…"` and `cr"…"`: the `r` follows a letter that is no word of its own.
            b'b' | b'c' if !follows_word(text, at) && text.get(at + 1) == Some(&b'r') => {
                match raw_text(text, at + 1) {
                    Some(end) => (Layer::Text, end),
                    None => (Layer::Code, at + 1),
                }
            }
            b'\'' if is_character(text, at) => (Layer::Text, end_of_quoted(text, at + 1, b'\'')),
            _ => (Layer::Code, at + 1),
        };
        let end = end.min(text.len());
        layers[at..end].fill(layer);
        at = end;
    }
    layers
}

fn end_of_line(text: &[u8], from: usize) -> usize {
    text[from..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| from + at)
}

/// Block comments nest.
fn end_of_block(text: &[u8], from: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = from;
    while at < text.len() {
        if text[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

fn end_of_quoted(text: &[u8], from: usize, quote: u8) -> usize {
    let mut at = from;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// The end of `r"…"` or `r#"…"#` whose `r` is at `at`; `None` if none begins there.
fn raw_text(text: &[u8], at: usize) -> Option<usize> {
    let hashes = text[at + 1..].iter().take_while(|byte| **byte == b'#').count();
    let open = at + 1 + hashes;
    if text.get(open) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(hashes + 1, b'#');
    let body = open + 1;
    let length = text[body..].windows(close.len()).position(|window| window == close);
    Some(length.map_or(text.len(), |length| body + length + close.len()))
}

/// Whether a quote begins a character and not a lifetime.
fn is_character(text: &[u8], at: usize) -> bool {
    match text.get(at + 1) {
        Some(b'\\') => true,
        Some(first) => {
            let width = match first {
                0..=0x7f => 1,
                0xc0..=0xdf => 2,
                0xe0..=0xef => 3,
                _ => 4,
            };
            text.get(at + 1 + width) == Some(&b'\'')
        }
        None => false,
    }
}

fn follows_word(text: &[u8], at: usize) -> bool {
    at > 0 && is_word(text[at - 1])
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Where `token` stands in `code` as a token of its own: not inside a longer word.
pub(super) fn find_tokens<'a>(code: &'a str, token: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = code.as_bytes();
    let starts_as_word = token.bytes().next().is_some_and(is_word);
    let ends_as_word = token.bytes().last().is_some_and(is_word);
    code.match_indices(token).map(|(at, _)| at).filter(move |at| {
        let glued_before = starts_as_word && *at > 0 && is_word(bytes[at - 1]);
        let glued_after = ends_as_word && bytes.get(at + token.len()).copied().is_some_and(is_word);
        !glued_before && !glued_after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r##"
//! head "x"
fn a<'l>(x: &'l str) { /* one /* two */ */ let c = '"'; let d = '\''; }
const S: &str = "// no comment"; const R: &str = r#"a "b" // c"#; let r = b"\"";
#[cfg(test)]
mod tests { fn t() { if true { x() } } }
fn after() {}
"##;

    #[test]
    fn comments_and_texts_are_told_from_code() {
        let source = Source::new("a.rs", SAMPLE);
        let code = source.code();
        for gone in ["head", "one", "two", "no comment", "a \"b\"", "'\"'"] {
            assert!(!code.contains(gone), "{gone} in {code}");
        }
        for kept in ["fn a<'l>(x: &'l str)", "let c =", "let d =", "let r = b", "fn after() {}"] {
            assert!(code.contains(kept), "{kept} not in {code}");
        }
        assert!(source.code_and_texts().contains("\"// no comment\""));
        assert!(source.comments().contains("//! head \"x\""));
        assert!(!source.comments().contains("no comment"));
        assert_eq!(code.len(), SAMPLE.len());
    }

    #[test]
    fn what_is_compiled_for_tests_only_is_left_out() {
        let shipped = Source::new("a.rs", SAMPLE).shipped_code();
        assert!(!shipped.contains("fn t()") && shipped.contains("fn after() {}"));
        assert_eq!(Source::new("crates/x/tests/it/a.rs", SAMPLE).shipped_code(), "");
        let module = Source::new("a.rs", "#[cfg(test)]\nmod tests;\nfn kept() {}\n");
        assert!(module.shipped_code().contains("fn kept"));
    }

    #[test]
    fn a_token_is_not_found_inside_a_word() {
        assert_eq!(find_tokens("eprintln!() println!()", "println!").collect::<Vec<_>>(), [12]);
        assert_eq!(find_tokens("unsafe_code unsafe", "unsafe").collect::<Vec<_>>(), [12]);
    }

    #[test]
    fn characters_beyond_ascii_do_not_shift_anything() {
        let source = Source::new("a.rs", "let a = '…'; // ü\nlet b = \"ß\"; fn c() {}\n");
        assert!(source.code().contains("fn c() {}"));
        assert_eq!(source.line(source.text().find("fn c").unwrap()), 2);
    }
}
