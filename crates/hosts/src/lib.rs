//! The hosts that tenter knows, one module a host: the profile as data, the wire codec, and the
//! reader of its configuration.
//!
//! Everything here is a function of its arguments: bytes in, values and diagnostics out. A host's
//! name stands in its own module and nowhere else.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod codec;
pub mod files;
pub mod names;
pub mod native;
