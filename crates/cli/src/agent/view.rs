//! How the event stream is shown: as JSON, or as lines for people.

use tenter_agent::{StreamEvent, What};

use crate::console::Console;
use crate::render::text::printable;
use crate::render::timeline::Timeline;

/// A way to show events as they come.
pub(crate) enum View {
    /// One JSON object a line, on stdout.
    Json,
    /// Lines on stderr. What the main agent says is data: on a terminal as it comes, else its last
    /// words when the turn is over.
    Lines {
        /// What was begun.
        timeline: Timeline,
        /// Whether the answer that is shown is not at the end of its line.
        open: bool,
    },
}

impl View {
    /// The view that the options name.
    pub(crate) fn new(json: bool) -> Self {
        if json { Self::Json } else { Self::Lines { timeline: Timeline::default(), open: false } }
    }

    /// Shows what happened.
    pub(crate) fn show(&mut self, event: &StreamEvent, console: &mut Console) {
        let (timeline, open) = match self {
            Self::Json => {
                console.out(&(serde_json::to_string(event).unwrap_or_default() + "\n"));
                return;
            }
            Self::Lines { timeline, open } => (timeline, open),
        };
        let streams = console.stdout_is_terminal();
        if let What::ModelDelta { text } = &event.what
            && streams
            && event.agent.depth == 0
        {
            let rest = timeline.rest();
            console.err(&rest);
            console.out(&printable(text));
            *open = !text.ends_with('\n');
            return;
        }
        if std::mem::take(open) {
            console.out("\n");
        }
        console.err(&timeline.take(event));
        if let What::Result { text, .. } = &event.what
            && !streams
            && !text.is_empty()
        {
            console.out(&format!("{}\n", printable(text.trim_end())));
        }
    }
}
