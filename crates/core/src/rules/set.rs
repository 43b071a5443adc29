//! What a set of allow, ask and deny rules decides about a call.
//!
//! Deny before ask before allow, whatever the level: an allow beats no deny and no ask. A deny or
//! ask that may match is an ask, an allow that may match is nothing. So a rule of a lower level can
//! hold a call up, never let one through that a rule holds up.

use std::fmt;
use std::sync::Arc;

use super::{Call, Paths, Rule, SHELL, Truth};
use crate::hook::Level;
use crate::verdict::Decision;

/// Rules of all levels, in order of authority and then as they stand in their files.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    deny: Vec<Entry>,
    ask: Vec<Entry>,
    allow: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    rule: Rule,
    level: Level,
    source: Arc<str>,
}

/// What the rules say about a call, and which of them says it.
#[derive(Debug, Clone)]
pub struct Ruling<'a> {
    /// Deny, ask or allow.
    pub decision: Decision,
    /// The list that the rule stands in. A deny rule that may match gives an ask.
    pub list: Decision,
    /// The rule.
    pub rule: &'a Rule,
    /// Its level. Of an allow that took several rules, the lowest.
    pub level: Level,
    /// Where it stands.
    pub source: &'a str,
    /// How certain it is that the rule matches.
    pub truth: Truth,
    /// Why it is not certain; empty if it is.
    pub why: &'static str,
}

impl fmt::Display for Ruling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { list, rule, level, source, why, .. } = self;
        let (list, level) = (list.as_str(), level.as_str());
        match self.truth {
            Truth::Yes => write!(f, "the {level} {list} rule `{rule}` matches")?,
            _ => write!(f, "the {level} {list} rule `{rule}` may match: {why}")?,
        }
        if source.is_empty() { Ok(()) } else { write!(f, " ({source})") }
    }
}

impl RuleSet {
    /// A set without rules.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a deny rule. `source` says where it stands, for messages.
    pub fn add_deny(&mut self, rule: Rule, level: Level, source: impl Into<Arc<str>>) {
        insert(&mut self.deny, Entry { rule, level, source: source.into() });
    }

    /// Adds an ask rule. `source` says where it stands, for messages.
    pub fn add_ask(&mut self, rule: Rule, level: Level, source: impl Into<Arc<str>>) {
        insert(&mut self.ask, Entry { rule, level, source: source.into() });
    }

    /// Adds an allow rule. `source` says where it stands, for messages.
    pub fn add_allow(&mut self, rule: Rule, level: Level, source: impl Into<Arc<str>>) {
        insert(&mut self.allow, Entry { rule, level, source: source.into() });
    }

    /// Adds the rules of another set, each behind those of its level.
    pub fn extend(&mut self, other: Self) {
        for (list, more) in [
            (&mut self.deny, other.deny),
            (&mut self.ask, other.ask),
            (&mut self.allow, other.allow),
        ] {
            for entry in more {
                insert(list, entry);
            }
        }
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.deny.is_empty() && self.ask.is_empty() && self.allow.is_empty()
    }

    /// How many rules there are.
    pub fn len(&self) -> usize {
        self.deny.len() + self.ask.len() + self.allow.len()
    }

    /// The rules with the list they stand in, deny first.
    pub fn iter(&self) -> impl Iterator<Item = (Decision, &Rule, Level, &str)> {
        [(Decision::Deny, &self.deny), (Decision::Ask, &self.ask), (Decision::Allow, &self.allow)]
            .into_iter()
            .flat_map(|(list, entries)| {
                entries.iter().map(move |e| (list, &e.rule, e.level, &*e.source))
            })
    }

    /// Whether any rule could concern a call of this tool.
    pub fn could_match(&self, tool: &str) -> bool {
        self.iter().any(|(_, rule, _, _)| rule.could_match(tool))
    }

    /// Whether any deny or ask rule could concern a call of this tool.
    pub fn could_restrict(&self, tool: &str) -> bool {
        self.deny.iter().chain(&self.ask).any(|entry| entry.rule.could_match(tool))
    }

    /// Resolves the links in the rules' own paths, see [`Rule::resolve_bases`].
    pub fn resolve_bases(
        &mut self,
        places: &super::Places,
        resolve: &mut dyn FnMut(&str) -> Option<String>,
    ) {
        for entry in self.deny.iter_mut().chain(&mut self.ask) {
            entry.rule.resolve_bases(places, resolve);
        }
    }

    /// What the rules decide; `None` if they have no say.
    ///
    /// Of several rules that lead to one decision, the one of the highest level names it, then deny
    /// before ask, then the first in its file.
    pub fn judge(&self, call: &Call<'_>) -> Option<Ruling<'_>> {
        let restricting = strictest(rulings(&self.deny, Decision::Deny, call).chain(rulings(
            &self.ask,
            Decision::Ask,
            call,
        )));
        restricting.or_else(|| self.allowed(call))
    }

    /// What the deny rules alone decide: the step before hooks are asked. A deny that only may
    /// match is an ask here too, and can wait for the hooks.
    pub fn deny_only(&self, call: &Call<'_>) -> Option<Ruling<'_>> {
        strictest(rulings(&self.deny, Decision::Deny, call))
    }

    /// The allow of a call all of whose paths are allowed, be it by different rules.
    fn allowed(&self, call: &Call<'_>) -> Option<Ruling<'_>> {
        let first = |covers: &dyn Fn(&Rule) -> Truth| {
            self.allow.iter().find(|entry| covers(&entry.rule) == Truth::Yes)
        };
        let entry = match call.paths {
            _ if call.tool == SHELL => self.allowed_in_shell(call),
            Paths::Known(paths @ [_, ..]) => {
                let entries: Option<Vec<_>> =
                    paths.iter().map(|path| first(&|rule| rule.covers_path(call, path))).collect();
                // Of equal levels the first: `max_by_key` would take the last.
                entries?.into_iter().rev().max_by_key(|entry| entry.level)
            }
            _ => first(&|rule| rule.covers(call)),
        }?;
        Some(Ruling {
            decision: Decision::Allow,
            list: Decision::Allow,
            rule: &entry.rule,
            level: entry.level,
            source: &entry.source,
            truth: Truth::Yes,
            why: "",
        })
    }
}

impl RuleSet {
    /// The allow of a shell call: of all of it by a rule without a pattern, or of each command and
    /// each file that is written, be it by different rules. Nothing in it may be unknown.
    fn allowed_in_shell(&self, call: &Call<'_>) -> Option<&Entry> {
        let first =
            |covers: &dyn Fn(&Rule) -> bool| self.allow.iter().find(|entry| covers(&entry.rule));
        if let Some(entry) = first(&|rule| rule.covers(call) == Truth::Yes) {
            return Some(entry);
        }
        let shell = call.shell?;
        if shell.has_unknowns()
            || shell.changes_names()
            || shell.dials()
            || shell.commands().is_empty()
        {
            return None;
        }
        let commands = shell
            .commands()
            .iter()
            .map(|command| first(&|rule| rule.covers_command(call, command)));
        let writes = shell.writes().iter().map(|file| first(&|rule| rule.covers_write(call, file)));
        let entries: Option<Vec<_>> = commands.chain(writes).collect();
        // Of equal levels the first: `max_by_key` would take the last.
        entries?.into_iter().rev().max_by_key(|entry| entry.level)
    }
}

/// Puts an entry behind those of its level and above.
fn insert(list: &mut Vec<Entry>, entry: Entry) {
    let at = list.partition_point(|other| other.level <= entry.level);
    list.insert(at, entry);
}

fn rulings<'a>(
    entries: &'a [Entry],
    list: Decision,
    call: &Call<'_>,
) -> impl Iterator<Item = Ruling<'a>> {
    entries.iter().filter_map(move |Entry { rule, level, source }| {
        let truth = rule.matches(call);
        let decision = match truth {
            Truth::No => return None,
            Truth::Maybe => Decision::Ask,
            Truth::Yes => list,
        };
        let why = if truth == Truth::Maybe { rule.doubt(call) } else { "" };
        Some(Ruling { decision, list, rule, level: *level, source, truth, why })
    })
}

/// The strictest ruling; of equal ones that of the highest level, then the first.
fn strictest<'a>(rulings: impl Iterator<Item = Ruling<'a>>) -> Option<Ruling<'a>> {
    rulings.reduce(|best, next| {
        let stricter = next.decision > best.decision
            || (next.decision == best.decision && next.level < best.level);
        if stricter { next } else { best }
    })
}
