//! Whether two values are the same, without building their trees.

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use super::fields::RawMembers;

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
