//! What a checker's reply says: strict where it lets pass, so that no text around a verdict, no second
//! key and no other spelling of one can turn it.
//!
//! Pure. What a reply that is no verdict means is the rule's failure policy to say.

use tenter_core::json::{Fields, Json};

/// How much of a reason is kept, in characters. It goes into the agent's conversation, and the checker
/// has read what nobody trusts.
pub const MOST_REASON: usize = 240;

/// What a checker says about a call or a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckVerdict {
    /// Nothing speaks against it.
    Safe,
    /// It should not go on.
    Unsafe {
        /// Why: one line of at most [`MOST_REASON`] characters; `None` if the checker gave no reason.
        reason: Option<String>,
    },
}

impl CheckVerdict {
    /// Reads a reply: one JSON object with a boolean `safe` and perhaps a `reason`, in one code fence or
    /// none, and nothing around it.
    ///
    /// Other keys mean nothing. A key given twice is refused, and so is a `safe` that is true beside
    /// another spelling of the key.
    ///
    /// # Errors
    /// What the reply is instead of a verdict.
    ///
    /// ```
    /// use tenter::guardrail::CheckVerdict;
    ///
    /// assert_eq!(CheckVerdict::parse(r#"{"safe": true}"#), Ok(CheckVerdict::Safe));
    /// assert!(CheckVerdict::parse(r#"I think {"safe": true}"#).is_err());
    /// ```
    pub fn parse(reply: &str) -> Result<Self, String> {
        let text = without_code_fence(reply.trim());
        let fields = Fields::parse(text)
            .map_err(|error| format!("the reply is not one JSON object: {error}"))?;
        if let Some(key) = fields.first_duplicate() {
            return Err(format!("the reply has the key `{}` twice", clamp(key, 40)));
        }
        let Some(safe) = fields.get("safe") else {
            return Err("the reply has no `safe`".to_owned());
        };
        match safe.as_bool() {
            Some(false) => {
                let reason = fields.get("reason").and_then(Json::as_str);
                let reason = reason.map(|reason| one_line(&reason, MOST_REASON));
                Ok(Self::Unsafe { reason: reason.filter(|reason| !reason.is_empty()) })
            }
            Some(true) => {
                let mut keys = fields.iter().map(|(key, _)| key);
                match keys.find(|key| *key != "safe" && key.to_lowercase() == "safe") {
                    Some(key) => Err(format!("the reply has `safe` beside `{key}`")),
                    None => Ok(Self::Safe),
                }
            }
            None => Err("`safe` in the reply is neither true nor false".to_owned()),
        }
    }
}

/// A reply without the one code fence that may stand around it.
fn without_code_fence(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let Some((language, body)) = inner.and_then(|inner| inner.split_once('\n')) else {
        return text;
    };
    if matches!(language.trim(), "" | "json") { body.trim() } else { text }
}

/// The first characters of a text.
fn clamp(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| text.get(..end).unwrap_or(text))
}

/// A text on one line, without control characters, and no longer than so many characters.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    clamp(&words.join(" "), most).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn no(reason: &str) -> CheckVerdict {
        CheckVerdict::Unsafe { reason: Some(reason.to_owned()) }
    }

    #[test]
    fn k118_a_verdict_is_one_object_and_nothing_else() {
        let silent = Ok(CheckVerdict::Unsafe { reason: None });
        for (reply, expected) in [
            (r#"{"safe":true}"#, Ok(CheckVerdict::Safe)),
            (" \n{\"safe\" : true, \"reason\":\"fine\"}\n", Ok(CheckVerdict::Safe)),
            ("```json\n{\"safe\":true}\n```", Ok(CheckVerdict::Safe)),
            ("```\n{\"safe\":false,\"reason\":\"a\"}\n```", Ok(no("a"))),
            (r#"{"safe":false,"reason":" one\ntwo\u0007 three "}"#, Ok(no("one two three"))),
            (r#"{"safe":false}"#, silent.clone()),
            (r#"{"safe":false,"reason":7}"#, silent.clone()),
            (r#"{"safe":false,"reason":"","confidence":1}"#, silent),
            // What says no in so many words is not lost for a key that means nothing.
            (r#"{"safe":false,"Safe":true,"reason":"a"}"#, Ok(no("a"))),
        ] {
            assert_eq!(CheckVerdict::parse(reply), expected, "{reply}");
        }
        for (reply, part) in [
            ("", "not one JSON object"),
            ("safe", "not one JSON object"),
            ("true", "not one JSON object"),
            (r#"[{"safe":true}]"#, "not one JSON object"),
            (r#"Sure: {"safe":true}"#, "not one JSON object"),
            (r#"{"safe":true} as asked"#, "not one JSON object"),
            (r#"{"safe":true}{"safe":false}"#, "not one JSON object"),
            ("```json\n{\"safe\":true}\n```\ndone", "not one JSON object"),
            ("```sh\n{\"safe\":true}\n```", "not one JSON object"),
            ("```json\n```json\n{\"safe\":true}\n```\n```", "not one JSON object"),
            ("{}", "no `safe`"),
            (r#"{"Safe":true}"#, "no `safe`"),
            (r#"{"verdict":{"safe":true}}"#, "no `safe`"),
            (r#"{"safe":"true"}"#, "neither"),
            (r#"{"safe":1}"#, "neither"),
            (r#"{"safe":null}"#, "neither"),
            (r#"{"safe":false,"safe":true}"#, "twice"),
            (r#"{"safe":true,"s\u0061fe":false}"#, "twice"),
            (r#"{"safe":true,"SAFE":false}"#, "beside `SAFE`"),
        ] {
            let error = CheckVerdict::parse(reply).unwrap_err();
            assert!(error.contains(part), "{reply}: {error}");
        }
    }

    #[test]
    fn a_reason_is_cut_between_characters() {
        let reply = serde_json::json!({ "safe": false, "reason": "é".repeat(1000) });
        assert_eq!(CheckVerdict::parse(&reply.to_string()), Ok(no(&"é".repeat(MOST_REASON))));
    }

    proptest! {
        #[test]
        fn nothing_around_a_verdict_lets_pass(before in ".{0,20}", after in ".{0,20}") {
            let reply = format!(r#"{before}{{"safe":true}}{after}"#);
            let bare = before.trim().is_empty() && after.trim().is_empty();
            prop_assert_eq!(CheckVerdict::parse(&reply).is_ok(), bare, "{}", reply);
        }

        #[test]
        fn a_reason_is_one_short_line(reason in "(?s).{0,400}") {
            let reply = serde_json::json!({ "safe": false, "reason": reason });
            let Ok(CheckVerdict::Unsafe { reason }) = CheckVerdict::parse(&reply.to_string()) else {
                return Err(TestCaseError::fail("no verdict"));
            };
            let reason = reason.unwrap_or_default();
            prop_assert!(reason.chars().count() <= MOST_REASON);
            prop_assert!(!reason.chars().any(char::is_control));
        }
    }
}
