//! Every payload that a real agent sent, with one hook for its event.

use tenter::hosts::native::{PROFILE, input};
use tenter::{Origin, Status, Verdict};

use crate::support::*;

#[tokio::test]
async fn each_recorded_event_reaches_its_hook_and_its_context_goes_where_the_contract_says() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/recordings/claude");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let name: serde_json::Value = serde_json::from_str(&text).unwrap();
        let event = input::read_event(&text, None, &Origin::default()).unwrap();
        assert_eq!(name["hook_event_name"], event.kind.name(), "{}", path.display());

        let hook = reply_on(event.kind.clone(), "tell", Verdict::none().with_context("told"));
        let session = engine([hook]).session("s");
        let plan = session.plan(&event);
        let outcome = session.fire(&event).await;
        assert_eq!(plan.runs().count(), 1, "{}", path.display());
        assert_eq!(outcome.kind, event.kind);
        assert_eq!(outcome.hooks[0].status, Status::Ok);
        assert_eq!(outcome.hooks[0].context(), Some("told"));
        let delivered = PROFILE.contract(&event.kind).delivers_context;
        assert_eq!(
            outcome.context,
            if delivered { vec!["told"] } else { vec![] },
            "{}",
            path.display()
        );
        seen += 1;
    }
    assert_eq!(seen, 48);
}

#[test]
fn what_a_hook_reads_is_the_recorded_payload_and_what_tenter_adds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/recordings/claude");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let recorded: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&text).unwrap();
        let event = input::read_event(&text, None, &Origin::default()).unwrap();
        let line = input::write_event(&event, &tenter::hosts::codec::Shown::default());
        assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
        let written: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(&line).unwrap();
        for (key, value) in &recorded {
            assert_eq!(written.get(key), Some(value), "{} in {}", key, path.display());
        }
        let added: Vec<_> = written.keys().filter(|key| !recorded.contains_key(*key)).collect();
        assert_eq!(added, ["tenter"], "{}", path.display());
    }
}
