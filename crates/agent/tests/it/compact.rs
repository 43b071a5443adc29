//! A conversation that becomes too long: summarised, unless a hook is against it, and resumed as it was.

use tenter::CancellationToken;
use tenter::{EventKind, Verdict};
use tenter_agent::{Compacted, Message, Status};

use crate::support::*;

const LONG: &str = "[[turn]]\n[[turn.call]]\ntool = \"Bash\"\n\
                    input = { command = \"head -c 3000 /dev/zero | tr '\\\\0' x\" }\n\
                    [[turn]]\ntext = \"THE SUMMARY\"\n\
                    [[turn]]\ntext = \"done\"\n";

fn first(messages: &[Message]) -> &str {
    match messages.first() {
        Some(Message::User { text, .. }) => text,
        _ => "",
    }
}

#[tokio::test]
async fn a_long_conversation_is_summarised_and_goes_on() {
    let seen = Seen::default();
    let hooks = seen.observers(&[EventKind::PreCompact, EventKind::PostCompact]);
    let world = World::new(LONG, hooks);
    let mut agent = world.builder().compact_at(Some(2000)).start();
    let end = turn(&mut agent, "count").await;
    assert_eq!((end.status, end.text.as_str()), (Status::Complete, "done"));
    let history = agent.history().to_vec();
    assert!(first(&history).ends_with("THE SUMMARY"));
    assert_eq!(history.len(), 4, "the summary, the call with its result, the last words");
    agent.end("exit", LIMIT).await;
    assert_eq!(seen.all(), ["PreCompact", "PostCompact"]);

    // The model that is asked for a summary may call nothing, and goes on from what is left.
    let log = world.provider.log();
    assert!(!log[1].may_call && log[2].may_call);
    assert_eq!(log[1].tools, log[2].tools);
    assert_eq!(log[2].messages, history[..3]);
    // What was under way is not in the text to be summarised.
    assert_eq!(log[1].messages.len(), 2);
    assert!(!world.of("model.delta").iter().any(|delta| delta["text"] == "THE SUMMARY"));

    let resumed = world.builder().resume().unwrap();
    assert_eq!(resumed.history(), history);
}

#[tokio::test]
async fn a_hook_may_be_against_it_and_the_turn_goes_on() {
    let against = hook(EventKind::PreCompact, |event| {
        assert_eq!(event.extra.get("trigger").unwrap().as_str().unwrap(), "auto");
        Verdict::deny("not now")
    });
    let script = LONG.replace("[[turn]]\ntext = \"THE SUMMARY\"\n", "");
    let world = World::new(&script, vec![against]);
    let mut agent = world.builder().compact_at(Some(2000)).start();
    let end = turn(&mut agent, "count").await;
    assert_eq!((end.status, end.text.as_str()), (Status::Complete, "done"));
    assert_eq!(first(agent.history()), "count");
    assert_eq!(world.hook_events("PreCompact")[0]["effect"], "blocked");
    assert!(!world.stored().contains("compacted"));
}

#[tokio::test]
async fn a_model_that_cannot_summarise_costs_a_warning() {
    let script = LONG.replace("text = \"THE SUMMARY\"", "error = \"too tired\"");
    let world = World::new(&script, vec![]);
    let mut agent = world.builder().compact_at(Some(2000)).start();
    assert_eq!(turn(&mut agent, "count").await.status, Status::Complete);
    assert_eq!(first(agent.history()), "count");
    let warnings = world.of("notification");
    assert!(warnings.iter().any(|one| one["message"].as_str().unwrap().contains("too tired")));
}

#[tokio::test]
async fn it_can_be_asked_for_between_turns() {
    let seen = hook(EventKind::PreCompact, |event| {
        assert_eq!(event.extra.get("trigger").unwrap().as_str().unwrap(), "manual");
        assert_eq!(
            event.extra.get("custom_instructions").unwrap().as_str().unwrap(),
            "mind the tests"
        );
        Verdict::none()
    });
    let script = "[[turn]]\ntext = \"hello\"\n[[turn]]\ntext = \"SHORT\"\n";
    let world = World::new(script, vec![seen]);
    let mut agent = world.builder().start();
    let cancel = CancellationToken::new();
    let nothing = agent.compact("", &cancel).await;
    assert!(matches!(nothing, Compacted::Skipped { .. }), "{nothing:?}");
    turn(&mut agent, "hi").await;
    let done = agent.compact("mind the tests", &cancel).await;
    assert_eq!(done, Compacted::Done { summary: "SHORT".into() });
    assert_eq!(agent.history().len(), 1);
    let asked = world.provider.log()[1].messages.last().cloned().unwrap();
    assert!(first(&[asked]).ends_with("mind the tests"));
}
