//! A model server on this machine that says what it is told to, one connection after the other.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What is done with one connection after its request was read.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends bytes.
    Send(String),
    /// Waits until the client has gone, and says so.
    UntilGone,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// The server. It ends with the runtime of its test.
pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    pub(crate) gone: Arc<Notify>,
}

/// The head of an answer that comes as a stream, and events of it.
pub(crate) fn stream(events: &[&str]) -> Vec<Step> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let mut steps = vec![Step::Send(head.into())];
    steps.extend(events.iter().map(|event| Step::Send(format!("data: {event}\n\n"))));
    steps
}

/// An answer in one piece.
pub(crate) fn whole(status: &str, headers: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    vec![Step::Send(format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    ))]
}

impl Server {
    /// A server that gives these answers, one a connection.
    pub(crate) async fn new(answers: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (asked, gone) = (Arc::<Mutex<Vec<Asked>>>::default(), Arc::new(Notify::new()));
        let (log, left) = (Arc::clone(&asked), Arc::clone(&gone));
        tokio::spawn(async move {
            for steps in answers {
                let (mut connection, _) = listener.accept().await.unwrap();
                let request = read(&mut connection).await;
                log.lock().unwrap().push(request);
                for step in steps {
                    match step {
                        Step::Send(text) => {
                            // Who has gone gets nothing more.
                            let _ = connection.write_all(text.as_bytes()).await;
                        }
                        Step::UntilGone => {
                            let mut rest = Vec::new();
                            let _ = connection.read_to_end(&mut rest).await;
                            left.notify_one();
                        }
                    }
                }
            }
        });
        Self { url, asked, gone }
    }

    /// Every request so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn read(connection: &mut TcpStream) -> Asked {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let lower = head.to_ascii_lowercase();
            let length = lower.split("content-length: ").nth(1);
            let Some(length) = length.and_then(|length| length.split("\r\n").next()) else {
                return Asked { head: lower, body: Value::Null };
            };
            if body.len() >= length.parse::<usize>().unwrap() {
                return Asked { head: lower, body: serde_json::from_str(body).unwrap() };
            }
        }
        let count = connection.read(&mut piece).await.unwrap();
        assert_ne!(count, 0, "a request ends too early");
        bytes.extend_from_slice(&piece[..count]);
    }
}
