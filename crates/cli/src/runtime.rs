//! The runtime of the program: one thread, made only by commands that run something.

use tenter::core::exit_code::BUG;
use tokio::runtime::{Builder, Runtime};

use crate::error::CliError;

/// A runtime on this thread.
///
/// # Errors
/// The system has no room for one.
pub(crate) fn current_thread() -> Result<Runtime, CliError> {
    Builder::new_current_thread().enable_all().build().map_err(|error| CliError {
        code: BUG,
        ..CliError::usage(format!("no runtime can be made: {error}"))
    })
}
