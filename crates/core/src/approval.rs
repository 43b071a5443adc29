//! What an allow of hooks is worth to the host's own permission: no question about one call, and
//! about no other.

use crate::event::Event;
use crate::outcome::Outcome;
use crate::profile::Profile;
use crate::verdict::Decision;

/// The approval of one tool call. It stands for every permission that the tool asks for under the
/// call's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    call_id: String,
}

impl Approval {
    /// The approval that an outcome gives, if it gives one: the call is allowed, nothing holds it
    /// up, the profile's hooks may allow, and the call has an id to know it by.
    pub fn of(event: &Event, outcome: &Outcome, profile: &Profile) -> Option<Self> {
        let call_id = event.origin.call_id.as_deref().filter(|id| !id.is_empty())?;
        let allows = outcome.decision == Decision::Allow && outcome.may_proceed();
        let counts = event.tool_call().is_some() && profile.permission.lets_hooks_allow();
        (allows && counts).then(|| Self { call_id: call_id.to_owned() })
    }

    /// The call that needs no question.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Whether a permission that is asked for under this id is granted.
    pub fn covers(&self, call_id: &str) -> bool {
        self.call_id == call_id
    }
}
