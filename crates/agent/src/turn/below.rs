//! Agents below an agent: subagents, branches, the members of a team.
//!
//! They have the hooks, rules, tools and human of the one above; what tells them apart is who acts.
//! A delegation is no way around a hook.

use std::sync::Arc;

use futures_util::future::{BoxFuture, join_all};
use serde_json::Value;
use tenter::core::event::Payload;
use tenter::{CancellationToken, Decision, Event, EventKind, Json};

use crate::shared::Shared;
use crate::store::Record;
use crate::stream::{Status, Who};
use crate::tool::{Delegate, Delegation, ToolOutput};
use crate::turn::{Ended, Lane};

/// The kind of a team's members.
const TEAMMATE: &str = "teammate";
/// How often the members of a team are woken by messages.
const MOST_ROUNDS: usize = 10;

/// Starts agents below one.
pub(crate) struct Below {
    pub(crate) shared: Arc<Shared>,
    pub(crate) who: Who,
}

impl Below {
    fn lane(&self, id: String, kind: String) -> Result<Lane, ToolOutput> {
        let most = self.shared.settings.most_depth;
        if self.who.depth >= most {
            let text =
                format!("agents may stand {most} deep below the first, and this is one more");
            return Err(ToolOutput::error(text));
        }
        let who = Who { id, kind, depth: self.who.depth + 1 };
        Ok(Lane::new(Arc::clone(&self.shared), who))
    }
}

fn last_words(lane: &Lane, ended: &Ended) -> ToolOutput {
    match ended.status {
        Status::Complete => ToolOutput::ok(lane.last_words.clone()),
        status => {
            let reason = ended.reason.as_deref().map(|reason| format!(": {reason}"));
            let text = format!(
                "the agent {} ended as {}{}",
                lane.who.id,
                status.as_str(),
                reason.unwrap_or_default()
            );
            ToolOutput::error(text)
        }
    }
}

impl Lane {
    /// Tells the hooks that a member of a team has nothing more to do. One that was stopped has, and so
    /// has one that is about to read a message.
    fn tell_if_idle(&self, ended: &Ended) {
        if ended.status != Status::Complete || self.shared.team.has_mail(&self.who.id) {
            return;
        }
        let idle = || {
            Event::new(EventKind::TeammateIdle, Payload::Open)
                .with_field("teammate_name", Json::string(&self.who.id))
        };
        self.shared.hooks.notify(idle, &EventKind::TeammateIdle, &self.who, None);
    }
}

impl Delegate for Below {
    fn delegate(&self, task: Delegation, cancel: CancellationToken) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let number = self.shared.next_agent();
            let id = task.id.unwrap_or_else(|| format!("agent-{number}"));
            let mut lane = match self.lane(id, task.kind) {
                Ok(lane) => lane,
                Err(output) => return output,
            };
            let started = || Event::new(EventKind::SubagentStart, Payload::Open);
            self.shared.hooks.notify(started, &EventKind::SubagentStart, &lane.who, None);
            lane.hear(task.prompt, Vec::new());
            let ended = lane.converse(&cancel).await;
            lane.tell_of_end(ended.status);
            last_words(&lane, &ended)
        })
    }

    fn run_team(
        &self,
        members: Vec<Delegation>,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let team = &self.shared.team;
            let mut lanes = Vec::new();
            for member in members {
                let name = member.id.unwrap_or_default();
                if name.is_empty() || lanes.iter().any(|lane: &Lane| lane.who.id == name) {
                    let text = format!("`{name}` is no name of one member: each needs its own");
                    return ToolOutput::error(text);
                }
                if name == Who::main().id || name.starts_with("agent-") {
                    let text = format!("`{name}` is the name of an agent outside the team");
                    return ToolOutput::error(text);
                }
                let mut lane = match self.lane(name, TEAMMATE.into()) {
                    Ok(lane) => lane,
                    Err(output) => return output,
                };
                lane.is_member = true;
                lane.hear(member.prompt, Vec::new());
                lanes.push(lane);
            }
            for lane in &lanes {
                team.join(&lane.who.id);
            }
            let mut ends: Vec<Option<Ended>> = lanes.iter().map(|_| None).collect();
            for round in 0..MOST_ROUNDS {
                let mut working = Vec::new();
                for (at, lane) in lanes.iter_mut().enumerate() {
                    let mail = team.read(&lane.who.id);
                    if round > 0 && mail.is_empty() {
                        continue;
                    }
                    for message in mail {
                        lane.hear(message, Vec::new());
                    }
                    let cancel = &cancel;
                    working.push(async move {
                        let ended = lane.converse(cancel).await;
                        lane.tell_if_idle(&ended);
                        (at, ended)
                    });
                }
                if working.is_empty() || cancel.is_cancelled() {
                    break;
                }
                for (at, ended) in join_all(working).await {
                    if let Some(slot) = ends.get_mut(at) {
                        *slot = Some(ended);
                    }
                }
            }
            let mut said_by_all = Vec::new();
            let mut is_error = false;
            for (lane, ended) in lanes.iter().zip(ends) {
                team.leave(&lane.who.id);
                let ended = ended.unwrap_or_else(Ended::cancelled);
                let said = last_words(lane, &ended);
                is_error |= said.is_error;
                said_by_all.push(format!("{}: {}", lane.who.id, said.content));
            }
            ToolOutput { content: said_by_all.join("\n"), is_error }
        })
    }

    fn task_gate(
        &self,
        completed: bool,
        task: Value,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let kind = if completed { EventKind::TaskCompleted } else { EventKind::TaskCreated };
            let event = Event::new(kind, Payload::Open).with_field("task", Json::from(task));
            let event = self.shared.hooks.event(event, &self.who, None);
            let fired = self.shared.hooks.fire(&event, &self.who, &cancel).await;
            let outcome = fired.ok_or("cancelled")?;
            match outcome.decision {
                Decision::None | Decision::Allow if !outcome.halt => Ok(()),
                _ => {
                    let reason = outcome.reason.unwrap_or_else(|| "a hook gave no reason".into());
                    Err(format!("permission denied: {reason}"))
                }
            }
        })
    }

    fn task_changed(&self, id: &str) {
        if let Some(task) = self.shared.team.task(id) {
            self.shared.keep_of_all(&Record::Task(task));
        }
    }
}
