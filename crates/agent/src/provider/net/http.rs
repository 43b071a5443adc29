//! One request to a model server: timeouts, retries, and what is said when it fails.
//!
//! A request is made again only while nothing of its answer was seen. No key stands in any text here.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use tokio::time::{sleep, timeout};

use super::words_of;
use crate::provider::ProviderError;

/// The most of an error's body that is read, and shown.
const MOST_READ: usize = 64 * 1024;
const MOST_SHOWN: usize = 400;
/// The longest list of models that is read.
const MOST_LISTED: usize = 8 * 1024 * 1024;
/// The most of an error that an answer itself tells.
const MOST_TOLD: usize = 1000;
/// The longest that a retry is waited for, whatever the server asks.
const MOST_WAIT: Duration = Duration::from_mins(1);

/// A key for a model server. It is shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// A key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// How long a model server is waited for, and how often it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// For a connection.
    pub connect_timeout: Duration,
    /// From the request to the head of the answer.
    pub answer_timeout: Duration,
    /// Between two pieces of the answer.
    pub idle_timeout: Duration,
    /// How often a request is made again: after no connection, and after 408, 409, 425, 429 and 5xx.
    pub retries: u32,
    /// How long before the first of these; twice as long before each further one. What the server
    /// asks for in `Retry-After` is waited for, up to a minute.
    pub backoff: Duration,
    /// Whether the proxy of the environment (`HTTPS_PROXY`) is used.
    pub proxy: bool,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            answer_timeout: Duration::from_mins(5),
            idle_timeout: Duration::from_mins(2),
            retries: 3,
            backoff: Duration::from_millis(500),
            proxy: false,
        }
    }
}

/// Where and how one provider asks.
#[derive(Debug, Clone)]
pub(super) struct Http {
    client: Client,
    pub(super) url: Url,
    headers: HeaderMap,
    /// What no text may show, even where the server repeats it.
    key: Option<ApiKey>,
    pub(super) network: Network,
}

impl Http {
    /// # Errors
    /// The address is none of a web server, or a header cannot be sent.
    pub(super) fn new(
        url: Url,
        headers: &[(&'static str, &str)],
        key: Option<(&'static str, &'static str, ApiKey)>,
        network: Network,
    ) -> Result<Self, ProviderError> {
        let mut map = HeaderMap::new();
        map.insert("content-type", HeaderValue::from_static("application/json"));
        for (name, value) in headers {
            let value = HeaderValue::from_str(value)
                .map_err(|_| ProviderError::new(format!("`{value}` cannot be sent as {name}")))?;
            map.insert(HeaderName::from_static(name), value);
        }
        if let Some((name, before, key)) = &key {
            let value = format!("{before}{}", key.text());
            let mut value = HeaderValue::from_str(&value).map_err(|_| {
                ProviderError::new(
                    "the API key holds characters that no key has: copy it again, without line breaks",
                )
            })?;
            value.set_sensitive(true);
            map.insert(HeaderName::from_static(name), value);
        }
        // Somebody may have chosen another one for the whole program before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder =
            Client::builder().redirect(Policy::none()).connect_timeout(network.connect_timeout);
        if !network.proxy {
            builder = builder.no_proxy();
        }
        if url.scheme() == "http" {
            // Without encryption there is nothing to verify, and so no need of the system's roots.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|error| {
            ProviderError::new(format!(
                "no encrypted connections can be made: {}; install the system's certificates, or name a \
                 file of them in SSL_CERT_FILE",
                root_of(&error)
            ))
        })?;
        Ok(Self { client, url, headers: map, key: key.map(|(_, _, key)| key), network })
    }

    /// An error with the server's words as it may be shown: without the key, and not longer than
    /// somebody reads.
    pub(super) fn told(&self, error: &ProviderError) -> ProviderError {
        let text = self.without_key(&error.message);
        let mut chars = text.chars();
        let mut shown: String = chars.by_ref().take(MOST_TOLD).collect();
        if chars.next().is_some() {
            shown.push('…');
        }
        ProviderError::new(shown)
    }

    /// For the server's words alone: a key that protects nothing may be a word of ours, or the host.
    fn without_key(&self, text: &str) -> String {
        match self.key.as_ref().map(|key| key.text().trim()).filter(|key| !key.is_empty()) {
            Some(key) => text.replace(key, "(the key)"),
            None => text.to_owned(),
        }
    }

    /// Sends a request until an answer begins.
    ///
    /// # Errors
    /// There is none, or it is a refusal.
    pub(super) async fn send(&self, body: &str) -> Result<Response, ProviderError> {
        let mut tried = 0;
        loop {
            let (error, asked_for) = match self.once(body).await {
                Ok(response) => return Ok(response),
                Err(Failed::ForGood(error)) => return Err(error),
                Err(Failed::ForNow(error, asked_for)) => (error, asked_for),
            };
            let wait = asked_for.unwrap_or_default().max(self.backoff(tried));
            if tried >= self.network.retries || wait > MOST_WAIT {
                return Err(said_after(error, tried + 1, asked_for));
            }
            sleep(wait).await;
            tried += 1;
        }
    }

    /// What stands at another address of the same server, which is asked once.
    ///
    /// # Errors
    /// Nothing does, or it cannot be read.
    pub(super) async fn get(&self, url: Url) -> Result<String, ProviderError> {
        let there = Self { url, ..self.clone() };
        let request = there.client.get(there.url.clone());
        let failed = |failed| match failed {
            Failed::ForNow(error, _) | Failed::ForGood(error) => error,
        };
        let answered = there.answered(request, there.network.connect_timeout).await;
        let mut response = answered.map_err(failed)?;
        let read = async {
            let mut body = Vec::new();
            while let Some(piece) =
                response.chunk().await.map_err(|error| failed(there.unreachable(&error)))?
            {
                body.extend_from_slice(&piece);
                if body.len() > MOST_LISTED {
                    let url = &there.url;
                    let text = format!("what stands at {url} is longer than 8 MiB; is it right?");
                    return Err(ProviderError::new(text));
                }
            }
            Ok(String::from_utf8_lossy(&body).into_owned())
        };
        match timeout(there.network.idle_timeout, read).await {
            Ok(read) => read,
            Err(_) => Err(failed(there.silent(there.network.idle_timeout))),
        }
    }

    /// Twice as long each time, and never quite the same for two who were refused together.
    fn backoff(&self, tried: u32) -> Duration {
        let whole = self.network.backoff.saturating_mul(1 << tried.min(10)).min(MOST_WAIT / 2);
        let random = RandomState::new().build_hasher().finish() % 512;
        let part = u32::try_from(random).unwrap_or_default() + 512;
        whole.saturating_mul(part) / 1024
    }

    async fn once(&self, body: &str) -> Result<Response, Failed> {
        let request = self.client.post(self.url.clone()).body(body.to_owned());
        self.answered(request, self.network.answer_timeout).await
    }

    /// The head of an answer that is no refusal.
    async fn answered(&self, request: RequestBuilder, most: Duration) -> Result<Response, Failed> {
        let sent = timeout(most, request.headers(self.headers.clone()).send()).await;
        let response =
            sent.map_err(|_| self.silent(most))?.map_err(|error| self.unreachable(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(self.refused(response).await)
    }

    fn silent(&self, time: Duration) -> Failed {
        let text = format!(
            "the model server at {} has not answered in {}; is it busy, or loading a model?",
            self.url,
            shown(time)
        );
        Failed::ForNow(ProviderError::new(text), None)
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failed {
        let why = root_of(error);
        let hint =
            if error.is_connect() { "; is it running, and is the address right?" } else { "" };
        let text = format!("the model server at {} cannot be reached: {why}{hint}", self.url);
        Failed::ForNow(ProviderError::new(text), None)
    }

    async fn refused(&self, mut response: Response) -> Failed {
        let status = response.status();
        let asked_for = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let asked_for = asked_for.and_then(|value| value.trim().parse().ok());
        let asked_for = asked_for.map(Duration::from_secs);
        let mut body = Vec::new();
        let read = async {
            while let Ok(Some(piece)) = response.chunk().await {
                body.extend_from_slice(&piece);
                if body.len() > MOST_READ {
                    break;
                }
            }
        };
        // What was read until then is shown.
        let _ = timeout(self.network.idle_timeout, read).await;
        let body = String::from_utf8_lossy(&body);
        let words = words_of(&body).unwrap_or_else(|| body.trim().to_owned());
        // A key that is cut in two would not be found any more.
        let words: String = self.without_key(&words).chars().take(MOST_SHOWN).collect();
        let words = if words.is_empty() { String::new() } else { format!(": {words}") };
        let hint = match status.as_u16() {
            401 | 403 => "; is an API key set, and is it for this server?",
            404 => "; are the model's name and the address right?",
            413 => "; the conversation is too long for it",
            300..=399 => {
                "; it sends elsewhere, which is not followed: name the address that it means"
            }
            _ => "",
        };
        let code = status.as_u16();
        let text = format!("the model server at {} says {code}{words}{hint}", self.url);
        let error = ProviderError::new(text);
        if is_for_now(status) { Failed::ForNow(error, asked_for) } else { Failed::ForGood(error) }
    }
}

/// Why there is no answer.
enum Failed {
    /// Another attempt may do better, after what the server asks to be waited.
    ForNow(ProviderError, Option<Duration>),
    ForGood(ProviderError),
}

fn is_for_now(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 409 | 425 | 429) || status.is_server_error()
}

fn said_after(error: ProviderError, times: u32, asked_for: Option<Duration>) -> ProviderError {
    let mut text = error.message;
    if times > 1 {
        text = format!("{text} (asked {times} times)");
    }
    if let Some(wait) = asked_for.filter(|wait| *wait > MOST_WAIT) {
        text = format!("{text}; it asks to be left alone for {}", shown(wait));
    }
    ProviderError::new(text)
}

pub(super) fn shown(time: Duration) -> String {
    if time.subsec_nanos() == 0 {
        format!("{} s", time.as_secs())
    } else {
        format!("{} ms", time.as_millis())
    }
}

/// The last cause, which is the system's, as a lower-case fragment.
pub(super) fn root_of(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    let text = last.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The address of a provider's interface below a base address.
///
/// # Errors
/// It is no address of a web server.
pub(super) fn base(given: &str) -> Result<Url, ProviderError> {
    let bad = |why: String| {
        ProviderError::new(format!(
            "`{given}` is not the address of a model server: {why}; write it as http://127.0.0.1:8080 \
             or https://host/v1"
        ))
    };
    let mut url = Url::parse(given).map_err(|error| bad(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("it begins neither with http:// nor with https://".into()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ProviderError::new(
            "the address of a model server holds a user name or a password: a key is given as such",
        ));
    }
    url.set_query(None);
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_shown_nowhere() {
        let key = ApiKey::new("sk-secret");
        assert_eq!(format!("{key:?}"), "ApiKey(…)");
        let url = base("http://127.0.0.1:1").unwrap();
        let network = Network::default();
        let with = |key: &str| {
            Http::new(url.clone(), &[], Some(("authorization", "", ApiKey::new(key))), network)
        };
        assert!(!format!("{:?}", with("sk-secret").unwrap()).contains("sk-secret"));
        let error = with("sk-secret\n").unwrap_err().to_string();
        assert!(!error.contains("secret") && error.contains("line breaks"), "{error}");
    }

    #[test]
    fn an_address_that_is_none_says_so() {
        for (given, part) in [
            ("127.0.0.1:8080", "not the address"),
            ("ftp://host/", "begins neither"),
            ("", "not the address"),
            ("http://user:secret@host/", "user name"),
        ] {
            let error = base(given).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("secret"), "{given}: {error}");
        }
        assert_eq!(base("http://host/v1/?a=b#c").unwrap().as_str(), "http://host/v1");
    }

    #[test]
    fn each_wait_is_longer_and_none_is_without_end() {
        let network = Network { backoff: Duration::from_millis(100), ..Network::default() };
        let http = Http::new(base("http://h").unwrap(), &[], None, network).unwrap();
        for tried in 0..20 {
            let whole = Duration::from_millis(100 << tried.min(10)).min(MOST_WAIT / 2);
            let wait = http.backoff(tried);
            assert!(wait >= whole / 2 && wait <= whole, "{tried}: {wait:?}");
        }
    }
}
