//! The configuration of a session: which files there are, who may write them, and what all of them
//! together say.
//!
//! Owns the order and the authority of files, the policies of managed ones, and what trust means
//! for the entries of a project. What a single file says is read by the host's reader; what an
//! entry was when it was trusted is known to [`crate::trust`].
//!
//! | level | files | which count |
//! |---|---|---|
//! | managed | `/etc/tenter/hooks.toml`, then `hooks.d/*.toml` by name | those that only the administrator can write |
//! | user | `~/.config/tenter/hooks.toml` | all |
//! | project | `.tenter/hooks.toml` | entries that are trusted; deny and ask rules always |
//! | private | `.tenter/hooks.local.toml` | as for the project |
//!
//! Files named with `--config` or `TENTER_CONFIG` stand for those of user, project and private
//! level, and are of user level.

mod candidates;
mod change;
pub mod command;
mod examples;
mod interpreter;
mod load;
pub(crate) mod owner;
mod placeholder;
pub mod places;
mod project;
mod scripts;
pub(crate) mod self_rules;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tenter_core::diagnostic::Diagnostic;
use tenter_core::hook::{Hook, Level};
use tenter_core::rules::RuleSet;
pub use tenter_hosts::config::Policy;

pub use self::command::{CommandContext, CommandError, ResolvedCommand, resolve};
pub use self::load::{BrokenExplicit, LoadOptions, load};
pub use self::owner::{Owners, Refusal};
pub use self::places::{Places, Surroundings};

use crate::environment::EnvPolicy;
use crate::trust::{Entry, Scripts, Standing};

/// What all files together say.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The hooks in configuration order.
    pub hooks: Vec<Arc<Hook>>,
    /// The files of trusted hooks, by the place of the hook.
    pub scripts: Scripts,
    /// The permission rules.
    pub rules: RuleSet,
    /// What managed files and the user's say about everything else.
    pub policy: Policy,
    /// Which variables hooks are given.
    pub env: EnvPolicy,
    /// What there is to say, file by file.
    pub diagnostics: Vec<Diagnostic>,
    /// Every file that was looked for, in order.
    pub files: Vec<LoadedFile>,
    /// The texts of files by the name that positions give them, for showing lines.
    pub texts: BTreeMap<String, Arc<str>>,
    /// What of the project needs trust.
    pub entries: Vec<Entry>,
    /// How each of them stands. Empty where the caller vouches for the project.
    pub standings: Vec<Standing>,
}

/// A file that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedFile {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// Its name in messages.
    pub name: String,
    /// Its level.
    pub level: Level,
    /// What became of it.
    pub state: FileState,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// It counts, as far as its entries are trusted.
    Read,
    /// There is none.
    Missing,
    /// Another file stands for it.
    Replaced,
    /// It does not count.
    Refused(Refusal),
    /// It is a program of the host's, which is not run.
    NotRead,
    /// It is not TOML, or cannot be read at all; a guard stands for it.
    Broken,
    /// It is not TOML, or cannot be read at all, and is of a project: nothing stands for it.
    Untrusted,
}

impl fmt::Display for FileState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read => f.write_str("read"),
            Self::Missing => f.write_str("not there"),
            Self::Replaced => f.write_str("replaced by another file"),
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::NotRead => f.write_str("a program, so not read"),
            Self::Broken => f.write_str("broken"),
            Self::Untrusted => f.write_str("broken, so not trusted"),
        }
    }
}

/// Why a configuration does not load: something that was asked for by name cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is no such file.
    #[error("there is no file `{path}`, which {by} names", path = path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// Who names it.
        by: NamedBy,
    },
    /// The file cannot be read.
    #[error("`{path}`, which {by} names, cannot be read", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Who names it.
        by: NamedBy,
        /// Why.
        source: io::Error,
    },
    /// The file does not parse.
    #[error("`{path}`, which {by} names, does not parse", path = path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Who names it.
        by: NamedBy,
        /// What is wrong with it.
        diagnostics: Vec<Diagnostic>,
        /// Its text, for showing lines.
        text: String,
    },
    /// A managed file allows no other files than those that are found.
    #[error("`{path}` cannot be used: a managed file sets `{key}`; leave `--config` out, or ask the administrator", path = path.display())]
    OverrideForbidden {
        /// The file.
        path: PathBuf,
        /// The key that forbids it.
        key: &'static str,
    },
}

/// How a file came to be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedBy {
    /// On the command line.
    Option,
    /// In the environment.
    Variable,
    /// It was found where hooks files are.
    Found,
}

impl fmt::Display for NamedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Option => "`--config`",
            Self::Variable => "`TENTER_CONFIG`",
            Self::Found => "its place",
        })
    }
}
