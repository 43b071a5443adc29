//! Loads all files of a session into one configuration.
//!
//! Owns the order of files, those that are named instead of found, and the policies of managed ones.
//! What trust makes of a project's files is in the module `project`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenter_core::contract::OnFailure;
use tenter_core::diagnostic::{Diagnostic, Position};
use tenter_core::event::EventKind;
use tenter_core::hook::{CommandLine, Cwd, Handler, Hook, Level, Source, merge_duplicates};
use tenter_core::profile::{Dedupe, Profile, StartsIn};
use tenter_core::rules::Rule;
use tenter_core::verdict::Decision;
use tenter_hosts::codec::Host;
use tenter_hosts::config::{
    Candidate, CandidateKind, ConfigFile, ConfigPlaces, FileId, Permission,
};

use super::command::CommandContext;
use super::owner::{self, Found, Owners, Refusal};
use super::places::{Places, resolve_links};
use super::{FileState, LoadError, Loaded, LoadedFile, NamedBy, scripts};
use crate::trust::{ScriptWatch, Scripts, Trust};

/// How a configuration is loaded.
#[derive(Debug, Clone)]
pub struct LoadOptions<'a> {
    /// The files named with `--config`, in order.
    pub explicit: Vec<PathBuf>,
    /// Whether no other file of these levels counts, even if none is named.
    pub only_explicit: bool,
    /// The value of `TENTER_CONFIG`. It has no say where a file is named with `--config`.
    pub config_variable: Option<OsString>,
    /// What becomes of a named file that is not there or does not parse.
    pub broken_explicit: BrokenExplicit,
    /// Whether the caller vouches for the project, as with `--trust-project`.
    pub trust_project: bool,
    /// Who may own which files.
    pub owners: Owners,
    /// The host: which files there are, what they say, and what a failure does by default.
    pub host: Host,
    /// The variables of the session, which may say where files are.
    pub variables: &'a [(OsString, OsString)],
    /// The host's own placeholders in commands.
    pub placeholders: &'a [(String, OsString)],
}

/// What becomes of a named file that is not there or does not parse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokenExplicit {
    /// Loading fails: somebody is there to mend it.
    Fails,
    /// A guard stands for it, as for the user's own file: an agent waits for an answer.
    Guards,
}

/// Loads the configuration of a session.
///
/// What is wrong in a file that was found by itself never fails: it is in the diagnostics, and in
/// hooks that are broken, failed or skipped.
///
/// # Errors
/// A file that was named cannot be had, see [`LoadError`].
pub fn load(
    places: &Places,
    options: &LoadOptions<'_>,
    trust: &Trust,
) -> Result<Loaded, LoadError> {
    let context = CommandContext::of(places, options.placeholders);
    let candidates = candidates(places, options, options.host);
    let shell = options.host.profile.shell.and_then(|name| find_program(name, options.variables));
    let mut loader = Loader {
        places,
        options,
        context,
        candidates,
        shell,
        loaded: Loaded::default(),
        hooks: Vec::new(),
    };
    loader.managed();
    if !loader.named()? {
        loader.user();
        loader.project(trust);
    }
    Ok(loader.finish())
}

/// Where the host's files are. What stands for the current directory is sought below the project,
/// also where a link leads there.
fn candidates(places: &Places, options: &LoadOptions<'_>, host: Host) -> Vec<Candidate> {
    let resolved;
    let cwd = if places.cwd.starts_with(&places.project) {
        &places.cwd
    } else {
        resolved = places.cwd.canonicalize().unwrap_or_else(|_| places.cwd.clone());
        &resolved
    };
    let variable = |name: &str| {
        let found = options.variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    host.config.candidates(&ConfigPlaces {
        home: &places.home,
        config_home: &places.config_home,
        system: places.managed.parent().unwrap_or(&places.managed),
        managed: &places.managed,
        project: &places.project,
        cwd,
        variable: &variable,
    })
}

pub(super) struct Loader<'a> {
    pub(super) places: &'a Places,
    pub(super) options: &'a LoadOptions<'a>,
    pub(super) context: CommandContext<'a>,
    candidates: Vec<Candidate>,
    /// The shell of the host, where it has one and it is there.
    shell: Option<String>,
    pub(super) loaded: Loaded,
    pub(super) hooks: Vec<(Hook, Option<Arc<ScriptWatch>>)>,
}

/// A file that was read, and could be.
pub(super) struct Text {
    pub(super) name: String,
    pub(super) content: Arc<str>,
    pub(super) config: ConfigFile,
}

/// Why there is no text.
pub(super) enum NoText {
    Missing,
    Refused(Refusal),
    /// It cannot be read, or is not UTF-8.
    Unreadable(String, Option<std::io::Error>),
}

impl Loader<'_> {
    fn managed(&mut self) {
        if !self.options.host.config.sets_policy() {
            self.policy();
        }
        for candidate in self.candidates_of(|level| level == Level::Managed) {
            match candidate.kind {
                CandidateKind::File => self.take_managed(&candidate.path),
                CandidateKind::Folder { extension } => {
                    self.take_managed_folder(&candidate.path, extension);
                }
                CandidateKind::Program => self.note_program(&candidate.path, Level::Managed),
            }
        }
    }

    fn take_managed_folder(&mut self, folder: &Path, extension: &str) {
        match owner::list_managed(folder, self.options.owners) {
            Ok(Ok(names)) => {
                for name in names {
                    let is_hidden = name.as_encoded_bytes().starts_with(b".");
                    if !is_hidden && Path::new(&name).extension() == Some(OsStr::new(extension)) {
                        self.take_managed(&folder.join(name));
                    }
                }
            }
            Ok(Err(why)) => self.refuse(folder, Level::Managed, why),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => self.guard_unreadable(folder, Level::Managed, &error.to_string()),
        }
    }

    /// The policy of tenter's own managed files, where the host's say nothing of it. Of what else they
    /// say nothing holds: it is written for other events, tools and answers.
    fn policy(&mut self) {
        let native = tenter_hosts::native::HOST;
        for candidate in candidates(self.places, self.options, native) {
            let mut paths = Vec::new();
            match candidate.kind {
                _ if candidate.level != Level::Managed => {}
                CandidateKind::File => paths.push(candidate.path),
                CandidateKind::Folder { extension } => {
                    let names = owner::list_managed(&candidate.path, self.options.owners);
                    let names = names.ok().and_then(Result::ok).unwrap_or_default();
                    let paths_in = names.into_iter().map(|name| candidate.path.join(name));
                    let of_kind = |path: &PathBuf| path.extension() == Some(OsStr::new(extension));
                    paths.extend(paths_in.filter(of_kind));
                }
                CandidateKind::Program => {}
            }
            for path in paths {
                if let Found::Bytes(bytes, _) = owner::read_managed(&path, self.options.owners)
                    && let Ok(text) = String::from_utf8(bytes)
                {
                    let name = self.places.shown(&path);
                    let id =
                        FileId { name: &name, path: &name, folder: &name, level: Level::Managed };
                    let policy = native.config.read(&text, &id).policy;
                    self.loaded.policy = self.loaded.policy.and(policy);
                }
            }
        }
    }

    /// What there may be of these levels.
    fn candidates_of(&self, is_meant: impl Fn(Level) -> bool) -> Vec<Candidate> {
        self.candidates.iter().filter(|one| is_meant(one.level)).cloned().collect()
    }

    /// Says of a file that is there that only the host itself can know what it does.
    pub(super) fn note_program(&mut self, path: &Path, level: Level) {
        if path.symlink_metadata().is_err() {
            return;
        }
        let name = self.places.shown(path);
        self.loaded.diagnostics.push(
            Diagnostic::warning(
                "config.not-read",
                format!("`{name}` is a program of the host's, and is not run: hooks that it adds or removes are not known here"),
            )
            .help("move its hooks into a file that is only read"),
        );
        self.note(path, level, FileState::NotRead);
    }

    fn take_managed(&mut self, path: &Path) {
        let found = owner::read_managed(path, self.options.owners);
        self.take_found(path, Level::Managed, found);
    }

    /// The files that were named; `false` if none was that counts.
    fn named(&mut self) -> Result<bool, LoadError> {
        let policy = self.loaded.policy;
        let forbidden = if policy.only_managed {
            Some("only_managed")
        } else {
            (!policy.allow_config_override).then_some("allow_config_override")
        };
        let options = self.options;
        if let (Some(path), Some(key)) = (options.explicit.first(), forbidden) {
            return Err(LoadError::OverrideForbidden { path: path.clone(), key });
        }
        for path in &options.explicit {
            let path = absolute(path);
            let found = owner::read(&path);
            self.take_named(&path, found, NamedBy::Option)?;
        }
        let mut any = options.only_explicit || !options.explicit.is_empty();
        let variable = options.config_variable.as_ref().filter(|value| !value.is_empty());
        if let (false, Some(value)) = (any, variable) {
            let path = absolute(Path::new(value));
            any = self.take_variable(&path, forbidden)?;
        }
        if any {
            for Candidate { path, level, .. } in self.candidates_of(|one| one > Level::Managed) {
                let name = self.places.shown(&path);
                let state = FileState::Replaced;
                self.loaded.files.push(LoadedFile { path, name, level, state });
            }
        }
        Ok(any)
    }

    fn take_variable(
        &mut self,
        path: &Path,
        forbidden: Option<&'static str>,
    ) -> Result<bool, LoadError> {
        let found = match forbidden {
            Some(key) => Found::Refused(Refusal::Policy { key }),
            None => owner::read_named_by_variable(path, &self.places.project, self.options.owners),
        };
        if let Found::Refused(why) = found {
            let message =
                format!("`TENTER_CONFIG` names `{}`, which does not count: {why}", path.display());
            self.loaded.diagnostics.push(
                Diagnostic::warning("config.variable-refused", message)
                    .help("it is as if the variable were not set; name the file with `--config` if it is yours"),
            );
            let name = path.display().to_string();
            let state = FileState::Refused(why);
            self.loaded.files.push(LoadedFile {
                path: path.to_owned(),
                name,
                level: Level::User,
                state,
            });
            return Ok(false);
        }
        self.take_named(path, found, NamedBy::Variable)?;
        Ok(true)
    }

    fn take_named(&mut self, path: &Path, found: Found, by: NamedBy) -> Result<(), LoadError> {
        let fails = self.options.broken_explicit == BrokenExplicit::Fails;
        match self.text_of(path, Level::User, found) {
            Ok(text) if fails && !text.config.parses => Err(LoadError::Broken {
                path: path.to_owned(),
                by,
                diagnostics: text.config.diagnostics,
                text: text.content.to_string(),
            }),
            Ok(text) => {
                self.take(path, Level::User, text);
                Ok(())
            }
            Err(NoText::Missing) if fails => Err(LoadError::Missing { path: path.to_owned(), by }),
            Err(NoText::Missing) => {
                self.guard_unreadable(path, Level::User, "there is no such file");
                Ok(())
            }
            Err(NoText::Refused(why)) if fails => Err(LoadError::Unreadable {
                path: path.to_owned(),
                by,
                source: std::io::Error::other(why.to_string()),
            }),
            Err(NoText::Refused(why)) => {
                self.guard_unreadable(path, Level::User, &why.to_string());
                Ok(())
            }
            Err(NoText::Unreadable(why, source)) if fails => Err(LoadError::Unreadable {
                path: path.to_owned(),
                by,
                source: source.unwrap_or_else(|| std::io::Error::other(why)),
            }),
            Err(NoText::Unreadable(why, _)) => {
                self.guard_unreadable(path, Level::User, &why);
                Ok(())
            }
        }
    }

    /// The files of the project.
    pub(super) fn project_files(&self) -> Vec<Candidate> {
        self.candidates_of(|level| level >= Level::Project)
    }

    fn user(&mut self) {
        for Candidate { path, kind, .. } in self.candidates_of(|level| level == Level::User) {
            if self.loaded.policy.only_managed {
                self.refuse_by_policy(&path, Level::User, "only_managed");
            } else if kind == CandidateKind::Program {
                self.note_program(&path, Level::User);
            } else {
                let found = owner::read(&path);
                self.take_found(&path, Level::User, found);
            }
        }
    }

    /// Leaves a file out that is there, and says so.
    pub(super) fn refuse_by_policy(&mut self, path: &Path, level: Level, key: &'static str) {
        if path.symlink_metadata().is_ok() {
            self.refuse(path, level, Refusal::Policy { key });
        } else {
            self.note(path, level, FileState::Missing);
        }
    }

    fn refuse(&mut self, path: &Path, level: Level, why: Refusal) {
        let name = self.places.shown(path);
        let help = match &why {
            Refusal::Policy { .. } => "what the administrator sets cannot be changed here",
            Refusal::NotAFile => "put a file in its place",
            _ => {
                "let the administrator own it and everything on the way to it, and nobody else write it"
            }
        };
        self.loaded.diagnostics.push(
            Diagnostic::warning("config.refused", format!("`{name}` is left out: {why}"))
                .help(help),
        );
        self.note(path, level, FileState::Refused(why));
    }

    pub(super) fn note(&mut self, path: &Path, level: Level, state: FileState) {
        let name = self.places.shown(path);
        self.loaded.files.push(LoadedFile { path: path.to_owned(), name, level, state });
    }

    /// A file of the administrator or the user.
    fn take_found(&mut self, path: &Path, level: Level, found: Found) {
        match self.text_of(path, level, found) {
            Ok(text) => self.take(path, level, text),
            Err(NoText::Missing) => self.note(path, level, FileState::Missing),
            Err(NoText::Refused(why)) => self.refuse(path, level, why),
            Err(NoText::Unreadable(why, _)) => self.guard_unreadable(path, level, &why),
        }
    }

    pub(super) fn text_of(
        &mut self,
        path: &Path,
        level: Level,
        found: Found,
    ) -> Result<Text, NoText> {
        let (bytes, target) = match found {
            Found::Bytes(bytes, target) => (bytes, target),
            Found::Missing => return Err(NoText::Missing),
            Found::Refused(why) => return Err(NoText::Refused(why)),
            Found::Unreadable(error) => {
                return Err(NoText::Unreadable(error.to_string(), Some(error)));
            }
        };
        let text: Arc<str> = match String::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                return Err(NoText::Unreadable(format!("it is not UTF-8 at byte {at}"), None));
            }
        };
        let name = self.places.shown(path);
        let id = FileId {
            name: &name,
            // Where it may be mended: an agent's path is compared without links.
            path: &target.to_string_lossy(),
            folder: &path.parent().unwrap_or(path).to_string_lossy(),
            level,
        };
        let mut config = self.options.host.config.read(&text, &id);
        if self.options.host.profile.starts_in == StartsIn::SessionCwd {
            let cwd = self.places.cwd.to_string_lossy();
            config.entries.iter_mut().for_each(|entry| start_in(&mut entry.hook, &cwd));
        }
        if let Some(shell) = &self.shell {
            config.entries.iter_mut().for_each(|entry| run_by(&mut entry.hook, shell));
        }
        Ok(Text { name, content: text, config })
    }

    /// Takes everything that a file says. Its level needs no trust.
    fn take(&mut self, path: &Path, level: Level, file: Text) {
        let Text { name, content, config } = file;
        self.note(path, level, if config.parses { FileState::Read } else { FileState::Broken });
        self.loaded.texts.insert(name, content);
        self.loaded.diagnostics.extend(config.diagnostics);
        self.loaded.policy = self.loaded.policy.and(config.policy);
        self.loaded.env.add(level, config.env);
        for permission in config.permissions {
            self.add_rule(permission, level);
        }
        self.hooks.extend(config.entries.into_iter().map(|entry| (entry.hook, None)));
    }

    pub(super) fn add_rule(&mut self, permission: Permission, level: Level) {
        let Permission { decision, rule, position, pointer } = permission;
        let source = format!("{}{pointer}", position.file);
        match decision {
            Decision::Deny => self.loaded.rules.add_deny(rule, level, source),
            Decision::Allow => self.loaded.rules.add_allow(rule, level, source),
            Decision::None | Decision::Ask | Decision::Defer => {
                self.loaded.rules.add_ask(rule, level, source);
            }
        }
    }

    /// A guard that stands for a file of which nothing is known.
    fn guard_unreadable(&mut self, path: &Path, level: Level, why: &str) {
        let hook = self.unreadable(path, level, why);
        self.hooks.push((hook, None));
        self.note(path, level, FileState::Broken);
    }

    pub(super) fn unreadable(&mut self, path: &Path, level: Level, why: &str) -> Hook {
        let name = self.places.shown(path);
        let position = Position { file: name.clone(), line: 1, column: 1, span: 0..0 };
        self.loaded.diagnostics.push(
            Diagnostic::error("config.unreadable", format!("`{name}` cannot be read: {why}"))
                .help("mend the file, or take it away")
                .at(position.clone()),
        );
        let handler = Handler::Broken {
            reason: format!(
                "the hooks file `{name}` cannot be read: {why}; mend it, or take it away"
            ),
            mend: resolve_links(&path.to_string_lossy()),
        };
        let source = Source { level, position: Some(position), pointer: "#".to_owned() };
        Hook::new("hooks file", source, vec![EventKind::PreToolUse], handler)
    }

    fn finish(mut self) -> Loaded {
        let profile = self.options.host.profile;
        let minimum = self.loaded.policy.min_on_failure;
        let places = self.places.for_rules();
        let mut resolve = |path: &str| resolve_links(path);
        let mut watches = Vec::new();
        for (mut hook, watch) in std::mem::take(&mut self.hooks) {
            scripts::check(
                &mut hook,
                &self.context,
                profile.needs_exec_bit,
                &self.loaded.files,
                &mut self.loaded.diagnostics,
            );
            let resolve_rule = |rule: &mut Rule| rule.resolve_bases(&places, &mut resolve);
            hook.condition.iter_mut().for_each(resolve_rule);
            for hook in raised(hook, minimum, profile) {
                self.loaded.hooks.push(Arc::new(hook));
                watches.push(watch.clone());
            }
        }
        if profile.dedupe == Dedupe::SameWork {
            merge_duplicates(&mut self.loaded.hooks, |kind| *profile.contract(kind));
        }
        self.loaded.rules.resolve_bases(&places, &mut resolve);
        self.loaded.scripts = Scripts::new(watches);
        self.loaded.files.sort_by_key(|file| file.level);
        self.loaded
    }
}

/// Where a program is that the session would find by its name.
fn find_program(name: &str, variables: &[(OsString, OsString)]) -> Option<String> {
    let (_, path) = variables.iter().find(|(known, _)| known == "PATH")?;
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
        .and_then(|program| program.into_os_string().into_string().ok())
}

/// Lets a text be run by a shell, unless its entry names one.
fn run_by(hook: &mut Hook, shell: &str) {
    if let Handler::Command(command) = &mut hook.handler
        && matches!(command.line, CommandLine::Shell(_))
        && command.shell.is_none()
    {
        command.shell = Some(vec![shell.to_owned()]);
    }
}

/// Lets a command start in the agent's current directory, and be sought from there.
fn start_in(hook: &mut Hook, cwd: &str) {
    if let Handler::Command(command) = &mut hook.handler {
        command.cwd = Cwd::Session;
        command.base = Some(cwd.to_owned());
    }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// A hook with a failure policy of at least `minimum`. One that leaves its policy to its events may
/// become several, each for the events of one policy.
///
/// A managed hook says for itself what its failure does, and nobody waits for a detached one.
fn raised(mut hook: Hook, minimum: OnFailure, profile: &Profile) -> Vec<Hook> {
    if minimum == OnFailure::Allow || hook.source.level == Level::Managed || hook.detach {
        return vec![hook];
    }
    if let Some(said) = hook.on_failure {
        hook.on_failure = Some(said.max(minimum));
        return vec![hook];
    }
    let mut by_policy: Vec<(OnFailure, Vec<EventKind>)> = Vec::new();
    for kind in &hook.events {
        let policy = profile.contract(kind).on_failure.max(minimum);
        match by_policy.iter_mut().find(|(other, _)| *other == policy) {
            Some((_, kinds)) => kinds.push(kind.clone()),
            None => by_policy.push((policy, vec![kind.clone()])),
        }
    }
    by_policy
        .into_iter()
        .map(|(policy, events)| Hook { events, on_failure: Some(policy), ..hook.clone() })
        .collect()
}
