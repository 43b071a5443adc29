//! Reads the native hooks file into hooks, rules, policy and diagnostics.
//!
//! A pure function of the text: whether a file belongs to whom it should, whether its project is
//! trusted and whether a script exists are the engine's to judge. Reading never fails. What cannot
//! be read becomes a diagnostic and, where it may have been a guard, a hook that is
//! [`Handler::Broken`](tenter_core::hook::Handler::Broken): one bad entry never harms the others,
//! and never opens a gate by being bad.

pub(crate) mod canonical;
mod entry;
mod handler;
pub mod hooktest;
mod list;
mod reader;
mod reply;
mod rule;
mod sections;

#[cfg(test)]
mod tests;

use std::ops::Range;

use tenter_core::contract::OnFailure;
use tenter_core::diagnostic::{Diagnostic, Position, Severity};
use tenter_core::event::EventKind;
use tenter_core::hook::{Hook, Level};
use tenter_core::matcher::{Matcher, MatcherError};
use tenter_core::profile::Profile;
use tenter_core::rules::Rule;
use tenter_core::verdict::{Decision, Verdict};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use self::list::HookList;
use self::reader::{Item, Reader, Table};
use super::PROFILE;
use super::keys::Section;
use crate::names;

/// The format that this version reads.
const VERSION: i128 = 1;

/// Which file is read.
#[derive(Debug, Clone, Copy)]
pub struct FileId<'a> {
    /// Its name as messages show it.
    pub name: &'a str,
    /// Its absolute path.
    pub path: &'a str,
    /// The absolute path of the folder it is in.
    pub folder: &'a str,
    /// Its level.
    pub level: Level,
}

/// What one file says.
#[derive(Debug, Clone, Default)]
pub struct ConfigFile {
    /// Whether it is TOML at all. If not, its only entry is a broken one.
    pub parses: bool,
    /// The hooks in the order of the file, then those that stand for rules that cannot be read.
    pub entries: Vec<Entry>,
    /// The rules of `[permissions]` that can be read.
    pub permissions: Vec<Permission>,
    /// The canonical text of `[permissions]`, for trust; `None` if there is no such section.
    pub permissions_text: Option<String>,
    /// `[policy]`, as far as the level may set it.
    pub policy: Policy,
    /// `[env]`.
    pub env: EnvPolicy,
    /// The canonical text of `[env]`, for trust; `None` if there is no such section.
    pub env_text: Option<String>,
    /// Everything there is to say about it, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
}

impl ConfigFile {
    /// The hooks in order.
    pub fn hooks(&self) -> impl Iterator<Item = &Hook> {
        self.entries.iter().map(|entry| &entry.hook)
    }

    /// Whether something in it does not work.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// One hook, and what trust has to know of it.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The hook.
    pub hook: Hook,
    /// Which part of the file it stands for.
    pub part: Part,
    /// The part as text that does not depend on comments, white space, key order or the notation
    /// of texts and numbers: two parts have one text only if they say the same. Unknown keys count.
    /// Of a file that does not parse it is the file.
    pub text: String,
    /// The bytes of the file that name it.
    pub span: Range<usize>,
}

/// Which part of a file an [`Entry`] stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// A hook entry.
    Hook,
    /// A rule of `[permissions]` that cannot be read; the text is that of the whole section.
    Permissions,
    /// The file as a whole, because it does not parse or something that holds hooks is not what
    /// it should be.
    File,
}

/// A permission rule and where it stands.
#[derive(Debug, Clone)]
pub struct Permission {
    /// What becomes of a call that it matches: deny, ask or allow.
    pub decision: Decision,
    /// The rule.
    pub rule: Rule,
    /// Where it stands.
    pub position: Position,
    /// The place inside the file, such as `#/permissions/deny/0`.
    pub pointer: String,
}

/// What a managed file lets files of lower levels do.
///
/// A value that cannot be read counts as the strict one until it is mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in the file")]
pub struct Policy {
    /// Only managed hooks and rules count.
    pub only_managed: bool,
    /// Hooks of projects may run once they are trusted.
    pub allow_project: bool,
    /// `--config` and `TENTER_CONFIG` may stand for the user's and the project's files.
    pub allow_config_override: bool,
    /// Hooks may ask over the network.
    pub allow_http: bool,
    /// The least that the failure of any hook does.
    pub min_on_failure: OnFailure,
    /// Records keep what a hook replaced or withheld; `None` leaves it to lower levels.
    pub keep_originals: Option<bool>,
    /// Records hold payloads; `None` leaves it to lower levels.
    pub record_payloads: Option<bool>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            only_managed: false,
            allow_project: true,
            allow_config_override: true,
            allow_http: true,
            min_on_failure: OnFailure::Allow,
            keep_originals: None,
            record_payloads: None,
        }
    }
}

impl Policy {
    /// Both policies at once: the stricter of each, and of what is recorded the first that says
    /// something.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        Self {
            only_managed: self.only_managed || later.only_managed,
            allow_project: self.allow_project && later.allow_project,
            allow_config_override: self.allow_config_override && later.allow_config_override,
            allow_http: self.allow_http && later.allow_http,
            min_on_failure: self.min_on_failure.max(later.min_on_failure),
            keep_originals: self.keep_originals.or(later.keep_originals),
            record_payloads: self.record_payloads.or(later.record_payloads),
        }
    }
}

/// Which variables of the session hooks are given, beside the defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvPolicy {
    /// Not given.
    pub strip: Vec<String>,
    /// Given though they are left out by default.
    pub pass: Vec<String>,
}

/// Reads a reply out of JSON text, or says in a lower-case fragment why it is none.
pub type ReadReply = fn(&str) -> Result<Verdict, String>;

/// Whose rules hold for event names and matchers in hooks that are written with native keys.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// The rows that say what an event's subject is and what an answer may do.
    pub profile: &'static Profile,
    /// What an event name means; `None` for a name that nobody uses.
    pub event: fn(&str) -> Option<EventKind>,
    /// Reads a matcher; a text alone is a list of one.
    pub matcher: fn(&[&str]) -> Result<Matcher, MatcherError>,
    /// Reads the JSON text of a `reply_json`, which only test files have.
    pub reply_json: Option<ReadReply>,
}

/// The rules of the native hooks file.
pub const NATIVE: Dialect = Dialect {
    profile: &PROFILE,
    event: names::event_kind,
    matcher: native_matcher,
    reply_json: None,
};

pub(crate) fn native_matcher(texts: &[&str]) -> Result<Matcher, MatcherError> {
    match texts {
        [text] => Matcher::parse(text).map_err(|error| MatcherError { item: Some(0), ..error }),
        texts => Matcher::parse_list(texts),
    }
}

/// Reads a hooks file.
pub fn read(text: &str, file: &FileId<'_>) -> ConfigFile {
    read_as(text, file, NATIVE)
}

/// Reads a hooks file with native keys under the rules of a host.
pub fn read_as(text: &str, file: &FileId<'_>, dialect: Dialect) -> ConfigFile {
    let mut reader = Reader::new(text, *file, dialect);
    let mut read = match DeTable::parse(text) {
        Ok(table) => read_file(&mut reader, table.get_ref()),
        Err(error) => not_toml(&mut reader, &error),
    };
    read.diagnostics = reader.finish();
    read
}

/// Reads hooks with native keys out of a larger TOML file, whose text is `text`.
///
/// `hooks` is the value that holds the list of entries, `pointer` its place in the file, such as
/// `#/hook`. Only [`ConfigFile::entries`] and [`ConfigFile::diagnostics`] are filled.
pub fn read_hooks(
    text: &str,
    file: &FileId<'_>,
    dialect: Dialect,
    hooks: &Spanned<DeValue<'_>>,
    pointer: &str,
) -> ConfigFile {
    let mut reader = Reader::new(text, *file, dialect);
    let mut list = HookList::default();
    list.read(&mut reader, hooks, hooks.span(), pointer, None);
    let entries = list.finish(&mut reader);
    ConfigFile { parses: true, entries, diagnostics: reader.finish(), ..ConfigFile::default() }
}

fn not_toml(reader: &mut Reader<'_>, error: &toml::de::Error) -> ConfigFile {
    let span = error.span().unwrap_or(0..0);
    let message = error.message().trim();
    let help = if message.contains("duplicate key") {
        "a key or `[section]` may stand once; more hooks are more `[[hook]]` entries"
    } else {
        "look for a quote, a bracket or a comma that is missing here or on the line before"
    };
    reader.error("config.syntax", span.clone(), format!("this is not TOML: {message}"), help);
    let text = reader.text().to_owned();
    let hook = list::broken_guard(reader, "hooks file", 0, span.clone(), "#");
    ConfigFile {
        parses: false,
        entries: vec![Entry { hook, part: Part::File, text, span }],
        ..ConfigFile::default()
    }
}

fn read_file(reader: &mut Reader<'_>, root: &DeTable<'_>) -> ConfigFile {
    let mut file = ConfigFile { parses: true, ..ConfigFile::default() };
    let table = Table::new(Section::File, root);
    let mut hooks = HookList::default();
    let mut guards = Vec::new();
    if let Some(item) = table.get("version") {
        read_version(reader, &item);
    }
    if let Some(item) = table.get("hook") {
        hooks.read(reader, item.value, item.key_span, "#/hook", None);
    }
    if let Some(item) = table.get("permissions") {
        file.permissions_text = Some(canonical::text(item.value.get_ref()));
        let lists = sections::permissions(reader, &item);
        file.permissions = lists.rules;
        guards = lists.guards;
    }
    if let Some(item) = table.get("policy") {
        file.policy = sections::policy(reader, &item);
    }
    if let Some(item) = table.get("env") {
        file.env_text = Some(canonical::text(item.value.get_ref()));
        file.env = sections::env(reader, &item);
    }
    for (name, value) in table.unknown() {
        let at = reader.mark();
        reader.unknown_key(Section::File, name);
        read_lookalike(reader, name, value, at, &mut hooks, &mut guards);
    }
    file.entries = hooks.finish(reader);
    file.entries.append(&mut guards);
    file
}

fn read_version(reader: &mut Reader<'_>, item: &Item<'_, '_>) {
    let Some(version) = reader.integer(item) else { return };
    let span = item.value.span();
    if version > VERSION {
        reader.error(
            "config.version",
            span,
            format!("the file is written for a later version: this one reads format {VERSION}"),
            "update tenter; what this version knows of the file holds until then",
        );
    } else if version < VERSION {
        reader.error(
            "config.version",
            span,
            format!("there is no format {version}"),
            "write `version = 1`",
        );
    }
}

/// A section whose name is wrong, but which holds what only hooks or rules hold, or a key of theirs
/// without its section: it was meant to guard something, so it is read as broken rather than passed
/// over.
fn read_lookalike(
    reader: &mut Reader<'_>,
    name: &Spanned<DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
    blame: usize,
    hooks: &mut HookList,
    guards: &mut Vec<Entry>,
) {
    let tables: Vec<_> = match value.get_ref() {
        DeValue::Table(table) => vec![table],
        DeValue::Array(items) => {
            items.iter().filter_map(|item| item.get_ref().as_table()).collect()
        }
        _ => Vec::new(),
    };
    if sections::is_misplaced(name.get_ref()) {
        guards.append(&mut sections::misplaced(reader, name, value, blame));
        return;
    }
    let holds =
        |keys: &[&str]| tables.iter().any(|table| keys.iter().any(|key| table.contains_key(*key)));
    if holds(&["event", "command", "reply", "matcher", "on_failure"]) {
        hooks.read(
            reader,
            value,
            name.span(),
            &format!("#/{}", reader::shown(name.get_ref())),
            Some(blame),
        );
    } else if holds(&["deny", "ask"]) {
        guards.append(&mut sections::misnamed_permissions(reader, name, value, blame));
    }
}
