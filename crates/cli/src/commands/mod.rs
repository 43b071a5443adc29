//! One module a command: arguments in, library calls, rendering out.

mod agent;
mod check;
mod demo;
mod explain;
mod fire;
pub(crate) mod hook;
mod init;
mod install;
mod list;
mod list_host;
mod schema;
mod test;
mod trust;

use crate::args::Command;
use crate::console::Console;
use crate::error::CliError;
use crate::world::World;

/// Does what the command line says; gives the exit code.
///
/// # Errors
/// The command cannot go on.
pub(crate) fn run(command: &Command, console: &mut Console) -> Result<u8, CliError> {
    // What is generated needs no surroundings, and works in a folder that is gone.
    match command {
        Command::Schema(args) => return Ok(schema::schema(args, console)),
        Command::Completions(args) => return Ok(schema::completions(args, console)),
        Command::Man(args) => return schema::man(args, console),
        // A hook answers its host whatever goes wrong.
        Command::Hook(args) => return Ok(hook::run(args, console)),
        _ => {}
    }
    let world = World::of_this_process()?;
    match command {
        Command::Init(args) => init::run(args, &world, console),
        Command::Check(args) => check::run(args, &world, console),
        Command::List(args) => list::run(args, &world, console),
        Command::Explain(args) => explain::run(args, &world, console),
        Command::Fire(args) => fire::run(args, &world, console),
        Command::Install(args) => install::install(args, &world, console),
        Command::Uninstall(args) => install::uninstall(args, &world, console),
        Command::Agent(args) => agent::run(args, &world, console),
        Command::Demo(args) => demo::run(args, &world, console),
        Command::Test(args) => test::run(args, &world, console),
        Command::Trust(args) => trust::trust(args, &world, console),
        Command::Untrust(args) => trust::untrust(args, &world, console),
        Command::Schema(args) => Ok(schema::schema(args, console)),
        Command::Completions(args) => Ok(schema::completions(args, console)),
        Command::Man(args) => schema::man(args, console),
        Command::Hook(args) => Ok(hook::run(args, console)),
    }
}
