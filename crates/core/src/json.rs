//! JSON text that is known to be valid, and objects that keep the order and the bytes of their
//! values.
//!
//! A payload travels as text from the host to the hooks: nothing here builds a tree unless
//! somebody asks for one. Key order, number spelling and escapes stay as the host sent them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// How deep a value may nest. Readers of trees refuse more, and so do we: what one reader sees and
/// another does not is a way around a guard.
const MOST_LEVELS: usize = 128;

/// One JSON value as text. Cheap to clone.
///
/// Equality compares the text; [`Json::same_value`] compares what it means.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Arc<str>);

impl Json {
    /// Takes the text of one JSON value, white space around it allowed.
    ///
    /// # Errors
    /// The text is not one JSON value, or nests deeper than 128 levels.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The text of a value that serialises. A value that does not (a map with keys that are no
    /// strings) becomes `null`.
    pub fn from_serialize(value: &impl Serialize) -> Self {
        serde_json::to_string(value).map_or_else(|_| Self::null(), |text| Self(text.into()))
    }

    /// The JSON string for a text.
    pub fn string(text: &str) -> Self {
        Self::from_serialize(&text)
    }

    /// The JSON value `null`.
    pub fn null() -> Self {
        Self(Arc::from("null"))
    }

    /// The JSON value `{}`.
    pub fn empty_object() -> Self {
        Self(Arc::from("{}"))
    }

    pub(crate) fn from_raw(raw: &RawValue) -> Self {
        Self::from_valid(raw.get())
    }

    /// Text that is valid JSON already. A line break in it can only be white space between
    /// tokens, and is taken out so that a payload stays one line.
    ///
    /// Half of a surrogate pair, which is what remains of an emoji that was cut in two, is no
    /// character: half of the readers refuse the whole text for it. It becomes U+FFFD, so that all
    /// of them see the same.
    fn from_valid(text: &str) -> Self {
        let whole = without_half_pairs(text);
        let text = &*whole;
        if text.bytes().any(|byte| byte == b'\n' || byte == b'\r') {
            Self(without_white_space(text).into())
        } else {
            Self(text.into())
        }
    }

    /// The text.
    pub fn as_text(&self) -> &str {
        &self.0
    }

    /// The tree, for those who need one.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }

    /// The text of a JSON string with its escapes undone; `None` for any other value.
    pub fn as_str(&self) -> Option<Cow<'_, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        if inner.contains('\\') {
            serde_json::from_str::<String>(&self.0).ok().map(Cow::Owned)
        } else {
            Some(Cow::Borrowed(inner))
        }
    }

    /// `true` or `false`; `None` for any other value.
    pub fn as_bool(&self) -> Option<bool> {
        match &*self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        &*self.0 == "null"
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    /// The members of an object in order; `None` for any other value.
    pub fn to_fields(&self) -> Option<Fields> {
        if self.is_object() { Fields::parse(&self.0).ok() } else { None }
    }

    /// One member of an object, without building the others. Of a key given twice, the last.
    pub fn get(&self, key: &str) -> Option<Self> {
        if !self.is_object() {
            return None;
        }
        let mut reader = serde_json::Deserializer::from_str(&self.0);
        FindKey(key).deserialize(&mut reader).ok().flatten()
    }

    /// Whether two texts mean the same value, whatever their white space, escapes and key order.
    ///
    /// Numbers are the same only if they are spelt the same: what one reader rounds, another does
    /// not. Objects with a key twice are the same only if their texts are.
    pub fn same_value(&self, other: &Self) -> bool {
        same(&self.0, &other.0)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Self::from(&value)
    }
}

impl Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serde_json::from_str::<&RawValue>(&self.0) {
            Ok(raw) => raw.serialize(serializer),
            Err(_) => serializer.serialize_unit(),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        if is_deeper_than(raw.get(), MOST_LEVELS) {
            return Err(serde::de::Error::custom("it nests deeper than 128 levels"));
        }
        Ok(Self::from_raw(&raw))
    }
}

/// The members of a JSON object in the order in which they stood.
///
/// Lookup is linear: the objects of this field have a dozen keys.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Fields(Vec<(String, Json)>);

impl Fields {
    /// No members.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Reads an object. Keys that stand twice are both kept, see [`Fields::first_duplicate`].
    ///
    /// # Errors
    /// The text is not one JSON object, or nests deeper than 128 levels.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The value of a key; of a key given twice, the last.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Sets a key in place, or at the end if it is new. Of a key that stands twice only the first
    /// place stays, so that no reader finds the old value.
    pub fn set(&mut self, key: impl Into<String>, value: Json) {
        let key = key.into();
        let Some(at) = self.0.iter().position(|(name, _)| *name == key) else {
            self.0.push((key, value));
            return;
        };
        let mut place = 0..;
        self.0.retain(|(name, _)| place.next() <= Some(at) || *name != key);
        if let Some((_, old)) = self.0.get_mut(at) {
            *old = value;
        }
    }

    /// Adds a member at the end without looking for an older one.
    pub fn push(&mut self, key: impl Into<String>, value: Json) {
        self.0.push((key.into(), value));
    }

    /// Takes a member out.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let at = self.0.iter().rposition(|(name, _)| name == key)?;
        let (_, value) = self.0.remove(at);
        self.0.retain(|(name, _)| name != key);
        Some(value)
    }

    /// The members in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first key that stands twice, if any: two readers of such an object may disagree.
    pub fn first_duplicate(&self) -> Option<&str> {
        let mut seen = HashSet::with_capacity(self.0.len());
        self.0.iter().map(|(key, _)| key.as_str()).find(|key| !seen.insert(*key))
    }

    /// The object with the members of another laid over it: those of one key replace each other,
    /// new ones come last. Takes time in proportion to both.
    #[must_use]
    pub fn overlaid(self, patch: &Self) -> Self {
        let mut places: HashMap<String, usize> = HashMap::with_capacity(self.0.len());
        let mut members: Vec<(String, Json)> = Vec::with_capacity(self.0.len() + patch.0.len());
        for (key, value) in self.0.into_iter().chain(patch.0.iter().cloned()) {
            if let Some((_, old)) = places.get(&key).and_then(|at| members.get_mut(*at)) {
                *old = value;
            } else {
                places.insert(key.clone(), members.len());
                members.push((key, value));
            }
        }
        Self(members)
    }

    /// The object as text.
    pub fn to_json(&self) -> Json {
        let mut text = String::with_capacity(
            self.0.iter().map(|(k, v)| k.len() + v.0.len() + 4).sum::<usize>() + 2,
        );
        self.write_to(&mut text);
        Json(text.into())
    }

    /// Appends the object as text.
    pub fn write_to(&self, text: &mut String) {
        text.push('{');
        for (at, (key, value)) in self.0.iter().enumerate() {
            if at > 0 {
                text.push(',');
            }
            write_string(key, text);
            text.push(':');
            text.push_str(&value.0);
        }
        text.push('}');
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Into<String>> FromIterator<(K, Json)> for Fields {
    fn from_iter<I: IntoIterator<Item = (K, Json)>>(members: I) -> Self {
        Self(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl IntoIterator for Fields {
    type Item = (String, Json);
    type IntoIter = std::vec::IntoIter<(String, Json)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, Json>()? {
                    members.push(member);
                }
                Ok(Fields(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Appends a text as a JSON string.
pub fn write_string(value: &str, text: &mut String) {
    if value.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        text.push('"');
        text.push_str(value);
        text.push('"');
    } else {
        text.push_str(Json::string(value).as_text());
    }
}

/// Whether two texts of valid JSON mean the same value, see [`Json::same_value`].
fn same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (Some(kind), Some(other_kind)) = (one.bytes().next(), other.bytes().next()) else {
        return false;
    };
    match (kind, other_kind) {
        (b'{', b'{') => same_object(one, other),
        (b'[', b'[') => {
            let list = |text| serde_json::from_str::<Vec<&RawValue>>(text);
            let (Ok(one), Ok(other)) = (list(one), list(other)) else { return false };
            one.len() == other.len()
                && one.iter().zip(&other).all(|(one, other)| same(one.get(), other.get()))
        }
        (b'"', b'"') => {
            let text = |text| serde_json::from_str::<String>(text);
            matches!((text(one), text(other)), (Ok(one), Ok(other)) if one == other)
        }
        // Words and numbers are what they are spelt.
        _ => false,
    }
}

fn same_object(one: &str, other: &str) -> bool {
    let members = |text| serde_json::from_str::<RawMembers<'_>>(text);
    let (Ok(one), Ok(other)) = (members(one), members(other)) else { return false };
    let by_key: HashMap<&str, &RawValue> =
        other.0.iter().map(|(key, value)| (key.as_str(), *value)).collect();
    let keys: HashSet<&str> = one.0.iter().map(|(key, _)| key.as_str()).collect();
    by_key.len() == other.0.len()
        && keys.len() == one.0.len()
        && one.0.len() == other.0.len()
        && one.0.iter().all(|(key, value)| {
            by_key.get(key.as_str()).is_some_and(|other| same(value.get(), other.get()))
        })
}

/// The members of an object, borrowed.
struct RawMembers<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for RawMembers<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = RawMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(RawMembers(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Whether brackets nest deeper than so many levels in valid JSON.
fn is_deeper_than(text: &str, levels: usize) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for byte in text.bytes() {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth >= levels {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Valid JSON in which every `\u` that is half of a surrogate pair is `\ufffd`.
fn without_half_pairs(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return Cow::Borrowed(text);
    }
    // The four digits of an escape; valid JSON has backslashes nowhere but in strings.
    let unit_at = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(escape) = text.get(at..).and_then(|rest| rest.find('\\')) {
        let start = at + escape;
        let (length, kept) = match (unit_at(start), unit_at(start + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, true),
            (Some(0xd800..=0xdfff), _) => (6, false),
            // The character after any other backslash may be one itself.
            _ => (2, true),
        };
        out.push_str(text.get(at..start).unwrap_or_default());
        out.push_str(if kept {
            text.get(start..start + length).unwrap_or_default()
        } else {
            "\\ufffd"
        });
        at = start + length;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(out)
}

/// Valid JSON without the white space between its tokens.
fn without_white_space(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut in_string, mut escaped) = (false, false);
    for character in text.chars() {
        if in_string {
            in_string = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else if character.is_ascii_whitespace() {
            continue;
        } else {
            in_string = character == '"';
        }
        out.push(character);
    }
    out
}

/// Finds one key of an object and skips all else.
struct FindKey<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for FindKey<'_> {
    type Value = Option<Json>;

    fn deserialize<D: serde::Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FindKey<'_> {
    type Value = Option<Json>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == self.0 {
                found = Some(map.next_value::<Json>()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
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
        assert!(
            !of("[10000000000000000000000001]").same_value(&of("[10000000000000000000000002]"))
        );
        assert!(of("[1, 2.50]").same_value(&of("[1,2.50]")));
        assert!(!of(r#"{"a":1,"a":2}"#).same_value(&of(r#"{"a":2,"b":2}"#)));
        assert!(
            of(r#"{"a":[{"b":"\u0041"}],"c":null}"#)
                .same_value(&of(r#"{"c":null,"a":[{"b":"A"}]}"#))
        );
    }

    #[test]
    fn many_keys_are_read_in_time_that_grows_with_their_number() {
        let object = |shift: usize| {
            let members =
                (0..60_000).map(|n| format!("\"k{}\":{n}", n + shift)).collect::<Vec<_>>();
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
}
