//! The files of a project: what of them holds, given what of them is trusted.
//!
//! Deny and ask rules, and variables that are stripped, hold in any case: they only tighten. Hooks,
//! allow rules and variables that are passed hold if they are trusted. A hook that was trusted and
//! has changed counts as failed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenter_core::diagnostic::{Diagnostic, Position};
use tenter_core::hook::{Handler, Hook, Level};
use tenter_core::outcome::Skip;
use tenter_core::verdict::Decision;
use tenter_hosts::config::{Candidate, CandidateKind, Entry as ConfigEntry, EnvPolicy, Part};

use super::FileState;
use super::candidates::candidate_files;
use super::change::fail_for_both;
use super::load::{Loader, NoText, Text};
use super::owner;
use crate::trust::{CandidateFile, Change, Entry, Judged, ScriptWatch, Standing, Trust};

/// A file of the project, or why it cannot be read.
struct ProjectFile {
    path: PathBuf,
    level: Level,
    content: Result<Text, String>,
}

impl Loader<'_> {
    /// The project's files, as far as they are allowed and trusted.
    pub(super) fn project(&mut self, trust: &Trust) {
        let policy = self.loaded.policy;
        let key = if policy.only_managed { "only_managed" } else { "allow_project" };
        let is_allowed = !policy.only_managed && policy.allow_project;
        let mut read = Vec::new();
        for Candidate { path, level, kind } in self.project_files() {
            if !is_allowed {
                self.refuse_by_policy(&path, level, key);
                continue;
            }
            if kind == CandidateKind::Program {
                self.note_program(&path, level);
                continue;
            }
            match self.text_of(&path, level, owner::read(&path)) {
                Ok(text) => read.push(ProjectFile { path, level, content: Ok(text) }),
                Err(NoText::Missing) => self.note(&path, level, FileState::Missing),
                Err(NoText::Refused(why)) => {
                    read.push(ProjectFile { path, level, content: Err(why.to_string()) });
                }
                Err(NoText::Unreadable(why, _)) => {
                    read.push(ProjectFile { path, level, content: Err(why) });
                }
            }
        }
        if read.is_empty() {
            return;
        }
        let entries: Vec<Entry> = read.iter().flat_map(|file| self.entries_of(file)).collect();
        let judged = if self.options.trust_project {
            None
        } else {
            Some(trust.judge(&self.places.project, &entries))
        };
        let known_files = self.take_judged(judged, &entries);
        self.loaded.entries = entries;
        let mut standings = self.loaded.standings.clone().into_iter();
        for file in read {
            self.take_project_file(file, &mut standings, &known_files);
        }
    }

    fn take_judged(&mut self, judged: Option<Judged>, entries: &[Entry]) -> BTreeSet<String> {
        let Some(judged) = judged else { return BTreeSet::new() };
        if !entries.is_empty() {
            self.loaded.diagnostics.extend(judged.diagnostics);
        }
        self.loaded.standings = judged.standings;
        judged.known_files
    }

    /// What of a file needs trust, in the order in which [`Loader::take_project_file`] asks.
    fn entries_of(&self, file: &ProjectFile) -> Vec<Entry> {
        let Ok(Text { name, config, .. }) = &file.content else { return Vec::new() };
        if !config.parses {
            return Vec::new();
        }
        let folder = file.path.parent().unwrap_or(&file.path);
        let entry = |pointer: &str, name_of: String, text: String, files| Entry {
            file: name.clone(),
            pointer: pointer.to_owned(),
            name: name_of,
            text,
            folder: folder.to_owned(),
            files,
        };
        let hooks =
            config.entries.iter().filter(|entry| entry.part != Part::Permissions).map(|one| {
                let files = match &one.hook.handler {
                    Handler::Command(command) => candidate_files(command, &self.context)
                        .into_iter()
                        .map(|(path, named)| CandidateFile { path, named })
                        .collect(),
                    _ => Vec::new(),
                };
                entry(&one.hook.source.pointer, one.hook.name.clone(), one.text.clone(), files)
            });
        let rules =
            config.permissions.iter().filter(|rule| rule.decision == Decision::Allow).map(|rule| {
                let name = format!("allow {}", rule.rule);
                entry(&rule.pointer, name.clone(), name, Vec::new())
            });
        let env = config.env_text.iter().filter(|_| !config.env.pass.is_empty());
        let env = env.map(|text| {
            let name = format!("env pass {}", config.env.pass.join(" "));
            entry("#/env", name, format!("env {text}"), Vec::new())
        });
        hooks.chain(rules).chain(env).collect()
    }

    fn take_project_file(
        &mut self,
        file: ProjectFile,
        standings: &mut impl Iterator<Item = Standing>,
        known_files: &BTreeSet<String>,
    ) {
        let ProjectFile { path, level, content } = file;
        let was_trusted = known_files.contains(&self.places.shown(&path));
        let Text { name, content, config } = match content {
            Ok(text) => text,
            Err(why) => {
                let hook = self.unreadable(&path, level, &why);
                self.take_broken(&path, level, vec![hook], was_trusted);
                return;
            }
        };
        self.loaded.texts.insert(name.clone(), content);
        self.loaded.diagnostics.extend(config.diagnostics);
        if !config.parses {
            let hooks = config.entries.into_iter().map(|entry| entry.hook).collect();
            self.take_broken(&path, level, hooks, was_trusted);
            return;
        }
        self.note(&path, level, FileState::Read);
        let vouched = self.options.trust_project;
        let trust = self.options.host.profile.trust_command;
        let mut next = || {
            if vouched { None } else { Some(standings.next().unwrap_or(Standing::Never)) }
        };
        let mut untrusted = Untrusted::default();
        let mut changed = Vec::new();
        for entry in config.entries {
            // A deny or ask rule that cannot be read only tightens, as the rule would have.
            let standing = if entry.part == Part::Permissions { None } else { next() };
            let (hook, watch) = judged(entry, standing, &name, trust);
            if hook.skip == Some(Skip::Untrusted) {
                untrusted.add(hook.source.position.as_ref(), Kind::Hook);
            }
            if let Some(reason) = &hook.failed {
                changed.push((reason.clone(), hook.source.position.clone()));
            }
            self.hooks.push((hook, watch));
        }
        for permission in config.permissions {
            let holds = permission.decision != Decision::Allow
                || matches!(next(), None | Some(Standing::Trusted(_)));
            if holds {
                self.add_rule(permission, level);
            } else {
                untrusted.add(Some(&permission.position), Kind::Rule);
            }
        }
        let mut env = config.env;
        if !env.pass.is_empty() && !matches!(next(), None | Some(Standing::Trusted(_))) {
            untrusted.add(None, Kind::Env);
            env = EnvPolicy { pass: Vec::new(), ..env };
        }
        self.loaded.env.add(level, env);
        self.loaded.diagnostics.extend(untrusted.diagnostic(&name, trust));
        for (reason, at) in changed {
            let diagnostic = Diagnostic::warning("trust.changed", reason)
                .help("until then the hook counts as failed");
            self.loaded.diagnostics.push(match at {
                Some(at) => diagnostic.at(at),
                None => diagnostic,
            });
        }
    }

    /// A project's file that says nothing readable. If something of it was trusted, guards may be
    /// missing that somebody relies on; if not, nothing of it would run anyway.
    fn take_broken(&mut self, path: &Path, level: Level, hooks: Vec<Hook>, was_trusted: bool) {
        self.note(path, level, if was_trusted { FileState::Broken } else { FileState::Untrusted });
        for mut hook in hooks {
            if !was_trusted {
                hook.skip = Some(Skip::Untrusted);
            }
            self.hooks.push((hook, None));
        }
    }
}

/// A hook as its standing leaves it; without one it needs no trust.
fn judged(
    entry: ConfigEntry,
    standing: Option<Standing>,
    file: &str,
    trust: &str,
) -> (Hook, Option<Arc<ScriptWatch>>) {
    let mut hook = entry.hook;
    match standing {
        None => (hook, None),
        Some(Standing::Trusted(watch)) => (hook, Some(watch)),
        Some(Standing::Never) => {
            hook.skip.get_or_insert(Skip::Untrusted);
            (hook, None)
        }
        Some(Standing::Changed(change)) => {
            let reason = reason_of(&change, &hook.name, file, trust);
            match change {
                Change::Entry { was } => {
                    fail_for_both(&mut hook, was.as_deref(), &entry.text, reason);
                }
                Change::File(_) => hook.failed = Some(reason),
            }
            (hook, None)
        }
    }
}

fn reason_of(change: &Change, hook: &str, file: &str, trust: &str) -> String {
    match change {
        Change::File(changed) => format!(
            "hook `{hook}` in `{file}` does not run: {changed}; look at it, then run `{trust}`"
        ),
        Change::Entry { .. } => format!(
            "hook `{hook}` in `{file}` was edited after it was trusted; look at it, then run `{trust}`"
        ),
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Hook,
    Rule,
    Env,
}

/// What of a file does not hold because it was never trusted.
#[derive(Debug, Default)]
struct Untrusted {
    hooks: usize,
    rules: usize,
    env: bool,
    first: Option<Position>,
}

impl Untrusted {
    fn add(&mut self, at: Option<&Position>, kind: Kind) {
        match kind {
            Kind::Hook => self.hooks += 1,
            Kind::Rule => self.rules += 1,
            Kind::Env => self.env = true,
        }
        if self.first.is_none() {
            self.first = at.cloned();
        }
    }

    fn diagnostic(self, file: &str, trust: &str) -> Option<Diagnostic> {
        let counted = |count: usize, one: &str, more: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {more}")),
        };
        let parts: Vec<String> = [
            counted(self.hooks, "hook", "hooks"),
            counted(self.rules, "allow rule", "allow rules"),
            self.env.then(|| "`env.pass`".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect();
        if parts.is_empty() {
            return None;
        }
        let message = format!("not trusted, so without effect: {} of `{file}`", parts.join(", "));
        let diagnostic = Diagnostic::warning("trust.untrusted", message)
            .help(format!("look at the file, then run `{trust}`"));
        Some(match self.first {
            Some(at) => diagnostic.at(at),
            None => diagnostic,
        })
    }
}
