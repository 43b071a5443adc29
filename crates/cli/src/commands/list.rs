//! `tenter list`: the hooks and rules that count here.

use tenter::core::exit_code::PROCEED;

use crate::args::ListArgs;
use crate::commands::list_host;
use crate::console::Console;
use crate::error::CliError;
use crate::render::list::{human, json};
use crate::setup;
use crate::world::World;

/// Runs the command.
pub(crate) fn run(args: &ListArgs, world: &World, console: &mut Console) -> Result<u8, CliError> {
    if let Some(host) = &args.host {
        return list_host::run(host, args, world, console);
    }
    let engine = setup::engine(&args.config, None, world)?;
    let loaded = engine.loaded();
    setup::report(&loaded, console);
    let (hooks, rules) = (engine.hooks(), engine.rules());
    let profile = engine.host().profile;
    if args.json {
        console.out(&json(&hooks, &rules, profile));
        return Ok(PROCEED);
    }
    console.out(&human(&hooks, &rules, profile, console.width()));
    if hooks.is_empty() && rules.is_empty() {
        console.err("no hooks and no rules; these files were looked for:\n");
        for file in &loaded.files {
            console.err(&format!("  {} ({})\n", file.name, file.state));
        }
        console.hint("`tenter init` writes a first hooks file");
    }
    Ok(PROCEED)
}
