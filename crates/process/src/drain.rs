//! The pipes of a run: feeding stdin, and taking in stdout and stderr up to their limits.
//!
//! All of it is polled and never waits; `run` decides when to stop. Memory grows with what is really
//! there, and never past a limit.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::unix::AsyncFd;

use crate::Stream;
use crate::platform::pipe::{Pipe, as_file, set_nonblocking};
use crate::platform::watch;

/// Read at a time: a hook's whole answer nearly always fits, and the stack does not notice.
const CHUNK: usize = 16 * 1024;

/// The stdin of a run.
#[derive(Debug)]
pub(crate) struct Feed {
    /// `None` once nothing more is to be written, so that the child meets the end.
    pipe: Option<AsyncFd<File>>,
    /// Kept while there is something to write, so that the pipe always has a reader. A hook that
    /// closes its stdin then costs neither an error nor a SIGPIPE, which would end a host that has
    /// left that signal at its default.
    read_end: OwnedFd,
    bytes: Arc<[u8]>,
    written: usize,
}

impl Feed {
    /// Makes the pipe, and writes what fits into it before anybody reads, which is usually all. Must
    /// be called within a runtime.
    pub(crate) fn new(bytes: Arc<[u8]>) -> io::Result<Self> {
        let Pipe { read: read_end, write } = Pipe::new()?;
        set_nonblocking(&write)?;
        let mut write = as_file(write);
        let mut feed = Self { pipe: None, read_end, bytes, written: 0 };
        while let Some(rest) = feed.rest() {
            match write.write(rest) {
                Ok(count) => feed.written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    feed.pipe = Some(watch::for_writing(write)?);
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(feed)
    }

    /// The end for the child.
    pub(crate) fn read_end(&self) -> BorrowedFd<'_> {
        self.read_end.as_fd()
    }

    /// Whether all is written, so that this can be dropped once the child has its end.
    pub(crate) fn is_done(&self) -> bool {
        self.pipe.is_none()
    }

    /// Writes what can be written now. Ready once nothing more is to be written, for whatever reason.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some(pipe) = &self.pipe
            && let Some(rest) = self.rest()
        {
            let Ok(mut guard) = ready!(pipe.poll_write_ready(cx)) else { break };
            match guard.try_io(|pipe| pipe.get_ref().write(rest)) {
                Ok(Ok(count)) => self.written += count,
                Ok(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                Ok(Err(_)) => break,
                Err(_would_block) => {}
            }
        }
        self.pipe = None;
        Poll::Ready(())
    }

    fn rest(&self) -> Option<&[u8]> {
        self.bytes.get(self.written..).filter(|rest| !rest.is_empty())
    }
}

/// One output stream of a run.
#[derive(Debug)]
pub(crate) struct Intake {
    /// `None` once it has ended.
    pipe: Option<AsyncFd<File>>,
    stream: Stream,
    limit: usize,
    bytes: Vec<u8>,
    over: bool,
    /// Why reading ended before the end, if it did.
    error: Option<io::Error>,
}

impl Intake {
    /// Makes the pipe: our end, and the end for the child. Must be called within a runtime.
    pub(crate) fn new(stream: Stream, limit: usize) -> io::Result<(Self, OwnedFd)> {
        let Pipe { read, write } = Pipe::new()?;
        set_nonblocking(&read)?;
        let pipe = watch::for_reading(as_file(read))?;
        let intake =
            Self { pipe: Some(pipe), stream, limit, bytes: Vec::new(), over: false, error: None };
        Ok((intake, write))
    }

    /// Reads what there is. Ready once the stream has ended or is over its limit.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut chunk = [0; CHUNK];
        while let Some(pipe) = &self.pipe
            && !self.over
        {
            let mut guard = match ready!(pipe.poll_read_ready(cx)) {
                Ok(guard) => guard,
                Err(error) => {
                    self.fail(error);
                    break;
                }
            };
            if let Ok(read) = guard.try_io(|pipe| pipe.get_ref().read(&mut chunk)) {
                self.take(read, &chunk);
            }
        }
        Poll::Ready(())
    }

    /// Reads what is in the pipe at this moment, without asking the runtime whether there is
    /// anything.
    pub(crate) fn take_rest(&mut self) {
        let mut chunk = [0; CHUNK];
        while let Some(pipe) = &self.pipe
            && !self.over
        {
            match pipe.get_ref().read(&mut chunk) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                read => self.take(read, &chunk),
            }
        }
    }

    fn take(&mut self, read: io::Result<usize>, chunk: &[u8]) {
        match read {
            Ok(0) => self.pipe = None,
            Ok(count) => {
                let fits = count.min(self.limit.saturating_sub(self.bytes.len()));
                self.bytes.extend_from_slice(chunk.get(..fits).unwrap_or_default());
                self.over = fits < count;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => self.fail(error),
        }
    }

    fn fail(&mut self, error: io::Error) {
        self.error = Some(error);
        self.pipe = None;
    }

    /// Whether more was written than the limit.
    pub(crate) fn over(&self) -> Option<Stream> {
        self.over.then_some(self.stream)
    }

    /// Whether somebody still holds the other end.
    pub(crate) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Stops reading, and gives what was read and what went wrong.
    pub(crate) fn finish(&mut self) -> (Vec<u8>, Option<io::Error>) {
        self.pipe = None;
        (std::mem::take(&mut self.bytes), self.error.take())
    }
}
