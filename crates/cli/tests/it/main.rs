//! The program as a user meets it: what it prints, where, and how it exits.
//!
//! Every test runs the real binary in a home of its own with an environment of its own. What is
//! printed is compared with golden files; times, digests and the home's path are replaced.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of tests fail the test"
)]

mod agent;
mod bad_input;
mod check;
mod demo;
mod explain;
mod fire;
mod first_steps;
mod generated;
mod hook;
mod host_files;
mod install;
mod list;
mod profiles;
mod recordings;
mod skips;
mod support;
mod terminal;
mod test_files;
mod trust;
mod usage;
