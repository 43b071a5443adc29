//! Eight hooks of one event: those that work share the cores, those that wait do not add up.

use anyhow::Result;
use tenter::core::hook::{Command, CommandLine, Cwd, Handler, Leftovers, Source};
use tenter::{Engine, EngineBuilder, Event, EventKind, Hook, Session, Status};
use tokio::runtime::Runtime;

use super::spawn::{current_thread, payload, shell};
use crate::Args;
use crate::floor::Floor;
use crate::measure::{Case, Rounds, nanos};
use crate::report::{Bar, Measured};

const HOOKS: usize = 8;
const WORKS: &str = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
const WAITS: &str = "exec sleep 0.05";

/// The text of each hook: equal work, but not equal, since equal hooks run once.
fn texts(text: &str) -> Vec<String> {
    (0..HOOKS).map(|at| format!("{text} # {at}")).collect()
}

fn session(text: &str) -> Session {
    let hooks = texts(text).into_iter().map(|text| {
        let command = Command {
            line: CommandLine::Shell(text.clone()),
            shell: None,
            env: Vec::new(),
            cwd: Cwd::Project,
            leftovers: Leftovers::Leave,
            scripts: Vec::new(),
            base: None,
        };
        let handler = Handler::Command(Box::new(command));
        Hook::new(text, Source::code("bench"), vec![EventKind::PreToolUse], handler)
    });
    let path = [("PATH".into(), "/usr/bin:/bin".into())];
    hooks.fold(Engine::builder().environment(path), EngineBuilder::hook).build().session("bench")
}

/// The time of one event, or no number if a hook did not end well.
fn fire(runtime: &Runtime, session: &Session, event: &Event) -> f64 {
    let begun = std::time::Instant::now();
    let outcome = runtime.block_on(session.fire(event));
    let took = nanos(begun);
    let well = outcome.hooks.iter().filter(|report| report.status == Status::Ok).count();
    if well == HOOKS { took } else { f64::NAN }
}

pub(super) fn measure(args: &Args) -> Result<Vec<Measured>> {
    let runtime = current_thread()?;
    let event = Event::pre_tool("Bash", serde_json::json!({ "command": "cargo test" }).into());
    let stdin = payload();
    let floors = |text: &str| -> Result<Vec<Floor>> {
        texts(text).iter().map(|text| Ok(shell(text)?.1)).collect()
    };
    let in_turn = |floors: &[Floor]| {
        let times = floors.iter().map(|floor| floor.run(&stdin).map(|ran| ran.time));
        times
            .sum::<std::io::Result<std::time::Duration>>()
            .map_or(f64::NAN, |sum| sum.as_secs_f64() * 1e9)
    };
    let (working, waiting) = (session(WORKS), session(WAITS));
    let (work, wait) = (floors(WORKS)?, floors(WAITS)?);

    let cases: Vec<Case<'_>> = vec![
        Box::new(|| in_turn(&work)),
        Box::new(|| fire(&runtime, &working, &event)),
        Box::new(|| in_turn(&wait[..1])),
        Box::new(|| fire(&runtime, &waiting, &event)),
    ];
    let rounds = Rounds::run(args.rounds(40), cases);
    let measured = |name: &str, floor, bar| Measured {
        name: name.to_owned(),
        bar: Bar::Times(bar),
        value: rounds.ratio(floor + 1, floor),
        took: rounds.nanos(floor + 1).median,
        floor: Some(rounds.nanos(floor).median),
        allocations: None,
    };
    Ok(vec![measured("parallel/8-working", 0, 0.55), measured("parallel/8-waiting", 2, 1.15)])
}
