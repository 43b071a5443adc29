//! A reply that is given as JSON text, because it holds a `null`. As strict as a reply in TOML.

use tenter_core::json::{Fields, Json};
use tenter_core::suggest::nearest;
use tenter_core::verdict::{Decision, Rewrite, Verdict};

use crate::native::input::type_of;
use crate::native::keys::{Section, joined};

/// Reads a reply, or says in a lower-case fragment why it is none. A key with `null` is as if it were
/// not there.
pub(super) fn read(text: &str) -> Result<Verdict, String> {
    let json = Json::parse(text).map_err(|error| format!("`reply_json` is not JSON: {error}"))?;
    let fields = json
        .to_fields()
        .ok_or_else(|| format!("`reply_json` is {}, and an object is expected", type_of(&json)))?;
    if let Some(key) = fields.first_duplicate() {
        return Err(format!("`{key}` stands twice in `reply_json`"));
    }
    let mut verdict = Verdict::none();
    let mut rewrites = 0;
    for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let wrong = |expected: &str| {
            format!("`{key}` in `reply_json` is {}, not {expected}", type_of(value))
        };
        let as_text = || value.as_str().ok_or_else(|| wrong("a text"));
        match key {
            "decision" => verdict.decision = decision(&as_text()?)?,
            "halt" => verdict.halt = value.as_bool().ok_or_else(|| wrong("true or false"))?,
            "reason" => verdict.reason = Some(as_text()?.into_owned().into()),
            "message" => verdict = verdict.with_message(as_text()?.into_owned()),
            "context" => {
                let lines = match value.as_str() {
                    Some(text) => vec![text.into_owned()],
                    None => serde_json::from_str::<Vec<String>>(value.as_text())
                        .map_err(|_| wrong("a text or a list of texts"))?,
                };
                verdict = verdict.with_context(lines.join("\n"));
            }
            "patch" => {
                let patch: Fields = value.to_fields().ok_or_else(|| wrong("an object"))?;
                verdict = verdict.with_rewrite(Rewrite::Patch(patch));
                rewrites += 1;
            }
            "replace" => {
                if !value.is_object() {
                    return Err(wrong("an object"));
                }
                verdict = verdict.with_rewrite(Rewrite::Replace(value.clone()));
                rewrites += 1;
            }
            _ => return Err(unknown(key)),
        }
    }
    if rewrites > 1 {
        return Err("`reply_json` has both `patch` and `replace`".into());
    }
    Ok(verdict)
}

fn decision(word: &str) -> Result<Decision, String> {
    let all = [Decision::None, Decision::Allow, Decision::Ask, Decision::Defer, Decision::Deny];
    all.into_iter().find(|one| one.as_str() == word).ok_or_else(|| {
        format!(
            "`decision` in `reply_json` is `{word}`, not {}",
            joined(&all.map(Decision::as_str), "or")
        )
    })
}

fn unknown(key: &str) -> String {
    let known: Vec<_> = Section::Reply.keys().map(|key| key.name).collect();
    let help = match nearest(key, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("it knows {}", joined(&known, "and")),
    };
    format!("unknown key `{key}` in `reply_json`; {help}")
}
