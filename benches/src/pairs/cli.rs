//! The whole program `tenter fire`, from its start to its end, beside a program that does nothing.

use std::path::Path;

use anyhow::{Context as _, Result};

use crate::Args;
use crate::floor::Floor;
use crate::measure::{Case, Rounds};
use crate::report::{Bar, Measured};

const HOOKS: &str = r#"version = 1

[[hook]]
event   = "PreToolUse"
matcher = "Bash"
reply   = { decision = "deny", reason = "This repository uses pnpm." }
"#;

/// The exit code of a denied call.
const DENIED: i32 = 2;

pub(super) fn measure(args: &Args) -> Result<Vec<Measured>> {
    let home = tempfile::tempdir()?;
    let hooks = home.path().join("hooks.toml");
    std::fs::write(&hooks, HOOKS)?;
    let (home_text, hooks) = (
        home.path().to_str().context("a temporary folder with a name in UTF-8")?,
        hooks.to_str().context("a temporary folder with a name in UTF-8")?,
    );
    let env = [("HOME", home_text), ("PATH", "/usr/bin:/bin")];
    let words = [
        "fire",
        "PreToolUse",
        "--tool",
        "Bash",
        "--input",
        r#"{"command":"npm install"}"#,
        "--config",
        hooks,
    ];
    let program = |program: &Path, words: &[&str]| Floor::new(program, words, &env, home.path());
    let empty = program(&args.empty.canonicalize()?, &[])?;
    let tenter = program(&args.tenter.canonicalize()?, &words)?;
    let time = |floor: &Floor, code: i32| match floor.run(b"") {
        Ok(ran) if ran.code == code => ran.time.as_secs_f64() * 1e9,
        _ => f64::NAN,
    };
    // A broken hook denies too: only its reason shows that this one has really answered.
    let ran = tenter.run(b"")?;
    let said = String::from_utf8_lossy(&ran.stdout);
    anyhow::ensure!(ran.code == DENIED && said.contains("uses pnpm"), "`tenter fire` said: {said}");

    let cases: Vec<Case<'_>> =
        vec![Box::new(|| time(&empty, 0)), Box::new(|| time(&tenter, DENIED))];
    let rounds = Rounds::run(args.rounds(300), cases);
    Ok(vec![Measured {
        name: "cli/fire-reply".into(),
        bar: Bar::Times(2.0),
        value: rounds.ratio(1, 0),
        took: rounds.nanos(1).median,
        floor: Some(rounds.nanos(0).median),
        allocations: None,
    }])
}
