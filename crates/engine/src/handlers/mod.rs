//! How hooks run: a process, or a function of this program.
//!
//! A handler decides no policy: it returns bytes and a status, or what a function said.

pub(crate) mod command;
pub(crate) mod in_process;
