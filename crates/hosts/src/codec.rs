//! What a host's codec is: events to bytes for a hook, and what a hook did to a verdict.

use std::ffi::{OsStr, OsString};
use std::fmt;

use tenter_core::contract::Contract;
use tenter_core::diagnostic::Diagnostic;
use tenter_core::event::{Event, EventKind, Origin};
use tenter_core::outcome::Failure;
use tenter_core::profile::Profile;
use tenter_core::verdict::Verdict;

use crate::config::ConfigFormat;
use crate::native::input::EventError;

/// A host as a value: its rules, its wire and its configuration.
#[derive(Clone, Copy)]
pub struct Host {
    /// The rules.
    pub profile: &'static Profile,
    /// The wire.
    pub codec: &'static dyn Codec,
    /// The configuration.
    pub config: &'static dyn ConfigFormat,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Host").field(&self.profile.name).finish()
    }
}

/// The wire of one host.
pub trait Codec: Send + Sync {
    /// Reads an event in the host's own bytes. `given` is the name that the caller expects,
    /// `defaults` fills a missing session and directory.
    ///
    /// # Errors
    /// The text is no event of this host.
    fn read(&self, text: &str, given: Option<&str>, defaults: &Origin)
    -> Result<Event, EventError>;

    /// The bytes that a hook of this host reads on stdin, the newline at the end included.
    fn encode(&self, event: &Event, shown: &Shown<'_>) -> Vec<u8>;

    /// The host's own variables for a hook. Those that would be too long or hold a NUL are left out
    /// by the caller, and marked.
    fn variables(&self, _about: &About<'_>) -> Vec<(&'static str, OsString)> {
        Vec::new()
    }

    /// What a hook's answer means.
    fn decode(&self, ran: &Ran<'_>, kind: &EventKind, contract: &Contract) -> Decoded;
}

/// What a hook's variables speak of.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    /// The event.
    pub event: &'a Event,
    /// The project.
    pub project: &'a OsStr,
}

/// What the engine knows beside the event itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown<'a> {
    /// The files that the tool call is about, absolute.
    pub paths: &'a [String],
    /// The keys whose text was clipped for this hook.
    pub truncated: &'a [String],
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with a code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// The host took its status away.
    Lost,
}

/// What a hook did.
#[derive(Debug, Clone, Copy)]
pub struct Ran<'a> {
    /// How it ended.
    pub exit: Exit,
    /// Why the engine ended it, if it did.
    pub stopped: Option<Failure>,
    /// What it printed.
    pub stdout: &'a [u8],
    /// What it printed on the side.
    pub stderr: &'a [u8],
    /// What a shell or interpreter calls the hook's own command or script in its messages.
    pub own_names: &'a [String],
}

/// A failure, in one word and in one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// The word.
    pub failure: Failure,
    /// What went wrong.
    pub reason: String,
}

/// What a hook's answer means.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decoded {
    /// What it said. Beside a failure only a denial counts.
    pub verdict: Verdict,
    /// How it failed, if it did.
    pub failed: Option<Failed>,
    /// What was not understood though the host lets it pass: a failure for a hook whose entry says
    /// what its failure does.
    pub unclear: Option<String>,
    /// What is to be said about the answer.
    pub diagnostics: Vec<Diagnostic>,
}
