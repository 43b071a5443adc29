//! What command lines are found to run, and that nothing real is missed.

#![expect(clippy::unwrap_used, reason = "a test stops where its own set-up fails")]

mod cases;
mod constants;
mod constructs;
mod daily;
mod effects;
mod files;
mod folders;
mod limits;
mod reach;
mod sound;
