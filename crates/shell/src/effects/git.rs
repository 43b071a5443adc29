//! Files that `git` writes and reads by its arguments.
//!
//! Owns: its subcommands, and the folder it is sent to. Does not own: what it starts (`crate::git`).

use super::reader::{Found, Operands, Role, Spec, read};
use super::{Uses, below_folder, has_extension, inside, joined, looks_like_path};
use crate::walk::Worktree;
use crate::word::Word;
use Role::{Edit, Note, Read as In, Stands, StandsRead, Value, Write as Out};

/// Whatever takes options of a difference takes this one.
const PLAIN: Spec = Spec::of(Operands::None).long(&[("output", Out)]);
const MARKS: Spec =
    PLAIN.long(&[("export-marks", Out), ("import-marks import-marks-if-exists", In)]);
const STORE: Spec = PLAIN.long(&[("file", Edit)]);
const INDEX_PACK: Spec = PLAIN.short(&[("o", Out)]);
const MAIL: Spec = PLAIN.short(&[("o", Role::Folder)]);
const MERGE_FILE: Spec = PLAIN
    .short(&[("p", Note('p')), ("L", Value)])
    .long(&[("stdout", Note('p')), ("marker-size diff-algorithm", Value)]);
const TRAILERS: Spec =
    PLAIN.long(&[("in-place", Note('i')), ("trailer where if-exists if-missing", Value)]);
const READ_TREE: Spec =
    PLAIN.short(&[("u", Note('u'))]).long(&[("prefix index-output exclude-per-directory", Value)]);
const CHECKOUT: Spec = PLAIN.short(&[("bB", Note('b'))]).long(&[
    ("orphan", Note('b')),
    ("pathspec-from-file", In),
    ("conflict", Value),
]);
const RESTORE: Spec = PLAIN
    .short(&[("se", Value)])
    .long(&[("source exclude conflict", Value), ("pathspec-from-file", In)]);
const CLONE: Spec = PLAIN.short(&[("boujc", Value)]).long(&[
    ("separate-git-dir", Out),
    ("template reference reference-if-able", In),
    ("branch origin upload-pack config depth jobs filter initial-branch", Value),
]);
const LOG: Spec = PLAIN.short(&[("SGnUlCM", Value), ("O", In)]).long(&[
    ("output", Out),
    ("no-index", Note('n')),
    ("author since until grep format pretty max-count after before", Value),
]);
const PATCHES: Spec = PLAIN.short(&[("o", Out), ("nv", Value)]).long(&[
    ("output output-directory", Out),
    ("signature-file description-file", In),
    ("subject-prefix cover-letter base to cc suffix", Value),
]);
const ARCHIVE: Spec = PLAIN.short(&[("o", Out)]).long(&[
    ("output output-directory", Out),
    ("add-file", In),
    ("prefix format remote", Value),
]);
const GREP: Spec = PLAIN
    .skip(1)
    .short(&[("e", Stands), ("f", StandsRead), ("ABCm", Value)])
    .long(&[("max-depth threads context max-count", Value)]);
const COMMIT: Spec = PLAIN.short(&[("mcC", Value), ("Ft", In), ("uS", Value)]).long(&[
    ("message author date cleanup fixup squash trailer reuse-message reedit-message", Value),
    ("file template pathspec-from-file", In),
    ("output", Out),
]);
const ADD: Spec = PLAIN.long(&[("pathspec-from-file", In), ("chmod cacheinfo", Value)]);
const CONFIG: Spec = PLAIN.short(&[("f", Edit)]).long(&[("file", Edit), ("default type", Value)]);
const BLAME: Spec = PLAIN.short(&[("LMC", Value), ("S", In)]).long(&[
    ("contents ignore-revs-file", In),
    ("output", Out),
    ("since", Value),
]);

/// What is written and read below a folder.
struct Folder<'u, 'w, 'g> {
    uses: &'u mut Uses<'w, 'g>,
    base: Option<Word>,
    /// Its files may be elsewhere than around this folder.
    astray: bool,
}

impl Folder<'_, '_, '_> {
    fn at(&self, path: &Word) -> Word {
        self.base.as_ref().map_or_else(|| path.clone(), |base| inside(base, path))
    }

    fn write<'a>(&mut self, paths: impl IntoIterator<Item = &'a Word>) {
        for path in paths {
            let path = self.at(path);
            self.uses.write(&path);
        }
    }

    /// Any file of the repository, which is around this folder. Core knows what that means.
    fn write_tree(&mut self) {
        let here = self.base.clone().unwrap_or_else(|| Word::Literal(".".to_owned()));
        match below_folder(&here).filter(|_| !self.astray) {
            Some(path) => self.uses.write(&path),
            None => self.uses.write_any(),
        }
    }

    fn read<'a>(&mut self, paths: impl IntoIterator<Item = &'a Word>) {
        for path in paths {
            let path = self.at(path);
            self.uses.read(&path);
        }
    }

    /// Operands that may be revisions; `revision:path` reads the path.
    fn guess<'a>(&mut self, words: impl IntoIterator<Item = &'a Word>) {
        for word in words {
            if let Some(at) = word.known_prefix().rfind(':') {
                self.read([&word.without_prefix(at + 1)]);
            } else if looks_like_path(word) {
                self.read([word]);
            }
        }
    }

    fn values(&mut self, found: &Found<'_>) {
        for (role, value) in &found.values {
            if matches!(role, Out | Edit) {
                self.write([value.as_ref()]);
            }
            if matches!(role, In | Edit | StandsRead) {
                self.read([value.as_ref()]);
            }
        }
    }
}

pub(super) fn uses(uses: &mut Uses<'_, '_>, args: &[Word]) {
    let astray = uses.walker.worktree == Worktree::Elsewhere;
    let mut git = Folder { uses, base: None, astray };
    let mut at = 0;
    while let Some(arg) = args.get(at).filter(|arg| arg.known_prefix().starts_with('-')) {
        let value = args.get(at + 1);
        let text = arg.known_prefix();
        at += 1;
        match arg.literal() {
            Some("-C") => {
                git.base = value.map(|folder| git.at(folder));
                at += 1;
            }
            Some("--work-tree") => {
                git.astray = true;
                git.base = value.map(|folder| git.at(folder));
                at += 1;
            }
            Some("-c") => {
                git.astray |= value.is_none_or(|value| value.literal().is_none_or(names_worktree));
                at += 1;
            }
            Some("--no-pager" | "-P" | "-p" | "--paginate" | "--no-optional-locks") => {}
            Some("--git-dir" | "--namespace" | "--super-prefix" | "--attr-source") => {
                git.astray = true;
                at += 1;
            }
            _ => {
                git.astray = true;
                if text.starts_with("--work-tree=") {
                    git.base = Some(git.at(&arg.without_prefix("--work-tree=".len())));
                }
            }
        }
    }
    let Some(verb) = args.get(at).and_then(Word::literal) else { return };
    let rest = args.get(at + 1..).unwrap_or_default();
    let dashes = rest.iter().position(|arg| arg.literal() == Some("--"));
    let (front, behind) = rest.split_at(dashes.unwrap_or(rest.len()));
    let paths = behind.get(1..).unwrap_or_default();
    let spec = match verb {
        "checkout" => CHECKOUT,
        "restore" | "rm" | "clean" => RESTORE,
        "clone" | "init" => CLONE,
        "diff" | "log" | "show" | "whatchanged" | "difftool" | "diff-tree" | "diff-index"
        | "shortlog" => LOG,
        "format-patch" | "bugreport" | "diagnose" => PATCHES,
        "archive" => ARCHIVE,
        "grep" => GREP,
        "commit" | "tag" | "notes" | "merge" | "stash" => COMMIT,
        "add" | "stage" | "hash-object" | "update-index" => ADD,
        "config" => CONFIG,
        "blame" | "annotate" => BLAME,
        "fast-export" | "fast-import" => MARKS,
        "credential-store" => STORE,
        "index-pack" => INDEX_PACK,
        "mailsplit" => MAIL,
        "merge-file" => MERGE_FILE,
        "interpret-trailers" => TRAILERS,
        "read-tree" => READ_TREE,
        "checkout-index" => PLAIN.long(&[("prefix", Role::Folder), ("stage", Value)]),
        _ => PLAIN,
    };
    let found = read(&spec, front);
    git.values(&found);
    subcommand(&mut git, verb, &found, rest, paths);
}

fn subcommand(
    git: &mut Folder<'_, '_, '_>,
    verb: &str,
    found: &Found<'_>,
    rest: &[Word],
    paths: &[Word],
) {
    let operands = &found.operands;
    let first = operands.first().and_then(|word| word.literal()).unwrap_or_default();
    match verb {
        "checkout" => {
            // Without `--`, a branch or files: a branch before other words, or what looks like one. A
            // new branch changes no file.
            if paths.is_empty() && !found.has('b') {
                match operands.as_slice() {
                    [one] => git.write(Some(*one).filter(|word| looks_like_file(word))),
                    [first, rest @ ..] => {
                        git.write(Some(*first).filter(|word| looks_like_file(word)));
                        git.write(rest.iter().copied());
                    }
                    [] => {}
                }
            }
            git.write(paths);
        }
        "restore" | "rm" | "clean" => git.write(operands.iter().copied().chain(paths)),
        "unpack-file" => git.uses.write_any(),
        "read-tree" if found.has('u') => git.write_tree(),
        "merge-file" => {
            if !found.has('p') {
                git.write(operands.first().copied());
            }
            git.read(operands.iter().copied());
        }
        "interpret-trailers" => {
            if found.has('i') {
                git.write(operands.iter().copied().chain(paths));
            }
            git.read(operands.iter().copied().chain(paths));
        }
        "mv" => super::special::copy_in(git.uses, git.base.as_ref(), operands, paths),
        "clone" => {
            let all: Vec<&Word> = operands.iter().copied().chain(paths).collect();
            git.guess(all.first().copied().filter(|word| looks_like_path(word)));
            match all.as_slice() {
                [_, folder, ..] => git.write([*folder]),
                [address] => {
                    let name = address.literal().map(|text| {
                        let text = text.trim_end_matches('/');
                        let name = text.rsplit(['/', ':']).next().unwrap_or(text);
                        Word::Literal(name.strip_suffix(".git").unwrap_or(name).to_owned())
                    });
                    git.write([&name.unwrap_or_else(Word::one_of_any_text)]);
                }
                [] => {}
            }
        }
        "init" | "mailinfo" | "pack-objects" => git.write(operands.iter().copied()),
        "worktree" if matches!(first, "add" | "remove" | "move") => {
            let count = if first == "move" { 2 } else { 1 };
            let found = read(&WORKTREE, rest);
            git.write(found.operands.into_iter().skip(1).take(count));
        }
        "submodule" if first == "add" => git.write(operands.iter().copied().skip(2)),
        "bundle" if first == "create" => git.write(operands.get(1).copied()),
        "bundle" => git.read(operands.get(1).copied()),
        "checkout-index" => {
            for prefix in found.of(Role::Folder) {
                git.write([prefix]);
                let any = Word::one_of_any_text();
                git.write([&joined(prefix.pieces().into_iter().chain(any.pieces()))]);
            }
            git.write(operands.iter().copied().chain(paths));
        }
        "diff" if found.has('n') => git.read(operands.iter().copied().chain(paths)),
        "blame" | "annotate" | "add" | "stage" | "hash-object" | "update-index" => {
            git.read(operands.iter().copied().chain(paths));
        }
        "diff" | "log" | "show" | "whatchanged" | "difftool" | "diff-tree" | "diff-index"
        | "shortlog" | "cat-file" | "format-patch" | "archive" | "commit" => {
            git.guess(operands.iter().copied());
            git.read(paths);
        }
        "grep" => {
            git.guess(found.files(&GREP).iter().copied());
            git.read(paths);
        }
        "apply" | "am" => {
            git.read(operands.iter().copied().chain(paths));
            if !only_looks(rest) {
                git.write_tree();
            }
        }
        "cherry-pick" | "merge" | "pull" | "rebase" | "reset" | "stash" | "switch"
            if !only_looks(rest) =>
        {
            git.write_tree();
        }
        _ => {}
    }
}

const WORKTREE: Spec =
    PLAIN.short(&[("bB", Value)]).long(&[("reason", Value), ("orphan", Role::Flag)]);

/// Branches that are hardly the name of a file.
/// Whether an operand is a file rather than a branch, as far as a name can tell.
fn looks_like_file(word: &Word) -> bool {
    word.literal().is_some_and(|text| {
        let starts = ["/", ".", "~"].iter().any(|start| text.starts_with(start));
        starts || has_extension(text)
    })
}

/// Whether a setting says where the files of a repository are.
pub(crate) fn names_worktree(setting: &str) -> bool {
    setting.to_ascii_lowercase().contains("worktree")
}

fn only_looks(args: &[Word]) -> bool {
    args.iter().any(|arg| matches!(arg.literal(), Some("--check" | "--stat" | "list" | "show")))
}
