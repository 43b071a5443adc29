//! `cargo xtask bench-check`: builds what is measured in the shipped profile, and measures it.
//!
//! The measurements and their bars stand in the crate `tenter-bench`.

use std::process::Command;

use anyhow::{Result, bail};

use crate::workspace::{Workspace, must_succeed};

/// `cargo xtask bench-check`
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Fewer rounds: a look in half a minute, with more noise
    #[arg(long)]
    quick: bool,

    /// Only pairs whose name starts with one of these
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

/// Builds and measures; an error if a bar is missed.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    // By itself, as it is shipped: beside others it would be built with what they need, too.
    let shipped = workspace.build(&["--release", "-p", "tenter-cli", "--bins"], &["tenter"])?;
    let packages = ["--release", "-p", "tenter-bench", "--bins"];
    let programs = workspace.build(&packages, &["tenter-bench", "tenter-empty"])?;
    let ([bench, empty], [tenter]) = (programs.as_slice(), shipped.as_slice()) else {
        bail!("three programs were asked for")
    };
    let mut command = Command::new(bench);
    command.arg("--empty").arg(empty).arg("--tenter").arg(tenter);
    if args.quick {
        command.arg("--quick");
    }
    must_succeed(command.args(&args.names))
}
