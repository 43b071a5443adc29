//! Agents below an agent: delegation is no way around a hook.

use tenter::core::event::Payload;
use tenter::{EventKind, Verdict};
use tenter_agent::Status;

use crate::support::*;

#[tokio::test]
async fn a_subagent_has_the_same_hooks_and_says_who_it_is() {
    let seen = Seen::default();
    let saw = seen.clone();
    let guard = move |event: &tenter::Event| {
        let agent = event.origin.agent.clone();
        if event.tool_name() != Some("Bash") {
            return Verdict::none();
        }
        let agent = agent.expect("a subagent acts");
        saw.push(format!("{:?} {:?} {}", agent.id, agent.kind, agent.depth));
        Verdict::deny("not for anybody")
    };
    let script = "[[turn]]\n[[turn.call]]\ntool = \"Agent\"\n\
                  input = { prompt = \"do it\", agent_type = \"helper\" }\n\
                  [[turn]]\ntext = \"done\"\n\
                  [[turn]]\nagent = \"helper\"\n[[turn.call]]\ntool = \"Bash\"\n\
                  input = { command = \"touch ran\" }\n\
                  [[turn]]\nagent = \"helper\"\ntext = \"I may not\"\n";
    let mut hooks = vec![hook(EventKind::PreToolUse, guard)];
    let phases = Seen::default();
    hooks.extend(phases.observers(&[EventKind::SubagentStart, EventKind::SubagentStop]));
    let world = World::new(script, hooks);
    assert_eq!(world.run("hi").await.status, Status::Complete);
    assert!(!world.project().join("ran").exists());
    assert_eq!(seen.all(), [r#"Some("agent-1") Some("helper") 1"#]);
    let blocked = world.hook_events("PreToolUse");
    let blocked = blocked.iter().find(|event| event["effect"] == "blocked").unwrap();
    assert_eq!(
        blocked["agent"],
        serde_json::json!({ "id": "agent-1", "type": "helper", "depth": 1 })
    );
    let results = world.of("tool.result");
    assert_eq!(results[1]["content"], "I may not");
    assert_eq!(results[1]["agent"]["depth"], 0);
    let mut phases = phases.all();
    phases.sort();
    assert_eq!(phases, ["SubagentStart", "SubagentStop"]);
}

#[tokio::test]
async fn a_hook_sends_a_subagent_on() {
    let seen = Seen::default();
    let saw = seen.clone();
    let once = move |event: &tenter::Event| {
        let Payload::Stop(facts) = &event.payload else { panic!("no stop") };
        saw.push(facts.stop_reason.clone().unwrap());
        if facts.stop_hook_active { Verdict::none() } else { Verdict::deny("look again") }
    };
    let script = "[[turn]]\n[[turn.call]]\ntool = \"Agent\"\ninput = { prompt = \"p\" }\n\
                  [[turn]]\ntext = \"done\"\n\
                  [[turn]]\nagent = \"general\"\ntext = \"one\"\n\
                  [[turn]]\nagent = \"general\"\ntext = \"two\"\n";
    let world = World::new(script, vec![hook(EventKind::SubagentStop, once)]);
    world.run("hi").await;
    assert_eq!(seen.all(), ["complete", "complete"]);
    assert_eq!(world.of("tool.result")[0]["content"], "two");
}

#[tokio::test]
async fn agents_stand_only_so_deep() {
    let script = "[[turn]]\n[[turn.call]]\ntool = \"Agent\"\n\
                  input = { prompt = \"p\", agent_type = \"a\" }\n[[turn]]\ntext = \"done\"\n\
                  [[turn]]\nagent = \"a\"\n[[turn.call]]\ntool = \"Agent\"\n\
                  input = { prompt = \"p\", agent_type = \"b\" }\n\
                  [[turn]]\nagent = \"a\"\ntext = \"end\"\n";
    let world = World::new(script, vec![]);
    let mut agent = world.builder().most_depth(1).start();
    turn(&mut agent, "hi").await;
    let content = world.of("tool.result")[0]["content"].clone();
    assert!(content.as_str().unwrap().contains("1 deep"), "{content}");
}

#[tokio::test]
async fn branches_run_side_by_side_with_their_origin() {
    let script = "[[turn]]\n[[turn.call]]\ntool = \"Parallel\"\n\
                  input = { branches = [{ prompt = \"1\", agent_type = \"x\" }, { prompt = \"2\", agent_type = \"y\" }] }\n\
                  [[turn]]\ntext = \"done\"\n\
                  [[turn]]\nagent = \"x\"\ntext = \"from x\"\n\
                  [[turn]]\nagent = \"y\"\n[[turn.call]]\ntool = \"Bash\"\ninput = { command = \"true\" }\n\
                  [[turn]]\nagent = \"y\"\ntext = \"from y\"\n";
    let deny = |event: &tenter::Event| match event.tool_name() {
        Some("Bash") => Verdict::deny("no"),
        _ => Verdict::none(),
    };
    let world = World::new(script, vec![hook(EventKind::PreToolUse, deny)]);
    world.run("hi").await;
    let results = world.of("tool.result");
    assert_eq!(results[0]["content"], "permission denied: no");
    assert_eq!(results[0]["agent"]["type"], "y");
    assert_eq!(results[1]["content"], "branch 1: from x\nbranch 2: from y");
}

/// A team of one that adds, claims and completes a task.
const TEAM: &str = "[[turn]]\n[[turn.call]]\ntool = \"Team\"\n\
    input = { members = [{ name = \"ann\", prompt = \"work\" }] }\n\
    [[turn]]\ntext = \"done\"\n\
    [[turn]]\nagent = \"ann\"\n[[turn.call]]\ntool = \"TaskAdd\"\ninput = { description = \"the work\" }\n\
    [[turn.call]]\ntool = \"TaskClaim\"\n\
    [[turn.call]]\ntool = \"TaskComplete\"\ninput = { id = \"task-1\" }\n\
    [[turn]]\nagent = \"ann\"\ntext = \"finished\"\n";

#[tokio::test]
async fn task_gates_are_told_the_whole_task_and_veto() {
    for (vetoed, expected) in [
        (None, ["added task-1", "claimed task-1: the work", "completed task-1"]),
        (
            Some(EventKind::TaskCreated),
            ["permission denied: veto", "no task is ready", "there is no task `task-1`"],
        ),
        (
            Some(EventKind::TaskCompleted),
            ["added task-1", "claimed task-1: the work", "permission denied: veto"],
        ),
    ] {
        let seen = Seen::default();
        let gate = |kind: EventKind| {
            let (seen, veto) = (seen.clone(), vetoed.as_ref() == Some(&kind));
            hook(kind, move |event| {
                seen.push(event.extra.get("task").unwrap().to_string());
                if veto { Verdict::deny("veto") } else { Verdict::none() }
            })
        };
        let idle = Seen::default();
        let mut hooks = vec![gate(EventKind::TaskCreated), gate(EventKind::TaskCompleted)];
        hooks.extend(idle.observers(&[EventKind::TeammateIdle]));
        let world = World::new(TEAM, hooks);
        world.run("hi").await;
        let results = world.of("tool.result");
        let contents: Vec<_> = results.iter().map(|one| one["content"].as_str().unwrap()).collect();
        assert_eq!(contents[..3], expected);
        assert_eq!(contents[3], "ann: finished");
        let task = r#"{"id":"task-1","description":"the work","deps":[],"by":"ann""#;
        assert!(seen.all().iter().all(|one| one.starts_with(task)), "{:?}", seen.all());
        assert_eq!(idle.all(), ["TeammateIdle"]);
    }
}

#[tokio::test]
async fn a_failing_task_gate_vetoes() {
    let fails = hook(EventKind::TaskCreated, |_| panic!("on purpose"));
    let world = World::new(TEAM, vec![fails]);
    world.run("hi").await;
    let content = world.of("tool.result")[0]["content"].clone();
    assert!(content.as_str().unwrap().starts_with("permission denied: "), "{content}");
    assert_eq!(world.hook_events("TaskCreated")[0]["effect"], "blocked");
}

#[tokio::test]
async fn a_message_wakes_a_member() {
    let script = "[[turn]]\n[[turn.call]]\ntool = \"Team\"\n\
        input = { members = [{ name = \"ann\", prompt = \"1\" }, { name = \"bob\", prompt = \"2\" }] }\n\
        [[turn]]\ntext = \"done\"\n\
        [[turn]]\nagent = \"ann\"\ntext = \"idle\"\n\
        [[turn]]\nagent = \"ann\"\ntext = \"woken\"\n\
        [[turn]]\nagent = \"bob\"\n[[turn.call]]\ntool = \"SendMessage\"\n\
        input = { to = \"ann\", text = \"over to you\" }\n\
        [[turn]]\nagent = \"bob\"\ntext = \"sent\"\n";
    let world = World::new(script, vec![]);
    world.run("hi").await;
    assert_eq!(world.of("tool.result")[1]["content"], "ann: woken\nbob: sent");
    assert!(world.model_log().contains("bob says: over to you"));
}

#[tokio::test]
async fn no_kind_of_subagent_is_a_way_around_the_hooks_on_its_end() {
    let seen = Seen::default();
    let script = "[[turn]]\n[[turn.call]]\ntool = \"Agent\"\n\
                  input = { prompt = \"p\", agent_type = \"teammate\" }\n\
                  [[turn]]\ntext = \"done\"\n[[turn]]\nagent = \"teammate\"\ntext = \"x\"\n";
    let world = World::new(script, seen.observers(&[EventKind::SubagentStop]));
    world.run("hi").await;
    assert_eq!(seen.all(), ["SubagentStop"]);
}

#[tokio::test]
async fn a_member_cannot_have_the_name_of_an_agent_outside_the_team() {
    for name in ["main", "agent-1"] {
        let script = format!(
            "[[turn]]\n[[turn.call]]\ntool = \"Team\"\n\
             input = {{ members = [{{ name = {name:?}, prompt = \"p\" }}] }}\n\
             [[turn]]\ntext = \"done\"\n"
        );
        let world = World::new(&script, vec![]);
        world.run("hi").await;
        let expected = format!("`{name}` is the name of an agent outside the team");
        assert_eq!(world.of("tool.result")[0]["content"], expected);
    }
}
