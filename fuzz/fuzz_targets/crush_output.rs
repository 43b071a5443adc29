//! What a hook of Crush printed and how it exited. An exit that denies is a denial whatever was
//! printed, a failure allows and rewrites nothing, and a plain denial is never lost.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::event::EventKind;
use tenter_core::outcome::Failure;
use tenter_core::verdict::{Decision, Rewrite};
use tenter_hosts::codec::{Exit, Ran};
use tenter_hosts::crush::{HOST, PROFILE};

fuzz_target!(|data: &[u8]| {
    let [how, printed @ ..] = data else { return };
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
    let kind = EventKind::PreToolUse;
    let decode = |stdout: &[u8]| {
        let ran = Ran { exit, stopped, stdout, stderr, own_names: &[] };
        HOST.codec.decode(&ran, &kind, PROFILE.contract(&kind))
    };
    let decoded = decode(stdout);
    if let Exit::Code(code @ (2 | 49)) = exit {
        assert_eq!(decoded.verdict.decision, Decision::Deny);
        assert_eq!(decoded.verdict.halt, code == 49);
        assert!(decoded.verdict.reason.is_some());
    }
    if decoded.failed.is_some() {
        let decision = decoded.verdict.decision;
        assert!(matches!(decision, Decision::None | Decision::Deny), "a failure and {decision:?}");
        assert!(decoded.verdict.rewrite().is_none(), "a failure and a rewrite");
    }
    assert!(!matches!(decoded.verdict.rewrite(), Some(Rewrite::Replace(_))), "patches only");

    // A denial stands whatever is printed before it on other lines.
    if std::str::from_utf8(stdout).is_ok_and(|text| !text.contains(['{', '"'])) {
        let noisy = [stdout, b"\n{\"decision\":\"deny\"}"].concat();
        assert_eq!(decode(&noisy).verdict.decision, Decision::Deny);
    }
});
