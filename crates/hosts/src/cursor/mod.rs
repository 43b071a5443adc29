//! Cursor.

mod bridge;
mod install;

pub use bridge::BRIDGE;
