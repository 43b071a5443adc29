//! Chat completions, as OpenAI began them and many servers speak them.
//!
//! Facts: <https://platform.openai.com/docs/api-reference/chat>. Servers differ in what they leave out,
//! so an answer is read by what is there.

use serde_json::{Map, Value, json};

use super::exchange::Decoder;
use super::server::{Format, NetProviderBuilder};
use super::sse::SseEvent;
use super::{Fragments, cut_off, failed, json_of};
use crate::message::{Message, reminder};
use crate::provider::{Delta, ProviderError, Request};

/// A model behind chat completions: of OpenAI, or of any server that speaks them.
///
/// ```
/// # #[cfg(feature = "net")] {
/// use tenter_agent::{OpenAi, Provider as _};
///
/// let model = OpenAi::builder("qwen3").base_url("http://127.0.0.1:8080").build().unwrap();
/// assert_eq!((model.name(), model.model()), ("openai", "qwen3"));
/// assert!(OpenAi::builder("qwen3").base_url("127.0.0.1:8080").build().is_err());
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OpenAi;

impl OpenAi {
    /// A provider to build, for this model. An address without a path gets `/v1`;
    /// `/chat/completions` is added if it is not there. How many tokens an answer may have is the
    /// server's to decide unless it is said.
    pub fn builder(model: impl Into<String>) -> NetProviderBuilder {
        NetProviderBuilder::new(&FORMAT, model.into())
    }
}

const FORMAT: Format = Format {
    name: "openai",
    home: "https://api.openai.com/v1",
    headers: &[("accept", "text/event-stream")],
    key: ("authorization", "Bearer "),
    last: LAST,
    path,
    body,
    answer: || Box::<Answer>::default(),
};

/// The end of the address.
const LAST: &str = "chat/completions";

fn path(given: &str) -> String {
    match given {
        "" => format!("/v1/{LAST}"),
        given if given.ends_with(&format!("/{LAST}")) => given.to_owned(),
        given => format!("{given}/{LAST}"),
    }
}

/// A text with what hooks tell the model beside it.
fn with_reminder(text: &str, context: &[String]) -> String {
    match reminder(context) {
        Some(reminder) if text.is_empty() => reminder,
        Some(reminder) => format!("{text}\n\n{reminder}"),
        None => text.to_owned(),
    }
}

fn body(model: &str, max_tokens: Option<u32>, request: &Request) -> Value {
    let mut messages = vec![json!({ "role": "system", "content": request.system })];
    for message in &request.messages {
        match message {
            Message::User { text, context } => {
                messages.push(json!({ "role": "user", "content": with_reminder(text, context) }));
            }
            Message::Assistant { text, calls } => {
                let calls: Vec<_> = calls
                    .iter()
                    .map(|call| {
                        let function =
                            json!({ "name": call.name, "arguments": call.input.as_text() });
                        json!({ "id": call.id, "type": "function", "function": function })
                    })
                    .collect();
                let mut said = json!({ "role": "assistant", "content": text });
                if !calls.is_empty() {
                    said["tool_calls"] = calls.into();
                }
                messages.push(said);
            }
            Message::Results(results) => messages.extend(results.iter().map(|one| {
                let content = with_reminder(&one.content, &one.context);
                json!({ "role": "tool", "tool_call_id": one.call_id, "content": content })
            })),
        }
    }
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("stream".into(), true.into());
    if let Some(most) = max_tokens {
        body.insert("max_tokens".into(), most.into());
    }
    body.insert("messages".into(), messages.into());
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let function = json!({
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
            });
            json!({ "type": "function", "function": function })
        });
        body.insert("tools".into(), tools.collect::<Vec<_>>().into());
        if !request.may_call {
            body.insert("tool_choice".into(), "none".into());
        }
    }
    Value::Object(body)
}

/// An answer on its way.
#[derive(Debug, Default)]
struct Answer {
    /// The calls with their numbers, in the order in which they began.
    calls: Vec<(u64, Fragments)>,
    over: bool,
}

impl Answer {
    fn choice(
        &mut self,
        choice: &Value,
        said: &Value,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), ProviderError> {
        for key in ["content", "refusal"] {
            match said.get(key).and_then(Value::as_str) {
                Some(text) if !text.is_empty() => deltas.push(Delta::Text(text.to_owned())),
                _ => {}
            }
        }
        for call in said.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.fragment(call);
        }
        match choice.get("finish_reason").and_then(Value::as_str) {
            None | Some("") => {}
            Some("length") => return Err(cut_off("the most tokens that one answer may have")),
            Some("content_filter") => {
                return Err(ProviderError::new("the answer was held back by the server's filter"));
            }
            Some(_) => deltas.extend(self.end()),
        }
        Ok(())
    }

    /// A part of a call. Some servers number them, some give each its id, some send one whole; some
    /// give all of them one number, and some give each part of a call another id, but no name.
    fn fragment(&mut self, part: &Value) {
        let text = |at: &Value, key: &str| {
            at.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let (id, function) = (text(part, "id"), &part["function"]);
        let name = text(function, "name");
        let number = part.get("index").and_then(Value::as_u64);
        let known = match number {
            Some(number) => self.calls.iter().rposition(|(of, call)| {
                let begins = !name.is_empty() && !id.is_empty() && !call.id.is_empty();
                *of == number && !(begins && id != call.id)
            }),
            None => self.calls.len().checked_sub(1).filter(|last| {
                let call = &self.calls[*last].1;
                (id.is_empty() || id == call.id) && (!id.is_empty() || name.is_empty())
            }),
        };
        let at = known.unwrap_or_else(|| {
            let next = self.calls.last().map_or(0, |(last, _)| last.saturating_add(1));
            self.calls.push((number.unwrap_or(next), Fragments::default()));
            self.calls.len() - 1
        });
        let call = &mut self.calls[at].1;
        if call.id.is_empty() {
            call.id = id;
        }
        // Some servers say it with every part.
        if call.name != name {
            call.name.push_str(&name);
        }
        match function.get("arguments") {
            Some(Value::String(text)) => call.arguments.push_str(text),
            // A server that does not put them into a text.
            Some(Value::Object(object)) => {
                call.arguments = Value::Object(object.clone()).to_string();
            }
            _ => {}
        }
    }

    fn end(&mut self) -> Vec<Delta> {
        self.over = true;
        let mut calls = std::mem::take(&mut self.calls);
        calls.sort_by_key(|(number, _)| *number);
        calls.into_iter().map(|(_, call)| call.call()).collect()
    }
}

impl Decoder for Answer {
    fn take(&mut self, event: &SseEvent, said: &mut Vec<Delta>) -> Result<(), ProviderError> {
        if self.over {
            return Ok(());
        }
        if event.data.trim() == "[DONE]" {
            said.extend(self.end());
            return Ok(());
        }
        let chunk = json_of(&event.data, "the answer holds what is not JSON")?;
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(failed(&event.data, &event.data));
        }
        match chunk.pointer("/choices/0") {
            Some(choice) => self.choice(choice, &choice["delta"], said),
            None => Ok(()),
        }
    }

    fn take_whole(&mut self, body: &str, said: &mut Vec<Delta>) -> Result<(), ProviderError> {
        let answer = json_of(body, "the answer is not JSON")?;
        let Some(choice) = answer.pointer("/choices/0") else {
            return Err(failed(body, "it holds no `choices`"));
        };
        self.choice(choice, &choice["message"], said)?;
        said.extend(self.end());
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(chunks: &[&str]) -> Result<Vec<String>, ProviderError> {
        let mut answer = Answer::default();
        let mut all = Vec::new();
        for chunk in chunks {
            let event = SseEvent { event: String::new(), data: (*chunk).into() };
            answer.take(&event, &mut all)?;
        }
        assert!(answer.is_over(), "{chunks:?}");
        let shown = all.into_iter().map(|delta| match delta {
            Delta::Text(text) => text,
            Delta::Call(call) => format!("{}:{}:{}", call.id, call.name, call.input.as_text()),
        });
        Ok(shown.collect())
    }

    /// What servers of their own kind leave out or do otherwise.
    #[test]
    fn calls_are_put_together_from_whatever_parts_come() {
        let part = |call: &str| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}"#);
        let done = "[DONE]";
        for (parts, calls) in [
            // Numbered, and mixed.
            (
                vec![
                    r#"{"index":1,"id":"b","function":{"name":"B","arguments":"{"}}"#,
                    r#"{"index":0,"id":"a","function":{"name":"A","arguments":""}}"#,
                    r#"{"index":1,"function":{"arguments":"}"}}"#,
                ],
                vec!["a:A:{}", "b:B:{}"],
            ),
            // Whole, without numbers.
            (
                vec![
                    r#"{"id":"a","function":{"name":"A","arguments":"{\"x\":1}"}}"#,
                    r#"{"id":"b","function":{"name":"B","arguments":{"y":2}}}"#,
                ],
                vec![r#"a:A:{"x":1}"#, r#"b:B:{"y":2}"#],
            ),
            // Without ids: each name begins another one.
            (
                vec![
                    r#"{"function":{"name":"A","arguments":"{}"}}"#,
                    r#"{"function":{"name":"B"}}"#,
                ],
                vec![":A:{}", ":B:{}"],
            ),
            // An id that comes with every part.
            (
                vec![
                    r#"{"id":"a","function":{"name":"A","arguments":"{"}}"#,
                    r#"{"id":"a","function":{"arguments":"}"}}"#,
                ],
                vec!["a:A:{}"],
            ),
            // Whole, all with the same number.
            (
                vec![
                    r#"{"index":0,"id":"a","function":{"name":"A","arguments":"{}"}}"#,
                    r#"{"index":0,"id":"b","function":{"name":"A","arguments":"{\"x\":1}"}}"#,
                ],
                vec!["a:A:{}", r#"b:A:{"x":1}"#],
            ),
            // A new id with every part, and the name once.
            (
                vec![
                    r#"{"index":0,"id":"a","function":{"name":"A","arguments":"{"}}"#,
                    r#"{"index":0,"id":"b","function":{"name":null,"arguments":"}"}}"#,
                ],
                vec!["a:A:{}"],
            ),
            // The name with every part.
            (
                vec![
                    r#"{"index":0,"id":"a","function":{"name":"A","arguments":"{"}}"#,
                    r#"{"index":0,"id":"a","function":{"name":"A","arguments":"}"}}"#,
                ],
                vec!["a:A:{}"],
            ),
            // What is no object is handed on as a text.
            (
                vec![r#"{"id":"a","function":{"name":"A","arguments":"{\"x\":"}}"#],
                vec![r#"a:A:"{\"x\":""#],
            ),
        ] {
            let chunks: Vec<_> = parts.iter().map(|one| part(one)).collect();
            let mut chunks: Vec<_> = chunks.iter().map(String::as_str).collect();
            chunks.push(done);
            assert_eq!(said(&chunks).unwrap(), calls, "{parts:?}");
        }
    }

    #[test]
    fn an_answer_that_is_not_whole_is_an_error() {
        for (reason, part) in [("length", "allow more tokens"), ("content_filter", "filter")] {
            let chunk = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"{reason}"}}]}}"#);
            let error = said(&[&chunk]).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let null =
            r#"{"error":null,"choices":[{"delta":{"content":null},"finish_reason":"stop"}]}"#;
        assert_eq!(said(&[null]).unwrap(), Vec::<String>::new());
    }
}
