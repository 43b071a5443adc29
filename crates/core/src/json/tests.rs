//! What is kept of a text, what is refused, and when two values are the same.

use super::*;
use proptest::prelude::*;

#[test]
fn line_breaks_between_tokens_go_and_those_in_strings_stay() {
    let json = Json::parse("{\n  \"a\" : \"x \\n \\\" y\",\r\n\"b\": [1,\n 2]}").unwrap();
    assert_eq!(json.as_text(), r#"{"a":"x \n \" y","b":[1,2]}"#);
}

#[test]
fn an_object_keeps_the_order_and_the_spelling_of_its_values() {
    let text = r#"{"z":1.50e0,"a":"\u0041","m":{"k":null}}"#;
    let fields = Fields::parse(text).unwrap();
    assert_eq!(fields.to_json().as_text(), text);
}

#[test]
fn a_key_given_twice_is_seen() {
    let fields = Fields::parse(r#"{"a":1,"b":2,"a":3}"#).unwrap();
    assert_eq!(fields.first_duplicate(), Some("a"));
    assert_eq!(fields.get("a").unwrap().as_text(), "3");
    assert_eq!(Json::parse(r#"{"a":1,"a":3}"#).unwrap().get("a").unwrap().as_text(), "3");
}

#[test]
fn setting_keeps_the_place_and_removing_takes_every_copy() {
    let mut fields = Fields::parse(r#"{"a":1,"b":2,"a":3}"#).unwrap();
    fields.set("b", Json::null());
    assert_eq!(fields.remove("a").unwrap().as_text(), "3");
    assert_eq!(fields.to_json().as_text(), r#"{"b":null}"#);
}

#[test]
fn setting_a_key_that_stands_twice_leaves_no_copy_of_the_old_value() {
    let mut fields = Fields::parse(r#"{"a":1,"b":2,"a":3,"c":4,"a":5}"#).unwrap();
    fields.set("a", Json::null());
    assert_eq!(fields.to_json().as_text(), r#"{"a":null,"b":2,"c":4}"#);
}

#[test]
fn what_is_not_json_is_refused() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for text in ["", "{", "{} {}", "{'a':1}", "nul", deep.as_str()] {
        assert!(Json::parse(text).is_err(), "{text}");
    }
}

#[test]
fn whatever_is_json_here_has_a_tree_too() {
    for depth in 120..135 {
        let text = format!("{}\"[[\\\"\"{}", "[".repeat(depth), "]".repeat(depth));
        let tree = serde_json::from_str::<serde_json::Value>(&text);
        match Json::parse(&text) {
            Ok(json) => assert_eq!(json.to_value(), tree.unwrap()),
            Err(_) => assert!(tree.is_err(), "{depth}"),
        }
    }
}

#[test]
fn the_same_value_in_another_spelling_is_the_same() {
    let one = Json::parse(r#"{"a":"A","b":1}"#).unwrap();
    let other = Json::parse(r#"{"b":1,"a":"\u0041"}"#).unwrap();
    assert!(one.same_value(&other));
    assert!(!one.same_value(&Json::null()));
}

#[test]
fn numbers_that_some_readers_round_are_not_the_same() {
    let of = |text: &str| Json::parse(text).unwrap();
    assert!(!of("[10000000000000000000000001]").same_value(&of("[10000000000000000000000002]")));
    assert!(of("[1, 2.50]").same_value(&of("[1,2.50]")));
    assert!(!of(r#"{"a":1,"a":2}"#).same_value(&of(r#"{"a":2,"b":2}"#)));
    assert!(
        of(r#"{"a":[{"b":"\u0041"}],"c":null}"#).same_value(&of(r#"{"c":null,"a":[{"b":"A"}]}"#))
    );
}

#[test]
fn many_keys_are_read_in_time_that_grows_with_their_number() {
    let object = |shift: usize| {
        let members = (0..60_000).map(|n| format!("\"k{}\":{n}", n + shift)).collect::<Vec<_>>();
        Fields::parse(&format!("{{{}}}", members.join(","))).unwrap()
    };
    let started = std::time::Instant::now();
    let (one, other) = (object(0), object(30_000));
    assert_eq!(one.first_duplicate(), None);
    assert_eq!(one.overlaid(&other).len(), 90_000);
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
}

#[test]
fn what_no_tree_can_hold_is_not_the_same_as_something_else() {
    let of = |text: &str| Json::parse(text).unwrap();
    assert!(!of(r#"{"a":1,"b":1e999}"#).same_value(&of(r#"{"a":2,"b":1e999}"#)));
    assert!(!of("1e999").same_value(&Json::null()));
    assert!(of("1e999").same_value(&of("1e999")));
}

#[test]
fn half_of_a_surrogate_pair_becomes_the_replacement_character() {
    for (text, expected) in [
        (r#"{"a":"x\ud83d"}"#, r#"{"a":"x\ufffd"}"#),
        (r#"{"\uDC00k":"\ud83d\uDE00"}"#, r#"{"\ufffdk":"\ud83d\uDE00"}"#),
        (
            r#"["\uDE00\ud83d\ud83d\ude00","\\ud83d","\\\ud83d"]"#,
            r#"["\ufffd\ufffd\ud83d\ude00","\\ud83d","\\\ufffd"]"#,
        ),
        (r#""\u0041\ud83dé""#, r#""\u0041\ufffdé""#),
    ] {
        let json = Json::parse(text).unwrap();
        assert_eq!(json.as_text(), expected);
        assert!(serde_json::from_str::<serde_json::Value>(json.as_text()).is_ok());
    }
}

proptest! {
    #[test]
    fn every_text_with_escapes_can_be_read_and_keeps_its_length(
        parts in prop::collection::vec(prop::sample::select(
            &[r"\ud83d", r"\uDE00", r"\\", r"\n", r"\u0041", "ud800", "é"][..]), 0..8),
    ) {
        let text = format!("\"{}\"", parts.concat());
        let json = Json::parse(&text).unwrap();
        prop_assert!(json.as_str().is_some(), "{json}");
        prop_assert_eq!(json.as_text().len(), text.len());
    }

    #[test]
    fn a_text_survives_being_a_json_string(text in ".*") {
        let mut written = String::new();
        write_string(&text, &mut written);
        let json = Json::parse(&written).unwrap();
        prop_assert_eq!(json.as_str().unwrap(), text);
    }
}
