//! Permission rules and `if` conditions: `Read(**/.env)`, `WebFetch(domain:*.example.com)`,
//! `mcp__github__*`, `Agent(reviewer)`, `Bash`, `*`.
//!
//! Owns what a rule means for one call and what a set of rules decides. A rule that could silently
//! miss what it was written for does not parse. Following links is the caller's business: it hands
//! in every path in both forms, see [`PathPair`].
//!
//! | rule | speaks of |
//! |---|---|
//! | `NAME` or a glob such as `mcp__github__*` | calls of tools with that name |
//! | `Read`, `Read(PATH)` | Read, Glob and Grep: tools that read files |
//! | `Edit`, `Edit(PATH)` | Edit, Write, `MultiEdit` and `NotebookEdit`: tools that change files |
//! | `Write(PATH)`, `MultiEdit(PATH)`, `NotebookEdit(PATH)`, `Glob(PATH)`, `Grep(PATH)` | that tool alone |
//! | `WebFetch(domain:HOST)` | the host itself, with any scheme and port; `*.HOST` is its subdomains without itself |
//! | `WebFetch(https://HOST/PATH*)` | addresses; `*` is any run of characters, all else stands for itself |
//! | `Bash(PATTERN)` | shell lines in which a command matches: its words joined by one space, `*` is any run; options in any spelling and place |
//! | `Agent(TYPE)` | subagents of a type, a name or a glob |
//!
//! A file that a shell command writes is judged by the rules for Edit and Write with a path, one that
//! it reads by those for Read.
//!
//! A search (Glob, Grep) is judged by the folder it starts in and by the literal part of its own
//! pattern, not by every file it may come across.

mod command;
mod example;
mod input;
mod meaning;
mod parse;
mod patch;
mod path;
mod set;
mod url;
mod wildcard;

use std::fmt;
use std::sync::Arc;

pub use self::command::ShellCall;
pub use self::example::Example;
pub use self::input::{ToolPaths, paths_of};
pub use self::parse::RuleError;
pub use self::path::{PathPair, Place, Places, escaped, normalise};
pub use self::set::{RuleSet, Ruling};

use self::command::{CommandPattern, FileOf};
use self::path::PathPattern;
use self::url::UrlPattern;
use crate::json::Json;
use crate::matcher::Part;

/// Three-valued truth: what cannot be known is [`Truth::Maybe`].
///
/// The order makes `max` the logical or, and `min` the logical and.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Truth {
    /// It does not hold.
    No,
    /// It cannot be known.
    Maybe,
    /// It holds.
    Yes,
}

impl From<bool> for Truth {
    fn from(known: bool) -> Self {
        if known { Self::Yes } else { Self::No }
    }
}

/// The paths that a call is about.
#[derive(Debug, Clone, Copy)]
pub enum Paths<'a> {
    /// All of them. None for a tool that has paths means that they are not known.
    Known(&'a [PathPair]),
    /// The call has paths and they cannot be read, as in a patch that is broken.
    Unreadable,
}

/// One tool call, as rules look at it.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The canonical name of the tool.
    pub tool: &'a str,
    /// The host's own name of the tool, if it has another. Rules without a pattern may use it.
    pub host_tool: Option<&'a str>,
    /// The input in its canonical shape.
    pub input: &'a Json,
    /// The paths in it, see [`paths_of`].
    pub paths: Paths<'a>,
    /// What the command of a shell call would run. `None` where that is not known: every pattern
    /// over commands may match then.
    pub shell: Option<&'a ShellCall>,
    /// Where it happens.
    pub places: &'a Places,
}

/// One rule. Cheap to clone.
#[derive(Clone)]
pub struct Rule(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    text: Box<str>,
    tool: Tool,
    pattern: Pattern,
    examples: Box<[Example]>,
}

/// The tools that a rule speaks of.
#[derive(Clone)]
enum Tool {
    All,
    /// Several tools under the name of one.
    Family(&'static [&'static str]),
    Name(Part),
}

/// What a rule asks of the input.
#[derive(Clone)]
enum Pattern {
    /// Nothing: the tool's name is enough.
    Any,
    Command(CommandPattern),
    Path(PathPattern),
    Url(UrlPattern),
    Agent(Part),
}

/// The tool that runs shell commands.
const SHELL: &str = "Bash";
/// The tools that read files; the first is the name that rules use for all of them.
const READERS: &[&str] = &["Read", "Glob", "Grep"];
/// The tools that change files; the first is the name that rules use for all of them.
const EDITORS: &[&str] = &["Edit", "Write", "MultiEdit", "NotebookEdit"];

impl Tool {
    fn covers_any(&self, tools: &[&str]) -> bool {
        tools.iter().any(|tool| self.covers(tool))
    }

    fn covers(&self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Family(names) => names.contains(&tool),
            Self::Name(part) => part.matches(tool),
        }
    }
}

/// Which way an uncertain reading counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// For deny, ask and `if`: one reading that matches is enough.
    Any,
    /// For allow: every reading has to match.
    Every,
}

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// The text is not a rule, or one that could never match as it is meant.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        parse::rule(text)
    }

    /// The rule as written, without white space around it.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Whether the rule speaks of any part of the call, in any reading of it: the question of deny
    /// and ask rules and of `if`.
    pub fn matches(&self, call: &Call<'_>) -> Truth {
        if !self.covers_tool(call) {
            return self.matches_files_of_shell(call);
        }
        match (&self.0.pattern, call.paths) {
            (Pattern::Path(pattern), Paths::Known(paths @ [_, ..])) => paths
                .iter()
                .map(|path| pattern.matches(path, call.places, Side::Any))
                .max()
                .unwrap_or(Truth::Maybe),
            (Pattern::Path(_), _) => Truth::Maybe,
            _ => self.matches_whole(call, Side::Any),
        }
    }

    /// Whether a rule over paths speaks of a file that a shell command writes or reads.
    fn matches_files_of_shell(&self, call: &Call<'_>) -> Truth {
        let Pattern::Path(pattern) = &self.0.pattern else { return Truth::No };
        if call.tool != SHELL {
            return Truth::No;
        }
        let Some(shell) = call.shell else { return Truth::Maybe };
        let files = if self.0.tool.covers_any(EDITORS) { shell.writes() } else { shell.reads() };
        let known = files.iter().map(|file| match file {
            FileOf::Known(pairs) => pairs
                .iter()
                .map(|pair| pattern.matches(pair, call.places, Side::Any))
                .max()
                .unwrap_or(Truth::Maybe),
            FileOf::Found(found) => pattern.matches_found(found, call.places),
            FileOf::Unknown => Truth::Maybe,
        });
        let unknown = if shell.has_unknowns() { Truth::Maybe } else { Truth::No };
        known.max().unwrap_or(Truth::No).max(unknown)
    }

    /// Whether the rule, as an allow, covers one command of a shell call for certain.
    fn covers_command(&self, call: &Call<'_>, command: &tenter_shell::Simple) -> bool {
        match &self.0.pattern {
            Pattern::Command(pattern) => {
                self.covers_tool(call) && pattern.covers(command) == Truth::Yes
            }
            _ => false,
        }
    }

    /// Whether the rule, as an allow, covers one file that a shell call writes for certain.
    fn covers_write(&self, call: &Call<'_>, file: &FileOf) -> bool {
        match (&self.0.pattern, file) {
            (Pattern::Path(pattern), FileOf::Known(pairs)) if self.0.tool.covers_any(EDITORS) => {
                !pairs.is_empty()
                    && pairs
                        .iter()
                        .all(|pair| pattern.matches(pair, call.places, Side::Every) == Truth::Yes)
            }
            _ => false,
        }
    }

    /// Whether the rule speaks of the whole call, in every reading of it: the question of allow
    /// rules.
    pub fn covers(&self, call: &Call<'_>) -> Truth {
        match call.paths {
            Paths::Known(paths @ [_, ..]) => {
                paths.iter().map(|path| self.covers_path(call, path)).min().unwrap_or(Truth::Maybe)
            }
            _ => self.covers_rest(call),
        }
    }

    /// [`Rule::covers`] for one path of the call and all in the call that is no path.
    fn covers_path(&self, call: &Call<'_>, path: &PathPair) -> Truth {
        match &self.0.pattern {
            Pattern::Path(pattern) if self.covers_tool(call) => {
                pattern.matches(path, call.places, Side::Every)
            }
            _ => self.covers_rest(call),
        }
    }

    fn covers_rest(&self, call: &Call<'_>) -> Truth {
        if !self.covers_tool(call) {
            return Truth::No;
        }
        match &self.0.pattern {
            Pattern::Path(_) => Truth::Maybe,
            _ => self.matches_whole(call, Side::Every),
        }
    }

    fn covers_tool(&self, call: &Call<'_>) -> bool {
        let by_host_name = || {
            matches!(self.0.pattern, Pattern::Any)
                && call.host_tool.is_some_and(|tool| self.0.tool.covers(tool))
        };
        self.0.tool.covers(call.tool) || by_host_name()
    }

    fn matches_whole(&self, call: &Call<'_>, side: Side) -> Truth {
        match &self.0.pattern {
            Pattern::Any => Truth::Yes,
            Pattern::Command(pattern) => match (call.shell, side) {
                (Some(shell), Side::Any) => pattern.matches_any(shell),
                // Whether every part of a line is allowed is the rule set's question.
                _ => Truth::Maybe,
            },
            Pattern::Path(_) => Truth::Maybe,
            Pattern::Url(pattern) => match input::text_of(call.input, "url") {
                Some(url) => pattern.matches(&url, side),
                None => Truth::Maybe,
            },
            Pattern::Agent(part) => match input::text_of(call.input, "subagent_type") {
                Some(agent) => part.matches(&agent).into(),
                None => Truth::Maybe,
            },
        }
    }

    /// Whether calls of this tool can concern the rule at all.
    pub fn could_match(&self, tool: &str) -> bool {
        let files_of_shell = tool == SHELL && matches!(self.0.pattern, Pattern::Path(_));
        self.0.tool.covers(tool) || files_of_shell
    }

    /// Whether every tool call concerns the rule, whatever its tool and input.
    pub fn is_all(&self) -> bool {
        matches!((&self.0.tool, &self.0.pattern), (Tool::All, Pattern::Any))
    }

    /// Resolves the literal start of the rule's paths, so that a deny of `/bin/**` holds for
    /// `/usr/bin` too where the one is a link to the other.
    ///
    /// `resolve` gives the form of an absolute path without links, as far as the path exists;
    /// `None` if that cannot be told. Only deny, ask and `if` look at it: an allow rule never
    /// follows a link that stands in its own pattern, since who may write below it may have made it.
    pub fn resolve_bases(
        &mut self,
        places: &Places,
        resolve: &mut dyn FnMut(&str) -> Option<String>,
    ) {
        if matches!(self.0.pattern, Pattern::Path(_))
            && let Pattern::Path(pattern) = &mut Arc::make_mut(&mut self.0).pattern
        {
            pattern.resolve_bases(places, resolve);
        }
    }

    /// Why the rule can only say maybe about a call.
    fn doubt(&self, call: &Call<'_>) -> &'static str {
        match (&self.0.pattern, call.paths) {
            (Pattern::Any, _) => "",
            (Pattern::Command(_), _) => "what the command runs is decided when it runs",
            (Pattern::Path(_), _) if call.tool == SHELL => {
                "which files the command uses is decided when it runs"
            }
            (Pattern::Path(_), Paths::Known([_, ..])) => {
                "where a path or a place leads to is not known"
            }
            (Pattern::Path(_), _) => "the paths in the input cannot be read",
            (Pattern::Url(_), _) => "readers disagree about the address in the input",
            (Pattern::Agent(_), _) => "the input does not say which agent is meant",
        }
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text
    }
}

impl Eq for Rule {}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({})", self.0.text)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl std::str::FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests;
