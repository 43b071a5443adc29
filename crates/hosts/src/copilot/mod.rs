//! GitHub Copilot CLI.

mod bridge;
mod install;

pub use bridge::BRIDGE;
