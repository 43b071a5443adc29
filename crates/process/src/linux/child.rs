//! Makes the process: a child that shares this process's memory until it executes its program.
//!
//! `posix_spawn` works the same way, but cannot arm the lifeline; a fork can, but takes as long as
//! the host is large. The price is that everything between the clone and the exec runs in the host's
//! memory while the calling thread is suspended. So the code in [`child`] allocates nothing, takes no
//! lock, cannot panic, and reports through a struct on the parent's stack.

#![expect(unsafe_code, reason = "no safe interface makes a process this way")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

use crate::Stage;

/// What the process will be.
pub(crate) struct Image<'a> {
    pub(crate) program: &'a CStr,
    pub(crate) argv: &'a [&'a CStr],
    pub(crate) env: &'a [&'a CStr],
    pub(crate) cwd: &'a CStr,
    pub(crate) stdin: BorrowedFd<'a>,
    pub(crate) stdout: BorrowedFd<'a>,
    pub(crate) stderr: BorrowedFd<'a>,
    /// The read end of the lifeline, to be armed and kept.
    pub(crate) lifeline: BorrowedFd<'a>,
    /// The `cgroup.procs` file of a cgroup to join.
    pub(crate) cgroup: Option<BorrowedFd<'a>>,
}

/// A process that is executing its program.
pub(crate) struct Born {
    pub(crate) pid: i32,
    pub(crate) pidfd: OwnedFd,
    /// Whether the lifeline was armed, or the `errno` of why not.
    pub(crate) armed: Result<(), i32>,
    /// Whether it is in the cgroup that was given, or the `errno` of why not.
    pub(crate) joined: Result<(), i32>,
}

/// Why there is no process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) stage: Stage,
    pub(crate) errno: i32,
}

/// The number the lifeline has in the child. Scripts use one digit, or 200 for their locks; shells take
/// free numbers from 10 up and from 63 or 255 down. From 64 on, each process would need a larger table.
const LIFELINE_FD: RawFd = 60;

/// `F_SETSIG` of Linux, which `libc` has no name for.
const F_SETSIG: c_int = 10;

/// Enough for a dozen system calls, also without optimisation.
const STACK_BYTES: usize = 64 * 1024;

/// Signals are numbered from 1 to this.
const LAST_SIGNAL: c_int = 64;

/// A `sigset_t` as the kernel has it. libc's own hides two signals, which must be blocked as well.
type SignalMask = u64;

/// All that the child reads and writes. It lives on the parent's stack, and the parent is suspended
/// while the child uses it.
struct Shared {
    program: *const c_char,
    argv: *const *const c_char,
    env: *const *const c_char,
    cwd: *const c_char,
    stdin: RawFd,
    stdout: RawFd,
    stderr: RawFd,
    lifeline: RawFd,
    cgroup: RawFd,
    failed_stage: AtomicI32,
    failed_errno: AtomicI32,
    arm_errno: AtomicI32,
    join_errno: AtomicI32,
}

/// Starts the process and returns once it executes its program. The calling thread is suspended
/// meanwhile; the parent's memory is not copied.
///
/// The child has its own session, default handling of SIGPIPE, SIGCHLD and SIGTERM and of every
/// signal the host handles, an empty signal mask, and no descriptor but 0, 1, 2 and the lifeline.
/// Other signals that the host ignores stay ignored, so `nohup` works.
pub(crate) fn start(image: &Image<'_>) -> Result<Born, Failure> {
    let argv = null_terminated(image.argv);
    let env = null_terminated(image.env);
    let shared = Shared {
        program: image.program.as_ptr(),
        argv: argv.as_ptr(),
        env: env.as_ptr(),
        cwd: image.cwd.as_ptr(),
        stdin: image.stdin.as_raw_fd(),
        stdout: image.stdout.as_raw_fd(),
        stderr: image.stderr.as_raw_fd(),
        lifeline: image.lifeline.as_raw_fd(),
        cgroup: image.cgroup.map_or(-1, |fd| fd.as_raw_fd()),
        failed_stage: AtomicI32::new(0),
        failed_errno: AtomicI32::new(0),
        arm_errno: AtomicI32::new(0),
        join_errno: AtomicI32::new(0),
    };
    let stack =
        Stack::new().map_err(|error| Failure { stage: Stage::Clone, errno: errno_of(&error) })?;
    let mut pidfd: c_int = -1;

    // A signal handler of the host must not run in the child, which would run it in the host's
    // memory; so all signals are held back until the child has removed the handlers.
    let blocked = block_signals();
    // SAFETY: the stack is ours, mapped, aligned and large enough, and the pointer is its upper end;
    // `child` has the type that clone calls. CLONE_VFORK suspends this thread until the child has
    // executed or exited, so `shared`, the vectors it points to and the stack outlive the child's use
    // of them. `pidfd` is where CLONE_PIDFD stores the descriptor.
    let pid = unsafe {
        libc::clone(
            child,
            stack.top(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD,
            ptr::from_ref(&shared).cast_mut().cast::<c_void>(),
            &raw mut pidfd,
        )
    };
    let clone_error = io::Error::last_os_error();
    restore_signals(blocked);

    if pid < 0 {
        return Err(Failure { stage: Stage::Clone, errno: errno_of(&clone_error) });
    }
    // SAFETY: the clone succeeded, so the kernel has stored a new descriptor there that nobody else
    // owns.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    let as_result = |errno: &AtomicI32| match errno.load(Ordering::Relaxed) {
        0 => Ok(()),
        errno => Err(errno),
    };
    if let Some(stage) = stage_from(shared.failed_stage.load(Ordering::Relaxed)) {
        super::process::reap_failed_start(&pidfd);
        return Err(Failure { stage, errno: shared.failed_errno.load(Ordering::Relaxed) });
    }
    Ok(Born {
        pid,
        pidfd,
        armed: as_result(&shared.arm_errno),
        joined: as_result(&shared.join_errno),
    })
}

/// The life of the child from the clone to the exec.
extern "C" fn child(shared: *mut c_void) -> c_int {
    // SAFETY: `start` passes a pointer to a `Shared` that outlives this function, and does not touch
    // it meanwhile; all fields are plain or atomic.
    let shared = unsafe { &*shared.cast::<Shared>().cast_const() };
    // SAFETY: only system calls that are safe between a vfork and an exec, on descriptors and
    // strings that `start` holds. Nothing allocates, locks or panics. Descriptors are this process's
    // own copies. `execve` gets terminated lists; `_exit` runs none of the host's handlers.
    unsafe {
        if shared.cgroup >= 0 && libc::write(shared.cgroup, c"0".as_ptr().cast(), 1) != 1 {
            shared.join_errno.store(errno(), Ordering::Relaxed);
        }
        let own_pid = libc::setsid();
        if own_pid < 0 {
            fail(shared, Stage::Session);
        }
        reset_signals();
        if libc::chdir(shared.cwd) != 0 {
            fail(shared, Stage::Directory);
        }
        // None of the sources is 0, 1 or 2, so no target overwrites a source.
        for (from, to) in [(shared.stdin, 0), (shared.stdout, 1), (shared.stderr, 2)] {
            if libc::dup2(from, to) < 0 {
                fail(shared, Stage::Descriptors);
            }
        }
        // Arming comes before closing: this process's own copy of the write end is still open here,
        // so there is no moment at which the host's death would go unnoticed.
        if libc::fcntl(shared.lifeline, libc::F_SETOWN, own_pid.wrapping_neg()) < 0
            || libc::fcntl(shared.lifeline, F_SETSIG, libc::SIGKILL) < 0
            || libc::fcntl(shared.lifeline, libc::F_SETFL, libc::O_ASYNC) < 0
        {
            shared.arm_errno.store(errno(), Ordering::Relaxed);
        }
        let kept = keep_lifeline(shared.lifeline);
        if kept < 0 {
            fail(shared, Stage::Descriptors);
        }
        if (kept > 3 && close_range(3, kept.wrapping_sub(1)) < 0)
            || close_range(kept.wrapping_add(1), c_int::MAX) < 0
        {
            fail(shared, Stage::Descriptors);
        }
        libc::execve(shared.program, shared.argv, shared.env);
        fail(shared, Stage::Exec)
    }
}

/// Gives the lifeline its number in the child, kept across the exec. Returns that number, or a
/// negative one. Where the limit on descriptors is too low, any number will do.
unsafe fn keep_lifeline(fd: RawFd) -> RawFd {
    // SAFETY: plain system calls on a descriptor of this process. The caller knows that nothing
    // else it still needs is at `LIFELINE_FD`.
    unsafe {
        if fd == LIFELINE_FD {
            return if libc::fcntl(fd, libc::F_SETFD, 0) < 0 { -1 } else { fd };
        }
        let kept = libc::dup2(fd, LIFELINE_FD);
        if kept >= 0 { kept } else { libc::fcntl(fd, libc::F_DUPFD, 3) }
    }
}

unsafe fn close_range(first: RawFd, last: RawFd) -> libc::c_long {
    // SAFETY: closing descriptors of a process that is about to execute; its own table, not shared.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) }
}

/// Notes where and why it failed, and ends the child.
unsafe fn fail(shared: &Shared, stage: Stage) -> ! {
    shared.failed_errno.store(errno(), Ordering::Relaxed);
    shared.failed_stage.store(stage_number(stage), Ordering::Relaxed);
    // SAFETY: `_exit` is always allowed, and runs nothing of the host.
    unsafe { libc::_exit(127) }
}

/// Removes the host's signal handlers, gives back their default to the signals that a hook needs, and
/// then lets signals in.
///
/// SIGPIPE: a hook that writes into a closed pipe must end, as it would in a shell. SIGCHLD: with it
/// ignored, a hook cannot learn how its own children ended. SIGTERM: it is how a hook is asked to
/// end. The two that the C library keeps for itself: its own way of starting programs leaves them
/// ignored, which nobody has asked for.
unsafe fn reset_signals() {
    // The kernel's `struct sigaction`, larger than on any architecture we know; the handler is its
    // first word on all of them, and all zeros is the default action.
    let default = [0_usize; 8];
    let mask_bytes = size_of::<SignalMask>();
    let mut signal = 1;
    while signal <= LAST_SIGNAL {
        let mut current = [0_usize; 8];
        let wanted = matches!(signal, libc::SIGPIPE | libc::SIGCHLD | libc::SIGTERM | 32 | 33);
        // SAFETY: both arrays are large enough for the kernel's struct. Signals whose action cannot
        // be changed return an error and stay as they are. The table of actions is this process's
        // own: it was not shared by the clone.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                ptr::null::<usize>(),
                current.as_mut_ptr(),
                mask_bytes,
            );
            let [handler, ..] = current;
            let own = handler != libc::SIG_DFL && handler != libc::SIG_IGN;
            if own || (wanted && handler != libc::SIG_DFL) {
                libc::syscall(
                    libc::SYS_rt_sigaction,
                    signal,
                    default.as_ptr(),
                    ptr::null::<usize>(),
                    mask_bytes,
                );
            }
        }
        signal = signal.wrapping_add(1);
    }
    restore_signals(0);
}

/// Keeps the host's signals, and so its handlers, away from the calling thread for good.
pub(crate) fn refuse_signals() {
    block_signals();
}

/// Holds back all signals of this thread, and returns what was held back before.
fn block_signals() -> SignalMask {
    let all = SignalMask::MAX;
    let mut before: SignalMask = 0;
    // SAFETY: the kernel reads and writes masks of the size it is told.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const all,
            &raw mut before,
            size_of::<SignalMask>(),
        );
    }
    before
}

fn restore_signals(mask: SignalMask) {
    // SAFETY: the kernel reads a mask of the size it is told.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const mask,
            ptr::null_mut::<SignalMask>(),
            size_of::<SignalMask>(),
        );
    }
}

fn errno() -> i32 {
    // SAFETY: the pointer is this thread's own and always valid.
    unsafe { *libc::__errno_location() }
}

fn errno_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or(0)
}

const fn stage_number(stage: Stage) -> i32 {
    stage as i32 + 1
}

fn stage_from(number: i32) -> Option<Stage> {
    [Stage::Session, Stage::Directory, Stage::Descriptors, Stage::Exec]
        .into_iter()
        .find(|stage| stage_number(*stage) == number)
}

fn null_terminated(strings: &[&CStr]) -> Vec<*const c_char> {
    strings.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
}

/// The child's stack. One is kept for the next start, because making and unmaking it costs more than
/// all that the child does on it.
struct Stack {
    base: *mut c_void,
}

/// The stack that is kept, if nobody is using it.
static KEPT: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

impl Stack {
    fn new() -> io::Result<Self> {
        let kept = KEPT.swap(ptr::null_mut(), Ordering::Acquire);
        if !kept.is_null() {
            return Ok(Self { base: kept });
        }
        // SAFETY: a new private mapping at an address the kernel chooses.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                STACK_BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Self { base }) }
    }

    fn top(&self) -> *mut c_void {
        // SAFETY: one past the end of the mapping; page-aligned, so aligned for any stack.
        unsafe { self.base.byte_add(STACK_BYTES) }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let keep =
            KEPT.compare_exchange(ptr::null_mut(), self.base, Ordering::Release, Ordering::Relaxed);
        if keep.is_err() {
            // SAFETY: the mapping is ours, and the child has left it: `start` has returned from the
            // clone.
            unsafe { libc::munmap(self.base, STACK_BYTES) };
        }
    }
}
