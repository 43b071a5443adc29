//! The files that are made from the code, so that they cannot say anything else than the code.
//!
//! Owns the list of these files and the comparison with what is in the repository. What they say
//! is the business of the crates they are made from.

mod checks;
mod events;
mod hosts;
mod test_files;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::workspace::Workspace;

/// `cargo xtask generate`
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Args {
    /// Write nothing; fail where a file is not what it would be
    #[arg(long)]
    pub(crate) check: bool,
}

/// The formats of `tenter schema`, each in a file of its own.
const SCHEMAS: &[&str] =
    &["hooks-file", "test-file", "fire", "hook-input", "hook-output", "events", "stream"];

/// The shells of `tenter completions`, and what each calls its file.
const COMPLETIONS: &[(&str, &str)] =
    &[("bash", "tenter.bash"), ("zsh", "_tenter"), ("fish", "tenter.fish")];

const MARK: &str = "<!-- Made by `cargo xtask generate`; changes here are lost. -->\n\n";

/// A file that is made from the code.
#[derive(Debug)]
struct Generated {
    path: String,
    content: String,
}

/// Writes all files, or compares them.
pub(crate) fn run(workspace: &Workspace, args: Args) -> Result<()> {
    let files = make(workspace)?;
    if args.check {
        let drift = drift(workspace.root(), &files)?;
        if drift.is_empty() {
            return Ok(());
        }
        bail!("generated files have drifted; run `cargo xtask generate`:{drift}");
    }
    for file in &files {
        let path = workspace.path(&file.path);
        if fs::read_to_string(&path).is_ok_and(|old| old == file.content) {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, &file.content).with_context(|| path.display().to_string())?;
        println!("wrote {}", file.path);
    }
    Ok(())
}

fn make(workspace: &Workspace) -> Result<Vec<Generated>> {
    let mut files = vec![
        page("docs/reference/hooks-file.md", &tenter_hosts::native::keys::reference_markdown()),
        page("docs/reference/test-files.md", &test_files::page()),
        page("docs/reference/events.md", &events::page()),
        page("docs/hosts.md", &hosts::page()),
        page("docs/checks/README.md", &checks::index()),
    ];
    files.extend(checks::pages().map(|(path, text)| page(&path, &text)));
    let programs = workspace.build(&["-p", "tenter-cli", "--bin", "tenter"], &["tenter"])?;
    for program in &programs {
        for name in SCHEMAS {
            let path = format!("schemas/{name}.schema.json");
            files.push(Generated { path, content: printed_by(program, &["schema", name])? });
        }
        for (shell, file) in COMPLETIONS {
            let path = format!("completions/{file}");
            files.push(Generated { path, content: printed_by(program, &["completions", shell])? });
        }
    }
    Ok(files)
}

fn page(path: &str, text: &str) -> Generated {
    Generated { path: path.to_owned(), content: format!("{MARK}{text}") }
}

/// What a program prints, with nothing in its environment that could change it.
fn printed_by(program: &Path, args: &[&str]) -> Result<String> {
    let output = Command::new(program).args(args).env_clear().current_dir("/").output()?;
    let words = args.join(" ");
    if !output.status.success() || output.stdout.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`tenter {words}` ended with {} and said: {said}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`tenter {words}` printed no UTF-8"))
}

/// One line for each file that is not what it would be; empty if there is none.
fn drift(root: &Path, files: &[Generated]) -> Result<String> {
    let mut lines = String::new();
    for file in files {
        let there = match fs::read_to_string(root.join(&file.path)) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                write!(lines, "\n  {} is missing", file.path)?;
                continue;
            }
            Err(error) => return Err(error).with_context(|| file.path.clone()),
        };
        if there != file.content {
            let same = there.lines().zip(file.content.lines()).take_while(|(a, b)| a == b).count();
            write!(lines, "\n  {}: differs from line {}", file.path, same + 1)?;
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_names_the_file_and_the_line() {
        let root = std::env::temp_dir().join(format!("xtask-drift-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join("same"), "a\nb\n").unwrap();
        fs::write(root.join("other"), "a\nb\n").unwrap();
        let file =
            |path: &str, content: &str| Generated { path: path.into(), content: content.into() };
        let files = [file("same", "a\nb\n"), file("other", "a\nc\n"), file("absent", "x")];
        let lines = drift(&root, &files).unwrap();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(lines, "\n  other: differs from line 2\n  absent is missing");
    }
}
