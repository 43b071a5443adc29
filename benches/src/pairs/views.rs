//! An input that is short enough for every hook.

use std::hint::black_box;

use anyhow::Result;
use tenter::Json;
use tenter_core::views::{CAP_MARK, cap_tool_input};

use crate::measure::{Case, Rounds, each};
use crate::report::{Bar, Measured};
use crate::{Args, allocations};

/// The cap of the profiles that have one.
const CAP: usize = 2048;

pub(super) fn measure(args: &Args) -> Result<Vec<Measured>> {
    let short = serde_json::json!({ "file_path": "src/lib.rs", "old_string": "a".repeat(800), "new_string": "b" });
    // Longer than the cap as a whole, with no text that is: it has to be looked through.
    let texts = (0..100).map(|at| (format!("key{at}"), "x".repeat(100).into()));
    let long = serde_json::Value::Object(texts.collect());
    let mut measured = Vec::new();
    for (name, input, bar, times) in [
        ("views/nothing-to-cap", Json::from(short), Bar::Nanos(20.0), 100_000),
        ("views/long-nothing-to-cap", Json::from(long), Bar::None, 1_000),
    ] {
        let cap = || cap_tool_input(black_box(&input), CAP, CAP_MARK);
        anyhow::ensure!(!cap().is_clipped(), "nothing was to be clipped");
        let allocations = (bar != Bar::None).then(|| allocations::of(cap));
        let case: Case<'_> = Box::new(|| each(times, cap));
        let value = Rounds::run(args.rounds(300), vec![case]).nanos(0);
        let name = name.to_owned();
        measured.push(Measured { name, bar, value, took: value.median, floor: None, allocations });
    }
    Ok(measured)
}
