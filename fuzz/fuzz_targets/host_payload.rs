//! A payload of any host. What is read and not changed is written as it came, and there is an answer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::event::Origin;
use tenter_core::json::Json;
use tenter_core::outcome::Outcome;
use tenter_core::verdict::Decision;
use tenter_hosts::bridge;
use tenter_hosts::native::PROFILE;

fuzz_target!(|text: &str| {
    let defaults =
        Origin { session_id: "s".to_owned(), cwd: "/project".to_owned(), ..Origin::default() };
    for bridge in bridge::all() {
        for given in [None, Some("PreToolUse"), Some("PostToolUse"), Some("Stop")] {
            let incoming = match bridge.read(text, given, &defaults) {
                Ok(incoming) => incoming,
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    continue;
                }
            };
            let written = incoming.write(&incoming.event).expect("nothing changed");
            assert_eq!(written.as_text(), incoming.payload().as_text());
            let contract = PROFILE.contract(&incoming.event.kind);
            let mut outcome = Outcome::proceed(incoming.event.kind.clone());
            outcome.decision = Decision::Deny;
            outcome.context.push("c".to_owned());
            outcome.rewritten =
                Some(Json::parse(r#"{"content":"x","command":"y"}"#).expect("JSON"));
            let said = bridge.answer(&incoming, &outcome, contract);
            assert!(matches!(said.answer.exit, 0 | 2));
            assert_eq!(
                said.answer.exit == 2,
                said.answer.stdout.is_empty() && !said.answer.stderr.is_empty()
            );
        }
    }
});
