//! Where Gemini CLI's hooks stand.

use crate::install::{Closed, Form, Install, Position, Spot, Unit, Wait};

pub(super) const INSTALL: Install = Install {
    user: &[Spot::new(".gemini", "settings.json")],
    project: &[Spot::new(".gemini", "settings.json")],
    form: Form::Groups,
    unit: Unit::Milliseconds,
    wait: Wait::Written,
    least: &[],
    // Exit 2 with a text and without JSON is a denial.
    closed: Closed::Shell,
    position: Position::Last,
    trust: Some(
        "the hooks of a project run once its folder is trusted; a run without a person ends in a folder \
         that is not, unless GEMINI_CLI_TRUST_WORKSPACE=true",
    ),
};
