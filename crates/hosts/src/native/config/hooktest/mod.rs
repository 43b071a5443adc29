//! Reads a test file (`*.hooktest.toml`): hooks with native keys, and cases that say what is to come
//! of an event.
//!
//! A pure function of the text, like the reader of the hooks file, whose entries and rules it shares.
//! It owns the format and what an expectation matches. Making the files of a case and firing its
//! events are for whoever runs it.

mod case;
mod expect;
mod profile;
mod reply_json;
mod value;

#[cfg(test)]
mod tests;

use tenter_core::diagnostic::{Diagnostic, Position, Severity};
use tenter_core::hook::{Hook, Level};
use tenter_core::json::Json;
use toml::de::{DeTable, DeValue};

pub use self::expect::{Expect, Mismatch};
use self::profile::{dialect, profile, unknown};
use super::list::HookList;
use super::reader::{Item, Reader, Table, Text, shown};
use super::{FileId, Permission, sections};
use crate::codec::Host;
use crate::native::HOST;
use crate::native::keys::Section;

/// How the name of a test file ends.
pub const SUFFIX: &str = ".hooktest.toml";

/// What a test file says.
#[derive(Debug, Clone)]
pub struct TestFile {
    /// The host whose rules hold.
    pub host: Host,
    /// The host's config to use, as it is written, and where that stands.
    pub config: Option<(String, Position)>,
    /// The hooks of every case, if the file has any say in that.
    pub hooks: Option<Vec<Hook>>,
    /// What surrounds every case.
    pub setting: Setting,
    /// The cases in order.
    pub cases: Vec<Case>,
    /// Everything there is to say about the file, in its order. With an error among it, no case of
    /// the file is to run.
    pub diagnostics: Vec<Diagnostic>,
}

impl TestFile {
    /// Whether something in it does not work.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// What surrounds a case.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// Variables of the session.
    pub env: Vec<(String, String)>,
    /// Files of the project.
    pub files: Vec<NewFile>,
    /// Files of the home folder.
    pub home_files: Vec<NewFile>,
    /// Permission rules.
    pub permissions: Vec<Permission>,
    /// Whether the hooks of the project are trusted.
    pub trust_project: Option<bool>,
}

/// A file to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Its path: relative, and without a way up.
    pub path: String,
    /// Its text.
    pub content: String,
    /// Its permissions, if it says any.
    pub mode: Option<u32>,
}

/// One case.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub position: Position,
    /// What surrounds it, beside the setting of the file.
    pub setting: Setting,
    /// Its hooks, if it has any say in that.
    pub hooks: Option<Vec<Hook>>,
    /// Its events in order; a case without steps has one.
    pub steps: Vec<Step>,
    /// How long all its events may take, in milliseconds.
    pub max_ms: Option<u64>,
    /// What is checked at the end.
    pub after: Vec<After>,
}

/// One event and what is to come of it.
#[derive(Debug, Clone)]
pub struct Step {
    /// Where it stands.
    pub position: Position,
    /// The event, which can be read. Session and directory may be missing.
    pub event: Json,
    /// What is expected, if anything.
    pub expect: Option<Expect>,
    /// How long it may take, in milliseconds.
    pub max_ms: Option<u64>,
}

/// A command at the end of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct After {
    /// Where it stands.
    pub position: Position,
    /// What the shell runs.
    pub command: String,
    /// How it has to exit.
    pub exit: i32,
}

/// Reads a test file. `name` is how messages call it, `folder` the absolute path of its folder.
pub fn read(text: &str, name: &str, folder: &str) -> TestFile {
    let id = FileId { name, path: name, folder, level: Level::User };
    let mut reader = Reader::new(text, id, dialect(&HOST));
    let mut file = TestFile {
        host: HOST,
        config: None,
        hooks: None,
        setting: Setting::default(),
        cases: Vec::new(),
        diagnostics: Vec::new(),
    };
    match DeTable::parse(text) {
        Ok(root) => read_root(&mut reader, root.get_ref(), &mut file),
        Err(error) => {
            let message = error.message().trim();
            let span = error.span().unwrap_or(0..0);
            let help = if message.contains("duplicate key") {
                "a key or `[section]` may stand once; more cases are more `[[case]]` entries"
            } else {
                "look for a quote, a bracket or a comma that is missing here or on the line before"
            };
            reader.error("test.syntax", span, format!("this is not TOML: {message}"), help);
        }
    }
    file.diagnostics = reader.finish();
    file
}

fn read_root(reader: &mut Reader<'_>, root: &DeTable<'_>, file: &mut TestFile) {
    let table = Table::new(Section::TestFile, root);
    for (name, _) in table.unknown() {
        reader.unknown_key(Section::TestFile, name);
    }
    // First, since it says how the hooks are read.
    if let Some(name) = reader.text_of(table.get("profile").as_ref()) {
        if let Some(found) = profile(name.text) {
            file.host = found;
            reader.dialect = dialect(&found);
        } else {
            let (message, help) = unknown(name.text);
            reader.error("test.unknown-profile", name.span, message, help);
        }
    }
    file.config = reader
        .text_of(table.get("config").as_ref())
        .map(|path| (path.text.to_owned(), reader.position(path.span)));
    file.hooks = read_hooks(reader, table.get("hook").as_ref(), "#/hook");
    file.setting = read_setting(reader, &table);
    let at = reader.mark();
    match table.get("case") {
        Some(item) => file.cases = case::read_cases(reader, &item),
        None => reader.error(
            "test.no-case",
            0..0,
            "the file has no case",
            "write `[[case]]` with `name`, `event` and `expect`",
        ),
    }
    if file.cases.is_empty() && reader.errors_since(at).next().is_none() {
        reader.error("test.no-case", 0..0, "the list of cases is empty", "write `[[case]]`");
    }
}

/// The hooks of a file or a case; `None` if there is no such key.
fn read_hooks(
    reader: &mut Reader<'_>,
    item: Option<&Item<'_, '_>>,
    pointer: &str,
) -> Option<Vec<Hook>> {
    let item = item?;
    let mut list = HookList::default();
    list.read(reader, item.value, item.key_span.clone(), pointer, None);
    Some(list.finish(reader).into_iter().map(|entry| entry.hook).collect())
}

/// The keys that files and cases share.
fn read_setting(reader: &mut Reader<'_>, table: &Table<'_, '_>) -> Setting {
    let env = reader.text_table(table.get("env").as_ref()).unwrap_or_default();
    for (name, value) in &env {
        if name.text.is_empty() || name.text.contains(['=', '\0']) || value.text.contains('\0') {
            reader.error(
                "test.bad-value",
                name.span.clone(),
                format!("a process cannot be given the variable `{}`", shown(name.text)),
                "names have no `=`, and neither names nor values a NUL",
            );
        }
    }
    let permissions = table.get("permissions").map(|item| sections::permissions(reader, &item));
    Setting {
        env: env.into_iter().map(|(name, value)| (name.text.into(), value.text.into())).collect(),
        files: value::read_files(reader, table.get("files").as_ref()),
        home_files: value::read_files(reader, table.get("home_files").as_ref()),
        permissions: permissions.map(|lists| lists.rules).unwrap_or_default(),
        trust_project: reader.flag(table.get("trust_project").as_ref()),
    }
}

/// A whole number that is not below zero.
fn count(reader: &mut Reader<'_>, item: Option<&Item<'_, '_>>) -> Option<u64> {
    let item = item?;
    let number = reader.integer(item)?;
    let count = u64::try_from(number).ok();
    if count.is_none() {
        reader.error(
            "test.bad-value",
            item.value.span(),
            format!("`{}` cannot be {number}", item.key.name),
            format!("as in `{}`", item.key.example),
        );
    }
    count
}

/// The text of a key that has to be there and say something.
fn needed<'t>(
    reader: &mut Reader<'_>,
    table: &Table<'t, '_>,
    name: &'static str,
    span: &std::ops::Range<usize>,
) -> Option<Text<'t>> {
    let Some(item) = table.get(name) else {
        let section = table.section();
        let key = section.key(name);
        reader.error(
            "test.missing",
            span.clone(),
            format!("{} has no `{name}`", section.as_str()),
            key.map(|key| format!("as in `{}`", key.example)).unwrap_or_default(),
        );
        return None;
    };
    let text = reader.text_of(Some(&item))?;
    if text.text.trim().is_empty() {
        reader.error(
            "test.bad-value",
            text.span,
            format!("`{name}` is empty"),
            format!("as in `{}`", item.key.example),
        );
        return None;
    }
    Some(text)
}

/// The tables of a list, each with its place.
fn tables<'t, 'i>(
    reader: &mut Reader<'_>,
    item: &Item<'t, 'i>,
) -> Vec<(&'t DeTable<'i>, std::ops::Range<usize>)> {
    let DeValue::Array(values) = item.value.get_ref() else {
        reader.wrong_type(item);
        return Vec::new();
    };
    let mut tables = Vec::with_capacity(values.len());
    for value in values {
        match value.get_ref() {
            DeValue::Table(table) => tables.push((table, value.span())),
            other => {
                let found = super::reader::type_name(other);
                reader.error(
                    "test.wrong-type",
                    value.span(),
                    format!("`{}` holds {found}, and tables are expected", item.key.name),
                    format!("as in `{}`", item.key.example),
                );
            }
        }
    }
    tables
}
