//! The host whose rules hold in a test file, and how hooks with native keys are read under them.

use tenter_core::suggest::nearest;

use super::super::Dialect;
use super::reply_json;
use crate::codec::Host;
use crate::native::keys::joined;
use crate::{by_name, names};

/// How a host reads hooks of a test file, which may give their answer as JSON.
pub(super) fn dialect(host: &Host) -> Dialect {
    Dialect { reply_json: Some(reply_json::read), ..host.config.dialect() }
}

/// The host of a name.
pub(super) fn profile(name: &str) -> Option<Host> {
    by_name(name).copied()
}

/// What to say about a name that no profile has, and what to do.
pub(super) fn unknown(name: &str) -> (String, String) {
    let names: Vec<_> = names().collect();
    let known = format!("profiles are {}", joined(&names, "and"));
    let help = match nearest(name, names.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`? {known}"),
        None => known,
    };
    (format!("there is no profile `{}`", super::shown(name)), help)
}
