//! Server-sent events as the WHATWG HTML standard has them: bytes in, events out.
//!
//! Owns the cutting alone. It keeps nothing but the event that is not whole yet, and that is bounded.

/// How long a line, and the data of one event, may be.
const MOST: usize = 8 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// Its type; empty if it has none.
    pub event: String,
    /// Its data, without the last line break.
    pub data: String,
}

/// An event is longer than anything that a model sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is longer than 8 MiB")]
pub struct TooLong;

/// Cuts a stream into events, wherever its pieces end.
#[derive(Debug, Clone, Default)]
pub struct SseParser {
    line: Vec<u8>,
    /// A CR has ended the last line; an LF that follows belongs to it.
    after_cr: bool,
    /// The first line has been seen, which may begin with a byte order mark.
    begun: bool,
    next: SseEvent,
    has_data: bool,
}

impl SseParser {
    /// A parser at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece and gives the events that are whole with it. What stands behind the last
    /// empty line of a stream is no event.
    ///
    /// # Errors
    /// An event is longer than 8 MiB.
    pub fn push(&mut self, piece: &[u8]) -> Result<Vec<SseEvent>, TooLong> {
        let mut events = Vec::new();
        for &byte in piece {
            let after_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                b'\n' if after_cr => {}
                b'\r' | b'\n' => events.extend(self.end_line()?),
                _ if self.line.len() >= MOST => return Err(TooLong),
                _ => self.line.push(byte),
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Result<Option<SseEvent>, TooLong> {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let first = !std::mem::replace(&mut self.begun, true);
        let line = if first { text.strip_prefix('\u{feff}').unwrap_or(&text) } else { &text };
        if line.is_empty() {
            let event = std::mem::take(&mut self.next);
            return Ok(std::mem::take(&mut self.has_data).then_some(event));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.next.data.len() + value.len() > MOST {
                    return Err(TooLong);
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.next.data.push('\n');
                }
                self.next.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.next.event),
            // Comments, ids, times to wait, and what nobody knows.
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(event: &str, data: &str) -> SseEvent {
        SseEvent { event: event.into(), data: data.into() }
    }

    fn whole(stream: &[u8]) -> Vec<SseEvent> {
        SseParser::new().push(stream).unwrap()
    }

    #[test]
    fn events_are_cut_as_the_standard_says() {
        for (stream, events) in [
            ("data: a\n\n", vec![event("", "a")]),
            ("\u{feff}data:a\n\n", vec![event("", "a")]),
            ("event: e\ndata: a\ndata:  b\n\n", vec![event("e", "a\n b")]),
            ("data\n\ndata: x", vec![event("", "")]),
            (": ping\n\n:\n\nevent: e\n\ndata: a\n\n", vec![event("", "a")]),
            ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["a", "b", "c"].map(|d| event("", d)).into()),
            ("id: 1\nretry: 2\nwhat: 3\ndata: a:b\n\n", vec![event("", "a:b")]),
            ("data: a\n\n\n\n", vec![event("", "a")]),
            ("", vec![]),
        ] {
            assert_eq!(whole(stream.as_bytes()), events, "{stream:?}");
        }
    }

    #[test]
    fn it_does_not_matter_where_pieces_end() {
        let stream =
            "\u{feff}event: ü\r\ndata: één\r\rdata: b\ndata\n\n: c\n\ndata: d\r\n\r\n".as_bytes();
        let events = whole(stream);
        assert_eq!(events.len(), 3);
        for first in 0..stream.len() {
            for second in first..stream.len() {
                let mut parser = SseParser::new();
                let pieces = [&stream[..first], &stream[first..second], &stream[second..]];
                let cut: Vec<_> = pieces.iter().flat_map(|one| parser.push(one).unwrap()).collect();
                assert_eq!(cut, events, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let mut parser = SseParser::new();
        let piece = vec![b'a'; 1024 * 1024];
        let found = (0..20).find_map(|_| parser.push(&piece).err());
        assert_eq!(found, Some(TooLong));
        let mut parser = SseParser::new();
        let lines = b"data: aaaaaaaaaaaaaaaa\n".repeat(64 * 1024);
        let found = (0..20).find_map(|_| parser.push(&lines).err());
        assert_eq!(found, Some(TooLong));
    }
}
