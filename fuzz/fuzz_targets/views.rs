//! A payload under a cap. A view that comes back as it was shown is the payload, and a text that was
//! changed behind its mark is never taken for one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::json::Json;
use tenter_core::verdict::Rewrite;
use tenter_core::views::{CAP_MARK, cap_payload, cap_tool_input, restore_rewrite};

fuzz_target!(|data: (u8, &str)| {
    let (cap, text) = (usize::from(data.0), data.1);
    let start = cap_payload(text, cap);
    assert!(text.starts_with(start) && start.len() <= cap && start.len() + 4 > cap.min(text.len()));

    let Ok(payload) = Json::parse(text) else { return };
    let capped = cap_tool_input(&payload, cap, CAP_MARK);
    if !capped.is_clipped() {
        assert_eq!(capped.view(), &payload);
        return;
    }
    let shown = Rewrite::Replace(capped.view().clone());
    let Ok(Rewrite::Replace(back)) = restore_rewrite(shown, &capped) else {
        panic!("a view that was not changed is restored");
    };
    assert!(back.same_value(&payload), "a view handed back is the payload");
    let changed: Vec<_> = capped.clipped_keys().map(str::to_owned).collect();
    for key in changed {
        let mut fields = capped.view().to_fields().expect("only an object is clipped");
        fields.set(key, Json::string(&format!("changed{CAP_MARK}")));
        assert!(restore_rewrite(Rewrite::Patch(fields), &capped).is_err(), "an edited view passes");
    }
});
