//! Globs over names and over paths.
//!
//! Owns the syntax (`*`, `?`, `[a-z]`, `{a,b}`, `\x`, and `**` between slashes) and the matching,
//! both by character: `?` stands for `ä` too. Owns neither anchors nor normal forms of paths, see
//! `rules::path`. Matching does not allocate.

use std::borrow::Cow;
use std::ops::Range;

/// Longer texts are refused, so that no glob costs more than a fixed amount of memory.
const MAX_TEXT: usize = 4096;
/// How many alternatives the braces of one glob may stand for.
const MAX_ALTERNATIVES: usize = 256;
/// How deep braces may nest.
const MAX_DEPTH: usize = 8;

/// What is wrong with a text that a person wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flaw {
    pub(crate) message: String,
    pub(crate) span: Range<usize>,
    pub(crate) help: Cow<'static, str>,
}

impl Flaw {
    pub(crate) fn new(
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { message: message.into(), span, help: help.into() }
    }

    /// The same flaw in a text in which this one starts at `offset`.
    pub(crate) fn shifted(mut self, offset: usize) -> Self {
        self.span = self.span.start + offset..self.span.end + offset;
        self
    }
}

/// One element of a glob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Char(char),
    /// Any one character.
    Any,
    /// Any run of characters.
    Run,
    Class {
        negated: bool,
        ranges: Box<[(char, char)]>,
    },
}

impl Token {
    /// Whether it stands for this one character; a run stands for none.
    pub(crate) fn accepts(&self, character: char) -> bool {
        match self {
            Self::Char(own) => *own == character,
            Self::Any => true,
            Self::Run => false,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&character)) != *negated
            }
        }
    }
}

/// Whether the tokens match the whole text.
pub(crate) fn tokens_match(tokens: &[Token], text: &str) -> bool {
    let (mut left, mut rest) = (tokens, text.chars());
    // Where to go on when what follows the last run does not fit: the run takes one more.
    let mut retry = None;
    loop {
        match left.split_first() {
            Some((Token::Run, [])) => return true,
            Some((Token::Run, after)) => {
                retry = Some((after, rest.clone()));
                left = after;
                continue;
            }
            Some((token, after)) => {
                let mut ahead = rest.clone();
                if ahead.next().is_some_and(|character| token.accepts(character)) {
                    (left, rest) = (after, ahead);
                    continue;
                }
            }
            None if rest.as_str().is_empty() => return true,
            None => {}
        }
        let Some((after, mut from)) = retry else { return false };
        if from.next().is_none() {
            return false;
        }
        (left, rest) = (after, from.clone());
        retry = Some((after, from));
    }
}

/// A text in which only `*` means something.
pub(crate) fn stars(text: &str) -> Box<[Token]> {
    text.chars().map(|c| if c == '*' { Token::Run } else { Token::Char(c) }).collect()
}

/// A glob over names: it matches whole, and `*` is any run of characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameGlob(Box<[Box<[Token]>]>);

impl NameGlob {
    pub(crate) fn parse(text: &str) -> Result<Self, Flaw> {
        let alternatives = parse(text)?;
        let tokens = |piece| match piece {
            Piece::Separator => Token::Char('/'),
            Piece::Deep(_) => Token::Run,
            Piece::Token(token) => token,
        };
        Ok(Self(alternatives.into_iter().map(|a| a.into_iter().map(tokens).collect()).collect()))
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        self.0.iter().any(|tokens| tokens_match(tokens, text))
    }
}

/// One part of a path glob, between slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    /// Any number of components, none included.
    Deep,
    /// One component with just this name.
    Literal(Box<str>),
    /// One component.
    Tokens(Box<[Token]>),
}

impl Segment {
    fn accepts(&self, component: &str) -> bool {
        match self {
            Self::Deep => false,
            Self::Literal(name) => **name == *component,
            Self::Tokens(tokens) => tokens_match(tokens, component),
        }
    }
}

/// Whether the segments match the whole of a relative path in normal form; `""` is no component.
pub(crate) fn segments_match(segments: &[Segment], path: &str) -> bool {
    let mut left = segments;
    let mut rest = (!path.is_empty()).then_some(path);
    let mut retry: Option<(&[Segment], Option<&str>)> = None;
    loop {
        match (left.split_first(), rest) {
            (Some((Segment::Deep, [])), _) | (None, None) => return true,
            (Some((Segment::Deep, after)), _) => {
                retry = Some((after, rest));
                left = after;
                continue;
            }
            (Some((segment, after)), Some(path)) => {
                let (component, tail) = first_component(path);
                if segment.accepts(component) {
                    (left, rest) = (after, tail);
                    continue;
                }
            }
            (Some(_), None) | (None, Some(_)) => {}
        }
        let Some((after, Some(from))) = retry else { return false };
        let (_, tail) = first_component(from);
        (left, rest) = (after, tail);
        retry = Some((after, tail));
    }
}

fn first_component(path: &str) -> (&str, Option<&str>) {
    path.split_once('/').map_or((path, None), |(component, tail)| (component, Some(tail)))
}

/// The alternatives of a path glob as they are written: each a list of segments and whether it
/// starts with a slash. Repeated slashes count as one; a slash at the end means the folder and all
/// below it.
pub(crate) fn parse_path(text: &str) -> Result<Vec<(bool, Vec<Segment>)>, Flaw> {
    parse(text)?.into_iter().map(|pieces| segments_of(&pieces)).collect()
}

fn segments_of(pieces: &[Piece]) -> Result<(bool, Vec<Segment>), Flaw> {
    let rooted = matches!(pieces.first(), Some(Piece::Separator));
    let folder = matches!(pieces.last(), Some(Piece::Separator));
    let mut segments = Vec::new();
    for part in pieces.split(|piece| matches!(piece, Piece::Separator)) {
        match part {
            [] => {}
            [Piece::Deep(_)] => {
                if segments.last() != Some(&Segment::Deep) {
                    segments.push(Segment::Deep);
                }
            }
            part => segments.push(segment_of(part)?),
        }
    }
    if folder && segments.last() != Some(&Segment::Deep) {
        segments.push(Segment::Deep);
    }
    Ok((rooted, segments))
}

fn segment_of(part: &[Piece]) -> Result<Segment, Flaw> {
    let mut tokens = Vec::with_capacity(part.len());
    let mut literal = Some(String::new());
    for piece in part {
        match piece {
            Piece::Deep(at) => {
                return Err(Flaw::new(
                    *at..*at + 2,
                    "`**` does not stand alone between slashes",
                    "write `**/*.rs` for files at any depth, or `*` for one name",
                ));
            }
            Piece::Token(token) => {
                match token {
                    Token::Char(character) => {
                        if let Some(name) = &mut literal {
                            name.push(*character);
                        }
                    }
                    _ => literal = None,
                }
                tokens.push(token.clone());
            }
            Piece::Separator => {}
        }
    }
    Ok(match literal {
        Some(name) => Segment::Literal(name.into()),
        None => Segment::Tokens(tokens.into()),
    })
}

/// A glob as it is read, before it is known what a slash means.
#[derive(Debug, Clone)]
enum Piece {
    Token(Token),
    Separator,
    /// `**`, with its place.
    Deep(usize),
}

/// Reads a glob. The alternatives that its braces stand for are written out.
fn parse(text: &str) -> Result<Vec<Vec<Piece>>, Flaw> {
    if text.len() > MAX_TEXT {
        return Err(Flaw::new(
            0..text.len(),
            format!("the glob is longer than {MAX_TEXT} bytes"),
            "split it into several",
        ));
    }
    let mut reader = Reader { text, at: 0, depth: 0 };
    let alternatives = reader.sequence()?;
    if let Some(closing @ ('}' | ',')) = reader.peek() {
        return Err(Flaw::new(
            reader.at..reader.at + 1,
            format!("`{closing}` without a `{{` before it"),
            format!("write `\\{closing}` if the character itself is meant"),
        ));
    }
    Ok(alternatives)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.at += character.len_utf8();
        Some(character)
    }

    /// Reads up to the end, or up to a `,` or `}` that belongs to braces around it.
    fn sequence(&mut self) -> Result<Vec<Vec<Piece>>, Flaw> {
        let mut alternatives = vec![Vec::new()];
        while let Some(character) = self.peek() {
            let start = self.at;
            let inner = match character {
                '}' => return Ok(alternatives),
                ',' if self.depth > 0 => return Ok(alternatives),
                '{' => self.braces()?,
                _ => vec![vec![self.piece(start)?]],
            };
            if alternatives.len() * inner.len() > MAX_ALTERNATIVES {
                return Err(Flaw::new(
                    start..self.at,
                    format!("the braces stand for more than {MAX_ALTERNATIVES} alternatives"),
                    "write several globs",
                ));
            }
            if let [only] = inner.as_slice() {
                for alternative in &mut alternatives {
                    alternative.extend_from_slice(only);
                }
            } else {
                alternatives = alternatives
                    .iter()
                    .flat_map(|before| inner.iter().map(move |after| [&before[..], after].concat()))
                    .collect();
            }
        }
        Ok(alternatives)
    }

    fn braces(&mut self) -> Result<Vec<Vec<Piece>>, Flaw> {
        let start = self.at;
        self.next();
        if self.depth == MAX_DEPTH {
            return Err(Flaw::new(
                start..self.at,
                format!("braces nest deeper than {MAX_DEPTH} levels"),
                "write several globs",
            ));
        }
        self.depth += 1;
        let mut alternatives = Vec::new();
        loop {
            alternatives.extend(self.sequence()?);
            match self.next() {
                Some(',') => {}
                Some(_) => break,
                None => {
                    return Err(Flaw::new(
                        start..start + 1,
                        "`{` is not closed",
                        "close it with `}`, or write `\\{` if the character itself is meant",
                    ));
                }
            }
        }
        self.depth -= 1;
        if let [empty] = alternatives.as_slice()
            && empty.is_empty()
        {
            return Err(Flaw::new(
                start..self.at,
                "`{}` is empty",
                "name alternatives, as in `{a,b}`, or write `\\{` if the character itself is meant",
            ));
        }
        Ok(alternatives)
    }

    fn piece(&mut self, start: usize) -> Result<Piece, Flaw> {
        Ok(Piece::Token(match self.next() {
            Some('*') => {
                if self.peek() != Some('*') {
                    return Ok(Piece::Token(Token::Run));
                }
                while self.peek() == Some('*') {
                    self.next();
                }
                return Ok(Piece::Deep(start));
            }
            Some('/') | None => return Ok(Piece::Separator),
            Some('?') => Token::Any,
            Some('[') => self.class(start)?,
            Some('\\') => match self.next() {
                Some('/') => return Ok(Piece::Separator),
                Some(character) => Token::Char(character),
                None => {
                    return Err(Flaw::new(
                        start..self.at,
                        "`\\` stands at the end",
                        "write `\\\\` if the character itself is meant",
                    ));
                }
            },
            Some(character) => Token::Char(character),
        }))
    }

    fn class(&mut self, start: usize) -> Result<Token, Flaw> {
        let unclosed = || {
            Flaw::new(
                start..start + 1,
                "`[` is not closed",
                "close it with `]`, or write `\\[` if the character itself is meant",
            )
        };
        let negated = matches!(self.peek(), Some('!' | '^'));
        if negated {
            self.next();
        }
        let mut ranges = Vec::new();
        loop {
            let at = self.at;
            let low = match self.next().ok_or_else(unclosed)? {
                // Like everywhere: a `]` that stands first is a member.
                ']' if !ranges.is_empty() => break,
                '\\' => self.next().ok_or_else(unclosed)?,
                '/' => return Err(unclosed()),
                character => character,
            };
            let mut ahead = self.text.get(self.at..).unwrap_or_default().chars();
            let high = if ahead.next() == Some('-') && ahead.next().is_some_and(|end| end != ']') {
                self.next();
                match self.next().ok_or_else(unclosed)? {
                    '\\' => self.next().ok_or_else(unclosed)?,
                    '/' => return Err(unclosed()),
                    character => character,
                }
            } else {
                low
            };
            if low > high {
                return Err(Flaw::new(
                    at..self.at,
                    format!("the range `{low}-{high}` runs backwards"),
                    format!("write `{high}-{low}`"),
                ));
            }
            ranges.push((low, high));
        }
        Ok(Token::Class { negated, ranges: ranges.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path_matches(glob: &str, path: &str) -> bool {
        parse_path(glob).unwrap().iter().any(|(_, segments)| segments_match(segments, path))
    }

    #[test]
    fn names_match_whole_and_by_character() {
        for (glob, text, expected) in [
            ("mcp__*__write", "mcp__github__write", true),
            ("mcp__*__write", "mcp__github__write_all", false),
            ("a?b", "aäb", true),
            ("a[à-ü]b", "aäb", true),
            ("a[!x]b", "axb", false),
            ("a[]]b", "a]b", true),
            ("a[a-]b", "a-b", true),
            ("{Edit,Write}", "Write", true),
            ("{Edit,Write}", "Writer", false),
            ("a{b,c{d,}}", "ac", true),
            ("**", "any/thing", true),
            ("a\\*b", "a*b", true),
            ("a\\*b", "axb", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
        ] {
            assert_eq!(NameGlob::parse(glob).unwrap().matches(text), expected, "{glob} {text}");
        }
    }

    #[test]
    fn a_star_stays_in_its_component_and_a_double_star_does_not() {
        for (glob, path, expected) in [
            ("src/*", "src/a.rs", true),
            ("src/*", "src/.hidden", true),
            ("src/*", "src/a/b.rs", false),
            ("src/**", "src/a/b.rs", true),
            ("src/**", "src", true),
            ("src/**", "srcs/a", false),
            ("src/", "src/a/b", true),
            ("src//a", "src/a", true),
            ("**/.env", ".env", true),
            ("**/.env", "a/b/.env", true),
            ("**/.env", "a/b/.env/c", false),
            ("**/a/**/b", "x/a/y/a/z/b", true),
            ("**/a/**/b", "x/b/a", false),
            ("**/a/*/b", "a/a/x/b", true),
            ("{a,b/c}/d", "b/c/d", true),
            ("**", "", true),
            ("*", "", false),
        ] {
            assert_eq!(path_matches(glob, path), expected, "{glob} {path}");
        }
    }

    #[test]
    fn a_flaw_names_its_place() {
        for (glob, span, message) in [
            ("ab[c", 2..3, "`[` is not closed"),
            ("[a/b]", 0..1, "`[` is not closed"),
            ("ab{c,d", 2..3, "`{` is not closed"),
            ("ab}c", 2..3, "`}` without a `{` before it"),
            ("ab{}", 2..4, "`{}` is empty"),
            ("ab\\", 2..3, "`\\` stands at the end"),
            ("[z-a]", 1..4, "the range `z-a` runs backwards"),
        ] {
            let flaw = NameGlob::parse(glob).unwrap_err();
            assert_eq!((flaw.span, flaw.message.as_str()), (span, message), "{glob}");
        }
        let flaw = parse_path("src/**.rs").unwrap_err();
        assert_eq!(flaw.span, 4..6);
    }

    #[test]
    fn braces_cannot_blow_up() {
        let many = "{a,b}".repeat(30);
        assert!(NameGlob::parse(&many).unwrap_err().message.contains("more than 256"));
        let deep = format!("{}{}", "{a,".repeat(9), "}".repeat(9));
        assert!(NameGlob::parse(&deep).unwrap_err().message.contains("nest deeper"));
        assert!(NameGlob::parse(&"a".repeat(5000)).unwrap_err().message.contains("longer"));
    }

    #[test]
    fn many_stars_against_a_long_text_end_soon() {
        let glob = NameGlob::parse(&"*a".repeat(60)).unwrap();
        assert!(!glob.matches(&"a".repeat(59)));
        assert!(!path_matches(&"**/a/".repeat(40), &"b/".repeat(2000)));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_inside_its_bounds(text in "\\PC{0,12}|[a-c/*?{},!\\[\\]\\\\-]{0,14}") {
            for flaw in [NameGlob::parse(&text).err(), parse_path(&text).err()].into_iter().flatten() {
                prop_assert!(text.get(flaw.span.clone()).is_some(), "{flaw:?}");
            }
        }

        // On ASCII and without `**` inside a name, another implementation must agree.
        #[test]
        fn globset_agrees(
            segments in prop::collection::vec("\\*\\*|[ab*?]{1,4}|\\[ab\\]|\\{a,bb\\}|\\[!a\\]b", 1..5),
            path in prop::collection::vec("[abc.]{1,4}", 1..5),
        ) {
            let glob = segments
                .iter()
                .map(|s| if s == "**" { s.clone() } else { s.replace("**", "*").replace("**", "*") })
                .collect::<Vec<_>>()
                .join("/");
            let path = path.join("/");
            let theirs = globset::GlobBuilder::new(&glob)
                .literal_separator(true)
                .build()
                .unwrap()
                .compile_matcher()
                .is_match(&path);
            // What differs on purpose: `dir/**` is `dir` too.
            let ours = path_matches(&glob, &path);
            let dir_itself = glob.ends_with("/**") && !theirs;
            prop_assert!(ours == theirs || (ours && dir_itself), "{} {} {} {}", glob, path, ours, theirs);
        }
    }
}
