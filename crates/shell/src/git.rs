//! What `git` starts besides itself: aliases, settings and options that name commands.
//!
//! Owns: git's own way of running things. Does not own: which git commands are dangerous.

use crate::analysis::{Reach, Span, UnknownReason};
use crate::commands::{run_code, run_joined, run_wrapped};
use crate::folder::Move;
use crate::tools::{option_values, short_values, unknown};
use crate::walk::{Walker, Worktree};
use crate::word::Word;

/// Settings whose value git runs as a command.
fn names_command(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let last = key.rsplit('.').next().unwrap_or(&key);
    matches!(
        last,
        "pager"
            | "editor"
            | "sshcommand"
            | "fsmonitor"
            | "askpass"
            | "external"
            | "command"
            | "textconv"
            | "driver"
            | "clean"
            | "smudge"
            | "process"
            | "helper"
            | "program"
            | "gitproxy"
            | "cmd"
            | "uploadpack"
            | "receivepack"
            | "packobjectshook"
            | "browser"
            | "path"
            | "hookspath"
            | "tool"
            | "guitool"
            | "alternaterefscommand"
            | "vcs"
            | "defaultkeycommand"
            | "sendemail"
            | "smtpserver"
            | "tocmd"
            | "cccmd"
            | "headercmd"
    ) || key.starts_with("pager.")
        || key.starts_with("includeif.")
}

/// Analyses what a git command starts.
pub(crate) fn run(walker: &mut Walker<'_>, args: &[Word], span: Span) {
    // Hooks and settings that the same line writes would be run.
    walker.runs_file(&Word::Literal(".git".to_owned()), span);
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let prefix = arg.known_prefix();
        match arg.literal() {
            Some("-c") => {
                let Some(value) = args.get(at + 1) else { return };
                setting(walker, value, args.get(at + 2..).unwrap_or_default(), span);
                at += 2;
            }
            Some("-C" | "--git-dir" | "--work-tree" | "--namespace" | "--super-prefix") => at += 2,
            Some("--exec-path" | "--html-path" | "--man-path" | "--info-path") => at += 1,
            _ if prefix.starts_with("--exec-path=") || prefix.starts_with("--config-env") => {
                unknown(walker, UnknownReason::ProgramOption, args, span);
                at += 1;
            }
            Some(text) if text.starts_with('-') => at += 1,
            Some(verb) => {
                let verb = verb.to_owned();
                return subcommand(walker, &verb, args.get(at + 1..).unwrap_or_default(), span);
            }
            None => {
                // The subcommand, or an option before it, is decided at run time: an alias or a
                // setting may be meant.
                return unknown(walker, UnknownReason::WrapperOptions, args, span);
            }
        }
    }
}

/// `-c name=value`.
fn setting(walker: &mut Walker<'_>, setting: &Word, rest: &[Word], span: Span) {
    let prefix = setting.known_prefix();
    let Some((key, _)) = prefix.split_once('=') else {
        if setting.literal().is_none() {
            unknown(walker, UnknownReason::ProgramOption, std::slice::from_ref(setting), span);
        }
        return;
    };
    let key = key.to_owned();
    let value = setting.without_prefix(key.len() + 1);
    let reach = || Reach::GitSetting(key.clone());
    if key.to_ascii_lowercase().starts_with("alias.") {
        if value.known_prefix().starts_with('!') {
            return run_code(walker, reach(), &value.without_prefix(1), span);
        }
        match value.literal() {
            // The alias is a git command line; `git` itself is run with it.
            Some(text) if !text.contains(['\'', '"', '\\']) => {
                let verbs =
                    text.split_ascii_whitespace().map(|word| Word::Literal(word.to_owned()));
                let argv: Vec<Word> = [Word::Literal("git".to_owned())]
                    .into_iter()
                    .chain(verbs)
                    .chain(rest.iter().skip(1).cloned())
                    .collect();
                walker.apart_in(&Move::Unknown, |walker| {
                    run_wrapped(walker, reach(), &argv, Vec::new(), span);
                });
            }
            _ => unknown(walker, UnknownReason::ProgramOption, &[value], span),
        }
    } else if names_command(&key) {
        let value =
            if value.known_prefix().starts_with('!') { value.without_prefix(1) } else { value };
        if matches!(value.literal(), Some("" | "true" | "false")) {
            return;
        }
        run_code(walker, reach(), &value, span);
    }
}

fn subcommand(walker: &mut Walker<'_>, verb: &str, args: &[Word], span: Span) {
    match verb {
        "config" => {
            let moves = |arg: &Word| arg.literal().is_none_or(crate::effects::git::names_worktree);
            if args.iter().any(moves) {
                walker.worktree = Worktree::Elsewhere;
            }
            let reads = args.iter().any(|arg| {
                arg.literal().is_some_and(|text| {
                    text.starts_with("--get")
                        || text.starts_with("--unset")
                        || matches!(text, "--list" | "-l" | "get" | "list" | "unset")
                })
            });
            let names: Vec<&Word> =
                args.iter().filter(|arg| !arg.known_prefix().starts_with('-')).collect();
            let commands = names.iter().any(|arg| {
                arg.literal().is_none_or(|text| {
                    text.to_ascii_lowercase().starts_with("alias.")
                        || (text.contains('.') && names_command(text))
                })
            });
            if commands && !reads && names.len() > 1 {
                unknown(walker, UnknownReason::Alias, args, span);
            }
        }
        "rebase" => {
            let codes = option_values(args, &["--exec"]);
            for code in codes.into_iter().chain(short_values(args, 'x')) {
                run_code(walker, Reach::Option("git".to_owned()), &code, span);
            }
        }
        "bisect" => {
            if args.first().and_then(Word::literal) == Some("run") {
                let argv = args.get(1..).unwrap_or_default();
                walker.apart_in(&Move::Unknown, |walker| {
                    run_wrapped(walker, Reach::Wrapper("git".to_owned()), argv, Vec::new(), span);
                });
            }
        }
        "submodule" => {
            if let Some(at) = args.iter().position(|arg| arg.literal() == Some("foreach")) {
                let words = args.get(at + 1..).unwrap_or_default();
                let options =
                    words.iter().take_while(|word| word.known_prefix().starts_with('-')).count();
                let words = words.get(options..).unwrap_or_default();
                walker.apart_in(&Move::Unknown, |walker| {
                    run_joined(walker, Reach::Wrapper("git".to_owned()), words, span);
                });
            }
        }
        // These do what `git push` does.
        "send-pack" | "http-push" => {
            run_git(walker, &["push"], args, span);
            programs(walker, verb, args, span);
        }
        "subtree" if args.first().and_then(Word::literal) == Some("push") => {
            let rest: Vec<Word> = args
                .iter()
                .skip(1)
                .filter(|arg| !arg.known_prefix().starts_with("--prefix"))
                .cloned()
                .collect();
            run_git(walker, &["push"], &rest, span);
        }
        "for-each-repo" => {
            let options = args.iter().take_while(|arg| arg.known_prefix().starts_with('-')).count();
            let split = args.iter().take(options).any(|arg| arg.literal() == Some("--config"));
            let rest = args.get(options + usize::from(split)..).unwrap_or_default();
            walker.apart_in(&Move::Unknown, |walker| run_git(walker, &[], rest, span));
        }
        // They start what the settings name, or a program in an argument.
        "difftool" | "mergetool" | "web--browse" | "remote-ext" | "filter-branch"
        | "send-email" | "instaweb" | "daemon" | "shell" => {
            unknown(walker, UnknownReason::ProgramOption, args, span);
        }
        "grep" => {
            let pager = args.iter().any(|arg| {
                let text = arg.known_prefix();
                (text.starts_with('-') && !text.starts_with("--") && text.contains('O'))
                    || (text.len() > 3 && "--open-files-in-pager".starts_with(long(text)))
            });
            if pager {
                unknown(walker, UnknownReason::ProgramOption, args, span);
            }
        }
        _ => programs(walker, verb, args, span),
    }
}

fn long(text: &str) -> &str {
    text.split('=').next().unwrap_or(text)
}

/// Runs another git command that this one is.
fn run_git(walker: &mut Walker<'_>, begin: &[&str], rest: &[Word], span: Span) {
    let begin = ["git"].iter().chain(begin).map(|word| Word::Literal((*word).to_owned()));
    let argv: Vec<Word> = begin.chain(rest.iter().cloned()).collect();
    run_wrapped(walker, Reach::Wrapper("git".to_owned()), &argv, Vec::new(), span);
}

/// Options of a subcommand that name a program.
fn programs(walker: &mut Walker<'_>, verb: &str, args: &[Word], span: Span) {
    let programs = ["--extcmd", "--upload-pack", "--receive-pack", "--exec", "--ext-diff"];
    let given = args.iter().any(|arg| {
        let text = arg.known_prefix();
        let name = long(text);
        name.len() > 2 && programs.iter().any(|program| program.starts_with(name))
    });
    let short = match verb {
        "difftool" => Some("-x"),
        "clone" | "fetch" | "ls-remote" => Some("-u"),
        _ => None,
    };
    let short = short.is_some_and(|short| {
        verb != "fetch" && args.iter().any(|arg| arg.known_prefix().starts_with(short))
    });
    if given || short {
        unknown(walker, UnknownReason::ProgramOption, args, span);
    }
    if matches!(verb, "clone" | "fetch" | "pull" | "push" | "remote" | "ls-remote" | "submodule")
        && args.iter().any(|arg| arg.known_prefix().starts_with("ext::"))
    {
        unknown(walker, UnknownReason::ProgramOption, args, span);
    }
    // `clone -c alias.x=…` sets it in the clone.
    if verb == "clone" {
        for value in option_values(args, &["-c", "--config"]) {
            setting(walker, &value, &[], span);
        }
    }
}
