//! The rule set `self`: an agent asks before it changes what watches it.
//!
//! Owns which files and commands these are, and how a call is judged by that. The rules are of
//! managed level and always on where hooks come from files. They differ from rules that a person
//! writes in one thing: what of a shell line cannot be told counts only if the line names one of
//! these files, since else every script of an agent would have to be asked about.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use tenter_core::hook::{Handler, Hook, Level};
use tenter_core::rules::{Call, Paths, Rule, RuleSet, Ruling, Truth, escaped};
use tenter_core::verdict::Decision;
use tenter_hosts::files::{HOOK_FILES, HOOK_FOLDERS};

use super::Loaded;
use super::candidates::candidate_files;
use super::placeholder::CommandContext;
use super::places::{Places, resolve_links};

/// Where a ruling of this set says that it stands.
const SOURCE: &str = "self";

/// Commands that change which hooks run.
const COMMANDS: [&str; 4] =
    ["tenter trust", "tenter untrust", "tenter install", "tenter uninstall"];

/// The rule set `self` of one loaded configuration. The rules are made when the first call needs
/// them: most calls change no file.
pub(crate) struct SelfRules {
    places: Places,
    placeholders: Vec<(String, OsString)>,
    hooks: Vec<Arc<Hook>>,
    /// The files that were looked for.
    files: Vec<String>,
    made: OnceLock<Made>,
}

struct Made {
    rules: RuleSet,
    /// What a line says that names one of the files, and the rule that it may break.
    marks: Vec<(String, Rule)>,
}

impl SelfRules {
    pub(crate) fn new(
        places: &Places,
        placeholders: &[(String, OsString)],
        loaded: &Loaded,
    ) -> Self {
        Self {
            places: places.clone(),
            placeholders: placeholders.to_vec(),
            hooks: loaded.hooks.clone(),
            files: loaded.files.iter().map(|file| text_of(&file.path)).collect(),
            made: OnceLock::new(),
        }
    }

    /// Whether the set can have anything to say about calls of a tool.
    pub(crate) fn speaks_of(tool: &str) -> bool {
        matches!(tool, "Bash" | "Edit" | "Write" | "MultiEdit" | "NotebookEdit")
    }

    /// What the set says about a call: to ask, or nothing.
    pub(crate) fn judge(&self, call: &Call<'_>) -> Option<Ruling<'_>> {
        let Some(shell) = call.shell else {
            return match call.paths {
                Paths::Known([_, ..]) => self.made().rules.judge(call),
                _ => {
                    self.named_in(call, "the call names such a file, and its paths cannot be read")
                }
            };
        };
        if shell.writes_anything() || shell.runs("tenter") {
            let known = shell.known_part();
            let ruling = self.made().rules.judge(&Call { shell: Some(&known), ..*call });
            if ruling.is_some() {
                return ruling;
            }
        }
        if !shell.has_unknowns() {
            return None;
        }
        self.named_in(
            call,
            "the command names such a file, and what it does is decided when it runs",
        )
    }

    /// What is not known of a call may be about these files if its text names one.
    fn named_in(&self, call: &Call<'_>, why: &'static str) -> Option<Ruling<'_>> {
        let text = call.input.as_text();
        let (_, rule) = self.made().marks.iter().find(|(mark, _)| text.contains(mark))?;
        Some(Ruling {
            decision: Decision::Ask,
            list: Decision::Ask,
            rule,
            level: Level::Managed,
            source: SOURCE,
            truth: Truth::Maybe,
            why,
        })
    }

    fn made(&self) -> &Made {
        self.made.get_or_init(|| self.make())
    }

    fn make(&self) -> Made {
        let mut patterns = Vec::new();
        let mut folder = |path: &Path| {
            let path = escaped(&text_of(path));
            patterns.push(path.clone());
            patterns.push(format!("{path}/**"));
        };
        folder(&self.places.managed);
        folder(&self.places.config_home.join("tenter"));
        folder(&self.places.state_home);
        patterns
            .extend([".tenter", ".tenter/hooks.toml", ".tenter/hooks.local.toml"].map(Into::into));
        patterns.extend(self.files.iter().map(|file| escaped(file)));
        patterns.extend(HOOK_FILES.iter().map(|file| (*file).to_owned()));
        patterns.extend(self.scripts());
        let folders = HOOK_FOLDERS.iter().map(|folder| (None, format!("Edit({folder})")));
        let edits =
            patterns.iter().map(|pattern| (Some(mark_of(pattern)), format!("Edit({pattern})")));
        let commands =
            COMMANDS.iter().map(|one| (Some((*one).to_owned()), format!("Bash({one} *)")));

        let mut made = Made { rules: RuleSet::new(), marks: Vec::new() };
        for (mark, text) in edits.chain(commands).chain(folders) {
            // A path that is no pattern even when escaped is one that nobody can name in a rule.
            let Ok(rule) = Rule::parse(&text) else { continue };
            if let Some(mark) = mark
                && !made.marks.iter().any(|(other, _)| *other == mark)
            {
                made.marks.push((mark, rule.clone()));
            }
            made.rules.add_ask(rule, Level::Managed, SOURCE);
        }
        made.rules.resolve_bases(&self.places.for_rules(), &mut |path| resolve_links(path));
        made
    }

    /// The files that commands of hooks name, as patterns: those that trust watches.
    fn scripts(&self) -> Vec<String> {
        let context = CommandContext::of(&self.places, &self.placeholders);
        let commands = self.hooks.iter().filter_map(|hook| match &hook.handler {
            Handler::Command(command) => Some(command),
            _ => None,
        });
        let mut scripts = Vec::new();
        for command in commands {
            let base = command.base.as_ref().map_or(self.places.project.as_path(), Path::new);
            for (path, named) in candidate_files(command, &context) {
                let inside = path.starts_with(&self.places.project) || path.starts_with(base);
                if named || (inside && path.is_file()) {
                    scripts.push(escaped(&text_of(&path)));
                }
            }
        }
        scripts
    }
}

impl std::fmt::Debug for SelfRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SelfRules").finish_non_exhaustive()
    }
}

fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The part of a pattern by which a text names one of its files: at most the last two names.
fn mark_of(pattern: &str) -> String {
    let names: Vec<&str> =
        pattern.split('/').filter(|name| !matches!(*name, "" | "**" | "~")).collect();
    let from = names.len().saturating_sub(2);
    names.get(from..).unwrap_or_default().join("/").replace('\\', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_how_a_text_would_name_the_file() {
        for (pattern, mark) in [
            ("crush.json", "crush.json"),
            ("~/.claude/settings.json", ".claude/settings.json"),
            ("**/.codex/hooks.json", ".codex/hooks.json"),
            ("/home/u/.config/tenter/**", ".config/tenter"),
            ("/etc/tenter", "etc/tenter"),
            ("/p/a\\[1\\]/x.sh", "a[1]/x.sh"),
        ] {
            assert_eq!(mark_of(pattern), mark);
        }
    }
}
