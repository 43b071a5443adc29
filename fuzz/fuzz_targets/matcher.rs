//! A matcher on the first line, a subject on the second. A matcher's own source means the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::matcher::Matcher;

fuzz_target!(|text: &str| {
    let (pattern, subject) = text.split_once('\n').unwrap_or((text, "Bash"));
    let matcher = match Matcher::parse(pattern) {
        Ok(matcher) => matcher,
        Err(error) => {
            if let Some(span) = error.span {
                assert!(pattern.get(span).is_some(), "an error points into the pattern");
            }
            return;
        }
    };
    let matches = matcher.matches(subject);
    assert!(matches || !matcher.is_all());
    let again = Matcher::parse(matcher.source()).expect("its own source parses");
    assert_eq!(again.matches(subject), matches, "its own source means the same");
    let listed = Matcher::parse_list(&[pattern]).expect("a list of one parses");
    assert_eq!(listed.matches(subject), matches, "a list of one means the same");
});
