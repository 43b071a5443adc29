//! The event stream of an agent as people read it: one line an event, agents below indented.

use tenter_agent::{Effect, Status, StreamEvent, What, Who};

use super::style::{ASKS, BAD, CHANGED, DIM, GOOD, STRONG, paint};
use super::text::{one_line, printable};

/// The most of a text that a line shows.
const MOST: usize = 90;

/// The whole stream.
pub(crate) fn draw(events: &[StreamEvent]) -> String {
    let mut timeline = Timeline::default();
    let mut text: String = events.iter().map(|event| timeline.take(event)).collect();
    text.push_str(&timeline.rest());
    text
}

/// A stream on its way. Pieces of an answer are put together.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    /// What an agent has begun to say.
    said: Option<(Who, String)>,
}

impl Timeline {
    /// The lines that are due now that this has happened.
    pub(crate) fn take(&mut self, event: &StreamEvent) -> String {
        if let What::ModelDelta { text: piece } = &event.what {
            if let Some((who, said)) = &mut self.said
                && *who == event.agent
            {
                said.push_str(piece);
                return String::new();
            }
            let rest = self.rest();
            self.said = Some((event.agent.clone(), piece.clone()));
            return rest;
        }
        let mut text = self.rest();
        if let Some(line) = line(&event.what) {
            text.push_str(&indented(&event.agent, &line));
        }
        text
    }

    /// The line that waits for more of an answer.
    pub(crate) fn rest(&mut self) -> String {
        let said = self.said.take();
        said.map(|(who, said)| indented(&who, &format!("model   {}", short(&said))))
            .unwrap_or_default()
    }
}

fn indented(who: &Who, line: &str) -> String {
    let indent = "    ".repeat(who.depth as usize);
    let name = if who.depth == 0 {
        String::new()
    } else {
        paint(DIM, format!("[{}] ", printable(&who.kind)))
    };
    format!("{indent}{name}{line}\n")
}

/// The first line of a text, cut to what fits.
fn short(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or_default();
    let cut: String = first.chars().take(MOST).collect();
    let more = cut.len() < first.len() || lines.next().is_some();
    printable(&if more { format!("{cut} …") } else { cut }).into()
}

fn line(what: &What) -> Option<String> {
    let line = match what {
        What::UserPrompt { text, .. } => format!("user    {}", paint(STRONG, short(text))),
        What::ToolCall { tool, input, .. } => {
            format!("call    {} {}", paint(STRONG, printable(tool)), short(input.as_text()))
        }
        What::Hook { event, effect, reason, hooks, payload, .. } => {
            let style = match effect {
                Effect::Blocked => BAD,
                Effect::Modified => CHANGED,
                Effect::Advisory => ASKS,
                Effect::Info => DIM,
            };
            let word = match effect {
                Effect::Blocked => "blocked",
                Effect::Modified => "modified",
                Effect::Advisory => "advisory",
                Effect::Info => "ran",
            };
            let spoke = |note: &&tenter_agent::HookNote| {
                note.rewrite || note.halt || !matches!(note.decision, "none")
            };
            let mut names: Vec<_> =
                hooks.iter().filter(spoke).map(|note| note.name.as_str()).collect();
            if names.is_empty() {
                names = hooks.iter().map(|note| note.name.as_str()).collect();
            }
            let more = reason.as_deref().map(short);
            let more = more.or_else(|| payload.as_ref().map(|json| short(json.as_text())));
            let more = more.map(|more| format!(": {more}")).unwrap_or_default();
            // Advice says itself whom it is about.
            let by = match names.join(", ") {
                names if names.is_empty() || *effect == Effect::Advisory => String::new(),
                names => format!(" by {}", printable(&names)),
            };
            format!("hook    {event} {}{by}{more}", paint(style, word))
        }
        What::PermissionAsk { tool, reason, .. } => {
            format!("ask     {} {}", printable(tool), paint(ASKS, short(reason)))
        }
        What::ToolResult { content, is_error, denied, .. } => {
            let style = if *denied || *is_error { BAD } else { GOOD };
            format!("result  {}", paint(style, short(content)))
        }
        What::Result { status, reason, .. } => {
            let style = if *status == Status::Complete { GOOD } else { BAD };
            // The last word is whole: it says what to do.
            let reason = reason.as_deref().map(|reason| format!(": {}", one_line(reason, 2000)));
            let word = paint(style, status.as_str());
            format!("end     {word}{}", reason.unwrap_or_default())
        }
        What::Notification { notification_type, message } if notification_type == "warning" => {
            format!("note    {}", paint(ASKS, one_line(message, 2000)))
        }
        What::Notification { notification_type, message } if notification_type == "compacted" => {
            format!("note    {}", paint(DIM, short(message)))
        }
        What::Notification { .. }
        | What::Approval { .. }
        | What::SessionInit { .. }
        | What::ModelDelta { .. } => return None,
    };
    Some(line)
}
