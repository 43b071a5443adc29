//! mecatl: nine phases of an agent's life, one command a phase, an envelope as the answer.
//!
//! mecatl has no file in which a user writes hooks: whoever embeds it gives a command for each phase,
//! see [`hooks`]. On the command line a hooks file with native keys stands in for that; it is named with
//! `--config`, and none is sought.

pub mod output;
pub mod profile;
pub mod stream;
pub mod wire;

use std::path::Path;
use std::time::Duration;

use tenter_core::contract::Contract;
use tenter_core::event::{Event, EventKind, Origin};
use tenter_core::hook::{Command, CommandLine, Cwd, Handler, Hook, Leftovers, Level, Source};
use tenter_core::matcher::{Matcher, MatcherError};
use tenter_core::suggest::nearest;

use crate::codec::{Codec, Decoded, Host, Ran, Shown};
use crate::config::{Candidate, ConfigFile, ConfigFormat, ConfigPlaces, Dialect, FileId};
use crate::native::config::{native_matcher, read_as};
use crate::native::input::EventError;

pub use output::BLOCK_EXIT_CODE;
pub use profile::{PHASES, PROFILE, phase};
pub use stream::{HookDecision, StreamEvent, stream_events};
pub use wire::{event, hook_event};

/// mecatl.
pub const HOST: Host = Host { profile: &PROFILE, codec: &Mecatl, config: &Mecatl };

/// How hooks with native keys are read under mecatl's rules.
pub const DIALECT: Dialect =
    Dialect { profile: &PROFILE, event: profile::event_kind, matcher, reply_json: None };

fn matcher(texts: &[&str]) -> Result<Matcher, MatcherError> {
    native_matcher(texts)
}

/// How long a hook may take unless told otherwise (28).
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Hooks of mecatl: one command for each phase, run by a shell.
///
/// ```
/// use tenter_hosts::mecatl::hooks;
///
/// let given = hooks([("PreToolUse", "./check.sh"), ("Stop", "  ")], None, None)?;
/// assert_eq!(given.len(), 1, "a blank command is none");
/// assert_eq!(given[0].name, "PreToolUse");
///
/// let error = hooks([("PreTooluse", "./check.sh")], None, None).unwrap_err();
/// assert_eq!(error.to_string(), "mecatl has no phase `PreTooluse`; did you mean `PreToolUse`?");
/// # Ok::<(), tenter_hosts::mecatl::UnknownPhase>(())
/// ```
///
/// A blank command gives no hook, and a phase without a hook allows (24, 25).
/// `shell` is the interpreter in place of `/bin/sh`, an empty one counts as none (27); `timeout` is
/// 30 s without one, and zero counts as none (28). Phases that are told behind the run keep their
/// own five seconds if that is less.
///
/// # Errors
/// mecatl has no phase of that name: a hook that would never run guards nothing.
pub fn hooks<'a>(
    commands: impl IntoIterator<Item = (&'a str, &'a str)>,
    shell: Option<&str>,
    timeout: Option<Duration>,
) -> Result<Vec<Hook>, UnknownPhase> {
    let timeout = timeout.filter(|timeout| !timeout.is_zero()).unwrap_or(DEFAULT_TIMEOUT);
    let shell = shell.filter(|shell| !shell.is_empty()).map(|shell| vec![shell.to_owned()]);
    let mut hooks = Vec::new();
    for (at, (name, line)) in commands.into_iter().enumerate() {
        let kind = profile::event_kind(name).ok_or_else(|| UnknownPhase::of(name))?;
        if line.trim().is_empty() {
            continue;
        }
        let most = PROFILE.contract(&kind).timeout;
        let command = Command {
            line: CommandLine::Shell(line.to_owned()),
            shell: shell.clone(),
            env: Vec::new(),
            cwd: Cwd::Project,
            leftovers: Leftovers::Leave,
            scripts: Vec::new(),
            base: None,
        };
        let source = Source { level: Level::User, position: None, pointer: format!("#/{at}") };
        let kinds = match kind {
            EventKind::PostToolUse => vec![EventKind::PostToolUse, EventKind::PostToolUseFailure],
            other => vec![other],
        };
        let mut hook = Hook::new(name, source, kinds, Handler::Command(Box::new(command)));
        hook.timeout = Some(if most < DEFAULT_TIMEOUT { timeout.min(most) } else { timeout });
        hooks.push(hook);
    }
    Ok(hooks)
}

/// There is no phase of a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("mecatl has no phase `{name}`; {}", match .nearest {
    Some(nearest) => format!("did you mean `{nearest}`?"),
    None => format!("its phases are {}", PHASES.join(", ")),
})]
pub struct UnknownPhase {
    /// The name.
    pub name: String,
    /// The phase that may be meant.
    pub nearest: Option<&'static str>,
}

impl UnknownPhase {
    fn of(name: &str) -> Self {
        Self { name: name.to_owned(), nearest: nearest(name, PHASES) }
    }
}

/// mecatl's wire.
#[derive(Debug)]
struct Mecatl;

impl Codec for Mecatl {
    fn read(
        &self,
        text: &str,
        given: Option<&str>,
        defaults: &Origin,
    ) -> Result<Event, EventError> {
        wire::read(text, given, defaults)
    }

    fn encode(&self, event: &Event, _shown: &Shown<'_>) -> Vec<u8> {
        wire::write(event)
    }

    fn decode(&self, ran: &Ran<'_>, kind: &EventKind, contract: &Contract) -> Decoded {
        output::decode(ran, kind, contract)
    }
}

impl ConfigFormat for Mecatl {
    fn read(&self, text: &str, file: &FileId<'_>) -> ConfigFile {
        read_as(text, file, DIALECT)
    }

    fn candidates(&self, _places: &ConfigPlaces<'_>) -> Vec<Candidate> {
        Vec::new()
    }

    fn is_named(&self, _path: &Path) -> bool {
        false
    }

    fn dialect(&self) -> Dialect {
        DIALECT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k24_k25_a_phase_without_a_command_has_no_hook() {
        assert!(hooks([], None, None).unwrap().is_empty());
        assert!(hooks([("PreToolUse", " \t")], None, None).unwrap().is_empty());
        let error = hooks([("Notification", "x")], None, None).unwrap_err();
        assert!(error.to_string().contains("its phases are SessionStart, "), "{error}");
    }

    #[test]
    fn k27_k28_shell_and_timeout_have_defaults() {
        let timeout = |given| hooks([("PreToolUse", "x")], None, given).unwrap()[0].timeout;
        assert_eq!(timeout(None), Some(DEFAULT_TIMEOUT));
        assert_eq!(timeout(Some(Duration::ZERO)), Some(DEFAULT_TIMEOUT));
        assert_eq!(timeout(Some(Duration::from_secs(2))), Some(Duration::from_secs(2)));
        assert_eq!(
            hooks([("Stop", "x")], None, None).unwrap()[0].timeout,
            Some(Duration::from_secs(5))
        );
        let shell = |given| match &hooks([("Stop", "x")], given, None).unwrap()[0].handler {
            Handler::Command(command) => command.shell.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(shell(None), None);
        assert_eq!(shell(Some("")), None);
        assert_eq!(shell(Some("/bin/bash")), Some(vec!["/bin/bash".to_owned()]));
    }
}
