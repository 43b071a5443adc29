//! Starts a hook process, feeds it, bounds it and ends it.
//!
//! This crate owns everything between "this program, these bytes, this deadline" and "this is how it
//! ended": the start without a fork, the three pipes, the deadline, the output caps, ending a whole
//! process tree, and the promise that nothing is left behind. It does not know what a hook is for:
//! it reads no configuration, resolves no placeholder, looks at no environment of its own process
//! and gives no meaning to an exit status or to output.
//!
//! ```no_run
//! use std::sync::Arc;
//! use tenter_process::{Command, Environment, run};
//! use tokio_util::sync::CancellationToken;
//!
//! # async fn example() -> Result<(), tenter_process::StartError> {
//! let environment = Environment::from_iter([("PATH", "/usr/bin:/bin")]);
//! let command = Command {
//!     args: vec!["-c".into(), "cat; echo done".into()],
//!     stdin: Arc::from(&b"{}\n"[..]),
//!     ..Command::new("/bin/sh", "/tmp", environment)
//! };
//! let ended = run(&command, &CancellationToken::new()).await?;
//! assert_eq!(ended.stdout, b"{}\ndone\n");
//! # Ok(())
//! # }
//! ```
//!
//! # How a run goes
//!
//! The child is started by a `clone` that shares memory until the exec, so the size of the host does
//! not matter. It gets its own session, so neither a terminal nor a signal meant for the host
//! reaches it. A *lifeline* pipe makes the kernel kill its process group when the host dies, however
//! it dies. [`run`] then writes stdin, reads stdout and stderr and awaits the exit at the same time,
//! under one deadline that starts at the start of the process. [`Ended`] says how it went.
//!
//! Dropping the future of [`run`] ends what it started; a kept thread sees it through, and
//! [`settle`] waits for that.
//!
//! # What it cannot do
//!
//! - A process that left its session, cleared its environment *and* let go of its pipes cannot be
//!   told from a stranger. Only a cgroup ([`Cgroups`]) or a subreaper ([`become_subreaper`]) finds it.
//! - The lifeline covers the process group, not what left it, and not a program that runs as another
//!   user. A host that forks a copy of itself without an exec keeps it from being cut.
//! - A start is waited for until the program is being executed. On a file system that hangs, so does
//!   the thread that started it.
//!
//! # Platforms
//!
//! Linux 5.9 and later. Some guarantees are better on newer kernels, and say so where they are made.
//! Everything that depends on the system lives in `linux/`; `macos` and `windows` would stand beside
//! it with the same function names.

mod cgroup;
mod command;
mod contain;
mod diagnose;
mod drain;
mod ended;
mod environment;
mod error;
mod keeper;
mod kill;
mod run;
mod start;
mod world;

#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod platform;

#[cfg(not(target_os = "linux"))]
compile_error!(
    "tenter-process runs on Linux only for now: another system needs a module beside `linux/` \
     with the same functions"
);

pub use cgroup::Cgroups;
pub use command::{Command, Leftovers, Limits};
pub use ended::{Containment, Ended, Exit, LeftProcess, Stopped, Stream};
pub use environment::{Environment, RUN_VARIABLE};
pub use error::{Stage, StartCause, StartError};
pub use keeper::settle;
pub use run::run;
pub use world::end_world;

/// Makes this process the one that inherits every orphan among its descendants, so that ending a run
/// finds processes that left their session, cleared their environment and closed their descriptors.
///
/// It changes how the *whole* process lives: orphans that would have gone to process 1 become its
/// children, and this crate reaps them. That is right for a command-line program that starts nothing
/// but hooks, and wrong for a library in somebody else's agent, which is why nothing here calls it.
///
/// # Errors
///
/// What the system said, should it refuse.
pub fn become_subreaper() -> std::io::Result<()> {
    platform::procfs::become_subreaper()
}
