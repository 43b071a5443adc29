//! One `[[hook]]` entry: its keys read, checked against each other, and made a hook.
//!
//! An entry with an error becomes a broken hook that keeps what could be read of its event,
//! matcher, agents and failure policy, each in its strictest reading where it could not.

use std::ops::Range;
use std::time::Duration;

use tenter_core::contract::{OnFailure, Subject};
use tenter_core::event::EventKind;
use tenter_core::hook::{Hook, Order, Scope, View};
use tenter_core::matcher::Matcher;
use tenter_core::outcome::Skip;
use tenter_core::rules::Rule;
use tenter_core::suggest::nearest;
use tenter_core::units::{UnitError, parse_duration, parse_size};
use toml::de::{DeTable, DeValue};

use super::canonical;
use super::handler::{self, Handling};
use super::list::{broken, source};
use super::reader::{Item, Reader, Table, Text, shown, text_in, type_name};
use super::rule;
use crate::names;
use crate::native::keys::{HANDLERS, REPLY_JSON, Section};

/// Reads an entry; gives the place of its name too, if it has one.
pub(super) fn read_hook(
    reader: &mut Reader<'_>,
    table: &DeTable<'_>,
    span: &Range<usize>,
    pointer: &str,
    blame: Option<usize>,
) -> (Hook, Option<Range<usize>>) {
    let mark = reader.mark();
    let more = reader.dialect.reply_json.map(|_| &REPLY_JSON);
    let table = Table::new(Section::Hook, table).with(more);
    let unknown = unknown_keys(reader, &table);
    let name = read_name(reader, table.get("name").as_ref());
    let events = read_events(reader, &table, span, &unknown);
    let matcher = read_matcher(reader, table.get("matcher").as_ref());
    let condition = read_condition(reader, table.get("if").as_ref());
    let handling = handler::read(reader, &table, span, &unknown);
    let timeout = read_timeout(reader, table.get("timeout").as_ref());
    let view = read_view(reader, &table, &events.kinds);
    let enabled = reader.flag(table.get("enabled").as_ref());
    let scope = reader.word(table.get("agents").as_ref(), |word| match word {
        "all" => Some(Scope::All),
        "main" => Some(Scope::Main),
        "subagents" => Some(Scope::Subagents),
        _ => None,
    });
    let order = reader.word(table.get("order").as_ref(), |word| match word {
        "parallel" => Some(Order::Parallel),
        "sequence" => Some(Order::Sequence),
        _ => None,
    });
    let recheck = reader.flag(table.get("recheck").as_ref());
    let once = reader.flag(table.get("once").as_ref());
    let on_failure_item = table.get("on_failure");
    let mut on_failure = reader.word(on_failure_item.as_ref(), failure_word);
    if on_failure_item.is_some() && on_failure.is_none() {
        on_failure = Some(OnFailure::Block);
    }
    check_subject(reader, &events, matcher.as_ref(), table.get("matcher").as_ref());
    check_condition(reader, &events, table.get("if").as_ref());
    handler::check_effect(reader, &events.kinds, &handling);
    let detached = reader.flag(table.get("detach").as_ref()) == Some(true);
    let may_detach = detached && check_detach(reader, &table, on_failure, order, &handling);
    if may_detach && on_failure.is_none() {
        // Nobody waits for it, so nothing can be held up by its failure.
        on_failure = Some(OnFailure::Allow);
    }

    let shown_name =
        name.as_ref().map_or_else(|| handling.name.clone(), |name| name.text.to_owned());
    let is_broken = blame.is_some() || reader.errors_since(mark).next().is_some();
    let handler = match handling.handler {
        Some(handler) if !is_broken => handler,
        _ => broken(reader, &shown_name, blame, mark),
    };
    let mut hook =
        Hook::new(shown_name, source(reader, span.clone(), pointer), Vec::new(), handler);
    hook.on_failure = on_failure;
    hook.scope = scope.unwrap_or_default();
    hook.detach = may_detach;
    hook.skip = (enabled == Some(false)).then_some(Skip::Disabled);
    if is_broken {
        hook.matcher = matcher.filter(|_| events.any_subject).unwrap_or_default();
        hook.events = events.strictest();
    } else {
        hook.events = events.kinds;
        hook.matcher = matcher.unwrap_or_default();
        hook.condition = condition;
        hook.timeout = timeout;
        hook.order = order.unwrap_or_default();
        hook.recheck = recheck.unwrap_or(true);
        hook.view = view;
        hook.once = once.unwrap_or(false);
    }
    (hook, name.map(|name| name.span))
}

/// What the keys that an entry should not have were probably meant to be.
#[derive(Debug, Default)]
pub(super) struct Unknown {
    pub(super) event: bool,
    pub(super) handler: bool,
}

fn unknown_keys(reader: &mut Reader<'_>, table: &Table<'_, '_>) -> Unknown {
    let mut unknown = Unknown::default();
    let mut handlers = HANDLERS.iter().copied().chain([REPLY_JSON.name]);
    let has_handler = handlers.any(|name| table.get(name).is_some());
    for (name, value) in table.unknown() {
        if !has_handler && handler::unknown_handler(reader, name, value) {
            unknown.handler = true;
            continue;
        }
        let Some(meant) = reader.unknown_key(Section::Hook, name) else { continue };
        unknown.event |= meant == "event";
        unknown.handler |= HANDLERS.contains(&meant);
    }
    unknown
}

fn read_name<'t>(reader: &mut Reader<'_>, item: Option<&Item<'t, '_>>) -> Option<Text<'t>> {
    let name = reader.text_of(item)?;
    if name.text.trim().is_empty() || name.text.chars().any(char::is_control) {
        reader.error(
            "hook.bad-value",
            name.span,
            "a name is one line with something on it",
            "write a word or two, or leave `name` out",
        );
        return None;
    }
    Some(name)
}

/// The events of an entry, as far as they can be read.
#[derive(Debug, Default)]
struct Events {
    kinds: Vec<EventKind>,
    /// What unknown names were probably meant to be.
    guesses: Vec<EventKind>,
    /// Whether a matcher has something to match on any of them.
    any_subject: bool,
}

impl Events {
    /// The events that a broken hook is for: those that can be read and those that were probably
    /// meant; the one before a tool runs if none can be read.
    fn strictest(self) -> Vec<EventKind> {
        let fallback = self.kinds.is_empty().then_some(EventKind::PreToolUse);
        let mut events = self.kinds;
        for kind in self.guesses.into_iter().chain(fallback) {
            if !events.contains(&kind) {
                events.push(kind);
            }
        }
        events
    }
}

fn read_events(
    reader: &mut Reader<'_>,
    table: &Table<'_, '_>,
    header: &Range<usize>,
    unknown: &Unknown,
) -> Events {
    // Without a readable event the fallback is about tools, and has a subject.
    let mut events = Events { any_subject: true, ..Events::default() };
    let Some(item) = table.get("event") else {
        if !unknown.event {
            reader.error(
                "hook.no-event",
                header.clone(),
                "the hook has no `event`",
                "say when it runs, as in `event = \"PreToolUse\"`",
            );
        }
        return events;
    };
    let texts = match text_in(item.value) {
        Some(text) => vec![text],
        None => reader.readable_list(&item).map(|(texts, _)| texts).unwrap_or_default(),
    };
    if item.value.get_ref().as_array().is_some_and(|list| list.is_empty()) {
        reader.error(
            "hook.no-event",
            item.value.span(),
            "the list of events is empty",
            "say when it runs, as in `event = \"PreToolUse\"`",
        );
    }
    for text in texts {
        match (reader.dialect.event)(text.text) {
            Some(kind) if events.kinds.contains(&kind) => {}
            Some(kind) => events.kinds.push(kind),
            None => events.guesses.extend(unknown_event(reader, &text)),
        }
    }
    if !events.kinds.is_empty() {
        let profile = reader.dialect.profile;
        let has_subject = |kind: &EventKind| profile.contract(kind).subject != Subject::None;
        events.any_subject = events.kinds.iter().any(has_subject);
    }
    events
}

fn unknown_event(reader: &mut Reader<'_>, text: &Text<'_>) -> Option<EventKind> {
    let meant = nearest(text.text, EventKind::NAMES.iter().copied())
        .or_else(|| nearest(text.text, names::all_events()));
    let help = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "events are named as in `PreToolUse`, `PostToolUse`, `Stop`; `tenter schema events` lists them".into(),
    };
    reader.error(
        "hook.unknown-event",
        text.span.clone(),
        format!("there is no event `{}`", shown(text.text)),
        help,
    );
    meant.and_then(|meant| (reader.dialect.event)(meant))
}

fn read_matcher(reader: &mut Reader<'_>, item: Option<&Item<'_, '_>>) -> Option<Matcher> {
    let texts = reader.texts(item)?;
    let plain: Vec<_> = texts.iter().map(|text| text.text).collect();
    let error = match (reader.dialect.matcher)(&plain) {
        Ok(matcher) => return Some(matcher),
        Err(error) => error,
    };
    let wrong = error.item.and_then(|at| texts.get(at));
    let is_regex = wrong.is_some_and(|text| text.text.trim_start().starts_with('/'));
    let span = match wrong {
        Some(text) => reader.inside(text, error.span),
        None => item.map(|item| item.value.span()).unwrap_or_default(),
    };
    let code = if is_regex { "hook.bad-regex" } else { "hook.bad-matcher" };
    reader.error(code, span, error.message, error.help);
    None
}

fn check_subject(
    reader: &mut Reader<'_>,
    events: &Events,
    matcher: Option<&Matcher>,
    item: Option<&Item<'_, '_>>,
) {
    let (Some(matcher), Some(item)) = (matcher, item) else { return };
    if matcher.is_all() {
        return;
    }
    let profile = reader.dialect.profile;
    let without = events.kinds.iter().find(|kind| profile.contract(kind).subject == Subject::None);
    if let Some(kind) = without {
        let help = if events.any_subject {
            format!("leave `matcher` out, or make an entry of its own for `{kind}`")
        } else {
            "leave `matcher` out, or write `*`".into()
        };
        reader.error(
            "hook.no-subject",
            item.value.span(),
            format!("there is nothing to match in `{kind}`"),
            help,
        );
    }
}

fn read_condition(reader: &mut Reader<'_>, item: Option<&Item<'_, '_>>) -> Vec<Rule> {
    let Some(item) = item else { return Vec::new() };
    let values = match item.value.get_ref() {
        DeValue::Array(values) => values.iter().collect(),
        DeValue::String(_) | DeValue::Table(_) => vec![item.value],
        _ => {
            reader.wrong_type(item);
            return Vec::new();
        }
    };
    if values.is_empty() {
        reader.error(
            "hook.bad-rule",
            item.value.span(),
            "the list of rules is empty",
            "write a rule, as in `if = \"Edit(**/*.lock)\"`, or leave `if` out",
        );
    }
    let mut rules = Vec::with_capacity(values.len());
    for value in values {
        match rule::read(reader, value, "hook.bad-rule") {
            Some(read) => rules.extend(read.rule),
            None => reader.error(
                "hook.wrong-type",
                value.span(),
                format!("`if` holds {}, and rules are expected", type_name(value.get_ref())),
                format!("as in `{}`", item.key.example),
            ),
        }
    }
    rules
}

/// A rule is about a tool call: on other events it never holds.
fn check_condition(reader: &mut Reader<'_>, events: &Events, item: Option<&Item<'_, '_>>) {
    let Some(item) = item else { return };
    let profile = reader.dialect.profile;
    let never = events.kinds.iter().find(|kind| {
        !matches!(kind, EventKind::Other(_)) && profile.contract(kind).subject != Subject::ToolName
    });
    if let Some(kind) = never {
        reader.warning(
            "hook.never-runs",
            item.key_span.clone(),
            format!("a rule is about a tool call, and `{kind}` is not: the hook never runs on it"),
            format!("leave `if` out, or `{kind}`"),
        );
    }
}

fn read_timeout(reader: &mut Reader<'_>, item: Option<&Item<'_, '_>>) -> Option<Duration> {
    read_quantity(reader, item?, parse_duration, ["hook.duration-unit", "hook.bad-duration"], "s")
}

/// The view of an entry: its own, else the one that the profile gives hooks for these events.
fn read_view(reader: &mut Reader<'_>, table: &Table<'_, '_>, kinds: &[EventKind]) -> Option<View> {
    let codes = ["hook.size-unit", "hook.bad-size"];
    let size = table.get("view");
    let cap = size.as_ref().and_then(|item| read_quantity(reader, item, parse_size, codes, "B"));
    let truncated = table.get("on_truncated");
    let on_truncated = reader.word(truncated.as_ref(), failure_word);
    let profile = reader.dialect.profile;
    let given = kinds.iter().find_map(|kind| profile.contract(kind).view);
    if let (None, Some(_), Some(given)) = (&size, &truncated, given) {
        return Some(View { on_truncated, ..given });
    }
    if let (None, Some(item)) = (size, truncated) {
        reader.warning(
            "hook.no-effect",
            item.key_span,
            "`on_truncated` does nothing without `view`: the hook is shown everything",
            "add `view`, as in `view = \"2KiB\"`, or leave `on_truncated` out",
        );
    }
    Some(View { cap: cap?, on_truncated })
}

/// A number with a unit in a text. `codes` are for a unit that is missing and for all else.
fn read_quantity<T>(
    reader: &mut Reader<'_>,
    item: &Item<'_, '_>,
    parse: impl Fn(&str) -> Result<T, UnitError>,
    codes: [&'static str; 2],
    usual: &str,
) -> Option<T> {
    let name = item.key.name;
    let [no_unit, bad] = codes;
    let number = match item.value.get_ref() {
        DeValue::Integer(number) => canonical::integer(number),
        DeValue::Float(_) => Some(0),
        _ => None,
    };
    if let Some(number) = number {
        let help = if number > 0 {
            format!("write `{name} = \"{number}{usual}\"`, if that is meant")
        } else {
            format!("write a whole number and its unit, as in `{}`", item.key.example)
        };
        let message = format!("`{name}` is a number without a unit");
        reader.error(no_unit, item.value.span(), message, help);
        return None;
    }
    let text = reader.text_of(Some(item))?;
    match parse(text.text) {
        Ok(value) => Some(value),
        Err(error) => {
            let digits = text.text.trim();
            let only_digits =
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            let is_zero = digits.bytes().all(|byte| byte == b'0');
            let code = if only_digits && !is_zero { no_unit } else { bad };
            reader.error(code, text.span, error.message, error.help);
            None
        }
    }
}

pub(super) fn failure_word(word: &str) -> Option<OnFailure> {
    match word {
        "block" => Some(OnFailure::Block),
        "ask" => Some(OnFailure::Ask),
        "allow" => Some(OnFailure::Allow),
        _ => None,
    }
}

/// A detached hook can hold nothing up: what asks it to is a contradiction. Gives whether there is
/// none.
fn check_detach(
    reader: &mut Reader<'_>,
    table: &Table<'_, '_>,
    on_failure: Option<OnFailure>,
    order: Option<Order>,
    handling: &Handling,
) -> bool {
    let mark = reader.mark();
    let mut contradicts = |item: Option<Item<'_, '_>>, message: &str, help: &str| {
        if let Some(item) = item {
            let span = item.key_span.start..item.value.span().end;
            reader.error("hook.detach", span, message.to_owned(), help.to_owned());
        }
    };
    if matches!(on_failure, Some(OnFailure::Block | OnFailure::Ask)) {
        contradicts(
            table.get("on_failure"),
            "nobody waits for a detached hook, so its failure can hold nothing up",
            "leave `detach` out, or write `on_failure = \"allow\"`",
        );
    }
    let truncated = table.get("on_truncated").filter(|item| {
        item.value
            .get_ref()
            .as_str()
            .and_then(failure_word)
            .is_some_and(|word| word != OnFailure::Allow)
    });
    contradicts(
        truncated,
        "nobody waits for a detached hook, so it can hold nothing up",
        "leave `detach` or `on_truncated` out",
    );
    if order == Some(Order::Sequence) {
        contradicts(
            table.get("order"),
            "nobody waits for a detached hook, so it stands in no sequence",
            "leave `detach` or `order` out",
        );
    }
    if handling.decides() {
        contradicts(
            table.get("reply").or_else(|| table.get(REPLY_JSON.name)),
            "nobody waits for a detached hook, so it can neither decide nor rewrite",
            "leave `detach` out, or keep only `message` and `context`",
        );
    }
    reader.errors_since(mark).next().is_none()
}
