//! The port to a permission policy, and the one that comes with the agent: rules, then a mode.
//!
//! Owns what may run without a question. It asks nobody itself: the gate does.

use tenter::core::profile::Permission;
use tenter::{Decision, Engine, Event, Level};

/// A call as a policy sees it.
#[derive(Debug, Clone, Copy)]
pub struct PolicyCall<'a> {
    /// The event that hooks are asked about, with the effective input.
    pub event: &'a Event,
    /// Whether the tool changes nothing.
    pub read_only: bool,
    /// Whether the tool changes files and nothing else.
    pub edits_files: bool,
}

/// What a policy says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// It may run.
    Allow,
    /// Somebody has to allow it.
    Ask {
        /// Why.
        reason: String,
        /// A hook of this level or above can allow it; `None` if no hook can.
        answered_by: Option<Level>,
    },
    /// It does not run.
    Deny {
        /// Why.
        reason: String,
    },
}

/// Says which calls may run.
pub trait PermissionPolicy: Send + Sync {
    /// What it says about a call.
    fn judge(&self, call: &PolicyCall<'_>) -> Ruling;

    /// Where it stands beside hooks.
    fn position(&self) -> Permission {
        Permission::AroundHooks
    }

    /// The word for it in the event stream and for hooks.
    fn mode(&self) -> &'static str {
        "default"
    }
}

/// What may run without a question where no rule speaks of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// What changes nothing.
    #[default]
    Default,
    /// That, and changes of files.
    AcceptEdits,
    /// What changes nothing; all else is denied.
    Plan,
    /// Everything.
    Bypass,
}

impl Mode {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "accept-edits",
            Self::Plan => "plan",
            Self::Bypass => "bypass",
        }
    }
}

/// The rules of an engine's configuration, and a mode for all else. Deny and ask rules hold in every
/// mode; `plan` denies what an allow rule would let through.
#[derive(Debug, Clone)]
pub struct RulesPolicy {
    engine: Option<Engine>,
    mode: Mode,
}

impl RulesPolicy {
    /// The rules of an engine.
    pub fn new(engine: Engine, mode: Mode) -> Self {
        Self { engine: Some(engine), mode }
    }

    /// A mode alone.
    pub const fn mode_only(mode: Mode) -> Self {
        Self { engine: None, mode }
    }

    fn of_mode(&self, call: &PolicyCall<'_>) -> Ruling {
        let free = match self.mode {
            Mode::Bypass => true,
            Mode::AcceptEdits => call.read_only || call.edits_files,
            Mode::Default | Mode::Plan => call.read_only,
        };
        if free {
            return Ruling::Allow;
        }
        let tool = call.event.tool_name().unwrap_or_default();
        Ruling::Ask {
            reason: format!("no rule allows this call of {tool}"),
            answered_by: Some(Level::Private),
        }
    }
}

impl PermissionPolicy for RulesPolicy {
    fn judge(&self, call: &PolicyCall<'_>) -> Ruling {
        let ruling = self.engine.as_ref().and_then(|engine| engine.judge(call.event));
        if let Some(ruling) = &ruling
            && ruling.decision == Decision::Deny
        {
            return Ruling::Deny { reason: ruling.text.clone() };
        }
        if self.mode == Mode::Plan && !call.read_only {
            let tool = call.event.tool_name().unwrap_or_default();
            return Ruling::Deny {
                reason: format!(
                    "{tool} is not for planning: the mode is `plan`, which changes nothing"
                ),
            };
        }
        match ruling {
            Some(ruling) if ruling.decision == Decision::Ask => {
                let answered_by = (ruling.list != Decision::Deny).then_some(ruling.level);
                Ruling::Ask { reason: ruling.text, answered_by }
            }
            Some(_) => Ruling::Allow,
            None => self.of_mode(call),
        }
    }

    fn position(&self) -> Permission {
        let engine = self.engine.as_ref();
        engine.map_or(Permission::AroundHooks, |engine| engine.host().profile.permission)
    }

    fn mode(&self) -> &'static str {
        self.mode.as_str()
    }
}

#[cfg(test)]
mod tests {
    use tenter::{Json, Rule, RuleSet};

    use super::*;

    fn ruling(policy: &RulesPolicy, tool: &str, input: &str, read_only: bool) -> Ruling {
        let event = Event::pre_tool(tool, Json::parse(input).unwrap());
        policy.judge(&PolicyCall { event: &event, read_only, edits_files: tool == "Write" })
    }

    #[test]
    fn a_mode_decides_where_no_rule_speaks() {
        for (mode, bash, write, read) in [
            (Mode::Default, "ask", "ask", "allow"),
            (Mode::AcceptEdits, "ask", "allow", "allow"),
            (Mode::Plan, "deny", "deny", "allow"),
            (Mode::Bypass, "allow", "allow", "allow"),
        ] {
            let policy = RulesPolicy::mode_only(mode);
            let word = |tool, read_only| match ruling(&policy, tool, "{}", read_only) {
                Ruling::Allow => "allow",
                Ruling::Ask { .. } => "ask",
                Ruling::Deny { .. } => "deny",
            };
            let words = (word("Bash", false), word("Write", false), word("Read", true));
            assert_eq!(words, (bash, write, read), "{mode:?}");
        }
    }

    #[test]
    fn deny_and_ask_rules_hold_in_every_mode() {
        let mut rules = RuleSet::new();
        rules.add_deny(Rule::parse("Bash(rm *)").unwrap(), Level::User, "");
        rules.add_ask(Rule::parse("Bash(git push *)").unwrap(), Level::User, "");
        rules.add_allow(Rule::parse("Bash(ls *)").unwrap(), Level::User, "");
        let engine = Engine::builder().rules(rules).build();
        let policy = RulesPolicy::new(engine.clone(), Mode::Bypass);
        let bash = |policy: &RulesPolicy, command: &str| {
            ruling(policy, "Bash", &serde_json::json!({ "command": command }).to_string(), false)
        };
        assert!(matches!(bash(&policy, "rm -r x"), Ruling::Deny { .. }));
        assert!(matches!(
            bash(&policy, "git push"),
            Ruling::Ask { answered_by: Some(Level::User), .. }
        ));
        // It may be what a deny rule names, and no hook can know better.
        assert!(matches!(bash(&policy, "$x"), Ruling::Ask { answered_by: None, .. }));
        assert_eq!(bash(&RulesPolicy::new(engine, Mode::Default), "ls -l"), Ruling::Allow);
    }
}
