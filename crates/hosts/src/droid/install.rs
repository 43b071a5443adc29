//! Where Factory Droid's hooks stand.

use crate::install::{Closed, Form, Install, Position, Spot, Unit, Wait};

pub(super) const INSTALL: Install = Install {
    // Where there is a `hooks.json`, the hooks of the settings are passed over.
    user: &[Spot::new(".factory", "hooks.json").bare(), Spot::new(".factory", "settings.json")],
    project: &[Spot::new(".factory", "hooks.json").bare(), Spot::new(".factory", "settings.json")],
    form: Form::Groups,
    unit: Unit::Seconds,
    wait: Wait::Written,
    least: &[],
    closed: Closed::Shell,
    // Of several decisions the first counts.
    position: Position::First,
    trust: Some("Droid reads its hooks when it starts: `/hooks` shows them"),
};
