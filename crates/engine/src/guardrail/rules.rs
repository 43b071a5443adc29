//! Which calls and results are checked, and what a verdict or a failure of the checker means for them.
//!
//! Pure: reads a text, not a file.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use tenter_core::event::{EventKind, EventMask};
use tenter_core::units::parse_duration;

/// How long a check may take unless the rules say otherwise.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The tools that the standard rules name.
const STANDARD: &str = r#"
[[rule]]
match = "WebSearch"

[[rule]]
match = "WebFetch"
phases = ["post"]

[[rule]]
match = "mcp__*"

[[rule]]
match = "Bash"
phases = ["pre"]
"#;

/// When something is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before a tool runs: its input.
    Pre,
    /// After a tool has run: its result.
    Post,
}

impl Phase {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Pre, Self::Post];

    /// The word in files and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pre => "pre",
            Self::Post => "post",
        }
    }
}

/// What becomes of what a checker calls unsafe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A call needs a human's permission, a result is kept from the model.
    #[default]
    Block,
    /// The user is warned, and nothing changes.
    Advisory,
}

/// What becomes of what could not be checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenDown {
    /// It goes on, with a warning.
    #[default]
    Open,
    /// A call is denied, a result is kept from the model.
    Closed,
}

/// Which tools a rule is for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Tools {
    Named(String),
    Prefixed(String),
    All,
}

impl Tools {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| {
            Err(format!("`{text}` {why}; write a tool's name, its beginning with a `*`, or `*`"))
        };
        match text.strip_suffix('*').unwrap_or(text) {
            _ if text.trim() != text || text.is_empty() => wrong("names no tool"),
            before if before.contains('*') => wrong("has a `*` before its end"),
            "" => Ok(Self::All),
            before if before.len() < text.len() => Ok(Self::Prefixed(before.to_owned())),
            name => Ok(Self::Named(name.to_owned())),
        }
    }

    /// How closely a rule means a tool; `None` if it does not. A name is closer than any beginning, a
    /// longer beginning closer than a shorter one.
    fn closeness(&self, tool: &str) -> Option<usize> {
        match self {
            Self::Named(name) => (name == tool).then_some(usize::MAX),
            Self::Prefixed(prefix) => tool.starts_with(prefix.as_str()).then_some(prefix.len()),
            Self::All => Some(0),
        }
    }
}

impl fmt::Display for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Prefixed(prefix) => write!(f, "{prefix}*"),
            Self::All => f.write_str("*"),
        }
    }
}

impl<'de> Deserialize<'de> for Tools {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// Which tools are checked, when, and what comes of it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardrailRule {
    #[serde(rename = "match")]
    tools: Tools,
    #[serde(default)]
    phases: Vec<Phase>,
    #[serde(default)]
    mode: Mode,
    on_failure: Option<WhenDown>,
    rubric: Option<String>,
}

impl GuardrailRule {
    /// A rule that blocks, in both phases, for a tool's name, its beginning (`mcp__*`), or all (`*`).
    ///
    /// # Errors
    /// The text is none of these.
    pub fn new(tools: &str) -> Result<Self, GuardrailError> {
        let tools = Tools::parse(tools).map_err(GuardrailError)?;
        Ok(Self { tools, phases: Vec::new(), mode: Mode::Block, on_failure: None, rubric: None })
    }

    /// For one phase alone.
    #[must_use]
    pub fn only(mut self, phase: Phase) -> Self {
        self.phases = vec![phase];
        self
    }

    /// With what becomes of what the checker calls unsafe.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// With what becomes of what could not be checked, whatever the other rules say.
    #[must_use]
    pub fn on_failure(mut self, policy: WhenDown) -> Self {
        self.on_failure = Some(policy);
        self
    }

    /// With what the checker is to look for beside the usual.
    #[must_use]
    pub fn rubric(mut self, text: impl Into<String>) -> Self {
        self.rubric = Some(text.into());
        self
    }

    fn is_for(&self, phase: Phase) -> bool {
        self.phases.is_empty() || self.phases.contains(&phase)
    }
}

/// Why rules cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the rules of the guardrail are not valid: {0}")]
pub struct GuardrailError(String);

/// The rules of a guardrail.
///
/// Of the rules for a tool and a phase one counts: the closest, among equals the first. A tool without a
/// rule is not checked.
///
/// ```
/// use tenter::GuardrailRules;
///
/// let rules = GuardrailRules::parse(r#"
///     on_failure = "closed"
///
///     [[rule]]
///     match = "WebFetch"
///     phases = ["post"]
///
///     [[rule]]
///     match = "mcp__*"
///     mode = "advisory"
///     rubric = "Tickets may not hold customer names."
/// "#).unwrap();
/// assert!(!rules.is_empty());
///
/// let error = GuardrailRules::parse("[[rule]]\nmatch = \"a*b\"").unwrap_err();
/// assert!(error.to_string().contains("line 2, column 9"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardrailRules {
    #[serde(default)]
    on_failure: WhenDown,
    #[serde(default = "usual_timeout", deserialize_with = "duration")]
    timeout: Duration,
    #[serde(default, rename = "rule")]
    rules: Vec<GuardrailRule>,
}

fn usual_timeout() -> Duration {
    TIMEOUT
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_duration(&text)
        .map_err(|error| serde::de::Error::custom(format!("{error}; {}", error.help)))
}

/// What holds for one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terms<'a> {
    pub(super) mode: Mode,
    pub(super) on_failure: WhenDown,
    pub(super) rubric: Option<&'a str>,
}

impl Terms<'_> {
    /// Whether what could not be checked is held up. Advice holds nothing up.
    pub(super) fn is_closed(&self) -> bool {
        self.mode == Mode::Block && self.on_failure == WhenDown::Closed
    }
}

impl GuardrailRules {
    /// Reads rules: `on_failure` and `timeout` for all, and one `[[rule]]` each with `match`, `phases`,
    /// `mode`, `on_failure` and `rubric`.
    ///
    /// # Errors
    /// It is no TOML, has a key or a value that no rule has, or no rule at all. The error names line and
    /// column.
    pub fn parse(text: &str) -> Result<Self, GuardrailError> {
        let rules: Self = toml::from_str(text)
            .map_err(|error| GuardrailError(error.to_string().trim().into()))?;
        if rules.is_empty() {
            return Err(GuardrailError(
                "there is no `[[rule]]`, so nothing would be checked".into(),
            ));
        }
        Ok(rules)
    }

    /// Rules made in code, in their order. Without any, nothing is checked.
    pub fn of(rules: impl IntoIterator<Item = GuardrailRule>) -> Self {
        let rules = rules.into_iter().collect();
        Self { on_failure: WhenDown::Open, timeout: TIMEOUT, rules }
    }

    /// What fetches or sends: searches and servers of tools in both phases, what was fetched, and shell
    /// commands before they run.
    pub fn standard() -> Self {
        // The text is ours, and a test reads it.
        Self::parse(STANDARD).unwrap_or_else(|_| Self::of([]))
    }

    /// With what becomes of what could not be checked, where a rule does not say.
    #[must_use]
    pub fn on_failure(mut self, policy: WhenDown) -> Self {
        self.on_failure = policy;
        self
    }

    /// With the longest time a check may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Rules that never count, because one before them is for the same tools: a sentence for each.
    pub fn shadowed(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (at, rule) in self.rules.iter().enumerate() {
            let before = self.rules.get(..at).unwrap_or_default();
            let hides = |phase: &Phase| {
                before.iter().any(|other| other.tools == rule.tools && other.is_for(*phase))
            };
            let mut phases = Phase::ALL.into_iter().filter(|phase| rule.is_for(*phase));
            if phases.all(|phase| hides(&phase)) {
                let number = at + 1;
                found.push(format!(
                    "rule {number} for `{}` never counts: one before it is for the same tools",
                    rule.tools
                ));
            }
        }
        found
    }

    pub(super) fn most_time(&self) -> Duration {
        self.timeout
    }

    /// What holds for a tool in a phase; `None` if it is not checked.
    pub(super) fn terms(&self, tool: &str, phase: Phase) -> Option<Terms<'_>> {
        let mut best: Option<(usize, &GuardrailRule)> = None;
        for rule in self.rules.iter().filter(|rule| rule.is_for(phase)) {
            let Some(closeness) = rule.tools.closeness(tool) else { continue };
            if best.is_none_or(|(so_far, _)| closeness > so_far) {
                best = Some((closeness, rule));
            }
        }
        best.map(|(_, rule)| Terms {
            mode: rule.mode,
            on_failure: rule.on_failure.unwrap_or(self.on_failure),
            rubric: rule.rubric.as_deref(),
        })
    }

    /// The events that a rule may be for.
    pub(super) fn mask(&self) -> EventMask {
        let has = |phase| self.rules.iter().any(|rule| rule.is_for(phase));
        let mut mask = EventMask::EMPTY;
        if has(Phase::Pre) {
            mask = mask.with(&EventKind::PreToolUse);
        }
        if has(Phase::Post) {
            mask = mask.with(&EventKind::PostToolUse).with(&EventKind::PostToolUseFailure);
        }
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rules(matches: &[&str]) -> GuardrailRules {
        let rule = |(at, text): (usize, &&str)| {
            GuardrailRule::new(text).unwrap().rubric(format!("{at} {text}"))
        };
        GuardrailRules::of(matches.iter().enumerate().map(rule))
    }

    fn chosen(rules: &GuardrailRules, tool: &str) -> Option<String> {
        Some(rules.terms(tool, Phase::Pre)?.rubric?.to_owned())
    }

    #[test]
    fn k122_the_closest_rule_counts_and_among_equals_the_first() {
        for (matches, tool, expected) in [
            (&["*", "mcp__*", "mcp__a"][..], "mcp__a", Some("2 mcp__a")),
            (&["mcp__a", "mcp__*", "*"], "mcp__a", Some("0 mcp__a")),
            (&["m*", "mcp__*", "mc*"], "mcp__b", Some("1 mcp__*")),
            (&["mcp__*", "*"], "Bash", Some("1 *")),
            (&["mcp__*"], "Bash", None),
            (&["mcp__*"], "mcp__", Some("0 mcp__*")),
            (&["Bash", "Bash"], "Bash", Some("0 Bash")),
            (&["*", "*"], "Bash", Some("0 *")),
            (&["bash"], "Bash", None),
        ] {
            assert_eq!(chosen(&rules(matches), tool).as_deref(), expected, "{matches:?}: {tool}");
        }
    }

    #[test]
    fn a_rule_for_another_phase_says_nothing() {
        let rules = GuardrailRules::of([
            GuardrailRule::new("WebFetch").unwrap().only(Phase::Post),
            GuardrailRule::new("*").unwrap().only(Phase::Pre).mode(Mode::Advisory),
        ]);
        assert_eq!(rules.terms("WebFetch", Phase::Pre).unwrap().mode, Mode::Advisory);
        assert_eq!(rules.terms("WebFetch", Phase::Post).unwrap().mode, Mode::Block);
        assert_eq!(rules.terms("Bash", Phase::Post), None);
    }

    #[test]
    fn k120_what_a_rule_says_of_failures_counts_before_what_all_say() {
        let text = "on_failure = \"closed\"\n[[rule]]\nmatch = \"a\"\n[[rule]]\nmatch = \"b\"\n\
                    on_failure = \"open\"\n[[rule]]\nmatch = \"c\"\nmode = \"advisory\"";
        let rules = GuardrailRules::parse(text).unwrap();
        let closed = |tool| rules.terms(tool, Phase::Pre).unwrap().is_closed();
        assert_eq!((closed("a"), closed("b"), closed("c")), (true, false, false));
        let strict = GuardrailRule::new("a").unwrap().on_failure(WhenDown::Closed);
        let rules = GuardrailRules::of([strict, GuardrailRule::new("b").unwrap()]);
        assert!(rules.terms("a", Phase::Pre).unwrap().is_closed());
        assert!(!rules.terms("b", Phase::Pre).unwrap().is_closed());
    }

    #[test]
    fn the_standard_rules_check_what_fetches_and_sends() {
        let rules = GuardrailRules::standard();
        let checked = |tool: &str| Phase::ALL.map(|phase| rules.terms(tool, phase).is_some());
        for (tool, expected) in [
            ("WebSearch", [true, true]),
            ("WebFetch", [false, true]),
            ("mcp__tracker__search", [true, true]),
            ("Bash", [true, false]),
            ("Read", [false, false]),
        ] {
            assert_eq!(checked(tool), expected, "{tool}");
        }
        assert!(rules.shadowed().is_empty());
        assert_eq!(rules.most_time(), Duration::from_secs(30));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, part) in [
            ("[[rule]]\nmatch = \"a*b\"", "line 2, column 9"),
            ("[[rule]]\nmatch = \"\"", "names no tool"),
            ("[[rule]]\nmatch = \" Bash\"", "names no tool"),
            ("[[rule]]\nmatch = \"**\"", "before its end"),
            ("[[rule]]\nmatch = \"a\"\nmod = \"block\"", "unknown field `mod`"),
            ("[[rule]]\nmatch = \"a\"\nmode = \"sanitize\"", "line 3, column 8"),
            ("[[rule]]\nmatch = \"a\"\nphases = [\"during\"]", "`pre` or `post`"),
            ("[[rule]]\nphases = [\"pre\"]", "missing field `match`"),
            ("timeout = \"30\"\n[[rule]]\nmatch = \"a\"", "line 1, column 11"),
            ("on_failure = \"closed\"", "no `[[rule]]`"),
            ("[rule", "line 1"),
        ] {
            let error = GuardrailRules::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_rule_that_never_counts_is_told() {
        let of = |text: &str| GuardrailRules::parse(text).unwrap().shadowed();
        let twice = "[[rule]]\nmatch = \"a*\"\n[[rule]]\nmatch = \"a*\"\nmode = \"advisory\"";
        assert_eq!(
            of(twice),
            ["rule 2 for `a*` never counts: one before it is for the same tools"]
        );
        let apart = "[[rule]]\nmatch = \"a\"\nphases = [\"pre\"]\n[[rule]]\nmatch = \"a\"";
        assert!(of(apart).is_empty(), "it counts after the tool");
    }

    #[test]
    fn the_mask_has_what_rules_are_for() {
        let rule = |text: &str| GuardrailRule::new(text).unwrap();
        let mask = |rules: Vec<GuardrailRule>| GuardrailRules::of(rules).mask();
        assert!(mask(vec![]).is_empty());
        let pre = mask(vec![rule("a").only(Phase::Pre)]);
        assert!(pre.contains(&EventKind::PreToolUse) && !pre.contains(&EventKind::PostToolUse));
        let both = mask(vec![rule("a")]);
        assert!(
            both.contains(&EventKind::PreToolUse) && both.contains(&EventKind::PostToolUseFailure)
        );
    }

    proptest! {
        /// A slow second implementation: sort by closeness, stable.
        #[test]
        fn the_choice_is_that_of_sorting(
            matches in prop::collection::vec("[ab]{0,3}\\*|[ab]{1,3}", 0..6),
            tool in "[ab]{1,4}",
        ) {
            let texts: Vec<&str> = matches.iter().map(String::as_str).collect();
            let mut fitting: Vec<(usize, &&str)> = texts.iter().enumerate().filter(|(_, text)| {
                match text.strip_suffix('*') {
                    Some(prefix) => tool.starts_with(prefix),
                    None => **text == tool,
                }
            }).collect();
            fitting.sort_by_key(|(_, text)| match text.strip_suffix('*') {
                Some(prefix) => (1, usize::MAX - prefix.len()),
                None => (0, 0),
            });
            let expected = fitting.first().map(|(at, text)| format!("{at} {text}"));
            prop_assert_eq!(chosen(&rules(&texts), &tool), expected);
        }
    }
}
