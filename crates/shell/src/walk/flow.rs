//! Lists, pipelines and compound commands: which commands come after which, and what is known there.
//!
//! Owns: how the state and the standard input flow from command to command.

use super::{Input, Walker};
use crate::analysis::{FileUse, Link, Note, NoteKind, Reach, Simple, Span, UnknownReason};
use crate::expand::Mode;
use crate::folder::Folder;
use crate::grammar::{
    Command, Compound, Function, Item, Joint, List, Mode as FileMode, Redirect, SimpleCommand,
};
use crate::lexer;
use crate::limits;
use crate::state::State;
use crate::word::{Pattern, Piece, Word};

/// What a stage of a pipeline writes, where its text tells.
#[derive(Debug, Default)]
pub(super) struct Output {
    wanted: bool,
    text: Option<Word>,
    /// A program of which the output would be told is a function in this line.
    redefined: bool,
}

impl Output {
    /// Whether the next command's output is asked for; asked once.
    pub(super) const fn is_wanted(&mut self) -> bool {
        std::mem::replace(&mut self.wanted, false)
    }

    pub(super) fn is(&mut self, text: Option<Word>) {
        self.text = text;
    }
}

impl Walker<'_> {
    pub(super) fn list(&mut self, list: &List) {
        if list.0.len() > 1 && matches!(self.input, Input::Text(_)) {
            // Who of them reads how much is open.
            return self.fed(Input::Dynamic, |walker| walker.list(list));
        }
        // The state where the item before failed; `self.state` is where it succeeded.
        let mut fails = self.state.clone();
        let mut before = None;
        for item in &list.0 {
            let other = match item.joint {
                Joint::First | Joint::Then => {
                    match before.take() {
                        Some(before) => self.state = before,
                        None => self.state.join(&fails),
                    }
                    // What runs in the background changes nothing here.
                    before = item.background.then(|| self.state.clone());
                    None
                }
                Joint::And => Some(fails),
                Joint::Or => Some(std::mem::replace(&mut self.state, fails)),
            };
            self.item(item);
            fails = match self.failed.take() {
                Some(failed) if !item.negated => failed,
                Some(failed) => {
                    self.state.join(&failed);
                    self.state.clone()
                }
                None => self.state.clone(),
            };
            match (item.joint, other) {
                (Joint::And, Some(other)) => fails.join(&other),
                (Joint::Or, Some(other)) => self.state.join(&other),
                _ => {}
            }
        }
        match before {
            Some(before) => self.state = before,
            None => self.state.join(&fails),
        }
    }

    fn item(&mut self, item: &Item) {
        let mut pushed = 0;
        let link = match item.joint {
            Joint::First => None,
            Joint::Then => Some(Link::Then),
            Joint::And => Some(Link::And),
            Joint::Or => Some(Link::Or),
        };
        if let Some(link) = link {
            self.via.push(Reach::List(link));
            pushed += 1;
        }
        if item.background {
            self.via.push(Reach::Background);
            pushed += 1;
        }
        self.failed = None;
        match item.stages.as_slice() {
            [one] => self.command(one),
            stages => self.pipeline(stages),
        }
        self.via.truncate(self.via.len() - pushed);
    }

    fn pipeline(&mut self, stages: &[Command]) {
        let of = stages.len();
        let mut input = self.input.clone();
        let mut last = None;
        for (position, stage) in stages.iter().enumerate() {
            let is_simple = matches!(stage, Command::Simple(_));
            if position > 0 && !is_simple && matches!(input, Input::Text(_)) {
                input = Input::Dynamic;
            }
            let before = self.state.clone();
            self.output.text = None;
            self.output.wanted = is_simple && position + 1 < of;
            self.under(Reach::Pipeline { position, of }, |walker| {
                walker.fed(input, |walker| walker.command(stage));
            });
            last = Some(std::mem::replace(&mut self.state, before));
            let text = self.output.text.take().filter(|_| is_simple);
            input = text.map_or(Input::Dynamic, Input::Text);
        }
        self.output.wanted = false;
        self.failed = None;
        // Some shells run the last one themselves.
        if let Some(last) = last {
            self.state.join(&last);
        }
    }

    /// What a simple command writes, if that is plain.
    pub(super) fn output_of(
        &self,
        argv: &[Word],
        simple: &SimpleCommand,
        input: Option<&Input>,
    ) -> Option<Word> {
        let elsewhere = simple.redirects.iter().any(|redirect| match redirect {
            Redirect::File { fd, mode, .. } => {
                !matches!((fd, mode), (Some(2), _) | (None | Some(0), FileMode::Read))
            }
            Redirect::HereDocument { fd, .. } | Redirect::HereString { fd, .. } => {
                fd.unwrap_or(0) != 0
            }
            Redirect::Duplicate { .. } | Redirect::Both { .. } => true,
        });
        if elsewhere || self.output.redefined {
            return None;
        }
        let (program, args) = argv.split_first()?;
        match program.literal()? {
            "echo" => echo(args),
            "printf" => printf(args),
            "cat" if args.iter().all(|arg| arg.literal() == Some("-")) && args.len() < 2 => {
                match input.unwrap_or(&self.input) {
                    Input::Text(text) => Some(text.clone()),
                    Input::Inherited | Input::Dynamic | Input::File(_) => None,
                }
            }
            _ => None,
        }
    }

    pub(super) fn compound(&mut self, compound: &Compound) {
        match compound {
            Compound::Arithmetic(parts, place) => self.arithmetic(parts, *place),
            Compound::ArithmeticFor(parts, body, place) => self.looped(|walker| {
                walker.arithmetic(parts, *place);
                walker.under(Reach::Loop, |walker| walker.list(body));
            }),
            Compound::Group(list) => self.under(Reach::Group, |walker| walker.list(list)),
            Compound::Subshell(list) => self.under(Reach::Subshell, |walker| {
                walker.apart(|walker| walker.list(list));
            }),
            Compound::For { variable, words, body } => {
                for raw in words.iter().flatten() {
                    self.expand(raw, Mode::Argument);
                }
                let span = words
                    .iter()
                    .flatten()
                    .next()
                    .map_or_else(Span::default, |raw| self.base.span(raw.place));
                self.variable(variable, None, span);
                self.looped(|walker| walker.under(Reach::Loop, |walker| walker.list(body)));
            }
            Compound::Case { word, branches } => {
                self.expand(word, Mode::Single);
                let mut out = self.state.clone();
                for (patterns, body) in branches {
                    for pattern in patterns {
                        self.expand(pattern, Mode::Single);
                    }
                    // One branch may fall through to the next.
                    self.state.join(&out);
                    if let Some(body) = body {
                        self.under(Reach::Branch, |walker| walker.list(body));
                    }
                    out.join(&self.state);
                }
                self.state = out;
            }
            Compound::If { tests, branches } => {
                let mut states = Vec::with_capacity(tests.len());
                for test in tests {
                    self.under(Reach::Condition, |walker| walker.list(test));
                    states.push(self.state.clone());
                }
                let mut out = self.state.clone();
                for (index, branch) in branches.iter().enumerate() {
                    // The last branch may have no test of its own.
                    if let Some(state) = states.get(index).or(states.last()) {
                        self.state = state.clone();
                    }
                    self.under(Reach::Branch, |walker| walker.list(branch));
                    out.join(&self.state);
                }
                self.state = out;
            }
            Compound::Loop { test, body } => self.looped(|walker| {
                walker.under(Reach::Condition, |walker| walker.list(test));
                walker.under(Reach::Loop, |walker| walker.list(body));
            }),
            Compound::Coprocess(name, command) => {
                if let Some(name) = name {
                    self.coprocess_variable(name);
                }
                self.under(Reach::Coprocess, |walker| {
                    walker.fed(Input::Dynamic, |walker| {
                        walker.apart(|walker| walker.command(command));
                    });
                });
            }
        }
        self.failed = None;
    }

    /// The descriptors of a coprocess are put into a variable of its name.
    fn coprocess_variable(&mut self, name: &crate::grammar::Raw) {
        let span = self.base.span(name.place);
        let name = self.expand(name, Mode::Single).into_one();
        match name.literal() {
            Some(name) if lexer::is_name(name.as_bytes()) => {
                self.unfollowed.insert(name.to_owned());
                self.variable(name, None, span);
            }
            _ => self.unknown(span, UnknownReason::Unsupported, &name.to_string()),
        }
    }

    /// A loop: what is known at its start has to be so each time.
    fn looped(&mut self, inside: impl FnOnce(&mut Self)) {
        if matches!(self.input, Input::Text(_)) {
            return self.fed(Input::Dynamic, |walker| walker.looped(inside));
        }
        self.state.forget();
        let before = self.state.clone();
        let (writes, reads) = (self.out.writes.len(), self.out.reads.len());
        inside(self);
        if self.state.moves != before.moves {
            adrift(self.out.writes.get_mut(writes..));
            adrift(self.out.reads.get_mut(reads..));
            self.state.move_to(Folder::Unknown);
        }
        self.state.join(&before);
        self.state.forget();
    }

    pub(super) fn function(&mut self, function: &Function) {
        let span = self.base.span(function.name.place);
        let name = match self.expand(&function.name, Mode::Single).into_one() {
            Word::Literal(name) => name,
            Word::Pattern(_) => {
                return self.unknown(span, UnknownReason::Unsupported, &function.name.text);
            }
        };
        self.output.redefined |= matches!(name.as_str(), "echo" | "printf" | "cat");
        self.out.notes.push(Note { kind: NoteKind::Function, name: name.clone(), span });
        let (inner, first) = (self.via.len() + 1, self.out.commands.len());
        self.at_any_time(|walker| {
            walker.under(Reach::Function(name.clone()), |walker| {
                // Where it is called decides what it reads.
                walker.fed(Input::Dynamic, |walker| {
                    let (redirections, input) = walker.redirects(&function.redirects);
                    walker.bare_redirections(redirections, &function.redirects);
                    match input {
                        Some(input) => walker.fed(input, |walker| walker.compound(&function.body)),
                        None => walker.compound(&function.body),
                    }
                });
            });
        });
        if self.multiplies(&name, inner, first) {
            self.note(NoteKind::Multiplies, &name, span);
        }
    }

    /// Whether a function whose commands begin at `first` calls itself more than once, and not one
    /// call after the other.
    fn multiplies(&self, name: &str, inner: usize, first: usize) -> bool {
        let body = self.out.commands.iter().skip(first);
        let calls =
            body.filter(|command| command.argv.first().and_then(Word::literal) == Some(name));
        let at_once = |command: &Simple| {
            command
                .via
                .iter()
                .skip(inner)
                .any(|reach| matches!(reach, Reach::Pipeline { .. } | Reach::Background))
        };
        let (count, any) =
            calls.fold((0_usize, false), |(count, any), call| (count + 1, any || at_once(call)));
        count > 1 && any
    }

    /// Code of this shell that may run at any later time, from any folder.
    pub(crate) fn at_any_time(&mut self, inside: impl FnOnce(&mut Self)) {
        let before = self.state.clone();
        self.state.forget();
        self.state.move_to(Folder::Unknown);
        let start: State = self.state.clone();
        inside(self);
        let end = std::mem::replace(&mut self.state, before);
        self.state.after_any_time(&start, &end);
        self.failed = None;
    }
}

/// Marks uses of files before which the folder may have changed.
fn adrift(uses: Option<&mut [FileUse]>) {
    for one in uses.into_iter().flatten() {
        one.elsewhere = true;
    }
}

/// What `echo` writes. Options but `-n`, and backslashes, mean different things to different shells.
fn echo(args: &[Word]) -> Option<Word> {
    let (args, end) = match args.first().and_then(Word::literal) {
        Some("-n") => (args.get(1..)?, ""),
        _ => (args, "\n"),
    };
    if args.first().is_some_and(|arg| arg.known_prefix().starts_with('-')) {
        return None;
    }
    let mut text = Text::default();
    for (at, arg) in args.iter().enumerate() {
        if at > 0 {
            text.push(" ")?;
        }
        if arg.known_prefix().contains('\\') {
            return None;
        }
        text.push_word(arg)?;
    }
    text.push(end)?;
    Some(text.finish())
}

/// What `printf` writes with a format of `%s` and `\n` only.
fn printf(args: &[Word]) -> Option<Word> {
    let args =
        if args.first().and_then(Word::literal) == Some("--") { args.get(1..)? } else { args };
    let (format, args) = args.split_first()?;
    let format = format.literal().filter(|format| !format.starts_with('-'))?;
    let mut args = args.iter();
    let mut text = Text::default();
    loop {
        let left = args.len();
        let mut rest = format;
        while let Some(at) = rest.find(['%', '\\']) {
            text.push(rest.get(..at)?)?;
            match rest.get(at..at + 2)? {
                "%s" => {
                    if let Some(arg) = args.next() {
                        text.push_word(arg)?;
                    }
                }
                "%%" => text.push("%")?,
                "\\n" => text.push("\n")?,
                _ => return None,
            }
            rest = rest.get(at + 2..)?;
        }
        text.push(rest)?;
        // The format is used again for what is left.
        if args.len() == 0 || args.len() == left {
            return Some(text.finish());
        }
    }
}

/// A text of known parts.
#[derive(Default)]
struct Text {
    pieces: Vec<Piece>,
    last: String,
    length: usize,
}

impl Text {
    fn push(&mut self, text: &str) -> Option<()> {
        self.length += text.len();
        self.last.push_str(text);
        (self.length <= limits::MAX_BYTES).then_some(())
    }

    fn push_word(&mut self, word: &Word) -> Option<()> {
        if !word.is_one() {
            return None;
        }
        for piece in word.pieces() {
            match piece {
                Piece::Text(text) => self.push(&text)?,
                Piece::Home => {
                    self.pieces.push(Piece::Text(std::mem::take(&mut self.last)));
                    self.pieces.push(Piece::Home);
                }
                Piece::Glob(_) | Piece::Any | Piece::Below | Piece::Pipe => return None,
            }
        }
        Some(())
    }

    fn finish(mut self) -> Word {
        if self.pieces.is_empty() {
            return Word::Literal(self.last);
        }
        self.pieces.push(Piece::Text(self.last));
        self.pieces.retain(|piece| *piece != Piece::Text(String::new()));
        Word::Pattern(Pattern { pieces: self.pieces, splits: false, none: false })
    }
}
