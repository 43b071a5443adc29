//! What a hook of hotl printed and how it exited. An exit that denies is a denial whatever was printed,
//! a failure rewrites nothing, nothing ever allows, and a plain denial is never lost.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::event::EventKind;
use tenter_core::verdict::Decision;
use tenter_fuzz::{a_failure_is_no_permission, ended, printed};
use tenter_hosts::codec::{Exit, Ran};
use tenter_hosts::hotl::{HOST, PROFILE};

const KINDS: [EventKind; 6] = [
    EventKind::PreToolUse,
    EventKind::PostToolUse,
    EventKind::UserPromptSubmit,
    EventKind::Notification,
    EventKind::Stop,
    EventKind::SessionEnd,
];

fuzz_target!(|data: &[u8]| {
    let [how, kind, bytes @ ..] = data else { return };
    let kind = &KINDS[usize::from(*kind) % KINDS.len()];
    let (exit, stopped) = ended(*how);
    let (stdout, stderr) = printed(bytes);
    let decode = |stdout: &[u8]| {
        let ran = Ran { exit, stopped, stdout, stderr, own_names: &[] };
        HOST.codec.decode(&ran, kind, PROFILE.contract(kind))
    };
    let decoded = decode(stdout);
    assert_ne!(decoded.verdict.decision, Decision::Allow, "a hook never grants");
    if let Exit::Code(code @ (2 | 49)) = exit {
        assert_eq!(decoded.verdict.decision, Decision::Deny);
        assert!(code == 2 || decoded.verdict.halt);
        assert!(decoded.verdict.reason.is_some());
    }
    a_failure_is_no_permission(&decoded);
    // A denial stands whatever is printed before it on other lines.
    if std::str::from_utf8(stdout).is_ok_and(|text| !text.contains(['{', '"'])) {
        let noisy = [stdout, b"\n{\"decision\":\"deny\"}"].concat();
        assert_eq!(decode(&noisy).verdict.decision, Decision::Deny);
    }
});
