//! What rules need to know about a tool call: its paths, given and resolved.
//!
//! Looking at links costs system calls, so it happens only when a rule asks.

use std::sync::OnceLock;

use tenter_core::event::Event;
use tenter_core::profile::Profile;
use tenter_core::rules::{
    Call, PathPair, Paths, Rule, Ruling, ShellCall, ToolPaths, Truth, paths_of,
};
use tenter_core::verdict::Decision;

use crate::config::places::resolve_links;
use crate::config::self_rules::SelfRules;
use crate::snapshot::Snapshot;

/// The facts about one event.
pub(crate) struct Facts<'a> {
    event: &'a Event,
    profile: &'static Profile,
    places: OnceLock<tenter_core::rules::Places>,
    base: &'a tenter_core::rules::Places,
    paths: OnceLock<Option<Vec<PathPair>>>,
    given: OnceLock<Vec<String>>,
    shell: OnceLock<Option<ShellCall>>,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, event: &'a Event) -> Self {
        Self {
            event,
            profile: snapshot.host.profile,
            places: OnceLock::new(),
            base: &snapshot.places,
            paths: OnceLock::new(),
            given: OnceLock::new(),
            shell: OnceLock::new(),
        }
    }

    /// The name that rules use for the tool of the call.
    fn tool(&self) -> Option<&'a str> {
        self.event.tool_name().map(|tool| self.profile.canonical_tool(tool))
    }

    /// The project and home of the session, and the event's own current directory.
    fn places(&self) -> &tenter_core::rules::Places {
        self.places.get_or_init(|| {
            let mut places = self.base.clone();
            if !self.event.origin.cwd.is_empty() {
                places.cwd.clone_from(&self.event.origin.cwd);
            }
            places
        })
    }

    /// The paths of the call; `None` if they cannot be read.
    fn paths(&self) -> Option<&[PathPair]> {
        let pairs = self.paths.get_or_init(|| {
            let call = self.event.tool_call()?;
            match paths_of(self.tool()?, &call.input) {
                ToolPaths::None => Some(Vec::new()),
                ToolPaths::Unreadable => None,
                ToolPaths::Known(paths) => {
                    let mut pairs = Vec::new();
                    for path in &paths {
                        for pair in self.places().pairs(path)? {
                            pairs.push(with_links_resolved(pair));
                        }
                    }
                    Some(pairs)
                }
            }
        });
        pairs.as_deref()
    }

    /// What a shell command would run; `None` for other tools.
    pub(crate) fn shell(&self) -> Option<&ShellCall> {
        let shell = self.shell.get_or_init(|| {
            let call = self.event.tool_call().filter(|_| self.tool() == Some("Bash"))?;
            let mut paths = |path: &str| {
                let pairs = self.places().pairs(path)?.into_iter();
                Some(pairs.map(with_links_resolved).collect())
            };
            Some(ShellCall::of(&call.input, &mut paths))
        });
        shell.as_ref()
    }

    /// The host's own name of the tool, where it is another than the one that rules use.
    fn host_tool(&self) -> Option<&'a str> {
        let own = self.event.host_tool().or_else(|| self.event.tool_name());
        own.filter(|_| own != self.tool())
    }

    /// The names of the tool: the one that rules use, and the host's own where that is another.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.tool().into_iter().chain(self.host_tool())
    }

    /// The call as rules look at it; `None` for an event that is about no tool.
    fn call(&self) -> Option<Call<'_>> {
        let call = self.event.tool_call()?;
        let tool = self.tool()?;
        Some(Call {
            tool,
            host_tool: self.host_tool(),
            input: &call.input,
            paths: self.paths().map_or(Paths::Unreadable, Paths::Known),
            shell: self.shell(),
            places: self.places(),
        })
    }

    /// What the permission rules say about the call, those of the set `self` included, and whether a
    /// deny rule has a part in it.
    pub(crate) fn ruling<'s>(&self, snapshot: &'s Snapshot) -> Option<(Ruling<'s>, bool)> {
        let written = self.call_if_ruled(snapshot).and_then(|call| {
            let ruling = snapshot.rules.judge(&call)?;
            // A deny rule has a part in a denial anyway, and in nothing that is less than an ask.
            let is_doubt = ruling.decision == Decision::Ask;
            let by_deny = ruling.decision == Decision::Deny
                || is_doubt && snapshot.rules.deny_only(&call).is_some();
            Some((ruling, by_deny))
        });
        let own = self.judged_by_self(snapshot).map(|ruling| (ruling, false));
        match (written, own) {
            (Some(written), Some(own)) if written.0.decision > own.0.decision || written.1 => {
                Some(written)
            }
            (written, own) => own.or(written),
        }
    }

    fn judged_by_self<'s>(&self, snapshot: &'s Snapshot) -> Option<Ruling<'s>> {
        let own = snapshot.own.as_ref()?;
        if !SelfRules::speaks_of(self.tool()?) {
            return None;
        }
        own.judge(&self.call()?)
    }

    /// The call, if any permission rule speaks of its tool.
    pub(crate) fn call_if_ruled(&self, snapshot: &Snapshot) -> Option<Call<'_>> {
        if self.names().any(|tool| snapshot.has_rules_for(tool)) { self.call() } else { None }
    }

    /// Whether a condition holds. A rule about tools does not hold where there is none.
    pub(crate) fn holds(&self, rule: &Rule) -> Truth {
        if self.names().any(|tool| rule.could_match(tool)) {
            self.call().map_or(Truth::No, |call| rule.matches(&call))
        } else {
            Truth::No
        }
    }

    /// The absolute paths that hooks are told of.
    pub(crate) fn payload_paths(&self) -> &[String] {
        self.given.get_or_init(|| {
            let Some(call) = self.event.tool_call() else { return Vec::new() };
            match paths_of(self.tool().unwrap_or(&call.name), &call.input) {
                ToolPaths::Known(paths) => {
                    let pairs = paths.iter().filter_map(|path| self.places().pairs(path)).flatten();
                    pairs.map(|pair| pair.normal().to_owned()).collect()
                }
                ToolPaths::None | ToolPaths::Unreadable => Vec::new(),
            }
        })
    }
}

/// A path with where it leads. What `..` leads to after a link is not what it looks like, so the
/// path is resolved as it was given.
fn with_links_resolved(pair: PathPair) -> PathPair {
    match resolve_links(pair.given()) {
        Some(resolved) => pair.with_resolved(resolved),
        None => pair,
    }
}
