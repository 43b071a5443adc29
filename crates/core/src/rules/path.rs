//! Paths: their normal form, the places that patterns are anchored at, and path patterns.
//!
//! A path has two forms: *given*, as it was written, and *resolved*, without links. A deny or ask
//! pattern matches if either form does, an allow pattern only if both do. Nothing here asks the
//! file system: whoever makes a [`PathPair`] resolves it.

use std::borrow::Cow;

use super::input::join;
use super::wildcard::{Wildcard, all_or_some};
use super::{Side, Truth};
use crate::glob::{Flaw, Segment, parse_path, segments_match};

/// A path in normal form: no `.`, no `..`, no empty component, no slash at the end but for `/`.
///
/// This is about text alone: `..` after a link leads elsewhere on disk, which is why a path is
/// resolved as it was given. In a relative path a leading `..` stays, and nothing becomes `.`.
pub fn normalise(path: &str) -> Cow<'_, str> {
    if is_normal(path) {
        return Cow::Borrowed(path);
    }
    let rooted = path.starts_with('/');
    let mut components: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => match components.last() {
                Some(&last) if last != ".." => {
                    components.pop();
                }
                _ if rooted => {}
                _ => components.push(".."),
            },
            name => components.push(name),
        }
    }
    let joined = components.join("/");
    Cow::Owned(match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".into(),
        (false, false) => joined,
    })
}

/// A path as a pattern that stands for itself alone.
pub fn escaped(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len());
    for character in path.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '(' | ')' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// Whether an absolute path is in normal form already.
fn is_normal(path: &str) -> bool {
    path == "/"
        || path.strip_prefix('/').is_some_and(|rest| {
            rest.split('/').all(|component| !matches!(component, "" | "." | ".."))
        })
}

/// One path of a call, in both its forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPair {
    given: String,
    /// The normal form of `given` where that differs.
    normal: Option<String>,
    resolved: Option<String>,
}

impl PathPair {
    /// An absolute path as it was written, `..` and all. Where it leads is not known: allow rules
    /// do not hold for it, and deny and ask rules that do not match it as written hold as ask.
    pub fn new(given: impl Into<String>) -> Self {
        let given = given.into();
        let normal = match normalise(&given) {
            Cow::Borrowed(_) => None,
            Cow::Owned(normal) => Some(normal),
        };
        Self { given, normal, resolved: None }
    }

    /// An absolute path that is known to pass no link.
    pub fn lexical(given: impl Into<String>) -> Self {
        let mut pair = Self::new(given);
        pair.resolved = Some(pair.normal().to_owned());
        pair
    }

    /// With the path that it leads to: every link followed in the part that exists, before `..` is
    /// taken out, and the rest appended.
    #[must_use]
    pub fn with_resolved(mut self, resolved: impl Into<String>) -> Self {
        self.resolved = Some(normalise(&resolved.into()).into_owned());
        self
    }

    /// The absolute path as it was written. This is the form to resolve.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// The path as it was written, in normal form.
    pub fn normal(&self) -> &str {
        self.normal.as_deref().unwrap_or(&self.given)
    }

    /// Where it leads, if that is known.
    pub fn resolved(&self) -> Option<&str> {
        self.resolved.as_deref()
    }
}

/// A folder that patterns are anchored at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    given: String,
    resolved: String,
}

impl Place {
    /// An absolute path that passes no link.
    pub fn new(path: impl AsRef<str>) -> Self {
        let given = normalise(path.as_ref()).into_owned();
        Self { resolved: given.clone(), given }
    }

    /// An absolute path, and where it leads. Both count as the place.
    pub fn with_resolved(path: impl AsRef<str>, resolved: impl AsRef<str>) -> Self {
        Self {
            given: normalise(path.as_ref()).into_owned(),
            resolved: normalise(resolved.as_ref()).into_owned(),
        }
    }

    /// The path as it is known to the user.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// The path without links.
    pub fn resolved(&self) -> &str {
        &self.resolved
    }
}

/// Where a call happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// Patterns that start with neither `/`, `~` nor `**` start here.
    pub project: Place,
    /// `~`; `None` if there is no telling, and then such patterns may match everywhere.
    pub home: Option<Place>,
    /// The absolute folder that relative paths in an input start at.
    pub cwd: String,
}

impl Places {
    /// The absolute paths that a path in an input may mean, not resolved yet; `None` if that
    /// cannot be told.
    ///
    /// A path that starts with `~/` has two readings, since some tools put the home folder there
    /// and some do not: both are paths of the call.
    pub fn pairs(&self, path: &str) -> Option<Vec<PathPair>> {
        if path.is_empty() || path.contains('\0') {
            return None;
        }
        if path.starts_with('/') {
            return Some(vec![PathPair::new(path)]);
        }
        if !self.cwd.starts_with('/') {
            return None;
        }
        let mut pairs = vec![PathPair::new(join(&self.cwd, path))];
        if let Some(rest) = path.strip_prefix('~') {
            match rest.strip_prefix('/') {
                Some(below) => {
                    pairs.push(PathPair::new(join(&self.home.as_ref()?.given, below)));
                }
                None if rest.is_empty() => {
                    pairs.push(PathPair::new(self.home.as_ref()?.given.as_str()));
                }
                // The home of another user, wherever that is.
                None if rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
                    return None;
                }
                None => {}
            }
        }
        Some(pairs)
    }
}

/// What a path must be like.
#[derive(Debug, Clone)]
pub(super) struct PathPattern(Vec<Alternative>);

#[derive(Debug, Clone)]
struct Alternative {
    anchor: Anchor,
    /// How many folders above the anchor it starts.
    up: usize,
    segments: Vec<Segment>,
    /// How many segments at the start are plain names.
    literal: usize,
    /// Where the anchor and those names lead, if elsewhere.
    base: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Anchor {
    Root,
    Home,
    Project,
}

impl PathPattern {
    pub(super) fn parse(text: &str) -> Result<Self, Flaw> {
        if text.contains('\0') {
            return Err(Flaw::new(0..text.len(), "a path has no NUL", "take it out"));
        }
        let alternatives = parse_path(text)?;
        alternatives
            .into_iter()
            .map(|(rooted, segments)| Alternative::new(rooted, &segments, text))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub(super) fn matches(&self, path: &PathPair, places: &Places, side: Side) -> Truth {
        if !path.given.starts_with('/') {
            return Truth::Maybe;
        }
        let form = |form: &str| {
            self.0.iter().map(|one| one.matches(form, places, side)).max().unwrap_or(Truth::No)
        };
        let given = form(path.normal());
        let resolved = match path.resolved() {
            Some(resolved) if resolved == path.normal() => given,
            Some(resolved) => form(resolved),
            None => Truth::Maybe,
        };
        match side {
            Side::Any => given.max(resolved),
            Side::Every => given.min(resolved),
        }
    }

    /// How the files that a pattern of a command finds stand to the rule: [`Truth::Yes`] if all of
    /// them match whatever their names.
    pub(super) fn matches_found(&self, found: &Wildcard, places: &Places) -> Truth {
        // How deep a file lies is not known, so nothing holds for all of them.
        let all = found.probe.iter().map(|path| self.matches(path, places, Side::Any)).max();
        let all = all.map(|all| if found.deep { all.min(Truth::Maybe) } else { all });
        let folders = found.folders.iter().flat_map(|pair| [Some(pair.normal()), pair.resolved()]);
        let some = folders.flatten().any(|folder| {
            let folder = if found.around { around(folder, places) } else { folder };
            !folder.starts_with('/') || self.0.iter().any(|one| one.meets(found, folder, places))
        });
        all_or_some(all.unwrap_or(Truth::Maybe), some)
    }

    pub(super) fn resolve_bases(
        &mut self,
        places: &Places,
        resolve: &mut dyn FnMut(&str) -> Option<String>,
    ) {
        for alternative in &mut self.0 {
            alternative.base = alternative.literal_base(places).and_then(|base| {
                let resolved = normalise(&resolve(&base)?).into_owned();
                (resolved != base && resolved.starts_with('/')).then_some(resolved)
            });
        }
    }
}

impl Alternative {
    fn new(rooted: bool, segments: &[Segment], text: &str) -> Result<Self, Flaw> {
        let mut rest = segments;
        let anchor = match rest.split_first() {
            _ if rooted => Anchor::Root,
            Some((Segment::Deep, _)) => Anchor::Root,
            Some((Segment::Literal(name), after)) if name.starts_with('~') => {
                if **name != *"~" {
                    return Err(Flaw::new(
                        0..text.len(),
                        format!("`{name}` is the home of another user"),
                        "write the whole path; for a file with that name, `./~name`",
                    ));
                }
                rest = after;
                Anchor::Home
            }
            _ => Anchor::Project,
        };
        let mut up = 0;
        let mut kept: Vec<Segment> = Vec::new();
        for segment in rest {
            match segment {
                Segment::Literal(name) if **name == *"." => {}
                Segment::Literal(name) if **name == *".." => match kept.pop() {
                    Some(Segment::Literal(_)) => {}
                    Some(_) => {
                        return Err(Flaw::new(
                            0..text.len(),
                            "`..` after a wildcard leads to no certain place",
                            "write the path that is meant",
                        ));
                    }
                    None if anchor == Anchor::Root => {}
                    None => up += 1,
                },
                segment => kept.push(segment.clone()),
            }
        }
        let literal = kept.iter().take_while(|s| matches!(s, Segment::Literal(_))).count();
        Ok(Self { anchor, up, segments: kept, literal, base: None })
    }

    fn place<'a>(&self, places: &'a Places) -> Option<&'a Place> {
        match self.anchor {
            Anchor::Root => None,
            Anchor::Home => places.home.as_ref(),
            Anchor::Project => Some(&places.project),
        }
        .filter(|place| place.given.starts_with('/') && place.resolved.starts_with('/'))
    }

    fn matches(&self, path: &str, places: &Places, side: Side) -> Truth {
        let below = |folder: &str, segments| {
            under(path, folder).is_some_and(|p| segments_match(segments, p))
        };
        // Links inside the pattern count for deny and ask only: what an allow rule names can have
        // been replaced by a link since.
        if side == Side::Any
            && let Some(base) = &self.base
            && below(base, self.segments.get(self.literal..).unwrap_or_default())
        {
            return Truth::Yes;
        }
        if self.anchor == Anchor::Root {
            return below("/", &self.segments).into();
        }
        match self.place(places) {
            None => Truth::Maybe,
            Some(place) => [&place.given, &place.resolved]
                .into_iter()
                .any(|folder| below(above(folder, self.up), &self.segments))
                .into(),
        }
    }

    /// Whether a pattern of a command may find a file that matches.
    fn meets(&self, found: &Wildcard, folder: &str, places: &Places) -> bool {
        let behind = self.segments.get(self.literal..).unwrap_or_default();
        if self.base.as_ref().is_some_and(|base| found.meets(folder, base, behind)) {
            return true;
        }
        if self.anchor == Anchor::Root {
            return found.meets(folder, "/", &self.segments);
        }
        self.place(places).is_none_or(|place| {
            [&place.given, &place.resolved]
                .into_iter()
                .any(|base| found.meets(folder, above(base, self.up), &self.segments))
        })
    }

    /// The anchor and the plain names after it.
    fn literal_base(&self, places: &Places) -> Option<String> {
        let mut base = match self.anchor {
            Anchor::Root => String::new(),
            _ => above(&self.place(places)?.given, self.up).trim_end_matches('/').to_owned(),
        };
        for segment in self.segments.iter().take(self.literal) {
            if let Segment::Literal(name) = segment {
                base.push('/');
                base.push_str(name);
            }
        }
        (!base.is_empty()).then_some(base)
    }
}

/// A folder that holds the repository that a folder is in, wherever that begins: it is taken for
/// neither `/` nor the whole home folder, unless the folder is one of these itself.
fn around<'a>(folder: &'a str, places: &Places) -> &'a str {
    let homes = places.home.iter().flat_map(|home| [home.given(), home.resolved()]);
    let home = homes.filter_map(|home| Some((home.len(), under(folder, home)?))).max();
    let (base, rest) = match home {
        Some((length, rest)) if length > 1 => (length, rest),
        _ => (0, folder.trim_start_matches('/')),
    };
    let first = rest.split('/').next().unwrap_or_default().len();
    folder.get(..base + usize::from(first > 0) + first).filter(|f| !f.is_empty()).unwrap_or("/")
}

/// The folder so many levels above another one, both in normal form.
fn above(folder: &str, levels: usize) -> &str {
    let mut folder = folder;
    for _ in 0..levels {
        folder = match folder.rfind('/') {
            Some(0) | None => "/",
            Some(at) => folder.get(..at).unwrap_or("/"),
        };
    }
    folder
}

/// The path from a folder to something in it, `""` for the folder itself; both in normal form.
fn under<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    if folder == "/" {
        return path.strip_prefix('/');
    }
    match path.strip_prefix(folder)? {
        "" => Some(""),
        rest => rest.strip_prefix('/'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn places() -> Places {
        Places {
            project: Place::with_resolved("/home/u/p", "/data/u/p"),
            home: Some(Place::with_resolved("/home/u", "/data/u")),
            cwd: "/home/u/p/sub".into(),
        }
    }

    fn matches(pattern: &str, path: &str) -> Truth {
        let pattern = PathPattern::parse(pattern).unwrap();
        pattern.matches(&PathPair::lexical(path), &places(), Side::Any)
    }

    #[test]
    fn normal_forms() {
        for (path, normal) in [
            ("/a/b", "/a/b"),
            ("/", "/"),
            ("//a///b//", "/a/b"),
            ("/a/./b/.", "/a/b"),
            ("/a/../b", "/b"),
            ("/../../a", "/a"),
            ("/a/b/../..", "/"),
            ("a/../../b", "../b"),
            ("a/..", "."),
            ("", "."),
            ("/a/...", "/a/..."),
        ] {
            assert_eq!(normalise(path), normal, "{path}");
        }
    }

    #[test]
    fn a_pattern_is_anchored_by_how_it_starts() {
        for (pattern, path, expected) in [
            ("src/**", "/home/u/p/src/a.rs", true),
            ("src/**", "/data/u/p/src/a.rs", true),
            ("src/**", "/home/u/p/src", true),
            ("src/**", "/home/u/p/pkg/src/a.rs", false),
            ("src/**", "/home/u/p/srcs", false),
            ("**/src/**", "/home/u/p/pkg/src/a.rs", true),
            ("**/.env", "/home/u/p/.env", true),
            ("**/.env", "/.env", true),
            ("**/.env", "/x/.env.local", false),
            (".env", "/home/u/p/.env", true),
            (".env", "/home/u/p/sub/.env", false),
            ("*.rs", "/home/u/p/.hidden.rs", true),
            ("~/.ssh/**", "/home/u/.ssh/id", true),
            ("~/.ssh/**", "/data/u/.ssh/id", true),
            ("~", "/home/u", true),
            ("~", "/home/u/a", false),
            ("./~x", "/home/u/p/~x", true),
            ("/etc/*", "/etc/passwd", true),
            ("/etc/*", "/etc/ssh/key", false),
            ("//etc/./x/../*", "/etc/passwd", true),
            ("../q/**", "/home/u/q/a", true),
            ("../q/**", "/data/u/q/a", true),
            ("../../../../../x", "/x", true),
            ("{/etc,~/.ssh,lib}/**", "/etc/a", true),
            ("{/etc,~/.ssh,lib}/**", "/home/u/.ssh/a", true),
            ("{/etc,~/.ssh,lib}/**", "/home/u/p/lib/a", true),
            ("app/(group)/[[]slug]/*", "/home/u/p/app/(group)/[slug]/x", true),
            ("/**", "/", true),
            ("/A", "/a", false),
        ] {
            assert_eq!(matches(pattern, path), expected.into(), "{pattern} {path}");
        }
    }

    #[test]
    fn patterns_that_lead_nowhere_certain_are_refused() {
        for pattern in ["~root/x", "*/../x", "src/**.rs", "a\0b", "{~root/a,b}"] {
            assert!(PathPattern::parse(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn either_form_counts_for_deny_and_both_for_allow() {
        let pattern = PathPattern::parse("/secret/**").unwrap();
        let linked = PathPair::new("/home/u/link").with_resolved("/secret/key");
        let unknown = PathPair::new("/home/u/link");
        let there = PathPair::new("/secret/../secret/key");
        for (path, any, every) in [
            (&linked, Truth::Yes, Truth::No),
            (&unknown, Truth::Maybe, Truth::No),
            (&there, Truth::Yes, Truth::Maybe),
            (&PathPair::lexical("/secret/key"), Truth::Yes, Truth::Yes),
            (&PathPair::lexical("/open"), Truth::No, Truth::No),
            (&PathPair::lexical("relative"), Truth::Maybe, Truth::Maybe),
        ] {
            assert_eq!(pattern.matches(path, &places(), Side::Any), any, "{path:?}");
            assert_eq!(pattern.matches(path, &places(), Side::Every), every, "{path:?}");
        }
    }

    #[test]
    fn a_link_in_a_pattern_is_followed_for_deny_and_not_for_allow() {
        let mut pattern = PathPattern::parse("{/bin,vault}/**").unwrap();
        pattern.resolve_bases(&places(), &mut |path| match path {
            "/bin" => Some("/usr/bin".into()),
            "/home/u/p/vault" => Some("/mnt/vault".into()),
            _ => None,
        });
        for path in ["/usr/bin/sh", "/mnt/vault/key", "/bin/sh"] {
            let truth = pattern.matches(&PathPair::lexical(path), &places(), Side::Any);
            assert_eq!(truth, Truth::Yes, "{path}");
        }
        let outside = PathPair::lexical("/mnt/vault/key");
        assert_eq!(pattern.matches(&outside, &places(), Side::Every), Truth::No);
    }

    #[test]
    fn without_a_home_its_patterns_may_match_anything() {
        let pattern = PathPattern::parse("~/.ssh/**").unwrap();
        let places = Places { home: None, ..places() };
        let path = PathPair::lexical("/root/.ssh/id");
        assert_eq!(pattern.matches(&path, &places, Side::Any), Truth::Maybe);
    }

    #[test]
    fn a_path_in_an_input_is_taken_from_the_cwd() {
        let given = |path| {
            let pairs = places().pairs(path)?;
            Some(pairs.iter().map(|pair| pair.normal().to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(given("a/../b").unwrap(), ["/home/u/p/sub/b"]);
        assert_eq!(given("/x").unwrap(), ["/x"]);
        assert_eq!(given("~/.ssh").unwrap(), ["/home/u/p/sub/~/.ssh", "/home/u/.ssh"]);
        assert_eq!(given("~").unwrap(), ["/home/u/p/sub/~", "/home/u"]);
        assert_eq!(given("~$doc").unwrap(), ["/home/u/p/sub/~$doc"]);
        for path in ["", "a\0b", "~root/.bashrc"] {
            assert_eq!(given(path), None, "{path}");
        }
        let nowhere = Places { cwd: String::new(), ..places() };
        assert_eq!(nowhere.pairs("a"), None);
        assert!(nowhere.pairs("/a").is_some());
    }

    proptest! {
        #[test]
        fn a_normal_form_is_its_own_normal_form(path in "[a./]{0,16}|\\PC{0,8}") {
            let once = normalise(&path).into_owned();
            prop_assert_eq!(normalise(&once).into_owned(), once.clone());
            prop_assert_eq!(once.starts_with('/'), path.starts_with('/'));
            if path.starts_with('/') {
                prop_assert!(is_normal(&once));
            }
        }
    }
}
