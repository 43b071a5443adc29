//! What of an outcome reaches a host: never more than it can carry, never less strict, and nothing
//! lost without a word.

use proptest::prelude::*;
use serde_json::{Value, json};
use tenter_core::event::{EventKind, Origin};
use tenter_core::json::Json;
use tenter_core::outcome::Outcome;
use tenter_core::verdict::Decision;

use super::rows;
use crate::bridge::{Answer, Bridge, EventRow, Power, Said, Saying};
use crate::native::PROFILE;

/// A payload that is an event of any kind, in the places of a host.
fn payload(bridge: &Bridge, row: &EventRow) -> String {
    let mut payload = json!({});
    let wire = bridge.wire;
    let mut put = |places: &[&[&str]], value: Value| {
        let Some(place) = places.first() else { return };
        let mut at = &mut payload;
        for key in *place {
            at = &mut at[*key];
        }
        *at = value;
    };
    put(wire.session, json!("s"));
    put(wire.cwd, json!("/p"));
    put(wire.tool, json!("Bash"));
    put(wire.input, json!({ "command": "ls" }));
    put(wire.response, json!("out"));
    put(wire.prompt, json!("hello"));
    put(wire.event, json!(row.own));
    payload.to_string()
}

/// Says what it was given to say, as JSON.
fn spell(saying: &Saying<'_>) -> Answer {
    Answer::json(&json!({
        "word": format!("{:?}", saying.word),
        "halt": saying.halt,
        "reason": saying.reason,
        "context": saying.context,
        "rewrite": saying.rewrite.map(Json::to_value),
        "message": saying.message,
        "nothing": saying.is_nothing(),
    }))
}

fn said(bridge: &Bridge, row: &EventRow, outcome: &Outcome) -> Said {
    let text = payload(bridge, row);
    let incoming = bridge.read(&text, Some(row.own), &Origin::default());
    let incoming = incoming.unwrap_or_else(|error| panic!("{} {}: {error}", bridge.name, row.own));
    bridge.answer(&incoming, outcome, PROFILE.contract(&row.kind()))
}

fn spelt(bridge: &Bridge, row: &EventRow, outcome: &Outcome) -> (Value, Said) {
    let said = said(&Bridge { say: spell, ..*bridge }, row, outcome);
    (serde_json::from_str(&said.answer.stdout).unwrap(), said)
}

fn outcome_for(kind: &EventKind, decision: Decision, halt: bool, parts: [bool; 4]) -> Outcome {
    use tenter_core::contract::Rewrites;
    let [reason, context, rewritten, message] = parts;
    let rewritten = match PROFILE.contract(kind).rewrites {
        Rewrites::ToolInput => Some(json!({ "command": "pwd" })),
        Rewrites::Prompt => Some(json!({ "prompt": "bye" })),
        Rewrites::Result => Some(json!({ "content": "other", "is_error": false })),
        Rewrites::Nothing => None,
    }
    .filter(|_| rewritten);
    let mut outcome = Outcome::proceed(kind.clone());
    outcome.decision = decision;
    outcome.halt = halt;
    outcome.reason = reason.then(|| "because".into());
    outcome.context = if context { vec!["mind this".into()] } else { Vec::new() };
    outcome.rewritten = rewritten.map(|payload| Json::from_serialize(&payload));
    if message {
        outcome.messages.push(tenter_core::outcome::Message {
            level: tenter_core::diagnostic::Severity::Warning,
            text: "a word".into(),
            hook: None,
        });
    }
    outcome
}

#[test]
fn no_opinion_is_nothing_at_all() {
    for (bridge, row) in rows() {
        let said = said(bridge, row, &Outcome::proceed(row.kind()));
        assert_eq!(said.answer, bridge.nothing(), "{} {}", bridge.name, row.own);
        assert!(said.lost.is_empty());
    }
}

#[test]
fn the_strongest_no_is_a_no_wherever_there_is_one() {
    for (bridge, row) in rows() {
        let answer = bridge.refuse(Some(row), "it broke");
        let can = row.can(Power::Deny) || row.can(Power::Halt);
        assert_eq!(answer != bridge.nothing(), can, "{} {}", bridge.name, row.own);
    }
    for bridge in crate::bridge::all() {
        assert_ne!(bridge.refuse(None, "it broke"), bridge.nothing(), "{}", bridge.name);
    }
}

fn any_decision() -> impl Strategy<Value = Decision> {
    prop_oneof![
        Just(Decision::None),
        Just(Decision::Allow),
        Just(Decision::Ask),
        Just(Decision::Defer),
        Just(Decision::Deny),
    ]
}

fn rank(word: &str) -> u8 {
    match word {
        "Deny" => 3,
        "Ask" => 2,
        _ => 0,
    }
}

proptest! {
    #[test]
    fn a_host_is_told_what_it_can_carry_and_no_decision_gets_laxer(
        decision in any_decision(),
        halt in any::<bool>(),
        parts in any::<[bool; 4]>(),
    ) {
        for (bridge, row) in rows() {
            let kind = row.kind();
            let outcome = outcome_for(&kind, decision, halt, parts);
            let name = format!("{} {} {outcome:?}", bridge.name, row.own);
            let (told, said) = spelt(bridge, row, &outcome);
            let word = told["word"].as_str().unwrap();
            let lost = |power: Power| said.lost.iter().any(|lost| lost.power == power);

            // Nothing that the host cannot carry.
            prop_assert!(word != "Allow" || row.can(Power::Allow), "{name}");
            prop_assert!(word != "Ask" || row.can(Power::Ask), "{name}");
            prop_assert!(word != "Deny" || row.can(Power::Deny), "{name}");
            prop_assert!(told["halt"] != true || row.can(Power::Halt), "{name}");
            prop_assert!(told["rewrite"].is_null() || row.can(Power::Rewrite), "{name}");
            prop_assert!(told["context"].is_null() || row.can(Power::Context), "{name}");
            prop_assert!(told["message"].is_null() || row.can(Power::Message), "{name}");

            // Never less strict, but where there is no way, and then with a word.
            let asked = match decision { Decision::Ask => 2, Decision::Defer | Decision::Deny => 3, _ => 0 };
            let stricter = rank(word) >= asked || told["halt"] == true;
            prop_assert!(stricter || lost(Power::Deny), "{name}: {told}");
            prop_assert!(!halt || told["halt"] == true || lost(Power::Halt), "{name}: {told}");
            // Without a no of the outcome there is none, unless something could not be carried.
            prop_assert!(word != "Deny" || asked > 0 || !said.lost.is_empty(), "{name}: {told}");

            // Nothing is lost silently.
            let stopped = PROFILE.contract(&kind).block.stops_action()
                && (word == "Deny" || told["halt"] == true);
            prop_assert!(
                outcome.rewritten.is_none() || stopped || !told["rewrite"].is_null() || lost(Power::Rewrite),
                "{name}: {told}"
            );
            prop_assert!(outcome.context.is_empty() || !told["context"].is_null() || lost(Power::Context), "{name}");
            // A no has a reason.
            let decides = matches!(word, "Deny" | "Ask") || told["halt"] == true;
            prop_assert!(!decides || !told["reason"].as_str().unwrap().trim().is_empty(), "{name}");
        }
    }

    #[test]
    fn an_answer_is_one_object_or_none_and_exits_only_with_0_or_2(
        decision in any_decision(),
        halt in any::<bool>(),
        parts in any::<[bool; 4]>(),
    ) {
        for (bridge, row) in rows() {
            let outcome = outcome_for(&row.kind(), decision, halt, parts);
            let name = format!("{} {} {outcome:?}", bridge.name, row.own);
            let answer = said(bridge, row, &outcome).answer;
            prop_assert!(matches!(answer.exit, 0 | 2), "{name}");
            // Exit 2 counts only with a reason on stderr and nothing beside it.
            prop_assert!(answer.exit == 0 || (!answer.stderr.is_empty() && answer.stdout.is_empty()), "{name}");
            let is_object = serde_json::from_str::<Value>(&answer.stdout).is_ok_and(|it| it.is_object());
            prop_assert!(answer.stdout.is_empty() || is_object, "{name}: {}", answer.stdout);
        }
    }
}
