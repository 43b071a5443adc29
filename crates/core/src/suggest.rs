//! "Did you mean": the known word nearest to one that is not known.

/// The candidate that is most like `word`, if one is like enough to be meant; the first of equals.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.to_lowercase().replace('-', "_");
    let mut best = (0.8, None);
    for candidate in candidates {
        let likeness = strsim::jaro_winkler(&folded, &candidate.to_lowercase().replace('-', "_"));
        if likeness > best.0 {
            best = (likeness, Some(candidate));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_a_stranger_finds_none() {
        let words = ["PreToolUse", "PostToolUse", "Stop"];
        assert_eq!(nearest("pretooluse", words), Some("PreToolUse"));
        assert_eq!(nearest("PreTolUse", words), Some("PreToolUse"));
        assert_eq!(nearest("Frobnicate", words), None);
    }
}
