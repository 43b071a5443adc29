//! The rules that a host may have in place of the native ones.

use serde_json::{Value, json};

use super::*;
use crate::contract::{Asks, MergeRule, Runs, Subject};
use crate::verdict::Rewrite;

const TOOL: Contract = Contract {
    block: Block::StopsTool,
    rewrites: Rewrites::ToolInput,
    delivers_context: true,
    subject: Subject::ToolName,
    ..Contract::OBSERVE
};

const fn with(merge: MergeRule) -> Contract {
    Contract { merge, ..TOOL }
}

const NATIVE: MergeRule = MergeRule::IN_ORDER;

fn patch(value: Value) -> Verdict {
    Verdict::none().with_rewrite(Rewrite::Patch(Json::from(value).to_fields().unwrap()))
}

fn replace(value: Value) -> Verdict {
    Verdict::none().with_rewrite(Rewrite::Replace(value.into()))
}

fn merge_levels(said: &[(Level, Verdict)], contract: &Contract) -> Merged {
    let voices: Vec<_> = said
        .iter()
        .map(|(level, verdict)| Voice { level: *level, said: Said::Verdict(verdict) })
        .collect();
    merge(&voices, Some(&json!({ "command": "ls" }).into()), contract)
}

fn merge_all(verdicts: &[Verdict], contract: &Contract) -> Merged {
    let said: Vec<_> = verdicts.iter().map(|one| (Level::User, one.clone())).collect();
    merge_levels(&said, contract)
}

fn payload(merged: &Merged) -> Option<&str> {
    merged.payload.as_ref().map(Json::as_text)
}

#[test]
fn the_first_rewrite_that_can_be_applied_is_the_only_one() {
    let contract = with(MergeRule { fold: FoldRule::First, ..NATIVE });
    let merged = merge_all(
        &[
            replace(json!([1])),
            replace(json!({ "command": "a" })),
            patch(json!({ "command": "b", "more": 1 })),
        ],
        &contract,
    );
    assert_eq!(payload(&merged), Some(r#"{"command":"a"}"#));
    assert_eq!(merged.applied, [1]);
    assert!(matches!(merged.notes[0].kind, NoteKind::ShapeRefused(_)));
    assert_eq!(merged.notes[1], Note { voice: 2, kind: NoteKind::NotTheOne { of: 1 } });
}

#[test]
fn the_last_rewrite_that_can_be_applied_is_the_only_one() {
    let contract = with(MergeRule { fold: FoldRule::Last, ..NATIVE });
    let merged = merge_all(
        &[
            replace(json!({ "command": "a", "x": 1 })),
            replace(json!({ "command": "b" })),
            replace(json!("no")),
        ],
        &contract,
    );
    assert_eq!(payload(&merged), Some(r#"{"command":"b"}"#));
    assert_eq!(merged.applied, [1]);
}

#[test]
fn where_levels_do_not_bind_the_later_hook_wins() {
    let said = [
        (Level::User, patch(json!({ "command": "user" }))),
        (Level::Project, patch(json!({ "command": "project" }))),
    ];
    let bound = merge_levels(&said, &TOOL);
    assert_eq!(payload(&bound), Some(r#"{"command":"user"}"#));
    let free = merge_levels(&said, &with(MergeRule { levels_bind: false, ..NATIVE }));
    assert_eq!(payload(&free), Some(r#"{"command":"project"}"#));
    assert_eq!(free.applied, [0, 1]);
}

#[test]
fn the_first_reason_may_speak_for_all() {
    let verdicts = [Verdict::none(), Verdict::deny("a"), Verdict::deny("b")];
    assert_eq!(merge_all(&verdicts, &TOOL).reason.as_deref(), Some("a\nb"));
    let first = with(MergeRule { reasons: Reasons::First, ..NATIVE });
    assert_eq!(merge_all(&verdicts, &first).reason.as_deref(), Some("a"));
}

#[test]
fn contexts_may_reach_the_model_though_the_action_is_stopped() {
    let verdicts = [Verdict::deny("no").with_context("a"), patch(json!({ "command": "x" }))];
    assert!(merge_all(&verdicts, &TOOL).context.is_empty());
    let kept = merge_all(&verdicts, &with(MergeRule { context_of_stopped: true, ..NATIVE }));
    assert_eq!(kept.context, ["a"]);
    assert_eq!(payload(&kept), None, "a rewrite of what does not happen is none");
}

#[test]
fn a_hook_that_asks_may_not_rewrite_or_may_be_a_denial() {
    let asks = || {
        let rewrite = Rewrite::Replace(json!({ "command": "asked" }).into());
        Verdict::ask("sure?").with_rewrite(rewrite)
    };
    let verdicts = [replace(json!({ "command": "other" })), asks()];

    let native = merge_all(&verdicts, &TOOL);
    assert_eq!(
        (native.decision, payload(&native)),
        (Decision::Ask, Some(r#"{"command":"asked"}"#))
    );

    let bare = merge_all(&verdicts, &with(MergeRule { asks: Asks::Bare, ..NATIVE }));
    assert_eq!((bare.decision, payload(&bare)), (Decision::Ask, Some(r#"{"command":"other"}"#)));
    assert_eq!(bare.reason.as_deref(), Some("sure?"));

    let denies = with(MergeRule { asks: Asks::Denies, ..NATIVE });
    let merged = merge_all(&verdicts, &denies);
    assert_eq!((merged.decision, payload(&merged)), (Decision::Deny, None));
    assert_eq!(merged.reason.as_deref(), Some("sure?"));
    let failed = Said::Failed { policy: OnFailure::Ask, reason: "broke", halt: false };
    let voices = [Voice { level: Level::User, said: failed }];
    assert_eq!(merge(&voices, None, &denies).decision, Decision::Deny);
}

#[test]
fn who_has_seen_what_it_changes_does_not_quarrel() {
    let verdicts = [replace(json!({ "command": "a" })), replace(json!({ "command": "b" }))];
    let together = merge_all(&verdicts, &TOOL);
    assert!(matches!(together.notes[..], [Note { kind: NoteKind::KeyOverwritten { .. }, .. }]));
    let in_turn = merge_all(&verdicts, &Contract { runs: Runs::InTurn, ..TOOL });
    assert_eq!((payload(&in_turn), in_turn.notes.len()), (payload(&together), 0));
    assert_eq!(in_turn.applied, [0, 1]);
}
