//! A model that says what its script says: deterministic, without a network.
//!
//! A script is a list of turns, each for the main agent, for every agent of a kind, or for one agent
//! by its id. An agent's next turn is the first one left that is for it.

use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use serde::Deserialize;
use tenter::Json;

use crate::message::ToolCall;
use crate::provider::{Delta, Provider, ProviderError, Request};
use crate::stream::{Who, lock};

/// Why a script cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the script is not valid: {0}")]
pub struct ScriptError(String);

/// What a scripted model says.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Whether an agent whose turns are used up hears its last one again.
    #[serde(default)]
    repeat_last: bool,
    #[serde(default, rename = "turn")]
    turns: Vec<Turn>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    #[serde(default = "main_agent")]
    agent: String,
    #[serde(default)]
    text: Texts,
    #[serde(default, rename = "call")]
    calls: Vec<Call>,
    /// The model fails with this text after what it has said.
    error: Option<String>,
    /// The model never finishes its answer.
    #[serde(default)]
    hang: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Many(Vec<String>),
}

impl Default for Texts {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    input: Option<toml::Table>,
    /// The input as JSON text, for what TOML cannot say.
    input_json: Option<String>,
}

fn main_agent() -> String {
    "main".into()
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// It is no TOML, has a key that no script has, or an input that is no JSON object.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let script: Self =
            toml::from_str(text).map_err(|error| ScriptError(error.to_string().trim().into()))?;
        for call in script.turns.iter().flat_map(|turn| &turn.calls) {
            call.input()?;
        }
        Ok(script)
    }
}

impl Call {
    fn input(&self) -> Result<Json, ScriptError> {
        let bad =
            |why: String| ScriptError(format!("the input of a call of `{}` {why}", self.tool));
        match (&self.input, &self.input_json) {
            (Some(_), Some(_)) => Err(bad("is given twice: keep `input` or `input_json`".into())),
            (Some(table), None) => Ok(Json::from_serialize(table)),
            (None, Some(text)) => {
                Json::parse(text).map_err(|error| bad(format!("is not JSON: {error}")))
            }
            (None, None) => Ok(Json::empty_object()),
        }
    }
}

impl Turn {
    fn is_for(&self, who: &Who) -> bool {
        self.agent == who.id || self.agent == who.kind
    }

    fn deltas(&self) -> Vec<Result<Delta, ProviderError>> {
        let texts = match &self.text {
            Texts::One(text) => std::slice::from_ref(text),
            Texts::Many(texts) => texts,
        };
        let texts = texts.iter().map(|text| Ok(Delta::Text(text.clone())));
        let calls = self.calls.iter().map(|call| {
            let input = call.input().map_err(|error| ProviderError::new(error.to_string()))?;
            Ok(Delta::Call(ToolCall { id: call.id.clone(), name: call.tool.clone(), input }))
        });
        let error = self.error.iter().map(|error| Err(ProviderError::new(error.clone())));
        texts.chain(calls).chain(error).collect()
    }
}

/// A [`Provider`] that follows a [`Script`], and keeps what it was asked.
#[derive(Debug, Clone)]
pub struct ScriptedProvider {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    script: Script,
    used: Vec<bool>,
    log: Vec<Request>,
}

impl ScriptedProvider {
    /// A model with this script.
    pub fn new(script: Script) -> Self {
        let used = vec![false; script.turns.len()];
        Self { state: Arc::new(Mutex::new(State { script, used, log: Vec::new() })) }
    }

    /// Everything that the model was asked so far, in order.
    pub fn log(&self) -> Vec<Request> {
        lock(&self.state).log.clone()
    }
}

impl State {
    fn next(&mut self, who: &Who) -> Option<Turn> {
        let mine = |turn: &Turn| turn.is_for(who);
        let turns = self.script.turns.iter().zip(&mut self.used);
        let mut left = turns.filter(|(turn, used)| mine(turn) && !**used);
        if let Some((turn, used)) = left.next() {
            *used = true;
            return Some(turn.clone());
        }
        let last = self.script.turns.iter().rfind(|turn| mine(turn));
        last.filter(|_| self.script.repeat_last).cloned()
    }
}

impl Provider for ScriptedProvider {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn model(&self) -> &'static str {
        "script"
    }

    fn stream(&self, request: Request) -> BoxStream<'_, Result<Delta, ProviderError>> {
        let mut state = lock(&self.state);
        let turn = state.next(&request.agent);
        let who = request.agent.clone();
        state.log.push(request);
        drop(state);
        let Some(turn) = turn else {
            let message = format!(
                "the script has no more turns for the agent `{}` of kind `{}`: add a `[[turn]]` \
                 for it",
                who.id, who.kind
            );
            return stream::iter([Err(ProviderError::new(message))]).boxed();
        };
        let deltas = stream::iter(turn.deltas());
        if turn.hang { deltas.chain(stream::pending()).boxed() } else { deltas.boxed() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_cannot_be_used_says_where() {
        for (text, part) in [
            ("[[turn]]\ntxt = \"a\"", "unknown field `txt`"),
            ("[[turn]]\n[[turn.call]]\ntool = \"Bash\"\ninput_json = \"{\"", "is not JSON"),
            ("[[turn]]\n[[turn.call]]\ntool = \"B\"\ninput = {}\ninput_json = \"{}\"", "twice"),
        ] {
            let error = Script::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn each_agent_has_its_own_turns() {
        let script = "[[turn]]\ntext = \"1\"\n[[turn]]\nagent = \"helper\"\ntext = \"h\"\n\
                      [[turn]]\ntext = \"2\"";
        let provider = ScriptedProvider::new(Script::parse(script).unwrap());
        let helper = Who { id: "agent-1".into(), kind: "helper".into(), depth: 1 };
        let say = |who: &Who| {
            let turn = lock(&provider.state).next(who)?;
            turn.deltas().first().cloned().map(Result::unwrap)
        };
        let text = |text: &str| Some(Delta::Text(text.into()));
        assert_eq!(say(&Who::main()), text("1"));
        assert_eq!(say(&helper), text("h"));
        assert_eq!(say(&Who::main()), text("2"));
        assert_eq!(say(&helper), None);
    }
}
