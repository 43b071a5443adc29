//! `tenter test`: runs test files.

use std::io::Write as _;
use std::time::Instant;

use tenter::core::exit_code::{BAD_INPUT, FAILED, PROCEED};

use crate::args::TestArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::signals::exit_code_of;
use crate::test::filter::Filter;
use crate::test::{find, json, junit, report, run};
use crate::world::{self, World};

/// Runs the command.
pub(crate) fn run(args: &TestArgs, world: &World, console: &mut Console) -> Result<u8, CliError> {
    let filter = args.filter.as_deref().map(Filter::parse).transpose()?;
    let files = find::read_all(&args.paths, world)?;
    let invalid = files.iter().any(find::Loaded::is_invalid);
    report::findings(&files, console);

    let plan = run::Plan::of(files, |file, case| {
        filter.as_ref().is_none_or(|filter| filter.matches(file, case))
    });
    if let (true, false, Some(text)) = (plan.is_empty(), invalid, &args.filter) {
        return Err(CliError::usage(format!("no case matches the filter `{text}`"))
            .hint("it is sought in `FILE: NAME` of each case; `/…/` is a regex"));
    }
    // Said before anything runs, so that nobody waits for a report that cannot be written.
    let junit = match &args.junit {
        None => None,
        Some(path) => {
            let whole = world.cwd().join(path);
            let file =
                std::fs::File::create(whole).map_err(|error| CliError::unwritable(path, &error))?;
            Some((path, file))
        }
    };

    let begun = Instant::now();
    let mut progress = report::Progress::new(plan.len(), world::stderr_is_terminal());
    let results = run::all(plan, args.jobs.map(usize::from), world, |result| {
        progress.add(result, console);
    })?;
    progress.clear(console);
    let took = begun.elapsed();

    if let Some((path, mut file)) = junit {
        file.write_all(junit::draw(&results, took).as_bytes())
            .map_err(|error| CliError::unwritable(path, &error))?;
    }
    if args.json {
        console.out(&json::draw(&results, took));
    } else {
        console.out(&report::draw(&results, took));
    }
    Ok(match results.ended_by {
        Some(signal) => exit_code_of(signal),
        None if invalid => BAD_INPUT,
        None if results.failed() > 0 => FAILED,
        None => PROCEED,
    })
}
