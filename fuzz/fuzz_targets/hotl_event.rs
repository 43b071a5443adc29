//! An event in hotl's bytes. What was read is written as bytes that are read as the same event.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::event::Origin;
use tenter_hosts::codec::Shown;
use tenter_hosts::hotl::HOST;

fuzz_target!(|text: &str| {
    let defaults = Origin::default();
    let Ok(event) = HOST.codec.read(text, None, &defaults) else { return };
    let line = HOST.codec.encode(&event, &Shown::default());
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1, "one line");
    let written = String::from_utf8(line.clone()).expect("JSON is UTF-8");
    let again = HOST.codec.read(&written, None, &defaults).expect("what is written can be read");
    assert_eq!(again.kind, event.kind);
    assert_eq!(HOST.codec.encode(&again, &Shown::default()), line);
});
