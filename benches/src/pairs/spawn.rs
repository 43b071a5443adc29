//! A command hook beside a bare `posix_spawn` of the same command with the same pipes.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use tenter_process::{Command, Environment, Exit, run};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::Args;
use crate::floor::Floor;
use crate::measure::{Case, Rounds, nanos};
use crate::report::{Bar, Measured};

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What hooks look like: one that answers, and one that reads its input first.
const COMMANDS: &[(&str, &str)] = &[
    ("echo", r#"echo '{"decision":"allow"}'"#),
    ("cat-echo", r#"cat >/dev/null; echo '{"decision":"allow"}'"#),
];

/// A payload of 2 KB, the size of most tool calls.
pub(super) fn payload() -> Vec<u8> {
    let mut payload =
        br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":""#.to_vec();
    payload.resize(2040, b'x');
    payload.extend_from_slice(b"\"}}\n");
    payload
}

/// A shell that runs a text, as a run and as a floor.
pub(super) fn shell(text: &str) -> Result<(Command, Floor)> {
    let command = Command {
        args: vec!["-c".into(), text.into()],
        stdin: Arc::from(payload()),
        ..Command::new("/bin/sh", "/", Environment::from_iter([("PATH", PATH)]))
    };
    let floor = Floor::new(Path::new("/bin/sh"), &["-c", text], &[("PATH", PATH)], Path::new("/"))?;
    Ok((command, floor))
}

pub(super) fn current_thread() -> Result<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

/// One run that must go well.
pub(super) async fn run_well(command: &Command) -> Result<Vec<u8>> {
    let ended = run(command, &CancellationToken::new()).await?;
    anyhow::ensure!(ended.exit == Exit::Code(0) && ended.stopped.is_none(), "{ended:?}");
    Ok(ended.stdout)
}

pub(super) fn measure(args: &Args) -> Result<Vec<Measured>> {
    let single = current_thread()?;
    let many = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut measured = Vec::new();
    for (name, text) in COMMANDS {
        let (command, floor) = shell(text)?;
        let command = Arc::new(command);
        let stdin = payload();
        let printed = floor.run(&stdin)?.stdout;
        anyhow::ensure!(single.block_on(run_well(&command))? == printed, "both print the same");

        let timed = |runtime: &Runtime| {
            let begun = std::time::Instant::now();
            let ran = runtime.block_on(run_well(&command));
            let took = nanos(begun);
            if ran.is_ok() { took } else { f64::NAN }
        };
        let timed_task = |runtime: &Runtime| {
            let begun = std::time::Instant::now();
            let command = Arc::clone(&command);
            let ran = runtime
                .block_on(async { tokio::spawn(async move { run_well(&command).await }).await });
            let took = nanos(begun);
            if matches!(ran, Ok(Ok(_))) { took } else { f64::NAN }
        };
        let cases: Vec<Case<'_>> = vec![
            Box::new(|| floor.run(&stdin).map_or(f64::NAN, |ran| ran.time.as_secs_f64() * 1e9)),
            Box::new(|| timed(&single)),
            Box::new(|| timed_task(&single)),
            Box::new(|| timed_task(&many)),
        ];
        let rounds = Rounds::run(args.rounds(300), cases);
        for (case, (how, bar)) in
            [("one-shot", 1.05), ("current-thread", 1.08), ("multi-thread", 1.20)]
                .into_iter()
                .enumerate()
        {
            measured.push(Measured {
                name: format!("spawn/{name}/{how}"),
                bar: Bar::Times(bar),
                value: rounds.ratio(case + 1, 0),
                took: rounds.nanos(case + 1).median,
                floor: Some(rounds.nanos(0).median),
                allocations: None,
            });
        }
    }
    Ok(measured)
}
