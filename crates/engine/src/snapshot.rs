//! One loaded configuration, compiled: what a running event holds on to.
//!
//! A snapshot never changes. A reload makes a new one; events that run finish on theirs.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tenter_core::contract::{Contract, Subject};
use tenter_core::event::{Event, EventKind, EventMask};
use tenter_core::hook::{Handler, Hook};
use tenter_core::plan::{HookTable, Selection};
use tenter_core::rules::{Places, RuleSet};
use tenter_hosts::codec::Host;
use tenter_process::Cgroups;
use tokio::sync::Semaphore;

use crate::config::self_rules::SelfRules;
use crate::environment::BaseEnvironment;
use crate::fire::is_judged;
use crate::function::Function;
use crate::trust::Scripts;

/// How many subjects are remembered for one kind of event.
const MOST_SUBJECTS: usize = 1024;
/// The longest subject in bytes that is remembered.
const LONGEST_SUBJECT: usize = 128;

/// One loaded configuration.
pub(crate) struct Snapshot {
    pub(crate) generation: u64,
    pub(crate) host: Host,
    pub(crate) table: HookTable,
    /// The function behind each hook of the table, where it is one.
    pub(crate) functions: Vec<Option<Function>>,
    pub(crate) rules: RuleSet,
    /// The rule set `self`, where hooks come from files.
    pub(crate) own: Option<SelfRules>,
    pub(crate) places: Places,
    pub(crate) project: PathBuf,
    pub(crate) home: PathBuf,
    /// The host's own placeholders in commands.
    pub(crate) placeholders: Vec<(String, OsString)>,
    pub(crate) environment: BaseEnvironment,
    pub(crate) scripts: Scripts,
    /// Where contexts that are too long are written.
    pub(crate) spill: Option<PathBuf>,
    pub(crate) permits: Semaphore,
    pub(crate) cgroups: Option<Cgroups>,
    /// The events whose hooks all answer at once.
    quick: EventMask,
    memo: Memo,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("generation", &self.generation).finish_non_exhaustive()
    }
}

/// What a snapshot is made of.
pub(crate) struct Parts {
    pub(crate) generation: u64,
    pub(crate) host: Host,
    pub(crate) hooks: Vec<Arc<Hook>>,
    pub(crate) functions: Vec<Option<Function>>,
    pub(crate) rules: RuleSet,
    /// The rule set `self`, where hooks come from files.
    pub(crate) own: Option<SelfRules>,
    pub(crate) places: Places,
    pub(crate) project: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) placeholders: Vec<(String, OsString)>,
    pub(crate) environment: BaseEnvironment,
    pub(crate) scripts: Scripts,
    pub(crate) spill: Option<PathBuf>,
    pub(crate) concurrency: usize,
    pub(crate) cgroups: Option<Cgroups>,
}

impl Snapshot {
    pub(crate) fn new(parts: Parts) -> Self {
        let answers_at_once = |at: usize, hook: &Hook| match &hook.handler {
            Handler::Reply(_) | Handler::Broken { .. } => !hook.detach,
            Handler::Function => {
                let function = parts.functions.get(at).and_then(Option::as_ref);
                !hook.detach && function.is_some_and(Function::is_sync)
            }
            Handler::Command(_) => false,
        };
        let slow = parts.hooks.iter().enumerate().filter(|(at, hook)| !answers_at_once(*at, hook));
        let slow: EventMask = slow.flat_map(|(_, hook)| &hook.events).collect();
        let quick = EventKind::ALL.iter().filter(|kind| !slow.contains(kind)).collect();
        Self {
            generation: parts.generation,
            host: parts.host,
            quick,
            table: HookTable::new(parts.hooks),
            functions: parts.functions,
            rules: parts.rules,
            own: parts.own,
            places: parts.places,
            project: parts.project,
            home: parts.home,
            placeholders: parts.placeholders,
            environment: parts.environment,
            scripts: parts.scripts,
            spill: parts.spill,
            permits: Semaphore::new(parts.concurrency),
            cgroups: parts.cgroups,
            memo: Memo::default(),
        }
    }

    pub(crate) fn contract(&self, kind: &EventKind) -> &'static Contract {
        self.host.profile.contract(kind)
    }

    /// The events for which hooks or rules have anything to say.
    pub(crate) fn mask(&self) -> EventMask {
        if self.has_rules() { self.table.mask().union(self.rule_mask()) } else { self.table.mask() }
    }

    /// Whether there are permission rules at all.
    pub(crate) fn has_rules(&self) -> bool {
        !self.rules.is_empty() || self.own.is_some()
    }

    /// The events that permission rules judge.
    pub(crate) fn rule_mask(&self) -> EventMask {
        EventKind::ALL.iter().filter(|kind| is_judged(self.contract(kind))).collect()
    }

    /// The hooks of an event, from memory where its subject was seen before.
    pub(crate) fn select(&self, event: &Event, contract: &Contract) -> Selection {
        let subject = event.subject(contract.subject);
        let subject = subject.as_deref();
        let subagent = event.is_subagent();
        let dedupe = self.host.profile.dedupe;
        let own = event.host_tool().filter(|_| contract.subject == Subject::ToolName);
        if let (Some(subject), Some(own)) = (subject, own) {
            // Two names would make a key of two parts. Who calls tools by names of its own is another
            // host, and asks once a process.
            return self.table.select(&event.kind, contract, dedupe, &[subject, own], subagent);
        }
        self.memo.get_or(&event.kind, subject, subagent, || {
            let names = subject.as_slice();
            self.table.select(&event.kind, contract, dedupe, names, subagent)
        })
    }

    /// Whether no hook of this kind has to be waited for.
    pub(crate) fn is_quick(&self, kind: &EventKind) -> bool {
        self.quick.contains(kind)
    }

    /// Whether every rule is silent about this tool, so that its paths need not be looked at.
    pub(crate) fn has_rules_for(&self, tool: &str) -> bool {
        !self.rules.is_empty() && self.rules.could_match(tool)
    }
}

/// Selections by kind, agent and subject. When a kind has seen too many subjects it starts anew:
/// a host that makes names up cannot grow it without end.
struct Memo {
    /// For the main agent and for subagents.
    kinds: [[Subjects; 2]; EventKind::ALL.len()],
}

/// Read at every event, written once a subject: the whole map is swapped.
type Subjects = ArcSwap<HashMap<Box<str>, Selection>>;

impl Default for Memo {
    fn default() -> Self {
        Self { kinds: std::array::from_fn(|_| Default::default()) }
    }
}

impl Memo {
    fn get_or(
        &self,
        kind: &EventKind,
        subject: Option<&str>,
        subagent: bool,
        select: impl FnOnce() -> Selection,
    ) -> Selection {
        // A host's own events share an index, and are rare; they are not remembered.
        let Some([main, sub]) = self.kinds.get(kind.index()) else { return select() };
        let subjects = if subagent { sub } else { main };
        // A subject that is long is most likely a path or a text, which does not come again.
        let Some(key) = subject.filter(|subject| subject.len() <= LONGEST_SUBJECT) else {
            return select();
        };
        if let Some(known) = subjects.load().get(key) {
            return Arc::clone(known);
        }
        let selection = select();
        subjects.rcu(|map| {
            let mut map =
                if map.len() < MOST_SUBJECTS { HashMap::clone(map) } else { HashMap::new() };
            map.insert(key.into(), Arc::clone(&selection));
            map
        });
        selection
    }
}
