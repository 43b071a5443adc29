//! Contexts and reasons that are too long for the model: the whole goes to a file, the model gets
//! the beginning and the path.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tenter_core::contract::{Contract, LongText};
use tenter_core::diagnostic::Severity;
use tenter_core::event::Event;
use tenter_core::outcome::Message;
use tenter_core::views::cap_payload;

use crate::snapshot::Snapshot;

/// How many characters of a context that went to a file the model still gets.
const PREVIEW: usize = 2_000;

/// The contexts of all hooks, as one item where the contract has it so. Empty parts are left out.
pub(crate) fn joined(contexts: Vec<String>, contract: &Contract) -> Vec<String> {
    if !contract.joins_context || contexts.len() < 2 {
        return contexts;
    }
    let parts: Vec<_> = contexts.into_iter().filter(|part| !part.trim().is_empty()).collect();
    if parts.is_empty() { parts } else { vec![parts.join("\n")] }
}

/// Contexts of at most the profile's length; what is longer is spilled or clipped.
pub(crate) fn cap(
    contexts: Vec<String>,
    contract: &Contract,
    snapshot: &Snapshot,
    event: &Event,
) -> (Vec<String>, Vec<Message>) {
    let cap = snapshot.host.profile.context_cap;
    if contract.long_context == LongText::IsClipped {
        return clip(contexts, cap);
    }
    let mut notes = Vec::new();
    let capped = contexts
        .into_iter()
        .map(|context| {
            if context.len() <= cap || context.chars().count() <= cap {
                return context;
            }
            shorten(&context, cap, snapshot.spill.as_deref(), event, &mut notes)
        })
        .collect();
    (capped, notes)
}

fn clip(contexts: Vec<String>, cap: usize) -> (Vec<String>, Vec<Message>) {
    let mut notes = Vec::new();
    let mut clipped = |mut context: String| {
        let kept = cap_payload(&context, cap).len();
        if kept < context.len() {
            let text =
                format!("a text of {} bytes was clipped to {kept} for the model", context.len());
            notes.push(Message { level: Severity::Warning, text, hook: None });
            context.truncate(kept);
        }
        context
    };
    let contexts = contexts.into_iter().map(&mut clipped).collect();
    (contexts, notes)
}

fn shorten(
    context: &str,
    cap: usize,
    folder: Option<&Path>,
    event: &Event,
    notes: &mut Vec<Message>,
) -> String {
    let characters = context.chars().count();
    let written = folder.map(|folder| write(folder, &event.origin.session_id, context));
    match written {
        Some(Ok(path)) => {
            let preview: String = context.chars().take(PREVIEW).collect();
            format!(
                "{preview}\n[tenter: the whole text of {characters} characters is in {}]",
                path.display()
            )
        }
        failed => {
            if let Some(Err(error)) = failed {
                let text = format!(
                    "a text of {characters} characters could not be written to a file: {error}"
                );
                notes.push(Message { level: Severity::Warning, text, hook: None });
            }
            let mark = format!("\n[tenter: clipped, the text has {characters} characters]");
            let keep = cap.saturating_sub(mark.chars().count());
            context.chars().take(keep).chain(mark.chars()).collect()
        }
    }
}

fn write(folder: &Path, session: &str, context: &str) -> std::io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let session: String =
        session.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect();
    let folder = folder.join(if session.is_empty() { "session" } else { &session });
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("context-{}-{number}.txt", std::process::id()));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all(context.as_bytes())?;
    Ok(path)
}
