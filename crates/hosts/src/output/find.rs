//! Finds the JSON in what a hook printed, in bounded time.

use serde::Deserialize;
use tenter_core::json::{Fields, Json};

use crate::native::input::type_of;

/// How the answers of a host are told from other JSON.
#[derive(Clone, Copy)]
pub(crate) struct Signs {
    /// Whether an object has any key of an answer, or denies in a way that is not quite one.
    pub(crate) is_answer: fn(&Fields) -> bool,
    /// The keys of decisions, with their quotes.
    pub(crate) deciding: &'static [&'static str],
    /// Keys that nothing but an answer has, with their quotes.
    pub(crate) telling: &'static [&'static str],
}

/// What a hook printed.
#[derive(Debug)]
pub(crate) enum Printed<'a> {
    /// Nothing but white space.
    Nothing,
    /// One JSON object and nothing else.
    Object(Fields),
    /// JSON that is no object; what it is, in words.
    OtherJson(&'static str),
    /// JSON objects among other text.
    Among {
        /// Those that have a key of an answer, in order.
        answers: Vec<Fields>,
        /// What is among the text that begins like an object and is none.
        broken: Option<Broken>,
    },
    /// It begins like an object and is none.
    Broken(Broken),
    /// Plain text, trimmed.
    Text(&'a str),
}

/// Something that begins like a JSON object and is none.
#[derive(Debug)]
pub(crate) struct Broken {
    /// What the reader stumbled over.
    pub(crate) error: String,
    /// Whether a denial can be read in it all the same.
    pub(crate) denial: bool,
}

/// How many bytes are read in search of objects, beside four times the text itself. Text that is
/// made to be searched for long is not searched to its end.
const BUDGET: usize = 4 << 20;

pub(crate) fn find<'a>(stdout: &'a str, signs: &Signs) -> Printed<'a> {
    // A byte order mark is white space to whoever printed it.
    let text = stdout.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Printed::Nothing;
    }
    let error = match Json::parse(text) {
        Ok(json) if !json.is_object() => return Printed::OtherJson(type_of(&json)),
        Ok(json) => match json.to_fields() {
            Some(fields) => return Printed::Object(fields),
            None => "it has a key that is no text".to_owned(),
        },
        Err(error) => error.to_string(),
    };
    let found = objects_in(text, signs.is_answer);
    // An object inside one that is broken is only a part of what was meant.
    let broken =
        found.broken_from.and_then(|at| Some((at, text.get(at..)?))).and_then(|(at, from)| {
            let counts = at == 0 || !found.searched || says_any_of(from, signs.telling, |_| true);
            counts.then(|| Broken { error, denial: says_any_of(from, signs.deciding, is_denial) })
        });
    match broken {
        broken if found.any => Printed::Among { answers: found.answers, broken },
        Some(broken) => Printed::Broken(broken),
        None => Printed::Text(text),
    }
}

/// The objects that stand in a text.
#[derive(Debug, Default)]
struct Found {
    /// Those that have a key of an answer, the outermost ones, in order.
    answers: Vec<Fields>,
    /// Whether there is any with a key at all.
    any: bool,
    /// Where something begins that should be an object and is none, or where the search ended.
    broken_from: Option<usize>,
    /// Whether the search came to the end of the text.
    searched: bool,
}

fn objects_in(text: &str, is_answer: fn(&Fields) -> bool) -> Found {
    let mut found = Found { searched: true, ..Found::default() };
    let mut at = 0;
    let mut budget = BUDGET + 4 * text.len();
    while let Some(brace) = text.get(at..).and_then(|rest| rest.find('{')) {
        at += brace;
        let from = text.get(at..).unwrap_or_default();
        let mut reader = serde_json::Deserializer::from_str(from).into_iter::<Probe>();
        match reader.next() {
            Some(Ok(Probe(fields))) => {
                at += reader.byte_offset().max(1);
                found.any |= !fields.is_empty();
                if is_answer(&fields) {
                    found.answers.push(fields);
                }
            }
            Some(Err(error)) => {
                let left = budget.checked_sub(read_until(from, &error));
                // Braces stand in many texts; a key makes one the start of an object.
                let has_key = from.get(1..).is_some_and(|rest| rest.trim_start().starts_with('"'));
                if at == 0 || has_key || left.is_none() {
                    found.broken_from.get_or_insert(at);
                }
                let Some(left) = left else {
                    found.searched = false;
                    break;
                };
                budget = left;
                at += 1;
            }
            None => break,
        }
    }
    found
}

/// How many bytes were read until an error was seen.
fn read_until(text: &str, error: &serde_json::Error) -> usize {
    let before: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    before + error.column().max(1)
}

struct Probe(Fields);

impl<'de> Deserialize<'de> for Probe {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Fields::deserialize(deserializer).map(Probe)
    }
}

/// Whether a text that is no JSON still says `"decision": "deny"` or the like: one of the keys, a
/// colon, and a value that is asked for.
fn says_any_of(text: &str, keys: &[&str], wanted: impl Fn(&str) -> bool) -> bool {
    keys.iter().any(|key| {
        text.match_indices(key).any(|(at, _)| {
            let rest = text.get(at + key.len()..).unwrap_or_default().trim_start();
            rest.strip_prefix(':').is_some_and(|value| wanted(value.trim_start()))
        })
    })
}

fn is_denial(value: &str) -> bool {
    let value = value.get(..8).unwrap_or(value).to_ascii_lowercase();
    value.starts_with("\"deny\"") || value.starts_with("\"block\"")
}
