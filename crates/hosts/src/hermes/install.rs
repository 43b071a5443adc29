//! Where Hermes Agent's hooks stand.

use crate::install::{Closed, Form, Install, Position, Spot, Unit, Wait};

pub(super) const INSTALL: Install = Install {
    user: &[Spot::new(".hermes", "config.yaml")],
    project: &[],
    form: Form::Yaml,
    unit: Unit::Seconds,
    wait: Wait::Written,
    least: &[],
    // It splits a command into words and heeds no exit code.
    closed: Closed::Answer,
    position: Position::Last,
    trust: Some(
        "Hermes asks about each new command when it starts, and skips without a word what was not \
         accepted; `hooks_auto_accept: true` accepts all",
    ),
};
