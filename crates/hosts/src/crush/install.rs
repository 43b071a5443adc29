//! Where Crush's hooks stand.

use crate::install::{Closed, Form, Install, Position, Spot, Unit, Wait};

pub(super) const INSTALL: Install = Install {
    user: &[Spot::new(".config", "crush/crush.json").or("XDG_CONFIG_HOME")],
    project: &[Spot::new("", ".crush.json"), Spot::new("", "crush.json")],
    form: Form::Flat { version: None, command: "command", timeout: "timeout", typed: false },
    unit: Unit::Seconds,
    wait: Wait::Written,
    least: &[],
    closed: Closed::Shell,
    position: Position::Last,
    trust: None,
};
