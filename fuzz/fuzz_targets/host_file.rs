//! A host's own file. tenter can be put in once, and taken out; what is foreign stays.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_hosts::bridge;
use tenter_hosts::install::{Form, WAIT};

fuzz_target!(|text: &str| {
    for bridge in bridge::all() {
        let Some(install) = bridge.install else { continue };
        let mut lines = install.lines(bridge, "/usr/bin/tenter", WAIT);
        if install.form == Form::Programs {
            lines.truncate(1);
        }
        for spot in install.user.iter().chain(install.project) {
            let with = match install.with(spot, Some(text), bridge.name, &lines) {
                Ok(with) => with,
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    continue;
                }
            };
            let again =
                install.with(spot, Some(&with), bridge.name, &lines).expect("it was edited");
            assert_eq!(again, with, "a second time changes nothing");
            let without = install.without(spot, &with, bridge.name).expect("it was edited");
            let left = without.unwrap_or_default();
            let again = install.without(spot, &left, bridge.name).expect("it was edited");
            assert_eq!(again.unwrap_or_default(), left);
        }
    }
});
