//! Every host at once: what holds of one bridge holds of all.

mod answers;
mod recordings;

use super::*;

/// Every row of every host.
fn rows() -> impl Iterator<Item = (&'static Bridge, &'static EventRow)> {
    all().flat_map(|bridge| bridge.events.iter().map(move |row| (bridge, row)))
}

#[test]
fn every_event_of_every_host_is_found_by_its_name_and_known_to_hooks_files() {
    for (bridge, row) in rows() {
        let found = bridge.row(row.own).map(|found| found.own);
        assert_eq!(found, Some(row.own), "{}", bridge.name);
        let known = crate::names::event_kind(row.own);
        assert_eq!(known, Some(row.kind()), "{} {}", bridge.name, row.own);
    }
}

#[test]
fn no_host_has_a_row_or_a_tool_twice() {
    for bridge in all() {
        let mut names: Vec<&str> = bridge.events.iter().map(|row| row.own).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all, "{}", bridge.name);
        let mut tools: Vec<_> = bridge.tools.rows.iter().map(|row| (row.own, row.when)).collect();
        tools.sort_unstable();
        let all = tools.len();
        tools.dedup();
        assert_eq!(tools.len(), all, "{}", bridge.name);
    }
}

#[test]
fn hosts_are_found_by_name() {
    for bridge in all() {
        assert_eq!(by_name(bridge.name).map(|found| found.name), Some(bridge.name));
    }
    assert!(by_name("nobody").is_none());
}
