//! Hooks that are processes: from the entry to a started child, and from its end to an answer.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use tenter_core::diagnostic::Diagnostic;
use tenter_core::event::Event;
use tenter_core::hook::{self, CommandLine, Hook};
use tenter_core::outcome::{Failure, ProcessReport};
use tenter_core::profile::MissingFile;
use tenter_hosts::codec::{About, Exit, Failed, Ran};
use tenter_process::{Command, Ended, Leftovers, Limits, StartError, Stopped, run as run_process};
use tokio::runtime::Handle;

use crate::config::command::{CommandContext, ResolvedCommand, resolve};
use crate::environment::EventVariables;
use crate::fire::{Answer, Bounds, Fire};

/// Runs a command hook on one event; `index` is its place in the table, `line` what it reads.
pub(crate) async fn run(
    fire: &Fire<'_>,
    index: usize,
    hook: &Hook,
    handler: &hook::Command,
    event: &Event,
    line: Arc<[u8]>,
) -> Answer {
    let snapshot = fire.snapshot;
    if Handle::try_current().is_err() {
        return Answer::failed(
            Failure::Start,
            "a process can only be waited for inside a tokio runtime",
        );
    }
    let (session_cwd, stand_in) = existing_cwd(&event.origin.cwd, Path::new(&snapshot.places.cwd));
    let context = CommandContext {
        home: &snapshot.home,
        project: &snapshot.project,
        session_cwd: &session_cwd,
        placeholders: &snapshot.placeholders,
    };
    let mut resolved = match resolve(handler, &context) {
        Ok(resolved) => resolved,
        Err(error) => return Answer::failed(Failure::Config, error.to_string()),
    };
    if !snapshot.host.profile.needs_exec_bit && matches!(handler.line, CommandLine::Shell(_)) {
        resolved.run_without_exec_bit();
    }
    // Permits bound processes only. A function that fires an event of its own holds none, so it
    // cannot wait for itself.
    let permit = tokio::select! {
        biased;
        () = fire.cx.cancel.cancelled() => return Answer::cancelled(),
        permit = snapshot.permits.acquire() => permit,
        () = until(fire.deadline) => {
            let failed = Bounds::of(fire, hook).timed_out();
            return Answer { failed: Some(failed), ..Answer::default() };
        }
    };
    // Looked at last of all: what a hook is made of may change while it waits for its turn.
    if let Err(changed) = snapshot.scripts.check(index) {
        let trust = snapshot.host.profile.trust_command;
        let reason = format!("{changed}; look at it, then run `{trust}`");
        return Answer::failed(Failure::Trust, reason);
    }
    let missing = resolved.missing().map(|missing| {
        let (role, path) = (missing.role.as_str(), missing.path.display());
        format!("its {role} `{}` does not exist ({path})", missing.written)
    });
    let missing = match (missing, snapshot.host.profile.missing_file) {
        (Some(missing), MissingFile::Fails) => return Answer::failed(Failure::Start, missing),
        (missing, _) => missing,
    };
    let stdin = Arc::clone(&line);
    let bounds = Bounds::of(fire, hook);
    let command = build(fire, hook, handler, event, &resolved, line, &bounds);
    let ended = run_process(&command, &fire.cx.cancel).await;
    drop(permit);
    let mut answer = match ended {
        Ok(ended) => judge(fire, hook, event, &resolved, ended, stdin, &bounds),
        Err(error) => start_failure(&error),
    };
    if let Some(missing) = missing {
        answer.diagnostics.push(
            Diagnostic::warning("process.missing-file", missing)
                .help("write the file, or mend the path"),
        );
    }
    answer.diagnostics.extend(stand_in);
    answer
}

/// Waits for a moment, or for ever if there is none.
async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

/// The directory of the event, or the one that stands in for it where it does not exist here.
fn existing_cwd(cwd: &str, own: &Path) -> (PathBuf, Option<Diagnostic>) {
    if cwd.is_empty() {
        return (own.to_owned(), None);
    }
    if Path::new(cwd).is_dir() {
        return (PathBuf::from(cwd), None);
    }
    let note = Diagnostic::info(
        "event.cwd",
        format!(
            "the event's directory `{cwd}` does not exist here; {} stands in for it",
            own.display()
        ),
    );
    (own.to_owned(), Some(note))
}

fn build(
    fire: &Fire<'_>,
    hook: &Hook,
    handler: &hook::Command,
    event: &Event,
    resolved: &ResolvedCommand,
    line: Arc<[u8]>,
    bounds: &Bounds,
) -> Command {
    let mut env = fire.snapshot.environment.of_level(hook.source.level).clone();
    let variables = EventVariables {
        event: event.kind.name(),
        session_id: &event.origin.session_id,
        project: &fire.snapshot.project,
        cwd: std::ffi::OsStr::new(&event.origin.cwd),
        tool_name: event.tool_name(),
    };
    let about = About { event, project: fire.snapshot.project.as_os_str() };
    let of_host = fire.snapshot.host.codec.variables(&about).into_iter();
    let of_host = of_host.map(|(name, value)| (OsString::from(name), value));
    // What speaks of the event is the host's to say, whatever stands in the entry.
    let spoken_for = fire.snapshot.host.profile.event_variables;
    let is_free = |(name, _): &&(OsString, OsString)| !spoken_for.iter().any(|own| name == own);
    let of_entry = resolved.env.iter().filter(is_free).cloned();
    for (name, value) in variables.variables(of_host.chain(of_entry)) {
        env.set(name, value);
    }
    Command {
        args: resolved.args.clone(),
        stdin: line,
        limits: Limits { timeout: bounds.timeout, ..Limits::default() },
        leftovers: match handler.leftovers {
            hook::Leftovers::Leave => Leftovers::Leave,
            hook::Leftovers::Kill => Leftovers::Kill,
        },
        cgroups: fire.snapshot.cgroups.clone(),
        ..Command::new(resolved.program.clone(), resolved.cwd.clone(), env)
    }
}

/// Lets the codec say what the end of a process means.
fn judge(
    fire: &Fire<'_>,
    hook: &Hook,
    event: &Event,
    resolved: &ResolvedCommand,
    ended: Ended,
    stdin: Arc<[u8]>,
    bounds: &Bounds,
) -> Answer {
    let stopped = match ended.stopped {
        Some(Stopped::Deadline) => Some(Failure::Timeout),
        Some(Stopped::OutputLimit { .. }) => Some(Failure::OutputLimit),
        Some(Stopped::Cancelled) => Some(Failure::Signal),
        None => None,
    };
    let exit = match ended.exit {
        tenter_process::Exit::Code(code) => Exit::Code(code),
        tenter_process::Exit::Signal(signal) => Exit::Signal(signal),
        tenter_process::Exit::Lost => Exit::Lost,
    };
    let ran = Ran {
        exit,
        stopped,
        stdout: &ended.stdout,
        stderr: &ended.stderr,
        own_names: &resolved.own_names,
    };
    let decoded = fire.snapshot.host.codec.decode(&ran, &event.kind, fire.contract);
    let mut answer = Answer::of(decoded.verdict);
    answer.diagnostics = decoded.diagnostics;
    answer.duration = ended.duration;
    match ended.stopped {
        Some(Stopped::Cancelled) => answer.cancelled = true,
        Some(Stopped::Deadline) => answer.failed = Some(bounds.timed_out()),
        _ => answer.failed = decoded.failed,
    }
    if let Some(reason) = decoded.unclear
        && answer.failed.is_none()
        && !answer.cancelled
        && hook.on_failure.is_some()
    {
        answer.failed = Some(Failed { failure: Failure::Output, reason });
    }
    describe_leftovers(hook, &ended, &mut answer);
    let (exit_code, signal) = match exit {
        Exit::Code(code) => (Some(code), None),
        Exit::Signal(signal) => (None, Some(signal)),
        Exit::Lost => (None, None),
    };
    answer.process = Some(ProcessReport {
        exit_code,
        signal,
        contained_by: ended.contained_by.as_str(),
        left: ended.left.iter().map(|left| format!("{} ({})", left.name, left.pid)).collect(),
        stdin: Some(stdin),
        stdout: ended.stdout,
        stderr: ended.stderr,
    });
    answer
}

fn describe_leftovers(hook: &Hook, ended: &Ended, answer: &mut Answer) {
    if ended.held && ended.stopped.is_none() {
        answer.diagnostics.push(
            Diagnostic::warning(
                "process.pipe-held",
                format!("a process that hook `{}` left behind still holds its output", hook.name),
            )
            .help("send its output elsewhere (`>/dev/null 2>&1 &`), or set `leftovers = \"kill\"`"),
        );
    }
    for note in &ended.notes {
        answer.diagnostics.push(Diagnostic::info("process.note", note.clone()));
    }
}

fn start_failure(error: &StartError) -> Answer {
    Answer::failed(Failure::Start, error.to_string())
}
