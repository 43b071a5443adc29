//! The few styles that everything is drawn in.

use anstyle::{AnsiColor, Style};

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default().bold();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const ASKS: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const CHANGED: Style = AnsiColor::Blue.on_default().bold();
pub(crate) const REMOVED: Style = AnsiColor::Red.on_default();
pub(crate) const ADDED: Style = AnsiColor::Green.on_default();
pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const PLAIN: Style = Style::new();

/// A text in a style. Without a style it stays as it is.
pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    if style == PLAIN { text.to_string() } else { format!("{style}{text}{style:#}") }
}
