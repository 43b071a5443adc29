//! A tool's result in the shape that a host gave it, with another text in it.

use serde_json::Value;
use tenter_core::json::Json;

/// Keys under which hosts put the text that the model reads, the surest first.
const SHOWN: [&str; 8] = [
    "stdout",
    "text_result_for_llm",
    "textResultForLlm",
    "llmContent",
    "content",
    "result",
    "text",
    "output",
];

/// Keys of texts that say what a result is, not what is in it. The model chose the paths itself.
const KEPT: [&str; 10] = [
    "type",
    "status",
    "mode",
    "id",
    "agentId",
    "filePath",
    "file_path",
    "mimeType",
    "resultType",
    "finishReason",
];

/// A result of the same shape that says `content` and nothing else; `None` where the shape has no
/// place for a text. Hooks that were shown the whole object as JSON may have changed that.
pub(super) fn fitted(before: &Json, content: &str) -> Option<Json> {
    if before.as_str().is_some() {
        return Some(Json::string(content));
    }
    let begins = |text: &str| text.trim_start().bytes().next();
    if let Ok(whole) = Json::parse(content)
        && begins(whole.as_text()) == begins(before.as_text())
        && matches!(begins(before.as_text()), Some(b'{' | b'['))
    {
        return Some(whole);
    }
    let mut value = before.to_value();
    if holds_image(&value) {
        return None;
    }
    let mut places = Vec::new();
    texts(&value, &mut String::new(), &mut places);
    let key_of = |place: &str| place.rsplit('/').next().map(ToOwned::to_owned).unwrap_or_default();
    let shown = SHOWN.iter().find_map(|key| places.iter().find(|place| key_of(place) == **key));
    let chosen = shown.or_else(|| places.first())?.clone();
    for place in &places {
        if let Some(text) = value.pointer_mut(place) {
            *text =
                Value::String(if *place == chosen { content.to_owned() } else { String::new() });
        }
    }
    Some(Json::from_serialize(&value))
}

/// The places of all texts that say something, as JSON pointers, in order.
fn texts(value: &Value, at: &mut String, places: &mut Vec<String>) {
    let before = at.len();
    match value {
        Value::String(_) => places.push(at.clone()),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                at.push('/');
                at.push_str(&index.to_string());
                texts(item, at, places);
                at.truncate(before);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                if member.is_string() && KEPT.contains(&key.as_str()) {
                    continue;
                }
                at.push('/');
                at.push_str(&key.replace('~', "~0").replace('/', "~1"));
                texts(member, at, places);
                at.truncate(before);
            }
        }
        _ => {}
    }
}

/// Whether a result holds a picture: a text in its place is none.
fn holds_image(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(holds_image),
        Value::Object(members) => {
            members.get("type").is_some_and(|kind| kind == "image")
                || members.get("isImage") == Some(&Value::Bool(true))
                || members.values().any(holds_image)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_takes_the_place_of_all_that_a_result_said() {
        for (before, content, after) in [
            (r#""out\n""#, "x", Some(r#""x""#)),
            (
                r#"{"stdout":"a","stderr":"b","interrupted":false}"#,
                "x",
                Some(r#"{"stdout":"x","stderr":"","interrupted":false}"#),
            ),
            (
                r#"{"type":"text","file":{"filePath":"/p/s","content":"seed","numLines":1}}"#,
                "x",
                Some(r#"{"type":"text","file":{"filePath":"/p/s","content":"x","numLines":1}}"#),
            ),
            (
                r#"{"type":"create","filePath":"f","content":"c","structuredPatch":[{"lines":["-a","+b"]}],"originalFile":"o"}"#,
                "x",
                Some(
                    r#"{"type":"create","filePath":"f","content":"x","structuredPatch":[{"lines":["",""]}],"originalFile":""}"#,
                ),
            ),
            (
                r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#,
                "x",
                Some(r#"[{"type":"text","text":"x"},{"type":"text","text":""}]"#),
            ),
            (
                r#"{"matches":["a","b"],"query":"q"}"#,
                "x",
                Some(r#"{"matches":["x",""],"query":""}"#),
            ),
            // The hook was shown the object, and changed it.
            (r#"{"a":"secret","n":1}"#, r#"{"a":"***","n":1}"#, Some(r#"{"a":"***","n":1}"#)),
            (r#"{"n":1}"#, "x", None),
            (r#"[{"type":"image","source":{"data":"AAAA"}}]"#, "x", None),
            ("null", "x", None),
        ] {
            let before = Json::parse(before).unwrap();
            let fitted = fitted(&before, content);
            assert_eq!(fitted.as_ref().map(Json::as_text), after, "{before}");
        }
    }
}
