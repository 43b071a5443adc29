//! What a hook printed and how it exited. An exit that denies is a denial whatever was printed, and a
//! failure never carries anything laxer than that.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::event::EventKind;
use tenter_core::outcome::Failure;
use tenter_core::verdict::Decision;
use tenter_hosts::codec::{Exit, Ran};
use tenter_hosts::native::{HOST, PROFILE};

fuzz_target!(|data: &[u8]| {
    let [how, kind, printed @ ..] = data else { return };
    let kind = EventKind::ALL.get(usize::from(*kind) % EventKind::ALL.len());
    let kind = kind.cloned().unwrap_or_else(|| EventKind::of("Other"));
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
    let names = ["hook.sh".to_owned(), "sh".to_owned()];
    let ran = Ran { exit, stopped, stdout, stderr, own_names: &names };
    let decoded = HOST.codec.decode(&ran, &kind, PROFILE.contract(&kind));

    if decoded.failed.is_some() {
        let decision = decoded.verdict.decision;
        assert!(matches!(decision, Decision::None | Decision::Deny), "a failure and {decision:?}");
        assert!(decoded.verdict.rewrite().is_none(), "a failure and a rewrite");
    } else if let Exit::Code(code @ (2 | 49)) = exit {
        assert_eq!(decoded.verdict.decision, Decision::Deny);
        assert!(code == 2 || decoded.verdict.halt);
    }
    let plain =
        std::str::from_utf8(stdout).is_ok_and(|text| text.trim() == r#"{"decision":"deny"}"#);
    assert!(!plain || decoded.verdict.decision == Decision::Deny);
});
