//! The reference page of events: each kind, when it happens, and its row in the native profile.

use std::fmt::Write as _;
use std::time::Duration;

use tenter_core::contract::{Block, Contract, Delivery, OnFailure, PlainText, Rewrites};
use tenter_core::event::EventKind;
use tenter_hosts::native::PROFILE;

/// The page as Markdown.
pub(super) fn page() -> String {
    let mut page = String::from(
        "# Events\n\n\
         Every event, and what its hooks can do in a session that tenter runs itself. *Subject* is \
         what `matcher` is compared with; where there is none, only `*` is allowed. *Failure* is \
         what happens when a hook fails and has no `on_failure` of its own.\n\n\
         | event | when | subject | a block means | may rewrite | failure | context | timeout | the host |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for kind in EventKind::ALL {
        row(&mut page, kind.name(), kind.description(), PROFILE.contract(kind));
    }
    row(&mut page, "any other name", "An event that only one host knows.", &PROFILE.other);
    // Writing to a `String` does not fail.
    let _ = write!(
        page,
        "\nA turn that hooks keep from ending goes on at most {} times in a row.",
        PROFILE.stop_budget
    );
    if let Some(strikes) = PROFILE.strikes {
        let _ = write!(
            page,
            " A hook that is no guard and fails {strikes} times in a row is left out for the rest of \
             the session."
        );
    }
    let _ = writeln!(
        page,
        " A context longer than {} characters is written to a file, and the model gets its start and \
         the path.",
        PROFILE.context_cap
    );
    page
}

fn row(page: &mut String, name: &str, when: &str, contract: &Contract) {
    let subject = contract.subject.name().map_or_else(String::new, |name| format!("`{name}`"));
    let name = if EventKind::from_name(name).is_some() { format!("`{name}`") } else { name.into() };
    // Writing to a `String` does not fail.
    let _ = writeln!(
        page,
        "| {name} | {when} | {subject} | {} | {} | {} | {} | {} | {} |",
        block(contract.block),
        rewrites(contract.rewrites),
        failure(contract.on_failure),
        context(contract),
        seconds(contract.timeout),
        delivery(contract.delivery),
    );
}

const fn block(block: Block) -> &'static str {
    match block {
        Block::EndsRun => "the run ends before any model call",
        Block::RefusesPrompt => "the prompt is refused and not recorded",
        Block::StopsTool => "the tool does not run; the model is told why",
        Block::AnswersNo => "the question is answered no",
        Block::Vetoes => "the operation is vetoed",
        Block::SkipsCompaction => "the compaction is skipped",
        Block::GoesOn => "the turn goes on with the reason",
        Block::Annotates => "a note: it has happened already",
        Block::Nothing => "nothing",
    }
}

const fn rewrites(rewrites: Rewrites) -> &'static str {
    match rewrites {
        Rewrites::Nothing => "",
        Rewrites::ToolInput => "the tool input",
        Rewrites::Prompt => "the prompt",
        Rewrites::Result => "the result that the model sees",
    }
}

const fn failure(policy: OnFailure) -> &'static str {
    match policy {
        OnFailure::Allow => "a warning",
        OnFailure::Ask => "a human decides",
        OnFailure::Block => "blocks",
    }
}

const fn context(contract: &Contract) -> &'static str {
    match (contract.delivers_context, contract.plain_text) {
        (true, PlainText::Context) => "JSON or plain text",
        (true, PlainText::Diagnostic) => "JSON",
        (false, _) => "",
    }
}

const fn delivery(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::Awaited => "waits",
        Delivery::Detached => "goes on at once",
        Delivery::AwaitedToTheEnd => "waits, even when cancelled",
    }
}

fn seconds(timeout: Duration) -> String {
    format!("{} s", timeout.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_one_row_with_as_many_cells_as_the_head() {
        let page = page();
        let rows: Vec<_> = page.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), 2 + EventKind::ALL.len() + 1);
        for row in &rows {
            assert_eq!(row.matches('|').count(), rows[0].matches('|').count(), "{row}");
        }
        for kind in EventKind::ALL {
            let start = format!("| `{kind}` |");
            assert_eq!(rows.iter().filter(|row| row.starts_with(&start)).count(), 1, "{kind}");
        }
    }

    #[test]
    fn a_row_says_what_the_contract_says() {
        let page = page();
        let row = page.lines().find(|line| line.starts_with("| `PreToolUse` ")).unwrap();
        for words in ["`tool_name`", "the tool does not run", "the tool input", "blocks", "30 s"] {
            assert!(row.contains(words), "{row}");
        }
    }
}
