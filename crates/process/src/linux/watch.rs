//! Registers descriptors with the runtime, so that it wakes us when something happens on them.

#![expect(unsafe_code, reason = "the runtime has to be promised that a descriptor stays the same")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::process::Process;

/// Types that own one descriptor, from their making to their drop, and never exchange it.
trait Steady: AsRawFd {}

impl Steady for File {}
impl Steady for Process {}

/// Watches a pipe's read end for bytes and for its end.
pub(crate) fn for_reading(pipe: File) -> io::Result<AsyncFd<File>> {
    register(pipe, Interest::READABLE).map_err(|(_, error)| error)
}

/// Watches a pipe's write end for room.
pub(crate) fn for_writing(pipe: File) -> io::Result<AsyncFd<File>> {
    register(pipe, Interest::WRITABLE).map_err(|(_, error)| error)
}

/// Watches a process for its exit. On failure the process is handed back.
pub(crate) fn for_exit(process: Process) -> Result<AsyncFd<Process>, (Process, io::Error)> {
    register(process, Interest::READABLE)
}

fn register<T: Steady>(inner: T, interest: Interest) -> Result<AsyncFd<T>, (T, io::Error)> {
    // SAFETY: the types that come here own their descriptor for as long as they live and always give
    // the same one; nothing in this crate replaces the value inside an `AsyncFd`.
    unsafe { AsyncFd::register_with_interest(inner, interest) }
        .map_err(tokio::io::unix::AsyncFdRegisterError::into_parts)
}
