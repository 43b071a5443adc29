//! Kimi Code.

mod bridge;
mod install;

pub use bridge::BRIDGE;
