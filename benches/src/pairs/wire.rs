//! A payload of 64 KB: to the bytes that hooks read, and under a shallow patch.
//!
//! The first is held to a time; a copy of the payload stands beside it. The second is held against the
//! way through a tree: parse, set one key, write.

use std::hint::black_box;

use anyhow::{Context as _, Result};
use tenter::{Event, EventKind, Json, Level, Rewrite, Verdict};
use tenter_core::merge::{Said, Voice, merge};
use tenter_hosts::codec::Shown;
use tenter_hosts::native::{HOST, PROFILE};

use crate::Args;
use crate::measure::{Case, Rounds, each};
use crate::report::{Bar, Measured};

pub(super) fn measure(args: &Args) -> Result<Vec<Measured>> {
    let line = "    let answer = \"of source code\"; // with escapes\n";
    let content = line.repeat(64 * 1024 / line.len());
    let input = Json::from(serde_json::json!({ "file_path": "src/lib.rs", "content": content }));
    let event = Event::pre_tool("Write", input.clone());
    let contract = PROFILE.contract(&EventKind::PreToolUse);
    let patch = Json::from(serde_json::json!({ "file_path": "src/main.rs" }));
    let patch = Rewrite::Patch(patch.to_fields().context("an object")?);
    let verdict = Verdict::none().with_rewrite(patch);
    let voices = [Voice { level: Level::User, said: Said::Verdict(&verdict) }];

    let copy = || black_box(input.as_text()).as_bytes().to_vec();
    let encode = || HOST.codec.encode(black_box(&event), &Shown::default());
    let patch = || merge(black_box(&voices), Some(&input), contract);
    anyhow::ensure!(encode().len() > input.as_text().len(), "the input is in the bytes");
    let patched = patch().payload.context("the patch applies")?;
    anyhow::ensure!(patched.as_text().contains("src/main.rs"), "the patch applies");

    let through_tree = || {
        let mut tree = black_box(&input).to_value();
        tree["file_path"] = "src/main.rs".into();
        tree.to_string()
    };
    anyhow::ensure!(through_tree() == patched.as_text(), "both ways give the same");

    let cases: Vec<Case<'_>> = vec![
        Box::new(|| each(200, copy)),
        Box::new(|| each(200, encode)),
        Box::new(|| each(10, through_tree)),
        Box::new(|| each(10, patch)),
    ];
    let rounds = Rounds::run(args.rounds(300), cases);
    Ok(vec![
        Measured {
            name: "wire/encode-64k".into(),
            bar: Bar::Nanos(5_000.0),
            value: rounds.nanos(1),
            took: rounds.nanos(1).median,
            floor: Some(rounds.nanos(0).median),
            allocations: None,
        },
        Measured {
            name: "wire/patch-64k".into(),
            bar: Bar::Times(0.5),
            value: rounds.ratio(3, 2),
            took: rounds.nanos(3).median,
            floor: Some(rounds.nanos(2).median),
            allocations: None,
        },
    ])
}
