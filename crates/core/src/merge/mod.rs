//! From what each hook said to what it means for the host: a pure function with laws.
//!
//! [`merge`] takes the voices in configuration order, never in order of completion. It owns the
//! decision, the reasons, the contexts and the fold of rewrites; recheck and permission rules come
//! after it and are somebody else's.

mod fold;

use std::borrow::Cow;

use crate::contract::{
    Asks, Block, Contract, Fold as FoldRule, OnFailure, Reasons, Rewrites, Runs,
};
use crate::hook::Level;
use crate::json::Json;
use crate::verdict::{Decision, Verdict};

pub use fold::{check_shape, withheld};

/// What one hook contributes.
#[derive(Debug, Clone, Copy)]
pub enum Said<'a> {
    /// It answered.
    Verdict(&'a Verdict),
    /// It failed; its failure policy speaks for it.
    Failed {
        /// The policy.
        policy: OnFailure,
        /// What went wrong.
        reason: &'a str,
        /// Whether it had halted before that: a failure takes nothing back that holds the action up.
        halt: bool,
    },
}

/// One hook's contribution, with its authority.
#[derive(Debug, Clone, Copy)]
pub struct Voice<'a> {
    /// Where the hook comes from.
    pub level: Level,
    /// What it said.
    pub said: Said<'a>,
}

impl Voice<'_> {
    /// The decision that this voice stands for.
    pub fn decision(&self) -> Decision {
        match self.said {
            Said::Verdict(verdict) => verdict.decision,
            Said::Failed { policy: OnFailure::Block, .. } => Decision::Deny,
            Said::Failed { policy: OnFailure::Ask, .. } => Decision::Ask,
            Said::Failed { policy: OnFailure::Allow, .. } => Decision::None,
        }
    }

    /// The decision that it stands for where asking means this.
    fn decision_under(&self, asks: Asks) -> Decision {
        match (self.decision(), asks) {
            (Decision::Ask, Asks::Denies) => Decision::Deny,
            (decision, _) => decision,
        }
    }

    fn halts(&self) -> bool {
        match self.said {
            Said::Verdict(verdict) => verdict.halt,
            Said::Failed { halt, .. } => halt,
        }
    }

    fn reason(&self) -> Option<&str> {
        match self.said {
            Said::Verdict(verdict) => verdict.reason.as_deref(),
            Said::Failed { reason, .. } => Some(reason),
        }
        .filter(|reason| !reason.is_empty())
    }
}

/// Something about one voice that its report, and often the user, should hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The voice's place in the list.
    pub voice: usize,
    /// What happened.
    pub kind: NoteKind,
}

/// What happened to a voice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteKind {
    /// A key of its rewrite was set by a higher level and stays as that level set it.
    KeyRefused {
        /// The key; `None` is the whole payload.
        key: Option<String>,
        /// The level that set it.
        by: Level,
    },
    /// It changed a key that another hook of its level had set to another value.
    KeyOverwritten {
        /// The key; `None` is the whole payload.
        key: Option<String>,
        /// The other voice's place in the list.
        of: usize,
    },
    /// Its rewrite does not have the shape that this event needs and was not applied.
    ShapeRefused(String),
    /// Its rewrite is not applied because nothing may be rewritten here.
    NothingToRewrite,
    /// Its rewrite is not applied because the result is withheld.
    Withheld,
    /// It blocked or asked where that is only a remark.
    OnlyARemark(Decision),
    /// Its rewrite is not applied because another voice's is, and there can be one.
    NotTheOne {
        /// The other voice's place in the list.
        of: usize,
    },
    /// It halted where that means nothing.
    HaltIgnored,
}

/// What all voices together mean.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// What is to become of the action.
    pub decision: Decision,
    /// Whether the turn ends.
    pub halt: bool,
    /// Why.
    pub reason: Option<String>,
    /// What the model is told, one entry a voice.
    pub context: Vec<String>,
    /// The changed payload; `None` if it stays as it was.
    pub payload: Option<Json>,
    /// The voices whose rewrite was applied.
    pub applied: Vec<usize>,
    /// Whether the result is kept from the model.
    pub withheld: bool,
    /// What is to be reported about single voices.
    pub notes: Vec<Note>,
}

/// Merges voices in configuration order. `original` is the payload that may be rewritten.
///
/// The rules, in short: the most severe decision wins; the reasons of all voices with the winning
/// decision are kept in order, with a halt those of halting and denying voices; contexts are kept
/// one entry a voice; rewrites fold in order, and a lower level cannot change what a higher one
/// set; where a block stops the action, a deny or halt drops contexts and rewrites. What of this a
/// contract has otherwise is in its [`MergeRule`](crate::contract::MergeRule).
///
/// ```
/// use tenter_core::contract::{Block, Contract, Rewrites};
/// use tenter_core::hook::Level;
/// use tenter_core::merge::{Said, Voice, merge};
/// use tenter_core::verdict::{Decision, Verdict};
///
/// let before_tool =
///     Contract { block: Block::StopsTool, rewrites: Rewrites::ToolInput, ..Contract::OBSERVE };
/// let verdicts = [Verdict::allow(), Verdict::deny("not on Fridays")];
/// let voices = verdicts.each_ref().map(|one| Voice { level: Level::User, said: Said::Verdict(one) });
/// let merged = merge(&voices, None, &before_tool);
/// assert_eq!(merged.decision, Decision::Deny);
/// assert_eq!(merged.reason.as_deref(), Some("not on Fridays"));
/// ```
pub fn merge(voices: &[Voice<'_>], original: Option<&Json>, contract: &Contract) -> Merged {
    let mut merged = Merged::default();
    decide(voices, contract, &mut merged);
    let stopped =
        contract.block.stops_action() && (merged.decision == Decision::Deny || merged.halt);
    if contract.delivers_context && (!stopped || contract.merge.context_of_stopped) {
        merged.context = voices.iter().filter_map(context_of).map(str::to_owned).collect();
    }
    if !stopped {
        rewrite(voices, original, contract, &mut merged);
    }
    merged
}

fn context_of<'a>(voice: &Voice<'a>) -> Option<&'a str> {
    match voice.said {
        Said::Verdict(verdict) => verdict.context().filter(|context| !context.is_empty()),
        Said::Failed { .. } => None,
    }
}

fn decide(voices: &[Voice<'_>], contract: &Contract, merged: &mut Merged) {
    let may_halt = contract.block != Block::Nothing;
    let asks = contract.merge.asks;
    for (at, voice) in voices.iter().enumerate() {
        if voice.halts() {
            if may_halt {
                merged.halt = true;
            } else {
                merged.notes.push(Note { voice: at, kind: NoteKind::HaltIgnored });
            }
        }
        let decision = voice.decision_under(asks);
        if counts(decision, contract.block) {
            merged.decision = merged.decision.max(decision);
        } else if decision.restricts() && matches!(voice.said, Said::Verdict(_)) {
            merged.notes.push(Note { voice: at, kind: NoteKind::OnlyARemark(decision) });
        }
    }
    let speaks = |voice: &Voice<'_>| {
        if merged.halt {
            voice.halts() || voice.decision_under(asks) == Decision::Deny
        } else {
            merged.decision.restricts() && voice.decision_under(asks) == merged.decision
        }
    };
    let reasons = voices.iter().filter(|voice| speaks(voice)).filter_map(Voice::reason);
    merged.reason = match contract.merge.reasons {
        Reasons::All => join(reasons),
        Reasons::First => join(reasons.take(1)),
    };
}

/// Whether a decision means anything where a block means this.
const fn counts(decision: Decision, block: Block) -> bool {
    match decision {
        Decision::None => false,
        // An end of a turn can be blocked or not; there is nobody to ask and nothing to park.
        Decision::Allow | Decision::Ask | Decision::Defer => block.stops_action(),
        Decision::Deny => block.counts(),
    }
}

fn join<'a>(reasons: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut joined: Option<String> = None;
    for reason in reasons {
        match &mut joined {
            None => joined = Some(reason.to_owned()),
            Some(text) => {
                text.push('\n');
                text.push_str(reason);
            }
        }
    }
    joined
}

fn rewrite(
    voices: &[Voice<'_>],
    original: Option<&Json>,
    contract: &Contract,
    merged: &mut Merged,
) {
    let withholding = contract.rewrites == Rewrites::Result
        && !contract.block.stops_action()
        && voices.iter().any(|v| matches!(v.said, Said::Failed { policy: OnFailure::Block, .. }));
    let drops_its_own = |verdict: &Verdict| {
        verdict.decision == Decision::Ask && contract.merge.asks != Asks::WithRewrite
    };
    let rewrites = voices.iter().enumerate().filter_map(|(at, voice)| match voice.said {
        Said::Verdict(verdict) if drops_its_own(verdict) => None,
        Said::Verdict(verdict) => verdict.rewrite().map(|rewrite| (at, voice.level, rewrite)),
        Said::Failed { .. } => None,
    });
    if withholding {
        merged.notes.extend(rewrites.map(|(voice, ..)| Note { voice, kind: NoteKind::Withheld }));
        let reasons = voices.iter().filter_map(|voice| match voice.said {
            Said::Failed { policy: OnFailure::Block, reason, .. } => Some(reason),
            _ => None,
        });
        merged.payload =
            Some(withheld(join(reasons).map_or(Cow::Borrowed(""), Cow::Owned).as_ref()));
        merged.withheld = true;
        return;
    }
    let Some(original) = original.filter(|_| contract.rewrites != Rewrites::Nothing) else {
        merged
            .notes
            .extend(rewrites.map(|(voice, ..)| Note { voice, kind: NoteKind::NothingToRewrite }));
        return;
    };
    let mut fold = fold::Fold::new(original, contract.rewrites);
    // Where levels do not bind, all voices are of one.
    let level = |level| if contract.merge.levels_bind { level } else { Level::User };
    match contract.merge.fold {
        FoldRule::InOrder => {
            for (at, of, rewrite) in rewrites {
                fold.apply(at, level(of), rewrite);
            }
        }
        FoldRule::First => fold.apply_one(rewrites.map(|(at, of, one)| (at, level(of), one))),
        FoldRule::Last => {
            let last_first = rewrites.collect::<Vec<_>>().into_iter().rev();
            fold.apply_one(last_first.map(|(at, of, one)| (at, level(of), one)));
        }
    }
    fold.finish(merged);
    // A hook in turn has seen what it changes, so that is no quarrel.
    if contract.runs == Runs::InTurn {
        merged.notes.retain(|note| !matches!(note.kind, NoteKind::KeyOverwritten { .. }));
    }
}

#[cfg(test)]
mod rule_tests;
#[cfg(test)]
mod tests;
