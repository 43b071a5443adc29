//! What a simple command means for the analysis: builtins that run code or change how the line is
//! read, then wrappers, shells and interpreters, and the files it uses.
//!
//! Owns: builtins and variables, and the order in which the other tables are asked. Does not own:
//! those tables (`wrappers`, `tools`, `interpreters`, `effects`).

use crate::analysis::{Assignment, By, NoteKind, Reach, Redirection, Span, UnknownReason};
use crate::atoms::is_odd_char;
use crate::folder::{self, Move};
use crate::walk::{Input, Walker, Worktree};
use crate::word::Word;
use crate::{effects, interpreters, lexer, tools, wrappers};

/// Records a command and everything it would run in turn.
pub(crate) fn run(
    walker: &mut Walker<'_>,
    argv: Vec<Word>,
    assignments: Vec<Assignment>,
    redirections: Vec<Redirection>,
    span: Span,
) {
    if argv.is_empty() {
        if !assignments.is_empty() || !redirections.is_empty() {
            walker.record(argv, assignments, redirections, span);
        }
        return;
    }
    if !walker.spend(4 + argv.len(), span) {
        return;
    }
    walker.record(argv.clone(), assignments, redirections, span);
    let Some((program, args)) = argv.split_first() else { return };
    let Some(name) = program.program_name() else {
        // It may be one that sets variables or changes the folder.
        walker.state.shift();
        walker.state.roam();
        return walker.unknown(span, UnknownReason::DynamicProgram, &program.to_string());
    };
    if name.chars().any(|char| is_odd_char(char) || ('\u{ff01}'..='\u{ff5e}').contains(&char)) {
        walker.unknown(span, UnknownReason::OddCharacters, name);
    }
    if name.starts_with('-') {
        // `time -f …` is bash's own `time` and no option; another shell starts a program of this
        // name, with options and a command.
        let text: Vec<String> = argv.iter().map(ToString::to_string).collect();
        walker.unknown(span, UnknownReason::WrapperOptions, &text.join(" "));
    }
    if name.starts_with('=') {
        // In zsh `=rm` is the path of `rm`.
        walker.unknown(span, UnknownReason::Alias, name);
    }
    if program.known_prefix().contains('/') || program.literal().is_none() {
        walker.runs_file(program, span);
    }
    tools::named::run(walker, name, args, span);
    let wraps = builtin(walker, name, args, span) || wrappers::run(walker, name, args, span);
    let _ = wraps
        || tools::run(walker, name, args, span)
        || interpreters::run(walker, name, args, span);
    effects::uses(walker, name, args, wraps, span);
}

/// Runs what a wrapper starts.
pub(crate) fn run_wrapped(
    walker: &mut Walker<'_>,
    reach: Reach,
    argv: &[Word],
    assignments: Vec<Assignment>,
    span: Span,
) {
    // What is unwrapped again and again costs its whole length each time.
    if argv.is_empty() || !walker.spend(argv.len() * 8, span) {
        return;
    }
    // These start a builtin in this very shell.
    let here = matches!(&reach, Reach::Wrapper(name)
        if matches!(name.as_str(), "command" | "builtin" | "noglob" | "nocorrect"));
    walker.deeper(span, 1, |walker| {
        let inside = |walker: &mut Walker<'_>| {
            walker.under(reach, |walker| run(walker, argv.to_vec(), assignments, Vec::new(), span));
        };
        if here { inside(walker) } else { walker.apart(inside) }
    });
}

/// Runs code that a program hands to a shell, if its text is known.
pub(crate) fn run_code(walker: &mut Walker<'_>, reach: Reach, code: &Word, span: Span) {
    match code.shell_text() {
        Some(text) => {
            let here = matches!(reach, Reach::Eval | Reach::Trap);
            // Git and editors run commands in a folder of their choice.
            let astray = matches!(reach, Reach::GitSetting(_) | Reach::Variable(_))
                || matches!(&reach, Reach::Option(name) if name == "git");
            walker.deeper(span, 1, |walker| {
                let inside = |walker: &mut Walker<'_>| {
                    walker.under(reach, |walker| walker.code(&text, span));
                };
                if here {
                    inside(walker);
                } else {
                    let to = if astray { Move::Unknown } else { Move::Stay };
                    walker.apart_in(&to, |walker| {
                        walker.state = walker.state.child();
                        inside(walker);
                    });
                }
            });
        }
        None => dynamic_code(walker, reach, &code.to_string(), span),
    }
}

fn dynamic_code(walker: &mut Walker<'_>, reach: Reach, text: &str, span: Span) {
    if reach == Reach::Eval {
        walker.state.shift();
        walker.state.roam();
    }
    walker.under(reach, |walker| walker.unknown(span, UnknownReason::DynamicCode, text));
}

/// Runs words that a program joins by spaces and hands to a shell.
pub(crate) fn run_joined(walker: &mut Walker<'_>, reach: Reach, words: &[Word], span: Span) {
    if words.is_empty() {
        return;
    }
    let texts: Option<Vec<String>> = words.iter().map(Word::shell_text).collect();
    match texts {
        Some(texts) if words.iter().all(Word::is_one) => {
            run_code(walker, reach, &Word::Literal(texts.join(" ")), span);
        }
        Some(_) | None => dynamic_code(walker, reach, &self::words(words), span),
    }
}

fn literals(args: &[Word]) -> impl Iterator<Item = &str> {
    args.iter().filter_map(Word::literal)
}

fn has(args: &[Word], option: &str) -> bool {
    literals(args).any(|arg| arg == option)
}

/// Whether a word that is not known could be an option.
fn may_be_option(args: &[Word]) -> bool {
    args.iter().any(|arg| arg.literal().is_none() && arg.known_prefix().is_empty())
}

fn builtin(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) -> bool {
    match name {
        "eval" => {
            let args = if args.first().and_then(Word::literal) == Some("--") {
                args.get(1..).unwrap_or_default()
            } else {
                args
            };
            run_joined(walker, Reach::Eval, args, span);
        }
        "." | "source" => {
            let args = if args.first().and_then(Word::literal) == Some("--") {
                args.get(1..).unwrap_or_default()
            } else {
                args
            };
            if let Some(path) = args.first() {
                walker.state.shift();
                if activates(path) {
                    walker.note(NoteKind::LookupVariable, "PATH", span);
                } else {
                    walker.state.roam();
                    walker.unknown(span, UnknownReason::SourcesFile, &path.to_string());
                }
                walker.reads(path.clone(), By::Program(name.to_owned()), span);
                walker.runs_file(path, span);
            }
        }
        "trap" => trap(walker, args, span),
        "cd" | "chdir" | "pushd" | "popd" => folder::cd(walker, name, args),
        "alias" => {
            let sets = args.iter().any(|arg| match arg.literal() {
                Some(text) => text.contains('='),
                None => true,
            });
            if sets {
                walker.unknown(span, UnknownReason::Alias, &words(args));
            }
        }
        "shopt" => {
            let known =
                args.iter().all(|arg| arg.literal().is_some_and(|text| SAFE_SHOPT.contains(&text)));
            if !known {
                walker.unknown(span, UnknownReason::ShellOptions, &words(args));
            }
        }
        "set" => set(walker, args, span),
        "setopt" | "unsetopt" | "emulate" | "autoload" | "zmodload" => {
            walker.unknown(span, UnknownReason::ShellOptions, &words(args));
        }
        "hash" => {
            let plain = literals(args).all(|arg| arg == "-r" || !arg.starts_with('-'));
            if !plain || may_be_option(args) {
                walker.unknown(span, UnknownReason::Alias, &words(args));
            }
        }
        "enable" | "bind" | "complete" | "compgen" | "compopt" | "fc" | "zle" | "add-zsh-hook" => {
            if !args.is_empty() {
                walker.unknown(span, UnknownReason::Unsupported, &words(args));
            }
        }
        "mapfile" | "readarray" => {
            walker.evaluates();
            let calls = literals(args).any(|arg| arg.starts_with('-') && arg.contains(['C', 'c']));
            if calls || may_be_option(args) {
                walker.unknown(span, UnknownReason::Unsupported, &words(args));
            }
        }
        "jobs" => {
            if let Some(at) = args.iter().position(|arg| arg.literal() == Some("-x")) {
                let argv = args.get(at + 1..).unwrap_or_default();
                run_wrapped(walker, Reach::Wrapper(name.to_owned()), argv, Vec::new(), span);
            }
        }
        "export" if args.iter().all(is_plain_export) => export(walker, args, span),
        "declare" | "typeset" | "local" | "export" | "readonly" => {
            // They give names attributes, or another scope.
            walker.state.shift();
            declare(walker, args, span);
        }
        "let" | "read" | "unset" | "getopts" | "wait" => {
            walker.evaluates();
            if name != "unset" {
                for name in literals(args).filter(|arg| lexer::is_name(arg.as_bytes())) {
                    walker.variable(name, None, span);
                }
            }
            return false;
        }
        "test" | "[" | "printf" => {
            if has(args, "-v") || may_be_option(args) {
                walker.evaluates();
            }
            if let (Some("-v"), Some(name)) = (literals(args).next(), literals(args).nth(1)) {
                walker.variable(name, None, span);
            }
            return false;
        }
        _ => return false,
    }
    true
}

/// Options of `shopt` that do not change which commands a text is.
const SAFE_SHOPT: &[&str] = &[
    "-s",
    "-u",
    "-q",
    "-p",
    "-su",
    "-qs",
    "globstar",
    "dotglob",
    "failglob",
    "lastpipe",
    "inherit_errexit",
    "checkwinsize",
    "nocasematch",
    "histappend",
    "cmdhist",
    "checkjobs",
    "huponexit",
    "autocd",
    "cdspell",
];

/// Whether a file is the one that every Python environment has for changing `PATH`.
fn activates(path: &Word) -> bool {
    path.literal().is_some_and(|path| path.ends_with("/bin/activate"))
}

fn words(args: &[Word]) -> String {
    let args: Vec<String> = args.iter().map(ToString::to_string).collect();
    args.join(" ")
}

fn trap(walker: &mut Walker<'_>, args: &[Word], span: Span) {
    let args = match args.first().and_then(Word::literal) {
        Some("-l" | "-p" | "-P" | "-") => return,
        Some("--") => args.get(1..).unwrap_or_default(),
        _ => args,
    };
    // With one argument only, it is a signal that is reset.
    if let Some(code) = args.first().filter(|_| args.len() > 1 || args.iter().any(|a| !a.is_one()))
    {
        if code.literal() == Some("-") {
            return;
        }
        // When it runs is open, and what is on the input then.
        walker.fed(Input::Dynamic, |walker| {
            walker.at_any_time(|walker| run_code(walker, Reach::Trap, code, span));
        });
    }
}

fn set(walker: &mut Walker<'_>, args: &[Word], span: Span) {
    let mut takes_name = false;
    if args.iter().any(|arg| {
        let text = arg.known_prefix();
        text == "physical" || text.starts_with(['-', '+']) && text.contains('P')
    }) {
        // `..` is then counted by the folders themselves.
        walker.state.roam();
    }
    for arg in args {
        let Some(text) = arg.literal() else {
            if arg.known_prefix().is_empty() {
                walker.unknown(span, UnknownReason::ShellOptions, &words(args));
            }
            return;
        };
        if takes_name {
            takes_name = false;
            let safe = matches!(
                text,
                "pipefail"
                    | "errexit"
                    | "nounset"
                    | "xtrace"
                    | "verbose"
                    | "noglob"
                    | "noclobber"
                    | "allexport"
                    | "errtrace"
                    | "functrace"
                    | "monitor"
                    | "notify"
                    | "nolog"
                    | "ignoreeof"
                    | "history"
                    | "histexpand"
                    | "emacs"
                    | "vi"
                    | "posix"
            );
            if !safe {
                walker.unknown(span, UnknownReason::ShellOptions, &words(args));
                return;
            }
            continue;
        }
        let Some(letters) = text.strip_prefix(['-', '+']) else { return };
        if text == "--" || text == "-" {
            return;
        }
        if !letters.bytes().all(|letter| b"euxvfCahbmETHPo".contains(&letter)) {
            walker.unknown(span, UnknownReason::ShellOptions, &words(args));
            return;
        }
        takes_name = letters.contains('o');
    }
}

/// `NAME` or `NAME=value`, whatever the value becomes.
fn is_plain_export(arg: &Word) -> bool {
    let prefix = arg.known_prefix();
    match prefix.split_once('=') {
        Some((name, _)) => lexer::is_name(name.as_bytes()),
        None => arg.literal().is_some_and(|name| lexer::is_name(name.as_bytes())),
    }
}

fn export(walker: &mut Walker<'_>, args: &[Word], span: Span) {
    for arg in args {
        let name = arg.known_prefix().split_once('=').map(|(name, _)| name.to_owned());
        let Some(name) = name else { continue };
        let value = arg.without_prefix(name.len() + 1);
        walker.variable(&name, Some(&value), span);
        walker.holds(&name, &value);
    }
}

fn declare(walker: &mut Walker<'_>, args: &[Word], span: Span) {
    walker.evaluates();
    for arg in args {
        match arg {
            Word::Literal(text) => {
                if let Some((name, value)) = text.split_once('=')
                    && lexer::is_name(name.trim_end_matches('+').as_bytes())
                {
                    let value = Word::Literal(value.to_owned());
                    walker.variable(name.trim_end_matches('+'), Some(&value), span);
                }
            }
            Word::Pattern(_) => {
                let prefix = arg.known_prefix();
                if let Some((name, _)) = prefix.split_once('=')
                    && lexer::is_name(name.trim_end_matches('+').as_bytes())
                {
                    let value = arg.without_prefix(name.len() + 1);
                    walker.variable(name.trim_end_matches('+'), Some(&value), span);
                }
            }
        }
    }
}

/// Variables whose value a program runs as a command.
const COMMAND_VARIABLES: &[&str] = &[
    "GIT_SSH_COMMAND",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "GIT_EXTERNAL_DIFF",
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "PAGER",
    "MANPAGER",
    "SYSTEMD_PAGER",
    "GH_PAGER",
    "DELTA_PAGER",
    "BAT_PAGER",
    "EDITOR",
    "VISUAL",
    "SUDO_EDITOR",
    "GH_EDITOR",
    "KUBE_EDITOR",
    "BROWSER",
    "GH_BROWSER",
    "PROMPT_COMMAND",
    "RSYNC_RSH",
    "CVS_RSH",
    "LESSOPEN",
    "LESSCLOSE",
    "FZF_DEFAULT_COMMAND",
];

/// Variables that say where programs, libraries or start-up code are found.
const LOOKUP_VARIABLES: &[&str] = &[
    "PATH",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "GCONV_PATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PERL5OPT",
    "PERL5DB",
    "RUBYOPT",
    "NODE_OPTIONS",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "ZDOTDIR",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC",
    "CC",
    "CXX",
    "SHELL",
    "TAR_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    "CARGO_HOME",
    "MAKEFLAGS",
];

/// What setting a variable means for later commands.
pub(crate) fn variable(walker: &mut Walker<'_>, name: &str, value: Option<&Word>, span: Span) {
    match name {
        "BASH_ENV" | "ENV" | "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" | "GIT_CONFIG" => {
            let text = value.map_or_else(|| name.to_owned(), ToString::to_string);
            if !text.is_empty() && text != "/dev/null" {
                walker.unknown(span, UnknownReason::SourcesFile, &text);
            }
        }
        "HOME" => {
            // `$HOME` is taken for one word everywhere.
            let plain = value.and_then(Word::literal).is_some_and(|text| {
                !text.starts_with('-') && !text.contains([' ', '\t', '\n', '*', '?', '['])
            });
            if !plain {
                walker.unknown(span, UnknownReason::HomeChanged, name);
            }
            walker.note(NoteKind::LookupVariable, name, span);
        }
        "BASH_ALIASES" | "BASH_CMDS" => walker.unknown(span, UnknownReason::Alias, name),
        _ if name.starts_with("BASH_FUNC_") => walker.unknown(span, UnknownReason::Alias, name),
        _ if name.starts_with("GIT_CONFIG_") => {
            walker.unknown(span, UnknownReason::ProgramOption, name);
        }
        "GIT_DIR" | "GIT_WORK_TREE" | "GIT_COMMON_DIR" => {
            walker.worktree = Worktree::Elsewhere;
        }
        "SHELLOPTS" | "BASHOPTS" => walker.unknown(span, UnknownReason::ShellOptions, name),
        "PS0" | "PS1" | "PS2" | "PS4" => {
            let plain =
                value.and_then(Word::literal).is_some_and(|text| !text.contains(['$', '`', '\\']));
            if !plain {
                walker.unknown(span, UnknownReason::PromptExpansion, name);
            }
        }
        _ if COMMAND_VARIABLES.contains(&name) => {
            if value.and_then(Word::literal) == Some("") {
                return;
            }
            let any = Word::one_of_any_text();
            walker.fed(Input::Dynamic, |walker| {
                let reach = Reach::Variable(name.to_owned());
                run_code(walker, reach, value.unwrap_or(&any), span);
            });
        }
        _ if LOOKUP_VARIABLES.contains(&name) || name.starts_with("DYLD_") => {
            walker.note(NoteKind::LookupVariable, name, span);
        }
        _ => {}
    }
}
