//! Where Cline's hooks stand.

use std::time::Duration;

use crate::install::{Closed, Form, Install, Position, Spot, Unit, Wait};

pub(super) const INSTALL: Install = Install {
    user: &[Spot::new(".cline", "hooks")],
    project: &[Spot::new(".clinerules", "hooks")],
    form: Form::Programs,
    unit: Unit::Seconds,
    // By its documentation; none was seen before a tool.
    wait: Wait::Fixed(Duration::from_secs(30)),
    least: &[],
    closed: Closed::Answer,
    position: Position::Last,
    trust: None,
};
