//! Messages, as Anthropic has them.
//!
//! Facts: <https://docs.anthropic.com/en/api/messages-streaming>.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::exchange::Decoder;
use super::server::{Format, NetProviderBuilder};
use super::sse::SseEvent;
use super::{Fragments, cut_off, failed, json_of};
use crate::message::{Message, reminder};
use crate::provider::{Delta, ProviderError, Request};

/// The version of the interface that is spoken here.
const VERSION: &str = "2023-06-01";
/// The most tokens of one answer unless it is said; the interface wants to be told.
const MAX_TOKENS: u32 = 8192;

/// A model behind messages.
///
/// ```
/// # #[cfg(feature = "net")] {
/// use tenter_agent::{Anthropic, ApiKey, Provider as _};
///
/// let model = Anthropic::builder("a-model").api_key(ApiKey::new("key")).build().unwrap();
/// assert_eq!((model.name(), model.model()), ("anthropic", "a-model"));
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Anthropic;

impl Anthropic {
    /// A provider to build, for this model. What is missing of `/v1/messages` at the end of an address
    /// is added. An answer has 8192 tokens at most unless it is said.
    pub fn builder(model: impl Into<String>) -> NetProviderBuilder {
        NetProviderBuilder::new(&FORMAT, model.into())
    }
}

const FORMAT: Format = Format {
    name: "anthropic",
    home: "https://api.anthropic.com",
    headers: &[("anthropic-version", VERSION), ("accept", "text/event-stream")],
    key: ("x-api-key", ""),
    last: "messages",
    path,
    body,
    answer: || Box::<Answer>::default(),
};

fn path(given: &str) -> String {
    match given {
        given if given.ends_with("/v1/messages") => given.to_owned(),
        given if given.ends_with("/v1") => format!("{given}/messages"),
        given => format!("{given}/v1/messages"),
    }
}

/// Adds to the last message if it is of the same role: two of one role may not follow each other.
fn add(messages: &mut Vec<(&'static str, Vec<Value>)>, role: &'static str, blocks: Vec<Value>) {
    if blocks.is_empty() {
        return;
    }
    match messages.last_mut() {
        Some((last, known)) if *last == role => known.extend(blocks),
        _ => messages.push((role, blocks)),
    }
}

/// A text as a block; an empty one is refused by the interface, and so is none.
fn texts<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> Vec<Value> {
    let texts = texts.into_iter().flatten().filter(|text| !text.trim().is_empty());
    texts.map(|text| json!({ "type": "text", "text": text })).collect()
}

/// An id in the signs that the interface takes.
fn plain(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    id.chars().map(plain).collect()
}

fn body(model: &str, max_tokens: Option<u32>, request: &Request) -> Value {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in &request.messages {
        match message {
            Message::User { text, context } => {
                let reminder = reminder(context);
                add(&mut messages, "user", texts([Some(text.as_str()), reminder.as_deref()]));
            }
            Message::Assistant { text, calls } => {
                let mut blocks = texts([Some(text.as_str())]);
                blocks.extend(calls.iter().map(|call| {
                    let input = match call.input.to_value() {
                        Value::Object(object) => Value::Object(object),
                        // The interface takes objects alone.
                        other => json!({ "not_an_object": other }),
                    };
                    let id = plain(&call.id);
                    json!({ "type": "tool_use", "id": id, "name": call.name, "input": input })
                }));
                add(&mut messages, "assistant", blocks);
            }
            Message::Results(results) => {
                let mut blocks: Vec<_> = results
                    .iter()
                    .map(|one| {
                        json!({
                            "type": "tool_result",
                            "tool_use_id": plain(&one.call_id),
                            "content": one.content,
                            "is_error": one.is_error,
                        })
                    })
                    .collect();
                // Results stand before any text.
                let reminders: Vec<_> = results.iter().map(|one| reminder(&one.context)).collect();
                blocks.extend(texts(reminders.iter().map(Option::as_deref)));
                add(&mut messages, "user", blocks);
            }
        }
    }
    let messages: Vec<_> = messages
        .into_iter()
        .map(|(role, content)| json!({ "role": role, "content": content }))
        .collect();
    let mut body = json!({
        "model": model,
        "max_tokens": max_tokens.unwrap_or(MAX_TOKENS),
        "stream": true,
        "system": request.system,
        "messages": messages,
    });
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "input_schema": tool.schema,
            })
        });
        body["tools"] = tools.collect::<Vec<_>>().into();
        if !request.may_call {
            body["tool_choice"] = json!({ "type": "none" });
        }
    }
    body
}

/// An answer on its way: its calls, by the number of their block.
#[derive(Debug, Default)]
struct Answer {
    calls: BTreeMap<u64, Fragments>,
    over: bool,
}

fn text(at: &Value, key: &str) -> String {
    at.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// What a block holds from its beginning.
fn begun(block: &Value) -> Fragments {
    let input = block.get("input").filter(|input| input.as_object().is_some_and(|o| !o.is_empty()));
    let arguments = input.map(Value::to_string).unwrap_or_default();
    Fragments { id: text(block, "id"), name: text(block, "name"), arguments }
}

fn add_text(text: String, said: &mut Vec<Delta>) {
    if !text.is_empty() {
        said.push(Delta::Text(text));
    }
}

/// Whether an answer is whole that ends for this reason.
fn ended(reason: &str) -> Result<(), ProviderError> {
    match reason {
        "max_tokens" => Err(cut_off("the most tokens that one answer may have")),
        "model_context_window_exceeded" => Err(cut_off("the end of what the model can remember")),
        "refusal" => Err(ProviderError::new("the model refuses to answer")),
        _ => Ok(()),
    }
}

impl Decoder for Answer {
    fn take(&mut self, event: &SseEvent, said: &mut Vec<Delta>) -> Result<(), ProviderError> {
        let value = json_of(&event.data, "the answer holds what is not JSON")?;
        let number = value.get("index").and_then(Value::as_u64).unwrap_or_default();
        match value.get("type").and_then(Value::as_str).unwrap_or(&event.event) {
            "content_block_start" => {
                let block = &value["content_block"];
                match block.get("type").and_then(Value::as_str) {
                    Some("tool_use") => {
                        self.calls.insert(number, begun(block));
                    }
                    Some("text") => add_text(text(block, "text"), said),
                    // Thinking, and what is yet to come.
                    _ => {}
                }
            }
            "content_block_delta" => {
                let delta = &value["delta"];
                match delta.get("type").and_then(Value::as_str) {
                    Some("text_delta") => add_text(text(delta, "text"), said),
                    Some("input_json_delta") => {
                        if let Some(call) = self.calls.get_mut(&number) {
                            call.arguments.push_str(&text(delta, "partial_json"));
                        }
                    }
                    _ => {}
                }
            }
            "message_delta" => ended(
                value.pointer("/delta/stop_reason").and_then(Value::as_str).unwrap_or_default(),
            )?,
            "message_stop" => {
                self.over = true;
                said.extend(std::mem::take(&mut self.calls).into_values().map(Fragments::call));
            }
            "error" => return Err(failed(&event.data, &event.data)),
            _ => {}
        }
        Ok(())
    }

    fn take_whole(&mut self, body: &str, said: &mut Vec<Delta>) -> Result<(), ProviderError> {
        let answer = json_of(body, "the answer is not JSON")?;
        let Some(blocks) = answer.get("content").and_then(Value::as_array) else {
            return Err(failed(body, "it holds no `content`"));
        };
        let mut calls = Vec::new();
        for block in blocks {
            match block.get("type").and_then(Value::as_str) {
                Some("text") => add_text(text(block, "text"), said),
                Some("tool_use") => calls.push(begun(block).call()),
                _ => {}
            }
        }
        // As in a stream, calls are given once it is known that they are whole.
        ended(&text(&answer, "stop_reason"))?;
        self.over = true;
        said.extend(calls);
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.over
    }
}
