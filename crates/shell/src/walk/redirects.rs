//! Redirections: what they write and read, and what they put on the standard input.

use super::{Input, Walker};
use crate::analysis::{By, Redirection, RedirectionKind, Simple};
use crate::expand::{Mode, SubKind};
use crate::grammar::{Mode as FileMode, Place, Redirect};
use crate::word::Word;

impl Walker<'_> {
    /// The redirections of a command, and its standard input if they set it.
    pub(super) fn redirects(
        &mut self,
        redirects: &[Redirect],
    ) -> (Vec<Redirection>, Option<Input>) {
        let mut out = Vec::with_capacity(redirects.len());
        let mut input = None;
        for redirect in redirects {
            let span = self.base.span(redirect_place(redirect));
            match redirect {
                Redirect::File { fd, mode, target } => {
                    let subs = self.expand(target, Mode::Argument);
                    let process = subs.subs.iter().any(|sub| sub.kind == SubKind::Process);
                    let word = subs.into_one();
                    let kind = match mode {
                        FileMode::Read => RedirectionKind::Read,
                        FileMode::Write => RedirectionKind::Write,
                        FileMode::Append => RedirectionKind::Append,
                        FileMode::ReadWrite => RedirectionKind::ReadWrite,
                    };
                    if !process {
                        if !matches!(mode, FileMode::Read) {
                            self.writes(word.clone(), By::Redirection, span);
                        }
                        if matches!(mode, FileMode::Read | FileMode::ReadWrite) {
                            self.reads(word.clone(), By::Redirection, span);
                        }
                    }
                    if matches!(mode, FileMode::Read | FileMode::ReadWrite) && fd.unwrap_or(0) == 0
                    {
                        input =
                            Some(if process { Input::Dynamic } else { Input::File(word.clone()) });
                    }
                    out.push(Redirection { kind, target: word });
                }
                Redirect::Duplicate { fd, output, target } => {
                    let word = self.expand(target, Mode::Argument).into_one();
                    let is_descriptor = word.literal().is_some_and(|text| {
                        let digits = text.strip_suffix('-').unwrap_or(text);
                        digits.bytes().all(|byte| byte.is_ascii_digit())
                    });
                    // `>&file` writes a file; `>&$fd` may.
                    if *output && !is_descriptor {
                        self.writes(word.clone(), By::Redirection, span);
                    }
                    if *fd == Some(0) || (fd.is_none() && !*output) {
                        input = Some(Input::Dynamic);
                    }
                    out.push(Redirection { kind: RedirectionKind::Duplicate, target: word });
                }
                Redirect::HereDocument { fd, expands, body } => {
                    let word = if *expands {
                        self.expand(body, Mode::Body).into_one()
                    } else {
                        Word::Literal(body.text.clone())
                    };
                    if fd.unwrap_or(0) == 0 {
                        input = Some(Input::Text(word.clone()));
                    }
                    out.push(Redirection { kind: RedirectionKind::Here, target: word });
                }
                Redirect::HereString { fd, word } => {
                    let word = self.expand(word, Mode::Assignment).into_one();
                    if fd.unwrap_or(0) == 0 {
                        input = Some(Input::Text(word.clone()));
                    }
                    out.push(Redirection { kind: RedirectionKind::Here, target: word });
                }
                Redirect::Both { target, append } => {
                    let word = self.expand(target, Mode::Argument).into_one();
                    self.writes(word.clone(), By::Redirection, span);
                    let kind =
                        if *append { RedirectionKind::Append } else { RedirectionKind::Write };
                    out.push(Redirection { kind, target: word });
                }
            }
        }
        (out, input)
    }

    /// Redirections of a compound command belong to no simple command; what they write is noted
    /// by `redirects` already.
    pub(super) fn bare_redirections(
        &mut self,
        redirections: Vec<Redirection>,
        redirects: &[Redirect],
    ) {
        let span = redirects.first().map(|first| self.base.span(redirect_place(first)));
        if let Some(span) = span
            && !redirections.is_empty()
        {
            self.out.commands.push(Simple {
                argv: Vec::new(),
                assignments: Vec::new(),
                redirections,
                span,
                via: self.via.clone(),
            });
        }
    }
}

pub(super) fn redirect_place(redirect: &Redirect) -> Place {
    match redirect {
        Redirect::File { target, .. }
        | Redirect::Duplicate { target, .. }
        | Redirect::Both { target, .. } => target.place,
        Redirect::HereDocument { body, .. } => body.place,
        Redirect::HereString { word, .. } => word.place,
    }
}
