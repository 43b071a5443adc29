//! A rule finds an action however it is spelled, and nothing that only looks like it. What is not so
//! today stands in the data, and the data is exact.

use std::collections::BTreeSet;

use crate::score::{Fault, Kind, Score};

/// The actions that everybody writes a rule for, and how many commands each has at the least.
const FIRST: &[&str] =
    &["force-push", "recursive-delete", "hard-reset", "download-and-run", "secret-read"];
const SPELLINGS: usize = 25;
const MENTIONS: usize = 12;

fn lines<'a>(faults: impl Iterator<Item = &'a Fault>) -> String {
    faults.map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
#[expect(clippy::print_stdout, reason = "the table is for a person to read")]
fn rules_find_every_spelling_and_no_mention() {
    let score = Score::take().unwrap();
    println!("{score}");
    let doubted = score.faults.iter().filter(|fault| fault.kind == Kind::Doubted);
    println!("{}", lines(doubted));
    let new = score.faults.iter().filter(|fault| fault.kind != Kind::Doubted && !fault.known);
    let new = lines(new);
    assert!(new.is_empty(), "these are not in `known_misses` or `known_wrong`:\n{new}");
    assert!(
        score.mended.is_empty(),
        "mended: take these out of `known_misses` and `known_wrong` in tests/data/spellings.toml:\n{}",
        score.mended.join("\n")
    );
}

#[test]
fn the_data_covers_every_case_and_enough_spellings() {
    let score = Score::take().unwrap();
    assert!(score.unused.is_empty(), "no action speaks of {:?}", score.unused);
    for name in FIRST {
        let row = score.rows.iter().find(|row| row.name == *name).unwrap();
        let [spellings, mentions] =
            [row.spellings, row.mentions].map(|of| of.iter().sum::<usize>());
        assert!(spellings >= SPELLINGS, "{name}: {spellings} spellings");
        assert!(mentions >= MENTIONS, "{name}: {mentions} mentions");
    }
    let faults: BTreeSet<_> = score.faults.iter().map(|f| (&f.action, &f.label)).collect();
    assert_eq!(faults.len(), score.faults.len(), "a command stands twice under one action");
}
