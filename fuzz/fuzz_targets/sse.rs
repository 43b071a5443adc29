//! A stream of server-sent events: it means the same wherever its first piece ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_agent::SseParser;

fuzz_target!(|input: (u16, &[u8])| {
    let (at, stream) = input;
    let whole = SseParser::new().push(stream);
    let (first, second) = stream.split_at(usize::from(at).min(stream.len()));
    let mut parser = SseParser::new();
    let cut = parser.push(first).and_then(|mut events| {
        events.extend(parser.push(second)?);
        Ok(events)
    });
    assert_eq!(whole, cut);
    for event in whole.unwrap_or_default() {
        assert!(!event.event.contains(['\n', '\r']) && !event.data.contains('\r'));
    }
});
