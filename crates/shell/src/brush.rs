//! The grammar of brush-parser, fed with our own tokens.
//!
//! Owns: the translation of its tree into ours, with every variant named, so that a new version of
//! the parser does not compile until somebody has looked. Does not own: tokens, words (its word
//! parser is kept from them: it takes time exponential in what nests there).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use brush_parser::ast;
use brush_parser::{ParserOptions, SourcePosition, SourceSpan};

use crate::grammar::{
    Assign, Command, Compound, Function, Grammar, Item, Joint, List, Mode, Place, Raw, Redirect,
    SimpleCommand, Test, Value,
};
use crate::lexer::{Kind, Token, behind_name, end_of_bracketed};

/// Bash as brush-parser reads it.
pub(crate) struct Brush;

impl Grammar for Brush {
    fn parse(&self, tokens: Vec<Token>) -> Option<List> {
        if tokens.iter().any(|token| token.text.contains([OPEN, CLOSE])) {
            return None;
        }
        let tokens: Vec<brush_parser::Token> = tokens.into_iter().map(token).collect();
        // The parser unwraps in places; a panic of its is a refusal.
        let program = catch_unwind(AssertUnwindSafe(|| {
            brush_parser::parse_tokens(&tokens, &ParserOptions::default()).ok()
        }));
        Some(program.ok()??).and_then(program_list)
    }
}

/// Around what the grammar must not look into. Nobody writes them, and a text with one is refused.
const OPEN: char = '\u{e0f0}';
const CLOSE: char = '\u{e0f1}';

/// A word that begins like an array element, in a form that is cheap to read: the grammar reads a
/// subscript, and whatever looks like one, with its word parser. Where the subscript ends, and so
/// whether the word is an assignment, is for our lexer to say.
fn veiled(word: String) -> String {
    let Some(behind @ [b'[', ..]) = behind_name(word.as_bytes()) else { return word };
    let name = word.len() - behind.len();
    let end = end_of_bracketed(word.as_bytes(), name + 1).unwrap_or(0);
    let (head, subscript, rest) =
        match (word.get(..=name), word.get(name + 1..end.saturating_sub(1)), word.get(end..)) {
            (Some(head), Some(subscript), Some(rest))
                if rest.starts_with('=') || rest.starts_with("+=") =>
            {
                (head, subscript, rest)
            }
            _ => return veil(&word),
        };
    format!("{head}{}]{rest}", veil(subscript))
}

fn veil(text: &str) -> String {
    let mut veiled = String::with_capacity(2 * text.len() + 6);
    veiled.push(OPEN);
    for byte in text.bytes() {
        for digit in [byte >> 4, byte & 15] {
            veiled.extend(char::from_digit(digit.into(), 16));
        }
    }
    veiled.push(CLOSE);
    veiled
}

/// The text again as it was written.
fn unveiled(text: String) -> String {
    if !text.contains(OPEN) {
        return text;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once(OPEN) {
        out.extend_from_slice(before.as_bytes());
        let (digits, behind) = behind.split_once(CLOSE).unwrap_or((behind, ""));
        let mut digits = digits.chars().filter_map(|digit| digit.to_digit(16));
        while let (Some(high), Some(low)) = (digits.next(), digits.next()) {
            out.extend(u8::try_from(high * 16 + low));
        }
        rest = behind;
    }
    out.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&out).into_owned()
}

fn token(token: Token) -> brush_parser::Token {
    let at = |index| Arc::new(SourcePosition { index, line: 1, column: 1 });
    let span = SourceSpan { start: at(token.start), end: at(token.end) };
    match token.kind {
        Kind::Word => brush_parser::Token::Word(veiled(token.text), span),
        Kind::Operator => brush_parser::Token::Operator(token.text, span),
    }
}

fn place(span: &SourceSpan) -> Place {
    Place { start: span.start.index, end: span.end.index }
}

fn raw(word: ast::Word) -> Raw {
    let place = word.loc.as_ref().map(place).unwrap_or_default();
    Raw { text: unveiled(word.value), place }
}

fn program_list(program: ast::Program) -> Option<List> {
    let mut items = Vec::new();
    for complete in program.complete_commands {
        items.append(&mut list(complete)?.0);
    }
    if let Some(first) = items.first_mut() {
        first.joint = Joint::First;
    }
    Some(List(items))
}

fn list(list: ast::CompoundList) -> Option<List> {
    let mut items = Vec::new();
    for ast::CompoundListItem(and_or, separator) in list.0 {
        let background = match separator {
            ast::SeparatorOperator::Async => true,
            ast::SeparatorOperator::Sequence => false,
        };
        let joint = if items.is_empty() { Joint::First } else { Joint::Then };
        items.push(item(joint, background, and_or.first)?);
        for next in and_or.additional {
            let (joint, next) = match next {
                ast::AndOr::And(next) => (Joint::And, next),
                ast::AndOr::Or(next) => (Joint::Or, next),
            };
            items.push(item(joint, background, next)?);
        }
    }
    Some(List(items))
}

fn item(joint: Joint, background: bool, pipeline: ast::Pipeline) -> Option<Item> {
    // `time` changes what is reported, not what runs.
    let negated = pipeline.bang;
    let stages = pipeline.seq.into_iter().map(command).collect::<Option<_>>()?;
    Some(Item { joint, background, negated, stages })
}

fn command(command: ast::Command) -> Option<Command> {
    Some(match command {
        ast::Command::Simple(simple) => Command::Simple(Box::new(simple_command(simple)?)),
        ast::Command::Compound(body, redirects) => {
            Command::Compound(compound(body)?, redirect_list(redirects)?)
        }
        ast::Command::Function(function) => {
            let ast::FunctionBody(body, redirects) = function.body;
            Command::Function(Function {
                name: raw(function.fname),
                body: compound(body)?,
                redirects: redirect_list(redirects)?,
            })
        }
        ast::Command::ExtendedTest(test, redirects) => {
            let mut operands = Test::default();
            test_expression(test.expr, &mut operands);
            Command::Test(operands, redirect_list(redirects)?)
        }
    })
}

fn simple_command(simple: ast::SimpleCommand) -> Option<SimpleCommand> {
    let mut out = SimpleCommand::default();
    for item in simple.prefix.map(|prefix| prefix.0).unwrap_or_default() {
        match item {
            ast::CommandPrefixOrSuffixItem::IoRedirect(io) => out.redirects.push(redirect(io)?),
            ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                out.assignments.push(assign(assignment, &word));
            }
            ast::CommandPrefixOrSuffixItem::Word(word) => out.words.push(raw(word)),
            // Our tokens keep a process substitution inside its word.
            ast::CommandPrefixOrSuffixItem::ProcessSubstitution(..) => return None,
        }
    }
    out.words.extend(simple.word_or_name.map(raw));
    for item in simple.suffix.map(|suffix| suffix.0).unwrap_or_default() {
        match item {
            ast::CommandPrefixOrSuffixItem::IoRedirect(io) => out.redirects.push(redirect(io)?),
            ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                match assignment.value {
                    ast::AssignmentValue::Scalar(_) => out.words.push(raw(word)),
                    // `declare a=(…)`: the declaration is an assignment of its own.
                    ast::AssignmentValue::Array(_) => {
                        out.assignments.push(assign(assignment, &word));
                    }
                }
            }
            ast::CommandPrefixOrSuffixItem::Word(word) => out.words.push(raw(word)),
            ast::CommandPrefixOrSuffixItem::ProcessSubstitution(..) => return None,
        }
    }
    Some(out)
}

fn assign(assignment: ast::Assignment, word: &ast::Word) -> Assign {
    let place = word.loc.as_ref().map_or_else(|| place(&assignment.loc), place);
    let (name, subscript) = match assignment.name {
        ast::AssignmentName::VariableName(name) => (name, None),
        ast::AssignmentName::ArrayElementName(name, index) => (name, Some(unveiled(index))),
    };
    let at = |word: ast::Word| Raw { text: unveiled(word.value), place };
    let value = match assignment.value {
        ast::AssignmentValue::Scalar(value) => {
            // The value ends where the word ends, which gives its place.
            let text = unveiled(value.value);
            let start = place.end.saturating_sub(text.len());
            Value::Scalar(Raw { text, place: Place { start, end: place.end } })
        }
        ast::AssignmentValue::Array(elements) => Value::Array(
            elements.into_iter().map(|(key, value)| (key.map(at), at(value))).collect(),
        ),
    };
    Assign { name, subscript, appends: assignment.append, value, place }
}

fn compound(compound: ast::CompoundCommand) -> Option<Compound> {
    Some(match compound {
        ast::CompoundCommand::Arithmetic(arithmetic) => {
            Compound::Arithmetic(vec![unveiled(arithmetic.expr.value)], place(&arithmetic.loc))
        }
        ast::CompoundCommand::ArithmeticForClause(clause) => {
            let parts = [clause.initializer, clause.condition, clause.updater];
            Compound::ArithmeticFor(
                parts.into_iter().flatten().map(|part| unveiled(part.value)).collect(),
                list(clause.body.list)?,
                place(&clause.loc),
            )
        }
        ast::CompoundCommand::BraceGroup(group) => Compound::Group(list(group.list)?),
        ast::CompoundCommand::Subshell(subshell) => Compound::Subshell(list(subshell.list)?),
        ast::CompoundCommand::ForClause(clause) => Compound::For {
            variable: unveiled(clause.variable_name),
            words: clause.values.map(|words| words.into_iter().map(raw).collect()),
            body: list(clause.body.list)?,
        },
        ast::CompoundCommand::CaseClause(clause) => {
            let mut branches = Vec::new();
            for item in clause.cases {
                match item.post_action {
                    // Which branches run is decided at run time in any case.
                    ast::CaseItemPostAction::ExitCase
                    | ast::CaseItemPostAction::UnconditionallyExecuteNextCaseItem
                    | ast::CaseItemPostAction::ContinueEvaluatingCases => {}
                }
                let body = match item.cmd {
                    Some(body) => Some(list(body)?),
                    None => None,
                };
                branches.push((item.patterns.into_iter().map(raw).collect(), body));
            }
            Compound::Case { word: raw(clause.value), branches }
        }
        ast::CompoundCommand::IfClause(clause) => {
            let mut tests = vec![list(clause.condition)?];
            let mut branches = vec![list(clause.then)?];
            for branch in clause.elses.unwrap_or_default() {
                if let Some(condition) = branch.condition {
                    tests.push(list(condition)?);
                }
                branches.push(list(branch.body)?);
            }
            Compound::If { tests, branches }
        }
        ast::CompoundCommand::WhileClause(clause) | ast::CompoundCommand::UntilClause(clause) => {
            let ast::WhileOrUntilClauseCommand(test, body, _) = clause;
            Compound::Loop { test: list(test)?, body: list(body.list)? }
        }
        ast::CompoundCommand::Coprocess(coprocess) => {
            Compound::Coprocess(coprocess.name.map(raw), Box::new(command(*coprocess.body)?))
        }
    })
}

fn test_expression(expression: ast::ExtendedTestExpr, out: &mut Test) {
    match expression {
        ast::ExtendedTestExpr::And(left, right) | ast::ExtendedTestExpr::Or(left, right) => {
            test_expression(*left, out);
            test_expression(*right, out);
        }
        ast::ExtendedTestExpr::Not(inner) | ast::ExtendedTestExpr::Parenthesized(inner) => {
            test_expression(*inner, out);
        }
        ast::ExtendedTestExpr::UnaryTest(predicate, word) => {
            // `-v name[…]` evaluates its subscript.
            out.arithmetic |=
                matches!(predicate, ast::UnaryPredicate::ShellVariableIsSetAndAssigned);
            out.words.push(raw(word));
        }
        ast::ExtendedTestExpr::BinaryTest(predicate, left, right) => {
            out.arithmetic |= match predicate {
                ast::BinaryPredicate::ArithmeticEqualTo
                | ast::BinaryPredicate::ArithmeticNotEqualTo
                | ast::BinaryPredicate::ArithmeticLessThan
                | ast::BinaryPredicate::ArithmeticLessThanOrEqualTo
                | ast::BinaryPredicate::ArithmeticGreaterThan
                | ast::BinaryPredicate::ArithmeticGreaterThanOrEqualTo => true,
                ast::BinaryPredicate::FilesReferToSameDeviceAndInodeNumbers
                | ast::BinaryPredicate::LeftFileIsNewerOrExistsWhenRightDoesNot
                | ast::BinaryPredicate::LeftFileIsOlderOrDoesNotExistWhenRightDoes
                | ast::BinaryPredicate::StringExactlyMatchesPattern
                | ast::BinaryPredicate::StringDoesNotExactlyMatchPattern
                | ast::BinaryPredicate::StringMatchesRegex
                | ast::BinaryPredicate::StringExactlyMatchesString
                | ast::BinaryPredicate::StringDoesNotExactlyMatchString
                | ast::BinaryPredicate::StringContainsSubstring
                | ast::BinaryPredicate::LeftSortsBeforeRight
                | ast::BinaryPredicate::LeftSortsAfterRight => false,
            };
            out.words.push(raw(left));
            out.words.push(raw(right));
        }
    }
}

fn redirect_list(list: Option<ast::RedirectList>) -> Option<Vec<Redirect>> {
    list.map(|list| list.0).unwrap_or_default().into_iter().map(redirect).collect()
}

fn redirect(io: ast::IoRedirect) -> Option<Redirect> {
    Some(match io {
        ast::IoRedirect::File(fd, kind, target) => {
            let target = match target {
                ast::IoFileRedirectTarget::Filename(word)
                | ast::IoFileRedirectTarget::Duplicate(word) => raw(word),
                ast::IoFileRedirectTarget::Fd(number) => {
                    Raw { text: number.to_string(), place: Place::default() }
                }
                ast::IoFileRedirectTarget::ProcessSubstitution(..) => return None,
            };
            let mode = match kind {
                ast::IoFileRedirectKind::Read => Mode::Read,
                ast::IoFileRedirectKind::Write | ast::IoFileRedirectKind::Clobber => Mode::Write,
                ast::IoFileRedirectKind::Append => Mode::Append,
                ast::IoFileRedirectKind::ReadAndWrite => Mode::ReadWrite,
                ast::IoFileRedirectKind::DuplicateInput => {
                    return Some(Redirect::Duplicate { fd, output: false, target });
                }
                ast::IoFileRedirectKind::DuplicateOutput => {
                    return Some(Redirect::Duplicate { fd, output: true, target });
                }
            };
            Redirect::File { fd, mode, target }
        }
        ast::IoRedirect::HereDocument(fd, document) => Redirect::HereDocument {
            fd,
            expands: document.requires_expansion,
            body: raw(document.doc),
        },
        ast::IoRedirect::HereString(fd, word) => Redirect::HereString { fd, word: raw(word) },
        ast::IoRedirect::OutputAndError(target, append) => {
            Redirect::Both { target: raw(target), append }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_veiled_is_read_again_as_it_was_written() {
        for (word, is_assignment) in [
            ("a[1]=x", true),
            ("a[$((i+1))]+=x", true),
            ("m[\"ü]\"]=[y]", true),
            ("a[b[1]]=", true),
            ("a[1]", false),
            ("a[${T[d[=]", false),
            ("a[", false),
            ("a[]x=", false),
        ] {
            let veiled = veiled(word.to_owned());
            assert_eq!(
                veiled.starts_with("a[") || veiled.starts_with("m["),
                is_assignment,
                "{word}"
            );
            assert!(!veiled.contains(['$', '"', '(']), "{veiled}");
            assert_eq!(unveiled(veiled), word);
        }
        for plain in ["a=[x]", "1[2]=3", "[a]=b", "echo", ""] {
            assert_eq!(veiled(plain.to_owned()), plain);
        }
    }

    #[test]
    fn a_text_that_uses_our_signs_is_refused() {
        let analysis = crate::analyse("echo \u{e0f0}6c73\u{e0f1}");
        assert!(!analysis.unknowns.is_empty());
    }
}
