//! From a request to the deltas of its answer: sends, cuts, decodes.
//!
//! Owns the order of these. What the answer means is the wire format's.

use std::collections::VecDeque;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use reqwest::Response;
use tokio::time::timeout;

use super::http::{Http, root_of, shown};
use super::sse::{SseEvent, SseParser};
use crate::provider::{Delta, ProviderError};

/// The longest answer that is read when it does not come as a stream.
const MOST: usize = 32 * 1024 * 1024;

/// Reads an answer of one wire format.
pub(super) trait Decoder: Send + Sync {
    /// Adds what an event of the stream says to `said`, which also holds what comes before an error.
    ///
    /// # Errors
    /// It says that the answer failed, or cannot be read.
    fn take(&mut self, event: &SseEvent, said: &mut Vec<Delta>) -> Result<(), ProviderError>;

    /// Adds what an answer says that came in one piece to `said`, which also holds what comes before
    /// an error.
    ///
    /// # Errors
    /// It says that the answer failed, or cannot be read.
    fn take_whole(&mut self, body: &str, said: &mut Vec<Delta>) -> Result<(), ProviderError>;

    /// Whether the answer is over.
    fn is_over(&self) -> bool;
}

enum At {
    Start(String),
    Reading(Response, SseParser),
    End,
}

struct Exchange<'a> {
    http: &'a Http,
    at: At,
    decoder: Box<dyn Decoder>,
    ready: VecDeque<Result<Delta, ProviderError>>,
}

/// Sends a request and gives the deltas of its answer. Dropping the stream ends the connection.
pub(super) fn exchange<'a>(
    http: &'a Http,
    body: String,
    decoder: Box<dyn Decoder>,
) -> BoxStream<'a, Result<Delta, ProviderError>> {
    let exchange = Exchange { http, at: At::Start(body), decoder, ready: VecDeque::new() };
    let next = |mut exchange: Exchange<'a>| async move {
        let next = exchange.next().await?;
        Some((next, exchange))
    };
    stream::unfold(exchange, next).boxed()
}

impl Exchange<'_> {
    async fn next(&mut self) -> Option<Result<Delta, ProviderError>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            let done = match std::mem::replace(&mut self.at, At::End) {
                At::Start(body) => self.begin(&body).await,
                At::Reading(response, parser) => self.read(response, parser).await,
                At::End => return None,
            };
            // What came before an error is given out before it.
            if let Err(error) = done {
                self.at = At::End;
                self.ready.push_back(Err(error));
            }
        }
    }

    async fn begin(&mut self, body: &str) -> Result<(), ProviderError> {
        let mut response = self.http.send(body).await?;
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        if kind.starts_with("text/html") {
            return Err(ProviderError::new(format!(
                "a web page stands at {}, and no model server; is the address right?",
                self.http.url
            )));
        }
        if !kind.starts_with("application/json") {
            self.at = At::Reading(response, SseParser::new());
            return Ok(());
        }
        // Some servers answer in one piece although they were asked for a stream.
        let mut whole = Vec::new();
        while let Some(piece) = self.piece(&mut response).await? {
            whole.extend_from_slice(&piece);
            if whole.len() > MOST {
                return Err(self.broken("it is longer than 32 MiB"));
            }
        }
        let mut said = Vec::new();
        let done = self.decoder.take_whole(&String::from_utf8_lossy(&whole), &mut said);
        self.ready.extend(said.into_iter().map(Ok));
        done.map_err(|error| self.http.told(&error))
    }

    async fn read(
        &mut self,
        mut response: Response,
        mut parser: SseParser,
    ) -> Result<(), ProviderError> {
        let Some(piece) = self.piece(&mut response).await? else {
            return Err(self.broken("the connection ended before it did"));
        };
        for event in parser.push(&piece).map_err(|error| self.broken(&error.to_string()))? {
            // Some servers keep a connection awake with events that hold nothing.
            if event.data.trim().is_empty() {
                continue;
            }
            let mut said = Vec::new();
            let done = self.decoder.take(&event, &mut said);
            self.ready.extend(said.into_iter().map(Ok));
            done.map_err(|error| self.http.told(&error))?;
        }
        if !self.decoder.is_over() {
            self.at = At::Reading(response, parser);
        }
        Ok(())
    }

    async fn piece(&self, response: &mut Response) -> Result<Option<Vec<u8>>, ProviderError> {
        let idle = self.http.network.idle_timeout;
        match timeout(idle, response.chunk()).await {
            Ok(Ok(piece)) => Ok(piece.map(|piece| piece.to_vec())),
            Ok(Err(error)) => Err(self.broken(&root_of(&error))),
            Err(_) => Err(self.broken(&format!("nothing came for {}", shown(idle)))),
        }
    }

    fn broken(&self, why: &str) -> ProviderError {
        ProviderError::new(format!("the answer of {} broke off: {why}", self.http.url))
    }
}
