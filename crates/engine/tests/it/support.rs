//! What the tests of the engine share: hooks as values, and ways to look at outcomes.

use std::sync::Arc;

use tenter::core::hook::{Command, CommandLine, Handler, Hook, Level, Source};
use tenter::core::json::Json;
use tenter::{Event, EventKind, HookReport, Outcome, Verdict};
use tenter_testkit::scripted_hook;

/// A hook that gives a fixed answer before a tool runs.
pub(crate) fn reply(name: &str, verdict: Verdict) -> Hook {
    reply_on(EventKind::PreToolUse, name, verdict)
}

/// A hook that gives a fixed answer to any event.
pub(crate) fn reply_on(kind: EventKind, name: &str, verdict: Verdict) -> Hook {
    Hook::new(name, Source::code("test"), vec![kind], Handler::Reply(Box::new(verdict)))
}

/// A hook that is a process of the scripted program.
pub(crate) fn scripted(name: &str, words: &[&str]) -> Hook {
    let mut argv = vec![scripted_hook().to_string_lossy().into_owned()];
    argv.extend(words.iter().map(|word| (*word).to_owned()));
    command(name, CommandLine::Argv(argv))
}

/// A hook that is a text for the shell.
pub(crate) fn shell(name: &str, text: &str) -> Hook {
    command(name, CommandLine::Shell(text.to_owned()))
}

fn command(name: &str, line: CommandLine) -> Hook {
    let command = Command {
        line,
        shell: None,
        env: Vec::new(),
        cwd: tenter::core::hook::Cwd::Project,
        leftovers: tenter::core::hook::Leftovers::Leave,
        scripts: Vec::new(),
        base: None,
    };
    let handler = Handler::Command(Box::new(command));
    Hook::new(name, Source::code("test"), vec![EventKind::PreToolUse], handler)
}

/// The same hook with other settings.
pub(crate) fn with(mut hook: Hook, edit: impl FnOnce(&mut Hook)) -> Hook {
    edit(&mut hook);
    hook
}

/// The same hook at another level.
pub(crate) fn at(level: Level, hook: Hook) -> Hook {
    with(hook, |hook| hook.source.level = level)
}

/// A rewrite of top-level keys.
pub(crate) fn patch(json: &str) -> Verdict {
    let fields = Json::parse(json).unwrap().to_fields().unwrap();
    Verdict::none().with_rewrite(tenter::core::verdict::Rewrite::Patch(fields))
}

/// A call of Bash.
pub(crate) fn bash(command: &str) -> Event {
    let input = serde_json::json!({ "command": command });
    Event::pre_tool("Bash", input.into())
}

/// The report of a hook.
pub(crate) fn report<'a>(outcome: &'a Outcome, name: &str) -> &'a HookReport {
    outcome.hooks.iter().find(|report| report.hook.name == name).unwrap()
}

/// The effective payload as text, where it was rewritten.
pub(crate) fn rewritten(outcome: &Outcome) -> Option<String> {
    outcome.rewritten.as_ref().map(ToString::to_string)
}

/// An engine on hooks alone.
pub(crate) fn engine(hooks: impl IntoIterator<Item = Hook>) -> tenter::Engine {
    hooks.into_iter().fold(builder(), tenter::EngineBuilder::hook).build()
}

/// A builder with the environment that processes need.
pub(crate) fn builder() -> tenter::EngineBuilder {
    let path = std::env::var_os("PATH").unwrap_or_default();
    tenter::Engine::builder().environment([("PATH".into(), path)]).project("/tmp")
}

/// The statuses of all hooks, as words.
pub(crate) fn statuses(outcome: &Outcome) -> Vec<&'static str> {
    outcome
        .hooks
        .iter()
        .map(|report| match report.status {
            tenter::Status::Skipped(skip) => skip.as_str(),
            tenter::Status::Failed(failure) => failure.as_str(),
            other => other.as_str(),
        })
        .collect()
}

/// A value behind an Arc, for hooks that count.
pub(crate) fn counter() -> Arc<std::sync::atomic::AtomicUsize> {
    Arc::default()
}

/// Runs one ignored test in a process of its own and gives what it printed: for tests that look at
/// the whole process, its memory or its children.
pub(crate) fn run_alone(name: &str) -> String {
    let this = std::env::current_exe().unwrap();
    let output = std::process::Command::new(this)
        .args(["--exact", name, "--nocapture", "--ignored"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "there is no test `{name}`: {text}");
    text
}
