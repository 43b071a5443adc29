//! The whole programs `tenter fire` and `tenter hook`, from their start to their end, beside a program
//! that does nothing.

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

/// What Claude Code tells a hook.
const PAYLOAD: &str = include_str!("../../../examples/recordings/claude/PreToolUse.json");

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

    // As a host calls it: the hooks are found where a user has them, the event comes on stdin.
    let project = home.path().join("project");
    let found = home.path().join(".config/tenter");
    std::fs::create_dir_all(&project)?;
    std::fs::create_dir_all(&found)?;
    std::fs::write(found.join("hooks.toml"), HOOKS)?;
    let project = project.to_str().context("a temporary folder with a name in UTF-8")?;
    let env = [env[0], env[1], ("CLAUDE_PROJECT_DIR", project)];
    let words = ["hook", "claude", "PreToolUse", "--deadline", "55s"];
    let hook = Floor::new(&args.tenter.canonicalize()?, &words, &env, home.path())?;
    let payload = PAYLOAD.replace("/home/user/project", project);
    let time_hook = || match hook.run(payload.as_bytes()) {
        Ok(ran) if ran.code == 0 => ran.time.as_secs_f64() * 1e9,
        _ => f64::NAN,
    };
    let said = hook.run(payload.as_bytes())?.stdout;
    let said = String::from_utf8_lossy(&said);
    anyhow::ensure!(said.contains("uses pnpm"), "`tenter hook` said: {said}");

    let cases: Vec<Case<'_>> =
        vec![Box::new(|| time(&empty, 0)), Box::new(|| time(&tenter, DENIED)), Box::new(time_hook)];
    let rounds = Rounds::run(args.rounds(300), cases);
    let measured = |at: usize, name: &str| Measured {
        name: name.into(),
        bar: Bar::Times(2.0),
        value: rounds.ratio(at, 0),
        took: rounds.nanos(at).median,
        floor: Some(rounds.nanos(0).median),
        allocations: None,
    };
    Ok(vec![measured(1, "cli/fire-reply"), measured(2, "cli/hook-claude-reply")])
}
