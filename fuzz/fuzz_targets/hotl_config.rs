//! A `config.toml` of hotl: what holds for every host's file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::hook::Level;
use tenter_fuzz::read_host_file;
use tenter_hosts::config::FileId;
use tenter_hosts::hotl::HOST;

fuzz_target!(|text: &str| {
    let file = FileId {
        name: "hotl/config.toml",
        path: "/home/u/.config/hotl/config.toml",
        folder: "/home/u/.config/hotl",
        level: Level::User,
    };
    read_host_file(HOST.config, text, &file);
});
