//! What of an outcome a host can carry, and what becomes of the rest.
//!
//! What a host cannot carry goes to the stricter side where there is one, and is reported always:
//! an ask that nobody can be asked is a denial; a changed input that cannot be handed over stops the
//! call, and the model is told what it should have been; a changed result that cannot be ends the
//! turn; an end of the turn is at least a denial.

use serde_json::json;
use tenter_core::contract::{Block, Contract, Rewrites};
use tenter_core::event::EventKind;
use tenter_core::json::{Fields, Json};
use tenter_core::outcome::Outcome;
use tenter_core::verdict::Decision;

use super::{Bridge, EventRow, Incoming, InputForm, Power, ResultForm, Standard};

/// What is said about the action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Nothing: the host goes on as it would without hooks.
    Nothing,
    /// It may happen without a question.
    Allow,
    /// A human decides.
    Ask,
    /// It does not happen; at the end of a turn: the turn goes on.
    Deny,
}

/// What is said to a host: only what it can carry at this event.
#[derive(Debug, Clone)]
pub struct Saying<'a> {
    /// The event.
    pub row: &'static EventRow,
    /// About the action.
    pub word: Word,
    /// Whether the turn ends.
    pub halt: bool,
    /// Why; never empty beside a word other than `Nothing`, or a halt.
    pub reason: &'a str,
    /// For the model.
    pub context: Option<&'a str>,
    /// The tool's input in the host's shape, or its result in the shape that it had.
    pub rewrite: Option<&'a Json>,
    /// The result as a text, where the rewrite is one.
    pub content: Option<&'a str>,
    /// For the user.
    pub message: Option<&'a str>,
}

impl Saying<'_> {
    /// Nothing at all.
    pub const fn nothing(row: &'static EventRow) -> Self {
        Self {
            row,
            word: Word::Nothing,
            halt: false,
            reason: "",
            context: None,
            rewrite: None,
            content: None,
            message: None,
        }
    }

    /// What is said about the action, in the standard's words for this event.
    pub(crate) fn decide(&self, answer: &mut Standard) {
        match self.row.kind() {
            EventKind::PreToolUse => answer.permission(self.word, self.reason),
            EventKind::PermissionRequest if self.word == Word::Deny => {
                answer.set_own("decision", json!({ "behavior": "deny", "message": self.reason }));
            }
            _ if self.word == Word::Deny => answer.block(self.reason),
            _ => {}
        }
    }

    /// Whether there is nothing to say.
    pub const fn is_nothing(&self) -> bool {
        matches!(self.word, Word::Nothing)
            && !self.halt
            && self.context.is_none()
            && self.rewrite.is_none()
            && self.message.is_none()
    }
}

/// The longest reason on stderr, in bytes: Droid 0.215 does not come back from more than about 64 KB.
const MOST_REASON: usize = 16 << 10;

/// What a host reads: two texts and an exit code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// On stdout.
    pub stdout: String,
    /// On stderr.
    pub stderr: String,
    /// The exit code.
    pub exit: u8,
}

impl Answer {
    /// No opinion, in the way of most hosts: nothing, and exit 0.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// One JSON object on stdout, and exit 0.
    pub fn json(object: &serde_json::Value) -> Self {
        Self { stdout: object.to_string(), ..Self::default() }
    }

    /// A denial by exit code: exit 2, the reason on stderr, nothing on stdout.
    pub fn exit_2(reason: &str) -> Self {
        let end = reason.floor_char_boundary(MOST_REASON);
        let reason = reason.get(..end).unwrap_or(reason);
        Self { stderr: reason.to_owned(), exit: 2, ..Self::default() }
    }
}

/// A part of an outcome that the host could not be told as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The power that the host lacks at this event.
    pub power: Power,
    /// What became of it instead, for a person.
    pub note: String,
}

/// An answer, and what could not be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What the host reads.
    pub answer: Answer,
    /// What was lost or made stricter.
    pub lost: Vec<Lost>,
}

/// The keys that changed, if a patch can say it: see [`InputForm::PlainPatch`].
fn plain_patch(before: &Json, after: &Json) -> Option<Json> {
    let (before, after) = (before.to_fields()?, after.to_fields()?);
    let is_plain = |key: &str| {
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    let changed: Fields = after
        .iter()
        .filter(|(key, value)| before.get(key) != Some(*value))
        .map(|(key, value)| (key.to_owned(), value.clone()))
        .collect();
    let nothing_goes = before.iter().all(|(key, _)| after.get(key).is_some());
    (nothing_goes && changed.iter().all(|(key, _)| is_plain(key))).then(|| changed.to_json())
}

/// What is left of an outcome while it is fitted to a host.
struct Fitting<'a> {
    bridge: &'a Bridge,
    incoming: &'a Incoming,
    outcome: &'a Outcome,
    word: Word,
    halt: bool,
    reason: String,
    lost: Vec<Lost>,
}

impl Bridge {
    /// What the host is told of an outcome. `contract` is the row of the event in tenter's own
    /// profile, under whose rules the outcome came to be.
    pub fn answer(&self, incoming: &Incoming, outcome: &Outcome, contract: &Contract) -> Said {
        let mut fitting = Fitting {
            bridge: self,
            incoming,
            outcome,
            word: match outcome.decision {
                Decision::None => Word::Nothing,
                Decision::Allow => Word::Allow,
                Decision::Ask => Word::Ask,
                Decision::Defer | Decision::Deny => Word::Deny,
            },
            halt: outcome.halt,
            reason: outcome.reason.clone().unwrap_or_default(),
            lost: Vec::new(),
        };
        fitting.fit_word(contract);
        // Whether the action happens is settled before it is asked what it would happen with.
        fitting.fit_halt();
        let rewrite = fitting.fit_rewrite(contract);
        let context = fitting.fit_context();
        let message = fitting.fit_messages();
        if fitting.reason.trim().is_empty() {
            "a hook said so, without a reason".clone_into(&mut fitting.reason);
        }
        let result = rewrite.as_ref().and_then(|rewrite| rewrite.1.as_deref());
        let saying = Saying {
            row: incoming.row,
            word: fitting.word,
            halt: fitting.halt,
            reason: &fitting.reason,
            context: context.as_deref(),
            rewrite: rewrite.as_ref().map(|rewrite| &rewrite.0),
            content: result,
            message: message.as_deref(),
        };
        Said { answer: (self.say)(&saying), lost: fitting.lost }
    }
}

impl Fitting<'_> {
    fn can(&self, power: Power) -> bool {
        self.incoming.row.can(power)
    }

    fn lose(&mut self, power: Power, note: String) {
        self.lost.push(Lost { power, note });
    }

    fn at(&self) -> String {
        format!("{} at {}", self.bridge.title, self.incoming.row.own)
    }

    /// A denial, where the host carries one; `why` is added to the reason for the model.
    fn deny(&mut self, why: &str) {
        self.word = Word::Deny;
        if !self.reason.is_empty() && !why.is_empty() {
            self.reason.push('\n');
        }
        self.reason.push_str(why);
    }

    fn fit_word(&mut self, contract: &Contract) {
        if self.word == Word::Allow && !self.can(Power::Allow) {
            // To have no opinion is the stricter side of an allow, and nothing that anybody misses.
            self.word = Word::Nothing;
        }
        if self.word == Word::Ask && !self.can(Power::Ask) {
            let at = self.at();
            self.deny("A person has to decide this, and cannot be asked from a hook here.");
            self.lose(Power::Ask, format!("{at} cannot ask a person: the ask became a denial"));
        }
        if self.word == Word::Deny && !self.can(Power::Deny) {
            let at = self.at();
            self.word = Word::Nothing;
            // At the end of a turn a denial sends the turn on; to end it would be the opposite.
            if self.can(Power::Halt) && contract.block != Block::GoesOn {
                self.halt = true;
                self.lose(Power::Deny, format!("{at} cannot deny: the denial became a halt"));
            } else {
                self.lose(Power::Deny, format!("{at} cannot deny: the denial has no effect"));
            }
        }
    }

    /// The rewrite as the host takes it, and a result's text.
    fn fit_rewrite(&mut self, contract: &Contract) -> Option<(Json, Option<String>)> {
        let rewritten = self.outcome.rewritten.as_ref()?;
        let stops = contract.block.stops_action();
        if stops && (self.word == Word::Deny || self.halt) {
            return None;
        }
        let content = || rewritten.get("content")?.as_str().map(std::borrow::Cow::into_owned);
        let fitted = match contract.rewrites {
            _ if !self.can(Power::Rewrite) => None,
            Rewrites::ToolInput => {
                let input = self.incoming.host_input(rewritten);
                let fitted = match self.bridge.inputs {
                    InputForm::Whole => input,
                    InputForm::PlainPatch => {
                        input.and_then(|input| plain_patch(&self.incoming.own_input()?, &input))
                    }
                };
                fitted.map(|input| (input, None))
            }
            Rewrites::Result => content().and_then(|content| {
                let fitted = match self.bridge.results {
                    ResultForm::Text => Json::string(&content),
                    ResultForm::SameShape => self.incoming.host_response(&content)?,
                };
                Some((fitted, Some(content)))
            }),
            Rewrites::Prompt | Rewrites::Nothing => None,
        };
        if fitted.is_some() {
            return fitted;
        }
        let at = self.at();
        if stops && (self.can(Power::Deny) || self.can(Power::Halt)) {
            let should = match contract.rewrites {
                Rewrites::Prompt => {
                    let prompt = rewritten.get("prompt");
                    let prompt = prompt.as_ref().and_then(Json::as_str).unwrap_or_default();
                    format!(
                        "A hook changed the prompt, which cannot be done here. It was to be: {prompt}"
                    )
                }
                _ => format!(
                    "A hook changed the input of this call, which cannot be done here. Use this input instead: {rewritten}"
                ),
            };
            self.deny(&should);
            if !self.can(Power::Deny) {
                self.word = Word::Nothing;
                self.halt = true;
            }
            self.lose(
                Power::Rewrite,
                format!("{at} cannot take the rewrite: the action was denied and the rewrite told"),
            );
        } else if contract.rewrites == Rewrites::Result && self.can(Power::Halt) {
            // A result is changed to keep something from the model. It must not go on with it.
            self.halt = true;
            let why = "A hook replaced the result of this tool, which cannot be done here.";
            self.reason = if self.reason.is_empty() {
                why.to_owned()
            } else {
                format!("{}\n{why}", self.reason)
            };
            self.lose(Power::Rewrite, format!("{at} cannot take the rewrite: the turn was ended"));
        } else {
            self.lose(Power::Rewrite, format!("{at} cannot take the rewrite: it has no effect"));
        }
        None
    }

    fn fit_halt(&mut self) {
        if !self.halt || self.can(Power::Halt) {
            return;
        }
        let at = self.at();
        self.halt = false;
        if self.can(Power::Deny) && self.word != Word::Deny {
            self.deny("");
            self.lose(Power::Halt, format!("{at} cannot end the turn: the halt became a denial"));
        } else {
            self.lose(Power::Halt, format!("{at} cannot end the turn: the halt has no effect"));
        }
    }

    fn fit_context(&mut self) -> Option<String> {
        if self.outcome.context.is_empty() {
            return None;
        }
        if self.can(Power::Context) {
            return Some(self.outcome.context.join("\n"));
        }
        let at = self.at();
        self.lose(
            Power::Context,
            format!("{at} cannot tell the model anything: the context is lost"),
        );
        None
    }

    /// What the user is told, with what became of a decision that the host cannot carry. What cannot
    /// be said to them stands on stderr, where the host does not read that.
    fn fit_messages(&self) -> Option<String> {
        let has_stderr = !self.bridge.reads_stderr;
        let decided = self.lost.iter().filter(|lost| lost.power != Power::Context || !has_stderr);
        let texts: Vec<&str> = self
            .outcome
            .messages
            .iter()
            .map(|one| one.text.as_str())
            .chain(decided.map(|lost| lost.note.as_str()))
            .collect();
        (self.can(Power::Message) && !texts.is_empty()).then(|| texts.join("\n"))
    }
}
