//! Results for people: a line for each file, what is not as expected, and a summary.

use std::fmt::Write as _;
use std::time::Duration;

use super::case::{FailedHook, Problem, Verdict};
use super::find::Loaded;
use super::run::{CaseResult, Results};
use crate::console::Console;
use crate::render::diagnostics::{self, Found};
use crate::render::style::{ADDED, BAD, DIM, GOOD, REMOVED, STRONG, WARNING, paint};
use crate::render::text;

/// Says what is wrong with the files, all of them at once.
pub(crate) fn findings(files: &[Loaded], console: &mut Console) {
    let all = files.iter().flat_map(|loaded| &loaded.findings);
    console.err(&diagnostics::draw(
        all.map(|(diagnostic, source)| Found { diagnostic, source: Some(source) }),
    ));
}

/// One line that says how far the run is, where somebody sees it.
#[derive(Debug)]
pub(crate) struct Progress {
    all: usize,
    done: usize,
    failed: usize,
    shown: bool,
}

impl Progress {
    pub(crate) fn new(all: usize, is_terminal: bool) -> Self {
        Self { all, done: 0, failed: 0, shown: is_terminal && all > 0 }
    }

    pub(crate) fn add(&mut self, verdict: &Verdict, console: &mut Console) {
        self.done += 1;
        self.failed += usize::from(!verdict.passed() && !verdict.interrupted);
        if self.shown {
            let failed = match self.failed {
                0 => String::new(),
                failed => format!(", {}", paint(BAD, format!("{failed} failed"))),
            };
            console.err(&format!("\r\x1b[K{}/{} done{failed}", self.done, self.all));
        }
    }

    pub(crate) fn clear(&mut self, console: &mut Console) {
        if self.shown && self.done > 0 {
            console.err("\r\x1b[K");
        }
    }
}

/// The whole report.
pub(crate) fn draw(results: &Results, took: Duration) -> String {
    let mut out = String::new();
    for loaded in results.files() {
        file_line(&mut out, loaded, results);
    }
    let failed = |result: &CaseResult<'_>| {
        result.verdict.is_some_and(|verdict| !verdict.passed() && !verdict.interrupted)
    };
    for result in results.iter().filter(failed) {
        if let Some(verdict) = result.verdict {
            out.push('\n');
            failure(&mut out, &result, verdict);
        }
    }
    out.push('\n');
    summary(&mut out, results, took);
    out
}

fn file_line(out: &mut String, loaded: &Loaded, results: &Results) {
    let name = text::printable(&loaded.name);
    if loaded.is_invalid() {
        line(out, 0, &format!("{} {name}: not valid", paint(BAD, "error")));
        return;
    }
    let (mut passed, mut failed, mut unfinished) = (0, 0, 0);
    for result in results.iter().filter(|result| result.file == loaded.name) {
        match result.verdict {
            Some(verdict) if verdict.passed() => passed += 1,
            Some(verdict) if !verdict.interrupted => failed += 1,
            _ => unfinished += 1,
        }
    }
    if passed + failed + unfinished == 0 {
        return;
    }
    let word = match (failed, unfinished) {
        (0, 0) => paint(GOOD, "ok   "),
        (0, _) => paint(WARNING, "ended"),
        _ => paint(BAD, "fail "),
    };
    line(out, 0, &format!("{word} {name}: {}", counts(passed, failed, unfinished)));
}

fn counts(passed: usize, failed: usize, unfinished: usize) -> String {
    let mut text = format!("{passed} passed");
    for (count, word) in [(failed, "failed"), (unfinished, "not run to the end")] {
        if count > 0 {
            // Writing to a `String` does not fail.
            let _ = write!(text, ", {count} {word}");
        }
    }
    text
}

fn summary(out: &mut String, results: &Results, took: Duration) {
    let (passed, failed, unfinished) = (results.passed(), results.failed(), results.unfinished());
    let style = if failed > 0 { BAD } else { GOOD };
    let mut said = format!("{passed} passed, {}", paint(style, format!("{failed} failed")));
    if unfinished > 0 {
        let _ = write!(said, ", {unfinished} not run to the end");
    }
    let invalid = results.files().iter().filter(|loaded| loaded.is_invalid()).count();
    if invalid > 0 {
        let files = text::count(invalid, "file");
        let _ = write!(said, ", {}", paint(BAD, format!("{files} not valid")));
    }
    line(out, 0, &format!("{said} in {:.1} s", took.as_secs_f64()));
    if let Some(signal) = results.ended_by {
        line(out, 0, &format!("ended by signal {}", signal.as_raw_value()));
    }
}

fn failure(out: &mut String, result: &CaseResult<'_>, verdict: &Verdict) {
    let place = format!("{}:{}", result.file, result.line);
    line(
        out,
        0,
        &format!(
            "{} {}  {}",
            paint(BAD, "FAIL"),
            paint(STRONG, text::printable(result.name)),
            paint(DIM, text::printable(&place))
        ),
    );
    let mut last_step = None;
    for problem in &verdict.problems {
        if let Some((step, at)) =
            step_of(problem).filter(|step| last_step.replace(*step) != Some(*step))
        {
            line(out, 2, &format!("step {step}  {}", paint(DIM, format!("{}:{at}", result.file))));
        }
        draw_problem(out, problem);
    }
    for hook in &verdict.failed_hooks {
        draw_hook(out, hook);
    }
}

fn step_of(problem: &Problem) -> Option<(usize, usize)> {
    match problem {
        Problem::Mismatch { step, line, .. } | Problem::TooSlow { step, line, .. } => {
            step.map(|step| (step, *line))
        }
        Problem::After { .. } | Problem::Setup(_) | Problem::Bug(_) => None,
    }
}

fn draw_problem(out: &mut String, problem: &Problem) {
    match problem {
        Problem::Mismatch { mismatch, .. } => {
            line(out, 2, &text::printable(&mismatch.path));
            line(
                out,
                4,
                &paint(ADDED, format!("expected {}", text::printable(&mismatch.expected))),
            );
            line(
                out,
                4,
                &paint(REMOVED, format!("actual   {}", text::printable(&mismatch.actual))),
            );
        }
        Problem::TooSlow { most, took, .. } => {
            line(out, 2, "max_ms");
            line(out, 4, &paint(ADDED, format!("expected at most {most} ms")));
            line(out, 4, &paint(REMOVED, format!("actual   {} ms", took.as_millis())));
        }
        Problem::After { line: at, command, expected, actual, output } => {
            line(out, 2, &format!("after (line {at}): {}", text::one_line(command, 100)));
            line(out, 4, &paint(ADDED, format!("expected exit {expected}")));
            line(out, 4, &paint(REMOVED, format!("actual   {}", text::printable(actual))));
            block(out, output);
        }
        Problem::Setup(why) => {
            line(out, 2, &format!("the case cannot run: {}", text::printable(why)));
        }
        Problem::Bug(why) => {
            line(
                out,
                2,
                &format!("this is a bug in tenter, please report it: {}", text::printable(why)),
            );
        }
    }
}

fn draw_hook(out: &mut String, hook: &FailedHook) {
    let step = hook.step.map(|step| format!(" in step {step}")).unwrap_or_default();
    let reason = text::one_line(&hook.reason, 200);
    let name = text::printable(&hook.name);
    line(out, 2, &format!("hook `{name}` failed{step} ({}): {reason}", hook.failure));
    if !hook.stderr.is_empty() {
        line(out, 4, "its stderr:");
        block(out, &hook.stderr);
    }
}

fn block(out: &mut String, output: &str) {
    for shown in text::printable(output).lines() {
        line(out, 6, &paint(DIM, shown));
    }
}

fn line(out: &mut String, indent: usize, text: &str) {
    // Writing to a `String` does not fail.
    let _ = writeln!(out, "{:indent$}{text}", "");
}
