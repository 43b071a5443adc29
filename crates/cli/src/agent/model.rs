//! Who answers for the model.

use std::sync::Arc;

use tenter_agent::{Anthropic, ApiKey, OpenAi, Provider, ProviderError, Script, ScriptedProvider};

use crate::args::{AgentOptions, ProviderName};
use crate::error::CliError;
use crate::world::{self, World};

/// What a scripted model says unless a script is named.
const SCRIPT: &str = include_str!("script.toml");

/// The model that the options name, or another one of the same provider.
///
/// # Errors
/// Its script cannot be used, it has no name, or its server no address.
pub(super) fn provider(
    options: &AgentOptions,
    other: Option<&str>,
    world: &World,
) -> Result<Arc<dyn Provider>, CliError> {
    let (variables, name) = match options.provider {
        ProviderName::Scripted => return Ok(Arc::new(scripted(options, world)?)),
        ProviderName::Openai => (["OPENAI_BASE_URL", "OPENAI_API_KEY"], "openai"),
        ProviderName::Anthropic => (["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"], "anthropic"),
    };
    if options.script.is_some() {
        return Err(CliError::usage(format!("`--script` is not for `--provider {name}`"))
            .hint("leave out one of the two"));
    }
    let Some(model) = other.or(options.model.as_deref()) else {
        return Err(CliError::usage(format!("`--provider {name}` needs to know which model"))
            .hint("name it as its server does: `--model NAME`"));
    };
    let [base_url, key] = variables.map(|name| text(world, name));
    let base_url = options.base_url.clone().or(base_url?);
    let key = key?.map(ApiKey::new);
    let built: Result<Arc<dyn Provider>, ProviderError> = match options.provider {
        ProviderName::Anthropic => {
            let mut builder = Anthropic::builder(model);
            if let Some(url) = base_url {
                builder = builder.base_url(url);
            }
            if let Some(key) = key {
                builder = builder.api_key(key);
            }
            builder.build().map(|provider| Arc::new(provider) as _)
        }
        ProviderName::Openai | ProviderName::Scripted => {
            let mut builder = OpenAi::builder(model);
            if let Some(url) = base_url {
                builder = builder.base_url(url);
            }
            if let Some(key) = key {
                builder = builder.api_key(key);
            }
            builder.build().map(|provider| Arc::new(provider) as _)
        }
    };
    built.map_err(|error| CliError::usage(error.message))
}

/// A variable that is set and not empty.
fn text(world: &World, name: &str) -> Result<Option<String>, CliError> {
    let Some(value) = world.variable(name).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    match value.to_str() {
        Some(text) => Ok(Some(text.to_owned())),
        None => Err(CliError::bad_input(format!("the variable {name} is not UTF-8"))
            .hint("set it anew, or unset it")),
    }
}

fn scripted(options: &AgentOptions, world: &World) -> Result<ScriptedProvider, CliError> {
    if options.base_url.is_some() || options.model.is_some() {
        return Err(CliError::usage("a scripted model has no server and no name")
            .hint("`--provider openai` or `--provider anthropic` asks a real one"));
    }
    let script = match &options.script {
        Some(path) => {
            let text =
                world::read_file_at("script", path, &world.cwd().join(path)).map_err(|error| {
                    error.hint("name a TOML file of turns, or leave `--script` out")
                })?;
            Script::parse(&text).map_err(|error| {
                CliError::bad_input(format!("`{}`: {error}", path.display()))
                    .hint("a script is a list of `[[turn]]`, each with `text` and `[[turn.call]]`")
            })?
        }
        None => Script::parse(SCRIPT).map_err(|error| CliError::bad_input(error.to_string()))?,
    };
    Ok(ScriptedProvider::new(script))
}
