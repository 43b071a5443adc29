//! A reviewer around the hooks of an agent: when it works, what it costs the turn, and what it leaves.

use std::sync::Arc;
use std::time::Duration;

use tenter::core::event::{Agent as Actor, Origin, StopFacts};
use tenter::{CancellationToken, Decision, Event, EventKind, HookRunner as _, RunContext, Verdict};
use tenter_agent::{
    AgentBuilder, FileMemory, FolderStore, Memory as _, NoStore, Script, ScriptedProvider, Status,
    Store, UserModelReviewer,
};

use crate::support::*;

const NOTE: &str = "[[turn]]\nagent = \"reviewer\"\n[[turn.call]]\ntool = \"remember\"\n";

/// A world with a reviewer in it.
struct Reviewed {
    world: World,
    model: ScriptedProvider,
    memory: FileMemory,
    reviewer: Arc<UserModelReviewer>,
    store: Arc<FolderStore>,
}

impl Reviewed {
    fn new(world: World, model: &str, every: u64) -> Self {
        let model = ScriptedProvider::new(Script::parse(model).unwrap());
        let store = Arc::new(FolderStore::new(world.folder.path().join("state")));
        let memory = FileMemory::new(world.folder.path().join("state/user.md"));
        let reviewer = UserModelReviewer::new(
            Arc::new(world.session.clone()),
            Arc::new(model.clone()),
            Arc::clone(&store) as Arc<dyn Store>,
            Arc::new(memory.clone()),
        );
        Self { world, model, memory, reviewer: Arc::new(reviewer.every(every)), store }
    }

    fn builder(&self) -> AgentBuilder {
        let store = Arc::clone(&self.store) as Arc<dyn Store>;
        self.world.builder().hooks(self.reviewer.clone()).store(store)
    }

    async fn finish(&self) {
        assert_eq!(self.reviewer.finish(LIMIT).await, 0);
    }
}

fn turns(count: usize) -> String {
    let turns: Vec<_> =
        (0..count).map(|at| format!("[[turn]]\ntext = \"answer {at}\"\n")).collect();
    turns.concat()
}

#[tokio::test]
async fn k126_the_first_turn_and_every_so_many_are_reviewed() {
    for (every, expected) in [(1, &[1, 2, 3, 4, 5, 6, 7][..]), (3, &[1, 4, 7]), (9, &[1])] {
        let world = World::new(&turns(7), vec![]);
        let nothing = "repeat_last = true\n[[turn]]\nagent = \"reviewer\"\ntext = \"nothing new\"";
        let reviewed = Reviewed::new(world, nothing, every);
        let mut agent = reviewed.builder().start();
        let mut at = Vec::new();
        for number in 1..=7 {
            let before = reviewed.model.log().len();
            turn(&mut agent, &format!("prompt {number}")).await;
            reviewed.finish().await;
            if reviewed.model.log().len() > before {
                at.push(number);
            }
        }
        assert_eq!(at, expected, "every {every}");
        assert_eq!(reviewed.reviewer.reviews().done, expected.len());
        assert_eq!(reviewed.memory.text().unwrap(), "");
    }
}

#[tokio::test]
async fn what_it_notes_is_kept_and_what_it_is_shown_holds_no_result() {
    let world = World::new(&bash(&["echo TOOL-OUTPUT"]), vec![]);
    let model = format!(
        "{NOTE}input = {{ text = \"Likes short answers.\" }}\n[[turn.call]]\ntool = \"remember\"\n\
         input = {{ text = \"Likes short answers.\" }}\n[[turn.call]]\ntool = \"remember\"\n\
         input = {{ text = \"Writes Rust.\" }}"
    );
    let reviewed = Reviewed::new(world, &model, 1);
    let mut agent = reviewed.builder().start();
    turn(&mut agent, "be short").await;
    reviewed.finish().await;
    assert_eq!(reviewed.memory.text().unwrap(), "- Likes short answers.\n- Writes Rust.\n");
    let reviews = reviewed.reviewer.reviews();
    assert_eq!((reviews.done, reviews.remembered, reviews.failed), (1, 2, 0));
    let request = reviewed.model.log().remove(0);
    let tools: Vec<_> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!((tools, request.messages.len()), (vec!["remember"], 1));
    let shown = format!("{:?}", request.messages);
    assert!(shown.contains("be short") && shown.contains("done") && shown.contains("nothing"));
    assert!(!shown.contains("TOOL-OUTPUT"));
}

#[tokio::test]
async fn k126_what_the_hooks_say_goes_back_unchanged_and_a_turn_sent_on_has_not_ended() {
    let once = hook(EventKind::Stop, |event| match &event.payload {
        tenter::core::event::Payload::Stop(facts) if facts.stop_hook_active => Verdict::none(),
        _ => Verdict::deny("run the tests"),
    });
    let seen = Seen::default();
    let mut hooks = vec![once];
    hooks.extend(seen.observers(&[
        EventKind::Stop,
        EventKind::SessionStart,
        EventKind::PreToolUse,
    ]));
    let world = World::new(&turns(2), hooks);
    let reviewed = Reviewed::new(world, &format!("{NOTE}input = {{ text = \"Tests first.\" }}"), 1);
    let mut agent = reviewed.builder().start();
    let end = turn(&mut agent, "hi").await;
    assert_eq!((end.status, &*end.text), (Status::Complete, "answer 1"));
    reviewed.finish().await;
    assert_eq!(reviewed.model.log().len(), 1, "one turn has ended");
    // The review itself fires nothing.
    assert_eq!(seen.all(), ["SessionStart", "Stop", "Stop"]);

    let origin = Origin { session_id: "s".into(), ..Origin::default() };
    let stop = Event::stop(StopFacts::default()).with_origin(origin);
    let outcome = reviewed.reviewer.run(&stop, &RunContext::new()).await;
    assert_eq!(outcome.decision, Decision::Deny);
    assert_eq!((outcome.reason.as_deref(), outcome.hooks.len()), (Some("run the tests"), 2));
}

#[tokio::test]
async fn only_ends_that_come_by_themselves_to_the_main_agent_count() {
    let world = World::new("", vec![]);
    let reviewed = Reviewed::new(world, NOTE, 1);
    let run = async |event: Event, agent: Option<Actor>| {
        let origin = Origin { session_id: "s".into(), agent, ..Origin::default() };
        reviewed.reviewer.run(&event.with_origin(origin), &RunContext::new()).await;
    };
    for reason in ["cancelled", "error", "limit"] {
        let facts = StopFacts { stop_reason: Some(reason.into()), ..StopFacts::default() };
        run(Event::stop(facts), None).await;
    }
    let below = Actor { id: Some("agent-1".into()), kind: None, depth: 1 };
    run(Event::stop(StopFacts::default()), Some(below)).await;
    let subagent = Event { kind: EventKind::SubagentStop, ..Event::stop(StopFacts::default()) };
    run(subagent, None).await;
    run(Event::user_prompt("hi"), None).await;
    run(Event::session_end("exit"), None).await;
    reviewed.finish().await;
    assert_eq!(reviewed.reviewer.reviews(), tenter_agent::Reviews::default());
    assert!(reviewed.reviewer.wants(&EventKind::Stop));
    assert!(!reviewed.reviewer.wants(&EventKind::SubagentStop));
}

#[tokio::test]
async fn nothing_waits_for_a_review_and_a_session_has_one_at_a_time() {
    let world = World::new(&turns(2), vec![]);
    let reviewed = Reviewed::new(world, "[[turn]]\nagent = \"reviewer\"\nhang = true", 1);
    let mut agent = reviewed.builder().start();
    for prompt in ["one", "two"] {
        assert_eq!(turn(&mut agent, prompt).await.status, Status::Complete);
    }
    assert_eq!(reviewed.reviewer.reviews().skipped, 1);
    assert_eq!(reviewed.reviewer.finish(Duration::from_millis(20)).await, 1);
    let reviews = reviewed.reviewer.reviews();
    assert_eq!(
        (reviews.failed, reviews.last_failure.as_deref()),
        (1, Some("the review was cut off"))
    );
    assert_eq!(reviewed.reviewer.finish(LIMIT).await, 0, "it is gone");
}

#[tokio::test]
async fn sessions_are_counted_apart_and_only_so_many_are_reviewed_at_once() {
    let world = World::new("", vec![]);
    let reviewed = Reviewed::new(world, "repeat_last = true\n[[turn]]\nagent = \"reviewer\"", 2);
    let stop = |session: &str| {
        let origin = Origin { session_id: session.into(), ..Origin::default() };
        Event::stop(StopFacts::default()).with_origin(origin)
    };
    // No task can begin before this one waits: all that are due are on their way at once.
    for session in ["a", "a", "b", "c", "d", "e"] {
        reviewed.reviewer.run(&stop(session), &RunContext::new()).await;
    }
    assert_eq!(reviewed.reviewer.reviews().skipped, 1, "`e` is one too many");
    reviewed.finish().await;
    let reviews = reviewed.reviewer.reviews();
    assert_eq!(reviews.failed, 4, "there are no such sessions: {reviews:?}");
    reviewed.reviewer.run(&stop("a"), &RunContext::new()).await;
    reviewed.finish().await;
    assert_eq!(reviewed.reviewer.reviews().failed, 5, "it is the third of `a`");
}

#[tokio::test]
async fn what_goes_wrong_is_counted_and_told_and_breaks_no_turn() {
    let many = format!(
        "{NOTE}{}",
        "[[turn.call]]\ntool = \"remember\"\ninput = { text = \"a\" }\n".repeat(9)
    );
    for (model, part, kept) in [
        ("", "no more turns", 0),
        ("[[turn]]\nagent = \"reviewer\"\nerror = \"no route\"", "no route", 0),
        ("[[turn]]\nagent = \"reviewer\"\n[[turn.call]]\ntool = \"Bash\"", "`remember` alone", 0),
        (&format!("{NOTE}input = {{ note = \"a\" }}"), "a note is not valid", 0),
        (&format!("{NOTE}input = {{ text = \"{}\" }}", "a".repeat(401)), "401 characters", 0),
        (
            &many.replacen(
                "tool = \"remember\"\n[[",
                "tool = \"remember\"\ninput = { text = \"b\" }\n[[",
                1,
            ),
            "more than 8 notes",
            2,
        ),
    ] {
        let reviewed = Reviewed::new(World::new(&turns(1), vec![]), model, 1);
        let mut agent = reviewed.builder().start();
        assert_eq!(turn(&mut agent, "hi").await.status, Status::Complete);
        reviewed.finish().await;
        let reviews = reviewed.reviewer.reviews();
        assert!(
            reviews.failed >= 1 && reviews.last_failure.as_deref().unwrap().contains(part),
            "{reviews:?}"
        );
        assert_eq!(reviews.remembered, kept, "{part}");
    }
}

#[tokio::test]
async fn a_cancelled_turn_is_not_reviewed() {
    let world = World::new("[[turn]]\nhang = true", vec![]);
    let reviewed = Reviewed::new(world, NOTE, 1);
    let mut agent = reviewed.builder().start();
    let cancel = CancellationToken::new();
    let stop = async {
        while reviewed.world.provider.log().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (end, ()) = tokio::join!(agent.turn("hi", &cancel), stop);
    assert_eq!(end.status, Status::Cancelled);
    agent.end("exit", LIMIT).await;
    reviewed.finish().await;
    assert_eq!(reviewed.reviewer.reviews(), tenter_agent::Reviews::default());
}

#[tokio::test]
async fn a_session_that_is_stored_nowhere_cannot_be_reviewed() {
    let world = World::new(&turns(1), vec![]);
    let memory = FileMemory::new(world.folder.path().join("user.md"));
    let inner = Arc::new(world.session.clone());
    let provider = Arc::new(world.provider.clone());
    let reviewer =
        Arc::new(UserModelReviewer::new(inner, provider, Arc::new(NoStore), Arc::new(memory)));
    turn(&mut world.builder().hooks(reviewer.clone()).start(), "hi").await;
    assert_eq!(reviewer.finish(LIMIT).await, 0);
    let reviews = reviewer.reviews();
    assert_eq!(reviews.last_failure.as_deref(), Some("there is no session `s`"));
}

#[tokio::test]
async fn what_is_known_of_the_user_is_told_beside_the_system_text() {
    let world = World::new("[[turn]]\ntext = \"a\"\n", vec![]);
    let mut agent = world.builder().system("Be brief.").known_of_user("- Prefers pnpm.\n").start();
    turn(&mut agent, "hi").await;
    let system = &world.provider.log()[0].system;
    assert!(system.starts_with("Be brief.\n\n") && system.ends_with("- Prefers pnpm."), "{system}");
    let world = World::new("[[turn]]\ntext = \"a\"\n", vec![]);
    let mut agent = world.builder().system("Be brief.").known_of_user(" ").start();
    turn(&mut agent, "hi").await;
    assert_eq!(world.provider.log()[0].system, "Be brief.");
}
