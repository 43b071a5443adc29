//! Texts on lines: widths, wrapping, padding, times, and what must not reach a terminal.

use std::borrow::Cow;
use std::time::Duration;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A text without what a terminal would obey: a hook's words, a payload and a file's name come from
/// anywhere. Newlines stay, tabs become spaces.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| c != '\n' && (c.is_control() || is_invisible(c));
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.replace("\r\n", "\n").chars() {
        match c {
            '\t' => out.push_str("    "),
            c if obeyed(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Marks that turn the direction of text around, or hide in it.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A text on one line, [`printable`], cut at `most` columns.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&printable(&joined), most)
}

/// A text of at most so many columns; what is cut off is an ellipsis.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut width = 0;
    for c in text.chars() {
        width += c.width().unwrap_or(0);
        if width >= most {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// The lines of a text, none wider than `width` if a space allows it. [`printable`].
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let text = printable(text.trim_end());
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.width() <= width {
            lines.push(line.trim_end().to_owned());
            continue;
        }
        let mut current = String::new();
        for word in line.split(' ') {
            if !current.is_empty() && current.width() + 1 + word.width() > width {
                lines.push(std::mem::take(&mut current));
            } else if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
    }
    lines
}

/// Where a text below a line goes whose last column is too narrow for it.
const BELOW: usize = 6;
/// A column of fewer columns makes a tower of a sentence.
const NARROW: usize = 56;

/// A text for the last column of a line, which starts at `indent`: what stands on the line itself,
/// and the lines below it. In a narrow column only what fits on one line stands there.
pub(crate) fn beside(text: &str, indent: usize, width: usize) -> (String, Vec<String>) {
    let room = width.saturating_sub(indent);
    let mut lines = wrapped(text.trim(), room);
    if lines.len() > 1 && room < NARROW || lines.iter().any(|line| line.width() > room) {
        return (String::new(), below(text, indent, width));
    }
    let first = if lines.is_empty() { String::new() } else { lines.remove(0) };
    (first, lines.into_iter().map(|line| format!("{}{line}", " ".repeat(indent))).collect())
}

/// The lines of a text below a line: in its last column, or further left if that is narrow.
pub(crate) fn below(text: &str, indent: usize, width: usize) -> Vec<String> {
    let indent = if width.saturating_sub(indent) < NARROW { BELOW } else { indent };
    let lines = wrapped(text.trim(), width.saturating_sub(indent));
    lines.into_iter().map(|line| format!("{}{line}", " ".repeat(indent))).collect()
}

/// A text with spaces up to `width` columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
}

/// A text with spaces before it, up to `width` columns.
pub(crate) fn right(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.width());
    format!("{}{text}", " ".repeat(missing))
}

/// Words as one would type them to a shell.
pub(crate) fn command_line(words: &[String]) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,~".contains(c);
    let typed = |word: &String| {
        if !word.is_empty() && word.chars().all(is_plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    words.iter().map(typed).collect::<Vec<_>>().join(" ")
}

/// How wide a text is.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A time as one would say it: `4 µs`, `3.1 ms`, `52 ms`, `1.25 s`.
pub(crate) fn time(duration: Duration) -> String {
    let micros = duration.as_micros();
    let ms = duration.as_secs_f64() * 1000.0;
    match micros {
        0..100 => format!("{micros} µs"),
        100..9_950 => format!("{ms:.1} ms"),
        9_950..999_500 => format!("{ms:.0} ms"),
        _ => format!("{:.2} s", ms / 1000.0),
    }
}

/// A limit as it is written in a file: `5s`, `1500ms`.
pub(crate) fn limit(duration: Duration) -> String {
    let ms = duration.as_millis();
    if ms != 0 && ms.is_multiple_of(1000) { format!("{}s", ms / 1000) } else { format!("{ms}ms") }
}

/// `1 hook`, `2 hooks`.
pub(crate) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_spelt_out() {
        assert_eq!(printable("a\x1b[2Jb\tc\nd"), "a\\u{1b}[2Jb    c\nd");
        assert_eq!(printable("x\u{202e}y"), "x\\u{202e}y");
        assert!(matches!(printable("plain ü\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn long_lines_are_wrapped_at_spaces_and_long_words_stay_whole() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij kl\nm", 5), ["abcdefghij", "kl", "m"]);
        assert_eq!(wrapped("", 5), [] as [&str; 0]);
    }

    #[test]
    fn a_long_text_leaves_a_narrow_column() {
        let lines = |text: &[&str]| text.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(beside("short", 30, 80), ("short".into(), vec![]));
        assert_eq!(beside("a\nb", 10, 80), ("a".into(), lines(&["          b"])));
        let long = "one two three four five six seven eight nine ten eleven twelve";
        assert_eq!(beside(long, 40, 80), (String::new(), lines(&[&format!("      {long}")])));
        assert_eq!(beside(long, 40, 200), (long.into(), vec![]));
        assert_eq!(beside("", 40, 80), (String::new(), vec![]));
    }

    #[test]
    fn times_have_the_unit_that_one_would_say() {
        for (micros, said) in [
            (0, "0 µs"),
            (42, "42 µs"),
            (3_140, "3.1 ms"),
            (9_960, "10 ms"),
            (52_400, "52 ms"),
            (999_600, "1.00 s"),
            (1_250_000, "1.25 s"),
        ] {
            assert_eq!(time(Duration::from_micros(micros)), said);
        }
        assert_eq!(limit(Duration::from_secs(5)), "5s");
        assert_eq!(limit(Duration::from_millis(1500)), "1500ms");
    }

    #[test]
    fn words_are_quoted_where_a_shell_would_read_more_into_them() {
        let words = ["sh", "-c", "echo it's $HOME", ""].map(str::to_owned);
        assert_eq!(command_line(&words), r"sh -c 'echo it'\''s $HOME' ''");
    }

    #[test]
    fn a_text_is_cut_to_its_columns() {
        assert_eq!(one_line("a  b\nc", 20), "a b c");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(padded("日", 4), "日  ");
    }
}
