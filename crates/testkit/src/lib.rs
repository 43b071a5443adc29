//! What the tests of tenter share: a hook program that does what its arguments say, ways to wait for
//! what it did, and temporary homes.
//!
//! It is for tests only, so it panics where a test would have to. It knows nothing of hooks beyond
//! "a program with stdin, stdout, stderr and an end".

#![forbid(unsafe_code)]
#![expect(clippy::missing_panics_doc, reason = "everything here panics when a test cannot go on")]
#![expect(
    clippy::panic,
    clippy::expect_used,
    reason = "everything here panics when a test cannot go on"
)]

mod home;
mod hook;
mod wait;

pub use home::TestHome;
pub use hook::scripted_hook;
pub use wait::{
    LIMIT, is_alive, read_pid, wait_for_file, wait_for_pid, wait_until, wait_until_dead,
};
