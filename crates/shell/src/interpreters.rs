//! Shells, whose code is analysed in turn, and interpreters of other languages, whose code is kept
//! as an unknown.
//!
//! Owns: how their options say where the code comes from. Does not own: the languages.

use crate::analysis::{By, Reach, Span, UnknownReason};
use crate::commands::run_code;
use crate::tools::{literal, unknown};
use crate::walk::{Input, Walker};
use crate::word::Word;

/// Runs what an interpreter is given; `false` if this is none.
pub(crate) fn run(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) -> bool {
    match name {
        "sh" | "bash" | "dash" | "ash" | "zsh" | "ksh" | "mksh" | "ksh93" | "yash" | "rbash"
        | "posh" | "bash5" => shell(walker, name, args, span),
        "fish" | "csh" | "tcsh" | "nu" | "elvish" | "xonsh" | "osh" | "ysh" | "pwsh"
        | "powershell" | "powershell.exe" | "pwsh.exe" | "cmd" | "cmd.exe" => {
            foreign_shell(walker, args, span);
        }
        "awk" | "gawk" | "mawk" | "nawk" => awk(walker, args, span),
        "sed" | "gsed" => sed(walker, args, span),
        _ => {
            let language = name
                .strip_suffix(".exe")
                .unwrap_or(name)
                .trim_end_matches(|char: char| char.is_ascii_digit() || char == '.' || char == '-');
            return interpreter(walker, language, name, args, span);
        }
    }
    true
}

/// A shell or interpreter that runs what is on its standard input.
pub(crate) fn runs_input(walker: &mut Walker<'_>, name: &str, span: Span) {
    match walker.input.clone() {
        Input::Text(text) => {
            walker.fed(Input::Dynamic, |walker| {
                run_code(walker, Reach::HereText(name.to_owned()), &text, span);
            });
        }
        Input::File(path) => {
            walker.runs_file(&path, span);
            walker.unknown(span, UnknownReason::RunsInput, &path.to_string());
        }
        Input::Inherited | Input::Dynamic => {
            walker.unknown(span, UnknownReason::RunsInput, name);
        }
    }
}

fn shell(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    let mut at = 0;
    let mut takes_code = false;
    let mut takes_input = false;
    let mut only_parses = false;
    while let Some(arg) = args.get(at) {
        let Some(text) = arg.literal() else {
            if arg.known_prefix().is_empty() || arg.known_prefix().starts_with(['-', '+']) {
                if home_path(arg) {
                    break;
                }
                return unknown(walker, UnknownReason::DynamicCode, args, span);
            }
            break;
        };
        match text {
            "--" | "-" => {
                at += 1;
                break;
            }
            "--rcfile" | "--init-file" => {
                let path = args.get(at + 1).map(ToString::to_string).unwrap_or_default();
                walker.unknown(span, UnknownReason::SourcesFile, &path);
                at += 2;
            }
            "--help" | "--version" => return,
            _ if text.starts_with("--") => at += 1,
            _ if text.starts_with(['-', '+']) && text.len() > 1 => {
                takes_code |= text.starts_with('-') && text.contains('c');
                takes_input |= text.contains('s');
                only_parses |= text.starts_with('-') && text.contains('n');
                at += 1;
                // `-o name` and `-O name`, each with a name of its own.
                let names = text.bytes().filter(|byte| matches!(byte, b'o' | b'O')).count();
                for _ in 0..names {
                    if let Some(name) = literal(args, at)
                        && !name.starts_with('-')
                    {
                        if name == "noexec" {
                            only_parses = true;
                        }
                        if matches!(
                            name,
                            "extglob"
                                | "expand_aliases"
                                | "braceexpand"
                                | "keyword"
                                | "nullglob"
                                | "nocaseglob"
                        ) {
                            walker.unknown(span, UnknownReason::ShellOptions, name);
                        }
                        at += 1;
                    }
                }
                if text.contains(['k', 'B']) {
                    walker.unknown(span, UnknownReason::ShellOptions, text);
                }
            }
            _ => break,
        }
    }
    if only_parses {
        return;
    }
    let rest = args.get(at..).unwrap_or_default();
    match rest.first() {
        Some(code) if takes_code => {
            if code.is_one() {
                walker.fed(walker.input.clone(), |walker| {
                    run_code(walker, Reach::Shell(name.to_owned()), code, span);
                });
            } else {
                unknown(walker, UnknownReason::DynamicCode, rest, span);
            }
        }
        None if takes_code => {}
        Some(path) if !takes_input => {
            walker.reads(path.clone(), By::Program(name.to_owned()), span);
            walker.runs_file(path, span);
            let device = path.literal().is_some_and(is_device);
            if device || !path.is_one() || is_substitution(path) {
                unknown(walker, UnknownReason::RunsInput, rest, span);
            }
        }
        _ => runs_input(walker, name, span),
    }
}

/// A path that may be the standard input, or another open file.
fn is_device(path: &str) -> bool {
    path.starts_with("/dev/") || path.starts_with("/proc/")
}

/// A word with nothing known in it may be a process substitution.
fn is_substitution(path: &Word) -> bool {
    path.literal().is_none() && path.known_prefix().is_empty() && !home_path(path)
}

fn home_path(word: &Word) -> bool {
    word.is_one() && matches!(word.pieces().first(), Some(crate::word::Piece::Home))
}

/// Shells with a language of their own.
fn foreign_shell(walker: &mut Walker<'_>, args: &[Word], span: Span) {
    let looks = matches!(literal(args, 0), Some("--version" | "--help" | "-v" | "-Version"));
    if looks && args.len() == 1 {
        return;
    }
    match walker.input.clone() {
        Input::Text(text) if args.is_empty() => {
            walker.unknown(span, UnknownReason::OtherLanguage, &text.to_string());
        }
        _ if args.is_empty() => walker.unknown(span, UnknownReason::RunsInput, ""),
        _ => unknown(walker, UnknownReason::OtherLanguage, args, span),
    }
}

/// Interpreters: how an option that carries code begins, and whether such letters stand in
/// clusters.
fn code_options(language: &str) -> Option<(&'static [&'static str], bool)> {
    Some(match language {
        "python" | "pypy" | "ipython" | "jython" | "micropython" => (&["-c"], true),
        "perl" => (&["-e", "-E"], true),
        "ruby" | "jruby" => (&["-e"], true),
        "node" | "nodejs" | "tsx" | "ts-node" => (&["-e", "-p", "--eval", "--print", "-pe"], false),
        "php" => (&["-r", "-R", "-B", "-E", "--run"], false),
        "lua" | "luajit" | "texlua" | "Rscript" | "R" | "littler" | "osascript" | "ghc"
        | "runghc" | "stack" => (&["-e"], false),
        "julia" => (&["-e", "-E", "--eval", "--print"], false),
        "bun" => (&["-e", "--eval", "-p", "--print"], false),
        "deno" => (&["eval", "repl"], false),
        "elixir" | "iex" => (&["-e", "--eval"], false),
        "erl" => (&["-eval"], false),
        "groovy" | "scala" | "kotlin" | "clojure" | "clj" | "bb" | "guile" | "racket" | "sbcl"
        | "swipl" | "octave" | "tclsh" | "wish" | "jshell" | "jsc" | "qjs" | "raku" => {
            (&["-e", "-c", "--eval", "-g", "-t"], false)
        }
        _ => return None,
    })
}

fn interpreter(
    walker: &mut Walker<'_>,
    language: &str,
    name: &str,
    args: &[Word],
    span: Span,
) -> bool {
    let Some((options, clusters)) = code_options(language) else { return false };
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let prefix = arg.known_prefix();
        if arg.literal().is_none()
            && (prefix.is_empty() || prefix.starts_with('-'))
            && !home_path(arg)
        {
            // It may be an option with code.
            unknown(walker, UnknownReason::OtherLanguage, args, span);
            return true;
        }
        if prefix == "-" || is_device(prefix) {
            break;
        }
        let is_option = prefix.starts_with('-') || options.contains(&prefix);
        if !is_option {
            // A script, or a subcommand of the runtime.
            if !matches!(language, "bun" | "deno" | "stack" | "node" | "nodejs")
                || prefix.contains('.')
            {
                walker.reads(arg.clone(), By::Program(name.to_owned()), span);
            }
            walker.runs_file(arg, span);
            if !arg.is_one() {
                unknown(walker, UnknownReason::OtherLanguage, args, span);
            }
            return true;
        }
        let exact = options.iter().any(|option| {
            prefix == *option
                || (option.starts_with("--")
                    && prefix.strip_prefix(option).is_some_and(|rest| rest.starts_with('=')))
        });
        let clustered = clusters
            && !prefix.starts_with("--")
            && options.iter().filter_map(|option| option.chars().nth(1)).any(|letter| {
                // A module's or folder's name is not a cluster.
                let cluster = prefix.trim_start_matches('-');
                let cluster = match language {
                    "python" | "pypy" => cluster.split(['m', 'W', 'X']).next().unwrap_or(cluster),
                    "perl" => cluster.split(['M', 'I', 'm']).next().unwrap_or(cluster),
                    "ruby" => cluster.split(['r', 'I']).next().unwrap_or(cluster),
                    _ => cluster,
                };
                cluster.contains(letter)
            });
        if exact || clustered {
            let text = args.get(at + 1..).unwrap_or_default();
            let text = if text.is_empty() { args } else { text.get(..1).unwrap_or_default() };
            unknown(walker, UnknownReason::OtherLanguage, text, span);
            return true;
        }
        if matches!(prefix, "--version" | "-V" | "--help" | "-h" | "-v") {
            return true;
        }
        if matches!(language, "python" | "pypy" | "ipython" | "micropython") {
            if prefix.starts_with("-m") {
                return true;
            }
            if matches!(prefix, "-W" | "-X") {
                at += 1;
            }
        } else if language == "node"
            && matches!(prefix, "-r" | "--require" | "--import" | "--loader")
        {
            at += 1;
        }
        at += 1;
    }
    match walker.input.clone() {
        Input::Text(text) => walker.unknown(span, UnknownReason::OtherLanguage, &text.to_string()),
        Input::File(path) => {
            walker.runs_file(&path, span);
            walker.unknown(span, UnknownReason::RunsInput, &path.to_string());
        }
        Input::Dynamic | Input::Inherited => walker.unknown(span, UnknownReason::RunsInput, name),
    }
    true
}

/// An awk program is harmless while it cannot start anything or write anywhere.
fn awk(walker: &mut Walker<'_>, args: &[Word], span: Span) {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = arg.known_prefix();
        match arg.literal() {
            Some("-v" | "-F" | "--assign" | "--field-separator") => at += 2,
            Some(
                "-f" | "--file" | "-E" | "-i" | "-l" | "--exec" | "--include" | "--load" | "-e"
                | "--source",
            ) => {
                return unknown(walker, UnknownReason::OtherLanguage, args, span);
            }
            Some("--") => {
                at += 1;
                break;
            }
            _ if text.starts_with("-F") || text.starts_with("-v") => {
                if !arg.is_one() {
                    return unknown(walker, UnknownReason::OtherLanguage, args, span);
                }
                at += 1;
            }
            Some(text) if text.starts_with('-') => {
                return unknown(walker, UnknownReason::OtherLanguage, args, span);
            }
            _ => break,
        }
    }
    let Some(program) = args.get(at) else { return };
    let safe = program.literal().is_some_and(|text| {
        let strings = text.replace("||", "");
        !strings.contains("system")
            && !strings.contains('|')
            && !strings.contains("getline")
            && !strings.contains("close")
            && !strings.contains('@')
            && !prints_to_file(&strings)
    });
    if !safe {
        unknown(walker, UnknownReason::OtherLanguage, args.get(at..=at).unwrap_or_default(), span);
    }
}

/// `print > "file"`; a comparison stands outside of `print`.
fn prints_to_file(program: &str) -> bool {
    program
        .split(['{', '}', ';', '\n'])
        .any(|statement| statement.contains('>') && statement.trim_start().starts_with("print"))
}

/// A sed script is harmless if it is made of commands that cannot start or write anything.
fn sed(walker: &mut Walker<'_>, args: &[Word], span: Span) {
    let mut scripts = Vec::new();
    let mut operand = None;
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = arg.known_prefix();
        at += 1;
        match arg.literal() {
            Some("--") => {}
            _ if text.starts_with("--") => {
                // A long option may be cut short.
                let name = text.split('=').next().unwrap_or(text);
                let attached = text.contains('=');
                if "--file".starts_with(name) && name.len() > 3 {
                    return unknown(walker, UnknownReason::OtherLanguage, args, span);
                } else if "--expression".starts_with(name) {
                    if attached {
                        scripts.push(arg.without_prefix(name.len() + 1));
                    } else {
                        scripts.push(args.get(at).cloned().unwrap_or_else(Word::anything));
                        at += 1;
                    }
                } else if "--line-length".starts_with(name) && !attached {
                    at += 1;
                } else if arg.literal().is_none() && !attached {
                    return unknown(walker, UnknownReason::OtherLanguage, args, span);
                }
            }
            _ if text.starts_with("-i") => {}
            Some(cluster) if cluster.starts_with('-') && cluster.len() > 1 => {
                let Some((before, rest)) = cluster.split_once(['e', 'f', 'l', 'i']) else {
                    continue;
                };
                match cluster.as_bytes().get(before.len()) {
                    Some(b'f') => {
                        return unknown(walker, UnknownReason::OtherLanguage, args, span);
                    }
                    Some(b'e') if !rest.is_empty() => {
                        scripts.push(Word::Literal(rest.to_owned()));
                    }
                    Some(b'e') => {
                        scripts.push(args.get(at).cloned().unwrap_or_else(Word::anything));
                        at += 1;
                    }
                    Some(b'l') if rest.is_empty() => at += 1,
                    _ => {}
                }
            }
            _ => operand = operand.or(Some(arg.clone())),
        }
    }
    if scripts.is_empty() {
        scripts.extend(operand);
    }
    for script in &scripts {
        if !script.literal().is_some_and(sed_is_plain) {
            unknown(walker, UnknownReason::OtherLanguage, std::slice::from_ref(script), span);
        }
    }
}

/// A hole could hold the delimiter and flags, so only a known script can be plain.
fn sed_is_plain(script: &str) -> bool {
    let mut rest = script.as_bytes();
    loop {
        rest = skip(rest, b" \t\n;{}");
        rest = match address(rest) {
            Some(rest) => rest,
            None => return false,
        };
        rest = skip(rest, b" \t!");
        let Some((command, after)) = rest.split_first() else { return true };
        rest = match command {
            b'p' | b'd' | b'D' | b'g' | b'G' | b'h' | b'H' | b'n' | b'N' | b'P' | b'x' | b'='
            | b'l' | b'q' | b'Q' | b'}' | b'{' => after,
            b'#' => match after.iter().position(|byte| *byte == b'\n') {
                Some(at) => after.get(at..).unwrap_or_default(),
                None => return true,
            },
            // Text to the end of the script.
            b'a' | b'i' | b'c' => return !after.contains(&b'\n'),
            b'b' | b't' | b'T' | b':' => {
                let name =
                    after.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b' ').count();
                after.get(name..).unwrap_or_default()
            }
            b's' | b'y' => {
                let Some((delimiter, after)) = after.split_first() else { return false };
                let Some(after) = behind(after, *delimiter) else { return false };
                let Some(after) = behind(after, *delimiter) else { return false };
                let flags = after.iter().take_while(|b| b"gpiIMm0123456789".contains(b)).count();
                after.get(flags..).unwrap_or_default()
            }
            _ => return false,
        };
        // What follows a command is its end.
        let end = skip(rest, b" \t");
        match end.first() {
            None => return true,
            Some(b';' | b'\n' | b'}') => rest = end,
            Some(_) if *command == b'{' => rest = end,
            Some(_) => return false,
        }
    }
}

fn skip<'a>(text: &'a [u8], bytes: &[u8]) -> &'a [u8] {
    let count = text.iter().take_while(|byte| bytes.contains(byte)).count();
    text.get(count..).unwrap_or_default()
}

/// What stands behind the next unescaped delimiter.
fn behind(text: &[u8], delimiter: u8) -> Option<&[u8]> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'\\' => at += 2,
            byte if *byte == delimiter => return text.get(at + 1..),
            _ => at += 1,
        }
    }
}

fn address(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text;
    loop {
        rest = match rest.first() {
            Some(b'0'..=b'9' | b'$' | b'~' | b'+') => skip(rest, b"0123456789$~+"),
            Some(b'/') => skip(behind(rest.get(1..)?, b'/')?, b"IM"),
            Some(b'\\') => {
                let delimiter = *rest.get(1)?;
                skip(behind(rest.get(2..)?, delimiter)?, b"IM")
            }
            _ => return Some(rest),
        };
        match rest.first() {
            Some(b',') => rest = skip(rest.get(1..)?, b" "),
            _ => return Some(rest),
        }
    }
}
