//! The hosts that a test file can name. The one place here that knows which there are.

use tenter_core::suggest::nearest;

use super::super::{Dialect, NATIVE};
use super::reply_json;
use crate::codec::Host;
use crate::native::HOST;
use crate::native::keys::joined;

/// A host, and how hooks with native keys are read under its rules.
#[derive(Debug, Clone, Copy)]
pub(super) struct Profile {
    pub(super) host: Host,
    pub(super) dialect: Dialect,
}

impl Profile {
    /// tenter's own.
    pub(super) const NATIVE: Self =
        Self { host: HOST, dialect: Dialect { reply_json: Some(reply_json::read), ..NATIVE } };
}

const ALL: &[Profile] = &[Profile::NATIVE];

/// The profile of a name.
pub(super) fn profile(name: &str) -> Option<Profile> {
    ALL.iter().copied().find(|profile| profile.host.profile.name == name)
}

/// What to say about a name that no profile has, and what to do.
pub(super) fn unknown(name: &str) -> (String, String) {
    let names: Vec<_> = ALL.iter().map(|profile| profile.host.profile.name).collect();
    let known = format!("profiles are {}", joined(&names, "and"));
    let help = match nearest(name, names.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`? {known}"),
        None => known,
    };
    (format!("there is no profile `{}`", super::shown(name)), help)
}
