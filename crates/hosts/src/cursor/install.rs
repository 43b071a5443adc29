//! Where Cursor's hooks stand.

use crate::install::{Closed, Form, Install, Position, Spot, Unit, Wait};

pub(super) const INSTALL: Install = Install {
    user: &[Spot::new(".cursor", "hooks.json")],
    project: &[Spot::new(".cursor", "hooks.json")],
    form: Form::Flat { version: Some(1), command: "command", timeout: "timeout", typed: false },
    unit: Unit::Seconds,
    wait: Wait::Written,
    least: &[],
    closed: Closed::True("failClosed"),
    position: Position::Last,
    trust: Some("the hooks of a project run once its workspace is trusted"),
};
