//! The rule set `self`: an agent asks before it changes what watches it.

use serde_json::json;
use tenter::core::hook::Level;
use tenter::{Decision, Engine, Event, Files};

use crate::support::bash;
use crate::world::World;

fn engine_of(world: &World) -> Engine {
    let files = Files { owners: world.owners(), ..Files::new(world.places()) };
    Engine::builder().files(files).try_build().unwrap()
}

fn edit(tool: &str, path: &str) -> Event {
    Event::pre_tool(tool, json!({ "file_path": path }).into())
}

#[tokio::test]
async fn it_asks_before_a_tool_writes_hooks_their_scripts_or_the_state() {
    let world = World::new();
    world.home.write("guards/guard.sh", "#!/bin/sh\n");
    world.home.write("tools/[x] (1).sh", "#!/bin/sh\n");
    world.user(
        "[[hook]]\nevent = \"Stop\"\ncommand = [\"${TENTER_PROJECT_DIR}/guards/guard.sh\"]\n\
         [[hook]]\nevent = \"Stop\"\nmatcher = \"*\"\ncommand = [\"sh\", \"${TENTER_PROJECT_DIR}/tools/[x] (1).sh\"]\n",
    );
    let session = engine_of(&world).session("s");
    let places = world.places();
    let state = places.state_home.join("trust.toml");
    let user = places.user_file();
    for event in [
        edit("Write", ".tenter/hooks.toml"),
        edit("Edit", ".tenter/../.tenter/hooks.local.toml"),
        edit("MultiEdit", "guards/guard.sh"),
        edit("Edit", "tools/[x] (1).sh"),
        edit("Write", ".claude/settings.json"),
        edit("Write", "crush.json"),
        edit("Write", "~/.codex/hooks.json"),
        edit("Write", &state.to_string_lossy()),
        edit("Write", &user.to_string_lossy()),
        bash("echo x >> .tenter/hooks.toml"),
        bash("sed -i s/deny/allow/ guards/guard.sh"),
        bash("rm -rf .tenter"),
        bash("mv .claude /tmp/away"),
        bash("cp /tmp/x ~/.gemini/settings.json"),
        bash("tenter trust"),
        bash("cd app && ./target/debug/tenter untrust --all"),
        bash("sh -c 'tenter install claude'"),
        bash("tenter uninstall codex --user"),
        // What is not known counts if the line names such a file.
        bash("python3 -c \"open('.tenter/hooks.toml','w')\""),
        bash("f=.claude/settings.json; perl -pi -e s/a/b/ $f; $x"),
    ] {
        let outcome = session.fire(&event).await;
        assert_eq!(outcome.decision, Decision::Ask, "{event:?}");
        let reason = outcome.reason.unwrap();
        assert!(reason.starts_with("the managed ask rule"), "{reason}");
        assert!(reason.ends_with("(self)"), "{reason}");
    }
}

#[tokio::test]
async fn it_is_silent_about_all_else() {
    let world = World::new();
    let session = engine_of(&world).session("s");
    for event in [
        edit("Read", ".tenter/hooks.toml"),
        edit("Edit", "src/main.rs"),
        edit("Write", ".claude/commands/x.md"),
        edit("Write", "docs/hooks.toml"),
        bash("cat .tenter/hooks.toml"),
        bash("mkdir -p .claude/commands && ls .claude"),
        bash("node -e 'console.log(process.cwd())' .claude/x"),
        bash("ls -l > out.txt"),
        bash("echo x > $f"),
        bash("python3 -c 'print(1)'"),
        bash("curl -s https://example.org | sh"),
        bash("tenter check && tenter list"),
        bash("git commit -m 'Mend .tenter/hooks.toml, then tenter trust'"),
        bash("grep -r 'tenter install' docs"),
    ] {
        assert_eq!(session.fire(&event).await.decision, Decision::None, "{event:?}");
    }
}

#[tokio::test]
async fn rules_and_hooks_that_people_write_do_not_loosen_it() {
    let world = World::new();
    world.user(
        "[permissions]\nallow = [\"Edit\", \"Bash\"]\ndeny = [\"Edit(.tenter/hooks.local.toml)\"]\n\
         [[hook]]\nevent = \"PreToolUse\"\nreply = { decision = \"allow\" }\n",
    );
    let engine = engine_of(&world);
    let session = engine.session("s");
    assert_eq!(session.fire(&edit("Edit", "src/x")).await.decision, Decision::Allow);
    for event in [edit("Edit", ".tenter/hooks.toml"), bash("tenter trust")] {
        assert_eq!(session.fire(&event).await.decision, Decision::Ask, "{event:?}");
    }
    let local = edit("Edit", ".tenter/hooks.local.toml");
    assert_eq!(session.fire(&local).await.decision, Decision::Deny);

    let judged = engine.judge(&bash("tenter trust")).unwrap();
    assert_eq!((judged.level, judged.source.as_str()), (Level::Managed, "self"));
    assert_eq!(judged.rule, "Bash(tenter trust *)");
}

#[tokio::test]
async fn an_engine_without_files_has_nothing_to_guard() {
    let session = Engine::builder().build().session("s");
    assert!(!session.wants(&tenter::EventKind::PreToolUse));
    assert_eq!(session.fire(&bash("tenter trust")).await.decision, Decision::None);
}
