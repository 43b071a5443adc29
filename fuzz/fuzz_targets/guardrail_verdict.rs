//! What a guardrail's checker replied, and the rules of a guardrail. A slow second reader agrees about every
//! reply that lets pass; a reason is one short line; rules that are read check something.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tenter::GuardrailRules;
use tenter::guardrail::{CheckVerdict, MOST_REASON};

/// Whether a reply is one object that says `safe` and nothing else, in the plainest reading there is.
fn is_safe(reply: &str) -> bool {
    let text = reply.trim();
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let text = inner.map_or(text, |inner| inner.trim().trim_start_matches("json"));
    matches!(serde_json::from_str(text), Ok(Value::Object(object)) if object.get("safe") == Some(&Value::Bool(true)))
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match CheckVerdict::parse(text) {
        Ok(CheckVerdict::Safe) => assert!(is_safe(text)),
        Ok(CheckVerdict::Unsafe { reason }) => {
            assert!(!is_safe(text));
            let reason = reason.unwrap_or_default();
            assert!(reason.chars().count() <= MOST_REASON && !reason.contains(char::is_control));
        }
        Err(why) => assert!(!why.is_empty()),
    }
    match GuardrailRules::parse(text) {
        Ok(rules) => {
            assert!(!rules.is_empty());
            rules.shadowed();
        }
        Err(error) => assert!(error.to_string().starts_with("the rules of the guardrail")),
    }
});
