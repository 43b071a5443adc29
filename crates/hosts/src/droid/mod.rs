//! Factory Droid.

mod bridge;
mod install;

pub use bridge::BRIDGE;
