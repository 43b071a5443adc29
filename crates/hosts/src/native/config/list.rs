//! The hooks of a file as they are gathered: every entry gets its place, its canonical text and a
//! name, and what is no entry at all becomes a guard.

use std::collections::HashMap;
use std::ops::Range;

use tenter_core::contract::Block;
use tenter_core::event::EventKind;
use tenter_core::hook::{Handler, Hook, Source};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::entry::read_hook;
use super::reader::{Reader, shown, type_name};
use super::{Entry, Part, canonical};
use crate::findings::broken_reason;
use crate::native::PROFILE;

/// The hooks of a file while it is read.
#[derive(Debug, Default)]
pub(super) struct HookList {
    drafts: Vec<Draft>,
}

/// A hook whose name is not settled.
#[derive(Debug)]
struct Draft {
    entry: Entry,
    /// Where the name stands, if the entry has one.
    name_span: Option<Range<usize>>,
}

impl HookList {
    /// Reads the value that holds the entries. `key_span` names it, `blame` is the number of an
    /// error that is about all of them.
    pub(super) fn read(
        &mut self,
        reader: &mut Reader<'_>,
        value: &Spanned<DeValue<'_>>,
        key_span: Range<usize>,
        pointer: &str,
        blame: Option<usize>,
    ) {
        match value.get_ref() {
            DeValue::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    let pointer = format!("{pointer}/{at}");
                    match item.get_ref() {
                        DeValue::Table(table) => {
                            self.read_entry(reader, item, table, item.span(), &pointer, blame);
                        }
                        _ => self.not_a_table(reader, item, &pointer),
                    }
                }
            }
            DeValue::Table(table) => {
                let at = reader.mark();
                if blame.is_none() {
                    reader.error(
                        "config.wrong-type",
                        key_span.clone(),
                        "`hook` is a single table, and hooks are a list",
                        "write `[[hook]]` with two brackets, once for each hook",
                    );
                }
                self.read_entry(reader, value, table, key_span, pointer, blame.or(Some(at)));
            }
            _ => self.not_a_table(reader, value, pointer),
        }
    }

    /// Something stands where an entry is expected. It may have been a guard.
    fn not_a_table(
        &mut self,
        reader: &mut Reader<'_>,
        value: &Spanned<DeValue<'_>>,
        pointer: &str,
    ) {
        let at = reader.mark();
        let found = type_name(value.get_ref());
        reader.error(
            "config.wrong-type",
            value.span(),
            format!("a hook is {found}, and a table is expected"),
            "start each hook with a line `[[hook]]`",
        );
        let hook = broken_guard(reader, "hook", at, value.span(), pointer);
        let text = canonical::text(value.get_ref());
        let entry = Entry { hook, part: Part::File, text, span: value.span() };
        self.drafts.push(Draft { entry, name_span: None });
    }

    fn read_entry(
        &mut self,
        reader: &mut Reader<'_>,
        value: &Spanned<DeValue<'_>>,
        table: &DeTable<'_>,
        span: Range<usize>,
        pointer: &str,
        blame: Option<usize>,
    ) {
        let (hook, name_span) = read_hook(reader, table, &span, pointer, blame);
        let text = canonical::text(value.get_ref());
        self.drafts.push(Draft { entry: Entry { hook, part: Part::Hook, text, span }, name_span });
    }

    /// Settles the names: a name that was written stays, a derived one is made unique.
    pub(super) fn finish(self, reader: &mut Reader<'_>) -> Vec<Entry> {
        let mut taken = TakenNames::default();
        let mut first_lines: HashMap<&str, usize> = HashMap::new();
        for Draft { entry, name_span } in &self.drafts {
            let Some(span) = name_span else { continue };
            let name = entry.hook.name.as_str();
            taken.take(name);
            match first_lines.get(name) {
                None => {
                    first_lines.insert(name, reader.position(span.clone()).line);
                }
                Some(line) => reader.warning(
                    "hook.duplicate-name",
                    span.clone(),
                    format!("the name `{}` stands in line {line} already", shown(name)),
                    "give each hook a name of its own, so that reports say which one spoke",
                ),
            }
        }
        let settle = |draft: Draft| {
            let mut entry = draft.entry;
            if draft.name_span.is_none() {
                entry.hook.name = taken.free(&entry.hook.name);
            }
            entry
        };
        self.drafts.into_iter().map(settle).collect()
    }
}

/// Names that are used already, each with the last number that was put after it, so that each hook
/// without a name gets one of its own.
#[derive(Debug, Default)]
struct TakenNames(HashMap<String, usize>);

impl TakenNames {
    /// Takes a name; `false` if it was taken before.
    fn take(&mut self, name: &str) -> bool {
        let is_free = !self.0.contains_key(name);
        if is_free {
            self.0.insert(name.to_owned(), 1);
        }
        is_free
    }

    /// Takes a name that nobody has: the given one, or the given one and a number.
    fn free(&mut self, name: &str) -> String {
        if self.take(name) {
            return name.to_owned();
        }
        let mut number = self.0.get(name).copied().unwrap_or(1);
        loop {
            number += 1;
            let with_number = format!("{name}-{number}");
            if self.take(&with_number) {
                self.0.insert(name.to_owned(), number);
                return with_number;
            }
        }
    }
}

/// A broken hook that stands for something of which nothing could be read: a guard of every tool
/// call. `blame` is the number of the error that broke it.
pub(super) fn broken_guard(
    reader: &Reader<'_>,
    name: &str,
    blame: usize,
    span: Range<usize>,
    pointer: &str,
) -> Hook {
    let handler = broken(reader, name, Some(blame), reader.mark());
    Hook::new(name, source(reader, span, pointer), judged_events(), handler)
}

pub(super) fn source(reader: &Reader<'_>, span: Range<usize>, pointer: &str) -> Source {
    Source {
        level: reader.file.level,
        position: Some(reader.position(span)),
        pointer: pointer.to_owned(),
    }
}

/// The handler of an entry with errors: the error numbered `blame` and those since `mark`.
pub(super) fn broken(
    reader: &Reader<'_>,
    name: &str,
    blame: Option<usize>,
    mark: usize,
) -> Handler {
    let blamed = blame.and_then(|at| reader.said(at)).into_iter();
    let mut reason = broken_reason(name, blamed.chain(reader.errors_since(mark)));
    reason.push_str("; `tenter check` shows the line");
    Handler::Broken { reason, mend: Some(reader.file.path.to_owned()) }
}

/// The events that permission rules judge, for the guard that stands for a rule.
fn judged_events() -> Vec<EventKind> {
    let judged = |kind: &&EventKind| {
        matches!(PROFILE.contract(kind).block, Block::StopsTool | Block::AnswersNo)
    };
    EventKind::ALL.iter().filter(judged).cloned().collect()
}
