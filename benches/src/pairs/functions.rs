//! In-process hooks on the fast path, beside a loop over function pointers.

use std::hint::black_box;

use anyhow::Result;
use tenter::{Decision, FunctionHooks, Json, Origin, ToolView, Verdict};

use crate::measure::{Case, Rounds, each};
use crate::report::{Bar, Measured};
use crate::{Args, allocations};

/// How many hooks, and how many times the loop they may cost.
const SIZES: &[(u32, f64)] = &[(1, 10.0), (8, 3.0), (64, 3.0)];

/// What each function looks at: one comparison that is never true.
fn is_wanted(tool: &str) -> bool {
    tool == "Never"
}

fn plain(view: &ToolView<'_>) -> Decision {
    if is_wanted(view.tool) { Decision::Deny } else { Decision::None }
}

pub(super) fn measure(args: &Args) -> Result<Vec<Measured>> {
    let input = Json::from(serde_json::json!({ "command": "cargo test --workspace" }));
    let origin = Origin::default();
    let view = ToolView { tool: "Bash", input: &input, origin: &origin };
    let mut measured = Vec::new();
    for (size, bar) in SIZES {
        let pointers: Vec<fn(&ToolView<'_>) -> Decision> = (0..*size).map(|_| plain as _).collect();
        let hook = |view: ToolView<'_>| {
            if is_wanted(view.tool) { Verdict::deny("never") } else { Verdict::none() }
        };
        let hooks =
            (0..*size).fold(FunctionHooks::builder(), |all, _| all.on_pre_tool(hook)).build();
        let times = 400_000 / (size + 3);

        let ask_pointers = || {
            let view = black_box(&view);
            black_box(&pointers).iter().map(|function| function(view)).max()
        };
        let ask_hooks = || black_box(&hooks).decide(*black_box(&view));
        anyhow::ensure!(ask_hooks().is_silent(), "none of them has an opinion");
        let allocations = allocations::of(ask_hooks);
        let cases: Vec<Case<'_>> =
            vec![Box::new(|| each(times, ask_pointers)), Box::new(|| each(times, ask_hooks))];
        let rounds = Rounds::run(args.rounds(300), cases);
        measured.push(Measured {
            name: format!("functions/decide-{size}"),
            bar: Bar::Times(*bar),
            value: rounds.ratio(1, 0),
            took: rounds.nanos(1).median,
            floor: Some(rounds.nanos(0).median),
            allocations: Some(allocations),
        });
    }
    Ok(measured)
}
