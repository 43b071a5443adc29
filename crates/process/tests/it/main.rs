//! Real processes, started and ended by the public API. Each test says the behaviour it holds.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on panics")]

mod ends;
mod hosts;
mod leftovers;
mod many;
mod start;
mod streams;
mod support;
