//! The chores of this repository: `cargo xtask check`, `generate`, `tidy`, `bench-check`,
//! `rule-score` and `seeds`.
//!
//! Owns what a contributor and CI run beside `cargo test`. It ships nothing: no crate depends on it.

#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people at a terminal and for the log of CI"
)]

mod bench;
mod check;
mod generate;
mod rule_score;
mod seeds;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// Chores of the tenter repository.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run every check that CI runs: formatting, lints, docs, generated files, house rules, tests
    Check(check::Args),
    /// Write the files that are made from the code: reference pages, schemas, completions
    Generate(generate::Args),
    /// Check the house rules that the compiler does not know
    Tidy,
    /// Measure every bar of speed in a release build, and fail where one is missed
    BenchCheck(bench::Args),
    /// Count how often one rule finds one action, however it is spelled, and fail where it does not
    RuleScore(rule_score::Args),
    /// Check that everything the mission comes from has its counterpart, and write the page about it
    Seeds(seeds::Args),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = Workspace::find().and_then(|workspace| match cli.task {
        Task::Check(args) => check::run(&workspace, &args),
        Task::Generate(args) => generate::run(&workspace, args),
        Task::Tidy => tidy::run(&workspace),
        Task::BenchCheck(args) => bench::run(&workspace, &args),
        Task::RuleScore(args) => rule_score::run(&args),
        Task::Seeds(args) => seeds::run(&workspace, args),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
