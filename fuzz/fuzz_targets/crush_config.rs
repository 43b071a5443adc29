//! A `crush.json`: what holds for every host's file, and that what does not parse is no JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::hook::Level;
use tenter_fuzz::read_host_file;
use tenter_hosts::config::FileId;
use tenter_hosts::crush::HOST;

fuzz_target!(|text: &str| {
    let file = FileId {
        name: "crush.json",
        path: "/project/crush.json",
        folder: "/project",
        level: Level::Project,
    };
    let config = read_host_file(HOST.config, text, &file);
    assert!(config.parses || serde_json::from_str::<serde_json::Value>(text).is_err());
    for entry in &config.entries {
        assert!(!entry.text.is_empty() || text.is_empty());
    }
});
