//! Whether a line runs what it writes.
//!
//! Owns: which writes count, and when two paths may name one file. Does not own: who writes and who
//! runs.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::analysis::{By, FileUse};
use crate::effects::joined;
use crate::matching::may_be_equal;
use crate::word::{Piece, Word};

/// Longer paths are not compared where a part is decided at run time: they may be equal.
const MAX_COMPARED: usize = 4096;

/// More pairs than this are not compared.
const MAX_PATTERNS: usize = 64;

/// Programs that change a file without deciding what a shell would find in it.
const NOT_FILLING: &[&str] = &[
    "rm",
    "rmdir",
    "unlink",
    "mkdir",
    "mkfifo",
    "mknod",
    "srm",
    "trash",
    "rimraf",
    "touch",
    "truncate",
    "shred",
    "fallocate",
    "chmod",
    "chown",
    "chgrp",
    "chattr",
    "setfacl",
    "xattr",
    "find",
    "gfind",
    // What is compiled comes from files that were there, as for `make`.
    "gcc",
    "g++",
    "cc",
    "c++",
    "clang",
    "clang++",
    "ld",
    "rustc",
    "go",
    "javac",
];

/// Programs that fill a whole folder, with files that the line does not name.
const UNPACKING: &[&str] =
    &["tar", "gtar", "bsdtar", "unzip", "7z", "7za", "7zz", "unrar", "cpio", "git"];

/// The files a line fills.
pub(crate) struct Written<'a> {
    known: HashSet<Cow<'a, str>>,
    patterns: Vec<&'a FileUse>,
    /// Folders of which every file may be one of them; an empty one is the current one.
    folders: HashSet<Cow<'a, str>>,
    repository: bool,
}

impl<'a> Written<'a> {
    pub(crate) fn new(writes: &'a [FileUse]) -> Self {
        let mut out = Self {
            known: HashSet::new(),
            patterns: Vec::new(),
            folders: HashSet::new(),
            repository: false,
        };
        for write in writes {
            if matches!(&write.by, By::Program(name) if NOT_FILLING.contains(&name.as_str())) {
                continue;
            }
            out.repository |= write.path.known_prefix().contains(".git/");
            let unpacks = match &write.by {
                By::Program(name) => UNPACKING.contains(&name.as_str()).then_some(name.as_str()),
                By::Redirection => None,
            };
            match (write.path.literal(), unpacks) {
                (Some(path), unpacks) => {
                    out.known.insert(normal(path));
                    if unpacks.is_some() {
                        out.folders.insert(normal(path));
                    }
                }
                // A pull changes what was there before; an archive is new.
                (None, Some(program)) if program != "git" => {
                    out.folders.insert(Cow::Borrowed(""));
                    out.patterns.push(write);
                }
                (None, _) => out.patterns.push(write),
            }
        }
        out
    }

    /// Whether a file that a program runs because of its name, such as a makefile, may be one of
    /// them. Only a write that says where it goes counts.
    pub(crate) fn may_hold_by_name(&self, run: &str) -> bool {
        let run = Word::Literal(run.to_owned());
        let named =
            |write: &&&FileUse| !write.path.known_prefix().is_empty() && !write.path.is_below();
        let mut patterns = self.patterns.iter().filter(named);
        run.literal().is_some_and(|path| self.known.contains(path))
            || patterns.any(|write| same_file(&write.path, &run))
    }

    /// Whether a file that is run may be one of them. A run path of `.git` stands for the
    /// repository's own hooks and settings.
    pub(crate) fn may_hold(&self, run: &Word) -> bool {
        if self.patterns.len() > MAX_PATTERNS {
            return true;
        }
        match run.literal() {
            Some(".git") => return self.repository,
            Some(path) if self.known.contains(&*normal(path)) => return true,
            Some(path) if self.unpacked(&normal(path)) => return true,
            Some(_) => {}
            None => {
                if self.known.len() > MAX_PATTERNS {
                    return true;
                }
                let known = self.known.iter().map(|path| Word::Literal(path.clone().into_owned()));
                if known.into_iter().any(|path| same_file(&path, run)) {
                    return true;
                }
            }
        }
        self.patterns.iter().any(|write| fills(write, run) && same_file(&write.path, run))
    }
}

impl Written<'_> {
    /// Whether a path is below a folder that is filled.
    fn unpacked(&self, path: &str) -> bool {
        let rooted = path.starts_with('/');
        let above = path.match_indices('/').map(|(at, _)| path.get(..at).unwrap_or_default());
        above.into_iter().any(|folder| !folder.is_empty() && self.folders.contains(folder))
            || (!rooted && path.contains('/') && self.folders.contains(""))
    }
}

/// Whether a write to a path that is decided at run time is to be taken for the run file.
fn fills(write: &FileUse, run: &Word) -> bool {
    if !write.path.known_prefix().is_empty() && !write.path.is_below() {
        return true;
    }
    // Such a path is hardly in a folder of the system, and checking out or unpacking fills a folder
    // as any earlier command may have.
    let named = match &write.by {
        By::Redirection => true,
        By::Program(name) => {
            matches!(name.as_str(), "tee" | "cp" | "mv" | "curl" | "wget" | "dd" | "install")
        }
    };
    named && !is_system_path(run)
}

fn is_system_path(path: &Word) -> bool {
    ["/bin/", "/sbin/", "/usr/", "/opt/", "/nix/", "/lib", "/snap/"]
        .iter()
        .any(|folder| path.known_prefix().starts_with(folder))
}

fn same_file(left: &Word, right: &Word) -> bool {
    let long = |word: &Word| word.to_string().len() > MAX_COMPARED;
    if long(left) || long(right) {
        return true;
    }
    may_be_equal(&normal_word(left), &normal_word(right))
}

/// A path without `.`, doubled slashes and `x/..`, as far as its text tells. Links are not looked
/// at.
pub(crate) fn normal(path: &str) -> Cow<'_, str> {
    let plain = !path.split('/').skip(1).any(|part| matches!(part, "" | "." | ".."))
        && !path.starts_with("./");
    if plain || path == "/" {
        return Cow::Borrowed(path);
    }
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." => {
                    parts.pop();
                }
                _ if rooted => {}
                _ => parts.push(part),
            },
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    Cow::Owned(if rooted { format!("/{joined}") } else { joined })
}

/// The normal form of the literal text a word begins with: up to its last slash, so that what is
/// decided at run time stays behind it.
fn normal_word(word: &Word) -> Cow<'_, Word> {
    let prefix = word.known_prefix();
    let Some(at) = prefix.rfind('/') else { return Cow::Borrowed(word) };
    let (folder, _) = prefix.split_at(at);
    let mut clean = normal(folder).into_owned();
    if clean == folder && !matches!(folder, "" | "/") {
        return Cow::Borrowed(word);
    }
    // `./x` is `x`; `/x` stays.
    let slash = usize::from(clean.is_empty() && !folder.is_empty());
    if clean == "/" {
        clean.clear();
    }
    let rest = word.without_prefix(at + slash);
    let pieces = [Piece::Text(clean)].into_iter().chain(rest.pieces());
    Cow::Owned(joined(pieces.filter(|piece| *piece != Piece::Text(String::new()))))
}
