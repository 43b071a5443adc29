//! Programs that run a command elsewhere, as somebody else, or under a lock, through a shell.

use super::{literal, short_values, unknown};
use crate::analysis::{Reach, Span, UnknownReason};
use crate::commands::{run_code, run_joined, run_wrapped};
use crate::folder::Move;
use crate::interpreters::runs_input;
use crate::options::{self, Spec, Start};
use crate::walk::Walker;
use crate::word::Word;

pub(super) fn ssh(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    ssh_options(walker, name, args, span);
    let spec =
        Spec { flags: "46AaCfGgKkMNnqsTtVvXxYy", valued: "BbcDEeFIiJLlmOoPpQRSWw", ..Spec::PLAIN };
    let at = match options::operands(&spec, args) {
        Start::At(at) => at,
        Start::Nothing => return,
        Start::Unclear => return unknown(walker, UnknownReason::WrapperOptions, args, span),
    };
    let Some(host) = args.get(at).filter(|host| host.is_one()) else {
        return unknown(walker, UnknownReason::WrapperOptions, args, span);
    };
    let reach = Reach::Remote(host.to_string());
    let rest = args.get(at + 1..).unwrap_or_default();
    // Options may also follow the host.
    let rest = match options::operands(&spec, rest) {
        Start::At(at) => rest.get(at..).unwrap_or_default(),
        Start::Nothing => &[],
        Start::Unclear => return unknown(walker, UnknownReason::WrapperOptions, args, span),
    };
    if rest.is_empty() {
        walker.under(reach, |walker| runs_input(walker, name, span));
    } else {
        run_joined(walker, reach, rest, span);
    }
}

/// `-o ProxyCommand=…` and the like run a command on this machine.
pub(super) fn ssh_options(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    for option in short_values(args, 'o') {
        let text = option.known_prefix();
        let split = text.find(['=', ' ']);
        let Some(at) = split else {
            if option.literal().is_none() {
                unknown(walker, UnknownReason::ProgramOption, args, span);
            }
            continue;
        };
        let key = text.get(..at).unwrap_or_default().to_ascii_lowercase();
        if matches!(
            key.trim(),
            "proxycommand" | "localcommand" | "knownhostscommand" | "xauthlocation"
        ) || key.trim().ends_with("provider")
        {
            let code = option.without_prefix(at + 1);
            run_code(walker, Reach::Option(name.to_owned()), &code, span);
        }
    }
}

pub(super) fn su(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    let mut at = 0;
    let mut code = None;
    // `runuser` starts a program as it stands.
    let mut program = None;
    while let Some(arg) = args.get(at) {
        at += 1;
        let prefix = arg.known_prefix();
        match arg.literal() {
            Some("-c" | "--command" | "--session-command" | "-lc") => {
                code = Some(args.get(at).cloned().unwrap_or_else(Word::anything));
                at += 1;
            }
            Some("-" | "-l" | "--login" | "-m" | "-p" | "-f" | "-P" | "--preserve-environment") => {
            }
            Some("-s" | "--shell" | "-g" | "-G" | "-u" | "--user" | "-w") => at += 1,
            Some("--") if name == "runuser" => {
                program = Some(at);
                break;
            }
            _ if prefix.starts_with("--command=") => code = Some(arg.without_prefix(10)),
            Some("--help" | "--version") => return,
            _ if prefix.starts_with('-') || (arg.literal().is_none() && prefix.is_empty()) => {
                return unknown(walker, UnknownReason::WrapperOptions, args, span);
            }
            _ if name == "runuser" && args.iter().any(|arg| arg.literal() == Some("-u")) => {
                program = Some(at - 1);
                break;
            }
            _ => {}
        }
    }
    if let Some(at) = program {
        let argv = args.get(at..).unwrap_or_default();
        return run_wrapped(walker, Reach::Wrapper(name.to_owned()), argv, Vec::new(), span);
    }
    match code {
        Some(code) => {
            // A login shell starts in the home folder of its user.
            let login = literals(args).any(|arg| matches!(arg, "-" | "-l" | "--login" | "-lc"));
            let to = if login { Move::Unknown } else { Move::Stay };
            walker.apart_in(&to, |walker| {
                run_code(walker, Reach::Shell(name.to_owned()), &code, span);
            });
        }
        None => runs_input(walker, name, span),
    }
}

fn literals(args: &[Word]) -> impl Iterator<Item = &str> {
    args.iter().filter_map(Word::literal)
}

pub(super) fn flock(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    let spec = Spec {
        flags: "sxenuoF",
        valued: "wE",
        long: &["shared", "exclusive", "unlock", "nonblock", "nb", "close", "no-fork", "verbose"],
        long_valued: &["timeout", "wait", "conflict-exit-code"],
        skip: 1,
        ..Spec::PLAIN
    };
    match options::command(&spec, args) {
        Start::At(at) => {
            if matches!(literal(args, at), Some("-c" | "--command")) {
                let code = args.get(at + 1).cloned().unwrap_or_else(Word::anything);
                run_code(walker, Reach::Shell(name.to_owned()), &code, span);
            } else {
                let argv = args.get(at..).unwrap_or_default();
                run_wrapped(walker, Reach::Wrapper(name.to_owned()), argv, Vec::new(), span);
            }
        }
        Start::Nothing => {}
        Start::Unclear => unknown(walker, UnknownReason::WrapperOptions, args, span),
    }
}
