//! Where Claude Code's hooks stand.

use std::time::Duration;

use crate::install::{Closed, Form, Install, Position, Spot, Unit, Wait};

pub(super) const INSTALL: Install = Install {
    user: &[Spot::new(".claude", "settings.json").or("CLAUDE_CONFIG_DIR")],
    project: &[Spot::new(".claude", "settings.json")],
    form: Form::Groups,
    unit: Unit::Seconds,
    wait: Wait::Written,
    // All hooks of the end of a session together have a second and a half.
    least: &[("SessionEnd", Duration::from_millis(1500))],
    // Since 2.1.295. Earlier versions pass the key over, and run the tool.
    closed: Closed::Text("onFailure", "block"),
    position: Position::Last,
    trust: Some(
        "a project's settings count once the folder is trusted: Claude Code asks at its start",
    ),
};
