//! Where Goose's hooks stand.

use crate::install::{Closed, Form, Install, Position, Spot, Unit, Wait};

pub(super) const INSTALL: Install = Install {
    user: &[Spot::new(".agents", "plugins/tenter/hooks/hooks.json")],
    project: &[Spot::new(".agents", "plugins/tenter/hooks/hooks.json")],
    form: Form::Groups,
    unit: Unit::Seconds,
    wait: Wait::Written,
    least: &[],
    closed: Closed::Text("on_failure", "block"),
    position: Position::Last,
    trust: None,
};
