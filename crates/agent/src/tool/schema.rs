//! Checks a tool's input against its schema: the part of JSON Schema that tools use.
//!
//! `type`, `properties`, `required`, `additionalProperties: false`, `items`, `enum`, `minimum`,
//! `minLength` and `minItems` count; other keywords are descriptions.

use serde_json::Value;

/// What is wrong with an input.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at} {what}")]
pub struct InvalidInput {
    /// The value, such as `` `command` ``.
    pub at: String,
    /// What is wrong with it.
    pub what: String,
}

/// Checks an input against a schema.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn validate(input: &Value, schema: &Value) -> Result<(), InvalidInput> {
    check(input, schema, "")
}

fn place(path: &str) -> String {
    if path.is_empty() { "the input".into() } else { format!("`{path}`") }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.into() } else { format!("{path}.{key}") }
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        _ => false,
    }
}

const fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn check(value: &Value, schema: &Value, path: &str) -> Result<(), InvalidInput> {
    let wrong = |what: String| Err(InvalidInput { at: place(path), what });
    if let Some(name) = schema["type"].as_str()
        && !is_a(value, name)
    {
        return wrong(format!("is {}, not of type {name}", type_of(value)));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        let words: Vec<_> = words.iter().map(ToString::to_string).collect();
        return wrong(format!("is none of {}", words.join(", ")));
    }
    if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), value.as_f64())
        && number < least
    {
        return wrong(format!("is below {least}"));
    }
    let length = value.as_str().map(str::len).zip(schema["minLength"].as_u64());
    let length = length.or(value.as_array().map(Vec::len).zip(schema["minItems"].as_u64()));
    if let Some((length, least)) = length
        && (length as u64) < least
    {
        return wrong(if length == 0 { "is empty".into() } else { "is too short".into() });
    }
    if let Some(members) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(name) {
                return Err(InvalidInput {
                    at: place(&join(path, name)),
                    what: "is missing".into(),
                });
            }
        }
        for (key, member) in members {
            let path = join(path, key);
            match schema["properties"].get(key) {
                Some(schema) => check(member, schema, &path)?,
                None if schema["additionalProperties"] == Value::Bool(false) => {
                    let what = "is no key of this tool".into();
                    return Err(InvalidInput { at: place(&path), what });
                }
                None => {}
            }
        }
    }
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        check(item, &schema["items"], &format!("{path}[{at}]"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let schema = json!({
            "type": "object",
            "properties": {
                "command": { "type": "string", "minLength": 1 },
                "timeout": { "type": "integer", "minimum": 1 },
                "list": { "type": "array", "items": { "enum": ["a", "b"] } },
            },
            "required": ["command"],
            "additionalProperties": false,
        });
        let said = |input: Value| validate(&input, &schema).map_err(|error| error.to_string());
        assert_eq!(said(json!({ "command": "ls", "timeout": 5, "list": ["a"] })), Ok(()));
        for (input, text) in [
            (json!([]), "the input is a list, not of type object"),
            (json!({}), "`command` is missing"),
            (json!({ "command": 7 }), "`command` is a number, not of type string"),
            (json!({ "command": "" }), "`command` is empty"),
            (json!({ "command": "a", "cmd": 1 }), "`cmd` is no key of this tool"),
            (json!({ "command": "a", "timeout": 0 }), "`timeout` is below 1"),
            (json!({ "command": "a", "list": ["c"] }), r#"`list[0]` is none of "a", "b""#),
        ] {
            assert_eq!(said(input), Err(text.to_owned()));
        }
    }
}
