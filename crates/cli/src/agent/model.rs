//! Who answers for the model.

use std::sync::Arc;

use tenter_agent::{Provider, Script, ScriptedProvider};

use crate::args::{AgentOptions, ProviderName};
use crate::error::CliError;
use crate::world::{self, World};

/// What a scripted model says unless a script is named.
const SCRIPT: &str = include_str!("script.toml");

/// The model that the options name.
///
/// # Errors
/// Its script cannot be used.
pub(super) fn provider(
    options: &AgentOptions,
    _model: Option<&str>,
    world: &World,
) -> Result<Arc<dyn Provider>, CliError> {
    match options.provider {
        ProviderName::Scripted => {
            let script = match &options.script {
                Some(path) => {
                    let text = world::read_file_at("script", path, &world.cwd().join(path))
                        .map_err(|error| {
                            error.hint("name a TOML file of turns, or leave `--script` out")
                        })?;
                    Script::parse(&text).map_err(|error| {
                        CliError::bad_input(format!("`{}`: {error}", path.display()))
                            .hint("a script is a list of `[[turn]]`, each with `text` and `[[turn.call]]`")
                    })?
                }
                None => {
                    Script::parse(SCRIPT).map_err(|error| CliError::bad_input(error.to_string()))?
                }
            };
            Ok(Arc::new(ScriptedProvider::new(script)))
        }
    }
}
