//! What rules of a kind that people write find, measured over many commands.

mod score;
mod spellings;
