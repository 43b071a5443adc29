//! What a host's codec is: events to bytes for a hook, and what a hook did to a verdict.

use std::fmt;

use tenter_core::contract::Contract;
use tenter_core::diagnostic::Diagnostic;
use tenter_core::event::{Event, EventKind};
use tenter_core::outcome::Failure;
use tenter_core::profile::Profile;
use tenter_core::verdict::Verdict;

/// A host as a value: its rules and its wire.
#[derive(Clone, Copy)]
pub struct Host {
    /// The rules.
    pub profile: &'static Profile,
    /// The wire.
    pub codec: &'static dyn Codec,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Host").field(&self.profile.name).finish()
    }
}

/// The wire of one host.
pub trait Codec: Send + Sync {
    /// The bytes that a hook of this host reads on stdin, the newline at the end included.
    fn encode(&self, event: &Event, shown: &Shown<'_>) -> Vec<u8>;

    /// What a hook's answer means.
    fn decode(&self, ran: &Ran<'_>, kind: &EventKind, contract: &Contract) -> Decoded;
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
    /// What is to be said about the answer.
    pub diagnostics: Vec<Diagnostic>,
}
