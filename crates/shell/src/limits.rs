//! The bounds of an analysis: bytes, depth and steps, never time.

/// The longest text that is analysed, in bytes.
pub const MAX_BYTES: usize = 64 * 1024;

/// How deep commands, substitutions and wrappers may nest together.
pub const MAX_DEPTH: usize = 200;

/// Up to this depth the caller's own stack is used; what is deeper goes to a thread of ours.
pub const MAX_DEPTH_IN_PLACE: usize = 24;

/// How many bytes of shell text and words of commands are looked at in all, with what is unwrapped
/// counted each time.
pub const MAX_STEPS: usize = 1 << 20;

/// How many uses of files are told one by one, written and read ones each. Where there are more, one
/// of any file stands for the rest.
pub const MAX_FILES: usize = 4096;

/// How much text an unknown keeps, in bytes.
pub const MAX_UNKNOWN_TEXT: usize = 4 * 1024;
