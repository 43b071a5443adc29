//! The effective hooks and rules, for people and as JSON.

use std::fmt::Write as _;

use anstyle::Style;
use serde::Serialize;
use tenter::core::event::EventKind;
use tenter::core::hook::{Handler, Hook, Level, Scope};
use tenter::core::outcome::Skip;
use tenter::core::profile::Profile;
use tenter::core::rules::RuleSet;

use super::json::{Head, head, pretty};
use super::plan::{command, handler, place};
use super::style::{ASKS, BAD, DIM, GOOD, STRONG, WARNING, paint};
use super::text;

/// How a hook stands, whatever the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// It runs where its event and matcher say.
    Active,
    /// Its project was never trusted.
    Untrusted,
    /// It, or a script of it, changed after it was trusted.
    Changed,
    /// Its entry is wrong.
    Broken,
    /// It is switched off.
    Disabled,
    /// Another hook does its work.
    Duplicate,
    /// This version cannot run it.
    Unsupported,
}

impl State {
    fn of(hook: &Hook) -> Self {
        match (hook.skip, &hook.handler) {
            (Some(Skip::Untrusted), _) => Self::Untrusted,
            (_, Handler::Broken { .. }) => Self::Broken,
            (Some(Skip::Duplicate), _) => Self::Duplicate,
            (Some(Skip::Unsupported), _) => Self::Unsupported,
            (Some(_), _) => Self::Disabled,
            (None, _) if hook.failed.is_some() => Self::Changed,
            (None, _) => Self::Active,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Untrusted => "untrusted",
            Self::Changed => "changed",
            Self::Broken => "broken",
            Self::Disabled => "disabled",
            Self::Duplicate => "duplicate",
            Self::Unsupported => "unsupported",
        }
    }

    const fn look(self) -> (char, Style) {
        match self {
            Self::Active => ('✓', GOOD),
            Self::Untrusted | Self::Unsupported => ('!', WARNING),
            Self::Changed | Self::Broken => ('✗', BAD),
            Self::Disabled | Self::Duplicate => ('·', DIM),
        }
    }
}

/// What `tenter list --json` writes.
#[derive(Debug, Serialize)]
struct ListForm<'a> {
    version: u32,
    profile: &'a str,
    hooks: Vec<HookForm<'a>>,
    rules: Vec<RuleForm<'a>>,
}

#[derive(Debug, Serialize)]
struct HookForm<'a> {
    name: &'a str,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    level: Level,
    source: String,
    file: Option<&'a str>,
    line: Option<usize>,
    events: Vec<&'a str>,
    matcher: &'a str,
    #[serde(rename = "if", skip_serializing_if = "Vec::is_empty")]
    condition: Vec<&'a str>,
    handler: &'a str,
    command: Option<serde_json::Value>,
    on_failure: Vec<&'a str>,
}

#[derive(Debug, Serialize)]
struct RuleForm<'a> {
    decision: &'a str,
    rule: &'a str,
    level: Level,
    source: &'a str,
}

/// The list as JSON.
pub(crate) fn json(hooks: &[std::sync::Arc<Hook>], rules: &RuleSet, profile: &Profile) -> String {
    let hooks = hooks.iter().map(|hook| {
        let Head { name, source, matcher } = head(hook);
        HookForm {
            name,
            state: State::of(hook),
            why: why(hook),
            level: hook.source.level,
            source,
            file: hook.source.position.as_ref().map(|at| at.file.as_str()),
            line: hook.source.position.as_ref().map(|at| at.line),
            events: hook.events.iter().map(EventKind::name).collect(),
            matcher,
            condition: hook.condition.iter().map(tenter::core::rules::Rule::text).collect(),
            handler: hook.handler.kind(),
            command: command(hook),
            on_failure: policies(hook, profile),
        }
    });
    let rules = rules.iter().map(|(decision, rule, level, source)| RuleForm {
        decision: decision.as_str(),
        rule: rule.text(),
        level,
        source,
    });
    pretty(&ListForm {
        version: 1,
        profile: profile.name,
        hooks: hooks.collect(),
        rules: rules.collect(),
    })
}

/// What the hook's failure does on each of its events, in their order.
fn policies(hook: &Hook, profile: &Profile) -> Vec<&'static str> {
    let policy = |kind| hook.failure_policy(profile.contract(kind)).as_str();
    hook.events.iter().map(policy).collect()
}

fn why(hook: &Hook) -> Option<&str> {
    match &hook.handler {
        Handler::Broken { reason, .. } => Some(reason),
        _ => hook.failed.as_deref(),
    }
}

/// The list for people: by level, highest first.
pub(crate) fn human(
    hooks: &[std::sync::Arc<Hook>],
    rules: &RuleSet,
    profile: &Profile,
    width: usize,
) -> String {
    let mut out = String::new();
    for level in [Level::Managed, Level::User, Level::Project, Level::Private] {
        let of_level: Vec<_> = hooks.iter().filter(|hook| hook.source.level == level).collect();
        let rules: Vec<_> = rules.iter().filter(|(_, _, of, _)| *of == level).collect();
        if of_level.is_empty() && rules.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        // Writing to a `String` does not fail.
        let _ = writeln!(out, "{}", paint(STRONG, level.as_str()));
        let columns = Columns::of(&of_level);
        for hook in of_level {
            hook_lines(&mut out, hook, profile, &columns, width);
        }
        for (decision, rule, _, source) in rules {
            let style = match decision {
                tenter::core::verdict::Decision::Deny => BAD,
                tenter::core::verdict::Decision::Allow => GOOD,
                _ => ASKS,
            };
            let decision = paint(style, text::padded(decision.as_str(), 5));
            let rule = text::one_line(rule.text(), 80);
            let _ =
                writeln!(out, "  {} {decision} {rule}  {}", paint(DIM, "rule"), paint(DIM, source));
        }
    }
    out
}

/// How wide the columns of one level are.
struct Columns {
    name: usize,
    state: usize,
    events: usize,
}

impl Columns {
    fn of(hooks: &[&std::sync::Arc<Hook>]) -> Self {
        let widest = |widths: &mut dyn Iterator<Item = usize>| widths.max().unwrap_or(0);
        Self {
            name: widest(&mut hooks.iter().map(|hook| text::width(&name(hook)))),
            state: widest(&mut hooks.iter().map(|hook| text::width(State::of(hook).word()))),
            events: widest(&mut hooks.iter().map(|hook| text::width(&events(hook)))),
        }
    }

    fn indent(&self) -> usize {
        4 + self.name + 2 + self.state + 2
    }
}

fn name(hook: &Hook) -> String {
    text::one_line(&hook.name, 32)
}

fn events(hook: &Hook) -> String {
    let names: Vec<_> = hook.events.iter().map(EventKind::name).collect();
    text::cut(&text::printable(&names.join(", ")), 40)
}

fn hook_lines(out: &mut String, hook: &Hook, profile: &Profile, columns: &Columns, width: usize) {
    let state = State::of(hook);
    let (mark, style) = state.look();
    let matcher = if hook.matcher.is_all() {
        String::new()
    } else {
        text::one_line(hook.matcher.source(), 40)
    };
    let name = text::padded(&name(hook), columns.name);
    let name = if state == State::Active { paint(STRONG, name) } else { name };
    // Writing to a `String` does not fail.
    let line = format!(
        "  {} {name}  {}  {}  {matcher}",
        paint(style, mark),
        paint(style, text::padded(state.word(), columns.state)),
        text::padded(&events(hook), columns.events),
    );
    let _ = writeln!(out, "{}", line.trim_end());
    let mut below = |words: &str| {
        for line in text::below(words, columns.indent(), width) {
            let _ = writeln!(out, "{}", paint(DIM, line));
        }
    };
    let mut details = vec![place(hook)];
    details.push(text::one_line(&handler(hook), 60));
    let conditions = hook.condition.iter().map(|rule| format!("if {rule}"));
    details.extend(conditions);
    match hook.scope {
        Scope::All => {}
        Scope::Main => details.push("main agent only".into()),
        Scope::Subagents => details.push("subagents only".into()),
    }
    if matches!(hook.handler, Handler::Command(_)) {
        let mut policies = policies(hook, profile);
        policies.dedup();
        details.push(format!("failure: {}", policies.join("/")));
    }
    below(&details.join(" · "));
    if let Some(why) = why(hook) {
        below(why);
    }
}
