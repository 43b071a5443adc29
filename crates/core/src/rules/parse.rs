//! From the text of a rule to its compiled form, and every way in which a text is none.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::command::CommandPattern;
use super::path::PathPattern;
use super::url::UrlPattern;
use super::{EDITORS, Inner, Pattern, READERS, Rule, SHELL, Tool};
use crate::glob::Flaw;
use crate::matcher::Part;
use crate::suggest::nearest;

/// Why a text is not a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    /// What is wrong, a lower-case fragment.
    pub message: String,
    /// The bytes of the text that are meant.
    pub span: Range<usize>,
    /// What to do.
    pub help: Cow<'static, str>,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RuleError {}

impl From<Flaw> for RuleError {
    fn from(flaw: Flaw) -> Self {
        Self { message: flaw.message, span: flaw.span, help: flaw.help }
    }
}

/// Tools whose rules may have a pattern.
const WITH_PATTERN: &[&str] = &[
    "Bash",
    "Read",
    "Glob",
    "Grep",
    "Edit",
    "Write",
    "MultiEdit",
    "NotebookEdit",
    "WebFetch",
    "Agent",
];

pub(super) fn rule(text: &str) -> Result<Rule, RuleError> {
    let trimmed = text.trim();
    let offset = text.len() - text.trim_start().len();
    parse(trimmed).map_err(|flaw| flaw.shifted(offset).into())
}

fn parse(text: &str) -> Result<Rule, Flaw> {
    if text.is_empty() {
        return Err(Flaw::new(
            0..0,
            "the rule is empty",
            "write a tool's name, or `*` for every tool",
        ));
    }
    let (name, pattern) = split(text)?;
    let tool = tool(name)?;
    let pattern = match pattern {
        None => Pattern::Any,
        Some((start, written)) => {
            let start = start + written.len() - written.trim_start().len();
            let written = written.trim();
            if written.is_empty() {
                return Err(Flaw::new(
                    name.len()..text.len(),
                    "nothing stands between the parentheses",
                    format!("write `{name}` alone if every call is meant"),
                ));
            }
            read_pattern(name, written, name.len()..text.len(), start)?
        }
    };
    Ok(Rule(Arc::new(Inner { text: text.into(), tool, pattern, examples: Box::default() })))
}

/// What stands between the parentheses, with its place.
type Inside<'a> = Option<(usize, &'a str)>;

/// The tool's part and the pattern's.
fn split(text: &str) -> Result<(&str, Inside<'_>), Flaw> {
    let Some((name, rest)) = text.split_once('(') else {
        return match text.find(')') {
            Some(at) => Err(Flaw::new(at..at + 1, "`)` without a `(` before it", "take it out")),
            None => Ok((text, None)),
        };
    };
    let start = name.len() + 1;
    if let Some(at) = name.find(')') {
        return Err(Flaw::new(at..at + 1, "`)` without a `(` before it", "take it out"));
    }
    if name.trim().is_empty() {
        return Err(Flaw::new(
            0..start,
            "no tool stands before the parentheses",
            "write the tool's name first, as in `Read(src/**)`",
        ));
    }
    let (mut depth, mut escaped) = (1_usize, false);
    for (at, character) in rest.char_indices() {
        match character {
            _ if escaped => {}
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        escaped = !escaped && character == '\\';
        if depth == 0 {
            let (inner, after) = rest.split_at(at);
            if after.len() > 1 {
                return Err(Flaw::new(
                    start + at + 1..text.len(),
                    "something stands after the closing `)`",
                    "write one rule for each tool; a `)` that is part of a name is written `\\)`",
                ));
            }
            return Ok((name, Some((start, inner))));
        }
    }
    Err(Flaw::new(
        name.len()..start,
        "`(` is not closed",
        "close it with `)`; one that is part of a name is written `\\(`",
    ))
}

fn tool(name: &str) -> Result<Tool, Flaw> {
    if name == "*" {
        return Ok(Tool::All);
    }
    if name.starts_with('/') {
        return Err(Flaw::new(
            0..name.len(),
            "a rule names a tool and takes no regex or path",
            "write a name or a glob such as `mcp__github__*`; for paths, `Read(/etc/**)`",
        ));
    }
    let is_apart = |character: char| character.is_whitespace() || "|,;&:=".contains(character);
    if let Some((at, character)) = name.char_indices().find(|(_, character)| is_apart(*character)) {
        let named_twice = matches!(character, '|' | ',' | ';' | '&');
        // A colon is part of names such as `plugin:tool`, with something on both sides.
        let inside = at > 0 && at + 1 < name.len();
        if character != ':' || !inside {
            return Err(Flaw::new(
                at..at + character.len_utf8(),
                format!("`{character}` stands in a tool's name"),
                if named_twice {
                    "write one rule for each tool"
                } else {
                    "write the tool's name alone, or `Tool(pattern)` without a space"
                },
            ));
        }
    }
    for family in [READERS, EDITORS] {
        if family.first() == Some(&name) {
            return Ok(Tool::Family(family));
        }
    }
    if let Some(server) = name.strip_prefix("mcp__")
        && !server.is_empty()
        && !server.contains("__")
        && !server.contains(['*', '?', '[', '{', '\\'])
    {
        return Err(Flaw::new(
            0..name.len(),
            format!("`{name}` names a server and no tool"),
            format!("write `{name}__*` for all tools of the server"),
        ));
    }
    Part::name_or_glob(name).map(Tool::Name)
}

fn read_pattern(
    name: &str,
    pattern: &str,
    parentheses: Range<usize>,
    start: usize,
) -> Result<Pattern, Flaw> {
    let at_place = |flaw: Flaw| flaw.shifted(start);
    match name {
        SHELL => CommandPattern::parse(pattern).map(Pattern::Command).map_err(at_place),
        "WebFetch" => UrlPattern::parse(pattern).map(Pattern::Url).map_err(at_place),
        "Agent" => {
            if pattern.contains(['(', ')', '|', ',']) {
                return Err(Flaw::new(
                    start..start + pattern.len(),
                    "an agent's type is one name or glob",
                    "write one rule for each type",
                ));
            }
            Part::name_or_glob(pattern).map(Pattern::Agent).map_err(at_place)
        }
        "WebSearch" => Err(Flaw::new(
            parentheses,
            "a search has no address to match",
            "write `WebSearch` alone; what is fetched is matched by `WebFetch(domain:…)`",
        )),
        _ if READERS.contains(&name) || EDITORS.contains(&name) => {
            PathPattern::parse(pattern).map(Pattern::Path).map_err(at_place)
        }
        _ => Err(Flaw::new(
            parentheses,
            format!("`{name}` takes no pattern"),
            if name.starts_with("mcp__") {
                "tools of servers are matched by name: write `mcp__server__tool` or a glob".into()
            } else if name == "Task" {
                "the tool that starts subagents is `Agent`".into()
            } else if let Some(known) = nearest(name, WITH_PATTERN.iter().copied()) {
                format!("did you mean `{known}(…)`? Otherwise write the name alone")
            } else {
                format!("write the name alone; patterns are for {}", WITH_PATTERN.join(", "))
            },
        )),
    }
}
