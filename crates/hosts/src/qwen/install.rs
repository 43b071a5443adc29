//! Where Qwen Code's hooks stand.

use crate::install::{Closed, Form, Install, Position, Spot, Unit, Wait};

pub(super) const INSTALL: Install = Install {
    user: &[Spot::new(".qwen", "settings.json")],
    project: &[Spot::new(".qwen", "settings.json")],
    form: Form::Groups,
    unit: Unit::Milliseconds,
    wait: Wait::Written,
    least: &[],
    closed: Closed::Shell,
    // Of several decisions the last counts.
    position: Position::Last,
    trust: Some("the hooks of a project run once its folder is trusted"),
};
