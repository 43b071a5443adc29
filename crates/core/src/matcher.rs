//! Which subjects (tool names, sources, reasons, …) a hook is for.
//!
//! Owns the syntax of matchers and their compiled form. A matcher is compiled once, when a
//! configuration is read: all, exact names, prefixes, other globs, regexes, cheapest first. Which
//! text of an event is the subject is the event's business.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use crate::glob::{Flaw, NameGlob};

/// The memory a compiled regex may take.
const REGEX_SIZE: usize = 1 << 20;

/// A compiled matcher. Cheap to clone; the default matches everything.
///
/// Matching is case-sensitive. Names and globs match whole, regexes anywhere in the subject.
///
/// ```
/// # use tenter_core::Matcher;
/// let matcher = Matcher::parse("Edit|mcp__github__*")?;
/// assert!(matcher.matches("mcp__github__create_issue"));
/// assert!(!matcher.matches("MultiEdit"));
/// # Ok::<(), tenter_core::matcher::MatcherError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matcher {
    /// As written; `None` is `*`.
    source: Option<Arc<str>>,
    /// Any of them; `None` is everything.
    parts: Option<Arc<[Part]>>,
}

/// One alternative of a matcher.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Exact(Box<str>),
    Prefix(Box<str>),
    Contains(Box<str>),
    Glob(NameGlob),
    Regex(Regex),
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Exact(a), Self::Exact(b))
            | (Self::Prefix(a), Self::Prefix(b))
            | (Self::Contains(a), Self::Contains(b)) => a == b,
            (Self::Glob(a), Self::Glob(b)) => a == b,
            (Self::Regex(a), Self::Regex(b)) => a.as_str() == b.as_str(),
            _ => false,
        }
    }
}

impl Eq for Part {}

impl Part {
    /// A name, or a glob if it holds a character that means something.
    pub(crate) fn name_or_glob(text: &str) -> Result<Self, Flaw> {
        let is_plain = |text: &str| !text.contains(['*', '?', '[', ']', '{', '}', '\\']);
        if is_plain(text) {
            return Ok(Self::Exact(text.into()));
        }
        match text.strip_suffix('*') {
            Some(prefix) if is_plain(prefix) => Ok(Self::Prefix(prefix.into())),
            _ => NameGlob::parse(text).map(Self::Glob),
        }
    }

    pub(crate) fn matches(&self, subject: &str) -> bool {
        match self {
            Self::Exact(name) => **name == *subject,
            Self::Prefix(prefix) => subject.starts_with(&**prefix),
            Self::Contains(part) => subject.contains(&**part),
            Self::Glob(glob) => glob.matches(subject),
            Self::Regex(regex) => regex.is_match(subject),
        }
    }
}

impl Matcher {
    /// Matches every subject.
    pub const fn all() -> Self {
        Self { source: None, parts: None }
    }

    /// Reads a matcher in the native form: names and globs, several of them with `|` between;
    /// `/…/` is a regex. Nothing, or `*`, matches everything.
    ///
    /// # Errors
    /// The text cannot mean what it looks like; the error says where and what to write instead.
    pub fn parse(text: &str) -> Result<Self, MatcherError> {
        let parts = parse_item(text)?;
        Ok(Self::of(parts, || text.trim().into()))
    }

    /// Reads a list of matchers, any of which matches.
    ///
    /// # Errors
    /// The list is empty, or one of the texts is wrong; [`MatcherError::item`] says which.
    pub fn parse_list(texts: &[impl AsRef<str>]) -> Result<Self, MatcherError> {
        if texts.is_empty() {
            return Err(MatcherError {
                message: "an empty list matches nothing".into(),
                span: None,
                help: "leave the key out to match everything".into(),
                item: None,
            });
        }
        let mut all = Some(Vec::new());
        for (at, text) in texts.iter().enumerate() {
            let parts = parse_item(text.as_ref())
                .map_err(|error| MatcherError { item: Some(at), ..error })?;
            all = all.zip(parts).map(|(mut all, parts)| {
                all.extend(parts);
                all
            });
        }
        Ok(Self::of(all, || {
            texts.iter().map(|text| text.as_ref().trim()).collect::<Vec<_>>().join("|").into()
        }))
    }

    /// A regex that may match anywhere in the subject, without the slashes of the native form.
    ///
    /// # Errors
    /// The regex is wrong or too large.
    pub fn regex(pattern: &str) -> Result<Self, MatcherError> {
        let parts = lower_regex(pattern)?;
        Ok(Self::of(parts, || pattern.into()))
    }

    /// Exact names, whatever characters they hold. Without any, nothing matches.
    pub fn names<I>(names: I) -> Self
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let mut source = String::new();
        let mut parts = Vec::new();
        for (at, name) in names.into_iter().enumerate() {
            if at > 0 {
                source.push('|');
            }
            source.push_str(name.as_ref());
            parts.push(Part::Exact(name.as_ref().into()));
        }
        Self::of(Some(parts), || source.into())
    }

    fn of(parts: Option<Vec<Part>>, source: impl FnOnce() -> Arc<str>) -> Self {
        parts.map_or_else(Self::all, |parts| Self {
            source: Some(source()),
            parts: Some(parts.into()),
        })
    }

    /// Whether a subject is meant.
    pub fn matches(&self, subject: &str) -> bool {
        self.parts.as_ref().is_none_or(|parts| parts.iter().any(|part| part.matches(subject)))
    }

    /// Whether every subject is meant, and an event that has none.
    pub const fn is_all(&self) -> bool {
        self.parts.is_none()
    }

    /// The text as written, a list with `|` between; `*` if everything matches.
    ///
    /// Two matchers of one text may differ in kind (a name and a regex): compare matchers, not
    /// their sources.
    pub fn source(&self) -> &str {
        self.source.as_deref().unwrap_or("*")
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.source())
    }
}

/// Why a text is not a matcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatcherError {
    /// What is wrong, a lower-case fragment.
    pub message: String,
    /// The bytes of the text that are meant, where that is known.
    pub span: Option<Range<usize>>,
    /// What to do.
    pub help: Cow<'static, str>,
    /// Which text of a list it is about, from 0.
    pub item: Option<usize>,
}

impl fmt::Display for MatcherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MatcherError {}

impl From<Flaw> for MatcherError {
    fn from(flaw: Flaw) -> Self {
        Self { message: flaw.message, span: Some(flaw.span), help: flaw.help, item: None }
    }
}

/// The parts of one native text; `None` matches everything.
fn parse_item(text: &str) -> Result<Option<Vec<Part>>, MatcherError> {
    let trimmed = text.trim();
    let offset = text.len() - text.trim_start().len();
    if trimmed.is_empty() || trimmed == "*" {
        return Ok(None);
    }
    if trimmed.starts_with('/') {
        return native_regex(trimmed).map_err(|error| error.shifted(offset));
    }
    refuse_rule(trimmed).map_err(|flaw| flaw.shifted(offset))?;
    let mut parts = Vec::new();
    let mut everything = false;
    let mut at = offset;
    for alternative in trimmed.split('|') {
        let start = at + alternative.len() - alternative.trim_start().len();
        match parse_alternative(alternative.trim()).map_err(|flaw| flaw.shifted(start))? {
            Some(part) => parts.push(part),
            None => everything = true,
        }
        at += alternative.len() + 1;
    }
    Ok((!everything).then_some(parts))
}

fn parse_alternative(text: &str) -> Result<Option<Part>, Flaw> {
    let whole = 0..text.len();
    if text.is_empty() {
        return Err(Flaw::new(whole, "an alternative is empty", "take one `|` out"));
    }
    if text == "*" {
        return Ok(None);
    }
    if text.starts_with('/') {
        return Err(Flaw::new(
            whole,
            "a regex stands among names",
            "write a list, as in `[\"Bash\", \"/^mcp__/\"]`",
        ));
    }
    let looks_like_regex = text.starts_with('^')
        || text.ends_with('$')
        || [".*", ".+", "\\d", "\\w", "\\b", "\\s"].iter().any(|sign| text.contains(sign));
    if looks_like_regex {
        return Err(Flaw::new(
            whole,
            format!("`{text}` is a regex, and a name or glob is expected"),
            format!("write `/{text}/`, or a glob such as `mcp__github__*`"),
        ));
    }
    let part = Part::name_or_glob(text)?;
    if let (Part::Exact(_) | Part::Prefix(_), Some(comma)) = (&part, text.find(',')) {
        return Err(Flaw::new(
            comma..comma + 1,
            "names are separated by a comma",
            "write `|` between names, as in `Edit|Write`",
        ));
    }
    Ok(Some(part))
}

/// Refuses texts with parentheses: they are rules or regexes, and would match nothing.
fn refuse_rule(text: &str) -> Result<(), Flaw> {
    let Some(open) = text.find(['(', ')']) else { return Ok(()) };
    let is_rule = open > 0
        && text.ends_with(')')
        && text.bytes().take(open).all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    Err(if is_rule {
        Flaw::new(
            open..text.len(),
            "a matcher names tools and cannot look at their input",
            format!("match the tool's name, and write `if = \"{text}\"`"),
        )
    } else {
        Flaw::new(
            open..open + 1,
            "parentheses mean nothing in names and globs",
            format!("write `/{text}/` if it is a regex, or `A|B` without them"),
        )
    })
}

/// A regex between slashes.
fn native_regex(text: &str) -> Result<Option<Vec<Part>>, MatcherError> {
    let Some(inner) = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) else {
        let flags = text.rfind('/').filter(|at| *at > 0);
        return Err(Flaw::new(
            flags.map_or(0..1, |at| at + 1..text.len()),
            if flags.is_some() {
                "something stands after the closing `/`"
            } else {
                "a regex is not closed"
            },
            "write `/…/` and put flags inside, as in `/(?i)bash/`",
        )
        .into());
    };
    if inner.is_empty() {
        return Err(Flaw::new(
            0..text.len(),
            "the regex is empty",
            "write `*` to match everything",
        )
        .into());
    }
    let name_like = |byte: u8| byte.is_ascii_alphanumeric() || b"_-:".contains(&byte);
    if inner.contains('*') && inner.bytes().all(|byte| name_like(byte) || byte == b'*') {
        return Err(Flaw::new(
            0..text.len(),
            format!("`{inner}` is a glob: in a regex `*` repeats the character before it"),
            format!("write the glob `{inner}`, or the regex `/{}/`", inner.replace('*', ".*")),
        )
        .into());
    }
    lower_regex(inner).map_err(|error| error.shifted(1))
}

impl MatcherError {
    fn shifted(mut self, offset: usize) -> Self {
        self.span = self.span.map(|span| span.start + offset..span.end + offset);
        self
    }
}

/// A regex in its cheapest form. Most regexes of matchers are names with anchors: those need no
/// regex engine, which takes tens of microseconds to set up.
fn lower_regex(pattern: &str) -> Result<Option<Vec<Part>>, MatcherError> {
    if pattern.is_empty() || pattern == ".*" {
        return Ok(None);
    }
    if let Some(parts) = lower_names(pattern) {
        return Ok(Some(parts));
    }
    let regex = RegexBuilder::new(pattern)
        .size_limit(REGEX_SIZE)
        .dfa_size_limit(REGEX_SIZE)
        .nest_limit(64)
        .build()
        .map_err(|error| regex_error(pattern, &error))?;
    Ok(Some(vec![Part::Regex(regex)]))
}

/// `^name$`, `^(a|b)$`, `^prefix`, `^prefix.*`, `name`, `a|b`: texts without any other sign.
fn lower_names(pattern: &str) -> Option<Vec<Part>> {
    let is_name = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-:/ ".contains(&byte))
    };
    let Some(anchored) = pattern.strip_prefix('^') else {
        let part = |text: &str| is_name(text).then(|| Part::Contains(text.into()));
        return pattern.split('|').map(part).collect();
    };
    let Some(whole) = anchored.strip_suffix('$') else {
        let prefix = anchored.strip_suffix(".*").unwrap_or(anchored);
        return is_name(prefix).then(|| vec![Part::Prefix(prefix.into())]);
    };
    if is_name(whole) {
        return Some(vec![Part::Exact(whole.into())]);
    }
    let group = whole.strip_prefix('(')?.strip_suffix(')')?;
    let group = group.strip_prefix("?:").unwrap_or(group);
    group.split('|').map(|text| is_name(text).then(|| Part::Exact(text.into()))).collect()
}

fn regex_error(pattern: &str, error: &regex::Error) -> MatcherError {
    let (message, span) = match error {
        regex::Error::CompiledTooBig(_) => {
            (format!("the regex needs more than {} KiB", REGEX_SIZE / 1024), None)
        }
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or_default();
            let message = last.strip_prefix("error: ").unwrap_or(last).trim_end_matches('.');
            (format!("the regex is wrong: {message}"), marked_span(pattern, &text))
        }
    };
    let glob_like = pattern.starts_with('*') || pattern.contains("|*");
    MatcherError {
        message,
        span: span.or(Some(0..pattern.len())),
        help: if glob_like {
            "in a regex `.*` is any text; a glob such as `*Edit` stands without slashes".into()
        } else {
            "matchers have no look-around and no back-references; use names, globs, or two hooks"
                .into()
        },
        item: None,
    }
}

/// The bytes that a syntax error of the regex crate marks with `^` under the pattern.
fn marked_span(pattern: &str, text: &str) -> Option<Range<usize>> {
    if pattern.contains('\n') {
        return None;
    }
    let marks = text.lines().nth(2)?.strip_prefix("    ")?;
    let from = marks.find('^')?;
    let to = marks.rfind('^')? + 1;
    let byte_at = |column| {
        pattern.char_indices().nth(column).map_or(pattern.len(), |(at, _): (usize, char)| at)
    };
    Some(byte_at(from)..byte_at(to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_globs_and_regexes_match_as_they_say() {
        for (matcher, subject, expected) in [
            ("", "anything", true),
            ("*", "anything", true),
            (" * ", "", true),
            ("Bash", "Bash", true),
            ("Bash", "bash", false),
            ("Bash", "BashOutput", false),
            ("Edit|Write", "Write", true),
            ("Edit | Write", "Write", true),
            ("Edit|*", "Read", true),
            ("mcp__a-b.c:d__e", "mcp__a-b.c:d__e", true),
            ("mcp__github__*", "mcp__github__create", true),
            ("mcp__github__*", "mcp__gitlab__create", false),
            ("*Edit", "MultiEdit", true),
            ("*Edit", "Editor", false),
            ("mcp__*__write_?", "mcp__x__write_ä", true),
            ("{Edit,Write}", "Edit", true),
            ("code reviewer", "code reviewer", true),
            ("/Edit/", "MultiEdit", true),
            ("/^Edit$/", "MultiEdit", false),
            ("/^(?:Edit|Write)$/", "Write", true),
            ("/^mcp__.*__(read|list)/", "mcp__a__list_all", true),
            ("/(?i)bash/", "BASH", true),
            ("/a|b/", "xbx", true),
        ] {
            let compiled = Matcher::parse(matcher).unwrap();
            assert_eq!(compiled.matches(subject), expected, "{matcher} {subject}");
        }
    }

    #[test]
    fn a_list_matches_if_any_of_it_does() {
        let matcher = Matcher::parse_list(&["Bash", "/^mcp__/"]).unwrap();
        assert!(matcher.matches("Bash") && matcher.matches("mcp__x") && !matcher.matches("Read"));
        assert_eq!(matcher.source(), "Bash|/^mcp__/");
        assert!(Matcher::parse_list(&["Bash", "*"]).unwrap().is_all());
        assert_eq!(Matcher::parse_list(&["Bash", "a[b"]).unwrap_err().item, Some(1));
        assert!(Matcher::parse_list(&[""; 0]).is_err());
    }

    #[test]
    fn what_would_silently_match_nothing_is_refused_where_it_stands() {
        for (text, span, message) in [
            ("A||B", 2..2, "an alternative is empty"),
            ("A|", 2..2, "an alternative is empty"),
            (" a[b", 2..3, "`[` is not closed"),
            ("A| b{c", 4..5, "`{` is not closed"),
            ("/Bash", 0..1, "a regex is not closed"),
            ("/Bash/i", 6..7, "something stands after the closing `/`"),
            ("//", 0..2, "the regex is empty"),
            ("/a(b/", 2..3, "the regex is wrong: unclosed group"),
            (
                " /(?=a)b/",
                2..5,
                "the regex is wrong: look-around, including look-ahead and look-behind, is not supported",
            ),
            (
                "/mcp__x__*/",
                0..11,
                "`mcp__x__*` is a glob: in a regex `*` repeats the character before it",
            ),
            ("/*Edit$/", 1..2, "the regex is wrong: repetition operator missing expression"),
            ("mcp__x__.*", 0..10, "`mcp__x__.*` is a regex, and a name or glob is expected"),
            ("Edit|^Bash$", 5..11, "`^Bash$` is a regex, and a name or glob is expected"),
            ("Bash, Write", 4..5, "names are separated by a comma"),
            ("Bash(git *)", 4..11, "a matcher names tools and cannot look at their input"),
            ("(A|B)", 0..1, "parentheses mean nothing in names and globs"),
            ("A|/b/", 2..5, "a regex stands among names"),
        ] {
            let error = Matcher::parse(text).unwrap_err();
            assert_eq!((error.message.as_str(), error.span), (message, Some(span)), "{text}");
            assert!(!error.help.is_empty());
        }
        let huge = Matcher::parse("/\\w{1000}{1000}/").unwrap_err();
        assert_eq!(huge.message, "the regex needs more than 1024 KiB");
    }

    #[test]
    fn the_cheap_forms_are_taken() {
        let parts = |text: &str| Matcher::parse(text).unwrap().parts.unwrap().to_vec();
        assert!(matches!(*parts("Bash|Edit"), [Part::Exact(_), Part::Exact(_)]));
        assert!(matches!(*parts("mcp__a__*"), [Part::Prefix(_)]));
        assert!(matches!(*parts("/^bash$/"), [Part::Exact(_)]));
        assert!(matches!(*parts("/^(a|b)$/"), [Part::Exact(_), Part::Exact(_)]));
        assert!(matches!(*parts("/^mcp__.*/"), [Part::Prefix(_)]));
        assert!(matches!(*parts("/^a|b$/"), [Part::Regex(_)]));
    }

    #[test]
    fn names_are_taken_as_they_are() {
        let names = Matcher::names(["a*", "b|c"]);
        assert!(names.matches("a*") && names.matches("b|c") && !names.matches("ab"));
        assert!(!Matcher::names([""; 0]).matches(""));
        assert!(!Matcher::names([""; 0]).is_all());
        assert_ne!(Matcher::names(["a"]), Matcher::regex("a").unwrap());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_inside_its_bounds(text in "\\PC{0,16}|[/|*a-c(){}\\[\\]^$. \\\\]{0,16}") {
            if let Err(error) = Matcher::parse(&text) {
                prop_assert!(error.span.is_some_and(|span| text.get(span).is_some()));
            }
            let _ = Matcher::regex(&text);
        }

        #[test]
        fn a_matcher_survives_being_written_and_read(text in "[/|*a-c ?\\[\\]{},]{0,12}", subject in "[a-c]{0,5}") {
            if let Ok(matcher) = Matcher::parse(&text) {
                let again = Matcher::parse(&matcher.to_string()).unwrap();
                prop_assert_eq!(&again, &matcher);
                prop_assert_eq!(again.matches(&subject), matcher.matches(&subject));
            }
        }

        #[test]
        fn a_lowered_regex_means_what_the_regex_means(
            pattern in "\\^?(\\((\\?:)?)?[ab_]{0,2}(\\|[ab]{1,2})?\\)?(\\.\\*)?\\$?",
            subject in "[ab_\n]{0,4}",
        ) {
            if let Ok(regex) = Regex::new(&pattern) {
                let ours = Matcher::regex(&pattern).unwrap();
                prop_assert_eq!(ours.matches(&subject), regex.is_match(&subject), "{}", pattern);
            }
        }
    }
}
