//! JSON. It agrees with `serde_json` on what is valid and on what it means.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tenter_core::json::{Fields, Json};

fuzz_target!(|text: &str| {
    let value: Option<Value> = serde_json::from_str(text).ok();
    let json = Json::parse(text).ok();
    // A number beyond every float is JSON all the same; only a tree has no place for it.
    assert!(json.is_some() || value.is_none(), "valid for one and not for the other");
    let (Some(json), Some(value)) = (json, value) else { return };
    assert_eq!(json.to_value(), value);
    assert!(!json.as_text().contains('\n'), "a payload stays one line");
    assert_eq!(json.as_str().as_deref(), value.as_str());
    assert_eq!(json.is_object(), value.is_object());
    let again = Json::parse(json.as_text()).expect("its own text parses");
    assert_eq!(again, json);

    let fields = Fields::parse(text).ok();
    assert_eq!(fields.is_some(), value.is_object());
    let (Some(fields), Some(object)) = (fields, value.as_object()) else { return };
    for (key, value) in object {
        let member = json.get(key).expect("every key is found");
        assert_eq!(member.to_value(), *value, "`{key}`");
    }
    if fields.first_duplicate().is_none() {
        assert_eq!(fields.len(), object.len());
        assert_eq!(fields.to_json().to_value(), value);
        assert!(fields.iter().map(|(key, _)| key).eq(object.keys()), "the order stays");
    } else {
        assert!(fields.len() > object.len());
    }
});
