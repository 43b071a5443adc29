//! The desk: the one place where an agent's events and questions meet typed lines and signals.
//!
//! Owns who is heard when: a line answers the question that is open, else it steers the turn that
//! is going on, else it is the next prompt.

use std::time::Duration;

use tenter::CancellationToken;
use tenter_agent::{Agent, Answer, Compacted, Question, Steering, StreamEvent, TurnEnd};
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc::UnboundedReceiver;

use super::{Asked, View};
use crate::console::Console;
use crate::render::style::{ASKS, DIM, STRONG, paint};
use crate::render::text::{one_line, printable};
use crate::signals::Signals;

/// The most of a call's input that a question shows.
const MOST_INPUT: usize = 2000;

/// What was typed where a prompt was expected.
pub(crate) enum Typed {
    /// A prompt.
    Prompt(String),
    /// The wish for a summary, with what it is to mind.
    Compact(String),
    /// The wish to end.
    End,
}

/// The desk of one session.
pub(crate) struct Desk<'a> {
    console: &'a mut Console,
    view: View,
    events: UnboundedReceiver<StreamEvent>,
    questions: UnboundedReceiver<Asked>,
    /// What is typed; `None` if nobody types, or no more.
    lines: Option<UnboundedReceiver<String>>,
    signals: Signals,
    open: Option<Asked>,
    /// The signal that ends the program.
    ended_by: Option<SignalKind>,
}

impl<'a> Desk<'a> {
    pub(crate) fn new(
        console: &'a mut Console,
        view: View,
        events: UnboundedReceiver<StreamEvent>,
        questions: UnboundedReceiver<Asked>,
        lines: Option<UnboundedReceiver<String>>,
    ) -> Self {
        let signals = Signals::listen();
        Self { console, view, events, questions, lines, signals, open: None, ended_by: None }
    }

    /// The signal that ends the program, if one came.
    pub(crate) fn ended_by(&self) -> Option<SignalKind> {
        self.ended_by
    }

    /// What is written to the side.
    pub(crate) fn console(&mut self) -> &mut Console {
        self.console
    }

    /// Lets the agent work on a prompt. An interrupt ends the turn, another signal the program too.
    pub(crate) async fn turn(&mut self, agent: &mut Agent, prompt: &str) -> TurnEnd {
        let cancel = CancellationToken::new();
        let steering = agent.steering();
        let end = self.during(agent.turn(prompt, &cancel), Some(&steering), &cancel).await;
        self.open = None;
        end
    }

    /// Lets the agent summarise the conversation. An interrupt ends that.
    pub(crate) async fn compact(&mut self, agent: &mut Agent, wishes: &str) {
        let cancel = CancellationToken::new();
        let compacted = self.during(agent.compact(wishes, &cancel), None, &cancel).await;
        match compacted {
            Compacted::Done { .. } => {}
            Compacted::Skipped { reason } => {
                self.console.warn(&format!("nothing was summarised: {reason}"));
            }
            Compacted::Failed { reason } => {
                self.console.warn(&format!("the model could not summarise: {reason}"));
            }
        }
    }

    /// Ends the session; gives how many events behind the agent were not seen through.
    pub(crate) async fn end(&mut self, agent: Agent, reason: &str, grace: Duration) -> usize {
        let cancel = CancellationToken::new();
        self.during(agent.end(reason, grace), None, &cancel).await
    }

    /// Shows and hears everything until the work is done.
    async fn during<T>(
        &mut self,
        work: impl Future<Output = T>,
        steering: Option<&Steering>,
        cancel: &CancellationToken,
    ) -> T {
        tokio::pin!(work);
        let done = loop {
            tokio::select! {
                biased;
                Some(event) = self.events.recv() => self.view.show(&event, self.console),
                done = &mut work => break done,
                Some(asked) = self.questions.recv() => self.ask(asked),
                line = next(&mut self.lines) => self.hear(line, steering),
                signal = self.signals.next() => {
                    if signal != SignalKind::interrupt() {
                        self.ended_by = Some(signal);
                    }
                    cancel.cancel();
                }
            }
        };
        while let Ok(event) = self.events.try_recv() {
            self.view.show(&event, self.console);
        }
        done
    }

    /// The next prompt.
    pub(crate) async fn prompt(&mut self) -> Typed {
        loop {
            if self.lines.is_none() || self.ended_by.is_some() {
                return Typed::End;
            }
            self.console.err(&paint(STRONG, "> "));
            let line = loop {
                tokio::select! {
                    biased;
                    Some(event) = self.events.recv() => self.view.show(&event, self.console),
                    line = next(&mut self.lines) => break line,
                    signal = self.signals.next() => {
                        if signal != SignalKind::interrupt() {
                            self.ended_by = Some(signal);
                        }
                        break None;
                    }
                }
            };
            match line.as_deref().map(str::trim) {
                None => {
                    self.console.err("\n");
                    return Typed::End;
                }
                Some("") => {}
                Some("/exit" | "/quit") => return Typed::End,
                Some(prompt) => {
                    return match prompt.strip_prefix("/compact") {
                        Some("") => Typed::Compact(String::new()),
                        Some(wishes) if wishes.starts_with(' ') => {
                            Typed::Compact(wishes.trim().to_owned())
                        }
                        _ => Typed::Prompt(prompt.to_owned()),
                    };
                }
            }
        }
    }

    fn ask(&mut self, asked: Asked) {
        // What led to the question is shown before it.
        while let Ok(event) = self.events.try_recv() {
            self.view.show(&event, self.console);
        }
        if self.lines.is_none() {
            // Nobody can answer any more, so it is answered no.
            return;
        }
        let text = match &asked {
            Asked::Permission(question, _) => shown(question),
            Asked::Words { question, choices, .. } => {
                let choices = match choices.as_slice() {
                    [] => String::new(),
                    choices => format!(" ({})", printable(&choices.join(", "))),
                };
                format!("{}{choices}\n", paint(ASKS, printable(question)))
            }
        };
        self.console.err(&text);
        self.invite(&asked);
        self.open = Some(asked);
    }

    fn invite(&mut self, asked: &Asked) {
        let text = match asked {
            Asked::Permission(..) => "Allow it? [y]es, [n]o, [a]lways in this session: ",
            Asked::Words { .. } => "Your answer: ",
        };
        self.console.err(text);
    }

    /// What a typed line is for; `None` is the end of what is typed.
    fn hear(&mut self, line: Option<String>, steering: Option<&Steering>) {
        let Some(line) = line else {
            self.lines = None;
            // What nobody can answer any more is answered no.
            self.open = None;
            return;
        };
        match self.open.take() {
            Some(Asked::Permission(question, answer)) => {
                if let Some(said) = permission(&line) {
                    let _ = answer.send(said);
                } else {
                    let asked = Asked::Permission(question, answer);
                    self.invite(&asked);
                    self.open = Some(asked);
                }
            }
            Some(Asked::Words { answer, .. }) => {
                let _ = answer.send(Some(line));
            }
            None => {
                if let Some(steering) = steering.filter(|_| !line.trim().is_empty()) {
                    steering.say(line);
                    let text = "the agent hears that once this step is done";
                    self.console.err(&format!("{}\n", paint(DIM, text)));
                }
            }
        }
    }
}

/// The next line; never, if nobody types.
async fn next(lines: &mut Option<UnboundedReceiver<String>>) -> Option<String> {
    match lines {
        Some(lines) => lines.recv().await,
        None => std::future::pending().await,
    }
}

fn shown(question: &Question) -> String {
    let who = if question.who.depth == 0 {
        String::new()
    } else {
        paint(DIM, format!("[{}] ", printable(&question.who.kind)))
    };
    let tool = paint(STRONG, printable(&question.tool));
    let input = one_line(question.input.as_text(), MOST_INPUT);
    format!("{who}{tool} {input}\n{}\n", paint(ASKS, printable(&question.reason)))
}

/// What a line says to a question whether a call may run; `None` if it says nothing.
fn permission(line: &str) -> Option<Answer> {
    match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(Answer::Allow),
        "a" | "always" => Some(Answer::Always),
        "n" | "no" => Some(Answer::Deny),
        _ => None,
    }
}
