//! A rewrite as a small diff of keys: what was there, what is there now.

use std::fmt::Write as _;

use tenter::core::json::{Fields, Json};

use super::style::{ADDED, CHANGED, DIM, REMOVED, paint};
use super::text;

/// Draws what differs between two payloads, key by key; each line ends with a newline.
pub(crate) fn draw(before: &Json, after: &Json, width: usize) -> String {
    let (Some(before), Some(after)) = (before.to_fields(), after.to_fields()) else {
        return change(None, before, after, width);
    };
    let mut out = String::new();
    for (key, old) in before.iter() {
        match after.get(key) {
            Some(new) if new.same_value(old) => {}
            Some(new) => out.push_str(&change(Some(key), old, new, width)),
            None => line(&mut out, '-', Some(key), old, width),
        }
    }
    for (key, new) in after.iter().filter(|(key, _)| !has(&before, key)) {
        line(&mut out, '+', Some(key), new, width);
    }
    out
}

fn has(fields: &Fields, key: &str) -> bool {
    fields.get(key).is_some()
}

/// A value that became another: on one line if both fit.
fn change(key: Option<&str>, old: &Json, new: &Json, width: usize) -> String {
    let mut out = String::new();
    let label = label(key);
    let (was, is) = (shown(old, usize::MAX), shown(new, usize::MAX));
    // Marks, spaces and the arrow.
    let whole = text::width(&label) + text::width(&was) + text::width(&is) + 7;
    if whole <= width.min(100) {
        let (was, is) = (paint(REMOVED, was), paint(ADDED, is));
        // Writing to a `String` does not fail.
        let _ = writeln!(out, "  {} {label}{was} {} {is}", paint(CHANGED, '~'), paint(DIM, '→'));
    } else {
        line(&mut out, '-', key, old, width);
        line(&mut out, '+', key, new, width);
    }
    out
}

fn line(out: &mut String, mark: char, key: Option<&str>, value: &Json, width: usize) {
    let style = if mark == '+' { ADDED } else { REMOVED };
    let label = label(key);
    let room = width.saturating_sub(text::width(&label) + 4).max(20);
    let value = shown(value, room);
    // Writing to a `String` does not fail.
    let _ = writeln!(out, "  {}", paint(style, format!("{mark} {label}{value}")));
}

fn label(key: Option<&str>) -> String {
    key.map_or_else(String::new, |key| format!("{}: ", text::one_line(key, 40)))
}

/// A value as JSON on one line.
fn shown(value: &Json, most: usize) -> String {
    text::cut(&text::printable(value.as_text()), most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(before: &str, after: &str, width: usize) -> String {
        let text = draw(&Json::parse(before).unwrap(), &Json::parse(after).unwrap(), width);
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn only_what_differs_is_shown() {
        assert_eq!(
            drawn(r#"{"a":1,"b":"x","c":[1]}"#, r#"{"a":1,"b":"y","d":null}"#, 80),
            "  ~ b: \"x\" → \"y\"\n  - c: [1]\n  + d: null\n"
        );
        assert_eq!(drawn(r#"{"a":1.0}"#, r#"{ "a": 1.0 }"#, 80), "");
    }

    #[test]
    fn long_values_stand_below_each_other_and_are_cut() {
        let long = "x".repeat(50);
        let text = drawn(&format!(r#"{{"k":"{long}"}}"#), r#"{"k":"y"}"#, 30);
        assert_eq!(text, format!("  - k: \"{}…\n  + k: \"y\"\n", "x".repeat(21)));
    }

    #[test]
    fn what_is_no_object_is_shown_whole() {
        assert_eq!(drawn("[1]", r#"{"a":1}"#, 80), "  ~ [1] → {\"a\":1}\n");
    }
}
