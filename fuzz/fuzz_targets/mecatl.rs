//! What a hook of mecatl printed and how it exited, and an event in mecatl's own bytes. Exit 2 blocks
//! whatever was printed, a failure allows and rewrites nothing, and what is read is written the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::event::{EventKind, Origin};
use tenter_core::outcome::Failure;
use tenter_core::verdict::{Decision, Rewrite};
use tenter_fuzz::{a_failure_is_no_permission, printed};
use tenter_hosts::codec::{Exit, Ran, Shown};
use tenter_hosts::mecatl::{HOST, PHASES, PROFILE};

fuzz_target!(|data: &[u8]| {
    let [how, bytes @ ..] = data else { return };
    let (exit, stopped) = match how % 8 {
        0..=2 => (Exit::Code(0), None),
        3 => (Exit::Code(2), None),
        4 => (Exit::Code(1), None),
        5 => (Exit::Signal(9), None),
        6 => (Exit::Signal(15), Some(Failure::Timeout)),
        _ => (Exit::Lost, None),
    };
    let (stdout, stderr) = printed(bytes);
    let kind = EventKind::of(PHASES[usize::from(*how) / 8 % PHASES.len()]);
    let ran = Ran { exit, stopped, stdout, stderr, own_names: &[] };
    let decoded = HOST.codec.decode(&ran, &kind, PROFILE.contract(&kind));
    if exit == Exit::Code(2) {
        assert_eq!(decoded.verdict.decision, Decision::Deny);
        assert!(decoded.verdict.reason.is_some_and(|reason| !reason.trim().is_empty()));
        return;
    }
    a_failure_is_no_permission(&decoded);
    assert!(!matches!(decoded.verdict.rewrite(), Some(Rewrite::Patch(_))), "replacements only");

    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(event) = HOST.codec.read(text, None, &Origin::default()) else { return };
    let written = HOST.codec.encode(&event, &Shown::default());
    let again = std::str::from_utf8(&written).expect("it is text");
    if let Ok(event) = HOST.codec.read(again, None, &Origin::default()) {
        assert_eq!(HOST.codec.encode(&event, &Shown::default()), written);
    }
});
