//! The sessions of the agent that were kept, for people and as JSON.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;
use tenter_agent::Summary;

use super::json::pretty;
use super::style::{BAD, DIM, STRONG, paint};
use super::text::one_line;

/// One line a session, the oldest first.
pub(crate) fn draw(sessions: &[Summary], with_folders: bool, width: usize) -> String {
    let zone = TimeZone::system();
    let line = |session: &Summary| {
        let began = i64::try_from(session.at_ms).ok();
        let began = began.and_then(|at| Timestamp::from_millisecond(at).ok());
        let began = began
            .map(|at| at.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string());
        let turns = match session.turns {
            1 => "1 turn".to_owned(),
            turns => format!("{turns} turns"),
        };
        if let Some(damaged) = &session.damaged {
            let id = paint(STRONG, &session.id);
            return format!("{id}  {}\n", paint(BAD, one_line(damaged, width.max(20))));
        }
        let prompt = session.first_prompt.as_deref().unwrap_or("(no prompt)");
        let head = format!("{}  {turns:>9}", began.unwrap_or_default());
        let most = width.saturating_sub(session.id.len() + head.len() + 4).max(20);
        let folder = if with_folders { one_line(&session.cwd, most) + "  " } else { String::new() };
        let prompt = one_line(prompt, most.saturating_sub(folder.len()).max(20));
        format!("{}  {}  {folder}{prompt}\n", paint(STRONG, &session.id), paint(DIM, head))
    };
    sessions.iter().map(line).collect()
}

/// All of them as one object.
pub(crate) fn json(sessions: &[Summary]) -> String {
    pretty(&json!({ "version": 1, "sessions": sessions }))
}
