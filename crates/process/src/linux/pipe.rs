//! Pipes: three for a child's stdio, and the lifeline.
//!
//! Every descriptor here is closed on exec from the moment it exists, so that no process another
//! thread starts at the same time can inherit it and keep a pipe open.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{OFlags, fcntl_setfl, fstat};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::pipe::{PipeFlags, pipe_with};

/// The two ends of a pipe.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) read: OwnedFd,
    pub(crate) write: OwnedFd,
}

impl Pipe {
    /// Makes a pipe whose ends are both above the three standard descriptors, so that putting one end
    /// in a child's place 0, 1 or 2 never overwrites another one. (A host may run with its own
    /// standard descriptors closed.)
    pub(crate) fn new() -> io::Result<Self> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Self { read: above(read, 3)?, write: above(write, 3)? })
    }
}

/// Moves a descriptor to a number that is at least this.
fn above(fd: OwnedFd, least: i32) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() >= least { Ok(fd) } else { Ok(fcntl_dupfd_cloexec(&fd, least)?) }
}

/// Makes reads and writes on this end return at once. The other end is not affected.
pub(crate) fn set_nonblocking(end: impl AsFd) -> io::Result<()> {
    Ok(fcntl_setfl(end, OFlags::NONBLOCK)?)
}

/// The number that tells a pipe from all others, as `/proc/PID/fd` shows it.
pub(crate) fn inode(end: impl AsFd) -> io::Result<u64> {
    Ok(fstat(end)?.st_ino)
}

/// Takes an end of a pipe as a file, to read and write it.
pub(crate) fn as_file(end: OwnedFd) -> File {
    File::from(end)
}

/// A pipe that nobody writes to. The child arms its read end: when the last write end closes, which
/// happens however this process dies, the kernel sends SIGKILL to the child's group.
///
/// The owner of the signal is kept by the kernel as a reference to the group and not as a number, so
/// closing it never hits a stranger whose number is the same.
#[derive(Debug)]
pub(crate) struct Lifeline {
    read: OwnedFd,
    write: OwnedFd,
}

impl Lifeline {
    pub(crate) fn new() -> io::Result<Self> {
        let Pipe { read, mut write } = Pipe::new()?;
        // When a process dies, its descriptors close in ascending order. With the read end below the
        // write end, this process's own read end can still serve when the write end closes, should
        // every process of the group have closed its copy.
        if write.as_raw_fd() < read.as_raw_fd() {
            write = above(write, read.as_raw_fd())?;
        }
        Ok(Self { read, write })
    }

    /// The end that the child arms and keeps.
    pub(crate) fn read_end(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }

    /// Lets go of the group: what is left of it lives on when this process dies or drops the
    /// lifeline.
    pub(crate) fn disarm(self) {
        // The flag belongs to the open pipe end, which the child's copy shares. Clearing it cannot
        // fail on a descriptor we own; if it did, the group would die, which is the safe side.
        let _ = fcntl_setfl(&self.read, OFlags::empty());
    }

    /// Kills the group, if it is armed. It cannot hit anybody else, even when the number of the group
    /// has been given to another.
    pub(crate) fn cut(self) {
        drop(self.write);
        drop(self.read);
    }
}
