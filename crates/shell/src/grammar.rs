//! The shape of a shell program, and the port behind which a grammar produces it.
//!
//! Owns: the tree the analysis walks, and the trait. Words in it are raw text with their place;
//! `expand` reads them. Does not own: any particular parser.

use crate::lexer::Token;

/// A grammar takes the tokens of a text and gives its tree, or refuses it as a whole.
pub(crate) trait Grammar {
    /// The program these tokens are; `None` when they are not a program, or not one this grammar
    /// is sure about.
    fn parse(&self, tokens: Vec<Token>) -> Option<List>;
}

/// Bytes of the text the tokens came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A word as written.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    pub(crate) text: String,
    pub(crate) place: Place,
}

/// How an item of a list is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    First,
    Then,
    And,
    Or,
}

/// Commands one after another.
#[derive(Debug, Clone)]
pub(crate) struct List(pub(crate) Vec<Item>);

#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) joint: Joint,
    pub(crate) background: bool,
    /// `!`: it succeeds when what it runs fails.
    pub(crate) negated: bool,
    pub(crate) stages: Vec<Command>,
}

#[derive(Debug, Clone)]
pub(crate) enum Command {
    Simple(Box<SimpleCommand>),
    Compound(Compound, Vec<Redirect>),
    Function(Function),
    Test(Test, Vec<Redirect>),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct SimpleCommand {
    pub(crate) assignments: Vec<Assign>,
    pub(crate) words: Vec<Raw>,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug, Clone)]
pub(crate) struct Assign {
    pub(crate) name: String,
    pub(crate) subscript: Option<String>,
    /// `+=`
    pub(crate) appends: bool,
    pub(crate) value: Value,
    pub(crate) place: Place,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Scalar(Raw),
    /// Subscripts, if written, and elements.
    Array(Vec<(Option<Raw>, Raw)>),
}

#[derive(Debug, Clone)]
pub(crate) enum Compound {
    Arithmetic(Vec<String>, Place),
    ArithmeticFor(Vec<String>, List, Place),
    Group(List),
    Subshell(List),
    For {
        variable: String,
        words: Option<Vec<Raw>>,
        body: List,
    },
    Case {
        word: Raw,
        branches: Vec<(Vec<Raw>, Option<List>)>,
    },
    If {
        tests: Vec<List>,
        branches: Vec<List>,
    },
    Loop {
        test: List,
        body: List,
    },
    /// With its name, if it has one.
    Coprocess(Option<Raw>, Box<Command>),
}

#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub(crate) name: Raw,
    pub(crate) body: Compound,
    pub(crate) redirects: Vec<Redirect>,
}

/// The operands of `[[ … ]]`: what matters is only what expanding them runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Test {
    pub(crate) words: Vec<Raw>,
    /// Operands that bash evaluates as arithmetic.
    pub(crate) arithmetic: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Redirect {
    File {
        fd: Option<i32>,
        mode: Mode,
        target: Raw,
    },
    /// `n>&m`, `n<&m`: the target may still be a file's name.
    Duplicate {
        fd: Option<i32>,
        output: bool,
        target: Raw,
    },
    HereDocument {
        fd: Option<i32>,
        expands: bool,
        body: Raw,
    },
    HereString {
        fd: Option<i32>,
        word: Raw,
    },
    /// `&>` and `&>>`.
    Both {
        target: Raw,
        append: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
    Append,
    ReadWrite,
}
