//! Where in a host's payload the parts of an event stand, and how keys are compared.

use tenter_core::json::{Fields, Json};

/// A place in a payload: the keys that lead there. Of a list, `0` is the first item.
pub type Place = &'static [&'static str];

/// Where the parts of an event stand. Each part has the places where hosts and their versions put
/// it; the first that is there counts. Keys are written in `snake_case` and are found in either case.
#[derive(Debug, Clone, Copy)]
pub struct Wire {
    /// The name of the event.
    pub event: &'static [Place],
    /// The session.
    pub session: &'static [Place],
    /// The agent's current directory.
    pub cwd: &'static [Place],
    /// The name of the tool.
    pub tool: &'static [Place],
    /// Its input.
    pub input: &'static [Place],
    /// The id of the call.
    pub call: &'static [Place],
    /// What the tool gave.
    pub response: &'static [Place],
    /// What says that the tool failed: any value there but `false`, `null` and an empty text.
    pub failed: &'static [Place],
    /// What says that the tool did well: `false` there is a failure.
    pub succeeded: &'static [Place],
    /// The prompt.
    pub prompt: &'static [Place],
    /// The agent's last words.
    pub last_message: &'static [Place],
    /// The id of the subagent.
    pub agent_id: &'static [Place],
    /// The kind of the subagent.
    pub agent_type: &'static [Place],
    /// What only a subagent has, where the main agent has an id too; empty where it has none.
    pub parent: &'static [Place],
    /// Other keys under the names that hooks know: the host's, and the standard one.
    pub renamed: &'static [(&'static str, &'static str)],
}

impl Wire {
    /// The places of the de-facto standard.
    pub const STANDARD: Self = Self {
        event: &[&["hook_event_name"]],
        session: &[&["session_id"]],
        cwd: &[&["cwd"]],
        tool: &[&["tool_name"]],
        input: &[&["tool_input"]],
        call: &[&["tool_use_id"]],
        response: &[&["tool_response"]],
        failed: &[],
        succeeded: &[],
        prompt: &[&["prompt"]],
        last_message: &[&["last_assistant_message"]],
        agent_id: &[&["agent_id"]],
        agent_type: &[&["agent_type"]],
        parent: &[],
        renamed: &[],
    };
}

/// A place that was found, with the keys as the payload spells them.
pub(super) type Found = Vec<String>;

/// The first of some places that is there and not `null`, with its value.
pub(super) fn find(payload: &Json, places: &[Place]) -> Option<(Found, Json)> {
    find_that(payload, places, |_| true)
}

/// [`find`], of those whose value is as it should be.
pub(super) fn find_that(
    payload: &Json,
    places: &[Place],
    is_it: impl Fn(&Json) -> bool,
) -> Option<(Found, Json)> {
    let found = places.iter().filter_map(|place| at(payload, place));
    found.into_iter().find(|(_, value)| !value.is_null() && is_it(value))
}

fn at(payload: &Json, place: Place) -> Option<(Found, Json)> {
    let mut found = Vec::with_capacity(place.len());
    let mut value = payload.clone();
    for key in place {
        let (own, next) = member(&value, key)?;
        found.push(own);
        value = next;
    }
    Some((found, value))
}

fn member(value: &Json, key: &str) -> Option<(String, Json)> {
    if value.as_text().starts_with('[') {
        let items: Vec<Json> = serde_json::from_str(value.as_text()).ok()?;
        let at: usize = key.parse().ok()?;
        return items.into_iter().nth(at).map(|item| (key.to_owned(), item));
    }
    let fields = value.to_fields()?;
    let exact = fields.iter().find(|(own, _)| *own == key);
    let (own, value) = exact.or_else(|| fields.iter().find(|(own, _)| same_name(own, key)))?;
    Some((own.to_owned(), value.clone()))
}

/// The payload with another value at a place that was found in it; everything else stays as it is,
/// byte for byte.
pub(super) fn with(payload: &Json, place: &[String], value: Json) -> Json {
    let Some((key, rest)) = place.split_first() else { return value };
    if payload.as_text().starts_with('[') {
        let mut items: Vec<Json> = serde_json::from_str(payload.as_text()).unwrap_or_default();
        if let Some(item) = key.parse::<usize>().ok().and_then(|at| items.get_mut(at)) {
            *item = with(item, rest, value);
        }
        return Json::from_serialize(&items);
    }
    let mut fields = payload.to_fields().unwrap_or_default();
    let inner = fields.get(key).cloned().unwrap_or_else(Json::empty_object);
    fields.set(key.as_str(), with(&inner, rest, value));
    fields.to_json()
}

/// Whether two names are the same but for case and underscores.
pub(super) fn same_name(one: &str, other: &str) -> bool {
    let letters = |name: &'_ str| {
        let letters = name.chars().filter(|letter| *letter != '_');
        letters.map(|letter| letter.to_ascii_lowercase()).collect::<Vec<_>>()
    };
    one == other || letters(one) == letters(other)
}

/// A key in `snake_case`.
pub(super) fn snake(key: &str) -> String {
    let mut text = String::with_capacity(key.len() + 4);
    for letter in key.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() && !text.ends_with('_') {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// The members of a payload under the names that hooks know, without those at the given keys.
pub(super) fn others(payload: &Fields, taken: &[String], wire: &Wire) -> Fields {
    let mut fields = Fields::new();
    for (key, value) in payload.iter().filter(|(key, _)| !taken.iter().any(|own| own == key)) {
        let renamed = wire.renamed.iter().find(|(own, _)| same_name(own, key));
        let name = renamed.map_or_else(|| snake(key), |(_, name)| (*name).to_owned());
        if fields.get(&name).is_none() {
            fields.push(name, value.clone());
        }
    }
    fields
}
