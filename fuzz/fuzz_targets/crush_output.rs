//! What a hook of Crush printed and how it exited. An exit that denies is a denial whatever was
//! printed, a failure allows and rewrites nothing, and a plain denial is never lost.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::event::EventKind;
use tenter_core::verdict::{Decision, Rewrite};
use tenter_fuzz::{a_failure_is_no_permission, ended, printed};
use tenter_hosts::codec::{Exit, Ran};
use tenter_hosts::crush::{HOST, PROFILE};

fuzz_target!(|data: &[u8]| {
    let [how, bytes @ ..] = data else { return };
    let (exit, stopped) = ended(*how);
    let (stdout, stderr) = printed(bytes);
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
    a_failure_is_no_permission(&decoded);
    assert!(!matches!(decoded.verdict.rewrite(), Some(Rewrite::Replace(_))), "patches only");

    // A denial stands whatever is printed before it on other lines.
    if std::str::from_utf8(stdout).is_ok_and(|text| !text.contains(['{', '"'])) {
        let noisy = [stdout, b"\n{\"decision\":\"deny\"}"].concat();
        assert_eq!(decode(&noisy).verdict.decision, Decision::Deny);
    }
});
