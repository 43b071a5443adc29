//! Who stands around the hooks of a session: a reviewer that learns about the user, a guardrail.

use std::path::Path;
use std::sync::Arc;

use tenter::record::Recorder;
use tenter::{ApprovalLearner, Guardrail, GuardrailRules, HookRunner, Session};
use tenter_agent::{
    FileMemory, FolderStore, Memory as _, ModelChecker, Provider, UserModelReviewer,
};

use crate::args::AgentOptions;
use crate::console::Console;
use crate::error::CliError;
use crate::world::{self, World};

/// The hooks of a session with what stands around them.
pub(super) struct Watched {
    pub(super) hooks: Arc<dyn HookRunner>,
    pub(super) learner: Arc<dyn ApprovalLearner>,
    pub(super) reviewer: Option<Arc<UserModelReviewer>>,
    /// What is known of the user.
    pub(super) known: String,
}

/// What a reviewer needs beside the hooks.
pub(super) struct Notes<'a> {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) store: Arc<FolderStore>,
    pub(super) state_home: &'a Path,
}

/// Puts around the hooks what the options ask for.
///
/// # Errors
/// The rules of the guardrail cannot be used.
pub(super) fn around(
    hooks: &Session,
    options: &AgentOptions,
    notes: Notes<'_>,
    checker: impl FnOnce() -> Result<Arc<dyn Provider>, CliError>,
    recorder: Option<Arc<dyn Recorder>>,
    world: &World,
    console: &mut Console,
) -> Result<Watched, CliError> {
    let mut watched = Watched {
        hooks: Arc::new(hooks.clone()),
        learner: Arc::new(hooks.clone()),
        reviewer: None,
        known: String::new(),
    };
    if let Some(every) = options.user_model_review {
        let memory = Arc::new(FileMemory::new(notes.state_home.join("agent/user.md")));
        match memory.text() {
            Ok(text) => watched.known = text,
            Err(error) => console.warn(&format!("the notes about you are left out: {error}")),
        }
        let Notes { provider, store, .. } = notes;
        let reviewer = UserModelReviewer::new(watched.hooks, provider, store, memory).every(every);
        let reviewer = Arc::new(reviewer);
        watched.hooks = Arc::clone(&reviewer) as Arc<dyn HookRunner>;
        watched.reviewer = Some(reviewer);
    }
    if let Some(rules) = &options.guardrail {
        let rules = guardrail_rules(rules, world)?;
        for shadowed in rules.shadowed() {
            console.warn(&shadowed);
        }
        let checker = Arc::new(ModelChecker::new(checker()?));
        let mut guardrail = Guardrail::new(watched.hooks, rules, checker).learner(watched.learner);
        if let Some(recorder) = recorder {
            guardrail = guardrail.recorder(recorder);
        }
        let guardrail = Arc::new(guardrail);
        watched.hooks = Arc::clone(&guardrail) as Arc<dyn HookRunner>;
        watched.learner = guardrail;
    }
    Ok(watched)
}

fn guardrail_rules(named: &Path, world: &World) -> Result<GuardrailRules, CliError> {
    if named == Path::new("default") {
        return Ok(GuardrailRules::standard());
    }
    let text = world::read_file_at("rules file", named, &world.cwd().join(named))
        .map_err(|error| error.hint("`--guardrail default` has rules of its own"))?;
    GuardrailRules::parse(&text).map_err(|error| {
        CliError::bad_input(format!("`{}`: {error}", named.display())).hint(
            "a rule is a `[[rule]]` with `match`, `phases`, `mode`, `on_failure` and `rubric`",
        )
    })
}
