//! A hooks file. Reading never fails; what cannot be read is a broken entry, and every finding points
//! into the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::hook::{Handler, Level};
use tenter_hosts::native::config::{FileId, read};

fuzz_target!(|text: &str| {
    let file = FileId {
        name: ".tenter/hooks.toml",
        path: "/project/.tenter/hooks.toml",
        folder: "/project/.tenter",
        level: Level::Project,
    };
    let config = read(text, &file);
    if !config.parses {
        assert!(config.has_errors(), "a file that does not parse is an error");
        let broken =
            |hook: &tenter_core::hook::Hook| matches!(hook.handler, Handler::Broken { .. });
        assert!(config.hooks().count() == 1 && config.hooks().all(broken));
    }
    let lines = text.split('\n').count();
    for diagnostic in &config.diagnostics {
        assert!(!diagnostic.message.is_empty());
        if let Some(position) = &diagnostic.position {
            assert!((1..=lines).contains(&position.line), "line {} of {lines}", position.line);
        }
    }
    for entry in &config.entries {
        assert!(text.get(entry.span.clone()).is_some(), "an entry's span is in the file");
    }
});
