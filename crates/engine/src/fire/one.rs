//! One hook and one event: what it is shown, how it is run, what its answer is.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use tenter_core::contract::{OnFailure, Rewrites};
use tenter_core::diagnostic::Diagnostic;
use tenter_core::event::{Event, Payload};
use tenter_core::hook::{Handler, Hook};
use tenter_core::json::Json;
use tenter_core::outcome::{Failure, ProcessReport, Status};
use tenter_core::profile::Profile;
use tenter_core::verdict::{Decision, Verdict};
use tenter_core::views::{Capped, cap_payload, cap_tool_input, restore_rewrite};
use tenter_hosts::codec::{Failed, Shown};

use crate::fire::{Facts, Fire};
use crate::function::panic_text;
use crate::handlers::{command, in_process};

/// An event with what hooks read of it, written at most once whoever asks.
pub(crate) struct Wire<'a> {
    event: &'a Event,
    facts: &'a Facts<'a>,
    line: OnceLock<Arc<[u8]>>,
}

impl<'a> Wire<'a> {
    pub(crate) fn new(event: &'a Event, facts: &'a Facts<'a>) -> Self {
        Self { event, facts, line: OnceLock::new() }
    }

    fn line(&self, fire: &Fire<'_>) -> Arc<[u8]> {
        let encode = || {
            let shown = Shown { paths: self.facts.payload_paths(), truncated: &[] };
            fire.snapshot.host.codec.encode(self.event, &shown).into()
        };
        Arc::clone(self.line.get_or_init(encode))
    }
}

/// What a hook is asked.
pub(crate) enum Asked<'a> {
    /// The event as it came, with the bytes that all hooks share.
    Borrowed(&'a Event, &'a Wire<'a>),
    /// The event with the rewrites of hooks before it, and the paths in it.
    Owned(Box<Event>, Vec<String>),
}

impl Asked<'_> {
    fn event(&self) -> &Event {
        match self {
            Self::Borrowed(event, _) => event,
            Self::Owned(event, _) => event,
        }
    }

    fn line(&self, fire: &Fire<'_>) -> Arc<[u8]> {
        match self {
            Self::Borrowed(_, wire) => wire.line(fire),
            Self::Owned(event, paths) => {
                fire.snapshot.host.codec.encode(event, &Shown { paths, truncated: &[] }).into()
            }
        }
    }

    fn paths(&self) -> &[String] {
        match self {
            Self::Borrowed(_, wire) => wire.facts.payload_paths(),
            Self::Owned(_, paths) => paths,
        }
    }
}

/// What became of one hook's run.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    pub(crate) failed: Option<Failed>,
    pub(crate) cancelled: bool,
    /// Whether its failure holds nothing up here, whatever its policy.
    pub(crate) waived: bool,
    pub(crate) process: Option<ProcessReport>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The payload that it saw, where that was not the original.
    pub(crate) saw: Option<Json>,
    pub(crate) duration: Duration,
}

impl Answer {
    pub(crate) fn of(verdict: Verdict) -> Self {
        Self { verdict, ..Self::default() }
    }

    pub(crate) fn failed(failure: Failure, reason: impl Into<String>) -> Self {
        Self { failed: Some(Failed { failure, reason: reason.into() }), ..Self::default() }
    }

    pub(crate) fn panicked(text: &str) -> Self {
        Self::failed(Failure::Panic, format!("it panicked: {text}"))
    }

    pub(crate) fn cancelled() -> Self {
        Self { cancelled: true, ..Self::default() }
    }

    pub(crate) fn status(&self) -> Status {
        match &self.failed {
            _ if self.cancelled => Status::Cancelled,
            Some(failed) => Status::Failed(failed.failure),
            None => Status::Ok,
        }
    }

    /// What a function of this program said, or how it panicked.
    pub(crate) fn of_call(called: Result<Verdict, String>) -> Self {
        match called {
            Ok(verdict) => Self::of(verdict),
            Err(panic) => Self::panicked(&panic),
        }
    }

    /// Whether there is anything to write into a report.
    pub(crate) fn counts_or_tells(&self) -> bool {
        self.counts() || !self.diagnostics.is_empty()
    }

    /// Whether the merge has to hear of it.
    pub(crate) fn counts(&self) -> bool {
        self.cancelled || self.failed.is_some() || !self.verdict.is_silent()
    }
}

/// How long a hook may take that nobody waits for, unless it says otherwise.
const DETACHED: Duration = Duration::from_secs(5);

/// What bounds one run: when it has to be over, and why.
pub(crate) struct Bounds {
    /// How long it may take from now.
    pub(crate) timeout: Duration,
    /// Whether that is the caller's deadline instead of the hook's own time.
    pub(crate) by_caller: bool,
}

impl Bounds {
    pub(crate) fn of(fire: &Fire<'_>, hook: &Hook) -> Self {
        let own = hook.timeout.unwrap_or(if hook.detach {
            fire.contract.timeout.min(DETACHED)
        } else {
            fire.contract.timeout
        });
        let left = fire.deadline.map(|at| at.saturating_duration_since(Instant::now()));
        match left {
            Some(left) if left < own => Self { timeout: left, by_caller: true },
            _ => Self { timeout: own, by_caller: false },
        }
    }

    /// The failure of a hook whose time was up.
    pub(crate) fn timed_out(&self) -> Failed {
        let time = format_duration(self.timeout);
        let reason = if self.by_caller {
            format!("it was not done when the caller's time was up (after {time})")
        } else {
            format!("it took longer than {time}")
        };
        Failed { failure: Failure::Timeout, reason }
    }
}

fn format_duration(duration: Duration) -> String {
    let ms = duration.as_millis();
    if ms != 0 && ms.is_multiple_of(1000) { format!("{} s", ms / 1000) } else { format!("{ms} ms") }
}

/// Runs one hook. `at` is its place among the hooks of this event, `index` in the table.
pub(crate) async fn run(
    fire: &Fire<'_>,
    at: usize,
    index: usize,
    hook: Arc<Hook>,
    asked: Asked<'_>,
) -> (usize, Answer) {
    let started = Instant::now();
    // Whatever goes wrong in here is this hook's failure and nobody else's.
    let run = AssertUnwindSafe(run_handler(fire, index, &hook, &asked)).catch_unwind();
    let mut answer = run.await.unwrap_or_else(|panic| Answer::panicked(&panic_text(panic)));
    if let Asked::Owned(event, _) = &asked {
        answer.saw = event.rewritable(fire.contract.rewrites);
    }
    if answer.duration.is_zero() {
        answer.duration = started.elapsed();
    }
    (at, answer)
}

async fn run_handler(fire: &Fire<'_>, index: usize, hook: &Hook, asked: &Asked<'_>) -> Answer {
    if let Some(reason) = &hook.failed {
        return Answer::failed(Failure::Trust, reason.clone());
    }
    let view = match view_of(fire, hook, asked.event()) {
        Ok(view) => view,
        Err(answer) => return *answer,
    };
    let event = view.as_ref().map_or_else(|| asked.event(), |view| &view.event);
    let mut answer = match &hook.handler {
        Handler::Reply(verdict) => Answer::of((**verdict).clone()),
        Handler::Broken { reason, mend } => {
            broken(fire.snapshot.host.profile, hook, event, reason, mend.as_deref())
        }
        Handler::Function => match fire.snapshot.functions.get(index).and_then(Option::as_ref) {
            Some(function) => in_process::run(fire, function, event, &Bounds::of(fire, hook)).await,
            None => Answer::failed(Failure::Config, "its function is gone"),
        },
        Handler::Command(handler) => {
            let line = match &view {
                None => asked.line(fire),
                Some(view) => {
                    let shown = Shown { paths: asked.paths(), truncated: &view.clipped };
                    fire.snapshot.host.codec.encode(event, &shown).into()
                }
            };
            command::run(fire, index, hook, handler, event, line).await
        }
    };
    if let Some(view) = view {
        view.settle(hook, &mut answer);
    }
    answer
}

/// The answer of a hook with a view of its own that needs no waiting.
pub(super) fn answer_with_view(
    fire: &Fire<'_>,
    index: usize,
    hook: &Hook,
    event: &Event,
) -> Option<Answer> {
    let function = match &hook.handler {
        Handler::Reply(_) => None,
        Handler::Function => {
            Some(fire.snapshot.functions.get(index)?.as_ref().filter(|one| one.is_sync())?)
        }
        Handler::Command(_) | Handler::Broken { .. } => return None,
    };
    let view = match view_of(fire, hook, event) {
        Ok(view) => view,
        Err(answer) => return Some(*answer),
    };
    let event = view.as_ref().map_or(event, |view| &view.event);
    let mut answer = match (&hook.handler, function) {
        (Handler::Reply(verdict), _) => Answer::of((**verdict).clone()),
        (_, Some(function)) => Answer::of_call(function.call_now(event)?),
        _ => return None,
    };
    if let Some(view) = view {
        view.settle(hook, &mut answer);
    }
    Some(answer)
}

/// What of an event a hook is shown if that is not all of it, or the answer of a hook that wants to
/// see all or not be asked.
fn view_of(fire: &Fire<'_>, hook: &Hook, event: &Event) -> Result<Option<View>, Box<Answer>> {
    let Some(asked) = hook.view.or(fire.contract.view) else { return Ok(None) };
    let Some(view) = View::of(fire, asked.cap, event) else { return Ok(None) };
    match asked.on_truncated {
        Some(policy) => Err(Box::new(too_long_for_its_view(policy, &view.clipped))),
        None => Ok(Some(view)),
    }
}

/// An event as a hook with a small view sees it.
struct View {
    event: Event,
    /// What it takes to bring a rewrite back to the whole payload.
    capped: Option<Capped>,
    /// The keys whose text is clipped.
    clipped: Vec<String>,
}

impl View {
    /// Brings an answer back to the whole payload, and says in the report what was not shown.
    ///
    /// Whoever wrote a view into the entry knows of it.
    fn settle(self, hook: &Hook, answer: &mut Answer) {
        if let Some(capped) = &self.capped {
            restore(answer, capped);
        }
        if hook.view.is_some() {
            return;
        }
        let message = format!("it was shown only the start of `{}`", self.clipped.join("`, `"));
        answer.diagnostics.push(
            Diagnostic::info("view.clipped", message)
                .help("a larger `view` shows more, `on_truncated` says what that means"),
        );
    }

    /// Clips the texts of an event; `None` if none of them is too long.
    fn of(fire: &Fire<'_>, cap: usize, event: &Event) -> Option<Self> {
        let mark = fire.snapshot.host.profile.cap_mark;
        let mut clipped = Vec::new();
        let mut shown = event.clone();
        let rewritable = event.rewritable(fire.contract.rewrites);
        let capped = rewritable
            .map(|payload| cap_tool_input(&payload, cap, mark))
            .filter(Capped::is_clipped);
        if let Some(capped) = &capped {
            shown = event.with_rewritten(capped.view());
            clipped.extend(capped.clipped_keys().map(str::to_owned));
        }
        let mut clip = |key: &str, text: &str| {
            (text.len() > cap).then(|| {
                clipped.push(key.to_owned());
                format!("{}{mark}", cap_payload(text, cap))
            })
        };
        // What cannot be rewritten is clipped all the same; nothing of it has to come back.
        match &mut shown.payload {
            Payload::Tool(call) | Payload::ToolResult { call, .. }
                if fire.contract.rewrites != Rewrites::ToolInput =>
            {
                let input = cap_tool_input(&call.input, cap, mark);
                clipped.extend(input.clipped_keys().map(str::to_owned));
                call.input = input.view().clone();
            }
            Payload::Stop(facts) => {
                if let Some(text) = &mut facts.last_assistant_message
                    && let Some(short) = clip("last_assistant_message", text)
                {
                    *text = short;
                }
            }
            Payload::Prompt(prompt) if fire.contract.rewrites != Rewrites::Prompt => {
                if let Some(short) = clip("prompt", prompt) {
                    *prompt = short;
                }
            }
            _ => {}
        }
        let extra = event.extra.iter().filter_map(|(key, value)| {
            let text = shown.extra.get(key).unwrap_or(value).as_str()?;
            (text.len() > cap)
                .then(|| (key.to_owned(), format!("{}{mark}", cap_payload(&text, cap))))
        });
        for (key, short) in extra.collect::<Vec<_>>() {
            shown.extra.set(key.clone(), Json::string(&short));
            clipped.push(key);
        }
        (!clipped.is_empty()).then_some(Self { event: shown, capped, clipped })
    }
}

/// The answer of a hook that would not see everything and has said what that means.
fn too_long_for_its_view(policy: OnFailure, clipped: &[String]) -> Answer {
    let reason = format!("`{}` is longer than what this hook is shown", clipped.join("`, `"));
    let decision = match policy {
        OnFailure::Block => Decision::Deny,
        OnFailure::Ask => Decision::Ask,
        OnFailure::Allow => Decision::None,
    };
    let mut answer = Answer::of(Verdict::decide(decision).because(reason.clone()));
    answer.diagnostics.push(
        Diagnostic::warning("view.truncated", format!("{reason}, so it was not asked"))
            .help("give the hook a larger `view`, or leave `on_truncated` out"),
    );
    answer
}

/// Brings a rewrite of a clipped view back to the whole payload; one that was made from a clipped
/// text never becomes what is executed.
fn restore(answer: &mut Answer, capped: &Capped) {
    let Some(rewrite) = answer.verdict.take_rewrite() else { return };
    match restore_rewrite(rewrite, capped) {
        Ok(rewrite) => {
            let verdict = std::mem::take(&mut answer.verdict);
            answer.verdict = verdict.with_rewrite(rewrite);
        }
        Err(left) => answer.diagnostics.push(
            Diagnostic::warning("view.edited", left.to_string())
                .help("hand clipped texts back unchanged, or give the hook a larger `view`"),
        ),
    }
}

/// A broken entry that is a guard denies; reading, and mending the file it stands in, stay possible.
/// One that is about reading alone still guards it, but for the file itself.
fn broken(
    profile: &Profile,
    hook: &Hook,
    event: &Event,
    reason: &str,
    mend: Option<&str>,
) -> Answer {
    let mut answer = Answer::failed(Failure::Config, reason);
    if let Some(call) = event.tool_call() {
        let reads = READERS.contains(&profile.canonical_tool(&call.name));
        let own_names = profile.tools.iter();
        let of_more = own_names.filter(|(_, canonical)| MAKERS.contains(canonical));
        let about_more = MAKERS.iter().any(|tool| hook.matcher.matches(tool))
            || of_more.into_iter().any(|(tool, _)| hook.matcher.matches(tool));
        let its_own_file = mend.is_some() && file_of(profile, event).as_deref() == mend;
        answer.waived = (reads && about_more) || its_own_file;
    }
    if answer.waived {
        answer.diagnostics.push(Diagnostic::warning(
            "hook.let-through",
            "its entry is wrong, but reading, and mending that file, stay possible",
        ));
    }
    answer
}

/// Tools that only look.
const READERS: [&str; 3] = ["Read", "Glob", "Grep"];
/// Tools that do more.
const MAKERS: [&str; 3] = ["Bash", "Edit", "Write"];

/// The one file that a reading or editing call is about.
fn file_of(profile: &Profile, event: &Event) -> Option<String> {
    let call = event.tool_call()?;
    if !matches!(profile.canonical_tool(&call.name), "Read" | "Edit" | "Write" | "MultiEdit") {
        return None;
    }
    let path = call.input.get("file_path")?;
    let path = std::path::Path::new(&event.origin.cwd).join(path.as_str()?.as_ref());
    std::fs::canonicalize(path).ok()?.into_os_string().into_string().ok()
}
