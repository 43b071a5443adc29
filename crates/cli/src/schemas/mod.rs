//! The JSON Schemas (2020-12) of what the program reads and writes, made from tables.
//!
//! The schema of the hooks file is made where its keys are known, in the library. The order of
//! everything is fixed, so that a generated file changes only when a format does.

mod answer;
mod events;
mod outcome;
mod stream;

pub(crate) use answer::hook_output;
pub(crate) use events::{events, hook_input};
pub(crate) use outcome::fire;
pub(crate) use stream::stream;

use serde_json::{Map, Value, json};

/// The draft that all schemas are written in.
const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// One key of an object.
struct Field {
    name: &'static str,
    /// Its schema, without the description.
    value: Value,
    doc: &'static str,
    required: bool,
}

impl Field {
    fn required(name: &'static str, value: Value, doc: &'static str) -> Self {
        Self { name, value, doc, required: true }
    }

    fn optional(name: &'static str, value: Value, doc: &'static str) -> Self {
        Self { name, value, doc, required: false }
    }
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn text_or_null() -> Value {
    json!({ "type": ["string", "null"] })
}

fn texts() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn number() -> Value {
    json!({ "type": "number", "minimum": 0 })
}

fn any_object() -> Value {
    json!({ "type": "object" })
}

fn words(words: &[&str]) -> Value {
    json!({ "enum": words })
}

fn list_of(item: impl Into<Value>) -> Value {
    let item = item.into();
    json!({ "type": "array", "items": item })
}

/// An object with these keys; others are allowed, since keys may be added.
fn object(fields: Vec<Field>) -> Value {
    let required: Vec<_> =
        fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    let properties = properties(fields);
    let mut schema = json!({ "type": "object", "properties": properties });
    if let (false, Some(schema)) = (required.is_empty(), schema.as_object_mut()) {
        schema.insert("required".into(), json!(required));
    }
    schema
}

fn properties(fields: Vec<Field>) -> Map<String, Value> {
    let describe = |field: Field| {
        let mut schema = Map::new();
        schema.insert("description".into(), field.doc.into());
        if let Value::Object(value) = field.value {
            schema.extend(value);
        }
        (field.name.to_owned(), Value::Object(schema))
    };
    fields.into_iter().map(describe).collect()
}

/// A schema with its head.
fn titled(title: &str, description: &str, schema: Value) -> Value {
    let mut whole = Map::new();
    whole.insert("$schema".into(), DRAFT.into());
    whole.insert("title".into(), title.into());
    whole.insert("description".into(), description.into());
    if let Value::Object(schema) = schema {
        whole.extend(schema);
    }
    Value::Object(whole)
}
