//! Programs that start the command in their arguments as it stands there.
//!
//! Owns: the table of such programs. Does not own: programs that read a command out of an option or
//! a text (`tools`), shells (`interpreters`).

use crate::analysis::{Assignment, Reach, Span, UnknownReason};
use crate::commands::{run_joined, run_wrapped};
use crate::folder::Move;
use crate::options::{self, Spec, Start};
use crate::walk::Walker;
use crate::word::Word;

mod place;
mod table;

use table::{BEHIND_DASHES, FRONT, SUBCOMMANDS, UNREAD, WRAPPERS, spec};

/// Runs what a wrapper starts; `false` if this is not one.
pub(crate) fn run(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) -> bool {
    match name {
        "sudo" | "sudo-rs" => sudo(walker, name, args, span),
        "env" | "genv" => env(walker, name, args, span),
        "command" => {
            // `-v` and `-V` only look.
            if !args
                .first()
                .and_then(Word::literal)
                .is_some_and(|arg| arg.starts_with('-') && arg.contains(['v', 'V']))
            {
                start(walker, name, args, options::command(&spec("p", ""), args), span);
            }
        }
        "ssh-agent" => {
            let at = options::command(&spec("csDdkt", "aEPO"), args);
            start(walker, name, args, at, span);
        }
        "cross-env" | "dotenv" | "retry" => {
            let at = args.iter().take_while(|arg| options::assigns(arg)).count();
            let rest = args.get(at..).unwrap_or_default();
            start(walker, name, rest, options::command(&Spec::PLAIN, rest), span);
        }
        "watch" => {
            let spec = Spec {
                flags: "bdegtcxpwCrf",
                valued: "nq",
                long: &[
                    "beep",
                    "color",
                    "differences",
                    "errexit",
                    "chgexit",
                    "no-title",
                    "exec",
                    "precise",
                ],
                long_valued: &["interval", "equexit"],
                ..Spec::PLAIN
            };
            match options::command(&spec, args) {
                Start::At(at) => {
                    let code = args.get(at..).unwrap_or_default();
                    run_joined(walker, Reach::Shell(name.to_owned()), code, span);
                }
                Start::Nothing => {}
                Start::Unclear => unclear(walker, name, args, span),
            }
        }
        _ => {
            if let Some((_, spec)) = WRAPPERS.iter().find(|(names, _)| names.contains(&name)) {
                start(walker, name, args, options::command(spec, args), span);
            } else {
                if UNREAD.contains(&name) && !args.is_empty() {
                    unclear(walker, name, args, span);
                    return true;
                }
                return subcommand(walker, name, args, span);
            }
        }
    }
    true
}

fn unclear(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    let text: Vec<String> = args.iter().map(ToString::to_string).collect();
    walker.under(Reach::Wrapper(name.to_owned()), |walker| {
        walker.unknown(span, UnknownReason::WrapperOptions, &text.join(" "));
    });
}

fn start(walker: &mut Walker<'_>, name: &str, args: &[Word], start: Start, span: Span) {
    match start {
        Start::At(at) => {
            let (options, argv) = args.split_at_checked(at).unwrap_or_default();
            placed(walker, name, options, argv, Vec::new(), span);
        }
        Start::Nothing => {}
        Start::Unclear => unclear(walker, name, args, span),
    }
}

/// Runs what a wrapper with these options starts, where it starts it.
fn placed(
    walker: &mut Walker<'_>,
    name: &str,
    options: &[Word],
    argv: &[Word],
    assignments: Vec<Assignment>,
    span: Span,
) {
    let reach = Reach::Wrapper(name.to_owned());
    match place::of(name, options) {
        // `command cd` moves this very shell.
        Move::Stay => run_wrapped(walker, reach, argv, assignments, span),
        to => walker.apart_in(&to, |walker| run_wrapped(walker, reach, argv, assignments, span)),
    }
}

/// How many words of known options stand before the subcommand.
fn before_verb(name: &str, args: &[Word]) -> usize {
    let Some((_, spec)) = FRONT.iter().find(|(programs, _)| programs.contains(&name)) else {
        return 0;
    };
    match options::operands(spec, args) {
        Start::At(at) => at,
        Start::Nothing | Start::Unclear => 0,
    }
}

fn subcommand(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) -> bool {
    if let Some((_, verbs)) = BEHIND_DASHES.iter().find(|(program, _)| *program == name) {
        let verb = args.iter().any(|arg| arg.literal().is_none_or(|arg| verbs.contains(&arg)));
        if verb {
            start(walker, name, args, options::behind_dashes(args), span);
            return true;
        }
    }
    let mut known = false;
    let args = args.get(before_verb(name, args)..).unwrap_or_default();
    for (programs, verbs, spec) in SUBCOMMANDS {
        if !programs.contains(&name) {
            continue;
        }
        known = true;
        let given: Vec<Option<&str>> = args.iter().take(verbs.len()).map(Word::literal).collect();
        if given.len() == verbs.len() && given.iter().zip(*verbs).all(|(a, b)| *a == Some(*b)) {
            let rest = args.get(verbs.len()..).unwrap_or_default();
            start(walker, name, rest, options::command(spec, rest), span);
            return true;
        }
    }
    if known {
        // Options before the subcommand, or a subcommand that is not known.
        let hidden = args.first().is_some_and(|first| match first.literal() {
            Some(text) => text.starts_with('-'),
            None => true,
        });
        let starts = args
            .iter()
            .any(|arg| arg.literal().is_none_or(|arg| matches!(arg, "run" | "exec" | "dlx")));
        if hidden && starts {
            unclear(walker, name, args, span);
        }
        return hidden && starts;
    }
    false
}

/// What a wrapper starts with the `NAME=value` words that stand before it.
fn run_assigned(walker: &mut Walker<'_>, name: &str, options: &[Word], words: &[Word], span: Span) {
    let at = words.iter().take_while(|word| options::assigns(word)).count();
    let (assigned, argv) = words.split_at(at);
    let assignments = assignments(walker, assigned, span);
    placed(walker, name, options, argv, assignments, span);
}

/// Words `NAME=value` as assignments.
fn assignments(walker: &mut Walker<'_>, words: &[Word], span: Span) -> Vec<Assignment> {
    let mut out = Vec::new();
    for word in words {
        let Some(name) = word.known_prefix().split_once('=').map(|(name, _)| name.to_owned())
        else {
            continue;
        };
        let value = word.without_prefix(name.len() + 1);
        walker.variable(&name, Some(&value), span);
        out.push(Assignment { name, value });
    }
    out
}

fn sudo(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    let spec = Spec {
        flags: "AbBEHnPSis",
        valued: "CDghpRrtTUu",
        long: &[
            "askpass",
            "background",
            "bell",
            "preserve-env",
            "set-home",
            "login",
            "non-interactive",
            "preserve-groups",
            "stdin",
            "shell",
        ],
        long_valued: &[
            "chdir",
            "close-from",
            "group",
            "host",
            "prompt",
            "chroot",
            "role",
            "type",
            "command-timeout",
            "other-user",
            "user",
        ],
        ..Spec::PLAIN
    };
    let only = |letters: [&str; 8]| {
        args.first().and_then(Word::literal).is_some_and(|arg| letters.contains(&arg))
    };
    if only(["-l", "-v", "-k", "-K", "--list", "--validate", "--reset-timestamp", "-V"]) {
        return;
    }
    match options::operands(&spec, args) {
        Start::At(from) => {
            let (options, words) = args.split_at_checked(from).unwrap_or_default();
            run_assigned(walker, name, options, words, span);
        }
        Start::Nothing => {
            let shell = args.iter().filter_map(Word::literal).any(|arg| {
                matches!(arg, "--login" | "--shell")
                    || (arg.starts_with('-') && !arg.starts_with("--") && arg.contains(['i', 's']))
            });
            if shell {
                crate::interpreters::runs_input(walker, name, span);
            }
        }
        Start::Unclear => unclear(walker, name, args, span),
    }
}

fn env(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    let spec = Spec {
        flags: "i0v-",
        valued: "uCa",
        long: &[
            "ignore-environment",
            "null",
            "debug",
            "list-signal-handling",
            "default-signal",
            "ignore-signal",
            "block-signal",
        ],
        long_valued: &["unset", "chdir", "argv0"],
        ..Spec::PLAIN
    };
    match options::operands(&spec, args) {
        Start::At(from) => {
            let (options, words) = args.split_at_checked(from).unwrap_or_default();
            run_assigned(walker, name, options, words, span);
        }
        Start::Nothing => {}
        Start::Unclear => match split_string(args) {
            Some(argv) => run_assigned(walker, name, &[], &argv, span),
            None => unclear(walker, name, args, span),
        },
    }
}

/// `env -S 'program args' more`, where the text has nothing but blanks to split at.
fn split_string(args: &[Word]) -> Option<Vec<Word>> {
    let first = args.first()?.literal()?;
    let (text, rest) = if first == "-S" || first == "--split-string" {
        (args.get(1)?.literal()?, args.get(2..)?)
    } else if let Some(text) = first.strip_prefix("-S").or(first.strip_prefix("--split-string=")) {
        (text, args.get(1..)?)
    } else {
        return None;
    };
    let plain = text.trim_start_matches(' ');
    if plain.starts_with('-') || plain.contains(['\'', '"', '\\', '$', '#', '\t', '\n']) {
        return None;
    }
    let mut argv: Vec<Word> = plain
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(|word| Word::Literal(word.to_owned()))
        .collect();
    argv.extend_from_slice(rest);
    (!argv.is_empty()).then_some(argv)
}
