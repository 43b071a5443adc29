//! An event without hooks: one load and one branch.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use tenter::{Engine, EventKind, FunctionHook, Verdict};

use crate::measure::{Rounds, each};
use crate::report::{Bar, Measured};
use crate::{Args, allocations};

const TIMES: u32 = 200_000;

/// Where nobody comes: the payload would be built here.
#[cold]
#[inline(never)]
fn build_payload() {
    black_box(());
}

pub(super) fn measure(args: &Args) -> Result<Vec<Measured>> {
    let hook = FunctionHook::sync("other", [EventKind::Stop], |_| Verdict::none());
    let engine = Engine::builder().function(hook).build();
    let session = engine.session("bench");
    let word = AtomicU64::new(engine.mask().bits());
    let bit = 1_u64 << EventKind::PreToolUse.index();
    anyhow::ensure!(
        !session.wants(&EventKind::PreToolUse) && session.wants(&EventKind::Stop),
        "only Stop has a hook"
    );

    let branch = || {
        if black_box(&word).load(Ordering::Relaxed) & bit != 0 {
            build_payload();
        }
    };
    let gate = || {
        if black_box(&session).wants(&EventKind::PreToolUse) {
            build_payload();
        }
    };
    let allocations = allocations::of(gate);
    let cases: Vec<crate::measure::Case<'_>> =
        vec![Box::new(move || each(TIMES, branch)), Box::new(move || each(TIMES, gate))];
    let rounds = Rounds::run(args.rounds(300), cases);
    Ok(vec![Measured {
        name: "gate".into(),
        bar: Bar::Times(1.5),
        value: rounds.ratio(1, 0),
        took: rounds.nanos(1).median,
        floor: Some(rounds.nanos(0).median),
        allocations: Some(allocations),
    }])
}
