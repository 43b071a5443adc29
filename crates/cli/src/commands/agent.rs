//! `tenter agent`: a session with the agent, a stored one again, and the list of those.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tenter::core::exit_code::{DENIED, FAILED, HALTED, PROCEED};
use tenter_agent::{Agent, Status, Store as _, StoreError, UserModelReviewer};
use tokio::signal::unix::SignalKind;

use crate::agent::{self, Desk, Parts, Typed, View};
use crate::args::{AgentAction, AgentArgs, AgentListArgs, AgentOptions, AgentResumeArgs};
use crate::console::Console;
use crate::error::CliError;
use crate::render::sessions;
use crate::world::{self, World};
use crate::{runtime, setup, signals};

/// How long what runs behind the agent may take at the end.
const GRACE: Duration = Duration::from_secs(5);
/// How long what is learnt about the user may take to be noted at the end.
const REVIEW: Duration = Duration::from_secs(30);

/// Runs the command.
pub(crate) fn run(args: &AgentArgs, world: &World, console: &mut Console) -> Result<u8, CliError> {
    match &args.action {
        None => session(None, args.prompt.as_deref(), &args.options, world, console),
        Some(AgentAction::Resume(args)) => {
            let AgentResumeArgs { id, prompt, options } = &**args;
            session(Some(id), prompt.as_deref(), options, world, console)
        }
        Some(AgentAction::List(args)) => list(args, world, console),
    }
}

fn list(args: &AgentListArgs, world: &World, console: &mut Console) -> Result<u8, CliError> {
    let places = setup::places(None, None, world)?;
    let mut found = agent::store(&places).list().map_err(|error| not_kept(&error))?;
    if !args.all {
        // Where a damaged one belongs is not known.
        found.retain(|it| it.damaged.is_some() || Path::new(&it.cwd) == world.cwd());
    }
    if args.json {
        console.out(&sessions::json(&found));
    } else if found.is_empty() {
        console.err("no session was kept here\n");
        console.hint("`tenter agent` begins one; `--all` shows those of other folders");
    } else {
        let width = console.width();
        console.out(&sessions::draw(&found, args.all, width));
    }
    Ok(PROCEED)
}

fn not_kept(error: &StoreError) -> CliError {
    match error {
        StoreError::Missing { .. } => CliError::no_such_file(error.to_string())
            .hint("`tenter agent list --all` shows what was kept"),
        StoreError::Busy { .. } => {
            CliError::bad_input(error.to_string()).hint("end the other one first")
        }
        StoreError::Damaged { path, line, .. } => {
            let path = path.display();
            let error = CliError::bad_input(error.to_string());
            if *line == 1 {
                return error.hint(format!("nothing of it can be used: remove `{path}`"));
            }
            error.hint(format!(
                "to go on from what was kept before that, keep the lines before it: \
                 `head -n {} {path}`",
                line - 1
            ))
        }
        _ => CliError::bad_input(error.to_string()),
    }
}

fn session(
    resumed: Option<&str>,
    prompt: Option<&str>,
    options: &AgentOptions,
    world: &World,
    console: &mut Console,
) -> Result<u8, CliError> {
    let interactive = prompt.is_none() && world::can_ask();
    let prompt = match prompt {
        Some(prompt) => Some(prompt.to_owned()),
        None if interactive => None,
        None => Some(world::read_stdin()?),
    };
    if prompt.as_ref().is_some_and(|prompt| prompt.trim().is_empty()) {
        return Err(CliError::usage("the prompt is empty: there is nothing to do")
            .hint("name it, `tenter agent 'Fix the tests'`, or write it to stdin"));
    }
    let places = setup::places(options.config.project.project.as_deref(), None, world)?;
    let store = Arc::new(agent::store(&places));
    let id = match resumed {
        Some(id) => agent::named_or_last(id, &agent::folder(&places, options), &store)?,
        None => agent::new_id(),
    };
    if resumed.is_some() {
        // Nothing is made for a session that is not there.
        store.load(&id).map_err(|error| not_kept(&error))?;
    }
    let parts = agent::parts(options, &id, store, &places, world, console)?;
    // What a tool starts and then leaves is found again, however far it went.
    let _ = tenter::become_subreaper();
    let work = work(parts, resumed.is_some(), prompt.as_deref(), options, console);
    runtime::current_thread()?.block_on(work)
}

async fn work(
    parts: Parts,
    resumed: bool,
    prompt: Option<&str>,
    options: &AgentOptions,
    console: &mut Console,
) -> Result<u8, CliError> {
    let Parts { builder, hooks, reviewer, events, questions } = parts;
    let lines = (prompt.is_none() || world::can_ask()).then(world::lines);
    let mut agent =
        if resumed { builder.resume().map_err(|error| not_kept(&error))? } else { builder.start() };
    let id = agent.session_id().to_owned();
    let mut desk = Desk::new(console, View::new(options.json), events, questions, lines);
    let code = match prompt {
        Some(prompt) => {
            let end = desk.turn(&mut agent, prompt).await;
            exit_code(end.status)
        }
        None => talk(&mut desk, &mut agent).await,
    };
    let reason = if prompt.is_some() { "other" } else { "prompt_input_exit" };
    let mut unseen = desk.end(agent, reason, GRACE).await;
    let behind = hooks.finish(GRACE).await;
    unseen += behind.ended + behind.dropped;
    if let Some(reviewer) = reviewer {
        tell_of_reviews(&reviewer, &mut desk).await;
    }
    if unseen > 0 {
        let text = format!("{unseen} events behind the agent were not seen through by their hooks");
        desk.console().warn(&text);
    }
    let ended_by = desk.ended_by();
    if prompt.is_none() {
        desk.console().hint(&format!("`tenter agent resume {id}` goes on with this session"));
    }
    Ok(ended_by.map_or(code, signals::exit_code_of))
}

/// Waits for the reviews that run, and says what could not be done.
async fn tell_of_reviews(reviewer: &UserModelReviewer, desk: &mut Desk<'_>) {
    let cut_off = reviewer.finish(REVIEW).await;
    let reviews = reviewer.reviews();
    if cut_off > 0 || reviews.failed > 0 {
        let why = reviews.last_failure.unwrap_or_else(|| "it took too long".into());
        desk.console().warn(&format!("what was learnt about you was not all noted: {why}"));
    }
}

/// One turn after the other, until the person has had enough.
async fn talk(desk: &mut Desk<'_>, agent: &mut Agent) -> u8 {
    loop {
        match desk.prompt().await {
            Typed::Prompt(prompt) => {
                desk.turn(agent, &prompt).await;
            }
            Typed::Compact(wishes) => desk.compact(agent, &wishes).await,
            Typed::End => return PROCEED,
        }
    }
}

/// How the program exits after a turn.
fn exit_code(status: Status) -> u8 {
    match status {
        Status::Complete => PROCEED,
        Status::Refused => DENIED,
        Status::Halted => HALTED,
        Status::Cancelled => signals::exit_code_of(SignalKind::interrupt()),
        Status::Error | Status::Limit => FAILED,
    }
}
