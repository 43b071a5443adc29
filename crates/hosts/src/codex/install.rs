//! Where Codex CLI's hooks stand.

use std::time::Duration;

use crate::install::{Closed, Form, Install, Position, Spot, Unit, Wait};

pub(super) const INSTALL: Install = Install {
    user: &[Spot::new(".codex", "hooks.json").or("CODEX_HOME")],
    project: &[Spot::new(".codex", "hooks.json")],
    form: Form::Groups,
    unit: Unit::Seconds,
    wait: Wait::Written,
    least: &[("SessionEnd", Duration::from_secs(3)), ("Interrupt", Duration::from_secs(3))],
    // The user's login shell runs the line, and may be any.
    closed: Closed::AnyShell,
    position: Position::Last,
    trust: Some(
        "Codex runs new or changed hooks only after you have looked at them: start `codex` once and \
         trust them there; `codex exec` skips them without a word until then",
    ),
};
