//! A `config.toml` of hotl. Reading never fails; what cannot be read is a broken entry, no entry has
//! lost its place, and what is read twice is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::hook::{Handler, Level};
use tenter_hosts::config::FileId;
use tenter_hosts::hotl::HOST;

fuzz_target!(|text: &str| {
    let file = FileId {
        name: "hotl/config.toml",
        path: "/home/u/.config/hotl/config.toml",
        folder: "/home/u/.config/hotl",
        level: Level::User,
    };
    let config = HOST.config.read(text, &file);
    if !config.parses {
        assert!(config.has_errors() && config.entries.len() == 1);
    }
    for entry in &config.entries {
        assert!(text.get(entry.span.clone()).is_some(), "an entry's span is in the file");
        if let Handler::Broken { .. } = entry.hook.handler {
            assert!(config.has_errors(), "what is broken is told");
        }
    }
    let lines = text.split('\n').count();
    for diagnostic in &config.diagnostics {
        let position = diagnostic.position.as_ref().expect("every finding has a place");
        assert!((1..=lines).contains(&position.line), "line {} of {lines}", position.line);
    }
    let again = HOST.config.read(text, &file);
    assert_eq!(again.diagnostics, config.diagnostics);
});
