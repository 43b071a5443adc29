//! What a hook of hotl printed and how it exited. An exit that denies is a denial whatever was printed,
//! a failure rewrites nothing, nothing ever allows, and a plain denial is never lost.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::event::EventKind;
use tenter_core::outcome::Failure;
use tenter_core::verdict::Decision;
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
    let [how, kind, printed @ ..] = data else { return };
    let kind = &KINDS[usize::from(*kind) % KINDS.len()];
    let (exit, stopped) = match how % 10 {
        0..=2 => (Exit::Code(0), None),
        3 => (Exit::Code(2), None),
        4 => (Exit::Code(49), None),
        5 => (Exit::Code(1), None),
        6 => (Exit::Code(127), None),
        7 => (Exit::Signal(9), None),
        8 => (Exit::Signal(15), Some(Failure::Timeout)),
        _ => (Exit::Lost, None),
    };
    let at = printed.iter().position(|byte| *byte == 0).unwrap_or(printed.len());
    let (stdout, stderr) = printed.split_at(at);
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
    if decoded.failed.is_some() {
        let decision = decoded.verdict.decision;
        assert!(matches!(decision, Decision::None | Decision::Deny), "a failure and {decision:?}");
        assert!(decoded.verdict.rewrite().is_none(), "a failure and a rewrite");
    }
    // A denial stands whatever is printed before it on other lines.
    if std::str::from_utf8(stdout).is_ok_and(|text| !text.contains(['{', '"'])) {
        let noisy = [stdout, b"\n{\"decision\":\"deny\"}"].concat();
        assert_eq!(decode(&noisy).verdict.decision, Decision::Deny);
    }
});
