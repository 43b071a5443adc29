//! What a shell command line would run, as a tree for people and as JSON.

use std::fmt::Write as _;

use serde::Serialize;
use tenter::Event;
use tenter::core::shell::{Analysis, FileUse, Link, Reach, Word, analyse};

use super::style::{ASKS, DIM, PLAIN, STRONG, paint};
use super::text;

/// What `tenter explain --json` says of a command line.
#[derive(Debug, Serialize)]
pub(crate) struct ShellForm {
    commands: Vec<CommandForm>,
    unknowns: Vec<UnknownForm>,
    writes: Vec<String>,
    reads: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CommandForm {
    words: Vec<String>,
    via: Vec<String>,
    span: [usize; 2],
}

#[derive(Debug, Serialize)]
struct UnknownForm {
    reason: &'static str,
    text: String,
    via: Vec<String>,
    span: [usize; 2],
}

/// What the command of an event would run; `None` if the event is about no shell command.
pub(crate) fn analysis(event: &Event) -> Option<Analysis> {
    let call = event.tool_call().filter(|call| call.name == "Bash")?;
    let command = call.input.get("command")?;
    Some(analyse(&command.as_str()?))
}

/// An analysis as JSON.
pub(crate) fn form(analysis: &Analysis) -> ShellForm {
    let names = |uses: &[FileUse]| uses.iter().map(|one| one.path.to_string()).collect();
    ShellForm {
        commands: analysis
            .commands
            .iter()
            .map(|one| CommandForm {
                words: one.argv.iter().map(Word::to_string).collect(),
                via: one.via.iter().map(label).collect(),
                span: [one.span.start, one.span.end],
            })
            .collect(),
        unknowns: analysis
            .unknowns
            .iter()
            .map(|one| UnknownForm {
                reason: one.reason.describe(),
                text: one.text.clone(),
                via: one.via.iter().map(label).collect(),
                span: [one.span.start, one.span.end],
            })
            .collect(),
        writes: names(&analysis.writes),
        reads: names(&analysis.reads),
    }
}

/// An analysis for people: one line a command, deeper what is reached through another.
pub(crate) fn human(analysis: &Analysis, width: usize) -> String {
    let mut out = format!("{}\n", paint(STRONG, "the command line would run"));
    let known = analysis.commands.iter().map(|one| Item {
        start: one.span.start,
        words: one.argv.iter().map(Word::to_string).collect::<Vec<_>>().join(" "),
        via: &one.via,
        unknown: None,
    });
    let unknown = analysis.unknowns.iter().map(|one| Item {
        start: one.span.start,
        words: one.text.clone(),
        via: &one.via,
        unknown: Some(one.reason.describe()),
    });
    let mut items: Vec<_> = known.chain(unknown).collect();
    items.sort_by_key(|item| item.start);
    for item in items {
        draw(&mut out, &item, width);
    }
    for (label, uses) in [("writes", &analysis.writes), ("reads", &analysis.reads)] {
        if !uses.is_empty() {
            let paths: Vec<_> = uses.iter().map(|one| one.path.to_string()).collect();
            let paths = text::one_line(&paths.join(", "), width.saturating_sub(10).max(20));
            let _ = writeln!(out, "  {} {paths}", paint(DIM, format!("{label}:")));
        }
    }
    out
}

/// One line of the tree.
struct Item<'a> {
    start: usize,
    words: String,
    via: &'a [Reach],
    /// Why it could not be analysed, if it could not.
    unknown: Option<&'static str>,
}

fn draw(out: &mut String, item: &Item<'_>, width: usize) {
    let indent = 2 + 2 * item.via.iter().filter(|reach| nests(reach)).count();
    let how = item.via.last().map(label).unwrap_or_default();
    let beside = [item.unknown.unwrap_or_default(), &how].into_iter();
    let beside = beside.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    let room = width.saturating_sub(indent + 4 + text::width(&beside)).max(20);
    let (mark, style) = if item.unknown.is_some() { ("?", ASKS) } else { ("·", PLAIN) };
    let words = paint(style, text::one_line(&item.words, room));
    let line = format!("{}{} {words}", " ".repeat(indent), paint(style, mark));
    let beside = if beside.is_empty() { beside } else { format!("  {}", paint(DIM, beside)) };
    // Writing to a `String` does not fail.
    let _ = writeln!(out, "{line}{beside}");
}

/// Whether what is reached this way stands inside something else.
fn nests(reach: &Reach) -> bool {
    !matches!(reach, Reach::Pipeline { .. } | Reach::List(_) | Reach::Background)
}

/// How a command is reached, in a few words.
fn label(reach: &Reach) -> String {
    match reach {
        Reach::Pipeline { position, of } => format!("part {} of {of} of a pipeline", position + 1),
        Reach::List(Link::Then) => "then".into(),
        Reach::List(Link::And) => "if that worked".into(),
        Reach::List(Link::Or) => "if that failed".into(),
        Reach::Background => "in the background".into(),
        Reach::Subshell => "in a subshell".into(),
        Reach::Group => "in a group".into(),
        Reach::Condition => "as a condition".into(),
        Reach::Branch => "in a branch".into(),
        Reach::Loop => "in a loop".into(),
        Reach::Substitution => "in a substitution".into(),
        Reach::ProcessSubstitution => "in a process substitution".into(),
        Reach::Function(name) => format!("in the function {name}"),
        Reach::Coprocess => "as a coprocess".into(),
        Reach::HereText(program) => format!("in text that {program} runs"),
        Reach::Shell(shell) => format!("through {shell} -c"),
        Reach::Eval => "through eval".into(),
        Reach::Trap => "through trap".into(),
        Reach::Wrapper(program) => format!("through {program}"),
        Reach::EachInput(program) => format!("for each input of {program}"),
        Reach::EachFile(program) => format!("for each file of {program}"),
        Reach::GitSetting(name) => format!("through the git setting {name}"),
        Reach::Remote(host) => format!("on {host}"),
        Reach::Variable(name) => format!("through the variable {name}"),
        Reach::Option(name) => format!("through the option {name}"),
    }
}
