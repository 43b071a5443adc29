//! Results for machines, version 1. Keys are only ever added.

use std::time::Duration;

use serde::Serialize;
use tenter::core::diagnostic::Severity;

use super::case::{FailedHook, Problem, Verdict};
use super::run::{CaseResult, Results};
use crate::render::json::{milliseconds, pretty};

/// What `tenter test --json` writes.
#[derive(Debug, Serialize)]
struct Form<'a> {
    version: u32,
    passed: usize,
    failed: usize,
    /// Cases that were not run to their end, because a signal ended the run.
    unfinished: usize,
    invalid: Vec<InvalidForm<'a>>,
    cases: Vec<CaseForm<'a>>,
    duration_ms: f64,
}

#[derive(Debug, Serialize)]
struct InvalidForm<'a> {
    code: &'a str,
    severity: Severity,
    message: &'a str,
    help: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<usize>,
    column: Option<usize>,
}

#[derive(Debug, Serialize)]
struct CaseForm<'a> {
    file: &'a str,
    line: usize,
    name: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<ProblemForm<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed_hooks: Vec<HookForm<'a>>,
    duration_ms: Option<f64>,
}

/// One thing that is not as it should be. `kind` is `mismatch`, `too-slow`, `after`, `setup` or `bug`.
#[derive(Debug, Serialize)]
struct ProblemForm<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    expected: Option<String>,
    actual: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct HookForm<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
    name: &'a str,
    failure: &'a str,
    reason: &'a str,
    stderr: &'a str,
}

/// The results as JSON.
pub(crate) fn draw(results: &Results, took: Duration) -> String {
    let findings = results.files().iter().filter(|loaded| loaded.is_invalid());
    let invalid = findings.flat_map(|loaded| &loaded.findings).map(|(one, _)| {
        let at = one.position.as_ref();
        InvalidForm {
            code: one.code,
            severity: one.severity,
            message: &one.message,
            help: one.help.as_deref(),
            file: at.map(|at| at.file.as_str()),
            line: at.map(|at| at.line),
            column: at.map(|at| at.column),
        }
    });
    pretty(&Form {
        version: 1,
        passed: results.passed(),
        failed: results.failed(),
        unfinished: results.unfinished(),
        invalid: invalid.collect(),
        cases: results.iter().map(case_form).collect(),
        duration_ms: milliseconds(took),
    })
}

fn case_form(result: CaseResult<'_>) -> CaseForm<'_> {
    let verdict = result.verdict;
    let problems = verdict.map(|verdict| verdict.problems.iter().map(problem_form).collect());
    let hooks = verdict.map(|verdict| verdict.failed_hooks.iter().map(hook_form).collect());
    CaseForm {
        file: result.file,
        line: result.line,
        name: result.name,
        status: status(verdict),
        problems: problems.unwrap_or_default(),
        failed_hooks: hooks.unwrap_or_default(),
        duration_ms: verdict.map(|verdict| milliseconds(verdict.duration)),
    }
}

/// What became of a case, in one word.
pub(super) fn status(verdict: Option<&Verdict>) -> &'static str {
    match verdict {
        Some(verdict) if verdict.passed() => "passed",
        Some(verdict) if !verdict.interrupted => "failed",
        _ => "unfinished",
    }
}

fn problem_form(problem: &Problem) -> ProblemForm<'_> {
    let form = |kind, line, expected, actual| ProblemForm {
        kind,
        step: None,
        line,
        path: None,
        command: None,
        expected,
        actual,
        output: None,
    };
    match problem {
        Problem::Mismatch { step, line, mismatch } => ProblemForm {
            step: *step,
            path: Some(&mismatch.path),
            ..form(
                "mismatch",
                Some(*line),
                Some(mismatch.expected.clone()),
                mismatch.actual.clone(),
            )
        },
        Problem::TooSlow { step, line, most, took } => ProblemForm {
            step: *step,
            ..form(
                "too-slow",
                Some(*line),
                Some(format!("at most {most} ms")),
                format!("{} ms", took.as_millis()),
            )
        },
        Problem::After { line, command, expected, actual, output } => ProblemForm {
            command: Some(command),
            output: Some(output),
            ..form("after", Some(*line), Some(format!("exit {expected}")), actual.clone())
        },
        Problem::Setup(why) => form("setup", None, None, why.clone()),
        Problem::Bug(why) => form("bug", None, None, why.clone()),
    }
}

fn hook_form(hook: &FailedHook) -> HookForm<'_> {
    HookForm {
        step: hook.step,
        name: &hook.name,
        failure: &hook.failure,
        reason: &hook.reason,
        stderr: &hook.stderr,
    }
}
