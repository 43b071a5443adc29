//! Who answers for the model.

use std::sync::Arc;

use tenter_agent::{Anthropic, ApiKey, OpenAi, Provider, ProviderError, Script, ScriptedProvider};

use crate::args::{AgentOptions, ProviderName};
use crate::error::CliError;
use crate::runtime;
use crate::world::{self, World};

/// What a scripted model says unless a script is named.
const SCRIPT: &str = include_str!("script.toml");

/// The name of a model whose server does not say it: most of those that have one take any.
const UNNAMED: &str = "default";

/// The model that the options name, or another one of the same provider.
///
/// # Errors
/// Its script cannot be used, it has no name, or its server no address.
pub(super) fn provider(
    options: &AgentOptions,
    other: Option<&str>,
    world: &World,
) -> Result<Arc<dyn Provider>, CliError> {
    let model = other.or(options.model.as_deref());
    let named = model.unwrap_or(UNNAMED);
    let (mut builder, variables, name) = match options.provider {
        ProviderName::Scripted => return Ok(Arc::new(scripted(options, world)?)),
        ProviderName::Openai => {
            (OpenAi::builder(named), ["OPENAI_BASE_URL", "OPENAI_API_KEY"], "openai")
        }
        ProviderName::Anthropic => {
            (Anthropic::builder(named), ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"], "anthropic")
        }
    };
    if options.script.is_some() {
        return Err(CliError::usage(format!("`--script` is not for `--provider {name}`"))
            .hint("leave out one of the two"));
    }
    let [base_url, key] = variables.map(|name| text(world, name));
    let base_url = options.base_url.clone().or(base_url?);
    let key = key?.map(ApiKey::new);
    if model.is_none() && base_url.is_none() {
        return Err(which(name, &[]));
    }
    if let Some(url) = base_url {
        builder = builder.base_url(url);
    }
    if let Some(key) = key {
        builder = builder.api_key(key);
    }
    let mut provider = builder.build().map_err(|error| CliError::usage(error.message))?;
    if model.is_none() {
        let one = the_one(name, provider.models())?;
        provider = provider.with_model(one);
    }
    Ok(Arc::new(provider))
}

fn which(provider: &str, models: &[String]) -> CliError {
    let error = CliError::usage(format!("`--provider {provider}` needs to know which model"));
    if models.is_empty() {
        return error.hint("name it as its server does: `--model NAME`");
    }
    let most = models.len().min(20);
    let more = if models.len() > most { ", …" } else { "" };
    error.hint(format!("name one with `--model`: {}{more}", models[..most].join(", ")))
}

/// The model of a server that has one, or does not say what it has.
fn the_one(
    provider: &str,
    models: impl Future<Output = Result<Vec<String>, ProviderError>>,
) -> Result<String, CliError> {
    let models = runtime::current_thread()?.block_on(models).unwrap_or_default();
    match models.as_slice() {
        [] => Ok(UNNAMED.into()),
        [one] => Ok(one.clone()),
        several => Err(which(provider, several)),
    }
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
