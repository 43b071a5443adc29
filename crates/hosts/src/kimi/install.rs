//! Where Kimi Code's hooks stand.

use crate::install::{Closed, Form, Install, Position, Spot, Unit, Wait};

pub(super) const INSTALL: Install = Install {
    user: &[Spot::new(".kimi-code", "config.toml")],
    // The hooks of a project never run.
    project: &[],
    form: Form::Tables,
    unit: Unit::Seconds,
    wait: Wait::Written,
    least: &[],
    closed: Closed::Text("fail_mode", "closed"),
    position: Position::Last,
    trust: None,
};
