//! What a hook is shown of a payload, and how its answer is brought back to the whole.
//!
//! Owns clipping and its reversal. A clipped view must never become what is executed: a text that
//! comes back as it was shown is replaced by the whole, one that was made from a clipped text is
//! refused. Which hook gets which view is the hook's own setting.

use std::borrow::Cow;
use std::fmt;

use crate::json::{Fields, Json, RawMembers};
use crate::verdict::Rewrite;

/// The bytes of a text that a hook with a small view is shown.
pub const HOOK_PAYLOAD_CAP: usize = 2048;

/// The characters of additional context that reach the model from one event.
pub const ADDITIONAL_CONTEXT_CAP: usize = 10_000;

/// Stands at the end of a clipped text, so that a hook can tell it from a short one.
///
/// It never changes with the text: a view that comes back unchanged must be recognised by its
/// bytes.
pub const CAP_MARK: &str = "\n[tenter: clipped here, the hook's view is smaller than the text]";

/// A clipped text of at least so many bytes is recognised in a rewrite even without its mark.
const TELLING: usize = 64;

/// The longest start of a text that is at most `cap` bytes and splits no character.
///
/// ```
/// use tenter_core::views::cap_payload;
///
/// assert_eq!(cap_payload("aäb", 2), "a");
/// ```
pub fn cap_payload(text: &str, cap: usize) -> &str {
    text.get(..text.floor_char_boundary(cap)).unwrap_or(text)
}

/// A payload as a hook is shown it, and what it takes to undo the clipping.
#[derive(Debug, Clone)]
pub struct Capped {
    view: Json,
    mark: String,
    clipped: Vec<Clip>,
}

/// One text that was clipped.
#[derive(Debug, Clone)]
struct Clip {
    key: String,
    /// The value as it was, a JSON string.
    full: Json,
    /// The text as it is shown, with the mark.
    shown: String,
    /// How many bytes of the text are left, without the mark.
    kept: usize,
}

impl Capped {
    /// What the hook is shown.
    pub const fn view(&self) -> &Json {
        &self.view
    }

    /// Whether anything is missing from the view.
    pub const fn is_clipped(&self) -> bool {
        !self.clipped.is_empty()
    }

    /// The keys whose texts were clipped, in order.
    pub fn clipped_keys(&self) -> impl Iterator<Item = &str> {
        self.clipped.iter().map(|clip| clip.key.as_str())
    }
}

/// Clips the texts of an object's members to `cap` bytes, each on a character boundary and with
/// `mark` after it. Nested texts and other values stay whole.
///
/// Where nothing is too long the view is the input itself, and nothing is allocated.
///
/// ```
/// use tenter_core::Json;
/// use tenter_core::views::{CAP_MARK, cap_tool_input, restore_capped};
///
/// let input = Json::parse(r#"{"command":"echo 0123456789"}"#)?;
/// let capped = cap_tool_input(&input, 8, CAP_MARK);
/// assert!(capped.view().as_text().contains("echo 012"));
/// // Handed back as it was shown, it is the whole again.
/// let back = restore_capped(capped.view().to_fields().unwrap(), &capped)?;
/// assert_eq!(back.to_json(), input);
/// // Made from a text that was clipped, it is refused.
/// let edited = capped.view().as_text().replace("echo", "sudo");
/// let edited = Json::parse(&edited)?.to_fields().unwrap();
/// assert!(restore_capped(edited, &capped).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cap_tool_input(input: &Json, cap: usize, mark: &str) -> Capped {
    let whole = || Capped { view: input.clone(), mark: String::new(), clipped: Vec::new() };
    // No text is longer than the JSON it stands in.
    if input.as_text().len() <= cap || !input.is_object() {
        return whole();
    }
    let Ok(RawMembers(members)) = serde_json::from_str(input.as_text()) else { return whole() };
    if members.iter().all(|(_, raw)| too_long(raw.get(), cap).is_none()) {
        return whole();
    }
    let mut clipped = Vec::new();
    let mut view = Fields::new();
    for (key, raw) in members {
        let full = Json::from_raw(raw);
        let shown = too_long(full.as_text(), cap).map(|text| {
            let kept = cap_payload(&text, cap);
            (format!("{kept}{mark}"), kept.len())
        });
        match shown {
            Some((shown, kept)) => {
                view.push(key.clone(), Json::string(&shown));
                clipped.push(Clip { key, full, shown, kept });
            }
            None => view.push(key, full),
        }
    }
    Capped { view: view.to_json(), mark: mark.to_owned(), clipped }
}

/// The text of a JSON string if it is longer than `cap` bytes.
fn too_long(raw: &str, cap: usize) -> Option<Cow<'_, str>> {
    // Escapes only make the JSON longer than the text.
    if !raw.starts_with('"') || raw.len() - 2 <= cap {
        return None;
    }
    let text = text_of(raw)?;
    (text.len() > cap).then_some(text)
}

fn text_of(raw: &str) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str::<String>(raw).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// A rewrite was made from a clipped text: executing it would lose the rest of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkLeft {
    /// The top-level key, empty where the whole payload is one text.
    pub key: String,
}

impl fmt::Display for MarkLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the rewrite")?;
        if !self.key.is_empty() {
            write!(f, " of `{}`", self.key)?;
        }
        f.write_str(" was made from a clipped text and would lose the rest of it")
    }
}

impl std::error::Error for MarkLeft {}

/// Puts the whole texts back where a hook handed back what it was shown, under any key.
///
/// Everything else stays as the hook wrote it. Members that are equal to the view's own are no
/// rewrite, whatever text they hold.
///
/// # Errors
/// A member still holds the mark, or a clipped text with its mark cut off: the hook changed a
/// text of which it saw only the start.
pub fn restore_capped(rewritten: Fields, capped: &Capped) -> Result<Fields, MarkLeft> {
    if !capped.is_clipped() {
        return Ok(rewritten);
    }
    let restored = rewritten
        .iter()
        .map(|(key, value)| restore_value(key, value, capped))
        .collect::<Result<Vec<_>, _>>()?;
    if restored.iter().all(Option::is_none) {
        return Ok(rewritten);
    }
    // By place and not by key: a key may stand twice, and each has its own text.
    let members = rewritten.iter().zip(restored);
    Ok(members.map(|((key, value), full)| (key, full.unwrap_or_else(|| value.clone()))).collect())
}

/// [`restore_capped`] for both forms of a rewrite. A replacement that is one text is treated as a
/// member without a key; any other value must not hold a clipped text.
///
/// # Errors
/// As [`restore_capped`].
pub fn restore_rewrite(rewrite: Rewrite, capped: &Capped) -> Result<Rewrite, MarkLeft> {
    if !capped.is_clipped() {
        return Ok(rewrite);
    }
    Ok(match rewrite {
        Rewrite::Patch(fields) => Rewrite::Patch(restore_capped(fields, capped)?),
        Rewrite::Replace(json) => Rewrite::Replace(match json.to_fields() {
            Some(fields) => restore_capped(fields, capped)?.to_json(),
            None => restore_value("", &json, capped)?.unwrap_or(json),
        }),
    })
}

/// The whole text for a value that is a view of it, nothing for a value that may stay.
fn restore_value(key: &str, value: &Json, capped: &Capped) -> Result<Option<Json>, MarkLeft> {
    if let Some(text) = value.as_str() {
        let mut same = capped.clipped.iter().filter(|clip| clip.shown == text);
        if let Some(clip) = same.clone().find(|clip| clip.key == key) {
            return Ok(Some(clip.full.clone()));
        }
        if let Some(clip) = same.next() {
            // Two texts with one view: under a foreign key nobody can say which is meant.
            return if same.all(|other| other.full.same_value(&clip.full)) {
                Ok(Some(clip.full.clone()))
            } else {
                Err(MarkLeft { key: key.to_owned() })
            };
        }
    }
    let untouched = || capped.view.get(key).is_some_and(|shown| shown.same_value(value));
    if holds_clipped(value, capped) && !untouched() {
        return Err(MarkLeft { key: key.to_owned() });
    }
    Ok(None)
}

/// Whether any text in the value, or any key, shows that it was made from a clipped text.
fn holds_clipped(value: &Json, capped: &Capped) -> bool {
    fn in_tree(value: &serde_json::Value, found: &impl Fn(&str) -> bool) -> bool {
        match value {
            serde_json::Value::String(text) => found(text),
            serde_json::Value::Array(items) => items.iter().any(|item| in_tree(item, found)),
            serde_json::Value::Object(members) => {
                members.iter().any(|(key, value)| found(key) || in_tree(value, found))
            }
            _ => false,
        }
    }
    let found = |text: &str| text_is_clipped(text, capped);
    match value.as_str() {
        Some(text) => found(&text),
        // What cannot be looked through is not trusted.
        None if value.as_text().starts_with(['{', '[']) => {
            serde_json::from_str(value.as_text()).map_or(true, |tree| in_tree(&tree, &found))
        }
        None => false,
    }
}

fn text_is_clipped(text: &str, capped: &Capped) -> bool {
    // Hooks often trim what they print, so the mark counts without the white space around it.
    let mark = capped.mark.trim();
    if !mark.is_empty() && text.contains(mark) {
        return true;
    }
    // A mark that was cut off or edited: the kept start of a text with hardly anything after it.
    // More after it may be the text itself, which the hook got from elsewhere.
    capped.clipped.iter().any(|clip| {
        let kept = clip.shown.get(..clip.kept).unwrap_or_default();
        kept.len() >= TELLING
            && text.rfind(kept).is_some_and(|at| text.len() - at - kept.len() <= capped.mark.len())
            && clip.full.as_str().is_none_or(|full| !text.ends_with(&*full))
    })
}

/// Additional context of several hooks as one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedContext {
    /// The text for the model, at most [`ADDITIONAL_CONTEXT_CAP`] characters with its mark.
    pub text: String,
    /// The whole text if `text` is not all of it, for whoever can keep it elsewhere.
    pub whole: Option<String>,
}

/// Joins what hooks add to the conversation, in order, one part a line. Empty parts are left out;
/// without any other there is nothing to add.
///
/// ```
/// use tenter_core::views::join_additional_context;
///
/// assert_eq!(join_additional_context(["a", "", "b"]).unwrap().text, "a\nb");
/// assert_eq!(join_additional_context([""]), None);
/// ```
pub fn join_additional_context<'a>(
    parts: impl IntoIterator<Item = &'a str>,
) -> Option<JoinedContext> {
    let mut joined = String::new();
    for part in parts.into_iter().filter(|part| !part.trim().is_empty()) {
        if !joined.is_empty() {
            joined.push('\n');
        }
        joined.push_str(part);
    }
    if joined.is_empty() {
        return None;
    }
    let Some((end, _)) = joined.char_indices().nth(ADDITIONAL_CONTEXT_CAP) else {
        return Some(JoinedContext { text: joined, whole: None });
    };
    let mark = CONTEXT_MARK.chars().count();
    let kept = joined.get(..end).unwrap_or_default();
    let cut = kept.char_indices().rev().nth(mark.saturating_sub(1)).map_or(0, |(at, _)| at);
    let text = format!("{}{CONTEXT_MARK}", kept.get(..cut).unwrap_or_default());
    Some(JoinedContext { text, whole: Some(joined) })
}

/// Stands at the end of additional context that was too long.
pub const CONTEXT_MARK: &str = "\n[tenter: the rest of this context was too long and is left out]";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn fields(value: &serde_json::Value) -> Fields {
        Fields::parse(&value.to_string()).unwrap()
    }

    fn capped(value: &serde_json::Value) -> Capped {
        cap_tool_input(&value.into(), HOOK_PAYLOAD_CAP, CAP_MARK)
    }

    fn long(letter: &str) -> String {
        letter.repeat(5000)
    }

    #[test]
    fn a_text_is_cut_before_the_character_that_does_not_fit() {
        assert_eq!(cap_payload("aäb", 2), "a");
        assert_eq!(cap_payload("aäb", 3), "aä");
        assert_eq!(cap_payload("aäb", 99), "aäb");
        assert_eq!(cap_payload("ä", 0), "");
    }

    #[test]
    fn exactly_the_cap_is_whole_and_one_byte_more_is_not() {
        assert!(!capped(&json!({ "command": "x".repeat(2048), "other": "y" })).is_clipped());
        let over = capped(&json!({ "command": "x".repeat(2049) }));
        let shown = over.view().get("command").unwrap().as_str().unwrap().into_owned();
        assert_eq!(shown, format!("{}{CAP_MARK}", "x".repeat(2048)));
        assert_eq!(over.clipped_keys().collect::<Vec<_>>(), ["command"]);
    }

    #[test]
    fn escapes_do_not_count() {
        assert!(!capped(&json!({ "command": "\n".repeat(2048) })).is_clipped());
        assert!(capped(&json!({ "command": "\n".repeat(2049) })).is_clipped());
    }

    #[test]
    fn nested_texts_and_what_is_no_object_are_shown_whole() {
        for value in
            [json!({ "edits": [{ "new": long("x") }] }), json!(long("x")), json!([long("x")])]
        {
            let view = capped(&value);
            assert!(!view.is_clipped());
            assert_eq!(view.view().to_value(), value);
        }
    }

    #[test]
    fn a_view_that_comes_back_is_the_whole_under_any_key() {
        let original = json!({ "command": long("x"), "description": "d" });
        let view = capped(&original);
        let echoed = restore_capped(view.view().to_fields().unwrap(), &view).unwrap();
        assert_eq!(echoed.to_json().to_value(), original);

        let shown = view.view().get("command").unwrap();
        let moved: Fields = [("script", shown), ("n", Json::null())].into_iter().collect();
        let moved = restore_capped(moved, &view).unwrap();
        assert_eq!(moved.to_json().to_value(), json!({ "script": long("x"), "n": null }));
    }

    #[test]
    fn a_key_that_stands_twice_comes_back_whole_twice() {
        let text = format!(r#"{{"a":"{}","a":"{}"}}"#, long("x"), long("y"));
        let view = cap_tool_input(&Json::parse(&text).unwrap(), HOOK_PAYLOAD_CAP, CAP_MARK);
        let echoed = restore_capped(view.view().to_fields().unwrap(), &view).unwrap();
        assert_eq!(echoed.to_json().as_text(), text);
    }

    #[test]
    fn a_rewrite_of_the_hooks_own_stands() {
        let view = capped(&json!({ "command": long("x"), "description": "d" }));
        let patch = fields(&json!({ "command": "echo short", "timeout": 5 }));
        assert_eq!(restore_capped(patch.clone(), &view).unwrap(), patch);
        let whole = fields(&json!({ "command": format!("set -e; {}", long("x")) }));
        assert_eq!(restore_capped(whole.clone(), &view).unwrap(), whole);
    }

    #[test]
    fn a_rewrite_made_from_a_clipped_text_is_refused() {
        let view = capped(&json!({ "command": long("x"), "description": "d" }));
        let shown = view.view().get("command").unwrap().as_str().unwrap().into_owned();
        for value in [
            json!({ "command": shown.replacen('x', "y", 1) }),
            json!({ "command": format!("timeout 60 {shown}") }),
            json!({ "command": shown.trim_end_matches(']') }),
            json!({ "command": shown.strip_suffix(CAP_MARK).unwrap() }),
            json!({ "command": shown.replace("tenter", "hook") }),
            json!({ "command": "ok", "args": { "deep": [format!("a{}", CAP_MARK.trim())] } }),
            json!({ "args": { shown.clone(): 1 } }),
            json!({ "args": [shown] }),
        ] {
            let left = restore_capped(fields(&value), &view).unwrap_err();
            assert!(value.get(&left.key).is_some(), "{left}");
        }
    }

    #[test]
    fn a_text_that_holds_the_mark_from_the_start_is_no_rewrite() {
        let original = json!({ "command": long("x"), "note": CAP_MARK });
        let view = capped(&original);
        let echoed = restore_capped(view.view().to_fields().unwrap(), &view).unwrap();
        assert_eq!(echoed.to_json().to_value(), original);
        let small = capped(&json!({ "note": CAP_MARK }));
        let patch = fields(&json!({ "other": CAP_MARK }));
        assert_eq!(restore_capped(patch.clone(), &small).unwrap(), patch);
    }

    #[test]
    fn two_texts_with_one_view_are_told_apart_by_their_keys_only() {
        let (a, b) = (format!("{}a", long("x")), format!("{}b", long("x")));
        let view = capped(&json!({ "a": a, "b": b }));
        let shown = view.view().get("b").unwrap();
        let same_key: Fields = [("b", shown.clone())].into_iter().collect();
        assert_eq!(restore_capped(same_key, &view).unwrap().get("b").unwrap().as_str().unwrap(), b);
        let other_key: Fields = [("c", shown)].into_iter().collect();
        assert_eq!(restore_capped(other_key, &view).unwrap_err().key, "c");
    }

    #[test]
    fn a_value_that_cannot_be_looked_through_is_refused() {
        let view = capped(&json!({ "command": long("x") }));
        let shown = view.view().get("command").unwrap();
        let text = format!(r#"{{"edits":[{{"new":{shown},"n":1e999}}]}}"#);
        assert!(restore_capped(Fields::parse(&text).unwrap(), &view).is_err());
    }

    #[test]
    fn a_replacement_may_be_a_text() {
        let view = capped(&json!({ "prompt": long("x") }));
        let shown = view.view().get("prompt").unwrap();
        let restored = restore_rewrite(Rewrite::Replace(shown), &view).unwrap();
        assert_eq!(restored, Rewrite::Replace(Json::string(&long("x"))));
        let edited = Rewrite::Replace(Json::string(&format!("please {CAP_MARK}")));
        assert_eq!(restore_rewrite(edited, &view).unwrap_err().key, "");
    }

    #[test]
    fn contexts_are_joined_and_capped_in_characters() {
        assert_eq!(join_additional_context(["", " \n"]), None);
        let two = join_additional_context(["a", "", "b"]).unwrap();
        assert_eq!((two.text.as_str(), two.whole), ("a\nb", None));
        let exact = "ä".repeat(ADDITIONAL_CONTEXT_CAP);
        assert_eq!(join_additional_context([exact.as_str()]).unwrap().text, exact);
        let over = format!("{exact}b");
        let cut = join_additional_context([over.as_str()]).unwrap();
        assert_eq!(cut.text.chars().count(), ADDITIONAL_CONTEXT_CAP);
        assert!(cut.text.ends_with(CONTEXT_MARK));
        assert_eq!(cut.whole, Some(over));
    }

    fn any_input() -> impl Strategy<Value = serde_json::Value> {
        let text = prop_oneof![".{0,40}", "[aä\\\\\"\n]{0,60}"].prop_map(serde_json::Value::from);
        let value = prop_oneof![
            4 => text.clone(),
            1 => any::<i64>().prop_map(serde_json::Value::from),
            1 => prop::collection::vec(text, 0..3).prop_map(serde_json::Value::from),
        ];
        prop::collection::btree_map("[a-d]", value, 0..5)
            .prop_map(|members| members.into_iter().collect())
    }

    proptest! {
        #[test]
        fn an_echo_of_the_view_executes_the_original(input in any_input(), cap in 0_usize..40) {
            let view = cap_tool_input(&(&input).into(), cap, CAP_MARK);
            let echoed = restore_capped(view.view().to_fields().unwrap(), &view).unwrap();
            prop_assert_eq!(echoed.to_json().to_value(), input);
        }

        #[test]
        fn a_clipped_text_is_a_start_of_the_text_and_the_mark(input in any_input(), cap in 0_usize..40) {
            let view = cap_tool_input(&(&input).into(), cap, CAP_MARK).view().to_value();
            for (key, value) in input.as_object().unwrap() {
                if let Some(text) = value.as_str().filter(|text| text.len() > cap) {
                    let shown = view[key].as_str().unwrap().strip_suffix(CAP_MARK).unwrap();
                    prop_assert!(shown.len() <= cap && text.starts_with(shown));
                    prop_assert!(cap - shown.len() < 4);
                } else {
                    prop_assert_eq!(value, &view[key]);
                }
            }
        }

        // Keys the hook left alone execute as they were, keys it set execute as it set them.
        #[test]
        fn what_executes_differs_only_where_the_hook_rewrote_it(
            input in any_input(),
            cap in 0_usize..40,
            changed in prop::collection::btree_map("[a-e]", "[xyz]{0,50}", 0..3),
        ) {
            let view = cap_tool_input(&(&input).into(), cap, CAP_MARK);
            let mut answer = view.view().to_fields().unwrap();
            for (key, text) in &changed {
                answer.set(key.clone(), Json::string(text));
            }
            let executed = restore_capped(answer, &view).unwrap().to_json().to_value();
            for (key, value) in executed.as_object().unwrap() {
                if let Some(text) = changed.get(key) {
                    prop_assert_eq!(value.as_str(), Some(text.as_str()));
                } else {
                    prop_assert_eq!(value, &input[key]);
                }
            }
        }
    }
}
