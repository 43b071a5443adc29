//! What of a store can be tested without the rest.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn head(id: &str) -> Record {
    Record::Session { version: 1, id: id.into(), at_ms: 5, cwd: "/p".into() }
}

fn user(text: &str) -> Record {
    Record::User { text: text.into(), context: Vec::new() }
}

#[test]
fn a_session_is_for_its_owner_and_for_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let store = FolderStore::new(folder.path().join("agent"));
    store.append("s", &head("s")).unwrap();
    store.append("s", &user("hi")).unwrap();
    let mode = fs::metadata(folder.path().join("agent/s.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(store.load("s").unwrap(), [head("s"), user("hi")]);
    let other = FolderStore::new(folder.path().join("agent"));
    assert!(matches!(other.load("s"), Err(StoreError::Busy { .. })));
    assert!(matches!(other.load("../s"), Err(StoreError::Missing { .. })));
    let list = other.list().unwrap();
    assert_eq!(list.len(), 1);
    assert_eq!(list[0].first_prompt.as_deref(), Some("hi"));
}

#[test]
fn what_is_kept_after_a_write_that_failed_half_way_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = FolderStore::new(folder.path());
    store.append("s", &head("s")).unwrap();
    let real = lock(&store.open).remove("s").unwrap();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    lock(&store.open).insert("s".into(), full);
    assert!(matches!(store.append("s", &user("lost")), Err(StoreError::Io { .. })));
    // The part that there was room for.
    (&real).write_all(b"{\"user\":{\"te").unwrap();
    drop(real);
    store.append("s", &user("after")).unwrap();
    assert_eq!(store.load("s").unwrap(), [head("s"), user("after")]);
}

#[test]
fn a_torn_line_is_left_out_at_every_length() {
    let folder = tempfile::tempdir().unwrap();
    let lines = format!(
        "{}\n{}\n",
        serde_json::to_string(&head("s")).unwrap(),
        serde_json::to_string(&user("hé")).unwrap()
    );
    let first = lines.find('\n').unwrap() + 1;
    for cut in first..lines.len() {
        fs::write(folder.path().join("s.jsonl"), &lines.as_bytes()[..cut]).unwrap();
        let store = FolderStore::new(folder.path());
        let whole = cut >= lines.len() - 1;
        assert_eq!(store.load("s").unwrap().len(), if whole { 2 } else { 1 }, "cut at {cut}");
        store.append("s", &user("more")).unwrap();
        let records = store.load("s").unwrap();
        assert_eq!(records.last(), Some(&user("more")), "cut at {cut}");
    }
}

#[test]
fn a_call_without_a_result_is_answered_and_not_run() {
    let calls = vec![("a".to_owned(), "Bash".to_owned()), ("b".to_owned(), "Bash".to_owned())];
    let input = Json::parse(r#"{"command":"x"}"#).unwrap();
    let restored = restore(vec![
        head("s"),
        user("hi"),
        Record::Assistant { text: String::new(), calls },
        Record::Call { id: "a".into(), input: input.clone(), runs: true },
    ]);
    let Message::Assistant { calls, .. } = &restored.history[1] else { panic!() };
    assert_eq!((calls[0].input.clone(), calls[1].input.clone()), (input, Json::empty_object()));
    let Message::Results(results) = &restored.history[2] else { panic!() };
    assert!(results[0].content.contains("may have done") && results[0].is_error);
    assert!(results[1].content.starts_with("aborted: "));
    assert_eq!(restored.added.len(), 2);
}
