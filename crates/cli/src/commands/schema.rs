//! `tenter schema`, `tenter completions` and `tenter man`: what is generated from tables.

use clap::CommandFactory as _;
use tenter::core::exit_code::PROCEED;
use tenter::hosts::native::schema::{hooks_file, test_file};

use crate::args::{Cli, CompletionsArgs, ManArgs, SchemaArgs, SchemaName};
use crate::console::Console;
use crate::error::CliError;
use crate::render::json::pretty;
use crate::schemas;

/// Prints a schema.
pub(crate) fn schema(args: &SchemaArgs, console: &mut Console) -> u8 {
    let schema = match args.name {
        SchemaName::HooksFile => hooks_file(),
        SchemaName::TestFile => test_file(),
        SchemaName::Fire => schemas::fire(),
        SchemaName::HookInput => schemas::hook_input(),
        SchemaName::HookOutput => schemas::hook_output(),
        SchemaName::Events => schemas::events(),
        SchemaName::Stream => schemas::stream(),
    };
    console.out(&pretty(&schema));
    PROCEED
}

/// Prints the completions for a shell.
pub(crate) fn completions(args: &CompletionsArgs, console: &mut Console) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tenter", &mut script);
    console.out(&String::from_utf8_lossy(&script));
    PROCEED
}

/// Prints a manual page.
pub(crate) fn man(args: &ManArgs, console: &mut Console) -> Result<u8, CliError> {
    let mut program = Cli::command();
    program.build();
    let of = match &args.command {
        None => program,
        Some(name) => {
            let found = program.get_subcommands().find(|command| command.get_name() == name);
            let command = found.cloned().ok_or_else(|| unknown_command(name, &program))?;
            command.version(env!("CARGO_PKG_VERSION"))
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(of)
        .render(&mut page)
        .map_err(|error| CliError::bad_input(format!("the manual page cannot be made: {error}")))?;
    console.out(&String::from_utf8_lossy(&page));
    Ok(PROCEED)
}

fn unknown_command(name: &str, program: &clap::Command) -> CliError {
    let names: Vec<_> = program.get_subcommands().map(clap::Command::get_name).collect();
    let error = CliError::usage(format!("there is no command `{name}`"));
    match tenter::core::suggest::nearest(name, names.iter().copied()) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint(format!("commands are {}", names.join(", "))),
    }
}
