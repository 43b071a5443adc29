//! `tenter fire`: runs the hooks for one event and shows the outcome.

use std::path::Path;

use tenter::RunContext;

use crate::args::FireArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::firing::{self, Fired};
use crate::render::{human, json};
use crate::world::World;
use crate::{event, outcome, setup, signals};

/// Runs the command.
pub(crate) fn run(args: &FireArgs, world: &World, console: &mut Console) -> Result<u8, CliError> {
    let event = event::resolve(&args.event, args.config.profile, world)?;
    let engine = setup::engine(&args.config, Some(Path::new(&event.origin.cwd)), world)?;
    setup::report(&engine.loaded(), console);

    let session = engine.session(event.origin.session_id.clone());
    let cx = RunContext::new();
    // Whoever else ends the program gets no outcome, but nothing of the hooks is left.
    let mut outcome = match firing::fire(&session, &event, &cx, || outcome::GRACE, |_| {})? {
        Ok(Fired { outcome, ended_by: None }) => outcome,
        Ok(Fired { ended_by: Some(signal), .. }) => return Ok(signals::exit_code_of(signal)),
        Err(code) => return Ok(code),
    };
    outcome::add_left_out(&mut outcome, &session, &event);

    let host = engine.host();
    let contract = host.profile.contract(&event.kind);
    if args.json {
        console.out(&json::outcome(&event, &outcome, contract, host.profile.name, args.io));
    } else {
        let width = console.width();
        let scene = human::Scene { event: &event, outcome: &outcome, contract, width, io: args.io };
        console.out(&human::draw(&scene));
        if outcome.hooks.is_empty() {
            console.hint(
                "`tenter list` shows what is loaded, `tenter init` writes a first hooks file",
            );
        }
    }
    Ok(outcome.exit_code())
}
