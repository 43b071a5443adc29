//! What a hook printed and how it exited. An exit that denies is a denial whatever was printed, and a
//! failure never carries anything laxer than that.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::event::EventKind;
use tenter_core::verdict::Decision;
use tenter_fuzz::{a_failure_is_no_permission, ended, printed};
use tenter_hosts::codec::{Exit, Ran};
use tenter_hosts::native::{HOST, PROFILE};

fuzz_target!(|data: &[u8]| {
    let [how, kind, bytes @ ..] = data else { return };
    let kind = EventKind::ALL.get(usize::from(*kind) % EventKind::ALL.len());
    let kind = kind.cloned().unwrap_or_else(|| EventKind::of("Other"));
    let (exit, stopped) = ended(*how);
    let (stdout, stderr) = printed(bytes);
    let names = ["hook.sh".to_owned(), "sh".to_owned()];
    let ran = Ran { exit, stopped, stdout, stderr, own_names: &names };
    let decoded = HOST.codec.decode(&ran, &kind, PROFILE.contract(&kind));
    a_failure_is_no_permission(&decoded);
    if let (None, Exit::Code(code @ (2 | 49))) = (&decoded.failed, exit) {
        assert_eq!(decoded.verdict.decision, Decision::Deny);
        assert!(code == 2 || decoded.verdict.halt);
    }
    let plain =
        std::str::from_utf8(stdout).is_ok_and(|text| text.trim() == r#"{"decision":"deny"}"#);
    assert!(!plain || decoded.verdict.decision == Decision::Deny);
});
