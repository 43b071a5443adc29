//! What the options of everyday programs are called, for those that people write rules about.

/// The options of one program, or of one of its subcommands.
#[derive(Debug)]
pub(super) struct Row {
    /// The program and its subcommand.
    pub(super) words: &'static [&'static str],
    pub(super) options: &'static [Opt],
    /// Letters that stand for several options.
    pub(super) shorthands: &'static [(char, &'static [&'static str])],
    /// What stands for an option without being it.
    pub(super) implied: &'static [(Mark, &'static str, &'static str)],
    pub(super) operands: Operands,
    /// Whether a word with one dash is letters, each an option.
    pub(super) clusters: bool,
    /// Whether the first operand is a file mode, which may begin with a dash.
    pub(super) is_mode: bool,
    /// Whether a word with one dash may be a signal.
    pub(super) is_kill: bool,
}

/// How a pattern over operands is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// As words in their order.
    Joined,
    /// As paths, any of which may be the one that is meant.
    Each,
}

/// What may stand for an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// An operand that begins so.
    Operand,
    /// Another option.
    Option,
}

/// One option.
#[derive(Debug)]
pub(super) struct Opt {
    pub(super) long: &'static str,
    /// Its letters.
    pub(super) letters: &'static str,
    /// Whether it takes a value.
    pub(super) valued: bool,
}

impl Row {
    const PLAIN: Self = Self {
        words: &[],
        options: &[],
        shorthands: &[],
        implied: &[],
        operands: Operands::Joined,
        clusters: true,
        is_mode: false,
        is_kill: false,
    };

    /// The option that something stands for.
    pub(super) fn implied(&self, mark: Mark, text: &str) -> Option<&'static str> {
        let rows = self.implied.iter().filter(|(other, _, _)| *other == mark);
        let mut rows = rows.filter(|(_, given, _)| match mark {
            Mark::Operand => text.starts_with(given),
            Mark::Option => text == *given,
        });
        rows.next().map(|(_, _, name)| *name)
    }
}

const fn flag(long: &'static str, letters: &'static str) -> Opt {
    Opt { long, letters, valued: false }
}

const fn value(long: &'static str, letters: &'static str) -> Opt {
    Opt { long, letters, valued: true }
}

/// A program without a row: options are compared as they are written, in whatever place.
pub(super) const WHOLE: Row = Row { clusters: false, ..Row::PLAIN };

pub(super) const ROWS: &[Row] = &[
    Row {
        words: &["rm"],
        options: &[
            flag("recursive", "rR"),
            flag("force", "f"),
            flag("interactive", "iI"),
            flag("dir", "d"),
            flag("verbose", "v"),
            flag("one-file-system", "x"),
            flag("no-preserve-root", ""),
            flag("preserve-root", ""),
        ],
        operands: Operands::Each,
        ..Row::PLAIN
    },
    Row {
        words: &["cp"],
        options: &[
            flag("recursive", "rR"),
            flag("archive", "a"),
            flag("force", "f"),
            flag("no-clobber", "n"),
            flag("verbose", "v"),
            flag("remove-destination", ""),
            value("target-directory", "t"),
            value("suffix", "S"),
        ],
        implied: &[(Mark::Option, "archive", "recursive")],
        ..Row::PLAIN
    },
    Row {
        words: &["mv"],
        options: &[
            flag("force", "f"),
            flag("no-clobber", "n"),
            flag("verbose", "v"),
            value("target-directory", "t"),
            value("suffix", "S"),
        ],
        ..Row::PLAIN
    },
    Row {
        words: &["chmod"],
        options: &[
            flag("recursive", "R"),
            flag("verbose", "v"),
            flag("changes", "c"),
            flag("silent", "f"),
            flag("quiet", ""),
            value("reference", ""),
        ],
        is_mode: true,
        ..Row::PLAIN
    },
    Row { words: &["chown"], options: OWNERS, ..Row::PLAIN },
    Row { words: &["chgrp"], options: OWNERS, ..Row::PLAIN },
    Row {
        words: &["git", "push"],
        options: &[
            flag("force", "f"),
            flag("force-with-lease", ""),
            flag("force-if-includes", ""),
            flag("delete", "d"),
            flag("mirror", ""),
            flag("all", ""),
            flag("branches", ""),
            flag("tags", ""),
            flag("follow-tags", ""),
            flag("prune", ""),
            flag("atomic", ""),
            flag("set-upstream", "u"),
            flag("dry-run", "n"),
            flag("no-verify", ""),
            flag("quiet", "q"),
            flag("verbose", "v"),
            flag("porcelain", ""),
            flag("progress", ""),
            value("push-option", "o"),
            value("repo", ""),
            value("receive-pack", ""),
            value("exec", ""),
        ],
        implied: &[
            (Mark::Operand, "+", "force"),
            (Mark::Operand, ":", "delete"),
            (Mark::Option, "mirror", "force"),
        ],
        ..Row::PLAIN
    },
    Row {
        words: &["git", "reset"],
        options: &[
            flag("hard", ""),
            flag("soft", ""),
            flag("mixed", ""),
            flag("merge", ""),
            flag("keep", ""),
            flag("quiet", "q"),
            flag("patch", "p"),
            flag("intent-to-add", "N"),
        ],
        ..Row::PLAIN
    },
    Row {
        words: &["git", "clean"],
        options: &[
            flag("force", "f"),
            flag("dry-run", "n"),
            flag("interactive", "i"),
            flag("quiet", "q"),
            value("exclude", "e"),
        ],
        ..Row::PLAIN
    },
    Row {
        words: &["git", "checkout"],
        options: &[
            flag("force", "f"),
            flag("merge", "m"),
            flag("patch", "p"),
            flag("detach", "d"),
            flag("quiet", "q"),
            flag("ours", ""),
            flag("theirs", ""),
            flag("track", "t"),
            value("orphan", ""),
        ],
        ..Row::PLAIN
    },
    Row {
        words: &["git", "switch"],
        options: &[
            flag("force", "f"),
            flag("discard-changes", ""),
            flag("detach", "d"),
            flag("merge", "m"),
            value("create", "c"),
            value("force-create", "C"),
            value("orphan", ""),
        ],
        implied: &[(Mark::Option, "discard-changes", "force")],
        ..Row::PLAIN
    },
    Row {
        words: &["git", "branch"],
        options: &[
            flag("delete", "d"),
            flag("force", "f"),
            flag("move", "m"),
            flag("copy", "c"),
            flag("all", "a"),
            flag("remotes", "r"),
            flag("verbose", "v"),
            value("set-upstream-to", "u"),
        ],
        shorthands: &[
            ('D', &["delete", "force"]),
            ('M', &["move", "force"]),
            ('C', &["copy", "force"]),
        ],
        ..Row::PLAIN
    },
    Row {
        words: &["git", "tag"],
        options: &[
            flag("delete", "d"),
            flag("force", "f"),
            flag("annotate", "a"),
            flag("sign", "s"),
            flag("list", "l"),
            value("message", "m"),
            value("file", "F"),
            value("local-user", "u"),
        ],
        ..Row::PLAIN
    },
    Row {
        words: &["git", "commit"],
        options: &[
            flag("all", "a"),
            flag("amend", ""),
            flag("no-verify", "n"),
            flag("no-edit", ""),
            flag("allow-empty", ""),
            flag("patch", "p"),
            flag("quiet", "q"),
            flag("verbose", "v"),
            flag("signoff", "s"),
            flag("edit", "e"),
            value("message", "m"),
            value("file", "F"),
            value("reuse-message", "C"),
            value("reedit-message", "c"),
            value("template", "t"),
            value("author", ""),
            value("date", ""),
            value("fixup", ""),
            value("squash", ""),
        ],
        ..Row::PLAIN
    },
    Row {
        words: &["git", "rebase"],
        options: &[
            flag("interactive", "i"),
            flag("force-rebase", "f"),
            flag("abort", ""),
            flag("continue", ""),
            flag("skip", ""),
            flag("root", ""),
            flag("no-verify", ""),
            value("onto", ""),
            value("exec", "x"),
            value("strategy", "s"),
            value("strategy-option", "X"),
        ],
        ..Row::PLAIN
    },
    Row {
        words: &["git", "rm"],
        options: &[
            flag("force", "f"),
            flag("cached", ""),
            flag("dry-run", "n"),
            flag("quiet", "q"),
        ],
        operands: Operands::Each,
        ..Row::PLAIN
    },
    Row {
        words: &["curl"],
        options: &[
            value("request", "X"),
            value("header", "H"),
            value("data", "d"),
            value("data-binary", ""),
            value("data-raw", ""),
            value("data-urlencode", ""),
            value("json", ""),
            value("form", "F"),
            value("upload-file", "T"),
            value("output", "o"),
            value("user", "u"),
            value("user-agent", "A"),
            value("cookie", "b"),
            value("cookie-jar", "c"),
            value("config", "K"),
            value("referer", "e"),
            value("proxy", "x"),
            value("max-time", "m"),
            value("write-out", "w"),
            flag("location", "L"),
            flag("insecure", "k"),
            flag("silent", "s"),
            flag("show-error", "S"),
            flag("fail", "f"),
            flag("head", "I"),
            flag("include", "i"),
            flag("remote-name", "O"),
            flag("verbose", "v"),
        ],
        ..Row::PLAIN
    },
    Row {
        words: &["docker", "run"],
        options: &[
            flag("interactive", "i"),
            flag("tty", "t"),
            flag("detach", "d"),
            flag("privileged", ""),
            flag("rm", ""),
            value("volume", "v"),
            value("env", "e"),
            value("publish", "p"),
            value("workdir", "w"),
            value("user", "u"),
            value("name", ""),
            value("mount", ""),
            value("network", ""),
            value("pid", ""),
            value("cap-add", ""),
        ],
        ..Row::PLAIN
    },
    Row { words: &["docker", "rm"], options: CONTAINERS, ..Row::PLAIN },
    Row { words: &["docker", "rmi"], options: CONTAINERS, ..Row::PLAIN },
    Row { words: &["docker", "system", "prune"], options: CONTAINERS, ..Row::PLAIN },
    Row { words: &["docker", "volume", "prune"], options: CONTAINERS, ..Row::PLAIN },
    Row { words: &["docker", "image", "prune"], options: CONTAINERS, ..Row::PLAIN },
    Row { words: &["kill"], is_kill: true, ..Row::PLAIN },
    Row {
        words: &["gh", "api"],
        options: &[
            value("method", "X"),
            value("field", "F"),
            value("raw-field", "f"),
            value("header", "H"),
            value("input", ""),
            value("jq", "q"),
            flag("paginate", ""),
            flag("silent", ""),
        ],
        ..Row::PLAIN
    },
    Row { words: &["npm", "install"], options: PACKAGES, ..Row::PLAIN },
    Row { words: &["npm", "uninstall"], options: PACKAGES, ..Row::PLAIN },
];

const OWNERS: &[Opt] = &[
    flag("recursive", "R"),
    flag("verbose", "v"),
    flag("changes", "c"),
    flag("silent", "f"),
    flag("no-dereference", "h"),
    value("reference", ""),
    value("from", ""),
];

const CONTAINERS: &[Opt] =
    &[flag("force", "f"), flag("volumes", "v"), flag("all", "a"), value("filter", "")];

const PACKAGES: &[Opt] =
    &[flag("global", "g"), flag("save-dev", "D"), flag("save-exact", "E"), flag("force", "f")];
