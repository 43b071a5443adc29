//! Reads the `[[hook]]` entries of hotl's `config.toml`.
//!
//! A pure function of the text. Every other section is hotl's own and left alone. hotl's keys are
//! `event`, `command`, `matcher` and `env`; five more are tenter's, which hotl passes over: `name`,
//! `timeout`, `on_failure`, `view` and `on_truncated`. One bad entry harms no other; in the original
//! it drops them all without a word (B58).

use std::ops::Range;
use std::time::Duration;

use tenter_core::contract::OnFailure;
use tenter_core::event::EventKind;
use tenter_core::hook::{Command, CommandLine, Cwd, Handler, Hook, Leftovers, View};
use tenter_core::matcher::{Matcher, MatcherError};
use tenter_core::outcome::Skip;
use tenter_core::suggest::nearest;
use tenter_core::units::{UnitError, parse_duration, parse_size};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::profile::{EVENTS, PROFILE, TOOLS, event_kind};
use crate::config::{ConfigFile, Dialect, Entry, FileId, Part};
use crate::findings::Findings;
use crate::names;
use crate::native::config::canonical;

/// How hooks with native keys are read under hotl's rules.
pub const DIALECT: Dialect = Dialect {
    profile: &PROFILE,
    event: |name| event_kind(name).or_else(|| names::event_kind(name)),
    matcher: |texts| Ok::<_, MatcherError>(matcher(texts)),
    reply_json: None,
};

/// Exact names with commas between them; nothing and `*` match every tool (K5, K7).
fn matcher(texts: &[&str]) -> Matcher {
    if texts.iter().any(|text| matches!(text.trim(), "" | "*")) {
        return Matcher::all();
    }
    let names = texts.iter().flat_map(|text| text.split(','));
    Matcher::names(names.map(str::trim).filter(|name| !name.is_empty()))
}

/// The keys of an entry.
const KEYS: [&str; 9] =
    ["event", "command", "matcher", "env", "name", "timeout", "on_failure", "view", "on_truncated"];

/// Reads a file.
pub fn read(text: &str, file: &FileId<'_>) -> ConfigFile {
    let mut reader = Reader { said: Findings::new(text, *file) };
    let mut entries = Vec::new();
    let root = DeTable::parse(text);
    let parses = root.is_ok();
    match &root {
        Ok(root) => reader.read_root(root.get_ref(), &mut entries),
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let message = format!("this is not TOML: {}", error.message().trim());
            let help =
                "look for a quote, a bracket or a comma that is missing here or on the line before";
            reader.said.error("config.syntax", span.clone(), message, help);
            let handler = reader.said.broken("hooks file", 0);
            let source = reader.said.source(span.clone(), "#");
            let hook = Hook::new("hooks file", source, vec![EventKind::PreToolUse], handler);
            entries.push(Entry { hook, part: Part::File, text: text.to_owned(), span });
        }
    }
    ConfigFile { parses, entries, diagnostics: reader.said.finish(), ..ConfigFile::default() }
}

/// Reads values and collects what there is to say.
struct Reader<'a> {
    said: Findings<'a>,
}

/// What an entry says, as far as it could be read.
#[derive(Default)]
struct Draft {
    name: Option<String>,
    event: Option<EventKind>,
    unknown_event: Option<String>,
    matcher: Option<Matcher>,
    command: Option<String>,
    env: Vec<(String, String)>,
    timeout: Option<Duration>,
    on_failure: Option<OnFailure>,
    view: Option<usize>,
    on_truncated: Option<OnFailure>,
}

impl Reader<'_> {
    fn read_root(&mut self, root: &DeTable<'_>, entries: &mut Vec<Entry>) {
        for (key, value) in root {
            if key.get_ref() != "hook" {
                let holds_hooks = value.get_ref().as_array().is_some_and(|items| {
                    let has_event = |item: &Spanned<DeValue<'_>>| {
                        item.get_ref().as_table().is_some_and(|table| table.contains_key("event"))
                    };
                    items.iter().any(has_event)
                });
                if holds_hooks && nearest(key.get_ref(), ["hook"]).is_some() {
                    let message = format!("`{}` holds what looks like hooks", key.get_ref());
                    let help = "write `[[hook]]`; these never run";
                    self.said.warning("config.unknown-key", key.span(), message, help);
                }
                continue;
            }
            let Some(items) = value.get_ref().as_array() else {
                let message = "`hook` is not a list of tables";
                let help = "write `[[hook]]` with two brackets, once for each hook";
                self.not_an_entry(value, key.span(), message.into(), help, "#/hook", entries);
                continue;
            };
            for (at, item) in items.iter().enumerate() {
                let pointer = format!("#/hook/{at}");
                match item.get_ref() {
                    DeValue::Table(table) => self.read_entry(item, table, at, &pointer, entries),
                    other => {
                        let message =
                            format!("`hook[{at}]` is {}, and a table is expected", what(other));
                        let help = "start each hook with a line `[[hook]]`";
                        self.not_an_entry(item, item.span(), message, help, &pointer, entries);
                    }
                }
            }
        }
    }

    fn not_an_entry(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        span: Range<usize>,
        message: String,
        help: &'static str,
        pointer: &str,
        entries: &mut Vec<Entry>,
    ) {
        let mark = self.said.mark();
        self.said.error("config.wrong-type", span.clone(), message, help);
        let source = self.said.source(span.clone(), pointer);
        let handler = self.said.broken("hook", mark);
        let hook = Hook::new("hook", source, vec![EventKind::PreToolUse], handler);
        let text = canonical::text(value.get_ref());
        entries.push(Entry { hook, part: Part::File, text, span });
    }

    fn read_entry(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        table: &DeTable<'_>,
        at: usize,
        pointer: &str,
        entries: &mut Vec<Entry>,
    ) {
        let mark = self.said.mark();
        let mut draft = Draft::default();
        for (key, value) in table {
            self.read_key(key.get_ref(), &key.span(), value, at, &mut draft);
        }
        for key in ["event", "command"] {
            if !table.contains_key(key) {
                let message = format!("`hook[{at}]` has no `{key}`");
                let help = match key {
                    "event" => r#"say when it runs, as in event = "pre_tool""#,
                    _ => r#"say what runs, as in command = "./guard.sh""#,
                };
                self.said.error("hook.missing-key", value.span(), message, help);
            }
        }
        self.check_matcher(table, at, &draft);
        if let (Some(_), None, Some(item)) =
            (&draft.event, draft.view_of_event(), table.get("on_truncated"))
        {
            let message =
                format!("`on_truncated` of `hook[{at}]` does nothing: nothing is clipped");
            self.said.warning(
                "hook.no-effect",
                item.span(),
                message,
                "leave it out, or add `view`",
            );
        }
        entries.push(self.finish(value, draft, at, pointer, mark));
    }

    fn read_key(
        &mut self,
        key: &str,
        key_span: &Range<usize>,
        value: &Spanned<DeValue<'_>>,
        at: usize,
        draft: &mut Draft,
    ) {
        match key {
            "env" => draft.env = self.env(value, at),
            _ if !KEYS.contains(&key) => {
                let help = match nearest(key, KEYS) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("an entry knows {}", KEYS.join(", ")),
                };
                let message = format!("`{key}` means nothing in `hook[{at}]`");
                self.said.warning("hook.unknown-key", key_span.clone(), message, help);
            }
            _ => {
                let Some(text) = value.get_ref().as_str() else {
                    return self.wrong_type(key, value, at, "a text");
                };
                self.read_text(key, text, value.span(), at, draft);
            }
        }
    }

    fn read_text(
        &mut self,
        key: &str,
        text: &str,
        span: Range<usize>,
        at: usize,
        draft: &mut Draft,
    ) {
        match key {
            "event" => {
                draft.event = event_kind(text);
                if draft.event.is_none() {
                    self.unknown_event(text, span);
                    draft.unknown_event = Some(text.to_owned());
                }
            }
            "command" if text.trim().is_empty() || text.contains('\0') => {
                let message = format!("the command of `hook[{at}]` is blank, or holds a NUL");
                let help = r#"say what runs, as in command = "./guard.sh""#;
                self.said.error("hook.no-command", span, message, help);
            }
            "command" => draft.command = Some(text.to_owned()),
            "matcher" => draft.matcher = Some(matcher(&[text])),
            "name" => draft.name = (!text.is_empty()).then(|| text.to_owned()),
            "timeout" => draft.timeout = self.quantity(key, parse_duration(text), span, at),
            "view" => draft.view = self.quantity(key, parse_size(text), span, at),
            "on_failure" => {
                draft.on_failure = self.policy(key, text, span, at);
                // What cannot be read was meant to guard something.
                draft.on_failure = draft.on_failure.or(Some(OnFailure::Block));
            }
            _ => draft.on_truncated = self.policy(key, text, span, at),
        }
    }

    fn quantity<T>(
        &mut self,
        key: &str,
        read: Result<T, UnitError>,
        span: Range<usize>,
        at: usize,
    ) -> Option<T> {
        let error = match read {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let help =
            if key == "view" { r#"as in view = "64KiB""# } else { r#"as in timeout = "5s""# };
        let message = format!("`{key}` of `hook[{at}]`: {error}");
        self.said.error("hook.bad-value", span, message, help);
        None
    }

    fn policy(
        &mut self,
        key: &str,
        text: &str,
        span: Range<usize>,
        at: usize,
    ) -> Option<OnFailure> {
        let known = [OnFailure::Block, OnFailure::Ask, OnFailure::Allow];
        let found = known.into_iter().find(|policy| policy.as_str() == text);
        if found.is_none() {
            let message = format!("`{key}` of `hook[{at}]` is `{text}`");
            self.said.error("hook.bad-value", span, message, "it can be block, ask or allow");
        }
        found
    }

    fn env(&mut self, value: &Spanned<DeValue<'_>>, at: usize) -> Vec<(String, String)> {
        let Some(table) = value.get_ref().as_table() else {
            self.wrong_type("env", value, at, "a table");
            return Vec::new();
        };
        let mut pairs = Vec::with_capacity(table.len());
        for (name, value) in table {
            let name_text = name.get_ref();
            let fits = |text: &str| !text.contains('\0');
            match value.get_ref().as_str().filter(|text| fits(text)) {
                Some(_) if name_text.is_empty() || name_text.contains(['=', '\0']) => {
                    let message = format!("`env` of `hook[{at}]` has a name that no variable has");
                    let help = r#"write a name, as in env = { MODE = "strict" }"#;
                    self.said.error("hook.bad-value", name.span(), message, help);
                }
                Some(text) => pairs.push((name_text.to_string(), text.to_owned())),
                None => self.wrong_type(&format!("env.{name_text}"), value, at, "a text"),
            }
        }
        pairs
    }

    fn unknown_event(&mut self, text: &str, span: Range<usize>) {
        let names = EVENTS.map(|(name, _)| name);
        let standard =
            EVENTS.iter().find(|(_, kind)| names::event_kind(text).as_ref() == Some(kind));
        let help = match (standard, nearest(text, names)) {
            (Some((name, _)), _) => format!("here it is called `{name}`"),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => format!("the events are {}", names.join(", ")),
        };
        let message = format!("there is no event `{text}`, so this hook never runs");
        self.said.warning("hook.unknown-event", span, message, help);
    }

    /// Names that can match nothing. In the original they do so silently (B8).
    fn check_matcher(&mut self, table: &DeTable<'_>, at: usize, draft: &Draft) {
        let Some(value) = table.get("matcher") else { return };
        let Some(text) = value.get_ref().as_str() else { return };
        let of_tool = matches!(draft.event, Some(EventKind::PreToolUse | EventKind::PostToolUse));
        if draft.event.is_some() && !of_tool {
            let message = format!("`matcher` of `hook[{at}]` does nothing: the event has no tool");
            return self.said.warning("hook.no-effect", value.span(), message, "leave it out");
        }
        if matches!(text.trim(), "" | "*") {
            return;
        }
        let names: Vec<_> =
            text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            let message =
                format!("`matcher` of `hook[{at}]` names no tool, so the hook never runs");
            let help = r#"name tools, as in matcher = "bash, write", or leave it out"#;
            return self.said.warning("hook.dead-matcher", value.span(), message, help);
        }
        for name in names {
            let is_pattern = name.contains(['|', '*', '?', '(', '[', '^', '$', '/', ' ']);
            let own = TOOLS.iter().find(|(own, _)| own.eq_ignore_ascii_case(name) && *own != name);
            let help = match own {
                Some((own, _)) => format!("names are case-sensitive: did you mean `{own}`?"),
                None if is_pattern => {
                    r#"a matcher is a list of exact names, as in matcher = "bash, write""#
                        .to_owned()
                }
                None => continue,
            };
            let message =
                format!("no tool is called `{name}`, which `matcher` of `hook[{at}]` names");
            self.said.warning("hook.dead-matcher", value.span(), message, help);
        }
    }

    fn finish(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        draft: Draft,
        at: usize,
        pointer: &str,
        mark: usize,
    ) -> Entry {
        let view = draft.view_of_event();
        let name = draft.name.or_else(|| draft.command.clone());
        let name = name.unwrap_or_else(|| format!("hook[{at}]"));
        let is_broken = self.said.errors_since(mark).next().is_some();
        let handler = match draft.command {
            Some(command) if !is_broken => Handler::Command(Box::new(Command {
                line: CommandLine::Shell(command),
                shell: None,
                env: draft.env,
                cwd: Cwd::Session,
                leftovers: Leftovers::Leave,
                scripts: Vec::new(),
                base: None,
            })),
            _ => self.said.broken(&name, mark),
        };
        // Of an entry that says no event, the calls that it may have been meant to guard.
        let kind = match (draft.event, &draft.unknown_event) {
            (Some(kind), _) => kind,
            (None, Some(name)) => EventKind::Other(name.as_str().into()),
            (None, None) => EventKind::PreToolUse,
        };
        let has_tool = matches!(kind, EventKind::PreToolUse | EventKind::PostToolUse);
        let mut hook =
            Hook::new(name, self.said.source(value.span(), pointer), vec![kind], handler);
        hook.matcher = draft.matcher.filter(|_| has_tool).unwrap_or_default();
        hook.timeout = draft.timeout;
        hook.on_failure = draft.on_failure;
        hook.view = view.filter(|_| draft.view.is_some() || draft.on_truncated.is_some());
        hook.skip = draft.unknown_event.map(|_| Skip::Unsupported);
        Entry { hook, part: Part::Hook, text: canonical::text(value.get_ref()), span: value.span() }
    }

    fn wrong_type(&mut self, key: &str, value: &Spanned<DeValue<'_>>, at: usize, expected: &str) {
        let message = format!(
            "`{key}` of `hook[{at}]` is {}, and {expected} is expected",
            what(value.get_ref())
        );
        let help = format!("write {expected}, or leave the key out");
        self.said.error("config.wrong-type", value.span(), message, help);
    }
}

impl Draft {
    /// What the hook is shown: its own view, else that of its event.
    fn view_of_event(&self) -> Option<View> {
        let given = self.event.as_ref().and_then(|kind| PROFILE.contract(kind).view);
        let cap = self.view.or(given.map(|view| view.cap))?;
        Some(View { cap, on_truncated: self.on_truncated })
    }
}

/// A value's type as one would say it.
const fn what(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests;
