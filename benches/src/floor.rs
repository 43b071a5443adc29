//! The floor under a command hook: `posix_spawn` with the same three pipes, and nothing else.
//!
//! No deadline, no cap, no check of anything: what no runner can go below.

use std::ffi::{CString, NulError};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

/// A program to start again and again.
#[derive(Debug)]
pub(crate) struct Floor {
    program: CString,
    args: Vec<CString>,
    env: Vec<CString>,
    cwd: CString,
}

/// What came of one run.
#[derive(Debug)]
pub(crate) struct Ran {
    /// From before the pipes were made until the process was reaped.
    pub(crate) time: Duration,
    /// The exit code; -1 after a signal.
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
}

impl Floor {
    /// A program by its path, its arguments, its whole environment and its directory.
    pub(crate) fn new(
        program: &Path,
        args: &[&str],
        env: &[(&str, &str)],
        cwd: &Path,
    ) -> Result<Self, NulError> {
        let program = CString::new(program.as_os_str().as_bytes())?;
        let rest = args.iter().map(|arg| CString::new(*arg));
        let args = std::iter::once(Ok(program.clone())).chain(rest).collect::<Result<_, _>>()?;
        let env = env.iter().map(|(name, value)| CString::new(format!("{name}={value}")));
        let cwd = CString::new(cwd.as_os_str().as_bytes())?;
        Ok(Self { program, args, env: env.collect::<Result<_, _>>()?, cwd })
    }

    /// Starts it, gives it `stdin`, reads what it prints, and waits for its end.
    ///
    /// `stdin` must fit into a pipe: it is written before anything is read.
    pub(crate) fn run(&self, stdin: &[u8]) -> io::Result<Ran> {
        let begun = Instant::now();
        let (child_in, to_child) = pipe()?;
        let (mut from_child, child_out) = pipe()?;
        let (mut errors, child_err) = pipe()?;
        let child = self.start([&child_in, &child_out, &child_err])?;
        drop((child_in, child_out, child_err));
        let mut to_child = to_child;
        match to_child.write_all(stdin) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => drop(to_child),
        }
        let mut stdout = Vec::new();
        let mut stderr = Vec::new();
        from_child.read_to_end(&mut stdout)?;
        errors.read_to_end(&mut stderr)?;
        let mut status = 0;
        // SAFETY: waits for our own child and writes to our own integer.
        if unsafe { libc::waitpid(child, &raw mut status, 0) } < 0 {
            return Err(io::Error::last_os_error());
        }
        let code = if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -1 };
        Ok(Ran { time: begun.elapsed(), code, stdout })
    }

    fn start(&self, ends: [&File; 3]) -> io::Result<libc::pid_t> {
        let list = |words: &[CString]| -> Vec<*mut libc::c_char> {
            let pointers = words.iter().map(|word| word.as_ptr().cast_mut());
            pointers.chain(std::iter::once(null_mut())).collect()
        };
        let (argv, envp) = (list(&self.args), list(&self.env));
        let mut actions = MaybeUninit::<libc::posix_spawn_file_actions_t>::uninit();
        let mut attributes = MaybeUninit::<libc::posix_spawnattr_t>::uninit();
        let mut child = 0;
        // SAFETY: both objects are initialised before anything else is done with them and destroyed
        // at the end; all pointers live through the calls; both lists end with a null pointer.
        let failed = unsafe {
            let actions = actions.as_mut_ptr();
            let attributes = attributes.as_mut_ptr();
            libc::posix_spawn_file_actions_init(actions);
            libc::posix_spawnattr_init(attributes);
            for (number, end) in (0..).zip(ends) {
                libc::posix_spawn_file_actions_adddup2(actions, end.as_raw_fd(), number);
            }
            libc::posix_spawn_file_actions_addchdir_np(actions, self.cwd.as_ptr());
            // A hook has a session of its own; so has the floor.
            libc::posix_spawnattr_setflags(attributes, libc::POSIX_SPAWN_SETSID);
            let failed = libc::posix_spawn(
                &raw mut child,
                self.program.as_ptr(),
                actions,
                attributes,
                argv.as_ptr(),
                envp.as_ptr(),
            );
            libc::posix_spawn_file_actions_destroy(actions);
            libc::posix_spawnattr_destroy(attributes);
            failed
        };
        if failed == 0 { Ok(child) } else { Err(io::Error::from_raw_os_error(failed)) }
    }
}

fn pipe() -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: the array has room for both descriptors.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just made them, and nobody else knows them.
    let [read, write] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    Ok((File::from(read), File::from(write)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_really_runs_the_program() {
        let shell = Path::new("/bin/sh");
        let text = "cat; echo \"$A\"; pwd; exit 7";
        let floor = Floor::new(shell, &["-c", text], &[("A", "b")], Path::new("/")).unwrap();
        let ran = floor.run(b"in\n").unwrap();
        assert_eq!((ran.code, ran.stdout.as_slice()), (7, &b"in\nb\n/\n"[..]));
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error() {
        let floor = Floor::new(Path::new("/no/such"), &[], &[], Path::new("/")).unwrap();
        assert_eq!(floor.run(b"").unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
