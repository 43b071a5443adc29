//! Whether two values are the same, without building their trees.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// Whether two texts of valid JSON mean the same value, see [`Json::same_value`].
pub(super) fn same(one: &str, other: &str) -> bool {
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
