//! A thousand hooks with matchers, and a tool whose name was seen before.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;

use anyhow::Result;
use tenter::{Engine, Event, EventKind, FunctionHook, Verdict};
use tenter_core::matcher::Matcher;

use crate::Args;
use crate::measure::{Case, Rounds, each};
use crate::report::{Bar, Measured};

const HOOKS: usize = 1000;

pub(super) fn measure(args: &Args) -> Result<Vec<Measured>> {
    let mut builder = Engine::builder();
    for at in 0..HOOKS {
        let matcher = Matcher::parse(&format!("mcp__server{at}__*|Tool{at}"))?;
        let name = format!("hook{at}");
        let hook = FunctionHook::sync(name, [EventKind::PreToolUse], |_| Verdict::none());
        builder = builder.function(hook.configure(|hook| hook.matcher = matcher));
    }
    let select = builder.build().selector();
    let event = Event::pre_tool("Bash", serde_json::json!({ "command": "cargo test" }).into());
    let skipped = select(&event).iter().filter(|slot| slot.skip.is_some()).count();
    anyhow::ensure!(skipped == HOOKS, "{skipped} hooks were left out");

    // What the memo is held against: one look into a map from names to shared lists.
    let names = ["Bash", "Read", "Edit"].into_iter();
    let known: HashMap<Box<str>, Arc<[usize]>> =
        names.map(|name| (name.into(), Arc::from([0_usize]))).collect();
    let cases: Vec<Case<'_>> = vec![
        Box::new(|| each(10_000, || black_box(&known).get(black_box("Bash")).map(Arc::clone))),
        Box::new(|| each(10_000, || select(black_box(&event)))),
    ];
    let rounds = Rounds::run(args.rounds(300), cases);
    Ok(vec![Measured {
        name: "matchers/1000-seen-before".into(),
        bar: Bar::Times(3.0),
        value: rounds.ratio(1, 0),
        took: rounds.nanos(1).median,
        floor: Some(rounds.nanos(0).median),
        allocations: None,
    }])
}
