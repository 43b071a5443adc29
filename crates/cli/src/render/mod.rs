//! How results look: for people, for programs, for other tools.
//!
//! Everything here turns values into text and decides nothing.

pub(crate) mod diagnostics;
pub(crate) mod github;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod list;
pub(crate) mod plan;
pub(crate) mod rewrite;
pub(crate) mod sarif;
pub(crate) mod sessions;
pub(crate) mod shell;
pub(crate) mod style;
pub(crate) mod text;
pub(crate) mod timeline;
