//! What the analysis of a command line says.
//!
//! Owns: the result types. Does not own: how they come about.

use crate::matching::{self, Match};
use crate::word::Word;

/// Bytes of the command line, end exclusive. What came out of a text that was decoded first (the
/// argument of `eval`, backquotes) has the span of the word it came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One behind the last byte.
    pub end: usize,
}

/// Everything a command line would run, write and read, as far as its text tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// The simple commands, in the order they are found; what a wrapper starts stands behind it.
    pub commands: Vec<Simple>,
    /// What could not be analysed. Each stands for any command at all.
    pub unknowns: Vec<Unknown>,
    /// The files it would create, change or remove.
    pub writes: Vec<FileUse>,
    /// The files it would plainly read.
    pub reads: Vec<FileUse>,
    /// What it changes about how later commands are found, without running anything itself.
    pub notes: Vec<Note>,
}

/// One simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// The program and its arguments.
    pub argv: Vec<Word>,
    /// `NAME=value` before the program, or before what a wrapper such as `env` starts. A command
    /// without a program only assigns.
    pub assignments: Vec<Assignment>,
    /// Its own redirections, in order.
    pub redirections: Vec<Redirection>,
    /// Where it stands.
    pub span: Span,
    /// How it was reached, outermost first.
    pub via: Vec<Reach>,
}

impl Simple {
    /// The program's name without its folder; `None` when it is decided at run time or when the
    /// command only assigns or redirects.
    pub fn program(&self) -> Option<&str> {
        self.argv.first().and_then(Word::program_name)
    }

    /// How the words, joined by one space, stand to a pattern; see [`matching::matches`].
    pub fn matches(&self, pattern: &str) -> Match {
        matching::matches(&self.argv, pattern)
    }

    /// Whether running it may start a program with exactly these arguments.
    pub fn may_become<A: AsRef<[u8]>>(&self, argv: &[A]) -> bool {
        matching::may_become(&self.argv, argv)
    }
}

/// A variable that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable's name.
    pub name: String,
    /// Its value; the elements joined by one space for an array.
    pub value: Word,
}

/// A redirection of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// What it does.
    pub kind: RedirectionKind,
    /// The file, the descriptor, or the text.
    pub target: Word,
}

/// What a redirection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectionKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`, `>&`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `n>&m`, `n<&m`
    Duplicate,
    /// `<<`, `<<-`, `<<<`: the target is the text.
    Here,
}

/// One step on the way to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// A part of a pipeline. Every part but the first reads what the one before writes.
    Pipeline {
        /// Counted from zero.
        position: usize,
        /// How many parts there are.
        of: usize,
    },
    /// A later item of a list.
    List(Link),
    /// Started with `&`.
    Background,
    /// `( … )`
    Subshell,
    /// `{ …; }`
    Group,
    /// What `if`, `while` or `until` tests.
    Condition,
    /// A branch of `if` or `case`.
    Branch,
    /// The body of a loop.
    Loop,
    /// `$( … )` or backquotes.
    Substitution,
    /// `<( … )` or `>( … )`
    ProcessSubstitution,
    /// The body of this function.
    Function(String),
    /// `coproc`
    Coprocess,
    /// A here-document or here-string that this program runs.
    HereText(String),
    /// Code given to this shell (`sh -c`).
    Shell(String),
    /// `eval`
    Eval,
    /// `trap`
    Trap,
    /// Started by this program with the rest of its arguments (`env`, `sudo`, `timeout`, …).
    Wrapper(String),
    /// Started by `xargs` or `parallel` with arguments it reads.
    EachInput(String),
    /// `find -exec` and its kin; `fd -x`.
    EachFile(String),
    /// A git alias or a git setting that names a command.
    GitSetting(String),
    /// Run on another machine; the host as written.
    Remote(String),
    /// A variable of this name, which a program runs as a command.
    Variable(String),
    /// An option of a program that names a command, such as `rsync -e`.
    Option(String),
}

/// How an item of a list is joined to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// `;`, `&` or a newline
    Then,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Something that could not be analysed: it stands for any command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Where.
    pub span: Span,
    /// Why.
    pub reason: UnknownReason,
    /// The text at hand: code in another language, the word that is decided at run time, the part
    /// that does not parse. At most 4 KiB of it.
    pub text: String,
    /// How it was reached, outermost first.
    pub via: Vec<Reach>,
}

/// Why something could not be analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum UnknownReason {
    /// It does not parse, or not in one way only.
    Syntax,
    /// The line is longer than the limit.
    TooLong,
    /// It nests deeper than the limit.
    TooDeep,
    /// Looking at all of it would take more steps than the limit.
    TooManySteps,
    /// The shell knows this construct and the analysis does not.
    Unsupported,
    /// The program's name is decided at run time.
    DynamicProgram,
    /// Code for a shell is decided at run time.
    DynamicCode,
    /// A wrapper's options are decided at run time or are not known, so what it starts is not.
    WrapperOptions,
    /// A shell or an interpreter runs what it reads from its input.
    RunsInput,
    /// It runs a file that the same line writes.
    RunsWritten,
    /// It takes a file's commands into the shell (`source`, `.`).
    SourcesFile,
    /// Code in another language; the text is kept.
    OtherLanguage,
    /// A program's option names a command in a way that is not analysed.
    ProgramOption,
    /// An alias, or something else that gives a name another meaning.
    Alias,
    /// Shell options that change how the line is read.
    ShellOptions,
    /// Control characters, invisible characters or look-alike blanks where a shell word stands.
    OddCharacters,
    /// A value is expanded as a prompt, which runs the substitutions in it.
    PromptExpansion,
    /// Arithmetic evaluates a text that holds a substitution.
    HiddenSubstitution,
    /// The line sets `HOME` to something that is not plainly one path, so that what `$HOME` becomes
    /// is not known.
    HomeChanged,
}

impl UnknownReason {
    /// What a person is told: a lower-case fragment.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Syntax => "the text does not parse as shell",
            Self::TooLong => "the command line is longer than 64 KiB",
            Self::TooDeep => "the commands nest too deep",
            Self::TooManySteps => "the command line expands to too much",
            Self::Unsupported => "the construct is not supported",
            Self::DynamicProgram => "the program is decided at run time",
            Self::DynamicCode => "the code is decided at run time",
            Self::WrapperOptions => "the wrapper's options are not known",
            Self::RunsInput => "it runs what it reads",
            Self::RunsWritten => "it runs a file written in the same line",
            Self::SourcesFile => "it takes commands from a file",
            Self::OtherLanguage => "the code is in another language",
            Self::ProgramOption => "an option names a command",
            Self::Alias => "a name is given another meaning",
            Self::ShellOptions => "a shell option changes how the line is read",
            Self::OddCharacters => "a word has control or invisible characters",
            Self::PromptExpansion => "a value is expanded as a prompt",
            Self::HiddenSubstitution => "arithmetic evaluates a text with a substitution",
            Self::HomeChanged => "the home folder is changed",
        }
    }
}

/// A file that is written or read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUse {
    /// The path, from the folder where the line starts: behind `cd app` the file `x` is `app/x`.
    pub path: Word,
    /// The path starts in a folder that is not known, or may stand for another file.
    pub elsewhere: bool,
    /// By what.
    pub by: By,
    /// Where.
    pub span: Span,
}

/// What uses a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// A redirection.
    Redirection,
    /// This program, by one of its arguments.
    Program(String),
}

/// Something that changes how later commands are found or behave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it is.
    pub kind: NoteKind,
    /// The variable's or function's name.
    pub name: String,
    /// Where.
    pub span: Span,
}

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// A variable that says where programs or libraries are found (`PATH`, `LD_PRELOAD`, …).
    LookupVariable,
    /// A function is defined; a command of this name runs its body, which is in the analysis too.
    Function,
    /// A function calls itself twice at once: once called, it fills the machine with processes.
    Multiplies,
}
