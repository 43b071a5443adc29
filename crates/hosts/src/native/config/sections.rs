//! The sections beside the hooks: `[permissions]`, `[policy]` and `[env]`.
//!
//! What is wrong in them is read in its strict sense: a deny or ask rule that cannot be read becomes
//! a guard of the tool that it names, a policy that cannot be read holds.

use std::ops::Range;

use tenter_core::contract::OnFailure;
use tenter_core::hook::{Hook, Level};
use tenter_core::matcher::Matcher;
use tenter_core::rules::Rule;
use tenter_core::suggest::nearest;
use tenter_core::verdict::Decision;
use toml::Spanned;
use toml::de::{DeString, DeValue};

use super::entry::failure_word;
use super::list::broken_guard;
use super::reader::{Item, Reader, Table, Text, shown, text_in, type_name};
use super::rule::{self, Read};
use super::{Entry, EnvPolicy, Part, Permission, Policy, canonical};
use crate::native::keys::Section;

/// What `[permissions]` says.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) rules: Vec<Permission>,
    /// Hooks that stand for rules that cannot be read.
    pub(super) guards: Vec<Entry>,
}

const LISTS: [(&str, Decision); 3] =
    [("deny", Decision::Deny), ("ask", Decision::Ask), ("allow", Decision::Allow)];

pub(super) fn permissions(reader: &mut Reader<'_>, item: &Item<'_, '_>) -> Lists {
    let mut lists = Lists::default();
    let text = canonical::text(item.value.get_ref());
    let at = reader.mark();
    let DeValue::Table(table) = item.value.get_ref() else {
        reader.wrong_type(item);
        let place = Place { name: "permissions", pointer: "#/permissions".into(), text: &text };
        lists.guards.push(place.guard(reader, None, item.key_span.clone(), at));
        return lists;
    };
    let table = Table::new(Section::Permissions, table);
    for (name, value) in table.unknown() {
        let at = reader.mark();
        let meant = reader.unknown_key(Section::Permissions, name);
        if is_misplaced(name.get_ref()) {
            lists.guards.append(&mut misplaced(reader, name, value, at));
        } else if meant != Some("allow") {
            let list = shown(name.get_ref());
            let pointer = format!("#/permissions/{list}");
            let place = Place { name: &list, pointer, text: &text };
            lists.guards.append(&mut place.guards_of(reader, value, at));
        }
    }
    for (name, decision) in LISTS {
        if let Some(item) = table.get(name) {
            read_list(reader, &item, decision, &text, &mut lists);
        }
    }
    lists
}

fn read_list(
    reader: &mut Reader<'_>,
    item: &Item<'_, '_>,
    decision: Decision,
    section: &str,
    lists: &mut Lists,
) {
    let name = item.key.name;
    let restricts = decision.restricts();
    let at = reader.mark();
    let DeValue::Array(values) = item.value.get_ref() else {
        reader.wrong_type(item);
        if restricts {
            let place = Place { name, pointer: format!("#/permissions/{name}"), text: section };
            lists.guards.append(&mut place.guards_of(reader, item.value, at));
        }
        return;
    };
    for (index, value) in values.iter().enumerate() {
        let pointer = format!("#/permissions/{name}/{index}");
        let at = reader.mark();
        let read = rule::read(reader, value, "permissions.bad-rule");
        let text = match read {
            Some(Read { rule: Some(rule), text, sound }) => {
                // What is wrong beside a rule leaves it standing, unless it lets calls through.
                if sound || restricts {
                    let position = reader.position(value.span());
                    lists.rules.push(Permission { decision, rule, position, pointer });
                    continue;
                }
                text
            }
            Some(Read { rule: None, text, .. }) => text,
            None => {
                reader.error(
                    "config.wrong-type",
                    value.span(),
                    format!(
                        "`{name}` holds {}, and rules are expected",
                        type_name(value.get_ref())
                    ),
                    format!("as in `{}`", item.key.example),
                );
                None
            }
        };
        if restricts {
            let place = Place { name, pointer, text: section };
            lists.guards.push(place.guard(reader, text.as_ref(), value.span(), at));
        }
    }
}

/// Guards for what stands in a section that is probably `[permissions]`, misspelt. `blame` is the
/// number of the error that says so.
pub(super) fn misnamed_permissions(
    reader: &Reader<'_>,
    name: &Spanned<DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
    blame: usize,
) -> Vec<Entry> {
    let text = canonical::text(value.get_ref());
    let section = shown(name.get_ref());
    let Some(table) = value.get_ref().as_table() else {
        let place = Place { name: &section, pointer: format!("#/{section}"), text: &text };
        return vec![place.guard(reader, None, name.span(), blame)];
    };
    let mut guards = Vec::new();
    for list in ["deny", "ask"] {
        let Some(value) = table.get(list) else { continue };
        let place = Place { name: list, pointer: format!("#/{section}/{list}"), text: &text };
        guards.append(&mut place.guards_of(reader, value, blame));
    }
    guards
}

/// Whether a key says that a section or an entry was to begin before it: one that only hooks or
/// only rules have.
pub(super) fn is_misplaced(name: &str) -> bool {
    matches!(name, "event" | "matcher" | "command" | "reply" | "deny" | "ask")
}

/// Guards for a key that stands without its section. Of a hook nothing is known but that it was
/// meant to be; of rules, their tools.
pub(super) fn misplaced(
    reader: &Reader<'_>,
    name: &Spanned<DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
    blame: usize,
) -> Vec<Entry> {
    let text = canonical::text(value.get_ref());
    let key = name.get_ref();
    let place = Place { name: key, pointer: format!("#/{key}"), text: &text };
    if matches!(key.as_ref(), "deny" | "ask") {
        place.guards_of(reader, value, blame)
    } else {
        let guard = place.guard(reader, None, name.span(), blame);
        vec![Entry { part: Part::File, ..guard }]
    }
}

/// A place among the permission rules at which something cannot be read.
struct Place<'a> {
    /// The name of the list.
    name: &'a str,
    pointer: String,
    /// The canonical text of the section.
    text: &'a str,
}

impl Place<'_> {
    /// One guard for each text of a value that should have been a list of rules.
    fn guards_of(
        &self,
        reader: &Reader<'_>,
        value: &Spanned<DeValue<'_>>,
        blame: usize,
    ) -> Vec<Entry> {
        let values = match value.get_ref() {
            DeValue::Array(values) => values.iter().collect(),
            _ => vec![value],
        };
        let guard = |value: &Spanned<DeValue<'_>>| {
            self.guard(reader, text_in(value).as_ref(), value.span(), blame)
        };
        values.into_iter().map(guard).collect()
    }

    /// A hook that denies what the rule may be about.
    fn guard(
        &self,
        reader: &Reader<'_>,
        rule: Option<&Text<'_>>,
        span: Range<usize>,
        blame: usize,
    ) -> Entry {
        let name = match rule {
            Some(rule) => format!("{} {}", self.name, shown(rule.text)),
            None => self.name.to_owned(),
        };
        let mut hook: Hook = broken_guard(reader, &name, blame, span.clone(), &self.pointer);
        hook.matcher = rule.and_then(|rule| tool_matcher(rule.text)).unwrap_or_default();
        hook.on_failure = Some(OnFailure::Block);
        Entry { hook, part: Part::Permissions, text: self.text.to_owned(), span }
    }
}

/// The canonical names of tools that a rule may speak of under another name.
const TOOLS: [&str; 11] = [
    "Bash",
    "Read",
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "Glob",
    "Grep",
    "WebFetch",
    "WebSearch",
    "Agent",
];

/// A matcher for every tool that a rule may have been about, if its tool can be read: the tool that
/// it names, those that it covers, and the one that it was probably meant to name.
fn tool_matcher(rule: &str) -> Option<Matcher> {
    let named = rule.split('(').next().unwrap_or_default().trim();
    let mut tools = vec![named.to_owned()];
    match Rule::parse(named) {
        Ok(rule) => {
            tools.extend(
                TOOLS.iter().filter(|tool| rule.could_match(tool)).map(ToString::to_string),
            );
        }
        Err(_) if named.starts_with("mcp__") => tools.push(format!("{named}__*")),
        Err(_) => return None,
    }
    tools.extend(nearest(named, TOOLS).map(str::to_owned));
    if named == "Task" {
        tools.push("Agent".to_owned());
    }
    Matcher::parse_list(&tools).ok()
}

/// Reads `[policy]`. Only a managed file sets it, but for what is recorded.
pub(super) fn policy(reader: &mut Reader<'_>, item: &Item<'_, '_>) -> Policy {
    let level = reader.file.level;
    let mut policy = Policy::default();
    let DeValue::Table(table) = item.value.get_ref() else {
        reader.wrong_type(item);
        if level == Level::Managed {
            Section::Policy.keys().for_each(|key| strict(&mut policy, key.name));
        }
        return policy;
    };
    let table = Table::new(Section::Policy, table);
    for (name, _) in table.unknown() {
        let meant = reader.unknown_key(Section::Policy, name);
        if let (Some(meant), Level::Managed) = (meant, level) {
            strict(&mut policy, meant);
        }
    }
    for key in Section::Policy.keys() {
        let Some(item) = table.get(key.name) else { continue };
        let records = matches!(key.name, "keep_originals" | "record_payloads");
        let allowed = level == Level::Managed || (records && level == Level::User);
        // The value is looked at in any case: what is wrong with it shows at once.
        let mut ignored = Policy::default();
        if !set(reader, &item, if allowed { &mut policy } else { &mut ignored }) && allowed {
            strict(&mut policy, key.name);
        }
        if !allowed {
            let whose = if records { "a managed file or the user's" } else { "a managed file" };
            reader.error(
                "policy.level",
                item.key_span,
                format!("a {} file cannot set `{}`", level.as_str(), key.name),
                format!("only {whose} can; take it out"),
            );
        }
    }
    policy
}

/// Sets one key of a policy; `false` if its value cannot be read.
fn set(reader: &mut Reader<'_>, item: &Item<'_, '_>, policy: &mut Policy) -> bool {
    if item.key.name == "min_on_failure" {
        let word = reader.word(Some(item), failure_word);
        return word.map(|word| policy.min_on_failure = word).is_some();
    }
    let Some(flag) = reader.flag(Some(item)) else { return false };
    match item.key.name {
        "only_managed" => policy.only_managed = flag,
        "allow_project" => policy.allow_project = flag,
        "allow_config_override" => policy.allow_config_override = flag,
        "allow_http" => policy.allow_http = flag,
        "keep_originals" => policy.keep_originals = Some(flag),
        "record_payloads" => policy.record_payloads = Some(flag),
        _ => return false,
    }
    true
}

/// Sets one key of a policy to its strict value.
fn strict(policy: &mut Policy, name: &str) {
    match name {
        "only_managed" => policy.only_managed = true,
        "allow_project" => policy.allow_project = false,
        "allow_config_override" => policy.allow_config_override = false,
        "allow_http" => policy.allow_http = false,
        "min_on_failure" => policy.min_on_failure = OnFailure::Block,
        "keep_originals" => policy.keep_originals = Some(false),
        "record_payloads" => policy.record_payloads = Some(false),
        _ => {}
    }
}

/// Reads `[env]`.
pub(super) fn env(reader: &mut Reader<'_>, item: &Item<'_, '_>) -> EnvPolicy {
    let DeValue::Table(table) = item.value.get_ref() else {
        reader.wrong_type(item);
        return EnvPolicy::default();
    };
    let table: Table<'_, '_> = Table::new(Section::Env, table);
    for (name, _) in table.unknown() {
        reader.unknown_key(Section::Env, name);
    }
    let strip = variables(reader, table.get("strip").as_ref());
    let pass = variables(reader, table.get("pass").as_ref());
    if let Some(both) = pass.iter().find(|name| strip.iter().any(|other| other.text == name.text)) {
        reader.warning(
            "config.env-twice",
            both.span.clone(),
            format!("`{}` stands in `strip` too, which holds", shown(both.text)),
            "keep it in one of the lists",
        );
    }
    let owned = |texts: Vec<Text<'_>>| texts.iter().map(|text| text.text.to_owned()).collect();
    EnvPolicy { strip: owned(strip), pass: owned(pass) }
}

/// The readable names of variables in a list.
fn variables<'t>(reader: &mut Reader<'_>, item: Option<&Item<'t, '_>>) -> Vec<Text<'t>> {
    let Some((mut texts, _)) = item.and_then(|item| reader.readable_list(item)) else {
        return Vec::new();
    };
    texts.retain(|text| {
        let is_name = !text.text.is_empty() && !text.text.contains(['=', '\0']);
        if !is_name {
            reader.error(
                "config.bad-value",
                text.span.clone(),
                format!("a variable cannot be named `{}`", shown(text.text)),
                "use letters, digits and `_`",
            );
        }
        is_name
    });
    texts
}
