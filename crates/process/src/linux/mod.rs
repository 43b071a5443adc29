//! All that depends on Linux, behind names that another system's module would repeat:
//!
//! - `pipe`: pipes for the child, and the lifeline that ends its group when this process dies;
//! - `child`: making the process;
//! - `process`: the process as a handle: its exit, its signals;
//! - `procfs`: finding processes and looking at them;
//! - `watch`: being woken when something happens on a pipe or to a process.
//!
//! Nothing in here knows deadlines, limits, or why something is to be ended.

pub(crate) mod child;
pub(crate) mod pipe;
pub(crate) mod process;
pub(crate) mod procfs;
pub(crate) mod watch;
