//! What coding agents run all day is understood: hardly a line holds an unknown, because every
//! unknown turns a deny rule into a question and keeps an allow rule from holding.

use std::collections::{BTreeMap, BTreeSet};

use tenter_shell::analyse;

const DAILY: &str = include_str!("../data/daily.txt");
const HARMLESS: &str = include_str!("../data/harmless.txt");

/// Of a hundred lines, at most so many may hold something that cannot be analysed.
const MOST_IN_A_HUNDRED: usize = 2;

/// The lines of a file, each with the kind that it stands under.
fn lines(file: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut kind = "";
    file.lines().filter_map(move |line| {
        if let Some(title) = line.strip_prefix("## ") {
            kind = title;
            return None;
        }
        (!line.is_empty()).then_some((kind, line))
    })
}

#[test]
#[expect(clippy::print_stdout, reason = "the lines with unknowns are for a person to read")]
fn daily_commands_are_understood() {
    let (mut all, mut partly) = (0, 0);
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (kind, line) in lines(DAILY) {
        let unknowns = analyse(&line.replace('⏎', "\n")).unknowns;
        let entry = kinds.entry(kind).or_default();
        all += 1;
        entry.0 += 1;
        if unknowns.is_empty() {
            continue;
        }
        partly += 1;
        entry.1 += 1;
        println!("{line}");
        for unknown in &unknowns {
            println!("      {:?} {:.60?}", unknown.reason, unknown.text);
        }
    }
    for (kind, (of, partly)) in kinds.iter().filter(|(_, (_, partly))| *partly > 0) {
        println!("{partly:3} of {of:3} {kind}");
    }
    println!("{partly:3} of {all:3} lines have an unknown");
    assert!(
        partly * 100 <= all * MOST_IN_A_HUNDRED,
        "{partly} of {all} daily lines are not understood in full: more than {MOST_IN_A_HUNDRED} %"
    );
}

#[test]
fn the_daily_lines_are_many_and_none_stands_twice() {
    let harmless: BTreeSet<&str> = lines(HARMLESS).map(|(_, line)| line).collect();
    let mut seen = BTreeSet::new();
    for (_, line) in lines(DAILY) {
        assert!(!harmless.contains(line), "{line} stands in harmless.txt");
        assert!(seen.insert(line), "{line} stands twice");
    }
    assert!(seen.len() >= 300, "{} lines", seen.len());
}
