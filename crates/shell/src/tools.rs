//! Programs that take a command out of an option, a setting or a text.
//!
//! Owns: `find`, `xargs`, `git`, `ssh` and the like. Does not own: programs that start their
//! arguments as they stand (`wrappers`), shells and languages (`interpreters`).

use crate::analysis::{Reach, Span, UnknownReason};
use crate::commands::{run_code, run_joined, run_wrapped};
use crate::interpreters::runs_input;
use crate::options::{self, Spec, Start};
use crate::walk::{Input, Walker};
use crate::word::Word;

mod each;
mod login;
pub(crate) mod named;
mod scripted;

use each::{fd, find, parallel, xargs};
use login::{flock, ssh, ssh_options, su};

/// Runs what a tool starts; `false` if this is none of them.
pub(crate) fn run(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) -> bool {
    match name {
        "xargs" | "gxargs" => xargs(walker, name, args, span),
        "parallel" => parallel(walker, name, args, span),
        "find" | "gfind" => find(walker, name, args, span),
        "fd" | "fdfind" => fd(walker, name, args, span),
        "git" => crate::git::run(walker, args, span),
        "ssh" | "slogin" | "autossh" | "mosh" => ssh(walker, name, args, span),
        "su" | "runuser" => su(walker, name, args, span),
        "flock" => flock(walker, name, args, span),
        "script" => {
            let code =
                option_value(args, &["-c", "--command", "-qc", "-qec", "-qefc", "-ec", "-eqc"]);
            match code {
                Some(code) => run_code(walker, Reach::Shell(name.to_owned()), &code, span),
                None => unknown(walker, UnknownReason::WrapperOptions, args, span),
            }
        }
        "rsync" => {
            option_code(walker, name, args, &["--rsh"], span);
            short_code(walker, name, args, 'e', span);
        }
        "scp" | "sftp" => {
            for program in short_values(args, 'S').into_iter().chain(short_values(args, 'D')) {
                let argv = [program, Word::anything()];
                run_wrapped(walker, Reach::Option(name.to_owned()), &argv, Vec::new(), span);
            }
            ssh_options(walker, name, args, span);
            // The commands of `sftp` may be the shell's, and name files.
            if let (true, Input::Text(text)) = (name == "sftp", walker.input.clone()) {
                unknown(walker, UnknownReason::OtherLanguage, &[text], span);
            }
        }
        "sort" | "gsort" => abbreviated(walker, args, "--compress-program", 4, span),
        "split" | "gsplit" => option_code(walker, name, args, &["--filter"], span),
        "rg" => {
            option_program(walker, name, args, &["--pre", "--hostname-bin"], span);
        }
        "tar" | "gtar" | "bsdtar" => tar(walker, args, span),
        _ => {
            return scripted::run(walker, name, args, span)
                || by_option(walker, name, args, span)
                || by_text(walker, name, args, span);
        }
    }
    true
}

/// Programs with an option that names a command.
fn by_option(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) -> bool {
    match name {
        "man" => {
            option_code(walker, name, args, &["--pager", "--html"], span);
            short_code(walker, name, args, 'P', span);
            short_code(walker, name, args, 'H', span);
        }
        "make" | "gmake" | "just" | "rake" | "npm" | "pnpm" | "yarn" | "bun" => {
            builder(walker, name, args, span);
            return false;
        }
        "tcpdump" => {
            if !short_values(args, 'z').is_empty() {
                unknown(walker, UnknownReason::ProgramOption, args, span);
            }
        }
        "socat" | "nc" | "ncat" | "netcat" => {
            let runs = args.iter().any(|arg| {
                arg.literal().is_none_or(|text| {
                    let upper = text.to_ascii_uppercase();
                    upper.starts_with("EXEC:")
                        || upper.starts_with("SYSTEM:")
                        || upper.starts_with("SHELL:")
                        || upper.contains(",EXEC")
                        || text == "--exec"
                        || text == "--sh-exec"
                        || (name != "socat"
                            && text.starts_with('-')
                            && !text.starts_with("--")
                            && text.contains(['e', 'c']))
                })
            });
            if runs {
                unknown(walker, UnknownReason::ProgramOption, args, span);
            }
        }
        _ => return false,
    }
    true
}

/// Programs that take commands as text: build tools, terminals, editors, schedulers.
fn by_text(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) -> bool {
    match name {
        "hyperfine" => {
            for arg in args {
                if arg
                    .literal()
                    .is_none_or(|text| !text.starts_with('-') && text.parse::<f64>().is_err())
                {
                    run_code(walker, Reach::Shell(name.to_owned()), arg, span);
                }
            }
        }
        "nix-shell" | "nix" => {
            option_code(walker, name, args, &["--run", "--command"], span);
            if let Some(at) = args.iter().position(|arg| matches!(arg.literal(), Some("-c"))) {
                let argv = args.get(at + 1..).unwrap_or_default();
                run_wrapped(walker, Reach::Wrapper(name.to_owned()), argv, Vec::new(), span);
            }
        }
        "cargo" => cargo(walker, name, args, span),
        "cmake" => cmake(walker, name, args, span),
        "entr" => {
            let spec = Spec { flags: "acdnprsxz", ..Spec::PLAIN };
            match options::command(&spec, args) {
                Start::At(at) => {
                    let argv = args.get(at..).unwrap_or_default();
                    if literal(args, 0).is_some_and(|arg| arg.starts_with('-') && arg.contains('s'))
                    {
                        run_joined(walker, Reach::Shell(name.to_owned()), argv, span);
                    } else {
                        run_wrapped(
                            walker,
                            Reach::EachInput(name.to_owned()),
                            argv,
                            Vec::new(),
                            span,
                        );
                    }
                }
                Start::Nothing => {}
                Start::Unclear => unknown(walker, UnknownReason::WrapperOptions, args, span),
            }
        }
        "tmux" | "screen" | "zellij" => {
            let looks = matches!(
                literal(args, 0),
                Some(
                    "ls" | "list-sessions"
                        | "kill-session"
                        | "capture-pane"
                        | "has-session"
                        | "-V"
                        | "-ls"
                        | "kill-server"
                        | "list-windows"
                        | "list-panes"
                )
            );
            if !looks && !args.is_empty() {
                unknown(walker, UnknownReason::ProgramOption, args, span);
            }
        }
        "at" | "batch" | "newgrp" => runs_input(walker, name, span),
        "crontab" => {
            if args.iter().all(|arg| arg.literal().is_some_and(|text| !matches!(text, "-l" | "-r")))
            {
                unknown(walker, UnknownReason::ProgramOption, args, span);
            }
        }
        "ld-linux-x86-64.so.2" | "ld-linux-aarch64.so.1" | "ld-linux.so.2" | "ld.so" => {
            run_wrapped(walker, Reach::Wrapper(name.to_owned()), args, Vec::new(), span);
        }
        "zip" => option_code(walker, name, args, &["-TT", "--unzip-command"], span),
        "dmenu_run" | "xdg-open" | "open" | "start" => {
            unknown(walker, UnknownReason::ProgramOption, args, span);
        }
        _ => return false,
    }
    true
}

pub(crate) fn literal(args: &[Word], at: usize) -> Option<&str> {
    args.get(at).and_then(Word::literal)
}

pub(crate) fn unknown(walker: &mut Walker<'_>, reason: UnknownReason, args: &[Word], span: Span) {
    let text: Vec<String> = args.iter().map(ToString::to_string).collect();
    walker.unknown(span, reason, &text.join(" "));
}

/// The value of the first of these options: attached with `=` (long ones) or directly (short
/// ones), or the next word.
pub(crate) fn option_value(args: &[Word], names: &[&str]) -> Option<Word> {
    option_values(args, names).into_iter().next()
}

pub(crate) fn option_values(args: &[Word], names: &[&str]) -> Vec<Word> {
    let mut out = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        let prefix = arg.known_prefix();
        for name in names {
            if arg.literal() == Some(name) {
                out.push(args.get(at + 1).cloned().unwrap_or_else(Word::anything));
            } else if let Some(rest) = prefix.strip_prefix(name) {
                if name.starts_with("--") {
                    if rest.starts_with('=') {
                        out.push(arg.without_prefix(name.len() + 1));
                    }
                } else if name.len() == 2 {
                    out.push(arg.without_prefix(name.len()));
                }
            }
        }
    }
    out
}

/// The values of a short option, which may stand in a cluster: behind the letter, or in the next
/// word.
pub(crate) fn short_values(args: &[Word], letter: char) -> Vec<Word> {
    let mut out = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        let prefix = arg.known_prefix();
        if !prefix.starts_with('-') || prefix.starts_with("--") {
            continue;
        }
        let Some(letter_at) = prefix.find(letter) else { continue };
        let value = letter_at + letter.len_utf8();
        if arg.literal().is_some_and(|text| text.len() == value) {
            out.push(args.get(at + 1).cloned().unwrap_or_else(Word::anything));
        } else {
            out.push(arg.without_prefix(value));
        }
    }
    out
}

fn short_code(walker: &mut Walker<'_>, name: &str, args: &[Word], letter: char, span: Span) {
    for code in short_values(args, letter) {
        run_code(walker, Reach::Option(name.to_owned()), &code, span);
    }
}

/// Programs that run what a file of a fixed name says.
fn builder(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    let files: &[&str] = match name {
        "make" | "gmake" => &["Makefile", "makefile", "GNUmakefile"],
        "just" => &["justfile", "Justfile", ".justfile"],
        "rake" => &["Rakefile", "rakefile"],
        _ => &["package.json"],
    };
    for file in files {
        walker.runs_named(file, span);
    }
    if matches!(name, "make" | "gmake") {
        for file in
            short_values(args, 'f').iter().chain(&option_values(args, &["--file", "--makefile"]))
        {
            if matches!(file.literal(), Some("-" | "/dev/stdin")) {
                unknown(walker, UnknownReason::RunsInput, args, span);
            }
            walker.runs_file(file, span);
        }
        // A variable's value and `--eval` are makefile text.
        let evaluates = args.iter().any(|arg| {
            let text = arg.to_string();
            text.contains("$(")
                || text.contains("${")
                || text.contains('`')
                || text.contains("!=")
                || text.starts_with("--ev")
                || text.starts_with("SHELL=")
                || text.starts_with("-E")
        });
        if evaluates {
            unknown(walker, UnknownReason::OtherLanguage, args, span);
        }
    }
}

/// Settings of `cargo` that name no program and no file.
const PLAIN_SETTINGS: &[&str] = &["net.", "http.", "term.", "profile.", "build.jobs"];

fn cargo(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    let dashes = args.iter().position(|arg| arg.literal() == Some("--"));
    let (own, behind) = args.split_at_checked(dashes.unwrap_or(args.len())).unwrap_or_default();
    let behind = behind.get(1..).unwrap_or_default();
    if own.first().and_then(Word::literal) == Some("watch") {
        option_code(walker, name, own, &["-s", "--shell"], span);
        run_wrapped(walker, Reach::Wrapper(name.to_owned()), behind, Vec::new(), span);
    }
    for setting in option_values(own, &["--config"]) {
        let plain = setting
            .literal()
            .is_some_and(|text| PLAIN_SETTINGS.iter().any(|plain| text.starts_with(plain)));
        // A setting may name a runner, a linker or an alias; a word without `=` is a file of them.
        if !plain {
            unknown(walker, UnknownReason::ProgramOption, &[setting], span);
        }
    }
    if behind.iter().any(|arg| arg.to_string().contains("linker=")) {
        unknown(walker, UnknownReason::ProgramOption, behind, span);
    }
}

/// `cmake -E` is a set of small programs under one name.
fn cmake(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    let Some(("-E", rest)) = args.split_first().and_then(|(e, rest)| Some((e.literal()?, rest)))
    else {
        return;
    };
    let Some((tool, rest)) = rest.split_first() else { return };
    let begin: &[&str] = match tool.literal() {
        None => return unknown(walker, UnknownReason::WrapperOptions, args, span),
        Some("rm" | "remove") => &["rm"],
        Some("remove_directory") => &["rm", "-rf"],
        Some("copy" | "copy_if_different") => &["cp"],
        Some("copy_directory") => &["cp", "-r"],
        Some("rename") => &["mv"],
        Some("create_symlink") => &["ln", "-s"],
        Some("create_hardlink") => &["ln"],
        Some("make_directory") => &["mkdir", "-p"],
        Some("chdir") => &["env", "-C"],
        Some("cat") => &["cat"],
        Some("env") => &["env"],
        Some("tar") => &["tar"],
        Some("time") => &["time"],
        Some("touch") => &["touch"],
        Some(_) => return,
    };
    let argv: Vec<Word> = begin
        .iter()
        .map(|word| Word::Literal((*word).to_owned()))
        .chain(rest.iter().cloned())
        .collect();
    run_wrapped(walker, Reach::Wrapper(name.to_owned()), &argv, Vec::new(), span);
}

fn option_code(walker: &mut Walker<'_>, name: &str, args: &[Word], names: &[&str], span: Span) {
    for code in option_values(args, names) {
        run_code(walker, Reach::Option(name.to_owned()), &code, span);
    }
}

/// An option names a program that is started with arguments of the tool's choice.
pub(crate) fn option_program(
    walker: &mut Walker<'_>,
    name: &str,
    args: &[Word],
    names: &[&str],
    span: Span,
) {
    for program in option_values(args, names) {
        let argv = [program, Word::anything()];
        run_wrapped(walker, Reach::Option(name.to_owned()), &argv, Vec::new(), span);
    }
}

/// A long option that names a program and may be cut short, to `least` bytes with its dashes.
fn abbreviated(walker: &mut Walker<'_>, args: &[Word], option: &str, least: usize, span: Span) {
    let given = args.iter().any(|arg| {
        let text = arg.known_prefix();
        let name = text.split('=').next().unwrap_or(text);
        name.len() >= least && option.starts_with(name)
    });
    if given {
        unknown(walker, UnknownReason::ProgramOption, args, span);
    }
}

fn tar(walker: &mut Walker<'_>, args: &[Word], span: Span) {
    for (at, arg) in args.iter().enumerate() {
        let text = arg.known_prefix();
        let option = text.split('=').next().unwrap_or(text);
        let runs = option.len() > 4
            && [
                "--to-command",
                "--use-compress-program",
                "--checkpoint-action",
                "--info-script",
                "--new-volume-script",
                "--rsh-command",
                "--rmt-command",
            ]
            .iter()
            .any(|long| long.starts_with(option) && option.starts_with("--"));
        let harmless = text == "--checkpoint-action=dot"
            || matches!(option, "--use-compress-program")
                && matches!(
                    text.split_once('=').map(|(_, value)| value),
                    Some("gzip" | "pigz" | "zstd" | "xz" | "bzip2" | "lz4")
                );
        if runs && !harmless {
            unknown(walker, UnknownReason::ProgramOption, args, span);
        }
        // `-I` and `-F` in a cluster, or alone, name a program too.
        let cluster = at == 0 || (text.starts_with('-') && !text.starts_with("--"));
        if cluster && text.contains(['I', 'F']) && !text.contains('/') {
            let value = args.get(at + 1).and_then(Word::literal);
            if !matches!(value, Some("gzip" | "pigz" | "zstd" | "xz" | "bzip2" | "lz4")) {
                unknown(walker, UnknownReason::ProgramOption, args, span);
            }
        }
    }
}
