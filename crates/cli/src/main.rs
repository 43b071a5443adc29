//! The command line of tenter.
//!
//! | module | owns |
//! |---|---|
//! | `args` | the syntax, as plain data |
//! | `commands` | one module a command: library calls in the right order |
//! | `setup`, `event`, `firing`, `outcome` | from arguments to a loaded configuration, to an event, to its outcome and what completes that |
//! | `install` | tenter in the files of hosts |
//! | `test` | runs test files |
//! | `agent` | the agent with a person at a terminal |
//! | `demo` | the world of the demonstration |
//! | `render` | how results look |
//! | `schemas` | JSON Schemas of what is read and written |
//! | `console`, `world`, `signals`, `error`, `bug` | the edges of the process |
//!
//! This crate alone knows a terminal, `std::env`, exit codes and clap. It decides nothing about
//! hooks: what it shows is what the library says.

#![forbid(unsafe_code)]

mod agent;
mod args;
mod bug;
mod commands;
mod console;
mod demo;
mod error;
mod event;
mod firing;
mod install;
mod outcome;
mod render;
mod runtime;
mod schemas;
mod setup;
mod signals;
mod test;
mod why;
mod world;

use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;
use tenter::core::exit_code::{PROCEED, USAGE};

use crate::args::Cli;
use crate::console::Console;
use crate::error::CliError;
use crate::render::style::{HINT, paint};

fn main() -> ExitCode {
    let code = bug::guarded(program).unwrap_or_else(|(code, line)| {
        Console::of_this_process().fail(&CliError { code, ..CliError::usage(line) })
    });
    ExitCode::from(code)
}

fn program() -> u8 {
    let mut console = Console::of_this_process();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let said = not_a_command(&error, &mut console);
            return commands::hook::instead_of(said, std::env::args_os().skip(1), &mut console);
        }
    };
    let code =
        commands::run(&cli.command, &mut console).unwrap_or_else(|error| console.fail(&error));
    match console.lost() {
        // What could not be said must not look like an answer, and a denial stays one.
        Some(error) if code == PROCEED => console.fail(&error),
        _ => code,
    }
}

/// Help and version are answers; everything else is a wrong use, which never exits like a denial.
fn not_a_command(error: &clap::Error, console: &mut Console) -> u8 {
    let text = error.render().ansi().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            console.out(&text);
            PROCEED
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            console.err(&text);
            USAGE
        }
        _ => {
            console.err(&with_hints(&text));
            USAGE
        }
    }
}

/// What the parser calls a tip is a hint in every other message.
fn with_hints(text: &str) -> String {
    let line = |line: &str| {
        let plain = anstream::adapter::strip_str(line).to_string();
        match plain.strip_prefix("  tip: ") {
            Some(tip) => format!("{}: {tip}", paint(HINT, "hint")),
            None => line.to_owned(),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n") + "\n"
}
