//! What is measured: each bar with the floor that it is held against.

mod cli;
mod ends;
mod functions;
mod gate;
pub(crate) mod host_size;
mod matchers;
mod parallel;
mod port;
mod shell;
mod spawn;
mod views;
mod wire;

use anyhow::Result;

use crate::Args;
use crate::report::Measured;

/// A group of measurements that share their rounds.
type Group = fn(&Args) -> Result<Vec<Measured>>;

/// All groups with their names, cheap ones first.
pub(crate) const ALL: &[(&str, Group)] = &[
    ("gate", gate::measure),
    ("functions", functions::measure),
    ("port", port::measure),
    ("matchers", matchers::measure),
    ("views", views::measure),
    ("wire", wire::measure),
    ("shell", shell::measure),
    ("spawn", spawn::measure),
    ("host-size", host_size::measure),
    ("ends", ends::measure),
    ("parallel", parallel::measure),
    ("cli", cli::measure),
];
