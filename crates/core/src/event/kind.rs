//! The names of events, and sets of them.

use std::fmt;
use std::sync::Arc;

macro_rules! kinds {
    ($($name:ident: $doc:literal,)*) => {
        /// What happened. The names are those of the de-facto standard.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum EventKind {
            $(#[doc = $doc] $name,)*
            /// An event that only one host knows: it is gated, planned and recorded, and a block
            /// means nothing.
            Other(Arc<str>),
        }

        impl EventKind {
            /// Every kind but [`EventKind::Other`], in the order of the standard.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The names of [`EventKind::ALL`].
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)*];

            /// The name in PascalCase.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$name => stringify!($name),)*
                    Self::Other(name) => name,
                }
            }

            /// One sentence on when it happens; empty for a host's own event.
            pub fn description(&self) -> &'static str {
                match self {
                    $(Self::$name => $doc,)*
                    Self::Other(_) => "",
                }
            }

            /// The kind of a standard name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($name) => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// A number below 64, one for each standard kind and one for all others.
            pub const fn index(&self) -> usize {
                enum Number { $($name,)* Other }
                match self {
                    $(Self::$name => Number::$name as usize,)*
                    Self::Other(_) => Number::Other as usize,
                }
            }
        }
    };
}

kinds! {
    SessionStart: "A session starts, resumes, or goes on after a clear or a compaction.",
    Setup: "The host prepares itself before a session.",
    UserPromptSubmit: "The user has sent a prompt; the model has not seen it.",
    UserPromptExpansion: "A typed command is about to expand to a prompt.",
    MessageDisplay: "Text of the agent is shown.",
    PreToolUse: "A tool is about to run.",
    PermissionRequest: "The user is about to be asked for permission.",
    PermissionDenied: "A tool call was denied without asking.",
    PostToolUse: "A tool has run.",
    PostToolUseFailure: "A tool has run and failed.",
    PostToolBatch: "All tool calls of one model answer have ended.",
    Notification: "The agent tells its user something.",
    SubagentStart: "A subagent starts.",
    SubagentStop: "A subagent is about to stop.",
    TaskCreated: "A task is about to be created.",
    TaskCompleted: "A task is about to be marked complete.",
    Stop: "The turn is about to end.",
    StopFailure: "The turn ended with an error.",
    TeammateIdle: "A member of a team has nothing to do.",
    InstructionsLoaded: "A file of instructions was loaded.",
    ConfigChange: "A settings file changed.",
    CwdChanged: "The agent's current directory changed.",
    DirectoryAdded: "A directory was added to the session.",
    FileChanged: "A watched file changed.",
    WorktreeCreate: "A worktree is wanted.",
    WorktreeRemove: "A worktree is about to go.",
    PreCompact: "The conversation is about to be compacted.",
    PostCompact: "The conversation was compacted.",
    PreModelSwitch: "A change of model was asked for.",
    PostModelSwitch: "The model changed.",
    SessionEnd: "The session ends.",
    Elicitation: "A tool server asks the user something.",
    ElicitationResult: "The user has answered a tool server.",
    PreSkillShellCommand: "A skill is about to run a shell command.",
}

impl EventKind {
    /// The kind of any name: a standard one, else a host's own.
    pub fn of(name: &str) -> Self {
        Self::from_name(name).unwrap_or_else(|| Self::Other(name.into()))
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of event kinds in 64 bits. All of a host's own events share one bit.
///
/// ```
/// use tenter_core::event::{EventKind, EventMask};
///
/// let tools: EventMask = [EventKind::PreToolUse, EventKind::PostToolUse].iter().collect();
/// let before = tools.difference(EventMask::EMPTY.with(&EventKind::PostToolUse));
/// assert!(before.contains(&EventKind::PreToolUse));
/// assert!(!before.contains(&EventKind::PostToolUse));
/// assert_eq!(EventMask::from_bits(u64::MAX), EventMask::ALL);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventMask(u64);

impl EventMask {
    /// No event.
    pub const EMPTY: Self = Self(0);

    /// Every event.
    pub const ALL: Self = Self((1 << (EventKind::ALL.len() + 1)) - 1);

    /// The mask with these bits; those of no event are left out.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// The bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether the kind is in it: one load and one branch for a constant kind.
    #[inline]
    pub const fn contains(self, kind: &EventKind) -> bool {
        self.0 & (1 << kind.index()) != 0
    }

    /// With one more kind.
    #[must_use]
    pub const fn with(self, kind: &EventKind) -> Self {
        Self(self.0 | 1 << kind.index())
    }

    /// Both sets together.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in this set and not in the other.
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether nothing is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl<'a> FromIterator<&'a EventKind> for EventMask {
    fn from_iter<I: IntoIterator<Item = &'a EventKind>>(kinds: I) -> Self {
        kinds.into_iter().fold(Self::EMPTY, EventMask::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_name_and_its_own_bit() {
        assert_eq!(EventKind::ALL.len(), 34);
        let mut seen = EventMask::EMPTY;
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_name(kind.name()).as_ref(), Some(kind));
            assert!(!seen.contains(kind), "{kind} shares a bit");
            seen = seen.with(kind);
        }
        let other = EventKind::of("BeforeModel");
        assert!(!seen.contains(&other));
        assert!(other.index() < 64);
        assert_eq!(other.name(), "BeforeModel");
    }

    #[test]
    fn a_mask_holds_what_was_put_in() {
        let mask: EventMask = [EventKind::Stop, EventKind::PreToolUse].iter().collect();
        assert!(mask.contains(&EventKind::Stop) && mask.contains(&EventKind::PreToolUse));
        assert!(!mask.contains(&EventKind::SessionEnd));
        assert_eq!(EventMask::EMPTY.union(mask), mask);
    }

    #[test]
    fn taking_out_takes_exactly_what_is_named() {
        let (stop, tool) = (EventMask::EMPTY.with(&EventKind::Stop), EventKind::PreToolUse);
        let both = stop.with(&tool);
        assert_eq!(both.difference(stop), EventMask::EMPTY.with(&tool));
        assert_eq!(stop.difference(EventMask::EMPTY.with(&tool)), stop, "it was not in it");
        assert!(EventMask::ALL.difference(EventMask::ALL).is_empty());
    }

    #[test]
    fn bits_of_no_event_are_dropped() {
        assert_eq!(EventMask::from_bits(u64::MAX), EventMask::ALL);
        assert_eq!(EventMask::from_bits(1 << 63), EventMask::EMPTY);
        let all: EventMask = EventKind::ALL.iter().collect();
        assert_eq!(all.with(&EventKind::of("BeforeModel")), EventMask::ALL);
    }
}
