//! What of a host's file that host would not do as it was probably meant.

use tenter_core::diagnostic::{Diagnostic, Position};
use tenter_core::event::EventKind;
use tenter_core::suggest::nearest;

use super::{Entry, HostFile, Text};
use crate::bridge::{Bridge, EventRow};
use crate::install::{Form, Install, Unit};

/// Tools that most hosts have, under the names that rules use.
const TOOLS: [&str; 9] =
    ["Bash", "Read", "Write", "Edit", "Glob", "Grep", "WebFetch", "WebSearch", "Agent"];

/// A time in seconds above this, or in milliseconds below the other, is another unit.
const MANY_SECONDS: u64 = 3_600;
const FEW_MILLISECONDS: u64 = 1_000;

/// What is wrong with a file of this host. `name` is what the user calls the file.
pub fn lint(bridge: &Bridge, file: &HostFile, name: &str, text: &str) -> Vec<Diagnostic> {
    let Some(install) = &bridge.install else { return Vec::new() };
    let linter = Linter { bridge, install, name, text };
    let mut found = linter.top(file);
    for event in &file.events {
        found.extend(linter.event(event));
    }
    for (at, entry) in file.entries.iter().enumerate().filter(|(_, entry)| !entry.is_ours) {
        found.extend(linter.shape(entry));
        found.extend(linter.time(entry));
        found.extend(linter.matcher(entry));
        found.extend(linter.exit(entry));
        let before = file.entries.get(..at).unwrap_or_default();
        found.extend(linter.duplicate(entry, before));
    }
    found
}

/// The scripts that entries name by a path: the word, and where it stands.
pub fn scripts(file: &HostFile) -> Vec<Text> {
    let words = file.entries.iter().filter(|entry| !entry.is_ours).filter_map(|entry| {
        let command = entry.command.as_ref()?;
        let word = command.text.split_whitespace().next()?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@~".contains(c);
        let is_path = word.contains('/') && word.chars().all(is_plain);
        is_path.then(|| Text { text: word.to_owned(), span: command.span.clone() })
    });
    words.collect()
}

struct Linter<'a> {
    bridge: &'a Bridge,
    install: &'a Install,
    name: &'a str,
    text: &'a str,
}

impl Linter<'_> {
    fn at(&self, what: &Text) -> Position {
        Position::of(self.name, self.text, what.span.clone())
    }

    fn top(&self, file: &HostFile) -> Vec<Diagnostic> {
        // A file that is hooks alone: what else stands there voids it.
        let Some(known) = self.bridge.only_top_keys else { return Vec::new() };
        let strange = file.top.iter().filter(|key| !known.contains(&key.text.as_str()));
        strange
            .map(|key| {
                let title = self.bridge.title;
                let what = format!("{title} refuses a file with `{}` at its top", key.text);
                Diagnostic::error("host.refused-file", what)
                    .help(format!("it takes {} alone", known.join(" and ")))
                    .at(self.at(key))
            })
            .collect()
    }

    fn event(&self, event: &Text) -> Option<Diagnostic> {
        let rows = self.bridge.events;
        if rows.iter().any(|row| row.own == event.text) {
            return None;
        }
        let title = self.bridge.title;
        let kind = crate::names::event_kind(&event.text);
        let same = kind.and_then(|kind| rows.iter().find(|row| row.kind() == kind));
        let near = || nearest(&event.text, rows.iter().map(|row| row.own));
        let help = match (same, near()) {
            (Some(row), _) => format!("{title} calls it `{}`", row.own),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => format!("it has {}", names(rows)),
        };
        let what = format!("{title} has no event `{}`, so these entries never run", event.text);
        Some(Diagnostic::error("host.unknown-event", what).help(help).at(self.at(event)))
    }

    fn shape(&self, entry: &Entry) -> Option<Diagnostic> {
        let title = self.bridge.title;
        let whole = Text { text: String::new(), span: entry.span.clone() };
        if entry.is_misplaced {
            let (code, what, help) = if self.install.form == Form::Groups {
                (
                    "host.flat",
                    format!("{title} reads groups here, so this entry never runs"),
                    "put it into a group: { \"hooks\": [ … ] }",
                )
            } else {
                (
                    "host.nested",
                    format!("{title} reads commands here, so this group never runs"),
                    "write each command as an entry of its own",
                )
            };
            return Some(Diagnostic::error(code, what).help(help).at(self.at(&whole)));
        }
        let has = |key: &str| entry.keys.iter().any(|one| one.text == key);
        let is_other = ["url", "prompt", "exec", "server", "powershell"].iter().any(|key| has(key));
        if entry.command.is_none() && !is_other {
            let what = "this entry has no command, so it never runs";
            return Some(Diagnostic::error("host.no-command", what).at(self.at(&whole)));
        }
        None
    }

    fn time(&self, entry: &Entry) -> Option<Diagnostic> {
        let time = entry.timeout.as_ref()?;
        let title = self.bridge.title;
        if self.text.get(time.span.clone()).is_some_and(|text| text.starts_with('"')) {
            let what = format!("{title} wants a number here, and this is a text");
            return Some(Diagnostic::error("host.timeout-type", what).at(self.at(time)));
        }
        let count = time.text.parse::<u64>().ok()?;
        let (what, help) = match self.install.unit {
            Unit::Seconds if count > MANY_SECONDS => (
                format!("{title} counts seconds: this is {} hours", count / 3_600),
                format!("write {} for {} s", count.div_ceil(1_000), count.div_ceil(1_000)),
            ),
            Unit::Milliseconds if count < FEW_MILLISECONDS => (
                format!("{title} counts milliseconds: this hook is ended after {count} ms"),
                format!("write {} for {count} s", count.saturating_mul(1_000)),
            ),
            _ => return None,
        };
        Some(Diagnostic::warning("host.timeout-unit", what).help(help).at(self.at(time)))
    }

    fn matcher(&self, entry: &Entry) -> Option<Diagnostic> {
        let matcher = entry.matcher.as_ref()?;
        if !self.row(entry).is_some_and(|row| is_about_tools(&row.kind())) {
            return None;
        }
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words: Vec<&str> = matcher.text.split('|').collect();
        let is_plain = |word: &&str| !word.is_empty() && word.chars().all(is_letter);
        if !words.iter().all(is_plain) {
            return None;
        }
        let own = |word: &str| {
            let rows = self.bridge.tools.rows;
            let is_same = |name: &str| name.eq_ignore_ascii_case(word);
            let row = rows.iter().find(|row| is_same(row.own)).or_else(|| {
                rows.iter().find(|row| row.canonical != row.own && is_same(row.canonical))
            });
            match row {
                Some(row) => Some(row.own),
                None => TOOLS.into_iter().find(|tool| is_same(tool)),
            }
        };
        // A word that stands for no tool that is known may be one of a tool server.
        let named: Vec<&str> = words.iter().filter_map(|word| own(word)).collect();
        if named.len() != words.len() || named == words {
            return None;
        }
        let title = self.bridge.title;
        let what = format!("{title} has no tool of this name, so this entry never runs");
        let help = format!("it calls it `{}`", named.join("|"));
        Some(Diagnostic::error("host.matcher-never", what).help(help).at(self.at(matcher)))
    }

    fn exit(&self, entry: &Entry) -> Option<Diagnostic> {
        let command = entry.command.as_ref()?;
        let row = self.row(entry)?;
        let has = |code: &str| command.text.contains(code);
        let is_guard = row.kind() == EventKind::PreToolUse && has("exit 1") && !has("exit 2");
        // Copilot 1.0.102 takes every failure for a no.
        let is_closed = self.install.closed == crate::install::Closed::Itself;
        if !is_guard || is_closed {
            return None;
        }
        let title = self.bridge.title;
        let what = format!("{title} takes exit 1 for a failure of the hook, and runs the tool");
        let help = "exit with 2, with the reason on stderr and nothing on stdout";
        Some(Diagnostic::warning("host.exit-1", what).help(help).at(self.at(command)))
    }

    fn duplicate(&self, entry: &Entry, before: &[Entry]) -> Option<Diagnostic> {
        let command = entry.command.as_ref()?;
        let texts = |entry: &Entry| {
            let text = |text: &Option<Text>| text.as_ref().map(|text| text.text.clone());
            (entry.event.text.clone(), text(&entry.matcher), text(&entry.command))
        };
        let first = before.iter().find(|one| texts(one) == texts(entry))?;
        let line = Position::of("", self.text, first.span.clone()).line;
        let what = format!("the same command stands in line {line} already");
        Some(Diagnostic::warning("host.duplicate", what).help("remove one").at(self.at(command)))
    }

    fn row(&self, entry: &Entry) -> Option<&'static EventRow> {
        self.bridge.events.iter().find(|row| row.own == entry.event.text)
    }
}

fn is_about_tools(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::PreToolUse
            | EventKind::PostToolUse
            | EventKind::PostToolUseFailure
            | EventKind::PermissionRequest
    )
}

fn names(rows: &[EventRow]) -> String {
    rows.iter().map(|row| row.own).collect::<Vec<_>>().join(", ")
}
