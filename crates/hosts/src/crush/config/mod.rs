//! Reads the section `hooks` of `crush.json`.
//!
//! A pure function of the text. Every other section is left alone. One bad entry harms no other: it
//! becomes a hook that is broken, which is left out, or denies if it says `"on_failure": "block"`.

mod entry;

#[cfg(test)]
mod tests;

use std::ops::Range;

use tenter_core::event::EventKind;
use tenter_core::hook::Hook;
use tenter_core::matcher::{Matcher, MatcherError};
use tenter_core::outcome::Skip;
use tenter_core::suggest::nearest;

use super::profile::{PROFILE, event_kind};
use crate::config::{ConfigFile, Dialect, Entry, FileId, Part};
use crate::findings::Findings;
use crate::json_file::{Node, parse};
use crate::names;

/// How hooks with native keys are read under Crush's rules.
pub const DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    event: |name| event_kind(name).or_else(|| names::event_kind(name)),
    matcher,
    reply_json: None,
};

/// A regex that is sought in the tool's name. Nothing and `*` match every tool.
fn matcher(texts: &[&str]) -> Result<Matcher, MatcherError> {
    let is_all = |text: &&&str| matches!(**text, "" | "*");
    if texts.iter().any(|text| is_all(&text)) {
        return Ok(Matcher::all());
    }
    match texts {
        [text] => Matcher::regex(text),
        texts => {
            for (at, text) in texts.iter().enumerate() {
                Matcher::regex(text).map_err(|error| MatcherError { item: Some(at), ..error })?;
            }
            let any: Vec<_> = texts.iter().map(|text| format!("(?:{text})")).collect();
            Matcher::regex(&any.join("|"))
        }
    }
}

/// Reads a file.
pub fn read(text: &str, file: &FileId<'_>) -> ConfigFile {
    let mut reader = Reader { said: Findings::new(text, *file) };
    let root = match parse(text) {
        Ok(root) => root,
        Err(error) => {
            let mark = reader.said.mark();
            reader.said.error(
                "config.syntax",
                error.span.clone(),
                format!("this is not JSON: {}", error.message),
                "look for a comma, a quote or a bracket that is missing or too many here; comments are not allowed",
            );
            let hook =
                reader.broken("hooks file", EventKind::PreToolUse, error.span.clone(), "#", mark);
            let whole = Entry { hook, part: Part::File, text: text.to_owned(), span: error.span };
            return ConfigFile {
                parses: false,
                entries: vec![whole],
                diagnostics: reader.said.finish(),
                ..ConfigFile::default()
            };
        }
    };
    let mut entries = Vec::new();
    match root.members() {
        Some(members) => {
            let mut found = false;
            for member in members.iter().filter(|one| one.key.eq_ignore_ascii_case("hooks")) {
                if found {
                    reader.said.warning(
                        "config.duplicate-key",
                        member.key_span.clone(),
                        "`hooks` stands twice",
                        "put all hooks into one of them",
                    );
                }
                found = true;
                reader.read_events(&member.key, &member.value, &mut entries);
            }
        }
        None => entries.push(reader.not_what_it_should_be(&root, "the file", "an object", "#")),
    }
    ConfigFile { parses: true, entries, diagnostics: reader.said.finish(), ..ConfigFile::default() }
}

/// Reads values and collects what there is to say.
struct Reader<'a> {
    said: Findings<'a>,
}

impl Reader<'_> {
    /// A hook in place of something with the errors since `mark`.
    fn broken(
        &self,
        name: &str,
        kind: EventKind,
        span: Range<usize>,
        pointer: &str,
        mark: usize,
    ) -> Hook {
        let handler = self.said.broken(name, mark);
        Hook::new(name, self.said.source(span, pointer), vec![kind], handler)
    }

    /// An entry in place of something that holds hooks and is not what it should be.
    fn not_what_it_should_be(
        &mut self,
        node: &Node<'_>,
        what: &str,
        expected: &str,
        pointer: &str,
    ) -> Entry {
        let mark = self.said.mark();
        self.said.error(
            "config.wrong-type",
            node.span(),
            format!("{what} is {}, and {expected} is expected", node.type_name()),
            r#"hooks stand as in {"hooks": {"PreToolUse": [{"matcher": "^bash$", "command": "./guard.sh"}]}}"#,
        );
        let hook = self.broken("hooks", EventKind::PreToolUse, node.span(), pointer, mark);
        Entry { hook, part: Part::File, text: node.text().to_owned(), span: node.span() }
    }

    /// The section: lists of entries by the name of an event.
    fn read_events(&mut self, key: &str, section: &Node<'_>, entries: &mut Vec<Entry>) {
        if section.is_null() {
            return;
        }
        let Some(events) = section.members() else {
            let pointer = format!("#/{key}");
            entries.push(self.not_what_it_should_be(section, "`hooks`", "an object", &pointer));
            return;
        };
        for event in &events {
            let pointer = format!("#/{key}/{}", escaped(&event.key));
            let kind = event_kind(&event.key);
            if kind.is_none() {
                self.unknown_event(&event.key, event.key_span.clone());
            }
            if event.value.is_null() {
                continue;
            }
            let Some(items) = event.value.items() else {
                let what = format!("`hooks.{}`", event.key);
                entries.push(self.not_what_it_should_be(&event.value, &what, "a list", &pointer));
                continue;
            };
            for (at, item) in items.iter().enumerate() {
                let place = entry::Place {
                    event: &event.key,
                    kind: kind.clone().unwrap_or_else(|| EventKind::of(&event.key)),
                    pointer: format!("{pointer}/{at}"),
                    index: at,
                };
                let from = entries.len();
                self.read_entry(item, &place, entries);
                if kind.is_none() {
                    for entry in entries.iter_mut().skip(from) {
                        entry.hook.skip = Some(Skip::Unsupported);
                    }
                }
            }
        }
    }

    fn unknown_event(&mut self, name: &str, span: Range<usize>) {
        let plain = name.replace(['_', '-'], "").to_ascii_lowercase();
        let is_another = names::is_known_event(name);
        let near = !is_another && nearest(&plain, ["pretooluse"]).is_some();
        let (message, help) = if near {
            (format!("there is no event `{name}`"), "did you mean `PreToolUse`?")
        } else {
            (
                format!("the host runs no hooks on `{name}`, so what stands here never runs"),
                "`PreToolUse` is the one event; `.tenter/hooks.toml` knows others",
            )
        };
        self.said.warning("hook.unknown-event", span, message, help);
    }
}

/// A key as a part of a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
