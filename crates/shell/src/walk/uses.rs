//! The files that a line uses, as they are found on the walk.
//!
//! Owns: how a use, a link and a file that is run by its path are noted, and how many. Does not own: which
//! programs use what (`effects`), and what a link leads to (`links`).

use crate::analysis::{By, FileUse, Reach, Span};
use crate::folder::Folder;
use crate::word::Word;
use crate::{limits, links};

use super::{RunFile, Walker};

impl Walker<'_> {
    /// Whether what runs here runs on another machine.
    pub(crate) fn is_remote(&self) -> bool {
        self.via.iter().any(|reach| matches!(reach, Reach::Remote(_)))
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "whoever uses a file makes this for the call alone"
    )]
    pub(crate) fn writes(&mut self, path: Word, by: By, span: Span) {
        if !self.is_remote() && !path.is_pipe() && self.out.writes.len() <= limits::MAX_FILES {
            let out = &mut self.out.writes;
            self.state.folder.paths(path, |path, elsewhere| {
                add_use(out, FileUse { path, elsewhere, by: by.clone(), span });
            });
        }
    }

    pub(crate) fn reads(&mut self, path: Word, by: By, span: Span) {
        if !self.is_remote() && !path.is_pipe() && self.out.reads.len() <= limits::MAX_FILES {
            let out = &mut self.out.reads;
            if self.state.folder == Folder::Inside {
                return add_use(out, FileUse { path, elsewhere: false, by, span });
            }
            self.state.folder.paths(path, |path, elsewhere| {
                add_use(out, FileUse { path, elsewhere, by: by.clone(), span });
            });
        }
    }

    /// A later use of `path`, or of a path below it, is one of `target`.
    pub(crate) fn links(&mut self, target: Word, path: Word, span: Span) {
        // One more than can be followed says that there are too many.
        if self.is_remote() || self.links.len() > links::MAX_LINKS {
            return;
        }
        let folder = &self.state.folder;
        let (mut targets, mut paths) = (vec![target.clone()], Vec::new());
        let any = |path, elsewhere| if elsewhere { Word::one_of_any_text() } else { path };
        folder.paths(target, |target, elsewhere| targets.push(any(target, elsewhere)));
        folder.paths(path, |path, elsewhere| paths.push(any(path, elsewhere)));
        targets.dedup();
        for path in &paths {
            let links = targets.iter().map(|target| links::Link {
                target: target.clone(),
                path: path.clone(),
                span,
            });
            self.links.extend(links);
        }
    }

    /// A file that a program runs because of its name, such as a makefile.
    pub(crate) fn runs_named(&mut self, name: &str, span: Span) {
        self.runs(&Word::Literal(name.to_owned()), true, span);
    }

    /// A program or script file that is run by its path.
    pub(crate) fn runs_file(&mut self, path: &Word, span: Span) {
        self.runs(path, false, span);
    }

    fn runs(&mut self, path: &Word, by_name: bool, span: Span) {
        // The repository's own hooks and settings have a name of their own.
        let here = Folder::Here;
        let folder = if path.literal() == Some(".git") { &here } else { &self.state.folder };
        let (runs, via) = (&mut self.runs, &self.via);
        folder.paths(path.clone(), |path, _| {
            runs.push(RunFile { path, by_name, span, via: via.clone() });
        });
    }
}

/// Adds a use. One more than the most stands for the use of any file, and there are none behind it.
fn add_use(files: &mut Vec<FileUse>, mut file: FileUse) {
    if files.len() >= limits::MAX_FILES {
        if files.len() > limits::MAX_FILES {
            return;
        }
        file.path = Word::one_of_any_text();
    }
    files.push(file);
}
