//! A model behind a network, whatever its wire format: an address, a key, times, and a format.
//!
//! Owns what all of them have in common. What a format does in its own way is data of its [`Format`].

use futures_util::stream::BoxStream;
use serde_json::Value;

use super::exchange::{Decoder, exchange};
use super::http::{ApiKey, Http, Network, base};
use super::json_of;
use crate::provider::{Delta, Provider, ProviderError, Request};

/// A wire format, and what is usual where it is spoken.
#[derive(Debug)]
pub(super) struct Format {
    /// The provider's name.
    pub(super) name: &'static str,
    /// Where its models are unless an address is given.
    pub(super) home: &'static str,
    /// What every request says beside the key.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// The header of the key, and what stands in it before the key.
    pub(super) key: (&'static str, &'static str),
    /// The end of the address that requests go to.
    pub(super) last: &'static str,
    /// The whole path of that address, for the path of the one that was given, which does not end in a
    /// slash.
    pub(super) path: fn(&str) -> String,
    /// A request for this model as JSON, with the most tokens of an answer if somebody has said them.
    pub(super) body: fn(&str, Option<u32>, &Request) -> Value,
    /// Reads one answer.
    pub(super) answer: fn() -> Box<dyn Decoder>,
}

/// A model behind a network, see [`OpenAi`](super::OpenAi) and [`Anthropic`](super::Anthropic).
#[derive(Debug, Clone)]
pub struct NetProvider {
    format: &'static Format,
    http: Http,
    model: String,
    max_tokens: Option<u32>,
}

/// Builds a [`NetProvider`].
#[derive(Debug, Clone)]
pub struct NetProviderBuilder {
    format: &'static Format,
    model: String,
    base_url: Option<String>,
    key: Option<ApiKey>,
    max_tokens: Option<u32>,
    network: Network,
}

impl NetProvider {
    /// The models that the server says it has.
    ///
    /// # Errors
    /// It cannot be reached, or has no such list.
    pub async fn models(&self) -> Result<Vec<String>, ProviderError> {
        let mut url = self.http.url.clone();
        let path = url.path().strip_suffix(self.format.last).unwrap_or_default().to_owned();
        url.set_path(&format!("{path}models"));
        let value = json_of(&self.http.get(url).await?, "the list of models is not JSON")?;
        let data = value.get("data").and_then(Value::as_array);
        let ids = data.into_iter().flatten().filter_map(|model| model.get("id")?.as_str());
        Ok(ids.map(ToOwned::to_owned).collect())
    }

    /// The same server with another model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }
}

impl NetProviderBuilder {
    pub(super) fn new(format: &'static Format, model: String) -> Self {
        let network = Network::default();
        Self { format, model, base_url: None, key: None, max_tokens: None, network }
    }

    /// The server, unless it is the provider's own.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// The key; a server of one's own may need none.
    #[must_use]
    pub fn api_key(mut self, key: ApiKey) -> Self {
        self.key = Some(key);
        self
    }

    /// The most tokens of one answer.
    #[must_use]
    pub fn max_tokens(mut self, most: u32) -> Self {
        self.max_tokens = Some(most);
        self
    }

    /// How long the server is waited for, and how often it is asked.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// The provider.
    ///
    /// # Errors
    /// The address is none, or the key is not one.
    pub fn build(self) -> Result<NetProvider, ProviderError> {
        let format = self.format;
        let mut url = base(self.base_url.as_deref().unwrap_or(format.home))?;
        url.set_path(&(format.path)(url.path().trim_end_matches('/')));
        let (header, before) = format.key;
        let key = self.key.map(|key| (header, before, key));
        let http = Http::new(url, format.headers, key, self.network)?;
        Ok(NetProvider { format, http, model: self.model, max_tokens: self.max_tokens })
    }
}

impl Provider for NetProvider {
    fn name(&self) -> &'static str {
        self.format.name
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn stream(&self, request: Request) -> BoxStream<'_, Result<Delta, ProviderError>> {
        let body = (self.format.body)(&self.model, self.max_tokens, &request).to_string();
        exchange(&self.http, body, (self.format.answer)())
    }
}
