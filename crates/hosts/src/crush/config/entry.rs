//! One entry of an event's list: its keys read, and made a hook.
//!
//! Crush's keys are `name`, `matcher`, `command` and `timeout`. Two more are tenter's, which Crush
//! passes over: `on_failure` and `include_sub_agents`. An entry in the nested form of Claude's is
//! read as the entries in it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use serde_json::Value;
use tenter_core::contract::OnFailure;
use tenter_core::event::EventKind;
use tenter_core::hook::{Command, CommandLine, Cwd, Handler, Hook, Leftovers, Scope};
use tenter_core::matcher::Matcher;
use tenter_core::suggest::nearest;

use super::{Reader, matcher};
use crate::config::{Entry, Part};
use crate::json_file::{Member, Node};

/// The keys of an entry.
const KEYS: [&str; 6] =
    ["name", "matcher", "command", "timeout", "on_failure", "include_sub_agents"];

/// Where an entry stands.
pub(super) struct Place<'a> {
    /// The key of its event, as written.
    pub(super) event: &'a str,
    pub(super) kind: EventKind,
    pub(super) pointer: String,
    pub(super) index: usize,
}

impl Place<'_> {
    /// The entry in messages.
    fn shown(&self) -> String {
        format!("`hooks.{}[{}]`", self.event, self.index)
    }
}

/// What an entry says, as far as it could be read.
#[derive(Default)]
struct Draft {
    name: Option<String>,
    matcher: Option<Matcher>,
    command: Option<String>,
    timeout: Option<Duration>,
    on_failure: Option<OnFailure>,
    include_sub_agents: bool,
}

impl Reader<'_> {
    pub(super) fn read_entry(
        &mut self,
        node: &Node<'_>,
        place: &Place<'_>,
        entries: &mut Vec<Entry>,
    ) {
        let Some(members) = node.members() else {
            let what = place.shown();
            let mut entry = self.not_what_it_should_be(node, &what, "an object", &place.pointer);
            entry.hook.events = vec![place.kind.clone()];
            entries.push(entry);
            return;
        };
        let nested = members.iter().find(|one| one.key == "hooks");
        if let Some(inner) = nested.and_then(|one| one.value.items()) {
            return self.read_nested(&members, &inner, place, entries);
        }
        let mark = self.said.mark();
        let mut draft = Draft::default();
        self.read_members(&members, place, &mut draft);
        self.need_command(&members, node.span(), place, &draft);
        entries.push(self.finish_entry(node.span(), &members, &[], place, draft, mark));
    }

    /// Claude's form: a matcher and a list of commands.
    fn read_nested(
        &mut self,
        outer: &[Member<'_>],
        inner: &[Node<'_>],
        place: &Place<'_>,
        entries: &mut Vec<Entry>,
    ) {
        let outer: Vec<_> = outer.iter().filter(|one| one.key != "hooks").cloned().collect();
        for (at, node) in inner.iter().enumerate() {
            let pointer = format!("{}/hooks/{at}", place.pointer);
            let inner = Place { event: place.event, kind: place.kind.clone(), pointer, ..*place };
            let mark = self.said.mark();
            let Some(members) = node.members() else {
                let what = format!("a hook of {}", inner.shown());
                let mut entry =
                    self.not_what_it_should_be(node, &what, "an object", &inner.pointer);
                entry.hook.events = vec![inner.kind.clone()];
                entries.push(entry);
                continue;
            };
            let mut draft = Draft::default();
            self.read_members(&outer, &inner, &mut draft);
            let of_command: Vec<_> =
                members.iter().filter(|one| one.key != "type").cloned().collect();
            let other = members
                .iter()
                .find(|one| one.key == "type" && one.value.as_str().as_deref() != Some("command"));
            if let Some(other) = other {
                self.said.error(
                    "hook.unknown-handler",
                    other.value.span(),
                    format!("{} has a `type` other than \"command\"", inner.shown()),
                    "only commands can be run",
                );
            } else {
                self.read_members(&of_command, &inner, &mut draft);
                self.need_command(&of_command, node.span(), &inner, &draft);
            }
            entries.push(self.finish_entry(node.span(), &members, &outer, &inner, draft, mark));
        }
    }

    fn read_members(&mut self, members: &[Member<'_>], place: &Place<'_>, draft: &mut Draft) {
        for (at, member) in members.iter().enumerate() {
            if members.iter().skip(at + 1).any(|later| later.key == member.key) {
                self.said.warning(
                    "config.duplicate-key",
                    member.key_span.clone(),
                    format!("`{}` stands twice, and the last counts", member.key),
                    "keep one of them",
                );
                continue;
            }
            if member.value.is_null() && KEYS.contains(&member.key.as_str()) {
                continue;
            }
            match member.key.as_str() {
                "name" => draft.name = self.text(member, place),
                "command" => draft.command = self.command(member, place),
                "matcher" => draft.matcher = self.matcher(member, place),
                "timeout" => draft.timeout = self.timeout(member, place),
                "on_failure" => draft.on_failure = self.on_failure(member, place),
                "include_sub_agents" => match member.value.as_bool() {
                    Some(flag) => draft.include_sub_agents = flag,
                    None => self.wrong_type(member, place, "true or false"),
                },
                key => {
                    let help = match nearest(key, KEYS) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("an entry knows {}", KEYS.join(", ")),
                    };
                    let message = format!("`{key}` means nothing in {}", place.shown());
                    self.said.warning("hook.unknown-key", member.key_span.clone(), message, help);
                }
            }
        }
    }

    fn wrong_type(&mut self, member: &Member<'_>, place: &Place<'_>, expected: &str) {
        self.said.error(
            "config.wrong-type",
            member.value.span(),
            format!(
                "`{}` of {} is {}, and {expected} is expected",
                member.key,
                place.shown(),
                member.value.type_name()
            ),
            format!("write {expected}, or leave the key out"),
        );
    }

    fn text(&mut self, member: &Member<'_>, place: &Place<'_>) -> Option<String> {
        let text = member.value.as_str();
        if text.is_none() {
            self.wrong_type(member, place, "a text");
        }
        text.filter(|text| !text.is_empty())
    }

    fn command(&mut self, member: &Member<'_>, place: &Place<'_>) -> Option<String> {
        let command = self.text(member, place)?;
        if command.contains('\0') {
            self.said.error(
                "hook.no-command",
                member.value.span(),
                format!("the command of {} holds a NUL", place.shown()),
                "no shell can read it: take the NUL out",
            );
            return None;
        }
        Some(command)
    }

    /// Says so where there is no command and nothing was said about it yet.
    fn need_command(
        &mut self,
        members: &[Member<'_>],
        span: Range<usize>,
        place: &Place<'_>,
        draft: &Draft,
    ) {
        let member = members.iter().rev().find(|one| one.key == "command");
        let is_blank = |text: &String| text.trim().is_empty();
        let message = match (&draft.command, member) {
            (Some(command), _) if is_blank(command) => "the command of {} is blank",
            (Some(_), _) => return,
            (None, Some(member)) if member.value.as_str().is_some_and(|text| text.is_empty()) => {
                "the command of {} is empty"
            }
            (None, Some(member)) if !member.value.is_null() => return,
            _ => "{} has no `command`",
        };
        let span = member.map_or(span, |member| member.value.span());
        let help = r#"say what runs, as in "command": "./guard.sh""#;
        self.said.error("hook.no-command", span, message.replace("{}", &place.shown()), help);
    }

    fn matcher(&mut self, member: &Member<'_>, place: &Place<'_>) -> Option<Matcher> {
        let Some(pattern) = member.value.as_str() else {
            self.wrong_type(member, place, "a text");
            return None;
        };
        match matcher(&[&pattern]) {
            Ok(matcher) => Some(matcher),
            Err(error) => {
                let message =
                    format!("the matcher `{pattern}` of {}: {}", place.shown(), error.message);
                let help =
                    "a matcher is a regex, as in \"^(edit|write)$\"; \"*\" alone is every tool";
                self.said.error("hook.bad-regex", member.value.span(), message, help);
                None
            }
        }
    }

    /// Whole seconds. None, and anything below one, is the default.
    fn timeout(&mut self, member: &Member<'_>, place: &Place<'_>) -> Option<Duration> {
        if let Ok(seconds) = member.value.text().parse::<i64>() {
            return u64::try_from(seconds).ok().filter(|s| *s > 0).map(Duration::from_secs);
        }
        self.said.error(
            "hook.bad-duration",
            member.value.span(),
            format!(
                "the timeout of {} is `{}`, and a whole number of seconds is expected",
                place.shown(),
                member.value.text()
            ),
            "write it as in \"timeout\": 10",
        );
        None
    }

    fn on_failure(&mut self, member: &Member<'_>, place: &Place<'_>) -> Option<OnFailure> {
        let policy = match member.value.as_str().as_deref() {
            Some("block") => Some(OnFailure::Block),
            Some("ask") => Some(OnFailure::Ask),
            Some("allow") => Some(OnFailure::Allow),
            _ => None,
        };
        if policy.is_none() {
            self.wrong_type(member, place, "\"block\", \"ask\" or \"allow\"");
            // Somebody wanted this hook to be strict or not: strict is what harms nobody unseen.
            return Some(OnFailure::Block);
        }
        policy
    }

    fn finish_entry(
        &mut self,
        span: Range<usize>,
        members: &[Member<'_>],
        outer: &[Member<'_>],
        place: &Place<'_>,
        draft: Draft,
        mark: usize,
    ) -> Entry {
        let name = draft.name.or_else(|| draft.command.clone());
        let name = name.unwrap_or_else(|| format!("hooks.{}[{}]", place.event, place.index));
        let is_broken = self.said.errors_since(mark).next().is_some();
        let handler = match draft.command {
            Some(command) if !is_broken => Handler::Command(Box::new(Command {
                line: CommandLine::Shell(command),
                shell: None,
                env: Vec::new(),
                cwd: Cwd::Session,
                leftovers: Leftovers::Leave,
                scripts: Vec::new(),
                base: None,
            })),
            _ => self.said.broken(&name, mark),
        };
        let source = self.said.source(span.clone(), &place.pointer);
        let mut hook = Hook::new(name, source, vec![place.kind.clone()], handler);
        hook.matcher = draft.matcher.unwrap_or_default();
        hook.timeout = draft.timeout;
        hook.on_failure = draft.on_failure;
        hook.scope = if draft.include_sub_agents { Scope::All } else { Scope::Main };
        let text = canonical(&place.kind, outer, members);
        Entry { hook, part: Part::Hook, text, span }
    }
}

/// What an entry says, whatever its white space and the order of its keys, for trust.
fn canonical(kind: &EventKind, outer: &[Member<'_>], members: &[Member<'_>]) -> String {
    let mut all: BTreeMap<String, Value> = BTreeMap::new();
    for member in outer.iter().chain(members) {
        let value = serde_json::from_str(member.value.text()).map(sorted);
        // A number that no machine holds stands as it is written.
        all.insert(
            member.key.clone(),
            value.unwrap_or_else(|_| Value::String(member.value.text().to_owned())),
        );
    }
    all.insert("event".to_owned(), Value::String(kind.name().to_owned()));
    serde_json::to_string(&all).unwrap_or_default()
}

/// A value with the keys of its objects in order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let sorted_members: BTreeMap<_, _> =
                members.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            Value::Object(sorted_members.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}
