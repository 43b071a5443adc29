//! `tenter demo`: a scripted session with hooks, offline, in a home and a project of its own.

use tenter::core::exit_code::{FAILED, PROCEED};

use crate::args::DemoArgs;
use crate::console::Console;
use crate::demo;
use crate::error::{CliError, reason};
use crate::render::timeline;
use crate::world::World;

/// Runs the command.
pub(crate) fn run(args: &DemoArgs, world: &World, console: &mut Console) -> Result<u8, CliError> {
    let folder = tempfile::Builder::new().prefix("tenter-demo-").tempdir().map_err(|error| {
        CliError::bad_input(format!("no temporary folder can be made: {}", reason(&error)))
            .hint("set `TMPDIR` to a folder of yours")
    })?;
    let shown = demo::run(folder.path(), world)?;
    if args.json {
        for event in &shown.events {
            console.out(&(demo::json(event) + "\n"));
        }
    } else {
        console.out(&timeline::draw(&shown.events));
        let place = "in this stream nor in what was stored";
        if !shown.leaked {
            console.out(&format!("\nThe planted secret stands neither {place}.\n"));
        }
    }
    if shown.leaked {
        console
            .warn("the planted secret was not kept back: a hook of the demonstration did not run");
        return Ok(FAILED);
    }
    Ok(PROCEED)
}
