//! Which hooks would run for an event, and for every other one why not.
//!
//! A [`HookTable`] is compiled once per configuration. What depends only on an event's kind,
//! subject and agent is a [`Selection`], which a caller may keep; what depends on the single event
//! (`if`, `once`, strikes) is judged by [`HookTable::skip_of`].

use std::collections::HashMap;
use std::sync::Arc;

use crate::contract::{Contract, OnFailure};
use crate::event::{EventKind, EventMask};
use crate::hook::{Handler, Hook, Scope};
use crate::outcome::Skip;
use crate::profile::Dedupe;
use crate::rules::{Rule, Truth};

/// One hook of an event, and whether its kind, subject and agent already leave it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The hook's place in the table.
    pub hook: usize,
    /// Why it does not run, as far as that is known without the single event.
    pub skip: Option<Skip>,
}

/// The hooks of an event kind for one subject and one sort of agent, in configuration order.
pub type Selection = Arc<[Slot]>;

/// All hooks of a configuration, indexed by event.
#[derive(Debug, Default)]
pub struct HookTable {
    hooks: Vec<Arc<Hook>>,
    standard: Vec<Vec<usize>>,
    other: HashMap<Arc<str>, Vec<usize>>,
    mask: EventMask,
}

impl HookTable {
    /// Indexes hooks. Their order is the configuration order: higher levels first.
    pub fn new(hooks: Vec<Arc<Hook>>) -> Self {
        let mut standard = vec![Vec::new(); EventKind::ALL.len()];
        let mut other: HashMap<Arc<str>, Vec<usize>> = HashMap::new();
        let mut mask = EventMask::EMPTY;
        for (at, hook) in hooks.iter().enumerate() {
            for kind in &hook.events {
                let list = match kind {
                    EventKind::Other(name) => Some(other.entry(Arc::clone(name)).or_default()),
                    _ => standard.get_mut(kind.index()),
                };
                if let Some(list) = list
                    && list.last() != Some(&at)
                {
                    list.push(at);
                }
                // A hook that is left out loudly still has to be heard of.
                if matches!(hook.skip, None | Some(Skip::Untrusted | Skip::Unsupported)) {
                    mask = mask.with(kind);
                }
            }
        }
        Self { hooks, standard, other, mask }
    }

    /// The events for which anything is to be done.
    pub fn mask(&self) -> EventMask {
        self.mask
    }

    /// All hooks in configuration order.
    pub fn hooks(&self) -> &[Arc<Hook>] {
        &self.hooks
    }

    /// The hook at a place in the table.
    pub fn get(&self, at: usize) -> Option<&Arc<Hook>> {
        self.hooks.get(at)
    }

    /// The hooks of an event kind, whatever its subject.
    pub fn of_kind(&self, kind: &EventKind) -> &[usize] {
        let list = match kind {
            EventKind::Other(name) => self.other.get(name),
            _ => self.standard.get(kind.index()),
        };
        list.map_or(&[], Vec::as_slice)
    }

    /// Judges what depends only on kind (with its contract), subject and agent. `names` are all names
    /// of the subject: a hook may use any of them.
    pub fn select(
        &self,
        kind: &EventKind,
        contract: &Contract,
        dedupe: Dedupe,
        names: &[&str],
        subagent: bool,
    ) -> Selection {
        let mut slots: Vec<Slot> = self
            .of_kind(kind)
            .iter()
            .filter_map(|at| self.get(*at).map(|hook| (*at, hook)))
            .map(|(at, hook)| Slot { hook: at, skip: static_skip(hook, contract, names, subagent) })
            .collect();
        if dedupe == Dedupe::SameCommand {
            self.skip_same_commands(&mut slots, contract);
        }
        slots.into()
    }

    /// Leaves out hooks whose command another one runs for the same event.
    fn skip_same_commands(&self, slots: &mut [Slot], contract: &Contract) {
        for at in 1..slots.len() {
            let (before, rest) = slots.split_at_mut(at);
            let Some(slot) = rest.first_mut().filter(|slot| slot.skip.is_none()) else { continue };
            let Some(hook) = self.get(slot.hook) else { continue };
            let mut run = before.iter().filter(|slot| slot.skip.is_none());
            if run
                .any(|one| self.get(one.hook).is_some_and(|o| o.serves_command_of(hook, contract)))
            {
                slot.skip = Some(Skip::Duplicate);
            }
        }
    }

    /// Why the hook of a slot does not run for this very event; `None` if it runs.
    ///
    /// `holds` judges a rule on the event's input; `session` knows of `once` and strikes. A
    /// condition that may hold does hold: the hook looks closer.
    pub fn skip_of(
        &self,
        slot: Slot,
        holds: impl Fn(&Rule) -> Truth,
        session: impl FnOnce(usize) -> Option<Skip>,
    ) -> Option<Skip> {
        if slot.skip.is_some() {
            return slot.skip;
        }
        let hook = self.get(slot.hook)?;
        if !hook.condition.is_empty() && hook.condition.iter().all(|rule| holds(rule) == Truth::No)
        {
            return Some(Skip::Condition);
        }
        session(slot.hook)
    }

    /// Whether a hook of this kind could hold the action up: what to assume when the event itself
    /// cannot be read.
    pub fn has_guard(&self, kind: &EventKind, contract: &Contract) -> bool {
        self.of_kind(kind)
            .iter()
            .filter_map(|at| self.get(*at))
            .any(|hook| hook.skip.is_none() && hook.failure_policy(contract) == OnFailure::Block)
    }
}

fn static_skip(hook: &Hook, contract: &Contract, names: &[&str], subagent: bool) -> Option<Skip> {
    if hook.skip == Some(Skip::Disabled) {
        return hook.skip;
    }
    // A broken entry keeps denying where it is a guard; elsewhere it is as good as absent.
    if matches!(hook.handler, Handler::Broken { .. }) && !hook.is_guard(contract) {
        return Some(Skip::Disabled);
    }
    let matches =
        hook.matcher.is_all() || names.iter().any(|subject| hook.matcher.matches(subject));
    if !matches {
        return Some(Skip::Matcher);
    }
    let in_scope = match hook.scope {
        Scope::All => true,
        Scope::Main => !subagent,
        Scope::Subagents => subagent,
    };
    if in_scope { hook.skip } else { Some(Skip::Scope) }
}

/// One hook in a plan.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The hook.
    pub hook: Arc<Hook>,
    /// Why it would not run; `None` if it would.
    pub skip: Option<Skip>,
}

/// Which hooks would run for an event, and for every other one why not.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Every hook of the event's kind in configuration order.
    pub hooks: Vec<Planned>,
}

impl Plan {
    /// The hooks that would run.
    pub fn runs(&self) -> impl Iterator<Item = &Arc<Hook>> {
        self.hooks.iter().filter(|planned| planned.skip.is_none()).map(|planned| &planned.hook)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::Source;
    use crate::matcher::Matcher;
    use crate::verdict::Verdict;

    fn hook(name: &str, edit: impl FnOnce(&mut Hook)) -> Arc<Hook> {
        let reply = Handler::Reply(Box::new(Verdict::none()));
        let mut hook = Hook::new(name, Source::code("test"), vec![EventKind::PreToolUse], reply);
        edit(&mut hook);
        Arc::new(hook)
    }

    #[test]
    fn every_reason_to_leave_a_hook_out_has_its_word() {
        let table = HookTable::new(vec![
            hook("runs", |_| {}),
            hook("matcher", |h| h.matcher = Matcher::parse("Edit").unwrap()),
            hook("main", |h| h.scope = Scope::Main),
            hook("sub", |h| h.scope = Scope::Subagents),
            hook("off", |h| h.skip = Some(Skip::Disabled)),
            hook("unknown", |h| h.skip = Some(Skip::Untrusted)),
            hook("if", |h| h.condition = vec![Rule::parse("Edit").unwrap()]),
            hook("maybe", |h| h.condition = vec![Rule::parse("Read").unwrap()]),
            hook("other event", |h| h.events = vec![EventKind::Stop]),
        ]);
        let slots = table.select(
            &EventKind::PreToolUse,
            &Contract::OBSERVE,
            Dedupe::Never,
            &["Bash"],
            true,
        );
        let skips: Vec<_> = slots
            .iter()
            .map(|slot| {
                let holds =
                    |rule: &Rule| if rule.text() == "Read" { Truth::Maybe } else { Truth::No };
                table.skip_of(*slot, holds, |at| (at == 0).then_some(Skip::Strikes))
            })
            .collect();
        assert_eq!(
            skips,
            [
                Some(Skip::Strikes),
                Some(Skip::Matcher),
                Some(Skip::Scope),
                None,
                Some(Skip::Disabled),
                Some(Skip::Untrusted),
                Some(Skip::Condition),
                None,
            ]
        );
    }

    #[test]
    fn the_mask_has_the_events_that_somebody_wants_to_hear_of() {
        let other = EventKind::of("BeforeModel");
        let table = HookTable::new(vec![
            hook("off", |h| h.skip = Some(Skip::Disabled)),
            hook("stop", |h| h.events = vec![EventKind::Stop, EventKind::Stop]),
            hook("host", |h| h.events = vec![other.clone()]),
        ]);
        assert!(table.mask().contains(&EventKind::Stop) && table.mask().contains(&other));
        assert!(!table.mask().contains(&EventKind::PreToolUse));
        assert_eq!(table.of_kind(&EventKind::Stop), [1]);
        assert_eq!(table.of_kind(&EventKind::of("AfterModel")), [] as [usize; 0]);
    }

    #[test]
    fn without_a_subject_only_a_matcher_for_everything_matches() {
        let table = HookTable::new(vec![
            hook("all", |_| {}),
            hook("names", |h| h.matcher = Matcher::parse("Bash").unwrap()),
        ]);
        let slots =
            table.select(&EventKind::PreToolUse, &Contract::OBSERVE, Dedupe::Never, &[], false);
        assert_eq!(
            slots.iter().map(|slot| slot.skip).collect::<Vec<_>>(),
            [None, Some(Skip::Matcher)]
        );
    }

    fn commands(edits: [&dyn Fn(&mut Hook); 3], subject: &str) -> Vec<Option<Skip>> {
        let line = crate::hook::CommandLine::Shell("guard".into());
        let command = crate::hook::Command {
            line,
            shell: None,
            env: Vec::new(),
            cwd: crate::hook::Cwd::Project,
            leftovers: crate::hook::Leftovers::Leave,
            scripts: Vec::new(),
            base: None,
        };
        let hooks = edits.map(|edit| {
            hook("h", |h| {
                h.handler = Handler::Command(Box::new(command.clone()));
                edit(h);
            })
        });
        let contract = Contract::OBSERVE;
        let table = HookTable::new(hooks.to_vec());
        let slots =
            table.select(&EventKind::PreToolUse, &contract, Dedupe::SameCommand, &[subject], false);
        slots.iter().map(|slot| slot.skip).collect()
    }

    #[test]
    fn of_the_same_command_the_first_that_matches_runs() {
        let bash = |h: &mut Hook| h.matcher = Matcher::parse("bash").unwrap();
        let all = |_: &mut Hook| {};
        let strict = |h: &mut Hook| h.on_failure = Some(OnFailure::Block);
        let twice = Some(Skip::Duplicate);
        assert_eq!(commands([&bash, &all, &all], "bash"), [None, twice, twice]);
        assert_eq!(commands([&bash, &all, &all], "view"), [Some(Skip::Matcher), None, twice]);
        assert_eq!(commands([&all, &strict, &all], "view"), [None, None, twice], "a guard stays");
        let off = |h: &mut Hook| h.skip = Some(Skip::Untrusted);
        assert_eq!(commands([&off, &all, &all], "view"), [Some(Skip::Untrusted), None, twice]);
    }
}
