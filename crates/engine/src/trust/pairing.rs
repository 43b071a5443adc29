//! Which recorded entry an entry of today is, or was before it was edited.

use super::Entry;
use super::digest::{Digest, Domain};
use super::store::EntryRecord;

/// What an entry is compared with.
#[derive(Debug)]
pub(super) enum Pair<'a> {
    /// Recorded with this very text. Several, if several entries say the same.
    Same(Vec<&'a EntryRecord>),
    /// It takes the place of one that is no longer there.
    Edited(&'a EntryRecord),
    /// Nothing that was recorded.
    New,
}

/// What tells one entry from another.
pub(super) trait Identity {
    fn file(&self) -> &str;
    fn pointer(&self) -> &str;
    fn name(&self) -> &str;
    fn digest(&self) -> Digest;
}

impl Identity for Entry {
    fn file(&self) -> &str {
        &self.file
    }

    fn pointer(&self) -> &str {
        &self.pointer
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn digest(&self) -> Digest {
        Digest::of(Domain::Entry, self.text.as_bytes())
    }
}

impl Identity for EntryRecord {
    fn file(&self) -> &str {
        &self.file
    }

    fn pointer(&self) -> &str {
        &self.pointer
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn digest(&self) -> Digest {
        self.digest
    }
}

/// Pairs entries with what was recorded, see the head of the folder's module. The result is as long
/// as `entries`.
pub(super) fn pair<'a, E: Identity>(records: &'a [EntryRecord], entries: &[E]) -> Vec<Pair<'a>> {
    let mut left: Vec<&EntryRecord> = records.iter().collect();
    let mut pairs: Vec<Pair<'a>> = entries
        .iter()
        .map(|entry| {
            let digest = entry.digest();
            let same: Vec<_> = records.iter().filter(|record| record.digest == digest).collect();
            take(&mut left, |record| record.digest == digest);
            if same.is_empty() { Pair::New } else { Pair::Same(same) }
        })
        .collect();
    let rules: [fn(&E, &EntryRecord) -> bool; 3] = [
        |entry, record| entry.name() == record.name,
        |entry, record| entry.pointer() == record.pointer,
        |_, _| true,
    ];
    for rule in rules {
        for (pair, entry) in pairs.iter_mut().zip(entries) {
            if matches!(pair, Pair::New)
                && let Some(record) = take(&mut left, |record| {
                    entry.file() == record.file
                        && section(entry.pointer()) == section(&record.pointer)
                        && rule(entry, record)
                })
            {
                *pair = Pair::Edited(record);
            }
        }
    }
    pairs
}

fn take<'a>(
    left: &mut Vec<&'a EntryRecord>,
    fits: impl Fn(&EntryRecord) -> bool,
) -> Option<&'a EntryRecord> {
    let at = left.iter().position(|record| fits(record))?;
    Some(left.remove(at))
}

/// The part of the file that a pointer is in: hooks do not become rules.
fn section(pointer: &str) -> &str {
    pointer.split('/').nth(1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(pointer: &str, name: &str, text: &str) -> EntryRecord {
        EntryRecord {
            file: "f".into(),
            pointer: pointer.into(),
            name: name.into(),
            digest: Digest::of(Domain::Entry, text.as_bytes()),
            text: text.into(),
            scripts: Vec::new(),
        }
    }

    /// Each entry as `=text`, `~text` (edited) or `new`.
    fn pairs(records: &[EntryRecord], entries: &[EntryRecord]) -> Vec<String> {
        let shown = |pair: Pair<'_>| match pair {
            Pair::Same(same) => format!("={}", same[0].text),
            Pair::Edited(record) => format!("~{}", record.text),
            Pair::New => "new".into(),
        };
        pair(records, entries).into_iter().map(shown).collect()
    }

    #[test]
    fn the_text_decides_wherever_it_stands() {
        let records = [record("#/hook/0", "a", "A"), record("#/hook/1", "b", "B")];
        let moved = [record("#/hook/0", "b", "B"), record("#/hook/1", "a", "A")];
        assert_eq!(pairs(&records, &moved), ["=B", "=A"]);
        let mut other_file = record("#/hook/0", "a", "A");
        other_file.file = "g".into();
        assert_eq!(pairs(&records, &[other_file]), ["=A"]);
    }

    #[test]
    fn an_edited_entry_takes_the_place_of_the_one_with_its_name_then_of_its_place_then_any() {
        let records = [record("#/hook/0", "a", "A"), record("#/hook/1", "b", "B")];
        let edited = [record("#/hook/0", "b", "B2"), record("#/hook/1", "a", "A2")];
        assert_eq!(pairs(&records, &edited), ["~B", "~A"]);
        let renamed = [record("#/hook/0", "x", "A2"), record("#/hook/1", "b", "B")];
        assert_eq!(pairs(&records, &renamed), ["~A", "=B"]);
        let moved_and_renamed = [record("#/hook/0", "b", "B"), record("#/hook/9", "x", "A2")];
        assert_eq!(pairs(&records, &moved_and_renamed), ["=B", "~A"]);
    }

    #[test]
    fn beyond_what_is_left_an_entry_is_new() {
        let records = [record("#/hook/0", "a", "A")];
        let added = [record("#/hook/0", "x", "X"), record("#/hook/1", "a", "A")];
        assert_eq!(pairs(&records, &added), ["new", "=A"]);
        let both = [record("#/hook/0", "x", "X"), record("#/hook/1", "a", "A2")];
        assert_eq!(pairs(&records, &both), ["new", "~A"]);
        let rule = [record("#/permissions/allow/0", "a", "A2")];
        assert_eq!(pairs(&records, &rule), ["new"]);
    }

    #[test]
    fn of_two_that_said_the_same_one_can_be_edited() {
        let records = [record("#/hook/0", "a", "A"), record("#/hook/1", "a-2", "A")];
        let edited = [record("#/hook/0", "a", "A"), record("#/hook/1", "a", "A2")];
        assert_eq!(pairs(&records, &edited), ["=A", "~A"]);
        let thrice = [
            record("#/hook/0", "a", "A"),
            record("#/hook/1", "a", "A"),
            record("#/hook/2", "a", "A"),
        ];
        assert_eq!(pairs(&records, &thrice), ["=A", "=A", "=A"]);
    }
}
