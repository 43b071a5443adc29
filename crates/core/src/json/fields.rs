//! Objects that keep the order of their members and the bytes of their values.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Json, write_string};

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

    /// The members of an object whose text was checked already.
    pub(super) fn of_checked(text: &str) -> Option<Self> {
        let members = serde_json::from_str::<RawMembers<'_>>(text).ok()?;
        let owned = members.0.into_iter();
        Some(Self(owned.map(|(key, raw)| (key, Json::of_checked(raw.get()))).collect()))
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

/// The members of an object, in order and with those that stand twice; the values are borrowed, so
/// that who reads a file knows their places.
#[derive(Debug)]
pub struct RawMembers<'a>(pub Vec<(String, &'a RawValue)>);

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
