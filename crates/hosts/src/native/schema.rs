//! The JSON Schemas of the hooks file and of test files, for editors: made from the table of keys.

use serde_json::{Map, Value as Json, json};

use super::keys::{HANDLERS, Key, REPLY_JSON, Section, Value};
use crate::names;

/// The JSON Schema (2020-12) of `hooks.toml` as JSON.
///
/// It is as strict as the reader where a schema can be: unknown keys, types, words, units, event
/// names and the one handler. What it cannot see (rules, regexes, contradictions) is the reader's.
pub fn hooks_file() -> Json {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tenter hooks file",
    });
    extend(&mut schema, table(Section::File));
    let events: Vec<_> = names::all_events().collect();
    extend(&mut schema, json!({ "$defs": { "event": { "enum": events } } }));
    schema
}

/// The JSON Schema (2020-12) of `*.hooktest.toml` as JSON, as strict as that of the hooks file.
pub fn test_file() -> Json {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tenter test file",
    });
    extend(&mut schema, table(Section::TestFile));
    for hooks in ["/properties/hook/items", "/properties/case/items/properties/hook/items"] {
        let Some(hook) = schema.pointer_mut(hooks) else { continue };
        if let Some(Json::Object(keys)) = hook.get_mut("properties") {
            keys.insert(REPLY_JSON.name.to_owned(), property(&REPLY_JSON));
        }
        if let Some(Json::Array(handlers)) = hook.get_mut("oneOf") {
            handlers.push(json!({ "required": [REPLY_JSON.name] }));
        }
    }
    let events: Vec<_> = names::all_events().collect();
    let absent = "Paths that must not exist, such as `payload.mark` or `hooks.0.skip`.";
    let mut content = table(Section::Content);
    if let Some(text) = content.pointer_mut("/properties/content") {
        let description = text.get("description").cloned();
        *text = any_text();
        extend(text, json!({ "description": description }));
    }
    extend(
        &mut schema,
        json!({ "$defs": {
            "event": { "enum": events },
            "content": content,
            "repeat": {
                "description": "A long text: one text so many times.",
                "type": "object",
                "properties": {
                    "repeat": { "type": "string" },
                    "times": { "type": "integer", "minimum": 0 },
                },
                "required": ["repeat", "times"],
                "additionalProperties": false,
            },
            "expectation": {
                "type": "object",
                "properties": { "absent": {
                    "description": absent,
                    "type": "array",
                    "items": { "type": "string" },
                } },
            },
        } }),
    );
    schema
}

/// A text, also one that is a long repetition.
fn any_text() -> Json {
    json!({ "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/repeat" }] })
}

fn extend(schema: &mut Json, more: Json) {
    if let (Some(schema), Json::Object(more)) = (schema.as_object_mut(), more) {
        schema.extend(more);
    }
}

/// A table with the keys of a section.
fn table(section: Section) -> Json {
    let properties: Map<_, _> =
        section.keys().map(|key| (key.name.to_owned(), property(key))).collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    match section {
        Section::Hook => {
            let usable = HANDLERS
                .iter()
                .filter(|name| section.key(name).is_some_and(|handler| handler.usable));
            let one_of: Vec<_> = usable.map(|name| json!({ "required": [name] })).collect();
            extend(&mut schema, json!({ "required": ["event"], "oneOf": one_of }));
        }
        Section::Reply => {
            extend(&mut schema, json!({ "not": { "required": ["patch", "replace"] } }));
        }
        Section::Rule => extend(&mut schema, json!({ "required": ["rule"] })),
        Section::Case => {
            let one_of = ["event", "event_json", "step"].map(|name| json!({ "required": [name] }));
            extend(&mut schema, json!({ "required": ["name"], "oneOf": one_of }));
        }
        Section::Step => {
            let one_of = ["event", "event_json"].map(|name| json!({ "required": [name] }));
            extend(&mut schema, json!({ "oneOf": one_of }));
        }
        Section::TestFile => extend(&mut schema, json!({ "required": ["case"] })),
        Section::After => extend(&mut schema, json!({ "required": ["command"] })),
        Section::Content => extend(&mut schema, json!({ "required": ["content"] })),
        Section::File | Section::Permissions | Section::Policy | Section::Env => {}
    }
    schema
}

fn property(key: &Key) -> Json {
    if !key.usable {
        let description = format!("{} Kept for a later version.", key.doc);
        return json!({ "description": description, "not": {} });
    }
    let mut schema = json!({ "description": description(key) });
    extend(&mut schema, value(key.value));
    schema
}

fn description(key: &Key) -> String {
    if key.default.is_empty() {
        key.doc.to_owned()
    } else {
        format!("{} Default: {}.", key.doc, key.default)
    }
}

fn value(value: Value) -> Json {
    match value {
        Value::Flag => json!({ "type": "boolean" }),
        Value::Version => json!({ "type": "integer", "const": 1 }),
        Value::Text => text(),
        Value::List => json!({ "type": "array", "items": text() }),
        Value::TextOrList => {
            json!({ "anyOf": [text(), { "type": "array", "items": { "type": "string" }, "minItems": 1 }] })
        }
        Value::Rules => json!({ "type": "array", "items": rule() }),
        Value::RuleOrRules => {
            json!({ "anyOf": [text(), table(Section::Rule), { "type": "array", "items": rule(), "minItems": 1 }] })
        }
        Value::Events => {
            let event = json!({ "$ref": "#/$defs/event" });
            json!({ "anyOf": [event, { "type": "array", "items": event, "minItems": 1 }] })
        }
        Value::Word(words) => json!({ "enum": words }),
        Value::Duration => {
            json!({ "type": "string", "pattern": "^\\s*0*[1-9][0-9]*\\s*(ms|s|m|h)\\s*$" })
        }
        Value::Size => {
            json!({ "type": "string", "pattern": "^\\s*0*[1-9][0-9]*\\s*(B|kB|KiB|MB|MiB)\\s*$" })
        }
        Value::TextTable => {
            json!({ "type": "object", "additionalProperties": { "type": "string" } })
        }
        Value::Object => json!({ "type": "object" }),
        Value::Table(section) => table(section),
        Value::Tables(section) => json!({ "type": "array", "items": table(section) }),
        Value::Count => json!({ "type": "integer", "minimum": 0 }),
        Value::Files => {
            let content = json!({ "anyOf": [any_text(), { "$ref": "#/$defs/content" }] });
            json!({ "type": "object", "additionalProperties": content })
        }
        Value::Expectation => json!({ "$ref": "#/$defs/expectation" }),
    }
}

fn rule() -> Json {
    json!({ "anyOf": [text(), table(Section::Rule)] })
}

fn text() -> Json {
    json!({ "type": "string", "minLength": 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_says_what_the_table_of_keys_says() {
        insta::assert_json_snapshot!(hooks_file());
    }

    #[test]
    fn the_schema_of_test_files_says_what_the_table_of_keys_says() {
        let schema = test_file();
        let case = &schema["properties"]["case"]["items"];
        let hook = &case["properties"]["hook"]["items"];
        assert!(hook["properties"]["reply_json"].is_object(), "{hook}");
        for (section, place) in [
            (Section::TestFile, &schema),
            (Section::Case, case),
            (Section::Step, &case["properties"]["step"]["items"]),
            (Section::After, &case["properties"]["after"]["items"]),
            (Section::Content, &schema["$defs"]["content"]),
        ] {
            let properties = place["properties"].as_object().unwrap();
            let expected: Vec<_> = section.keys().map(|key| key.name).collect();
            assert_eq!(properties.keys().collect::<Vec<_>>(), expected);
            assert_eq!(place["additionalProperties"], Json::Bool(false));
        }
    }

    #[test]
    fn every_key_has_its_property_and_no_other_is_allowed() {
        let schema = hooks_file();
        let hook = &schema["properties"]["hook"]["items"];
        let reply = &hook["properties"]["reply"];
        for (section, place) in [
            (Section::File, &schema),
            (Section::Hook, hook),
            (Section::Reply, reply),
            (Section::Permissions, &schema["properties"]["permissions"]),
            (Section::Policy, &schema["properties"]["policy"]),
            (Section::Env, &schema["properties"]["env"]),
        ] {
            let properties = place["properties"].as_object().unwrap();
            let expected: Vec<_> = section.keys().map(|key| key.name).collect();
            assert_eq!(properties.keys().collect::<Vec<_>>(), expected);
            assert_eq!(place["additionalProperties"], Json::Bool(false));
        }
    }
}
