//! In-process hooks through the port that every host calls, with a report for each.

use std::future::Future as _;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use anyhow::Result;
use tenter::{Event, FunctionHooks, HookRunner, Outcome, RunContext, Verdict};

use crate::Args;
use crate::measure::{Case, Rounds, each};
use crate::report::{Bar, Measured};

const FIXED: f64 = 150.0;
const A_HOOK: f64 = 60.0;

/// Runs an event whose hooks answer at once, so that one poll is all it takes.
pub(super) fn run_now(runner: &dyn HookRunner, event: &Event, cx: &RunContext) -> Option<Outcome> {
    let mut running = pin!(runner.run(event, cx));
    match running.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

pub(super) fn measure(args: &Args) -> Result<Vec<Measured>> {
    let event = Event::pre_tool("Bash", serde_json::json!({ "command": "cargo test" }).into());
    let cx = RunContext::new();
    let mut measured = Vec::new();
    for size in [1_u32, 8, 64] {
        let hooks = (0..size)
            .fold(FunctionHooks::builder(), |all, _| all.on_pre_tool(|_| Verdict::none()))
            .build();
        let reports = run_now(&hooks, &event, &cx).map(|outcome| outcome.hooks.len());
        anyhow::ensure!(
            reports == usize::try_from(size).ok(),
            "{size} hooks gave {reports:?} reports"
        );

        let case: Case<'_> =
            Box::new(|| each(60_000 / (size + 3), || run_now(&hooks, &event, &cx)));
        let rounds = Rounds::run(args.rounds(300), vec![case]);
        let value = rounds.nanos(0);
        measured.push(Measured {
            name: format!("port/run-{size}"),
            bar: Bar::Nanos(FIXED + A_HOOK * f64::from(size)),
            value,
            took: value.median,
            floor: None,
            allocations: None,
        });
    }
    Ok(measured)
}
