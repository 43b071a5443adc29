//! Programs that start a command for each file or each item they read.

use super::unknown;
use crate::analysis::{Reach, Span, UnknownReason};
use crate::commands::{run_code, run_wrapped};
use crate::effects::{below_folder, joined};
use crate::folder::Move;
use crate::interpreters::runs_input;
use crate::matching::may_become;
use crate::options::{self, Spec, Start};
use crate::walk::{Input, Walker};
use crate::word::{Glob, Pattern, Piece, Word};

pub(super) fn xargs(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    let spec = Spec {
        flags: "0rtpxo",
        valued: "adEInLPs",
        long: &[
            "null",
            "no-run-if-empty",
            "verbose",
            "interactive",
            "exit",
            "open-tty",
            "show-limits",
            "replace",
            "eof",
            "max-lines",
        ],
        long_valued: &[
            "arg-file",
            "delimiter",
            "max-args",
            "max-procs",
            "max-chars",
            "process-slot-var",
        ],
        ..Spec::PLAIN
    };
    let at = match options::command(&spec, args) {
        Start::At(at) => at,
        Start::Nothing => return,
        Start::Unclear => return unknown(walker, UnknownReason::WrapperOptions, args, span),
    };
    let (options, argv) = args.split_at_checked(at).unwrap_or_default();
    let mut mark = None;
    for (at, option) in options.iter().enumerate() {
        let text = option.literal().unwrap_or_default();
        if text == "--replace" {
            mark = Some("{}".to_owned());
        } else if let Some(value) = text.strip_prefix("--replace=") {
            mark = Some(value.to_owned());
        } else if let Some(cluster) = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'))
            && let Some((flags, value)) = cluster.split_once('I')
            && !flags.contains(['a', 'd', 'E', 'n', 'L', 'P', 's'])
        {
            let next = options.get(at + 1).and_then(Word::literal);
            mark = Some(if value.is_empty() { next.unwrap_or_default() } else { value }.to_owned());
        }
    }
    let argv: Vec<Word> = match mark {
        Some(mark) => argv.iter().map(|word| word.with_hole(&mark)).collect(),
        None => argv.iter().cloned().chain([Word::anything()]).collect(),
    };
    walker.fed(Input::Dynamic, |walker| {
        run_wrapped(walker, Reach::EachInput(name.to_owned()), &argv, Vec::new(), span);
    });
}

pub(super) fn parallel(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    let spec = Spec {
        flags: "0kXqu",
        valued: "jNnIad",
        long: &[
            "keep-order",
            "bar",
            "progress",
            "dry-run",
            "line-buffer",
            "ungroup",
            "tag",
            "will-cite",
            "null",
            "eta",
        ],
        long_valued: &[
            "jobs", "halt", "timeout", "delay", "joblog", "colsep", "retries", "results",
        ],
        ..Spec::PLAIN
    };
    let at = match options::command(&spec, args) {
        Start::At(at) => at,
        Start::Nothing => return runs_input(walker, name, span),
        Start::Unclear => return unknown(walker, UnknownReason::WrapperOptions, args, span),
    };
    let words = args.get(at..).unwrap_or_default();
    let template: Vec<&Word> = words
        .iter()
        .take_while(|word| !word.literal().is_some_and(|t| t.starts_with(":::")))
        .collect();
    if template.is_empty() {
        // Each argument is a command line of its own.
        return unknown(walker, UnknownReason::DynamicCode, args, span);
    }
    let mut texts = Vec::new();
    for word in template {
        match word.literal() {
            // A mark becomes a quoted value; without any, values are appended.
            Some(text) => texts.push(text.replace("{}", "\"$1\"")),
            None => return unknown(walker, UnknownReason::DynamicCode, args, span),
        }
    }
    let mut code = texts.join(" ");
    // Marks such as `{.}` and `{1}` are not replaced: braces then make the text unanalysable.
    if !code.contains("\"$1\"") {
        if code.contains('{') {
            return unknown(walker, UnknownReason::DynamicCode, args, span);
        }
        code.push_str(" $@");
    } else if code.contains('{') {
        return unknown(walker, UnknownReason::DynamicCode, args, span);
    }
    run_code(walker, Reach::EachInput(name.to_owned()), &Word::Literal(code), span);
}

pub(super) fn find(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    const ACTIONS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];
    let found = found(args);
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        let behind = args.get(at..).unwrap_or_default();
        if arg.literal().is_none() && !only_globs(arg) {
            // It could be an action, with what follows as its command; several words could be a
            // whole one.
            let action =
                ACTIONS.iter().any(|action| may_become(std::slice::from_ref(arg), &[action]));
            let ends =
                behind.iter().any(|end| end.literal().is_none_or(|end| end == ";" || end == "+"));
            if (action && ends) || (!arg.is_one() && arg.known_prefix().is_empty()) {
                unknown(walker, UnknownReason::WrapperOptions, args, span);
            }
        }
        if !matches!(arg.literal(), Some("-exec" | "-execdir" | "-ok" | "-okdir")) {
            continue;
        }
        let rest = behind;
        let mut argv = Vec::new();
        let mut closed = false;
        for word in rest {
            at += 1;
            match word.literal() {
                Some(";") => closed = true,
                Some("+") if argv.last().and_then(Word::literal) == Some("{}") => {
                    argv.pop();
                    argv.push(found.several());
                    closed = true;
                }
                _ => argv.push(word.clone()),
            }
            if closed {
                break;
            }
        }
        if !closed {
            return unknown(walker, UnknownReason::WrapperOptions, args, span);
        }
        let in_its_folder = arg.literal().is_some_and(|action| action.ends_with("dir"));
        let argv: Vec<Word> = argv
            .iter()
            .map(|word| match word.literal() {
                Some("{}") if !in_its_folder => found.one.clone(),
                Some("{}") => Word::one_of_any_text(),
                _ => word.with_hole("{}"),
            })
            .collect();
        let to = if in_its_folder { Move::Unknown } else { Move::Stay };
        walker.apart_in(&to, |walker| {
            run_wrapped(walker, Reach::EachFile(name.to_owned()), &argv, Vec::new(), span);
        });
    }
}

/// The paths that `find` finds, as far as its arguments say.
struct Found {
    one: Word,
}

impl Found {
    /// Several of them, or none.
    fn several(&self) -> Word {
        match self.one.clone() {
            Word::Pattern(pattern) if self.one.is_below() => {
                Word::Pattern(Pattern { splits: true, none: true, ..pattern })
            }
            _ => Word::anything(),
        }
    }
}

fn found(args: &[Word]) -> Found {
    let any = Found { one: Word::one_of_any_text() };
    let listed = |arg: &Word| arg.literal().is_none_or(|text| text.starts_with("-files0-from"));
    let begin = args.iter().take_while(|arg| {
        arg.literal()
            .is_some_and(|text| matches!(text, "-H" | "-L" | "-P") || text.starts_with("-O"))
    });
    let args = args.get(begin.count()..).unwrap_or_default();
    let roots = args.iter().take_while(|arg| !arg.known_prefix().starts_with(['-', '(', '!']));
    let root = match roots.collect::<Vec<_>>().as_slice() {
        [] => Word::Literal(".".to_owned()),
        [one] => (*one).clone(),
        _ => return any,
    };
    if args.iter().skip(1).any(listed) {
        return any;
    }
    let Some(below) = below_folder(&root) else { return any };
    Found { one: named(args, &root, &below).unwrap_or(below) }
}

/// The same with what `-name` says of the last part, where every file has to be like that.
fn named(args: &[Word], root: &Word, below: &Word) -> Option<Word> {
    let is = |wanted: &[&str]| {
        args.iter().filter(|arg| arg.literal().is_some_and(|text| wanted.contains(&text))).count()
    };
    let choices = ["-o", "-or", "!", "-not", ",", "(", ")", "-iname", "-regex"];
    if is(&["-name"]) != 1 || is(&choices) > 0 {
        return None;
    }
    let at = args.iter().position(|arg| arg.literal() == Some("-name"))?;
    // An action before it is not bound by it.
    if args.iter().take(at).any(|arg| arg.known_prefix().starts_with("-ex")) {
        return None;
    }
    let name = args.get(at + 1)?.literal()?;
    // The root itself is found too, and has no name like that.
    let last = root.known_prefix().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let other = name.trim_matches('*').contains('.')
        && (matches!(last, "." | "..") || !last.is_empty() && !last.contains('.'));
    if !other || name.contains(['[', '\\', '?', '/']) {
        return None;
    }
    let mut pieces = below.pieces();
    pieces.push(Piece::Text("/".to_owned()));
    for (at, part) in name.split('*').enumerate() {
        if at > 0 {
            pieces.push(Piece::Glob(Glob::Run));
        }
        if !part.is_empty() {
            pieces.push(Piece::Text(part.to_owned()));
        }
    }
    Some(joined(pieces))
}

fn only_globs(word: &Word) -> bool {
    word.pieces().iter().all(|piece| !matches!(piece, Piece::Any | Piece::Below | Piece::Pipe))
}

pub(super) fn fd(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    let at = args
        .iter()
        .position(|arg| matches!(arg.literal(), Some("-x" | "-X" | "--exec" | "--exec-batch")));
    let Some(at) = at else {
        let attached = args.iter().any(|arg| {
            let text = arg.known_prefix();
            text.starts_with("--exec")
                || (text.starts_with('-') && !text.starts_with("--") && text.contains(['x', 'X']))
                || !arg.is_one()
        });
        if attached {
            unknown(walker, UnknownReason::WrapperOptions, args, span);
        }
        return;
    };
    let words = args.get(at + 1..).unwrap_or_default();
    let mut argv: Vec<Word> = words
        .iter()
        .take_while(|word| word.literal() != Some(";"))
        .map(|word| {
            ["{}", "{/}", "{//}", "{.}", "{/.}"]
                .iter()
                .fold(word.clone(), |word, mark| word.with_hole(mark))
        })
        .collect();
    argv.push(Word::anything());
    run_wrapped(walker, Reach::EachFile(name.to_owned()), &argv, Vec::new(), span);
}
