//! The exit codes of the `tenter` program, for scripts that depend on them.

/// The event may proceed.
pub const PROCEED: u8 = 0;
/// Tests or checks failed.
pub const FAILED: u8 = 1;
/// The event is denied.
pub const DENIED: u8 = 2;
/// A human, or a later moment, has to decide: the outcome is `ask` or `defer`.
pub const ASKS: u8 = 3;
/// The turn is halted; this goes before all others.
pub const HALTED: u8 = 49;
/// The command line was used wrongly.
pub const USAGE: u8 = 64;
/// The input (an event, a configuration) is not what it should be.
pub const BAD_INPUT: u8 = 65;
/// A file that was named does not exist.
pub const NO_SUCH_FILE: u8 = 66;
/// A bug in tenter.
pub const BUG: u8 = 70;
