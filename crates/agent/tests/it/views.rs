//! One effective result, whoever acts: the stream, the history, the record, the stored session and the
//! model's log agree, and what a hook took out stands in none of them.

use tenter::core::event::ResultPair;
use tenter_agent::Status;

use crate::support::*;

const READS: &str = "[[turn.call]]\ntool = \"Bash\"\ninput = { command = \"cat file\" }\n\
                     [[turn.call]]\ntool = \"Bash\"\ninput = { command = \"cat file; exit 3\" }\n\
                     [[turn.call]]\ntool = \"Bash\"\ninput = { command = \"echo plain\" }\n";

/// The turns of one agent that reads a secret, twice, and something plain.
fn reader(agent: &str) -> String {
    format!(
        "[[turn]]\nagent = \"{agent}\"\n{READS}[[turn]]\nagent = \"{agent}\"\ntext = \"read\"\n"
    )
}

/// The turns of a main agent that calls one tool.
fn caller(call: &str) -> String {
    format!("[[turn]]\n[[turn.call]]\n{call}\n[[turn]]\ntext = \"done\"\n")
}

async fn all_views_agree(script: &str, agents: &[&str]) {
    let result = |content: &str, is_error| ResultPair { content: content.into(), is_error };
    let effective = [result("redacted", false), result("redacted", true), result("plain\n", false)];
    let world = World::new(script, vec![redactor()]);
    std::fs::write(world.project().join("file"), "the SECRET-VALUE").unwrap();
    let mut agent = world.builder().start();
    assert_eq!(turn(&mut agent, "hi").await.status, Status::Complete);
    world.assert_nowhere(&agent, "SECRET-VALUE");
    for of in agents {
        world.assert_results(&agent, of, &effective);
    }
}

#[tokio::test]
async fn k84_of_the_main_agent() {
    all_views_agree(&reader("main"), &["main"]).await;
}

#[tokio::test]
async fn k84_of_a_subagent() {
    let call = caller("tool = \"Agent\"\ninput = { prompt = \"p\", agent_type = \"helper\" }");
    all_views_agree(&(call + &reader("helper")), &["agent-1"]).await;
}

#[tokio::test]
async fn k84_of_parallel_branches() {
    let call = caller(
        "tool = \"Parallel\"\ninput = { branches = [\
         { prompt = \"1\", agent_type = \"x\" }, { prompt = \"2\", agent_type = \"y\" }] }",
    );
    let script = call + &reader("x") + &reader("y");
    all_views_agree(&script, &["agent-1", "agent-2"]).await;
}

#[tokio::test]
async fn k84_of_members_of_a_team() {
    let call = caller(
        "tool = \"Team\"\ninput = { members = [\
         { name = \"ann\", prompt = \"1\" }, { name = \"bob\", prompt = \"2\" }] }",
    );
    let script = call + &reader("ann") + &reader("bob");
    all_views_agree(&script, &["ann", "bob"]).await;
}

#[tokio::test]
async fn k84_of_an_agent_deep_below() {
    let outer = caller("tool = \"Agent\"\ninput = { prompt = \"p\", agent_type = \"outer\" }");
    let middle = "[[turn]]\nagent = \"outer\"\n[[turn.call]]\ntool = \"Agent\"\n\
                  input = { prompt = \"p\", agent_type = \"inner\" }\n\
                  [[turn]]\nagent = \"outer\"\ntext = \"told\"\n";
    all_views_agree(&(outer + middle + &reader("inner")), &["agent-2"]).await;
}
