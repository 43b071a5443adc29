//! A plan, for people and as JSON: which hooks would run for an event, and why not the others.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;
use tenter::Judgement;
use tenter::core::contract::{Contract, OnFailure};
use tenter::core::event::Event;
use tenter::core::hook::{CommandLine, Handler, Hook, Order, Scope};
use tenter::core::outcome::Skip;
use tenter::core::plan::{Plan, Planned};
use tenter::core::verdict::Decision;

use super::human;
use super::json::{Head, head, pretty};
use super::shell::{self, ShellForm};
use super::style::{ASKS, BAD, DIM, GOOD, STRONG, WARNING, paint};
use super::text;
use crate::why;

/// What `tenter explain --json` says of the permission rules.
#[derive(Debug, Serialize)]
struct PermissionForm<'a> {
    decision: Decision,
    reason: &'a str,
    rule: &'a str,
    level: &'a str,
    source: &'a str,
}

/// What a plan is shown with.
pub(crate) struct Scene<'a> {
    pub(crate) event: &'a Event,
    pub(crate) plan: &'a Plan,
    pub(crate) contract: &'a Contract,
    pub(crate) profile: &'a str,
    /// What the permission rules alone say about the event.
    pub(crate) permission: Option<Judgement>,
}

/// What `tenter explain --json` writes.
#[derive(Debug, Serialize)]
struct PlanForm<'a> {
    version: u32,
    event: &'a str,
    profile: &'a str,
    subject: Option<String>,
    permission: Option<PermissionForm<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shell: Option<ShellForm>,
    hooks: Vec<PlannedForm<'a>>,
}

#[derive(Debug, Serialize)]
struct PlannedForm<'a> {
    name: &'a str,
    source: String,
    file: Option<&'a str>,
    line: Option<usize>,
    level: &'a str,
    matcher: &'a str,
    #[serde(rename = "if", skip_serializing_if = "Vec::is_empty")]
    condition: Vec<&'a str>,
    handler: &'a str,
    command: Option<serde_json::Value>,
    timeout_ms: u128,
    on_failure: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    skip: Option<&'a str>,
    why: String,
}

/// The plan as JSON.
pub(crate) fn json(scene: &Scene<'_>) -> String {
    let hooks = scene.plan.hooks.iter().map(|planned| {
        let hook = &*planned.hook;
        let Head { name, source, matcher } = head(hook);
        PlannedForm {
            name,
            source,
            file: hook.source.position.as_ref().map(|at| at.file.as_str()),
            line: hook.source.position.as_ref().map(|at| at.line),
            level: hook.source.level.as_str(),
            matcher,
            condition: hook.condition.iter().map(tenter::core::rules::Rule::text).collect(),
            handler: hook.handler.kind(),
            command: command(hook),
            timeout_ms: timeout(hook, scene.contract).as_millis(),
            on_failure: hook.failure_policy(scene.contract).as_str(),
            status: if planned.skip.is_some() { "skipped" } else { "runs" },
            skip: planned.skip.map(Skip::as_str),
            why: why(scene, planned),
        }
    });
    pretty(&PlanForm {
        version: 1,
        event: scene.event.kind.name(),
        profile: scene.profile,
        subject: scene.event.subject(scene.contract.subject).map(std::borrow::Cow::into_owned),
        permission: scene.permission.as_ref().map(|said| PermissionForm {
            decision: said.decision,
            reason: &said.text,
            rule: &said.rule,
            level: said.level.as_str(),
            source: &said.source,
        }),
        shell: shell::analysis(scene.event).as_ref().map(shell::form),
        hooks: hooks.collect(),
    })
}

/// The plan for people.
pub(crate) fn human(scene: &Scene<'_>, width: usize) -> String {
    let mut out = human::heading(scene.event, width);
    if !scene.plan.hooks.is_empty() {
        out.push('\n');
    }
    let widest = scene.plan.hooks.iter().map(|planned| text::width(&name(&planned.hook))).max();
    let widest = widest.unwrap_or(0);
    for planned in &scene.plan.hooks {
        hook(&mut out, scene, planned, widest, width);
    }
    out.push('\n');
    if let Some(analysis) = shell::analysis(scene.event) {
        out.push_str(&shell::human(&analysis, width));
        out.push('\n');
    }
    if let Some(permission) = &scene.permission {
        let style = match permission.decision {
            Decision::Deny => BAD,
            Decision::Ask | Decision::Defer => ASKS,
            Decision::Allow | Decision::None => GOOD,
        };
        // Writing to a `String` does not fail.
        let _ = writeln!(
            out,
            "permission rules: {}{}",
            paint(style, permission.decision.as_str()),
            paint(DIM, format!(": {}", text::printable(&permission.text)))
        );
    }
    let runs = scene.plan.runs().count();
    let all = scene.plan.hooks.len();
    let _ = match all {
        0 => writeln!(out, "no hook is for {}", scene.event.kind),
        _ => writeln!(out, "{runs} of {} would run", text::count(all, "hook")),
    };
    out
}

fn name(hook: &Hook) -> String {
    text::one_line(&hook.name, 32)
}

fn hook(out: &mut String, scene: &Scene<'_>, planned: &Planned, widest: usize, width: usize) {
    let hook = &*planned.hook;
    let (mark, style) = match planned.skip {
        None if hook.failed.is_some() || matches!(hook.handler, Handler::Broken { .. }) => {
            ('!', WARNING)
        }
        None => ('▶', GOOD),
        Some(skip) if why::is_loud(skip) => ('!', WARNING),
        Some(_) => ('·', DIM),
    };
    let padded = text::padded(&name(hook), widest);
    let padded = if planned.skip.is_some() { paint(DIM, padded) } else { paint(STRONG, padded) };
    let word = match planned.skip {
        None => paint(style, "runs   "),
        Some(_) => paint(style, "skipped"),
    };
    let indent = 4 + widest + 2 + 7 + 2;
    let (beside, below) = text::beside(&why(scene, planned), indent, width);
    let line = format!("  {} {padded}  {word}  {beside}", paint(style, mark));
    // Writing to a `String` does not fail.
    let _ = writeln!(out, "{}", line.trim_end());
    for line in below {
        let _ = writeln!(out, "{line}");
    }
    for line in text::below(&details(hook, scene.contract), indent, width) {
        let _ = writeln!(out, "{}", paint(DIM, line));
    }
}

/// Why a hook runs or does not.
fn why(scene: &Scene<'_>, planned: &Planned) -> String {
    let hook = &*planned.hook;
    let denied_by = || scene.permission.as_ref().map(|permission| permission.text.clone());
    match planned.skip {
        Some(Skip::Permission) if denied_by().is_some() => denied_by().unwrap_or_default(),
        Some(skip) => {
            let others = scene.plan.hooks.iter().map(|planned| &*planned.hook);
            why::of_skip_among(hook, skip, scene.event, scene.contract, others)
        }
        None => runs(hook, scene),
    }
}

fn runs(hook: &Hook, scene: &Scene<'_>) -> String {
    if let Some(reason) = &hook.failed {
        return format!("it fails before it starts: {reason}");
    }
    if let Handler::Broken { reason, .. } = &hook.handler {
        return format!("it fails: {reason}");
    }
    let mut why = match (hook.matcher.is_all(), scene.event.subject(scene.contract.subject)) {
        (false, Some(subject)) => {
            format!("`{}` matches `{}`", hook.matcher.source(), text::one_line(&subject, 60))
        }
        _ => format!("it is for every {}", scene.event.kind),
    };
    match hook.condition.as_slice() {
        [] => {}
        [rule] => {
            let _ = write!(why, ", and its `if` holds or may hold: `{rule}`");
        }
        rules => {
            let rules: Vec<_> = rules.iter().map(|rule| format!("`{rule}`")).collect();
            let _ = write!(why, ", and a rule of its `if` holds or may hold: {}", rules.join(", "));
        }
    }
    why
}

/// How a hook would run: where it stands, what it starts, what bounds it.
fn details(hook: &Hook, contract: &Contract) -> String {
    let mut parts = vec![place(hook)];
    parts.push(text::one_line(&handler(hook), 60));
    if !matches!(hook.handler, Handler::Reply(_)) {
        parts.push(format!("timeout {}", text::limit(timeout(hook, contract))));
        parts.push(
            match hook.failure_policy(contract) {
                OnFailure::Block => "a failure blocks",
                OnFailure::Ask => "a failure asks",
                OnFailure::Allow => "a failure blocks nothing",
            }
            .to_owned(),
        );
    }
    match hook.scope {
        Scope::All => {}
        Scope::Main => parts.push("main agent only".into()),
        Scope::Subagents => parts.push("subagents only".into()),
    }
    if hook.order == Order::Sequence {
        parts.push("in sequence".into());
    }
    if hook.detach {
        parts.push("detached".into());
    }
    if hook.once {
        parts.push("once in a session".into());
    }
    parts.join(" · ")
}

/// Where a hook stands, as `FILE:LINE`.
pub(crate) fn place(hook: &Hook) -> String {
    match &hook.source.position {
        Some(at) => format!("{}:{}", at.file, at.line),
        None => hook.source.pointer.clone(),
    }
}

/// What a hook does: the command that it starts, or what its fixed answer says.
pub(crate) fn handler(hook: &Hook) -> String {
    let verdict = match &hook.handler {
        Handler::Command(command) => {
            return match &command.line {
                CommandLine::Argv(words) => text::command_line(words),
                CommandLine::Shell(text) => text.clone(),
            };
        }
        Handler::Reply(verdict) => verdict,
        Handler::Function | Handler::Broken { .. } => return hook.handler.kind().to_owned(),
    };
    let mut said = Vec::new();
    if verdict.decision != Decision::None {
        said.push(verdict.decision.as_str());
    }
    let parts = [
        (verdict.halt, "halt"),
        (verdict.rewrite().is_some(), "rewrite"),
        (verdict.context().is_some(), "context"),
        (verdict.message().is_some(), "message"),
    ];
    said.extend(parts.into_iter().filter(|(is_there, _)| *is_there).map(|(_, word)| word));
    format!("reply: {}", said.join(", "))
}

/// What a command hook starts, as it stands in the file: a list of words or a text for the shell.
pub(crate) fn command(hook: &Hook) -> Option<serde_json::Value> {
    match &hook.handler {
        Handler::Command(command) => Some(match &command.line {
            CommandLine::Argv(words) => words.as_slice().into(),
            CommandLine::Shell(text) => text.as_str().into(),
        }),
        _ => None,
    }
}

fn timeout(hook: &Hook, contract: &Contract) -> Duration {
    hook.timeout.unwrap_or(contract.timeout)
}
