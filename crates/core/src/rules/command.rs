//! Patterns over shell commands: what a rule such as `Bash(git push *)` asks of a command line.
//!
//! What a line would run is the business of [`tenter_shell`]; here stands what that means for a
//! rule. What cannot be analysed stands for any command and any file.

use tenter_shell::{Analysis, By, FileUse, Match, Piece, Simple, Word, analyse, matches};

use super::meaning::Meaning;
use super::wildcard::Wildcard;
use super::{PathPair, Truth};
use crate::glob::Flaw;
use crate::json::Json;

/// What a shell call would run, and which files it would write and read.
#[derive(Debug, Clone)]
pub struct ShellCall {
    analysis: Analysis,
    writes: Vec<FileOf>,
    reads: Vec<FileOf>,
}

/// One file that a command line uses.
#[derive(Debug, Clone)]
pub(super) enum FileOf {
    /// Its path, in every reading.
    Known(Vec<PathPair>),
    /// A pattern that finds them.
    Found(Wildcard),
    /// It is decided when the line runs.
    Unknown,
}

/// Files that are written to without keeping anything.
const SINKS: &[&str] =
    &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2"];

impl ShellCall {
    /// Analyses the command in the input of a shell tool. `paths` gives every reading of a path,
    /// with links resolved as far as they can be; `None` if that cannot be told.
    pub fn of(input: &Json, paths: &mut dyn FnMut(&str) -> Option<Vec<PathPair>>) -> Self {
        let line = super::input::text_of(input, "command");
        // An input that cannot be read is a line of which nothing is known.
        let analysis = analyse(line.as_deref().unwrap_or("$unreadable"));
        let dots = analysis.commands.iter().any(|command| {
            command.program() == Some("shopt")
                || command.assignments.iter().any(|assignment| assignment.name == "GLOBIGNORE")
        });
        let mut files =
            |uses: &[FileUse]| uses.iter().filter_map(|one| file(one, dots, paths)).collect();
        let (writes, reads) = (files(&analysis.writes), files(&analysis.reads));
        Self { analysis, writes, reads }
    }

    /// What the line would run, write and read.
    pub const fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// The call without what is not known of it.
    #[must_use]
    pub fn known_part(&self) -> Self {
        let known = |files: &[FileOf]| {
            let known = files.iter().filter(|file| !matches!(file, FileOf::Unknown));
            known.cloned().collect()
        };
        let (writes, reads) = (known(&self.writes), known(&self.reads));
        let analysis = Analysis { unknowns: Vec::new(), ..self.analysis.clone() };
        Self { analysis, writes, reads }
    }

    /// Whether the line creates, changes or removes a file.
    pub fn writes_anything(&self) -> bool {
        !self.writes.is_empty()
    }

    /// Whether the line runs a program of this name.
    pub fn runs(&self, program: &str) -> bool {
        self.analysis.commands.iter().any(|command| command.program() == Some(program))
    }

    pub(super) fn commands(&self) -> &[Simple] {
        &self.analysis.commands
    }

    pub(super) fn writes(&self) -> &[FileOf] {
        &self.writes
    }

    pub(super) fn reads(&self) -> &[FileOf] {
        &self.reads
    }

    /// Whether anything in the line is decided when it runs, or cannot be read.
    pub fn has_unknowns(&self) -> bool {
        !self.analysis.unknowns.is_empty()
    }

    /// Whether the line talks to another machine by a redirection, which no rule speaks of.
    pub(super) fn dials(&self) -> bool {
        let mut files = self.analysis.reads.iter().chain(&self.analysis.writes);
        files.any(|file| {
            let path = file.path.known_prefix();
            path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/")
        })
    }

    /// Whether the line changes which program a name means, so that no allow can rely on names.
    pub(super) fn changes_names(&self) -> bool {
        !self.analysis.notes.is_empty()
            || self.analysis.commands.iter().any(|command| !command.assignments.is_empty())
    }
}

/// A file that is used; `None` for one that keeps nothing. With `dots`, wildcards find hidden files.
fn file(
    one: &FileUse,
    dots: bool,
    paths: &mut dyn FnMut(&str) -> Option<Vec<PathPair>>,
) -> Option<FileOf> {
    let text = match &one.path {
        Word::Literal(text) => Some(text.clone()),
        Word::Pattern(_) => one
            .path
            .pieces()
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => Some(text),
                Piece::Home => Some("~".to_owned()),
                Piece::Glob(_) | Piece::Any | Piece::Below | Piece::Pipe => None,
            })
            .collect::<Option<String>>(),
    };
    let Some(text) = text else {
        let mut found = (!one.elsewhere).then(|| Wildcard::of(&one.path, dots, paths)).flatten();
        if let (Some(found), By::Program(name)) = (&mut found, &one.by) {
            found.around = found.deep && name == "git";
        }
        return Some(found.map_or(FileOf::Unknown, FileOf::Found));
    };
    if SINKS.contains(&text.as_str()) {
        return None;
    }
    if one.elsewhere {
        return Some(FileOf::Unknown);
    }
    Some(paths(&text).map_or(FileOf::Unknown, FileOf::Known))
}

/// A pattern over the words of a simple command.
#[derive(Debug, Clone)]
pub(super) struct CommandPattern {
    text: Box<str>,
    meaning: Option<Meaning>,
}

impl CommandPattern {
    pub(super) fn parse(text: &str) -> Result<Self, Flaw> {
        if let Some((at, _)) = text.char_indices().find(|(_, c)| c.is_control()) {
            return Err(Flaw::new(
                at..at + 1,
                "a control character stands in the pattern",
                "write the words of one command with one space between them",
            ));
        }
        for (operator, what) in [
            ("&&", "two commands"),
            ("||", "two commands"),
            (";", "two commands"),
            (" | ", "two commands"),
        ] {
            if let Some(at) = text.find(operator) {
                return Err(Flaw::new(
                    at..at + operator.len(),
                    format!("`{operator}` joins {what}, and a rule speaks of one"),
                    "write one rule for each command; every command of a line is looked at",
                ));
            }
        }
        Ok(Self { text: text.into(), meaning: Meaning::of(text) })
    }

    /// How one command stands to the pattern, as it is written or as a person would say it: the
    /// program by its name, `git` without the options before its subcommand, and other options in
    /// whatever spelling and place.
    pub(super) fn matches(&self, command: &Simple) -> Truth {
        let plain = plain_words(command, true);
        let said = |words: &[Word]| {
            let meant = self.meaning.as_ref().map_or(Truth::No, |meaning| meaning.matches(words));
            self.against(words).max(meant)
        };
        let short = without_group(&plain).map_or(Truth::No, |words| said(&words));
        self.against(&command.argv).max(said(&plain)).max(short)
    }

    /// The same for an allow. A name stands for the program of the system, not for any file of
    /// that name, and an option that chooses a repository, whose settings may name programs to
    /// run, is not looked past.
    pub(super) fn covers(&self, command: &Simple) -> Truth {
        let named = command.argv.first().and_then(Word::literal).is_some_and(of_the_system);
        let plain = if named { self.against(&plain_words(command, false)) } else { Truth::No };
        self.against(&command.argv).max(plain)
    }

    fn against(&self, words: &[Word]) -> Truth {
        match matches(words, &self.text) {
            Match::No => Truth::No,
            Match::Maybe => Truth::Maybe,
            Match::Yes => Truth::Yes,
        }
    }

    /// Whether any command of a line matches. What is not known may be any command.
    pub(super) fn matches_any(&self, call: &ShellCall) -> Truth {
        let known = call.commands().iter().map(|command| self.matches(command)).max();
        let unknown = if call.has_unknowns() { Truth::Maybe } else { Truth::No };
        known.unwrap_or(Truth::No).max(unknown)
    }
}

/// Folders whose programs are the system's.
const SYSTEM: &[&str] =
    &["/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
/// Programs with a subcommand, and their options before it that take the word after them.
const BEFORE_SUBCOMMAND: &[(&[&str], &[&str])] = &[
    (
        &["git"],
        &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--attr-source", "--config-env"],
    ),
    (
        &["docker", "podman", "nerdctl"],
        &["-c", "--context", "-H", "--host", "-l", "--log-level", "--config", "--connection"],
    ),
    (
        &["kubectl", "oc", "helm"],
        &[
            "-n",
            "--namespace",
            "--context",
            "--kube-context",
            "--cluster",
            "--user",
            "--kubeconfig",
            "-s",
            "--server",
            "--as",
            "--token",
            "-v",
        ],
    ),
    (
        &["npm", "pnpm", "yarn", "bun"],
        &["--prefix", "-w", "--workspace", "-C", "--dir", "--cwd", "--filter", "-F"],
    ),
    (&["cargo"], &["-C", "-Z", "--config", "--color"]),
    (&["terraform", "tofu"], &[]),
    (&["gh"], &["-R", "--repo"]),
    (&["aws"], &["--profile", "--region", "--endpoint-url", "--output"]),
    (&["gcloud"], &["--project", "--account", "--configuration"]),
    (&["systemctl"], &["-H", "--host", "-M", "--machine"]),
];
/// Options of `git` before its subcommand that change nothing of what it does.
const GIT_HARMLESS: &[&str] = &["--no-pager", "-P", "--no-optional-locks"];

/// `docker container rm` is `docker rm`: the words without the group.
fn without_group(words: &[Word]) -> Option<Vec<Word>> {
    let [program, group, rest @ ..] = words else { return None };
    let grouped = matches!(program.literal(), Some("docker" | "podman" | "nerdctl"))
        && group.literal() == Some("container");
    grouped.then(|| std::iter::once(program).chain(rest).cloned().collect())
}

/// Whether a program is found by its name, or lies in a folder of the system.
fn of_the_system(program: &str) -> bool {
    program.rsplit_once('/').is_none_or(|(folder, _)| SYSTEM.contains(&folder))
}

/// The words of a command as a person would say them: with `all`, without any option between a program
/// and its subcommand, else without those of `git` that change nothing.
fn plain_words(command: &Simple, all: bool) -> Vec<Word> {
    let Some(program) = command.program() else { return command.argv.clone() };
    let mut words = command.argv.iter().skip(1).peekable();
    if let Some((_, valued)) = BEFORE_SUBCOMMAND.iter().find(|(all, _)| all.contains(&program)) {
        while let Some(option) = words.peek().and_then(|word| word.literal()) {
            let harmless = program == "git" && GIT_HARMLESS.contains(&option);
            // `cargo +nightly` chooses a toolchain.
            let is_option = option.len() > 1 && option.starts_with(['-', '+']);
            if !(harmless || all && is_option) {
                break;
            }
            if valued.contains(&option) {
                words.next();
            }
            words.next();
        }
    }
    std::iter::once(Word::Literal(program.to_owned())).chain(words.cloned()).collect()
}
