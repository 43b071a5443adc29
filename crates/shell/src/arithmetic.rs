//! What the text of an arithmetic expression may do when the shell evaluates it.

/// Whether a quote or a backslash may put off a substitution until the text is evaluated: quotes do
/// not hold there.
pub(crate) fn puts_off_a_substitution(text: &[u8]) -> bool {
    text.iter()
        .position(|byte| matches!(byte, b'\'' | b'\\'))
        .is_some_and(|quote| text.iter().skip(quote).any(|byte| matches!(byte, b'$' | b'`')))
}

/// The names that a text may set: all of its names, if anything in it assigns.
pub(crate) fn set_by(text: &str) -> impl Iterator<Item = String> {
    let sets = text.contains('=') || text.contains("++") || text.contains("--");
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(move |name| sets && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .map(str::to_owned)
}

/// Whether a text looks at a variable, whose value is evaluated too.
pub(crate) fn evaluates_names(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$')
}
