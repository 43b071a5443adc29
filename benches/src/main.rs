//! Measures tenter beside the floor under it, and fails where a bar is missed.
//!
//! Owns the order of things and the table; what is measured stands in `pairs`, how in `measure`.
//! Run it through `cargo xtask bench-check`, which builds everything in the shipped profile first.

mod allocations;
mod floor;
mod measure;
mod pairs;
mod report;
mod system;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

/// Measures tenter beside the floor under it.
#[derive(Debug, Parser)]
pub(crate) struct Args {
    /// Fewer rounds
    #[arg(long)]
    quick: bool,

    /// A program that does nothing, built in the same profile
    #[arg(long, value_name = "PROGRAM")]
    empty: PathBuf,

    /// The program `tenter`
    #[arg(long, value_name = "PROGRAM")]
    tenter: PathBuf,

    /// Hold this much memory and time one hook for each line on stdin
    #[arg(long, value_name = "BYTES", hide = true)]
    serve: Option<usize>,

    /// Only groups whose name begins with one of these
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

impl Args {
    /// How many rounds, for a measurement that deserves `full` of them.
    pub(crate) fn rounds(&self, full: usize) -> usize {
        if self.quick { (full / 6).max(5) } else { full }
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match args.serve {
        Some(bytes) => pairs::host_size::serve(bytes).map(|()| true),
        None => measure(&args),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("tenter-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Measures all groups that were asked for; whether every bar is kept.
fn measure(args: &Args) -> Result<bool> {
    let priority = if system::take_priority() { "real-time" } else { "plain" };
    println!("{} rounds, {priority} priority", if args.quick { "few" } else { "all" });
    println!("{}", report::HEAD);
    let mut kept = true;
    for (name, group) in pairs::ALL {
        if !args.names.is_empty()
            && !args.names.iter().any(|start| name.starts_with(start.as_str()))
        {
            continue;
        }
        for measured in group(args)? {
            println!("{measured}");
            kept &= measured.is_kept();
        }
    }
    if !kept {
        println!("\na bar is missed by more than {:.0} %", report::TOLERANCE * 100.0);
    }
    Ok(kept)
}
