//! `Read`, `Write` and `Edit`: text files.

use std::fs;
use std::path::Path;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{Tool, ToolContext, ToolOutput, spec, text, texts};
use crate::provider::ToolSpec;

/// The largest file that is read.
const MOST_BYTES: u64 = 1024 * 1024;

fn done<'a>(output: ToolOutput) -> BoxFuture<'a, ToolOutput> {
    Box::pin(std::future::ready(output))
}

/// A text file of a size that a model can take. Only a plain file is opened: a pipe could wait
/// for ever.
fn read(path: &Path, shown: &dyn std::fmt::Display) -> Result<String, String> {
    let about = |error: std::io::Error| format!("`{shown}` cannot be read: {error}");
    let meta = fs::metadata(path).map_err(about)?;
    if !meta.is_file() {
        return Err(format!("`{shown}` is no file"));
    }
    if meta.len() > MOST_BYTES {
        return Err(format!("`{shown}` has {} bytes, more than {MOST_BYTES}", meta.len()));
    }
    String::from_utf8(fs::read(path).map_err(about)?)
        .map_err(|_| format!("`{shown}` is no UTF-8 text"))
}

fn write(path: &Path, content: &str, shown: &dyn std::fmt::Display) -> Result<(), String> {
    let about = |error: std::io::Error| format!("`{shown}` cannot be written: {error}");
    if fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        return Err(format!("`{shown}` is no file"));
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(about)?;
    }
    fs::write(path, content).map_err(about)
}

/// Reads a text file.
#[derive(Debug, Clone, Copy)]
pub struct Read;

impl Tool for Read {
    fn spec(&self) -> ToolSpec {
        spec(
            "Read",
            "Reads a text file.",
            json!({
                "type": "object",
                "properties": {
                    "file_path": { "type": "string", "minLength": 1, "description": "The file." },
                    "offset": { "type": "integer", "minimum": 1, "description": "First line." },
                    "limit": { "type": "integer", "minimum": 1, "description": "How many lines." },
                },
                "required": ["file_path"],
                "additionalProperties": false,
            }),
        )
    }

    fn is_read_only(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        let path = cx.path(text(input, "file_path"));
        let number = |key: &str| input[key].as_u64().and_then(|n| usize::try_from(n).ok());
        done(match read(&path, &cx.shown(&path)) {
            Err(why) => ToolOutput::error(why),
            Ok(whole) if input.get("offset").is_none() && input.get("limit").is_none() => {
                ToolOutput::ok(whole)
            }
            Ok(whole) => {
                let lines = whole.split_inclusive('\n');
                let lines = lines.skip(number("offset").unwrap_or(1) - 1);
                ToolOutput::ok(
                    lines.take(number("limit").unwrap_or(usize::MAX)).collect::<String>(),
                )
            }
        })
    }
}

/// Writes a text file.
#[derive(Debug, Clone, Copy)]
pub struct Write;

impl Tool for Write {
    fn spec(&self) -> ToolSpec {
        spec(
            "Write",
            "Writes a text file; one that is there is replaced.",
            texts(&[("file_path", true, "The file."), ("content", true, "The whole text.")]),
        )
    }

    fn edits_files(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        let (path, content) = (cx.path(text(input, "file_path")), text(input, "content"));
        let shown = cx.shown(&path);
        done(match write(&path, content, &shown) {
            Ok(()) => ToolOutput::ok(format!("wrote {} bytes to `{shown}`", content.len())),
            Err(why) => ToolOutput::error(why),
        })
    }
}

/// Replaces a text in a file.
#[derive(Debug, Clone, Copy)]
pub struct Edit;

impl Tool for Edit {
    fn spec(&self) -> ToolSpec {
        spec(
            "Edit",
            "Replaces a text in a file; it must stand there exactly once, or replace_all be true.",
            json!({
                "type": "object",
                "properties": {
                    "file_path": { "type": "string", "minLength": 1, "description": "The file." },
                    "old_string": { "type": "string", "minLength": 1, "description": "The text." },
                    "new_string": { "type": "string", "description": "What stands for it." },
                    "replace_all": { "type": "boolean", "description": "Everywhere." },
                },
                "required": ["file_path", "old_string", "new_string"],
                "additionalProperties": false,
            }),
        )
    }

    fn edits_files(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: &'a Value, cx: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        let path = cx.path(text(input, "file_path"));
        let shown = cx.shown(&path);
        let (old, new) = (text(input, "old_string"), text(input, "new_string"));
        let all = input["replace_all"] == Value::Bool(true);
        let edited = read(&path, &shown).and_then(|whole| {
            let count = whole.matches(old).count();
            match count {
                0 => return Err(format!("the text does not stand in `{shown}`")),
                1 => {}
                _ if all => {}
                _ => {
                    return Err(format!(
                        "the text stands {count} times in `{shown}`: give more of what is around \
                         it, or set replace_all"
                    ));
                }
            }
            write(&path, &whole.replace(old, new), &shown)?;
            Ok(format!("replaced {count} in `{shown}`"))
        });
        done(edited.map_or_else(ToolOutput::error, ToolOutput::ok))
    }
}
