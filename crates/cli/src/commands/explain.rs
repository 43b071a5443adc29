//! `tenter explain`: which hooks would run for an event, and why not the others.

use std::path::Path;

use tenter::core::exit_code::PROCEED;

use crate::args::ExplainArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::event;
use crate::render::plan::{Scene, human, json};
use crate::setup;
use crate::world::World;

/// Runs the command.
pub(crate) fn run(
    args: &ExplainArgs,
    world: &World,
    console: &mut Console,
) -> Result<u8, CliError> {
    let event = event::resolve(&args.event, args.config.profile, world)?;
    let cwd = Path::new(&event.origin.cwd);
    let engine = setup::engine(&args.config, Some(cwd), world)?;
    setup::report(&engine.loaded(), console);
    let plan = engine.plan(&event);
    let profile = engine.host().profile;
    let scene = Scene {
        event: &event,
        plan: &plan,
        contract: profile.contract(&event.kind),
        profile: profile.name,
        permission: engine.judge(&event),
    };
    if args.json {
        console.out(&json(&scene));
    } else {
        console.out(&human(&scene, console.width()));
        if plan.hooks.is_empty() {
            console.hint("`tenter list` shows what is loaded");
        }
    }
    Ok(PROCEED)
}
