//! An outcome for people: one line a hook, then what all of them together mean.

use std::fmt::Write as _;

use anstyle::Style;
use tenter::core::contract::{Block, Contract, Delivery, OnFailure};
use tenter::core::diagnostic::{Diagnostic, Severity};
use tenter::core::event::{Event, Payload};
use tenter::core::hook::Order;
use tenter::core::json::Json;
use tenter::core::outcome::{Failure, HookReport, Message, Outcome, ProcessReport, Status};
use tenter::core::verdict::Decision;

use super::rewrite;
use super::style::{ADDED, ASKS, BAD, CHANGED, DIM, GOOD, HINT, PLAIN, STRONG, WARNING, paint};
use super::text;
use crate::why;

/// No name takes more columns, so that one long name does not push all others away.
const LONGEST_NAME: usize = 32;
/// How wide the column of times is, so that it stays where it is from run to run.
const TIME: usize = 7;
/// No more lines of a stream are shown.
const MOST_IO_LINES: usize = 40;

/// What an outcome is drawn with.
pub(crate) struct Scene<'a> {
    pub(crate) event: &'a Event,
    pub(crate) outcome: &'a Outcome,
    pub(crate) contract: &'a Contract,
    /// Columns of the screen.
    pub(crate) width: usize,
    /// Whether to show what each hook was sent and what it printed.
    pub(crate) io: bool,
}

/// Draws an outcome.
pub(crate) fn draw(scene: &Scene<'_>) -> String {
    let mut out = heading(scene.event, scene.width);
    let outcome = scene.outcome;
    if !outcome.hooks.is_empty() {
        out.push('\n');
        let columns = Columns::of(&outcome.hooks);
        let mut said = Vec::new();
        for report in &outcome.hooks {
            hook(&mut out, scene, report, &columns, &mut said);
        }
    }
    if let Some(line) = side_by_side(outcome) {
        // Writing to a `String` does not fail.
        let _ = writeln!(out, "\n  {}", paint(DIM, line));
    }
    rewritten(&mut out, scene);
    contexts(&mut out, scene);
    messages(&mut out, scene);
    out.push('\n');
    verdict(&mut out, scene);
    out
}

/// The event on one line.
pub(crate) fn heading(event: &Event, width: usize) -> String {
    let kind = event.kind.name();
    let mut line = paint(STRONG, text::one_line(kind, 60));
    let mut used = text::width(kind);
    if let Some(tool) = event.tool_name() {
        let tool = text::one_line(tool, 60);
        used += 1 + text::width(&tool);
        line = format!("{line} {}", paint(HINT, tool));
    }
    let payload = match &event.payload {
        Payload::Tool(call) | Payload::ToolResult { call, .. } => call.input.as_text().to_owned(),
        Payload::Prompt(prompt) => Json::string(prompt).as_text().to_owned(),
        Payload::Stop(facts) => facts.stop_reason.clone().unwrap_or_default(),
        Payload::Open => {
            let fields = event.extra.iter().map(|(key, value)| format!("{key}={value}"));
            fields.collect::<Vec<_>>().join(" ")
        }
    };
    let room = width.min(120).saturating_sub(used + 1);
    let payload = text::one_line(&payload, room.max(20));
    if payload.is_empty() || payload == "{}" {
        format!("{line}\n")
    } else {
        format!("{line} {}\n", paint(DIM, payload))
    }
}

/// How wide the columns of the hooks are.
struct Columns {
    name: usize,
    word: usize,
    time: usize,
}

impl Columns {
    fn of(reports: &[HookReport]) -> Self {
        let widest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
        Self {
            name: widest(&mut reports.iter().map(|report| text::width(&name(report)))),
            word: widest(&mut reports.iter().map(|report| text::width(look(report).word))),
            time: if reports.iter().any(|report| report.status.ran()) {
                TIME.max(widest(&mut reports.iter().map(|one| text::width(&time(one)))))
            } else {
                0
            },
        }
    }

    /// Where the last column starts: marks, and two spaces between columns.
    fn indent(&self) -> usize {
        let time = if self.time > 0 { self.time + 2 } else { 0 };
        4 + self.name + 2 + self.word + 2 + time
    }
}

fn name(report: &HookReport) -> String {
    text::one_line(&report.hook.name, LONGEST_NAME)
}

fn time(report: &HookReport) -> String {
    if report.status.ran() { text::time(report.duration) } else { String::new() }
}

/// How a hook stands at the start of its line.
struct Look {
    mark: char,
    word: &'static str,
    style: Style,
}

fn look(report: &HookReport) -> Look {
    let look = |mark, word, style| Look { mark, word, style };
    match report.status {
        Status::Skipped(skip) if why::is_loud(skip) => look('!', "skipped", WARNING),
        Status::Skipped(_) => look('·', "skipped", DIM),
        Status::Cancelled => look('!', "cancelled", WARNING),
        Status::Failed(_) => match decided(report) {
            Some(look) => look,
            None => look('!', report.status.as_str(), WARNING),
        },
        Status::Ok => decided(report).unwrap_or_else(|| {
            if report.rewrite {
                look('~', "rewrite", CHANGED)
            } else if report.context().is_some() {
                look('+', "context", ADDED)
            } else {
                look('✓', "ok", GOOD)
            }
        }),
    }
}

/// A hook's own decision, or what it says when asked again if that is stricter.
fn decided(report: &HookReport) -> Option<Look> {
    let again = report.recheck().map_or(Decision::None, |recheck| recheck.decision);
    let (mark, word, style) = match report.decision.max(again) {
        _ if report.halt => ('■', "halt", BAD),
        Decision::Deny => ('✗', "deny", BAD),
        Decision::Defer => ('?', "defer", ASKS),
        Decision::Ask => ('?', "ask", ASKS),
        Decision::Allow => ('✓', "allow", GOOD),
        Decision::None => return None,
    };
    Some(Look { mark, word, style })
}

/// One hook: its line, and what belongs below it.
fn hook<'a>(
    out: &mut String,
    scene: &Scene<'_>,
    report: &'a HookReport,
    columns: &Columns,
    said: &mut Vec<&'a Diagnostic>,
) {
    let look = look(report);
    let mark = paint(look.style, look.mark);
    let name = text::padded(&name(report), columns.name);
    let ran = report.status.ran();
    let name = if ran { name } else { paint(DIM, name) };
    let word = paint(look.style, text::padded(look.word, columns.word));
    let mut line = format!("  {mark} {name}  {word}");
    if columns.time > 0 {
        let time = text::right(&time(report), columns.time);
        line = format!("{line}  {}", if ran { paint(DIM, time) } else { time });
    }
    let style = if ran { PLAIN } else { DIM };
    let reason = reason(scene, report).unwrap_or_default();
    let (beside, below) = text::beside(&reason, columns.indent(), scene.width);
    // Writing to a `String` does not fail.
    let _ = writeln!(out, "{}", format!("{line}  {}", painted(style, &beside)).trim_end());
    for line in below {
        let _ = writeln!(out, "{}", painted(style, &line));
    }
    notes(out, scene, report, said);
    if scene.io
        && let Some(process) = report.process()
    {
        io(out, process);
    }
}

/// A text in a style, or nothing at all.
fn painted(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { paint(style, text) }
}

/// What is to be said on a hook's own line.
fn reason(scene: &Scene<'_>, report: &HookReport) -> Option<String> {
    let own = report.reason.as_deref().map(str::to_owned);
    match report.status {
        Status::Skipped(skip) => Some(why::of_skip(
            &report.hook,
            skip,
            scene.event,
            scene.contract,
            &scene.outcome.hooks,
        )),
        Status::Failed(_) => {
            let policy = match report.hook.failure_policy(scene.contract) {
                OnFailure::Block => "its failure blocks",
                OnFailure::Ask => "its failure asks",
                OnFailure::Allow => "its failure blocks nothing",
            };
            Some(match own {
                Some(own) => format!("{own} ({policy})"),
                None => policy.to_owned(),
            })
        }
        // A context that goes nowhere has no place of its own further down.
        Status::Ok if scene.outcome.context.is_empty() => {
            own.or_else(|| report.context().map(str::to_owned))
        }
        Status::Ok | Status::Cancelled => own,
    }
}

/// The secondary lines of a hook. What was said of a hook before it is not said again.
fn notes<'a>(
    out: &mut String,
    scene: &Scene<'_>,
    report: &'a HookReport,
    said: &mut Vec<&'a Diagnostic>,
) {
    let mut say = |label: &str, style: Style, message: &str| {
        let width = scene.width.saturating_sub(6 + text::width(label) + 2).max(20);
        for (at, line) in text::wrapped(message, width).into_iter().enumerate() {
            let label = if at == 0 {
                format!("{}: ", paint(style, label))
            } else {
                " ".repeat(text::width(label) + 2)
            };
            // Writing to a `String` does not fail.
            let _ = writeln!(out, "      {label}{}", paint(DIM, line));
        }
    };
    if report.detached {
        say("detached", DIM, "nobody waited for it");
    }
    if report.hook.order == Order::Sequence && report.status.ran() {
        say("sequence", DIM, "it started when all hooks before it had ended");
    }
    if let Some(recheck) = report.recheck()
        && (recheck.decision != Decision::None || recheck.reason.is_some())
    {
        let asked = match &recheck.reason {
            Some(reason) => format!("{}: {reason}", recheck.decision.as_str()),
            None => recheck.decision.as_str().to_owned(),
        };
        say("asked again on the rewritten payload", DIM, &asked);
    }
    for diagnostic in report.diagnostics() {
        if said.contains(&diagnostic) {
            continue;
        }
        said.push(diagnostic);
        let (label, style) = match diagnostic.severity {
            Severity::Error | Severity::Warning => ("warning", WARNING),
            Severity::Info => ("note", DIM),
        };
        say(label, style, &diagnostic.message);
        if let Some(help) = &diagnostic.help {
            say("hint", HINT, help);
        }
    }
    let stopped = matches!(
        report.status,
        Status::Cancelled | Status::Failed(Failure::Timeout | Failure::OutputLimit)
    );
    if let Some(process) = report.process().filter(|process| stopped && process.left.is_empty()) {
        let what = format!("with all that it started (found by {})", process.contained_by);
        say("ended", DIM, &what);
    }
    let left = report.process().map_or(&[][..], |process| &process.left);
    if !left.is_empty() {
        say("left running", WARNING, &left.join(", "));
    }
}

/// What a process was sent and what it printed.
fn io(out: &mut String, process: &ProcessReport) {
    let streams = [
        ("stdin ", process.stdin.as_deref().unwrap_or_default()),
        ("stdout", &process.stdout),
        ("stderr", &process.stderr),
    ];
    for (label, bytes) in streams {
        let lossy = String::from_utf8_lossy(bytes);
        let shown = text::printable(lossy.trim_end());
        for line in shown.lines().take(MOST_IO_LINES) {
            // Writing to a `String` does not fail.
            let _ = writeln!(out, "      {} {}", paint(DIM, format!("{label} │")), line);
        }
        let more = shown.lines().count().saturating_sub(MOST_IO_LINES);
        if more > 0 {
            let _ = writeln!(
                out,
                "      {}",
                paint(DIM, format!("{label} │ … {}", text::count(more, "more line")))
            );
        }
    }
}

/// What running beside each other has saved.
fn side_by_side(outcome: &Outcome) -> Option<String> {
    let together = |report: &&HookReport| {
        report.status.ran()
            && !report.detached
            && report.hook.order == Order::Parallel
            && report.process().is_some()
    };
    let ran: Vec<_> = outcome.hooks.iter().filter(together).collect();
    // Hooks that were asked again took longer than their first run, which is what is summed.
    let again = outcome.hooks.iter().any(|report| report.recheck().is_some());
    if ran.len() < 2 || again {
        return None;
    }
    let sum = ran.iter().map(|report| report.duration).sum();
    Some(format!(
        "{} side by side: {} in all, {} one after the other",
        text::count(ran.len(), "command"),
        text::time(outcome.duration),
        text::time(sum)
    ))
}

fn rewritten(out: &mut String, scene: &Scene<'_>) {
    let Some(after) = &scene.outcome.rewritten else { return };
    let before = scene.event.rewritable(scene.contract.rewrites).unwrap_or_else(Json::empty_object);
    let diff = rewrite::draw(&before, after, scene.width);
    if !diff.is_empty() {
        // Writing to a `String` does not fail.
        let _ = write!(out, "\n{}\n{diff}", paint(STRONG, "rewritten"));
    }
}

fn contexts(out: &mut String, scene: &Scene<'_>) {
    if scene.outcome.context.is_empty() {
        return;
    }
    // Writing to a `String` does not fail.
    let _ = writeln!(out, "\n{}", paint(STRONG, "context for the model"));
    for context in &scene.outcome.context {
        for (at, line) in
            text::wrapped(context, scene.width.saturating_sub(4)).into_iter().enumerate()
        {
            let mark = if at == 0 { paint(ADDED, '+') } else { " ".into() };
            let _ = writeln!(out, "  {mark} {line}");
        }
    }
}

/// What hooks said to the user, and what no hook's line says already.
fn messages(out: &mut String, scene: &Scene<'_>) {
    let shown: Vec<_> =
        scene.outcome.messages.iter().filter(|one| !stands_above(scene.outcome, one)).collect();
    if !shown.is_empty() {
        out.push('\n');
    }
    for message in shown {
        let (label, style) = match message.level {
            Severity::Info => ("message", HINT),
            Severity::Warning => ("warning", WARNING),
            Severity::Error => ("error", BAD),
        };
        let label = match (&message.hook, message.level) {
            (Some(hook), Severity::Info) => format!("{label} from {}", text::one_line(hook, 40)),
            _ => label.to_owned(),
        };
        let width = scene.width.saturating_sub(text::width(&label) + 4).max(20);
        let indent = " ".repeat(4);
        for (at, line) in text::wrapped(&message.text, width).into_iter().enumerate() {
            // Writing to a `String` does not fail.
            let _ = match at {
                0 => writeln!(out, "{}: {line}", paint(style, &label)),
                _ => writeln!(out, "{indent}{line}"),
            };
        }
    }
}

/// Whether a warning about a hook is on that hook's own lines.
fn stands_above(outcome: &Outcome, message: &Message) -> bool {
    let Some(hook) = &message.hook else { return false };
    message.level != Severity::Info
        && outcome.hooks.iter().any(|report| {
            report.hook.name == *hook
                && (report.status != Status::Ok || !report.diagnostics().is_empty())
        })
}

/// The last line: what becomes of the action.
fn verdict(out: &mut String, scene: &Scene<'_>) {
    let outcome = scene.outcome;
    let (mark, word, style) = match outcome.decision {
        _ if outcome.halt => ('■', "halt", BAD),
        Decision::Deny => ('✗', "deny", BAD),
        Decision::Defer => ('?', "defer", ASKS),
        Decision::Ask => ('?', "ask", ASKS),
        Decision::Allow => ('✓', "allow", GOOD),
        Decision::None => ('✓', "proceed", GOOD),
    };
    let effect = effect(scene);
    let code = match outcome.exit_code() {
        0 => String::new(),
        code => format!(" (exit {code})"),
    };
    // Writing to a `String` does not fail.
    let _ = writeln!(
        out,
        "{} {}{}",
        paint(style, mark),
        paint(style, word),
        paint(DIM, format!(": {effect}{code}"))
    );
    if outcome.halt || outcome.decision.restricts() {
        let reason = outcome.reason.as_deref().unwrap_or_default();
        for line in text::wrapped(reason, scene.width.saturating_sub(2)) {
            let _ = writeln!(out, "  {line}");
        }
    }
}

/// What the decision means for this event.
fn effect(scene: &Scene<'_>) -> String {
    let outcome = scene.outcome;
    let blocked = match scene.contract.block {
        Block::EndsRun => "the run ends before any model call",
        Block::RefusesPrompt => "the prompt is refused and not recorded",
        Block::StopsTool => "the tool does not run",
        Block::AnswersNo => "the question is answered no",
        Block::Vetoes => "the operation is vetoed",
        Block::SkipsCompaction => "the compaction is skipped",
        Block::GoesOn => "the turn goes on with the reason",
        Block::Annotates | Block::Nothing => "nothing is held up",
    };
    if outcome.halt {
        return if outcome.decision == Decision::Deny && scene.contract.block.stops_action() {
            format!("{blocked}, and the turn ends")
        } else {
            "the turn ends".into()
        };
    }
    match outcome.decision {
        Decision::Deny if scene.contract.block == Block::StopsTool => {
            format!("{blocked}, and the model is told why")
        }
        Decision::Deny => blocked.into(),
        Decision::Ask => "a human decides; where nobody can be asked it is a deny".into(),
        Decision::Defer => "it is decided later; a host that cannot wait takes it as a deny".into(),
        Decision::Allow => "it goes ahead without a question".into(),
        Decision::None => {
            let spoke = |report: &&HookReport| report.status.ran();
            match (outcome.hooks.iter().filter(spoke).count(), scene.contract.delivery) {
                (0, _) if outcome.hooks.is_empty() => format!("no hook is for {}", outcome.kind),
                (0, _) => "no hook ran".into(),
                (_, Delivery::Detached) => "the host does not wait for these hooks".into(),
                (_, _) if outcome.rewritten.is_some() => "with the rewritten payload".into(),
                _ => "nothing holds it up".into(),
            }
        }
    }
}
