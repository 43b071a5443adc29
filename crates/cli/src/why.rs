//! Why a hook does not run, in a sentence: which matcher met which subject, which rule did not hold.
//!
//! Owns the words. The reason itself is the plan's.

use tenter::core::contract::Contract;
use tenter::core::event::Event;
use tenter::core::hook::{Handler, Hook, Scope};
use tenter::core::outcome::{HookReport, Skip};
use tenter::hosts::by_name;
use tenter::hosts::native::HOST;

/// Whether the user should hear of it: the hook would do something, and is kept from it.
pub(crate) const fn is_loud(skip: Skip) -> bool {
    matches!(skip, Skip::Untrusted | Skip::Unsupported | Skip::Strikes)
}

/// Why a hook does not run for an event. `others` are the hooks of the event, for the one that does
/// its work.
pub(crate) fn of_skip<'a>(
    hook: &Hook,
    skip: Skip,
    event: &Event,
    contract: &Contract,
    others: impl IntoIterator<Item = &'a HookReport>,
) -> String {
    let others = others.into_iter().map(|report| &*report.hook);
    of_skip_among(hook, skip, event, contract, others)
}

/// [`of_skip`] where there are only hooks, not their reports.
pub(crate) fn of_skip_among<'a>(
    hook: &Hook,
    skip: Skip,
    event: &Event,
    contract: &Contract,
    others: impl IntoIterator<Item = &'a Hook>,
) -> String {
    match skip {
        Skip::Matcher => matcher(hook, event, contract),
        Skip::Condition => {
            let rules = hook.condition.iter().map(|rule| format!("`{rule}`")).collect::<Vec<_>>();
            match rules.as_slice() {
                [rule] => format!("its `if` does not hold: {rule}"),
                rules => format!("no rule of its `if` holds: {}", rules.join(", ")),
            }
        }
        Skip::Disabled => match &hook.handler {
            Handler::Broken { reason, .. } => reason.clone(),
            _ => "`enabled = false`".into(),
        },
        Skip::Untrusted => {
            let host = by_name(&event.origin.host);
            let trust = host.map_or(HOST.profile, |host| host.profile).trust_command;
            format!("never trusted; look at it, then run `{trust}`")
        }
        Skip::Duplicate => {
            let twin = others.into_iter().find(|other| does_the_work_of(other, hook));
            match twin {
                Some(twin) => format!("hook `{}` does the same", twin.name),
                None => "another hook does the same".into(),
            }
        }
        Skip::Scope => match hook.scope {
            Scope::Subagents => "it is for subagents, and the main agent acts".into(),
            Scope::Main => "it is for the main agent, and a subagent acts".into(),
            Scope::All => "it is for other agents".into(),
        },
        Skip::Unsupported => "neither this profile nor this version of tenter runs it".into(),
        Skip::Once => "it runs once in a session, and has".into(),
        Skip::Strikes => "it failed too often in a row in this session".into(),
        Skip::Permission => "a deny rule decided before any hook was asked".into(),
        Skip::Stopped => "a hook before it in the sequence denied or halted".into(),
    }
}

fn matcher(hook: &Hook, event: &Event, contract: &Contract) -> String {
    let source = hook.matcher.source();
    match (event.subject(contract.subject), contract.subject.name()) {
        (Some(subject), Some(field)) => {
            let subject = crate::render::text::one_line(&subject, 60);
            format!("`{source}` does not match {field} `{subject}`")
        }
        (None, Some(field)) => {
            format!("`{source}` has nothing to match: the event has no `{field}`")
        }
        (_, None) => format!("`{source}` has nothing to match in a {} event", event.kind),
    }
}

/// Whether one hook runs for both: equal in all that says what is done.
fn does_the_work_of(one: &Hook, other: &Hook) -> bool {
    let mut twin = other.clone();
    twin.skip = one.skip;
    one.skip.is_none() && one.same_work(&twin)
}
