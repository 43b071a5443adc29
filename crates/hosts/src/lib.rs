//! The hosts that tenter knows, one module a host: the profile as data, the wire codec, and the
//! reader of its configuration; and its bridge, for tenter as a hook of that host.
//!
//! Everything here is a function of its arguments: bytes in, values and diagnostics out. A host's
//! name stands in its own module and nowhere else.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod bridge;
pub mod claude;
pub mod cline;
pub mod codec;
pub mod codex;
pub mod config;
pub mod copilot;
pub mod crush;
pub mod cursor;
pub mod droid;
pub mod files;
mod findings;
pub mod gemini;
pub mod goose;
pub mod hermes;
pub mod hostfile;
pub mod hotl;
pub mod install;
mod json_file;
pub mod kimi;
mod lines;
pub mod mecatl;
pub mod names;
pub mod native;
mod output;
pub mod qwen;

use std::path::Path;

use codec::Host;

/// Every host whose rules can be applied; tenter's own is the first.
static HOSTS: [&Host; 4] = [&native::HOST, &crush::HOST, &mecatl::HOST, &hotl::HOST];

/// The host of a name, as it stands on the command line.
pub fn by_name(name: &str) -> Option<&'static Host> {
    HOSTS.iter().copied().find(|host| host.profile.name == name)
}

/// The names of all hosts.
pub fn names() -> impl Iterator<Item = &'static str> {
    HOSTS.iter().map(|host| host.profile.name)
}

/// The host that a configuration file belongs to by its name, such as `crush.json`; `None` if the
/// name does not tell.
pub fn by_file(path: &Path) -> Option<&'static Host> {
    HOSTS.iter().copied().find(|host| host.config.is_named(path))
}
