//! What is said about hooks: in their reports, and to the user.

use tenter_core::contract::Block;
use tenter_core::diagnostic::{Diagnostic, Severity};
use tenter_core::hook::{Handler, Hook};
use tenter_core::merge::{Merged, Note, NoteKind};
use tenter_core::outcome::{HookReport, Message, Outcome, Skip, Status};
use tenter_core::profile::Profile;
use tenter_hosts::codec::Failed;

use crate::fire::{Answer, Fire};

/// Writes into reports and messages what the merge has to say about single hooks.
pub(super) fn speak(
    fire: &Fire<'_>,
    outcome: &mut Outcome,
    answers: &[(usize, Answer)],
    merged: &Merged,
) {
    for at in &merged.applied {
        if let Some(report) = answers.get(*at).and_then(|(at, _)| outcome.hooks.get_mut(*at)) {
            report.rewrite = true;
        }
    }
    for (at, answer) in answers {
        let Some(report) = outcome.hooks.get(*at) else { continue };
        let hook = &report.hook;
        if let Some(text) = answer.verdict.message().filter(|_| answer.failed.is_none()) {
            outcome.messages.push(message(Severity::Info, text, &hook.name));
        }
        if let Some(failed) = &answer.failed {
            outcome.messages.push(failure_message(hook, failed));
        } else if answer.cancelled {
            let text = format!("hook `{}` was cancelled", hook.name);
            outcome.messages.push(message(Severity::Warning, &text, &hook.name));
        }
    }
    for (at, _) in answers {
        let Some(report) = outcome.hooks.get(*at) else { continue };
        let refused = report.diagnostics().iter().filter(|one| one.code == "view.edited");
        let texts: Vec<_> = refused
            .map(|one| {
                format!("hook `{}`: its rewrite is refused: {}", report.hook.name, one.message)
            })
            .map(|text| message(Severity::Warning, &text, &report.hook.name))
            .collect();
        outcome.messages.extend(texts);
    }
    for note in &merged.notes {
        say(fire, outcome, answers, note);
    }
}

/// The warning about a hook that failed.
pub(super) fn failure_message(hook: &Hook, failed: &Failed) -> Message {
    message(Severity::Warning, &failure_text(hook, failed), &hook.name)
}

/// What a failure is called where it speaks for a hook. What is wrong with an entry names it
/// already.
pub(super) fn failure_text(hook: &Hook, failed: &Failed) -> String {
    let Failed { failure, reason } = failed;
    if reason.starts_with("hook `") {
        return reason.clone();
    }
    format!("hook `{}` failed ({}): {reason}", hook.name, failure.as_str())
}

pub(super) fn message(level: Severity, text: &str, hook: &str) -> Message {
    Message { level, text: text.to_owned(), hook: Some(hook.to_owned()) }
}

/// One note of the merge, as a diagnostic of the hook's report and a warning for the user.
fn say(fire: &Fire<'_>, outcome: &mut Outcome, answers: &[(usize, Answer)], note: &Note) {
    let name_of = |outcome: &Outcome, voice: usize| {
        let report = answers.get(voice).and_then(|(at, _)| outcome.hooks.get(*at));
        report.map_or_else(String::new, |report| report.hook.name.clone())
    };
    let key = |key: &Option<String>| match key {
        Some(key) => format!("`{key}`"),
        None => "the whole payload".to_owned(),
    };
    let (code, text) = match &note.kind {
        NoteKind::KeyRefused { key: name, by } => {
            let text = format!(
                "its rewrite of {} is refused: the {} level has set it",
                key(name),
                by.as_str()
            );
            ("rewrite.refused", text)
        }
        NoteKind::KeyOverwritten { key: name, of } => {
            let other = name_of(outcome, *of);
            (
                "rewrite.overwritten",
                format!("it rewrites {} after hook `{other}`, with another value", key(name)),
            )
        }
        NoteKind::NotTheOne { of } => (
            "rewrite.not-the-one",
            format!("its rewrite is not used: that of hook `{}` is", name_of(outcome, *of)),
        ),
        NoteKind::ShapeRefused(why) => ("rewrite.shape", format!("its rewrite is refused: {why}")),
        NoteKind::NothingToRewrite => (
            "rewrite.nothing",
            format!("its rewrite is ignored: a {} event has nothing to rewrite", outcome.kind),
        ),
        NoteKind::Withheld => {
            ("rewrite.withheld", "its rewrite is not used: the result is withheld".to_owned())
        }
        NoteKind::OnlyARemark(decision) => {
            let effect = match fire.contract.block {
                Block::Annotates => "the tool has run already",
                _ => "nothing can be held up here",
            };
            ("decision.remark", format!("it says {}, and {effect}", decision.as_str()))
        }
        NoteKind::HaltIgnored => {
            ("halt.ignored", format!("it halts, which means nothing for a {} event", outcome.kind))
        }
    };
    let Some((at, answer)) = answers.get(note.voice) else { return };
    let reason = match note.kind {
        NoteKind::OnlyARemark(_) => answer.verdict.reason.as_deref(),
        _ => None,
    };
    let full = match reason {
        Some(reason) => format!("{text}: {reason}"),
        None => text.clone(),
    };
    let Some(report) = outcome.hooks.get_mut(*at) else { return };
    report.details().diagnostics.push(Diagnostic::warning(code, text));
    let name = report.hook.name.clone();
    outcome.messages.push(message(Severity::Warning, &format!("hook `{name}`: {full}"), &name));
}

/// Hooks that would have run and were left out for a reason that the user can mend.
pub(super) fn warn_of_skips(profile: &Profile, outcome: &mut Outcome) {
    let loud = |report: &HookReport| {
        let name = &report.hook.name;
        match report.status {
            Status::Cancelled if report.detached => Some(format!(
                "hook `{name}` is dropped: too many hooks that nobody waits for are waiting"
            )),
            Status::Skipped(Skip::Untrusted) => Some(format!(
                "hook `{name}` ({}) is skipped: this project is not trusted; look at it, then run `{}`",
                report.hook.source, profile.trust_command
            )),
            Status::Skipped(Skip::Strikes) => Some(format!(
                "hook `{name}` is left out for the rest of the session: it failed too often in a row"
            )),
            Status::Skipped(Skip::Disabled) => match &report.hook.handler {
                Handler::Broken { reason, .. } => {
                    Some(format!("hook `{name}` is left out: its entry is wrong: {reason}"))
                }
                _ => None,
            },
            Status::Skipped(Skip::Unsupported) => Some(format!(
                "hook `{name}` is skipped: neither this profile nor this version of tenter runs it"
            )),
            _ => None,
        }
    };
    let messages = outcome.hooks.iter().filter_map(|report| {
        loud(report).map(|text| message(Severity::Warning, &text, &report.hook.name))
    });
    outcome.messages = messages.collect();
}

/// The reason of hooks that gave none.
pub(super) fn nameless_reason(outcome: &Outcome) -> String {
    let names = |says: &dyn Fn(&HookReport) -> bool| {
        let hooks = outcome.hooks.iter().filter(|report| says(report));
        hooks.map(|report| format!("`{}`", report.hook.name)).collect::<Vec<_>>().join(", ")
    };
    if outcome.halt {
        return format!("hook {} halts without a reason", names(&|report| report.halt));
    }
    let mut sayers = names(&|report| report.decision == outcome.decision);
    if sayers.is_empty() {
        // An ask may stand for a denial.
        sayers = names(&|report| report.decision.restricts());
    }
    format!("hook {sayers} says {} without a reason", outcome.decision.as_str())
}

/// Adds one more reason.
pub(super) fn add_reason(outcome: &mut Outcome, reason: &str) {
    match &mut outcome.reason {
        Some(text) => {
            text.push('\n');
            text.push_str(reason);
        }
        None => outcome.reason = Some(reason.to_owned()),
    }
}
