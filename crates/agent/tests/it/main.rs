//! The promises of the loop, end to end: on the event stream, in the history, in the stored session
//! and in what the model is asked.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "the helpers of tests fail the test")]

mod below;
mod cancel;
mod compact;
mod crush;
mod guardrail;
mod hotl;
mod mecatl;
mod permission;
mod phases;
mod positions;
#[cfg(feature = "net")]
mod providers;
mod restart;
mod results;
mod reviewer;
mod seed_items;
#[cfg(feature = "net")]
mod server;
mod sessions;
mod support;
mod views;
