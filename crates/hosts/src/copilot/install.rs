//! Where GitHub Copilot CLI's hooks stand.

use crate::install::{Closed, Form, Install, Position, Spot, Unit, Wait};

pub(super) const INSTALL: Install = Install {
    user: &[Spot::new(".copilot", "hooks/tenter.json").or("COPILOT_HOME")],
    project: &[Spot::new(".github", "hooks/tenter.json")],
    form: Form::Flat { version: Some(1), command: "bash", timeout: "timeoutSec", typed: true },
    unit: Unit::Seconds,
    wait: Wait::Written,
    least: &[],
    // A hook before a tool that fails in any way but by its time stops the tool.
    closed: Closed::Itself,
    position: Position::Last,
    trust: Some("the hooks of a project are skipped without a word until its folder is trusted"),
};
