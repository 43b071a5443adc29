//! JSON text that is known to be valid, and objects that keep the order and the bytes of their
//! values.
//!
//! A payload travels as text from the host to the hooks: nothing here builds a tree unless
//! somebody asks for one. Key order, number spelling and escapes stay as the host sent them.

mod fields;
mod same;
mod text;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use memchr::memchr2;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use fields::{Fields, RawMembers};

use same::same;
use text::{is_deeper_than, without_half_pairs, without_white_space};

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
        if memchr2(b'\n', b'\r', text.as_bytes()).is_some() {
            Self(without_white_space(text).into())
        } else {
            Self(text.into())
        }
    }

    /// A part of a text that was checked already.
    fn of_checked(text: &str) -> Self {
        Self(text.into())
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
        if self.is_object() { Fields::of_checked(&self.0) } else { None }
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
mod tests;
