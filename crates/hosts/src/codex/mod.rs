//! Codex CLI.

mod bridge;

pub use bridge::BRIDGE;
