//! An event. What is read can be written, and read again it is the same event.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::event::Origin;
use tenter_hosts::codec::Shown;
use tenter_hosts::native::input::{read_event, write_event};

fuzz_target!(|text: &str| {
    let defaults =
        Origin { session_id: "s".to_owned(), cwd: "/project".to_owned(), ..Origin::default() };
    let event = match read_event(text, None, &defaults) {
        Ok(event) => event,
        Err(error) => {
            assert!(!error.to_string().is_empty() && !error.help().is_empty());
            return;
        }
    };
    let line = write_event(&event, &Shown::default());
    let (last, line) = line.split_last().expect("a line ends");
    assert!(*last == b'\n' && !line.contains(&b'\n'), "an event is one line");
    let line = std::str::from_utf8(line).expect("an event is UTF-8");
    let again = read_event(line, None, &defaults).expect("what was written can be read");
    assert_eq!((&again.kind, &again.payload), (&event.kind, &event.payload));
    assert_eq!(again.origin.session_id, event.origin.session_id);
    assert_eq!(again.origin.cwd, event.origin.cwd);
});
