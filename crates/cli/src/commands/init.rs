//! `tenter init`: writes a first hooks file, which is also the shortest introduction to hooks.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use tenter::core::exit_code::PROCEED;

use crate::args::InitArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::setup;
use crate::world::World;

/// The file that is written.
const TEMPLATE: &str = include_str!("init.toml");

/// Runs the command.
pub(crate) fn run(args: &InitArgs, world: &World, console: &mut Console) -> Result<u8, CliError> {
    let places = setup::places(args.project.project.as_deref(), None, world)?;
    let path = places.project_file();
    let shown = places.shown(&path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| CliError::unwritable(folder, &error))?;
    }
    write(&path, args.force).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            CliError::usage(format!("`{shown}` is there already, and is left as it is"))
                .hint("`tenter check` looks at it; `tenter init --force` replaces it")
        }
        _ => CliError::unwritable(&path, &error),
    })?;
    console.out(&format!("wrote {shown} in {}\n", places.project.display()));
    console.err(
        "\nNext:\n  \
         tenter check     is it sound?\n  \
         tenter trust     look at its hooks, and let them run\n  \
         tenter list      what counts here?\n\n\
         Then try one:\n  \
         tenter fire --tool Read --input '{\"file_path\":\".env\"}'\n",
    );
    Ok(PROCEED)
}

fn write(path: &Path, force: bool) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        // Also a link that leads nowhere is something.
        options.create_new(true);
    }
    options.open(path)?.write_all(TEMPLATE.as_bytes())
}
