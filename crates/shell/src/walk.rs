//! Walks a program's tree and collects what it would run.
//!
//! Owns: the way to each command, what feeds its input, substitutions, assignments, redirections,
//! functions, and all limits. Does not own: what a program does with its arguments (`commands`).

use std::cell::Cell;
use std::collections::HashSet;

use crate::analysis::{
    Analysis, Assignment, Note, NoteKind, Reach, Redirection, Simple, Span, Unknown, UnknownReason,
};
use crate::commands;
use crate::expand::{self, Expanded, Hidden, Known, Mode, Sub, SubKind};
use crate::folder::Move;
use crate::grammar::{Assign, Command, Grammar, Place, Raw, SimpleCommand, Test, Value};
use crate::lexer::{self, Refused};
use crate::limits;
use crate::links;
use crate::state::State;
use crate::word::Word;
use crate::written::Written;

mod flow;
mod redirects;
mod uses;

use redirects::redirect_place;

/// What a command finds on its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// Whatever the shell was started with.
    Inherited,
    /// What another command writes, or anything else that is decided at run time.
    Dynamic,
    /// A here-document or here-string.
    Text(Word),
    /// A file.
    File(Word),
}

/// Where the files of a repository are, as far as the line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worktree {
    /// Around the folder that git is started in.
    Around,
    Elsewhere,
}

/// Where a text stands in the line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Base {
    /// The text is a part of the line, from this byte on.
    Exact(usize),
    /// The text was decoded from what stands here.
    Within(Span),
}

impl Base {
    fn span(self, place: Place) -> Span {
        match self {
            Self::Exact(offset) => Span { start: offset + place.start, end: offset + place.end },
            Self::Within(span) => span,
        }
    }
}

/// A program file that is run, to be compared with the files the line writes.
struct RunFile {
    path: Word,
    /// It is run because of its name, as a makefile is.
    by_name: bool,
    span: Span,
    via: Vec<Reach>,
}

/// The state of one analysis.
pub(crate) struct Walker<'g> {
    grammar: &'g dyn Grammar,
    pub(crate) out: Analysis,
    via: Vec<Reach>,
    base: Base,
    depth: usize,
    limit: usize,
    steps: usize,
    /// It nests deeper than `limit`: the result is to be thrown away, or says so.
    pub(crate) too_deep: bool,
    pub(crate) input: Input,
    pub(crate) state: State,
    pub(crate) worktree: Worktree,
    /// What is known if the command just walked failed, where that makes a difference.
    failed: Option<State>,
    /// Variables that are set where the walk does not see it.
    unfollowed: HashSet<String>,
    /// How many bytes of values may still be put into words.
    budget: Cell<usize>,
    output: flow::Output,
    runs: Vec<RunFile>,
    links: Vec<links::Link>,
    /// Arithmetic looks at a variable somewhere.
    arithmetic: bool,
    /// A builtin evaluates subscripts in its arguments.
    evaluates: bool,
    /// Literal text that arithmetic would run a substitution of, and where.
    hidden: (Hidden, Span),
}

impl<'g> Walker<'g> {
    pub(crate) fn new(grammar: &'g dyn Grammar, limit: usize) -> Self {
        Self {
            grammar,
            out: Analysis::default(),
            via: Vec::new(),
            base: Base::Exact(0),
            depth: 0,
            limit,
            steps: 0,
            too_deep: false,
            input: Input::Inherited,
            state: State::default(),
            worktree: Worktree::Around,
            failed: None,
            unfollowed: HashSet::new(),
            budget: Cell::new(limits::MAX_BYTES),
            output: flow::Output::default(),
            runs: Vec::new(),
            links: Vec::new(),
            arithmetic: false,
            evaluates: false,
            hidden: (Hidden::No, Span::default()),
        }
    }

    /// What is only known when everything has been seen.
    pub(crate) fn finish(mut self) -> Analysis {
        let (hidden, span) = self.hidden;
        if (self.arithmetic && hidden >= Hidden::Substitution)
            || (self.evaluates && hidden >= Hidden::Subscript)
        {
            self.unknown(span, UnknownReason::HiddenSubstitution, "");
        }
        links::follow(&self.links, &mut self.out.writes);
        links::follow(&self.links, &mut self.out.reads);
        let runs = std::mem::take(&mut self.runs);
        let written = Written::new(&self.out.writes);
        let unknowns = runs.into_iter().filter(|run| match run.path.literal() {
            Some(path) if run.by_name => written.may_hold_by_name(path),
            _ => written.may_hold(&run.path),
        });
        let unknowns: Vec<Unknown> = unknowns
            .map(|run| Unknown {
                span: run.span,
                reason: UnknownReason::RunsWritten,
                text: run.path.to_string(),
                via: run.via,
            })
            .collect();
        self.out.unknowns.extend(unknowns);
        self.out
    }

    pub(crate) fn unknown(&mut self, span: Span, reason: UnknownReason, text: &str) {
        let mut end = text.len().min(limits::MAX_UNKNOWN_TEXT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.out.unknowns.push(Unknown {
            span,
            reason,
            text: text.get(..end).unwrap_or_default().to_owned(),
            via: self.via.clone(),
        });
    }

    /// Runs `inside` with one more step on the way.
    pub(crate) fn under<T>(&mut self, reach: Reach, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.via.push(reach);
        let out = inside(self);
        self.via.pop();
        out
    }

    /// Runs `inside` with another standard input.
    pub(crate) fn fed<T>(&mut self, input: Input, inside: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.input, input);
        let out = inside(self);
        self.input = before;
        out
    }

    /// Counts work; `false` when the analysis has to stop here.
    pub(crate) fn spend(&mut self, steps: usize, span: Span) -> bool {
        if self.steps > limits::MAX_STEPS {
            return false;
        }
        self.steps = self.steps.saturating_add(steps);
        if self.steps > limits::MAX_STEPS {
            self.unknown(span, UnknownReason::TooManySteps, "");
            return false;
        }
        true
    }

    /// Runs `inside` one level deeper, unless that is too deep.
    pub(crate) fn deeper(&mut self, span: Span, levels: usize, inside: impl FnOnce(&mut Self)) {
        if self.depth + levels > self.limit {
            self.too_deep = true;
            self.unknown(span, UnknownReason::TooDeep, "");
            return;
        }
        self.depth += levels;
        inside(self);
        self.depth -= levels;
    }

    /// Analyses a shell text that stands at `span`, decoded.
    pub(crate) fn code(&mut self, text: &str, span: Span) {
        self.program(text, Base::Within(span), span);
    }

    /// Analyses a shell text.
    pub(crate) fn program(&mut self, text: &str, base: Base, span: Span) {
        if !self.spend(text.len() + 16, span) {
            return;
        }
        if text.len() > limits::MAX_BYTES {
            self.unknown(span, UnknownReason::TooLong, "");
            return;
        }
        if text.contains('\0') {
            self.unknown(span, UnknownReason::OddCharacters, text);
            return;
        }
        let lexed = match lexer::lex(text) {
            Ok(lexed) => lexed,
            Err(refused) => return self.refused(refused, span, text),
        };
        let before = std::mem::replace(&mut self.base, base);
        for (name, start, end) in lexed.descriptors {
            // It is set at a time of its own, so that no value of it is certain.
            self.variable(&name, None, base.span(Place { start, end }));
            self.unfollowed.insert(name);
        }
        self.deeper(span, lexed.depth + 1, |walker| match walker.grammar.parse(lexed.tokens) {
            Some(list) => walker.list(&list),
            None => walker.unknown(span, UnknownReason::Syntax, text),
        });
        self.base = before;
    }

    fn refused(&mut self, refused: Refused, span: Span, text: &str) {
        let reason = match refused {
            Refused::Syntax => UnknownReason::Syntax,
            Refused::TooDeep => UnknownReason::TooDeep,
            Refused::Unsupported => UnknownReason::Unsupported,
        };
        self.unknown(span, reason, text);
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                let (redirections, input) = self.redirects(redirects);
                self.bare_redirections(redirections, redirects);
                match input {
                    Some(input) => self.fed(input, |walker| walker.compound(compound)),
                    None => self.compound(compound),
                }
            }
            Command::Function(function) => self.function(function),
            Command::Test(test, redirects) => {
                let (redirections, _) = self.redirects(redirects);
                self.bare_redirections(redirections, redirects);
                self.test(test);
            }
        }
    }

    fn test(&mut self, test: &Test) {
        if test.arithmetic {
            self.arithmetic = true;
            self.state.forget();
        }
        for raw in &test.words {
            self.expand(raw, Mode::Single);
        }
    }

    fn arithmetic(&mut self, parts: &[String], place: Place) {
        let span = self.base.span(place);
        for part in parts {
            self.arithmetic_text(part, span);
        }
        if self.under_posix_shell() {
            // There `((` opens two subshells.
            for part in parts {
                self.apart(|walker| walker.code(part, span));
            }
        }
    }

    fn under_posix_shell(&self) -> bool {
        self.via.iter().rev().find_map(|reach| match reach {
            Reach::Shell(name) | Reach::HereText(name) => {
                Some(!matches!(name.as_str(), "bash" | "zsh" | "ksh"))
            }
            _ => None,
        }) == Some(true)
    }

    /// Arithmetic of which only the text is known.
    fn arithmetic_text(&mut self, text: &str, span: Span) {
        match expand::expand_arithmetic(text) {
            Ok(expanded) => self.expanded(&expanded, span, None),
            Err(refused) => self.refused(refused, span, text),
        }
    }

    /// Notes that a builtin evaluates subscripts in its arguments.
    pub(crate) fn evaluates(&mut self) {
        self.evaluates = true;
        self.state.forget();
    }

    /// Runs `inside` in a shell or a process of its own: what it sets and where it goes is gone
    /// afterwards.
    pub(crate) fn apart<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.state.clone();
        let out = inside(self);
        self.state = before;
        self.failed = None;
        out
    }

    /// The same in another folder.
    pub(crate) fn apart_in<T>(&mut self, to: &Move, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.apart(|walker| {
            walker.state.folder = walker.state.folder.after(to);
            inside(walker)
        })
    }

    /// The shell changes its folder, if it can.
    pub(crate) fn moves(&mut self, to: &Move) {
        let before = self.state.clone();
        let folder = before.folder.after(to);
        self.state.move_to(folder);
        self.failed = Some(before);
    }

    /// Expands a word, and analyses the substitutions in it.
    fn expand(&mut self, raw: &Raw, mode: Mode) -> Expanded {
        let span = self.base.span(raw.place);
        let known = Known { state: &self.state, budget: &self.budget };
        match expand::expand(&raw.text, mode, &known) {
            Ok(expanded) => {
                let verbatim = raw.text.len() == raw.place.end.saturating_sub(raw.place.start);
                self.expanded(&expanded, span, verbatim.then_some(raw.place.start));
                expanded
            }
            Err(refused) => {
                self.refused(refused, span, &raw.text);
                Expanded { words: vec![Word::anything()], ..Expanded::default() }
            }
        }
    }

    fn expanded(&mut self, expanded: &Expanded, span: Span, start: Option<usize>) {
        if expanded.prompt {
            self.unknown(span, UnknownReason::PromptExpansion, "");
        }
        if expanded.odd {
            self.unknown(span, UnknownReason::OddCharacters, "");
        }
        if expanded.arithmetic {
            self.arithmetic = true;
            // A variable's text may assign to others.
            self.state.forget();
        }
        if expanded.hidden > self.hidden.0 {
            self.hidden = (expanded.hidden, span);
        }
        for name in &expanded.assigned {
            self.variable(name, None, span);
        }
        for sub in &expanded.subs {
            self.substitution(sub, span, start);
        }
    }

    fn substitution(&mut self, sub: &Sub, span: Span, start: Option<usize>) {
        let (reach, input) = match sub.kind {
            SubKind::Command => (Reach::Substitution, self.input.clone()),
            SubKind::Process => (Reach::ProcessSubstitution, Input::Dynamic),
        };
        let (base, span) = match (self.base, start, sub.at) {
            (Base::Exact(offset), Some(start), Some(at)) => {
                let start = offset + start + at;
                (Base::Exact(start), Span { start, end: start + sub.text.len() })
            }
            _ => (Base::Within(span), span),
        };
        self.under(reach, |walker| {
            walker.fed(input, |walker| {
                walker.apart(|walker| walker.program(&sub.text, base, span));
            });
        });
    }

    /// An assignment; one that `stays` is no command's own.
    fn assign(&mut self, assign: &Assign, stays: bool) -> Assignment {
        let span = self.base.span(assign.place);
        if let Some(subscript) = &assign.subscript {
            self.arithmetic_text(subscript, span);
        }
        let value = match &assign.value {
            Value::Scalar(raw) => self.expand(raw, Mode::Assignment).into_one(),
            Value::Array(elements) => {
                for (subscript, element) in elements {
                    if let Some(subscript) = subscript {
                        self.arithmetic_text(&subscript.text, span);
                    }
                    self.expand(element, Mode::Argument);
                }
                Word::anything()
            }
        };
        let before = if assign.appends { self.state.value(&assign.name).cloned() } else { None };
        self.variable(&assign.name, Some(&value), span);
        if stays && assign.subscript.is_none() && matches!(assign.value, Value::Scalar(_)) {
            match (assign.appends, before, &value) {
                (false, _, value) => self.holds(&assign.name, value),
                (true, Some(Word::Literal(before)), Word::Literal(more)) => {
                    self.holds(&assign.name, &Word::Literal(before + more));
                }
                (true, ..) => {}
            }
        }
        Assignment { name: assign.name.clone(), value }
    }

    /// From here on a variable has this value.
    pub(crate) fn holds(&mut self, name: &str, value: &Word) {
        if !self.unfollowed.contains(name) {
            self.state.set(name, Some(value));
        }
    }

    /// What setting a variable means for later commands.
    pub(crate) fn variable(&mut self, name: &str, value: Option<&Word>, span: Span) {
        match name {
            "IFS" => self.state.shift(),
            "HOME" => self.state.forget(),
            "CDPATH" | "PWD" | "cdpath" => self.state.roam(),
            _ => self.state.set(name, None),
        }
        commands::variable(self, name, value, span);
    }

    pub(crate) fn note(&mut self, kind: NoteKind, name: &str, span: Span) {
        self.out.notes.push(Note { kind, name: name.to_owned(), span });
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        let span = self.simple_span(simple);
        if !self.spend(8 + simple.words.len(), span) {
            return;
        }
        let wanted = self.output.is_wanted();
        let stays = simple.words.is_empty() && simple.redirects.is_empty();
        let assignments: Vec<Assignment> =
            simple.assignments.iter().map(|assign| self.assign(assign, stays)).collect();
        let mut argv = Vec::with_capacity(simple.words.len());
        for raw in &simple.words {
            let hidden = self.hidden;
            argv.append(&mut self.expand(raw, Mode::Argument).words);
            // An argument does not get into a variable; only a whole subscript is suspicious.
            if self.hidden.0 == Hidden::Substitution {
                self.hidden = hidden;
            }
        }
        let (redirections, input) = self.redirects(&simple.redirects);
        let text = if wanted && assignments.is_empty() {
            self.output_of(&argv, simple, input.as_ref())
        } else {
            None
        };
        match input {
            Some(input) => self.fed(input, |walker| {
                commands::run(walker, argv, assignments, redirections, span);
            }),
            None => commands::run(self, argv, assignments, redirections, span),
        }
        if wanted {
            self.output.is(text);
        }
    }

    fn simple_span(&self, simple: &SimpleCommand) -> Span {
        let places = simple
            .assignments
            .iter()
            .map(|assign| assign.place)
            .chain(simple.words.iter().map(|raw| raw.place))
            .chain(simple.redirects.iter().map(redirect_place))
            .filter(|place| place.end > 0);
        let mut all: Option<Place> = None;
        for place in places {
            all = Some(all.map_or(place, |all| Place {
                start: all.start.min(place.start),
                end: all.end.max(place.end),
            }));
        }
        self.base.span(all.unwrap_or_default())
    }

    /// Records a command; what it does is the caller's to find out.
    pub(crate) fn record(
        &mut self,
        argv: Vec<Word>,
        assignments: Vec<Assignment>,
        redirections: Vec<Redirection>,
        span: Span,
    ) {
        let via = self.via.clone();
        self.out.commands.push(Simple { argv, assignments, redirections, span, via });
    }
}
