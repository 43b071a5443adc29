//! Hermes Agent.

mod bridge;

pub use bridge::BRIDGE;
