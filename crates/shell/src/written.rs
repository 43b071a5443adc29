//! Whether a line runs what it writes.
//!
//! Owns: which writes count, and when two paths may name one file. Does not own: who writes and who
//! runs.

use std::collections::HashSet;

use crate::analysis::{By, FileUse};
use crate::matching::may_be_equal;
use crate::word::Word;

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
];

/// The files a line fills.
pub(crate) struct Written<'a> {
    known: HashSet<&'a str>,
    patterns: Vec<&'a FileUse>,
    repository: bool,
}

impl<'a> Written<'a> {
    pub(crate) fn new(writes: &'a [FileUse]) -> Self {
        let mut out = Self { known: HashSet::new(), patterns: Vec::new(), repository: false };
        for write in writes {
            if matches!(&write.by, By::Program(name) if NOT_FILLING.contains(&name.as_str())) {
                continue;
            }
            out.repository |= write.path.known_prefix().contains(".git/");
            match write.path.literal() {
                Some(path) => {
                    out.known.insert(without_dots(path));
                }
                None => out.patterns.push(write),
            }
        }
        out
    }

    /// Whether a file that is run may be one of them. A run path of `.git` stands for the
    /// repository's own hooks and settings.
    pub(crate) fn may_hold(&self, run: &Word) -> bool {
        if self.patterns.len() > MAX_PATTERNS {
            return true;
        }
        match run.literal() {
            Some(".git") => return self.repository,
            Some(path) if self.known.contains(without_dots(path)) => return true,
            Some(_) => {}
            None => {
                if self.known.len() > MAX_PATTERNS {
                    return true;
                }
                let known = self.known.iter().map(|path| Word::Literal((*path).to_owned()));
                if known.into_iter().any(|path| same_file(&path, run)) {
                    return true;
                }
            }
        }
        self.patterns.iter().any(|write| fills(write, run) && same_file(&write.path, run))
    }
}

/// Whether a write to a path that is decided at run time is to be taken for the run file.
fn fills(write: &FileUse, run: &Word) -> bool {
    if !write.path.known_prefix().is_empty() {
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
    let bare = |word: &Word| {
        let prefix = word.known_prefix();
        word.without_prefix(prefix.len() - without_dots(prefix).len())
    };
    may_be_equal(&bare(left), &bare(right))
}

/// The path without `./` in front.
fn without_dots(mut path: &str) -> &str {
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    path
}
