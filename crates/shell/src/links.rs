//! Links that a line makes and then uses.
//!
//! Owns: which file a path below such a link is. Does not own: who makes a link (`effects`), links
//! that were there before: whoever resolves paths knows them.

use std::collections::HashSet;

use crate::analysis::{By, FileUse, Span};
use crate::effects::joined;
use crate::word::{Piece, Word};
use crate::written::normal;

/// More links, or more uses through them, are taken for a use of any file.
pub(crate) const MAX_LINKS: usize = 32;
const MAX_ADDED: usize = 256;
/// A path that has become longer than this by links that lead through each other, in bytes, is one of
/// any file.
const MAX_PATH: usize = 4096;
/// After so many comparisons a use is taken for one of any file.
const MAX_COMPARED: usize = 1 << 16;

/// A link that the line makes.
pub(crate) struct Link {
    pub(crate) target: Word,
    pub(crate) path: Word,
    pub(crate) span: Span,
}

/// Programs that use a link itself and not the file behind it, where it is named as it is.
const NOT_FOLLOWING: &[&str] = &["rm", "unlink", "ln", "link", "readlink"];

/// Adds the files behind the links to the files that are used by them.
pub(crate) fn follow(links: &[Link], files: &mut Vec<FileUse>) {
    if links.is_empty() {
        return;
    }
    if links.len() > MAX_LINKS {
        // Which they all are is not known, so whatever another command uses may be any file.
        let other = |file: &&FileUse| links.iter().any(|link| link.span != file.span);
        if let Some(file) = files.iter().find(other).cloned() {
            files.push(FileUse { path: Word::one_of_any_text(), ..file });
        }
        return;
    }
    let links: Vec<Known> = links.iter().map(Known::of).collect();
    let mut seen: HashSet<String> = HashSet::new();
    let mut at = 0;
    let mut added = 0;
    let mut compared = 0;
    while let Some(file) = files.get(at).cloned() {
        at += 1;
        let mut more = Vec::new();
        compared += links.len();
        if compared > MAX_COMPARED {
            more.push(Word::one_of_any_text());
        }
        for link in links.iter().filter(|_| compared <= MAX_COMPARED) {
            if link.span != file.span {
                link.reach(&file, &mut more);
            }
        }
        for path in more {
            let text = path.to_string();
            let long = text.len() > MAX_PATH;
            if !seen.insert(text) {
                continue;
            }
            added += 1;
            let over = long || added > MAX_ADDED || compared > MAX_COMPARED;
            let path = if over { Word::one_of_any_text() } else { path };
            files.push(FileUse {
                path,
                elsewhere: file.elsewhere,
                by: file.by.clone(),
                span: file.span,
            });
            if over {
                return;
            }
        }
    }
}

struct Known<'a> {
    target: &'a Word,
    /// The path of the link in normal form; `None` if it is decided at run time.
    path: Option<String>,
    span: Span,
}

impl<'a> Known<'a> {
    fn of(link: &'a Link) -> Self {
        let path = link.path.shell_text().map(|path| normal(&path).into_owned());
        Self { target: &link.target, path, span: link.span }
    }

    /// The files that a use of this path may be, if it may lead through the link.
    fn reach(&self, file: &FileUse, out: &mut Vec<Word>) {
        let Some(link) = &self.path else {
            return out.push(Word::one_of_any_text());
        };
        // A path that is not known is any file already.
        let Some(path) = file.path.shell_text() else {
            if !file.path.known_prefix().is_empty() {
                out.push(Word::one_of_any_text());
            }
            return;
        };
        let path = normal(&path);
        let Some(rest) = behind(&path, link) else { return };
        let itself =
            matches!(&file.by, By::Program(name) if NOT_FOLLOWING.contains(&name.as_str()));
        if rest.is_empty() && itself {
            return;
        }
        let Some(target) = self.target.shell_text() else {
            return out.push(Word::one_of_any_text());
        };
        let tail = || [Piece::Text(rest.to_owned())];
        out.push(joined(self.target.pieces().into_iter().chain(tail())));
        // The target of a symbolic link is relative to where the link is.
        if let Some((folder, _)) = link.rsplit_once('/')
            && !target.starts_with(['/', '$'])
        {
            let folder = Piece::Text(format!("{folder}/"));
            out.push(joined([folder].into_iter().chain(self.target.pieces()).chain(tail())));
        }
    }
}

/// What is behind the link in a path that leads through it. Where one of them is relative, it may
/// begin anywhere.
fn behind<'a>(path: &'a str, link: &str) -> Option<&'a str> {
    let after = |rest: &'a str| (rest.is_empty() || rest.starts_with('/')).then_some(rest);
    if let Some(rest) = path.strip_prefix(link).and_then(after) {
        return Some(rest);
    }
    let rooted = |text: &str| text.starts_with(['/', '$']);
    match (rooted(path), rooted(link)) {
        (true, false) => {
            let link = format!("/{link}");
            path.match_indices(&link).find_map(|(at, _)| after(path.get(at + link.len()..)?))
        }
        (false, true) => {
            // The path may continue the folder that the link is in.
            let mut end = path.len();
            loop {
                let head = path.get(..end)?;
                if link.strip_suffix(head).is_some_and(|folder| folder.ends_with('/')) {
                    return path.get(end..);
                }
                end = head.rfind('/')?;
            }
        }
        _ => None,
    }
}
