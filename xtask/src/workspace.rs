//! Where the repository is, what Cargo knows of it, and how its programs are run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// The repository on disk.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The repository that this program was built from.
    pub(crate) fn find() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().context("xtask does not stand in a repository")?;
        Ok(Self { root: root.to_owned() })
    }

    /// The folder with the root manifest.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path inside it.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// A call of the same Cargo that runs this program, in the root.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(args).current_dir(&self.root);
        command
    }

    /// What `cargo metadata` says of the members, without their dependencies' own manifests.
    pub(crate) fn metadata(&self) -> Result<Value> {
        let output = self
            .cargo(&["metadata", "--format-version", "1", "--no-deps"])
            .stderr(Stdio::inherit())
            .output()
            .context("cargo metadata does not start")?;
        if !output.status.success() {
            bail!("cargo metadata failed with {}", output.status);
        }
        serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")
    }

    /// Builds programs and returns where they are, in the order of `names`.
    ///
    /// `args` says what is built, such as `["-p", "tenter-cli"]`.
    pub(crate) fn build(&self, args: &[&str], names: &[&str]) -> Result<Vec<PathBuf>> {
        let mut build =
            self.cargo(&["build", "--quiet", "--message-format=json-render-diagnostics"]);
        let output = build.args(args).stderr(Stdio::inherit()).output()?;
        if !output.status.success() {
            bail!("`cargo build {}` failed", args.join(" "));
        }
        let text = String::from_utf8(output.stdout).context("cargo printed no UTF-8")?;
        let programs: Vec<PathBuf> = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
            .collect();
        names
            .iter()
            .map(|name| {
                programs
                    .iter()
                    .find(|path| path.file_stem().is_some_and(|stem| stem == *name))
                    .cloned()
                    .with_context(|| format!("`cargo build {}` made no `{name}`", args.join(" ")))
            })
            .collect()
    }
}

/// Runs a command with our own terminal; an error if it fails.
pub(crate) fn must_succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?} does not start"))?;
    if status.success() { Ok(()) } else { bail!("{command:?} ended with {status}") }
}
