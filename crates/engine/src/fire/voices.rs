//! What the answers of hooks contribute to the merge.

use std::borrow::Cow;

use tenter_core::contract::{OnFailure, Rewrites};
use tenter_core::hook::Level;
use tenter_core::merge::{Said, Voice};
use tenter_core::outcome::HookReport;
use tenter_core::verdict::Decision;

use crate::fire::speak::failure_text;
use crate::fire::{Answer, Fire};

/// Answers as voices, with the texts that had to be made for it.
pub(super) struct Voices<'a>(Vec<Contribution<'a>>);

struct Contribution<'a> {
    /// The hook's place among the hooks of the event.
    at: usize,
    level: Level,
    answer: &'a Answer,
    /// What its failure does and is called, if that speaks instead of what it said.
    failed: Option<(OnFailure, Cow<'a, str>)>,
}

impl<'a> Voices<'a> {
    pub(super) fn of(
        fire: &Fire<'_>,
        reports: &'a [HookReport],
        answers: &'a [(usize, Answer)],
    ) -> Self {
        let contribution = |(at, answer): &'a (usize, Answer)| {
            let hook = &reports.get(*at)?.hook;
            let mut policy = hook.failure_policy(fire.contract);
            if answer.waived {
                policy = OnFailure::Allow;
            }
            let reason = match (&answer.failed, answer.cancelled) {
                (Some(failed), _) => Some(failure_text(hook, failed)),
                (None, true) => {
                    // Nobody can say what a cancelled hook would have kept from the model.
                    if fire.contract.rewrites == Rewrites::Result
                        && fire.contract.withholds_cancelled
                    {
                        policy = OnFailure::Block;
                    }
                    Some(format!("hook `{}` was cancelled before it answered", hook.name))
                }
                (None, false) => None,
            };
            // A denial stands whatever became of the hook after it.
            let still_denies =
                answer.verdict.decision == Decision::Deny && fire.contract.block.counts();
            let failed = reason.filter(|_| !still_denies).map(|reason| (policy, reason.into()));
            Some(Contribution { at: *at, level: hook.source.level, answer, failed })
        };
        Self(answers.iter().filter_map(contribution).collect())
    }

    pub(super) fn list(&self) -> Vec<Voice<'_>> {
        self.0
            .iter()
            .map(|one| Voice {
                level: one.level,
                said: match &one.failed {
                    Some((policy, reason)) => {
                        Said::Failed { policy: *policy, reason, halt: one.answer.verdict.halt }
                    }
                    None => Said::Verdict(&one.answer.verdict),
                },
            })
            .collect()
    }

    /// The hooks that allow, by their places, with their levels.
    pub(super) fn allows(&self) -> Vec<(usize, Level)> {
        let spoken = self.0.iter().filter(|one| one.failed.is_none());
        spoken
            .filter(|one| one.answer.verdict.decision == Decision::Allow)
            .map(|one| (one.at, one.level))
            .collect()
    }
}
