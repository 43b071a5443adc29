//! What a hook becomes whose entry was edited after it was trusted.
//!
//! Nobody has looked at the new text, so it has no say in how far its hook may be neglected: where
//! old and new differ, the hook fails for the calls of both, under the stricter policy.

use serde_json::{Map, Value};
use tenter_core::contract::OnFailure;
use tenter_core::event::EventKind;
use tenter_core::hook::{Hook, Scope};
use tenter_core::matcher::Matcher;
use tenter_core::outcome::Skip;
use tenter_hosts::names;

/// Makes a hook fail in place of the one that was trusted. `was` and `now` are the canonical texts
/// of its entry, the older one as far as it is known.
pub(super) fn fail_for_both(hook: &mut Hook, was: Option<&str>, now: &str, reason: String) {
    hook.failed = Some(reason);
    if hook.skip == Some(Skip::Disabled) {
        hook.skip = None;
    }
    // A date or a fraction is not JSON; such an entry has no key in common with any other.
    let was = was.and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
    let now = serde_json::from_str::<Map<String, Value>>(now).ok();
    let same = |key: &str| match (&was, &now) {
        (Some(was), Some(now)) => was.get(key) == now.get(key),
        _ => false,
    };
    if !same("event") {
        for kind in was.as_ref().map(events).unwrap_or_default() {
            if !hook.events.contains(&kind) {
                hook.events.push(kind);
            }
        }
    }
    if !(same("event") && same("matcher")) {
        hook.matcher = Matcher::all();
    }
    if !same("if") {
        hook.condition.clear();
    }
    if !same("agents") {
        hook.scope = Scope::All;
    }
    if !same("detach") {
        hook.detach = false;
    }
    if !same("once") {
        hook.once = false;
    }
    if let Some(was) = &was {
        hook.on_failure = stricter(was.get("on_failure").and_then(policy), hook.on_failure);
    }
}

/// The stricter of two written policies, where leaving it out means the default of the event.
fn stricter(was: Option<OnFailure>, now: Option<OnFailure>) -> Option<OnFailure> {
    match (was, now) {
        (Some(was), Some(now)) => Some(was.max(now)),
        (Some(was), None) => Some(was),
        (None, Some(OnFailure::Block)) => now,
        (None, _) => None,
    }
}

fn events(entry: &Map<String, Value>) -> Vec<EventKind> {
    let names: Vec<&str> = match entry.get("event") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    names.into_iter().filter_map(names::event_kind).collect()
}

fn policy(word: &Value) -> Option<OnFailure> {
    match word.as_str()? {
        "block" => Some(OnFailure::Block),
        "ask" => Some(OnFailure::Ask),
        "allow" => Some(OnFailure::Allow),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tenter_core::hook::{Handler, Source};
    use tenter_core::verdict::Verdict;

    fn edited(was: &str, now: &str, edit: impl FnOnce(&mut Hook)) -> Hook {
        let reply = Handler::Reply(Box::new(Verdict::none()));
        let mut hook = Hook::new("h", Source::code("t"), vec![EventKind::PreToolUse], reply);
        hook.matcher = Matcher::parse("Bash").unwrap();
        edit(&mut hook);
        fail_for_both(&mut hook, Some(was), now, "why".into());
        hook
    }

    #[test]
    fn a_guard_stays_one_whatever_the_new_text_says() {
        let hook = edited(
            r#"{"event":"PreToolUse","matcher":"Bash","on_failure":"block"}"#,
            r#"{"enabled":false,"event":"PreToolUse","matcher":"Bash","on_failure":"allow"}"#,
            |hook| {
                hook.on_failure = Some(OnFailure::Allow);
                hook.skip = Some(Skip::Disabled);
            },
        );
        assert_eq!((hook.on_failure, hook.skip), (Some(OnFailure::Block), None));
        assert_eq!(hook.matcher.source(), Matcher::parse("Bash").unwrap().source());
        assert_eq!(hook.failed.as_deref(), Some("why"));
    }

    #[test]
    fn a_hook_that_was_moved_to_another_event_fails_on_both() {
        let hook = edited(
            r#"{"event":["PreToolUse","Stop"],"matcher":"Bash"}"#,
            r#"{"detach":true,"event":"Notification"}"#,
            |hook| {
                hook.events = vec![EventKind::Notification];
                hook.detach = true;
                hook.on_failure = Some(OnFailure::Allow);
            },
        );
        assert_eq!(hook.events, [EventKind::Notification, EventKind::PreToolUse, EventKind::Stop]);
        assert!(hook.matcher.is_all() && !hook.detach);
        assert_eq!(hook.on_failure, None, "the default of the event, as it was trusted");
    }

    #[test]
    fn an_entry_whose_old_text_is_not_known_fails_for_every_subject() {
        let reply = Handler::Reply(Box::new(Verdict::none()));
        let mut hook = Hook::new("h", Source::code("t"), vec![EventKind::PreToolUse], reply);
        hook.matcher = Matcher::parse("Bash").unwrap();
        fail_for_both(&mut hook, None, "{}", "why".into());
        assert!(hook.matcher.is_all());
    }
}
