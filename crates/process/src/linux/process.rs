//! A process as a handle: whether it has exited, and signals to it and its group.
//!
//! A handle (pidfd) means this process for ever; a number is given to another process once this one
//! has been reaped, which code elsewhere in the host may do at any time. Numbers are used only where
//! the kernel offers nothing else, and then only while the process is provably unreaped.

#![expect(unsafe_code, reason = "two system calls on pidfds have no safe interface")]

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, pidfd_send_signal, waitid,
};

use crate::Exit;

/// How often, and how far apart, a status that is not yet to be had is asked for again.
const STATUS_TRIES: u32 = 40;
const STATUS_PAUSE: Duration = Duration::from_micros(100);

/// A process we started: the leader of its own group and session.
#[derive(Debug)]
pub(crate) struct Process {
    pid: i32,
    pidfd: OwnedFd,
}

impl AsRawFd for Process {
    /// The pidfd, which becomes readable when the process exits.
    fn as_raw_fd(&self) -> RawFd {
        self.pidfd.as_raw_fd()
    }
}

impl Process {
    pub(crate) fn new(pid: i32, pidfd: OwnedFd) -> Self {
        Self { pid, pidfd }
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// Returns how the process exited, or `None` while it runs. It is not reaped by this, so its
    /// number, and with it its group's, stays its own.
    pub(crate) fn peek(&self) -> Option<Exit> {
        self.status(WaitIdOptions::NOWAIT)
    }

    /// As [`peek`](Self::peek), and reaps it.
    pub(crate) fn reap(&self) -> Option<Exit> {
        self.status(WaitIdOptions::empty())
    }

    fn status(&self, how: WaitIdOptions) -> Option<Exit> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | how;
        loop {
            return match waitid(WaitId::PidFd(self.pidfd.as_fd()), options) {
                Ok(Some(status)) => Some(exit_from(&status)),
                Ok(None) => None,
                Err(Errno::INTR) => continue,
                // Somebody else reaped it, or the host ignores SIGCHLD.
                Err(_) => Some(self.status_after_reaping()),
            };
        }
    }

    /// Asks the kernel for the status of a process that somebody else has reaped. Linux 6.15 keeps
    /// it for those who hold a pidfd. Between the exit and the end of reaping there is a moment in
    /// which neither way answers, hence the tries.
    fn status_after_reaping(&self) -> Exit {
        for _ in 0..STATUS_TRIES {
            match exit_info(self.pidfd.as_raw_fd()) {
                Ok(Some(status)) => return exit_from_wait_status(status),
                Ok(None) | Err(libc::ESRCH) => thread::sleep(STATUS_PAUSE),
                Err(_) => break,
            }
        }
        Exit::Lost
    }

    /// Whether the process, dead or alive, has not been reaped, so that its number is its own.
    fn is_unreaped(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::PidFd(self.pidfd.as_fd()), options).is_ok()
    }

    /// Sends a signal to the whole group. An empty group is no error. Returns whether the group could
    /// be addressed without the danger of hitting another.
    pub(crate) fn signal_group(&self, signal: Signal) -> bool {
        match signal_group_by_handle(self.pidfd.as_raw_fd(), signal) {
            Ok(()) | Err(libc::ESRCH | libc::EPERM) => true,
            // Before Linux 6.9.
            Err(_) => self.signal_group_by_number(signal),
        }
    }

    fn signal_group_by_number(&self, signal: Signal) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else { return false };
        if !self.is_unreaped() {
            return false;
        }
        let _ = kill_process_group(pid, signal);
        true
    }
}

/// Reaps a child that told us that it could not become the program and is exiting.
pub(crate) fn reap_failed_start(pidfd: &OwnedFd) {
    let id = WaitId::PidFd(pidfd.as_fd());
    while matches!(waitid(id.clone(), WaitIdOptions::EXITED), Err(Errno::INTR)) {}
}

/// Reaps one child by its number if it has exited. Only for orphans that we inherited, which nobody
/// else knows.
pub(crate) fn reap_orphan(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }
}

/// A handle on a process that we did not start.
pub(crate) fn open(pid: i32) -> io::Result<OwnedFd> {
    let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())?)
}

/// Kills the process of a handle.
pub(crate) fn kill(pidfd: &OwnedFd) -> io::Result<()> {
    Ok(pidfd_send_signal(pidfd, Signal::KILL)?)
}

fn exit_from(status: &WaitIdStatus) -> Exit {
    if let Some(code) = status.exit_status() {
        Exit::Code(code)
    } else if let Some(signal) = status.terminating_signal() {
        Exit::Signal(signal)
    } else {
        Exit::Lost
    }
}

fn exit_from_wait_status(status: i32) -> Exit {
    if libc::WIFEXITED(status) {
        Exit::Code(libc::WEXITSTATUS(status))
    } else if libc::WIFSIGNALED(status) {
        Exit::Signal(libc::WTERMSIG(status))
    } else {
        Exit::Lost
    }
}

/// Asks for the wait status of a process that has been reaped; `None` if the kernel does not have it.
fn exit_info(pidfd: RawFd) -> Result<Option<i32>, i32> {
    let wanted = u64::from(libc::PIDFD_INFO_EXIT);
    // SAFETY: a struct of integers, for which all zeros is a value.
    let mut info: libc::pidfd_info = unsafe { std::mem::zeroed() };
    info.mask = wanted;
    // SAFETY: the request carries the size of the struct it is used with, and the struct is ours.
    let done = unsafe { libc::ioctl(pidfd, libc::PIDFD_GET_INFO, &raw mut info) };
    if done < 0 {
        return Err(io::Error::last_os_error().raw_os_error().unwrap_or(0));
    }
    Ok((info.mask & wanted != 0).then_some(info.exit_code))
}

fn signal_group_by_handle(pidfd: RawFd, signal: Signal) -> Result<(), i32> {
    // SAFETY: a system call on a descriptor we own; no memory is passed.
    let done = unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            pidfd,
            signal.as_raw(),
            std::ptr::null::<libc::siginfo_t>(),
            libc::PIDFD_SIGNAL_PROCESS_GROUP,
        )
    };
    if done < 0 {
        return Err(io::Error::last_os_error().raw_os_error().unwrap_or(0));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// `cat` in a group of its own, which ends when its stdin does.
    fn cat() -> (Child, Process) {
        let mut command = Command::new("/bin/cat");
        let child = command.process_group(0).stdin(Stdio::piped()).spawn().expect("cat starts");
        let pid = i32::try_from(child.id()).expect("a pid is an i32");
        let pidfd = open(pid).expect("the child is there");
        (child, Process::new(pid, pidfd))
    }

    fn exit_of(process: &Process) -> Exit {
        loop {
            match process.peek() {
                Some(exit) => return exit,
                None => thread::sleep(STATUS_PAUSE),
            }
        }
    }

    #[test]
    fn an_old_kernel_is_not_asked_to_signal_a_group_whose_leader_is_reaped() {
        let (mut child, process) = cat();
        assert!(process.signal_group_by_number(Signal::TERM));
        assert_eq!(exit_of(&process), Exit::Signal(libc::SIGTERM));
        assert!(process.signal_group_by_number(Signal::KILL), "it is dead but not reaped");
        child.wait().expect("it is ours to reap");
        assert!(!process.signal_group_by_number(Signal::KILL));
    }

    #[test]
    fn looking_at_an_exit_does_not_reap() {
        let (mut child, process) = cat();
        assert_eq!(process.peek(), None);
        drop(child.stdin.take());
        assert_eq!(exit_of(&process), Exit::Code(0));
        assert_eq!(process.reap(), Some(Exit::Code(0)));
        assert!(!process.is_unreaped());
    }
}
