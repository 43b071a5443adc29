//! Hermes Agent.

mod bridge;
mod install;

pub use bridge::BRIDGE;
