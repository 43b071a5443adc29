//! A host's payload, read: the event that it is, and the same payload with what hooks changed.

use tenter_core::event::{Event, EventKind, HostCall, Origin, Payload};
use tenter_core::json::{Fields, Json};
use thiserror::Error;

use super::tools::ToolRow;
use super::wire::{self, Found};
use super::{Bridge, EventRow, result};
use crate::native::input::{EventError, read_fields};

/// Why a payload is no event of the host.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// It cannot be read as an event.
    #[error(transparent)]
    Event(#[from] EventError),
    /// The host has no such event.
    #[error("{host} has no event `{name}`")]
    UnknownEvent {
        /// The host's name in texts.
        host: &'static str,
        /// The name.
        name: String,
    },
}

/// A part of an event that stands somewhere in the payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Session,
    Cwd,
    Input,
    Call,
    Response,
    Prompt,
    LastMessage,
    AgentId,
    AgentType,
}

/// A part, where it was found, and how it is written there.
#[derive(Debug, Clone)]
struct Slot {
    part: Part,
    place: Found,
    /// Whether it is JSON in a text.
    is_text: bool,
}

/// A payload that was read.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// The host's row of the event.
    pub row: &'static EventRow,
    /// The event, in tenter's own words.
    pub event: Event,
    payload: Json,
    tool: Option<&'static ToolRow>,
    slots: Vec<Slot>,
}

impl Bridge {
    /// Reads a payload. A byte order mark before it and anything behind its first JSON value are
    /// passed over. `given` is the event's name where the host does not say it in the payload;
    /// `defaults` fills a missing session and directory.
    ///
    /// # Errors
    /// The payload is no event of this host.
    pub fn read(
        &self,
        text: &str,
        given: Option<&str>,
        defaults: &Origin,
    ) -> Result<Incoming, PayloadError> {
        let payload = first_value(text)?;
        let Some(fields) = payload.to_fields() else {
            let found = crate::native::input::type_of(&payload);
            return Err(EventError::NotAnObject { found }.into());
        };
        if let Some(key) = fields.first_duplicate() {
            return Err(EventError::DuplicateKey { key: key.to_owned(), inside: "" }.into());
        }
        let row = self.row_of(&payload, given)?;
        Reader { bridge: self, row, payload: &payload, taken: Vec::new(), slots: Vec::new() }
            .read(&fields, defaults)
    }

    /// The row of the event that a payload is, as far as payload and caller say.
    fn row_of(
        &self,
        payload: &Json,
        given: Option<&str>,
    ) -> Result<&'static EventRow, PayloadError> {
        let unknown =
            |name: &str| PayloadError::UnknownEvent { host: self.title, name: name.to_owned() };
        let named = wire::find(payload, self.wire.event);
        let named = named.as_ref().and_then(|(_, name)| name.as_str());
        match (named, given) {
            (None, None) => Err(EventError::NoName.into()),
            (Some(name), None) => self.row(&name).ok_or_else(|| unknown(&name)),
            (None, Some(given)) => self.row(given).ok_or_else(|| unknown(given)),
            (Some(name), Some(given)) => {
                let asked = self.row(given).ok_or_else(|| unknown(given))?;
                match self.row(&name) {
                    Some(row) if row.kind() != asked.kind() => Err(EventError::OtherName {
                        payload: name.into_owned(),
                        given: given.to_owned(),
                    }
                    .into()),
                    Some(row) => Ok(row),
                    None => Ok(asked),
                }
            }
        }
    }
}

/// The first JSON value of a text: a host may leave its end open, or add a line of its own.
fn first_value(text: &str) -> Result<Json, EventError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match serde_json::Deserializer::from_str(text).into_iter::<Json>().next() {
        None => Err(EventError::Empty),
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(crate::native::input::not_json(text, &error)),
    }
}

struct Reader<'a> {
    bridge: &'a Bridge,
    row: &'static EventRow,
    payload: &'a Json,
    /// The keys of the payload that a part is taken from as a whole.
    taken: Vec<String>,
    slots: Vec<Slot>,
}

impl Reader<'_> {
    fn read(mut self, fields: &Fields, defaults: &Origin) -> Result<Incoming, PayloadError> {
        let wire = self.bridge.wire;
        let kind = self.kind();
        let mut event = Fields::new();
        event.push("hook_event_name", Json::string(kind.name()));
        for (part, places, name) in [
            (Part::Session, wire.session, "session_id"),
            (Part::Cwd, wire.cwd, "cwd"),
            (Part::Call, wire.call, "tool_use_id"),
            (Part::LastMessage, wire.last_message, "last_assistant_message"),
        ] {
            if let Some(value) = self.take(part, places) {
                event.push(name, value);
            }
        }
        self.read_agent(&mut event);
        if let Some((place, _)) = wire::find(self.payload, wire.event) {
            self.taken.extend(only(place));
        }
        let tool = self.read_call(&kind, &mut event);
        if matches!(kind, EventKind::UserPromptSubmit | EventKind::UserPromptExpansion)
            && let Some(prompt) = self.take(Part::Prompt, wire.prompt)
        {
            event.push("prompt", text_of_parts(&prompt));
        }
        for (key, value) in wire::others(fields, &self.taken, wire).iter() {
            if event.get(key).is_none() {
                event.push(key, value.clone());
            }
        }
        let defaults = Origin { host: self.bridge.name.into(), ..defaults.clone() };
        let mut event = read_fields(event, None, &defaults)?;
        let row = tool.as_ref().and_then(|(row, _)| *row);
        event.origin.host_call = tool.map(|(_, own)| Box::new(own));
        let (payload, slots) = (self.payload.clone(), self.slots);
        Ok(Incoming { row: self.row, event, payload, tool: row, slots })
    }

    /// The kind of the event: some hosts tell a failure by a field alone.
    fn kind(&self) -> EventKind {
        let kind = self.row.kind();
        let wire = self.bridge.wire;
        let says = |value: &Json| !matches!(value.as_text(), "false" | "null" | "\"\"");
        let failed = wire::find(self.payload, wire.failed).is_some_and(|(_, value)| says(&value))
            || wire::find(self.payload, wire.succeeded)
                .is_some_and(|(_, value)| value.as_bool() == Some(false));
        if kind == EventKind::PostToolUse && failed { EventKind::PostToolUseFailure } else { kind }
    }

    /// Takes a part out of the payload, and remembers where it stood.
    fn take(&mut self, part: Part, places: &[wire::Place]) -> Option<Json> {
        // A folder without a name is none.
        let is_there = |value: &Json| part != Part::Cwd || value.as_text() != "\"\"";
        let (place, value) = wire::find_that(self.payload, places, is_there)?;
        self.taken.extend(only(place.clone()));
        self.slots.push(Slot { part, place, is_text: false });
        Some(value)
    }

    /// The subagent, if it is one. A main agent may have an id, or a kind, too: hooks see these under
    /// other names.
    fn read_agent(&mut self, event: &mut Fields) {
        let wire = self.bridge.wire;
        let has_parent = wire.parent.is_empty() || wire::find(self.payload, wire.parent).is_some();
        let is_subagent = has_parent && wire::find(self.payload, wire.agent_id).is_some();
        for (part, places, name, own_name) in [
            (Part::AgentId, wire.agent_id, "agent_id", "main_agent_id"),
            (Part::AgentType, wire.agent_type, "agent_type", "main_agent_type"),
        ] {
            if let Some(value) = self.take(part, places) {
                event.push(if is_subagent { name } else { own_name }, value);
            }
        }
    }

    /// The tool call in canonical words, and in the host's where those are others.
    fn read_call(
        &mut self,
        kind: &EventKind,
        event: &mut Fields,
    ) -> Option<(Option<&'static ToolRow>, HostCall)> {
        if !matches!(
            kind,
            EventKind::PreToolUse
                | EventKind::PermissionRequest
                | EventKind::PermissionDenied
                | EventKind::PostToolUse
                | EventKind::PostToolUseFailure
                | EventKind::PreSkillShellCommand
        ) {
            return None;
        }
        let wire = self.bridge.wire;
        if let Some(response) = self.take(Part::Response, wire.response) {
            event.push("tool_response", response);
        }
        let named = wire::find(self.payload, wire.tool);
        if let Some((place, _)) = &named {
            self.taken.extend(only(place.clone()));
        }
        let name = self.row.tool.map(ToOwned::to_owned).or_else(|| {
            named.and_then(|(_, name)| name.as_str().map(std::borrow::Cow::into_owned))
        })?;
        let (input, is_text) = match self.take(Part::Input, wire.input) {
            Some(input) => match json_in_text(&input) {
                Some(inner) => (inner, true),
                None => (input, false),
            },
            None => (Json::empty_object(), false),
        };
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.part == Part::Input) {
            slot.is_text = is_text;
        }
        let row = self.bridge.tools.row(&name, &input);
        let server = wire::find(self.payload, &[&["mcp_context", "server_name"]]);
        let server = server.as_ref().and_then(|(_, server)| server.as_str());
        let canonical = match row {
            Some(row) => Some(row.canonical.to_owned()),
            None => self.bridge.tools.mcp_name(&name, server.as_deref()),
        };
        let shown = row.map_or_else(|| input.clone(), |row| row.read(&input));
        event.push("tool_name", Json::string(canonical.as_deref().unwrap_or(&name)));
        event.push("tool_input", shown.clone());
        let differs = canonical.is_some_and(|canonical| canonical != name) || shown != input;
        differs.then_some((row, HostCall { name, input: Some(input) }))
    }
}

/// The key of a place that is one key deep: what stands deeper stays where it is.
fn only(place: Found) -> Option<String> {
    let mut keys = place.into_iter();
    keys.next().filter(|_| keys.next().is_none())
}

/// The object that a text holds: some hosts send a tool's input in a text.
fn json_in_text(value: &Json) -> Option<Json> {
    let text = value.as_str()?;
    Json::parse(&text).ok().filter(Json::is_object)
}

/// A prompt in parts as one text; any other value as it is.
fn text_of_parts(prompt: &Json) -> Json {
    let Ok(parts) = serde_json::from_str::<Vec<Json>>(prompt.as_text()) else {
        return prompt.clone();
    };
    let texts: Vec<String> = parts
        .iter()
        .filter_map(|part| {
            let text = part.get("text");
            text.as_ref().unwrap_or(part).as_str().map(std::borrow::Cow::into_owned)
        })
        .collect();
    Json::string(&texts.join("\n"))
}

impl Incoming {
    /// The payload as the host sent it.
    pub fn payload(&self) -> &Json {
        &self.payload
    }

    /// The tool's input as the host sent it.
    pub fn own_input(&self) -> Option<Json> {
        let own = self.event.origin.host_call.as_deref().and_then(|call| call.input.clone());
        own.or_else(|| Some(self.event.tool_call()?.input.clone()))
    }

    /// The tool's input in the host's shape, for a canonical one that hooks made of it; `None` if it
    /// cannot be said in that shape.
    pub fn host_input(&self, canonical: &Json) -> Option<Json> {
        let before = &self.event.tool_call()?.input;
        match (&self.event.origin.host_call, self.tool) {
            (Some(own), Some(row)) => row.write(own.input.as_ref()?, before, canonical),
            _ => Some(canonical.clone()),
        }
    }

    /// A tool's result in the shape that this one had, for the text that hooks made of it; `None` if it
    /// does not fit there.
    pub fn host_response(&self, content: &str) -> Option<Json> {
        let Payload::ToolResult { response, .. } = &self.event.payload else { return None };
        result::fitted(response, content)
    }

    /// Whether the host tells of nothing here: see [`EventRow::with_prompt`].
    pub fn tells_nothing(&self) -> bool {
        let Payload::Prompt(prompt) = &self.event.payload else { return false };
        self.row.needs_prompt && prompt.is_empty()
    }

    /// The host's payload for an event that differs from the one that was read: what is the same
    /// stays as it is, byte for byte. `None` if a change cannot be said in the host's words.
    pub fn write(&self, event: &Event) -> Option<Json> {
        let mut payload = self.payload.clone();
        for slot in &self.slots {
            let (before, after) = (part_of(slot.part, &self.event), part_of(slot.part, event));
            if before == after {
                continue;
            }
            let mut value = after?;
            if slot.part == Part::Input {
                value = self.host_input(&value)?;
            }
            if slot.is_text {
                value = Json::string(value.as_text());
            }
            payload = wire::with(&payload, &slot.place, value);
        }
        Some(payload)
    }
}

/// A part of an event.
fn part_of(part: Part, event: &Event) -> Option<Json> {
    let text = |text: &str| Some(Json::string(text));
    let agent = event.origin.agent.as_ref();
    match part {
        Part::Session => text(&event.origin.session_id),
        Part::Cwd => text(&event.origin.cwd),
        Part::Call => text(event.origin.call_id.as_deref()?),
        Part::Input => Some(event.tool_call()?.input.clone()),
        Part::Response => match &event.payload {
            Payload::ToolResult { response, .. } => Some(response.clone()),
            _ => None,
        },
        Part::Prompt => match &event.payload {
            Payload::Prompt(prompt) => text(prompt),
            _ => None,
        },
        Part::LastMessage => match &event.payload {
            Payload::Stop(facts) => text(facts.last_assistant_message.as_deref()?),
            _ => event.extra.get("last_assistant_message").cloned(),
        },
        Part::AgentId => text(agent?.id.as_deref()?),
        Part::AgentType => text(agent?.kind.as_deref()?),
    }
}
