//! Tables for single rules, laws over random voices, and a second, slow implementation.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::contract::{Delivery, PlainText, Subject};
use crate::json::Fields;
use crate::verdict::Rewrite;

const TOOL: Contract = Contract {
    block: Block::StopsTool,
    rewrites: Rewrites::ToolInput,
    on_failure: OnFailure::Block,
    delivery: Delivery::Awaited,
    delivers_context: true,
    plain_text: PlainText::Diagnostic,
    subject: Subject::ToolName,
    ..Contract::OBSERVE
};
const RESULT: Contract = Contract {
    block: Block::Annotates,
    rewrites: Rewrites::Result,
    on_failure: OnFailure::Allow,
    ..TOOL
};
const PROMPT: Contract =
    Contract { block: Block::RefusesPrompt, rewrites: Rewrites::Prompt, ..TOOL };
const STOP: Contract = Contract { block: Block::GoesOn, rewrites: Rewrites::Nothing, ..TOOL };
const CONTRACTS: [Contract; 5] = [TOOL, RESULT, PROMPT, STOP, Contract::OBSERVE];

fn fields(value: Value) -> Fields {
    Json::from(value).to_fields().unwrap()
}

fn patch(value: Value) -> Verdict {
    Verdict::none().with_rewrite(Rewrite::Patch(fields(value)))
}

fn replace(value: Value) -> Verdict {
    Verdict::none().with_rewrite(Rewrite::Replace(value.into()))
}

fn failed(policy: OnFailure) -> Said<'static> {
    Said::Failed { policy, reason: "broken", halt: false }
}

/// Merges verdicts of the given levels.
fn merge_all(said: &[(Level, Said<'_>)], original: Value, contract: &Contract) -> Merged {
    let voices: Vec<_> =
        said.iter().map(|(level, said)| Voice { level: *level, said: *said }).collect();
    merge(&voices, Some(&original.into()), contract)
}

fn user(verdicts: &[Verdict], original: Value, contract: &Contract) -> Merged {
    let said: Vec<_> = verdicts.iter().map(|v| (Level::User, Said::Verdict(v))).collect();
    merge_all(&said, original, contract)
}

fn payload(merged: &Merged) -> Option<Value> {
    merged.payload.as_ref().map(Json::to_value)
}

#[test]
fn the_most_severe_decision_wins_and_its_reasons_are_kept_in_order() {
    let merged = user(
        &[
            Verdict::deny("one"),
            Verdict::allow().because("fine"),
            Verdict::ask("?"),
            Verdict::deny("two"),
        ],
        json!({}),
        &TOOL,
    );
    assert_eq!(merged.decision, Decision::Deny);
    assert_eq!(merged.reason.as_deref(), Some("one\ntwo"));
    let merged = user(&[Verdict::allow().because("fine"), Verdict::none()], json!({}), &TOOL);
    assert_eq!((merged.decision, merged.reason), (Decision::Allow, None));
    let merged = user(&[Verdict::ask("sure?"), Verdict::defer("later")], json!({}), &TOOL);
    assert_eq!((merged.decision, merged.reason.as_deref()), (Decision::Defer, Some("later")));
}

#[test]
fn with_a_halt_only_halting_and_denying_hooks_give_the_reason() {
    let halt_only = Verdict::none().because("enough").with_halt(true);
    let merged =
        user(&[Verdict::ask("sure?"), halt_only.clone(), Verdict::deny("no")], json!({}), &TOOL);
    assert!(merged.halt);
    assert_eq!(merged.reason.as_deref(), Some("enough\nno"));
    let merged = user(&[Verdict::ask("sure?"), halt_only], json!({}), &TOOL);
    assert_eq!((merged.decision, merged.reason.as_deref()), (Decision::Ask, Some("enough")));
}

#[test]
fn contexts_are_kept_one_entry_a_hook_unless_the_action_is_stopped() {
    let verdicts = [Verdict::none().with_context("a"), Verdict::allow().with_context("b")];
    assert_eq!(user(&verdicts, json!({}), &TOOL).context, ["a", "b"]);
    let mut denied = verdicts.to_vec();
    denied.push(Verdict::deny("no"));
    assert!(user(&denied, json!({}), &TOOL).context.is_empty());
    assert_eq!(user(&denied, json!({}), &RESULT).context, ["a", "b"]);
    assert_eq!(user(&denied, json!({}), &STOP).context, ["a", "b"]);
}

#[test]
fn patches_fold_over_top_level_keys_and_keys_are_plain() {
    let merged = user(
        &[patch(json!({"a": {"x": 1}, "a.b": 2})), patch(json!({"*": null, "b|c": 3}))],
        json!({"a": {"y": 0}, "z": 9}),
        &TOOL,
    );
    let expected = json!({"a": {"x": 1}, "z": 9, "a.b": 2, "*": null, "b|c": 3});
    assert_eq!(payload(&merged), Some(expected));
    assert_eq!(merged.applied, [0, 1]);
    assert!(merged.notes.is_empty());
}

#[test]
fn a_replacement_sets_the_payload_and_later_patches_apply_to_it() {
    let merged = user(
        &[patch(json!({"a": 1})), replace(json!({"b": 2})), patch(json!({"c": 3}))],
        json!({"z": 0}),
        &TOOL,
    );
    assert_eq!(payload(&merged), Some(json!({"b": 2, "c": 3})));
    assert_eq!(
        merged.notes,
        [Note { voice: 1, kind: NoteKind::KeyOverwritten { key: Some("a".into()), of: 0 } }]
    );
}

#[test]
fn two_hooks_of_one_level_that_disagree_are_reported_and_the_later_wins() {
    let merged = user(&[patch(json!({"a": 1})), patch(json!({"a": 2}))], json!({"a": 0}), &TOOL);
    assert_eq!(payload(&merged), Some(json!({"a": 2})));
    assert_eq!(
        merged.notes,
        [Note { voice: 1, kind: NoteKind::KeyOverwritten { key: Some("a".into()), of: 0 } }]
    );
    let merged = user(&[patch(json!({"a": 1})), patch(json!({"a": 1}))], json!({"a": 0}), &TOOL);
    assert!(merged.notes.is_empty());
}

#[test]
fn a_lower_level_cannot_change_what_a_higher_one_set() {
    let (high, low) = (patch(json!({"a": 1})), patch(json!({"a": 2, "b": 3})));
    let said = [(Level::Managed, Said::Verdict(&high)), (Level::Project, Said::Verdict(&low))];
    let merged = merge_all(&said, json!({"a": 0}), &TOOL);
    assert_eq!(payload(&merged), Some(json!({"a": 1, "b": 3})));
    let refused = NoteKind::KeyRefused { key: Some("a".into()), by: Level::Managed };
    assert_eq!(merged.notes, [Note { voice: 1, kind: refused.clone() }]);

    let low = replace(json!({"b": 3}));
    let said = [(Level::Managed, Said::Verdict(&high)), (Level::Project, Said::Verdict(&low))];
    let merged = merge_all(&said, json!({"a": 0, "c": 4}), &TOOL);
    assert_eq!(payload(&merged), Some(json!({"b": 3, "a": 1})));
    assert_eq!(merged.notes, [Note { voice: 1, kind: refused }]);

    let (high, low) = (replace(json!({"a": 1})), patch(json!({"b": 3})));
    let said = [(Level::Managed, Said::Verdict(&high)), (Level::Project, Said::Verdict(&low))];
    let merged = merge_all(&said, json!({"z": 0}), &TOOL);
    assert_eq!(payload(&merged), Some(json!({"a": 1})));
    assert_eq!(merged.applied, [0]);
}

#[test]
fn a_whole_rewrite_of_null_is_no_change_and_a_wrong_shape_is_never_applied() {
    for (verdict, contract) in [
        (replace(json!(5)), &TOOL),
        (replace(json!([1])), &TOOL),
        (replace(json!({})), &PROMPT),
        (replace(json!({"prompt": 5})), &PROMPT),
        (patch(json!({"prompt": null})), &PROMPT),
        (patch(json!({"promt": "x"})), &PROMPT),
        (replace(json!({"is_error": true})), &RESULT),
        (patch(json!({"is_error": "yes"})), &RESULT),
        (patch(json!({"args": {}})), &RESULT),
    ] {
        let merged =
            user(std::slice::from_ref(&verdict), json!({"prompt": "p", "content": "c"}), contract);
        assert_eq!(merged.payload, None, "{verdict:?}");
        assert!(
            matches!(merged.notes[..], [Note { kind: NoteKind::ShapeRefused(_), .. }]),
            "{verdict:?}"
        );
    }
    let merged = user(&[replace(json!(null))], json!({"a": 1}), &TOOL);
    assert_eq!((merged.payload, merged.notes, merged.applied), (None, vec![], vec![]));
}

#[test]
fn where_a_block_stops_the_action_rewrites_fall_with_a_deny_or_halt() {
    let verdicts = [patch(json!({"a": 1})), Verdict::deny("no")];
    assert_eq!(user(&verdicts, json!({"a": 0}), &TOOL).payload, None);
    let halt = Verdict::none().with_halt(true);
    assert_eq!(user(&[patch(json!({"a": 1})), halt], json!({"a": 0}), &TOOL).payload, None);
    let verdicts = [patch(json!({"content": "clean"})), Verdict::deny("looks bad")];
    let merged = user(&verdicts, json!({"content": "raw", "is_error": false}), &RESULT);
    assert_eq!(payload(&merged), Some(json!({"content": "clean", "is_error": false})));
    assert_eq!(merged.decision, Decision::None);
    assert_eq!(merged.notes, [Note { voice: 1, kind: NoteKind::OnlyARemark(Decision::Deny) }]);
}

#[test]
fn withholding_beats_every_rewrite_of_a_result() {
    let clean = patch(json!({"content": "clean"}));
    let said =
        [(Level::Managed, Said::Verdict(&clean)), (Level::Private, failed(OnFailure::Block))];
    let merged = merge_all(&said, json!({"content": "raw", "is_error": false}), &RESULT);
    assert!(merged.withheld && merged.applied.is_empty());
    let value = payload(&merged).unwrap();
    assert_eq!(value["is_error"], json!(true));
    assert!(value["content"].as_str().unwrap().contains("broken"));
}

#[test]
fn a_failed_hook_contributes_what_its_policy_says() {
    for (policy, decision) in [
        (OnFailure::Allow, Decision::None),
        (OnFailure::Ask, Decision::Ask),
        (OnFailure::Block, Decision::Deny),
    ] {
        assert_eq!(
            merge_all(&[(Level::User, failed(policy))], json!({}), &TOOL).decision,
            decision
        );
    }
}

#[test]
fn a_hook_that_failed_after_it_had_halted_still_halts() {
    for contract in [TOOL, RESULT, PROMPT, STOP] {
        let said = Said::Failed { policy: OnFailure::Allow, reason: "too slow", halt: true };
        let merged = merge_all(&[(Level::User, said)], json!({}), &contract);
        assert!(merged.halt && merged.decision == Decision::None, "{contract:?}");
        assert_eq!(merged.reason.as_deref(), Some("too slow"));
    }
}

#[test]
fn a_patch_leaves_no_copy_of_what_it_replaces_in_a_payload_that_names_a_key_twice() {
    let original = Json::parse(r#"{"command":"rm","n":1,"command":"rm -r"}"#).unwrap();
    let verdict = patch(json!({"command": "ls"}));
    let voice = Voice { level: Level::User, said: Said::Verdict(&verdict) };
    let merged = merge(&[voice], Some(&original), &TOOL);
    assert_eq!(merged.payload.unwrap().as_text(), r#"{"command":"ls","n":1}"#);
}

#[test]
fn a_value_that_no_tree_can_hold_is_no_way_to_keep_a_rewrite_off() {
    let original = Json::parse(r#"{"command":"rm","n":1e999}"#).unwrap();
    let verdict = patch(json!({"command": "ls"}));
    let voice = Voice { level: Level::User, said: Said::Verdict(&verdict) };
    let merged = merge(&[voice], Some(&original), &TOOL);
    assert_eq!(merged.payload.unwrap().as_text(), r#"{"command":"ls","n":1e999}"#);
}

#[test]
fn where_a_block_means_nothing_neither_deny_nor_halt_counts() {
    let merged = user(&[Verdict::halt("stop it")], json!({}), &Contract::OBSERVE);
    assert_eq!((merged.decision, merged.halt, merged.reason), (Decision::None, false, None));
    assert_eq!(merged.notes.len(), 2);
}

// ---- random voices ----

#[derive(Debug, Clone)]
enum Spoken {
    Verdict(Verdict),
    Failed(OnFailure),
}

type Spoke = (Level, Spoken);

fn voices(spoken: &[Spoke]) -> Vec<Voice<'_>> {
    spoken
        .iter()
        .map(|(level, spoken)| Voice {
            level: *level,
            said: match spoken {
                Spoken::Verdict(verdict) => Said::Verdict(verdict),
                Spoken::Failed(policy) => failed(*policy),
            },
        })
        .collect()
}

fn any_level() -> impl Strategy<Value = Level> {
    prop_oneof![Just(Level::Managed), Just(Level::User), Just(Level::Project), Just(Level::Private)]
}

fn any_rewrite() -> impl Strategy<Value = Rewrite> {
    let value =
        prop_oneof![Just(json!(null)), Just(json!(1)), Just(json!("x")), Just(json!({"n": 1}))];
    let key = prop_oneof![Just("a"), Just("b"), Just("prompt"), Just("content"), Just("is_error")];
    let object = prop::collection::btree_map(key, value, 0..3)
        .prop_map(|map| map.into_iter().map(|(k, v)| (k, Json::from(v))).collect::<Fields>());
    prop_oneof![
        4 => object.clone().prop_map(Rewrite::Patch),
        2 => object.prop_map(|fields| Rewrite::Replace(fields.to_json())),
        1 => Just(Rewrite::Replace(Json::null())),
        1 => Just(Rewrite::Replace(Json::from(json!([1])))),
    ]
}

fn any_verdict() -> impl Strategy<Value = Verdict> {
    let decision = prop_oneof![
        4 => Just(Decision::None),
        2 => Just(Decision::Allow),
        1 => Just(Decision::Ask),
        1 => Just(Decision::Defer),
        1 => Just(Decision::Deny),
    ];
    let text = prop::option::of(prop_oneof![Just(String::new()), "[a-c]{1,2}"]);
    (decision, prop::bool::weighted(0.1), text.clone(), text, prop::option::of(any_rewrite()))
        .prop_map(|(decision, halt, reason, context, rewrite)| {
            let mut verdict = Verdict::decide(decision).with_halt(halt);
            verdict.reason = reason.map(Into::into);
            if let Some(context) = context {
                verdict = verdict.with_context(context);
            }
            if let Some(rewrite) = rewrite {
                verdict = verdict.with_rewrite(rewrite);
            }
            verdict
        })
}

fn any_spoken() -> impl Strategy<Value = Spoken> {
    prop_oneof![
        5 => any_verdict().prop_map(Spoken::Verdict),
        1 => prop_oneof![Just(OnFailure::Allow), Just(OnFailure::Ask), Just(OnFailure::Block)]
            .prop_map(Spoken::Failed),
    ]
}

fn any_spoke() -> impl Strategy<Value = Spoke> {
    (any_level(), any_spoken())
}

fn many() -> impl Strategy<Value = Vec<Spoke>> {
    prop::collection::vec(any_spoke(), 0..6)
}

fn any_contract() -> impl Strategy<Value = Contract> {
    prop::sample::select(&CONTRACTS[..])
}

fn any_original() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"a": 0, "prompt": "p", "content": "c", "is_error": false})),
        Just(json!({"b": 2})),
        Just(json!({})),
        Just(json!("text")),
    ]
}

fn run(spoken: &[Spoke], original: &Value, contract: &Contract) -> Merged {
    merge(&voices(spoken), Some(&Json::from(original)), contract)
}

/// How much a decision holds up: an allow holds up no more than no opinion.
fn strictness(decision: Decision) -> u8 {
    match decision {
        Decision::None | Decision::Allow => 0,
        Decision::Ask => 1,
        Decision::Defer => 2,
        Decision::Deny => 3,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_slow_second_implementation_agrees(spoken in many(), original in any_original(), contract in any_contract()) {
        let fast = run(&spoken, &original, &contract);
        let slow = slow::merge(&spoken, &original, &contract);
        prop_assert_eq!(fast.decision, slow.decision);
        prop_assert_eq!(fast.halt, slow.halt);
        prop_assert_eq!(fast.reason.clone(), slow.reason);
        prop_assert_eq!(fast.context.clone(), slow.context);
        let effective = payload(&fast).unwrap_or_else(|| original.clone());
        prop_assert_eq!(effective, slow.payload);
    }

    #[test]
    fn the_decision_does_not_depend_on_configuration_order(
        (spoken, shuffled) in many().prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle())),
        contract in any_contract(),
    ) {
        let (one, other) = (run(&spoken, &json!({}), &contract), run(&shuffled, &json!({}), &contract));
        prop_assert_eq!((one.decision, one.halt, one.withheld), (other.decision, other.halt, other.withheld));
    }

    #[test]
    fn a_hook_with_no_opinion_changes_nothing(
        spoken in many(), at in 0usize..6, level in any_level(), original in any_original(), contract in any_contract(),
    ) {
        let mut more = spoken.clone();
        more.insert(at.min(more.len()), (level, Spoken::Verdict(Verdict::none())));
        let (without, with) = (run(&spoken, &original, &contract), run(&more, &original, &contract));
        prop_assert_eq!(
            (without.decision, without.halt, without.reason, without.context, without.payload, without.withheld),
            (with.decision, with.halt, with.reason, with.context, with.payload, with.withheld)
        );
    }

    #[test]
    fn a_deny_denies_where_a_block_stops_the_action_and_changes_no_payload_where_it_is_a_remark(
        spoken in many(), at in 0usize..6, level in any_level(), original in any_original(), contract in any_contract(),
    ) {
        let mut more = spoken.clone();
        more.insert(at.min(more.len()), (level, Spoken::Verdict(Verdict::deny("no"))));
        let (without, with) = (run(&spoken, &original, &contract), run(&more, &original, &contract));
        if contract.block.stops_action() {
            prop_assert_eq!(with.decision, Decision::Deny);
        } else {
            prop_assert_eq!(without.payload, with.payload);
        }
    }

    #[test]
    fn no_failure_turns_a_deny_into_anything_else(
        spoken in many(), at in 0usize..6, which in 0usize..6, policy in 0usize..3, contract in any_contract(),
    ) {
        let before = run(&spoken, &json!({}), &contract);
        let policy = [OnFailure::Allow, OnFailure::Ask, OnFailure::Block][policy];
        let mut more = spoken.clone();
        more.insert(at.min(more.len()), (Level::Private, Spoken::Failed(policy)));
        if before.decision == Decision::Deny {
            prop_assert_eq!(run(&more, &json!({}), &contract).decision, Decision::Deny);
        }
        // A hook that fails with `block` instead of answering cannot loosen either.
        let mut failing = spoken;
        if let Some(spoke) = failing.get_mut(which) {
            spoke.1 = Spoken::Failed(OnFailure::Block);
            let after = run(&failing, &json!({}), &contract);
            prop_assert!(strictness(after.decision) >= strictness(before.decision));
        }
    }

    #[test]
    fn a_lower_level_never_makes_an_outcome_laxer(
        spoken in prop::collection::vec((prop_oneof![Just(Level::Managed), Just(Level::User)], any_spoken()), 0..5),
        added in any_spoken(), at in 0usize..6, original in any_original(), contract in any_contract(),
    ) {
        let mut more = spoken.clone();
        more.insert(at.min(more.len()), (Level::Private, added));
        let (without, with) = (run(&spoken, &original, &contract), run(&more, &original, &contract));
        prop_assert!(strictness(with.decision) >= strictness(without.decision));
        prop_assert!(with.halt >= without.halt);
        prop_assert!(with.withheld >= without.withheld);
        let stopped = contract.block.stops_action() && (with.decision == Decision::Deny || with.halt);
        // On a payload that is no object the higher level's patch could not apply in the first place.
        if !stopped && !with.withheld && original.is_object() {
            let (a, b) = (payload(&without).unwrap_or(original.clone()), payload(&with).unwrap_or(original));
            for key in slow::keys_set(&spoken, &contract) {
                prop_assert_eq!(a.get(&key), b.get(&key), "{}", key);
            }
        }
    }
}

/// The same rules written for the reader instead of the machine.
mod slow {
    use super::*;

    /// Each key with the level that set it; `None` is the original's own.
    type Set = BTreeMap<String, (Option<Value>, Option<Level>)>;

    pub(super) struct Slow {
        pub decision: Decision,
        pub halt: bool,
        pub reason: Option<String>,
        pub context: Vec<String>,
        pub payload: Value,
    }

    fn decision(spoken: &Spoken) -> Decision {
        match spoken {
            Spoken::Verdict(verdict) => verdict.decision,
            Spoken::Failed(OnFailure::Block) => Decision::Deny,
            Spoken::Failed(OnFailure::Ask) => Decision::Ask,
            Spoken::Failed(OnFailure::Allow) => Decision::None,
        }
    }

    fn halts(spoken: &Spoken) -> bool {
        matches!(spoken, Spoken::Verdict(verdict) if verdict.halt)
    }

    fn reason(spoken: &Spoken) -> Option<String> {
        let text = match spoken {
            Spoken::Verdict(verdict) => verdict.reason.clone()?.into_owned(),
            Spoken::Failed(_) => "broken".to_owned(),
        };
        (!text.is_empty()).then_some(text)
    }

    fn well_shaped(rewrite: &Rewrite, contract: &Contract) -> bool {
        check_shape(rewrite, contract.rewrites).is_ok()
    }

    /// The keys that voices of these rewrites set themselves.
    pub(super) fn keys_set(spoken: &[Spoke], contract: &Contract) -> Vec<String> {
        let mut keys = Vec::new();
        for (_, spoken) in spoken {
            let Spoken::Verdict(verdict) = spoken else { continue };
            let Some(rewrite) = verdict.rewrite().filter(|r| well_shaped(r, contract)) else {
                continue;
            };
            match rewrite {
                Rewrite::Patch(fields) => keys.extend(fields.iter().map(|(k, _)| k.to_owned())),
                Rewrite::Replace(json) => {
                    let all = ["a", "b", "prompt", "content", "is_error"];
                    if json.is_object() {
                        keys.extend(all.iter().map(|k| (*k).to_owned()));
                    }
                }
            }
        }
        keys
    }

    pub(super) fn merge(spoken: &[Spoke], original: &Value, contract: &Contract) -> Slow {
        let stops = contract.block.stops_action();
        let mut worst = Decision::None;
        for candidate in [Decision::Allow, Decision::Ask, Decision::Defer, Decision::Deny] {
            let said = spoken.iter().any(|(_, s)| decision(s) == candidate);
            let means_something =
                stops || (candidate == Decision::Deny && contract.block == Block::GoesOn);
            if said && means_something {
                worst = candidate;
            }
        }
        let halt = contract.block != Block::Nothing && spoken.iter().any(|(_, s)| halts(s));
        let reasons: Vec<String> = spoken
            .iter()
            .filter(|(_, s)| {
                if halt {
                    halts(s) || decision(s) == Decision::Deny
                } else {
                    worst >= Decision::Ask && decision(s) == worst
                }
            })
            .filter_map(|(_, s)| reason(s))
            .collect();
        let stopped = stops && (worst == Decision::Deny || halt);
        let context = if stopped || !contract.delivers_context {
            Vec::new()
        } else {
            spoken
                .iter()
                .filter_map(|(_, s)| match s {
                    Spoken::Verdict(v) => v.context().filter(|c| !c.is_empty()).map(str::to_owned),
                    Spoken::Failed(_) => None,
                })
                .collect()
        };
        Slow {
            decision: worst,
            halt,
            reason: (!reasons.is_empty()).then(|| reasons.join("\n")),
            context,
            payload: if stopped { original.clone() } else { rewrite(spoken, original, contract) },
        }
    }

    fn rewrite(spoken: &[Spoke], original: &Value, contract: &Contract) -> Value {
        let blocking: Vec<&str> = spoken
            .iter()
            .filter(|(_, s)| matches!(s, Spoken::Failed(OnFailure::Block)))
            .map(|_| "broken")
            .collect();
        if contract.rewrites == Rewrites::Result && !blocking.is_empty() {
            return withheld(&blocking.join("\n")).to_value();
        }
        if contract.rewrites == Rewrites::Nothing {
            return original.clone();
        }
        let Some(object) = original.as_object() else {
            return rewrite_of_no_object(spoken, original, contract);
        };
        let mut keys: Set =
            object.iter().map(|(k, v)| (k.clone(), (Some(v.clone()), None))).collect();
        let mut floor: Option<Level> = None;
        for (level, spoken) in spoken {
            let Spoken::Verdict(verdict) = spoken else { continue };
            let Some(rewrite) = verdict.rewrite().filter(|r| well_shaped(r, contract)) else {
                continue;
            };
            let may_set = |old: Option<Level>, floor: Option<Level>| match old.or(floor) {
                Some(owner) => *level <= owner,
                None => true,
            };
            match rewrite {
                Rewrite::Patch(fields) => {
                    for (key, value) in fields.iter() {
                        let old = keys.get(key).and_then(|(_, owner)| *owner);
                        if may_set(old, floor) {
                            keys.insert(key.to_owned(), (Some(value.to_value()), Some(*level)));
                        }
                    }
                }
                Rewrite::Replace(json) => {
                    let Some(new) = json.to_fields() else { continue };
                    if floor.is_some_and(|owner| owner < *level) {
                        continue;
                    }
                    let kept: Set = keys
                        .into_iter()
                        .filter(|(_, (_, owner))| owner.is_some_and(|owner| owner < *level))
                        .collect();
                    keys = new
                        .iter()
                        .map(|(k, v)| (k.to_owned(), (Some(v.to_value()), None)))
                        .collect();
                    keys.extend(kept);
                    floor = Some(*level);
                }
            }
        }
        let mut result: serde_json::Map<String, Value> =
            keys.into_iter().filter_map(|(k, (v, _))| v.map(|v| (k, v))).collect();
        if contract.rewrites == Rewrites::Result
            && !result.contains_key("is_error")
            && let Some(kept) = object.get("is_error")
        {
            result.insert("is_error".to_owned(), kept.clone());
        }
        Value::Object(result)
    }

    /// A payload that is no object cannot be patched, only replaced.
    fn rewrite_of_no_object(spoken: &[Spoke], original: &Value, contract: &Contract) -> Value {
        let first = spoken.iter().position(|(_, s)| match s {
            Spoken::Verdict(v) => matches!(v.rewrite(), Some(r @ Rewrite::Replace(json))
                if json.is_object() && well_shaped(r, contract)),
            Spoken::Failed(_) => false,
        });
        match first {
            None => original.clone(),
            Some(at) => {
                // Everything before it could not apply; from there on it is an object.
                rewrite(&spoken[at..], &json!({}), contract)
            }
        }
    }
}
