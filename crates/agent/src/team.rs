//! What the members of a team share: tasks and messages.
//!
//! Owns the list and its rules. Whether hooks let a task be created or completed is asked by the
//! tools, between two looks at the list: what was right before the hooks may not be right after.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::stream::lock;

/// How many tasks a session can have. One more is refused before any hook is asked.
const MOST_TASKS: usize = 1000;

/// How far a task is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Open,
    Claimed(String),
    Done,
}

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// What is to be done.
    pub description: String,
    /// The tasks that have to be complete first.
    pub deps: Vec<String>,
    /// Who created it.
    pub by: String,
    state: State,
}

impl Task {
    /// The whole task, as hooks see it when this agent does something with it.
    pub fn to_json(&self, actor: &str) -> Value {
        let mut task = json!({
            "id": self.id,
            "description": self.description,
            "deps": self.deps,
            "by": actor,
        });
        if let State::Claimed(assignee) = &self.state {
            task["created_by"] = self.by.clone().into();
            task["assignee"] = assignee.clone().into();
        }
        task
    }
}

#[derive(Debug, Default)]
struct Shared {
    tasks: Vec<Task>,
    numbers: usize,
    /// The members that can be written to, with what they have not read.
    mail: BTreeMap<String, Vec<String>>,
}

/// The tasks and messages of one session.
#[derive(Debug, Default)]
pub struct Team(Mutex<Shared>);

impl Shared {
    fn find(&self, id: &str) -> Result<&Task, String> {
        self.tasks
            .iter()
            .find(|task| task.id == id)
            .ok_or_else(|| format!("there is no task `{id}`"))
    }

    /// Whether a task can be added that depends on these.
    fn takes(&self, deps: &[String]) -> Result<(), String> {
        if self.tasks.len() >= MOST_TASKS {
            return Err(format!("there are {MOST_TASKS} tasks, and there cannot be more"));
        }
        deps.iter().try_for_each(|id| self.find(id).map(|_| ()))
    }

    /// The first task before this one that is not complete.
    fn waits_for<'a>(&self, task: &'a Task) -> Option<&'a str> {
        let open = |id: &&String| self.find(id).is_ok_and(|task| task.state != State::Done);
        task.deps.iter().find(open).map(String::as_str)
    }

    fn completable(&self, id: &str, who: &str) -> Result<Task, String> {
        let task = self.find(id)?;
        match &task.state {
            State::Claimed(by) if by == who => {}
            State::Claimed(by) => return Err(format!("the task `{id}` is claimed by {by}")),
            State::Open => return Err(format!("the task `{id}` is not claimed: claim it first")),
            State::Done => return Err(format!("the task `{id}` is complete already")),
        }
        match self.waits_for(task) {
            Some(dep) => Err(format!("the task `{id}` waits for `{dep}`")),
            None => Ok(task.clone()),
        }
    }
}

impl Team {
    /// A task that could be added.
    ///
    /// # Errors
    /// It depends on a task that is not there, or there are too many.
    pub fn draft(&self, description: &str, deps: Vec<String>, by: &str) -> Result<Task, String> {
        let mut shared = lock(&self.0);
        shared.takes(&deps)?;
        shared.numbers += 1;
        let id = format!("task-{}", shared.numbers);
        Ok(Task { id, description: description.into(), deps, by: by.into(), state: State::Open })
    }

    /// Adds a draft.
    ///
    /// # Errors
    /// There are too many by now.
    pub fn add(&self, task: Task) -> Result<(), String> {
        let mut shared = lock(&self.0);
        shared.takes(&task.deps)?;
        shared.tasks.push(task);
        Ok(())
    }

    /// Claims a task, or the first that can be done.
    ///
    /// # Errors
    /// There is none, somebody has it, or it waits for another.
    pub fn claim(&self, id: Option<&str>, who: &str) -> Result<Task, String> {
        let mut shared = lock(&self.0);
        let ready = |task: &&Task| task.state == State::Open && shared.waits_for(task).is_none();
        let id = match id {
            Some(id) => id.to_owned(),
            None => shared
                .tasks
                .iter()
                .find(ready)
                .map(|task| task.id.clone())
                .ok_or("no task is ready")?,
        };
        let task = shared.find(&id)?;
        match &task.state {
            State::Open => {}
            State::Claimed(by) => return Err(format!("the task `{id}` is claimed by {by}")),
            State::Done => return Err(format!("the task `{id}` is complete already")),
        }
        if let Some(dep) = shared.waits_for(task) {
            return Err(format!("the task `{id}` waits for `{dep}`"));
        }
        let claimed = Task { state: State::Claimed(who.to_owned()), ..task.clone() };
        for task in shared.tasks.iter_mut().filter(|task| task.id == id) {
            task.clone_from(&claimed);
        }
        Ok(claimed)
    }

    /// A task that this agent could complete now.
    ///
    /// # Errors
    /// It is not there, not this agent's, complete, or waits for another.
    pub fn completable(&self, id: &str, who: &str) -> Result<Task, String> {
        lock(&self.0).completable(id, who)
    }

    /// Completes a task, if it can be completed still.
    ///
    /// # Errors
    /// As [`Team::completable`].
    pub fn complete(&self, id: &str, who: &str) -> Result<(), String> {
        let mut shared = lock(&self.0);
        shared.completable(id, who)?;
        for task in shared.tasks.iter_mut().filter(|task| task.id == id) {
            task.state = State::Done;
        }
        Ok(())
    }

    /// A task as it is now.
    pub(crate) fn task(&self, id: &str) -> Option<Task> {
        lock(&self.0).find(id).ok().cloned()
    }

    /// Goes on with the tasks of an earlier process. Who had claimed one there and is no longer there
    /// does not keep it; nobody gets the number of a task that was.
    pub(crate) fn take_up(&self, tasks: Vec<Task>, is_there: impl Fn(&str) -> bool) {
        let mut shared = lock(&self.0);
        let number = |task: &Task| task.id.strip_prefix("task-")?.parse::<usize>().ok();
        shared.numbers = tasks.iter().filter_map(number).max().unwrap_or(0);
        shared.tasks = tasks;
        for task in &mut shared.tasks {
            if matches!(&task.state, State::Claimed(by) if !is_there(by)) {
                task.state = State::Open;
            }
        }
    }

    /// Lets a member be written to.
    pub fn join(&self, member: &str) {
        lock(&self.0).mail.entry(member.into()).or_default();
    }

    /// A member can no longer be written to.
    pub fn leave(&self, member: &str) {
        lock(&self.0).mail.remove(member);
    }

    /// Sends a message.
    ///
    /// # Errors
    /// There is no such member.
    pub fn send(&self, from: &str, to: &str, text: &str) -> Result<String, String> {
        let mut shared = lock(&self.0);
        let members: Vec<_> = shared.mail.keys().cloned().collect();
        match shared.mail.get_mut(to) {
            Some(mail) => {
                mail.push(format!("{from} says: {text}"));
                Ok(format!("sent to {to}"))
            }
            None => Err(format!("there is no member `{to}`; there are {}", members.join(", "))),
        }
    }

    /// Whether a member has something to read.
    pub fn has_mail(&self, member: &str) -> bool {
        lock(&self.0).mail.get(member).is_some_and(|mail| !mail.is_empty())
    }

    /// What a member has not read.
    pub fn read(&self, member: &str) -> Vec<String> {
        lock(&self.0).mail.get_mut(member).map(std::mem::take).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_goes_its_way_once() {
        let team = Team::default();
        let first = team.draft("a", vec![], "main").unwrap();
        let id = first.id.clone();
        team.add(first).unwrap();
        let second = team.draft("b", vec![id.clone()], "main").unwrap();
        team.add(second.clone()).unwrap();
        assert!(team.draft("c", vec!["task-9".into()], "main").is_err());

        assert_eq!(
            team.claim(Some(&second.id), "x").unwrap_err(),
            "the task `task-2` waits for `task-1`"
        );
        assert_eq!(team.claim(None, "x").unwrap().id, "task-1");
        assert_eq!(team.claim(Some(&id), "y").unwrap_err(), "the task `task-1` is claimed by x");
        assert!(team.complete(&id, "y").is_err());
        team.complete(&id, "x").unwrap();
        assert_eq!(team.complete(&id, "x").unwrap_err(), "the task `task-1` is complete already");
        assert_eq!(team.claim(None, "y").unwrap().id, "task-2");
        assert_eq!(team.claim(None, "y").unwrap_err(), "no task is ready");
    }

    #[test]
    fn a_later_process_goes_on_with_the_tasks_and_reuses_no_number() {
        let team = Team::default();
        for description in ["a", "b", "c"] {
            team.add(team.draft(description, vec![], "main").unwrap()).unwrap();
        }
        team.claim(Some("task-1"), "main").unwrap();
        team.claim(Some("task-2"), "ann").unwrap();
        let kept: Vec<Task> = ["task-1", "task-2", "task-3"]
            .iter()
            .map(|id| serde_json::to_string(&team.task(id).unwrap()).unwrap())
            .map(|text| serde_json::from_str(&text).unwrap())
            .collect();

        let later = Team::default();
        later.take_up(kept, |who| who == "main");
        assert_eq!(later.draft("d", vec![], "main").unwrap().id, "task-4");
        later.complete("task-1", "main").unwrap();
        // Nobody is there any more who could complete the second.
        assert_eq!(later.claim(None, "bob").unwrap().id, "task-2");
    }

    #[test]
    fn a_full_list_takes_no_more() {
        let team = Team::default();
        for _ in 0..MOST_TASKS {
            team.add(team.draft("a", vec![], "main").unwrap()).unwrap();
        }
        assert!(team.draft("b", vec![], "main").unwrap_err().contains("cannot be more"));
    }

    #[test]
    fn messages_reach_members_alone() {
        let team = Team::default();
        team.join("a");
        team.send("b", "a", "hello").unwrap();
        assert_eq!(team.send("b", "c", "x").unwrap_err(), "there is no member `c`; there are a");
        assert_eq!(team.read("a"), ["b says: hello"]);
        assert!(team.read("a").is_empty());
    }
}
