//! `cargo xtask rule-score`: how often one rule finds one action, however it is spelled, and how
//! often it finds what only looks like it.
//!
//! Owns what is printed and what fails. The data and the counting are those of the test in
//! `crates/core/tests`, which knows the faults of today; here every fault fails.

#[path = "../../crates/core/tests/it/score.rs"]
mod score;

use anyhow::{Result, anyhow, bail};

use self::score::{Kind, Score};

/// `cargo xtask rule-score`
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print each command that a rule misses, each that it wrongly matches, and each that only may
    /// match though it does nothing of the kind
    #[arg(long)]
    list: bool,
}

/// Counts; an error if a spelling is missed or a mention matches.
pub(crate) fn run(args: &Args) -> Result<()> {
    let score = Score::take().map_err(|error| anyhow!("spellings.toml: {error}"))?;
    if args.list {
        for fault in &score.faults {
            println!("{fault}{}", if fault.known { "  known" } else { "" });
        }
        for mended in &score.mended {
            println!("mended  {mended}");
        }
    }
    println!("{score}");
    println!("deny rules: matched, or only may match; allow rules: matched means that none holds");
    let count = |kind| score.faults.iter().filter(|fault| fault.kind == kind).count();
    let (missed, wrong) = (count(Kind::Missed), count(Kind::Wrong));
    if missed + wrong > 0 {
        bail!("{missed} spellings are missed and {wrong} mentions match; `--list` shows them");
    }
    Ok(())
}
