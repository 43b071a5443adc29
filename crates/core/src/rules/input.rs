//! What rules need out of a tool's input: its paths, its address, its agent.
//!
//! An input in which a key stands twice is not readable: the tool may take the other one.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

use super::{EDITORS, READERS, patch};
use crate::json::Json;

/// Readers differ about these: some end a text at a NUL, and U+FFFD may stand for half a character
/// that others keep.
const UNCLEAR: [char; 2] = ['\0', '\u{fffd}'];

/// The paths in a tool's input, as they stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolPaths {
    /// The tool is not about paths.
    None,
    /// At least one.
    Known(Vec<String>),
    /// It must have a path, and none can be read.
    Unreadable,
}

/// The paths in the canonical input of a tool, relative ones as they stand.
///
/// Reads `file_path`, `path` and `notebook_path`, the list `file_paths`, and the files of a `patch`,
/// whichever are there. A search without a path starts in `.`, and the literal part of its own
/// pattern counts as a path too. A text with NUL or U+FFFD, another value than a text, a patch in an
/// unknown form, and a key that stands twice are unreadable.
pub fn paths_of(tool: &str, input: &Json) -> ToolPaths {
    let is_search = matches!(tool, "Glob" | "Grep");
    if !READERS.contains(&tool) && !EDITORS.contains(&tool) {
        return ToolPaths::None;
    }
    let filter = match tool {
        "Glob" => "pattern",
        "Grep" => "glob",
        // No key of any tool.
        _ => "",
    };
    read_paths(input, is_search, filter).map_or(ToolPaths::Unreadable, ToolPaths::Known)
}

fn read_paths(input: &Json, is_search: bool, filter: &str) -> Option<Vec<String>> {
    let [file, path, notebook, list, envelope, filter] =
        members(input, ["file_path", "path", "notebook_path", "file_paths", "patch", filter])?;
    let mut paths = Vec::new();
    if let Some(list) = list {
        let files: Vec<String> = serde_json::from_str(list.as_text()).ok()?;
        if files.iter().any(|file| file.is_empty() || file.contains(UNCLEAR)) {
            return None;
        }
        paths.extend(files);
    }
    if let Some(envelope) = envelope {
        paths.extend(patch::files_of(&envelope.as_str()?)?);
    }
    for value in [file, path, notebook].into_iter().flatten().filter(|value| !value.is_null()) {
        let path = value.as_str().filter(|path| !path.contains(UNCLEAR))?.into_owned();
        match (path.is_empty(), is_search) {
            (false, _) => paths.push(path),
            (true, true) => {}
            (true, false) => return None,
        }
    }
    if !is_search {
        return (!paths.is_empty()).then_some(paths);
    }
    if paths.is_empty() {
        paths.push(".".into());
    }
    if let Some(filter) = filter.filter(|value| !value.is_null()) {
        let filter = filter.as_str().filter(|filter| !filter.contains(UNCLEAR))?;
        if let Some(inner) = literal_part(&filter) {
            let below: Vec<_> = paths.iter().map(|root| join(root, &inner)).collect();
            paths.extend(below);
        }
    }
    Some(paths)
}

/// The path under a folder; an absolute path stays.
pub(super) fn join(folder: &str, path: &str) -> String {
    if path.starts_with('/') || folder.is_empty() {
        return path.to_owned();
    }
    format!("{}/{path}", folder.strip_suffix('/').unwrap_or(folder))
}

/// The start of a search pattern up to its first wildcard. `**` stands for no folder too, so
/// `**/.env` gives `.env`, which is one of the files it may find.
fn literal_part(pattern: &str) -> Option<String> {
    let rooted = pattern.starts_with('/');
    let kept: Vec<_> = pattern
        .split('/')
        .filter(|component| !component.is_empty() && *component != "**")
        .take_while(|component| !component.contains(['*', '?', '[', '{', '\\', '!']))
        .collect();
    let kept = kept.join("/");
    match (rooted, kept.is_empty()) {
        (true, _) => Some(format!("/{kept}")),
        (false, true) => None,
        (false, false) => Some(kept),
    }
}

/// The text of one key; `None` if it is missing, no text, or there twice.
pub(super) fn text_of(input: &Json, key: &str) -> Option<String> {
    let [value] = members(input, [key])?;
    value?.as_str().map(Cow::into_owned)
}

/// Some members of an object; `None` if it is none, or one of the keys stands twice.
fn members<const N: usize>(input: &Json, keys: [&str; N]) -> Option<[Option<Json>; N]> {
    if !input.is_object() {
        return None;
    }
    serde_json::Deserializer::from_str(input.as_text()).deserialize_map(Wanted(keys)).ok().flatten()
}

struct Wanted<'a, const N: usize>([&'a str; N]);

impl<'de, const N: usize> Visitor<'de> for Wanted<'_, N> {
    type Value = Option<[Option<Json>; N]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [const { None }; N];
        let mut twice = false;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let slot = self.0.iter().zip(&mut found).find(|(wanted, _)| **wanted == key);
            match slot {
                Some((_, slot)) => twice |= slot.replace(map.next_value()?).is_some(),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok((!twice).then_some(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(paths: &[&str]) -> ToolPaths {
        ToolPaths::Known(paths.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_paths_of_each_tool_are_found() {
        for (tool, input, expected) in [
            ("Read", r#"{"file_path":"a"}"#, known(&["a"])),
            ("Read", r#"{"file_path":"a","path":"b"}"#, known(&["a", "b"])),
            ("Edit", r#"{"file\u005fpath":"a\u002fb"}"#, known(&["a/b"])),
            ("NotebookEdit", r#"{"notebook_path":"n"}"#, known(&["n"])),
            ("Glob", r#"{"pattern":"*.rs"}"#, known(&["."])),
            ("Glob", r#"{"pattern":"**/.env"}"#, known(&[".", "./.env"])),
            ("Glob", r#"{"pattern":"secrets/*","path":"/p/"}"#, known(&["/p/", "/p/secrets"])),
            ("Glob", r#"{"pattern":"/etc/*"}"#, known(&[".", "/etc"])),
            ("Grep", r#"{"pattern":"/x/","path":null,"glob":".env"}"#, known(&[".", "./.env"])),
            ("Grep", r#"{"pattern":"x","path":""}"#, known(&["."])),
            ("Bash", r#"{"command":"ls"}"#, ToolPaths::None),
        ] {
            assert_eq!(paths_of(tool, &Json::parse(input).unwrap()), expected, "{tool} {input}");
        }
    }

    #[test]
    fn a_path_that_cannot_be_read_is_said_to_be_so() {
        for input in [
            "{}",
            "[]",
            r#"{"file_path":""}"#,
            r#"{"file_path":null}"#,
            r#"{"file_path":7}"#,
            r#"{"file_path":["a"]}"#,
            r#"{"file_path":"a\u0000b"}"#,
            r#"{"file_path":"\ud800"}"#,
            r#"{"file_path":"a","file_path":"b"}"#,
            r#"{"file_path":"a","file\u005fpath":"b"}"#,
        ] {
            let input = Json::parse(input).unwrap();
            assert_eq!(paths_of("Write", &input), ToolPaths::Unreadable, "{input}");
        }
        let input = Json::parse(r#"{"pattern":7}"#).unwrap();
        assert_eq!(paths_of("Glob", &input), ToolPaths::Unreadable);
    }
}
