//! Kimi Code.

mod bridge;

pub use bridge::BRIDGE;
