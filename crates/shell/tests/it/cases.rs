//! Every command of the collected cases is analysed: none panics, none comes back empty. The
//! commands are data; nothing here runs any of them.

use std::collections::BTreeMap;

use tenter_shell::analyse;

const CASES: &str = include_str!("../data/commands.jsonl");

fn commands() -> Vec<(String, String, String)> {
    CASES
        .lines()
        .map(|line| {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |key: &str| case[key].as_str().unwrap().to_owned();
            (text("id"), text("category"), text("command"))
        })
        .collect()
}

#[test]
#[expect(clippy::print_stdout, reason = "the table by category is for a person to read")]
fn every_case_is_analysed_or_says_why_not() {
    let mut table: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (id, category, command) in commands() {
        let analysis = analyse(&command);
        assert!(
            !analysis.commands.is_empty() || !analysis.unknowns.is_empty(),
            "{id}: nothing found in {command:?}"
        );
        let entry = table.entry(category).or_default();
        if analysis.unknowns.is_empty() {
            entry.0 += 1;
        } else {
            entry.1 += 1;
            println!("{id}: {command:.100?}");
            for unknown in &analysis.unknowns {
                println!("      {:?} {:.60?}", unknown.reason, unknown.text);
            }
        }
    }
    println!("{:20} {:>8} {:>8}", "category", "known", "partly");
    for (category, (known, partly)) in &table {
        println!("{category:20} {known:8} {partly:8}");
    }
}

#[test]
fn harmless_cases_are_analysed_in_full() {
    for (id, category, command) in commands() {
        if category == "benign" {
            let analysis = analyse(&command);
            assert!(analysis.unknowns.is_empty(), "{id}: {command:?}: {:?}", analysis.unknowns);
        }
    }
}
