//! Every check in one command, in the order in which mistakes are cheapest to find.
//!
//! Owns the list of checks. `.ci/run` runs this list too, so that a machine and a person check the
//! same things.

use std::process::Stdio;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::workspace::{Workspace, must_succeed};
use crate::{generate, seeds, tidy};

/// `cargo xtask check`
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Leave the tests out, for those who run `cargo test --workspace` themselves
    #[arg(long)]
    no_tests: bool,
}

/// One check: its name and what it does.
type Step = (&'static str, fn(&Workspace) -> Result<()>);

const STEPS: &[Step] = &[
    ("format", format),
    ("house rules", tidy::run),
    ("lock file", lock_file),
    ("lints", lints),
    ("documentation", documentation),
    ("generated files", |workspace| generate::run(workspace, generate::Args { check: true })),
    ("where it comes from", |workspace| seeds::run(workspace, seeds::Args { check: true })),
    ("licences and sources", deny),
];

/// Runs all checks and stops at the first that fails.
pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let tests: &[Step] = if args.no_tests { &[] } else { &[("tests", tests)] };
    for (name, step) in STEPS.iter().chain(tests) {
        eprintln!("== {name}");
        let begun = Instant::now();
        step(workspace)?;
        eprintln!("== {name}: fine ({:.1} s)\n", begun.elapsed().as_secs_f64());
    }
    Ok(())
}

fn format(workspace: &Workspace) -> Result<()> {
    must_succeed(&mut workspace.cargo(&["fmt", "--all", "--check"]))?;
    let fuzz = ["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"];
    must_succeed(&mut workspace.cargo(&fuzz))
}

/// The lock file must say what the manifests say; nothing else would notice, because a plain build
/// mends it in silence.
fn lock_file(workspace: &Workspace) -> Result<()> {
    let mut metadata = workspace.cargo(&["metadata", "--locked", "--format-version", "1"]);
    must_succeed(metadata.stdout(Stdio::null()))
}

fn lints(workspace: &Workspace) -> Result<()> {
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    must_succeed(&mut workspace.cargo(&clippy))?;
    // An agent without a network, which no other member of the workspace builds.
    let clippy = ["clippy", "-p", "tenter-agent", "--no-default-features", "--all-targets"];
    must_succeed(workspace.cargo(&clippy).args(["--", "-D", "warnings"]))
}

fn documentation(workspace: &Workspace) -> Result<()> {
    let mut doc = workspace.cargo(&["doc", "--workspace", "--no-deps"]);
    must_succeed(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

/// All tests, and the conformance suite in `tests/spec` among them.
fn tests(workspace: &Workspace) -> Result<()> {
    must_succeed(&mut workspace.cargo(&["test", "--workspace"]))
}

/// `cargo deny`, where it is installed. Its database of advisories is not asked for: that needs a
/// network that a check must not depend on.
fn deny(workspace: &Workspace) -> Result<()> {
    let mut probe = workspace.cargo(&["deny", "--version"]);
    match probe.stdout(Stdio::null()).stderr(Stdio::null()).status() {
        Ok(status) if status.success() => {
            must_succeed(&mut workspace.cargo(&["deny", "check", "bans", "licenses", "sources"]))
        }
        Ok(_) => {
            eprintln!("cargo-deny is not installed; skipped (`cargo install cargo-deny`)");
            Ok(())
        }
        Err(error) => bail!("cargo does not start: {error}"),
    }
}
