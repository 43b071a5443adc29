//! Which word of a command line is the script that an interpreter reads.
//!
//! A guess from names and options alone. Where an option could hide the script, it says that it is
//! not certain, and nothing that could hold up a hook may follow from an uncertain guess.

/// The script of a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Script {
    /// Which word it is.
    pub(crate) at: usize,
    /// Whether there is no other way to read the line.
    pub(crate) certain: bool,
}

/// One family of interpreters.
struct Interpreter {
    /// Their names, without a version.
    names: &'static [&'static str],
    /// A subcommand that stands before the script.
    run: Option<&'static str>,
    /// Letters that, in a group of short options, mean that there is no script.
    inline: &'static str,
    /// Long options that mean that there is no script.
    inline_long: &'static [&'static str],
    /// Options whose value is a word of its own.
    with_value: &'static [&'static str],
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash"],
        run: None,
        inline: "cs",
        inline_long: &["--version", "--help"],
        with_value: &["-o", "+o", "-O", "+O", "--rcfile", "--init-file"],
    },
    Interpreter {
        names: &["fish"],
        run: None,
        inline: "cC",
        inline_long: &["--command"],
        with_value: &["-d", "-o", "-f"],
    },
    Interpreter {
        names: &["python", "pypy"],
        run: None,
        inline: "cmV",
        inline_long: &["--version", "--help"],
        with_value: &["-W", "-X", "-Q", "--check-hash-based-pycs"],
    },
    Interpreter {
        names: &["node", "nodejs"],
        run: None,
        inline: "epvi",
        inline_long: &["--eval", "--print", "--version", "--test", "--interactive", "--run"],
        with_value: &[
            "-r",
            "--require",
            "--import",
            "--loader",
            "-C",
            "--conditions",
            "--env-file",
        ],
    },
    Interpreter {
        names: &["deno"],
        run: Some("run"),
        inline: "",
        inline_long: &[],
        with_value: &["-c", "--config", "--import-map", "--lock", "--cert", "--location", "--seed"],
    },
    Interpreter {
        names: &["ruby"],
        run: None,
        inline: "eSv",
        inline_long: &["--version"],
        with_value: &["-I", "-r", "-C", "-E"],
    },
    Interpreter {
        names: &["perl"],
        run: None,
        inline: "eESv",
        inline_long: &["--version"],
        with_value: &["-I"],
    },
    Interpreter {
        names: &["php"],
        run: None,
        inline: "rvimaSB",
        inline_long: &["--run", "--version"],
        with_value: &["-d", "-c", "-z"],
    },
    Interpreter {
        names: &["lua", "luajit"],
        run: None,
        inline: "eiv",
        inline_long: &[],
        with_value: &["-l"],
    },
    Interpreter {
        names: &["Rscript"],
        run: None,
        inline: "e",
        inline_long: &["--version"],
        with_value: &[],
    },
    Interpreter { names: &["tclsh"], run: None, inline: "", inline_long: &[], with_value: &[] },
];

/// Finds the script in the words of a command, the program first.
pub(crate) fn script(words: &[&str]) -> Option<Script> {
    let first = skip_env(words)?;
    let name = base_name(words.get(first)?);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let interpreter = INTERPRETERS.iter().find(|one| one.names.contains(&name))?;
    let mut certain = true;
    let mut run = interpreter.run;
    let mut at = first + 1;
    while let Some(word) = words.get(at) {
        if run.is_some() {
            // Options before the subcommand are rare; without the subcommand there is no script.
            if run.take() != Some(word) {
                return None;
            }
            at += 1;
            continue;
        }
        if *word == "--" {
            return words.get(at + 1).map(|_| Script { at: at + 1, certain });
        }
        if !word.starts_with(['-', '+']) {
            return Some(Script { at, certain });
        }
        if *word == "-" {
            return None;
        }
        if interpreter.with_value.contains(word) {
            at += 2;
            continue;
        }
        let is_inline = match word.strip_prefix("--") {
            Some(_) => interpreter.inline_long.contains(word),
            None => word.get(1..).unwrap_or_default().contains(|c| interpreter.inline.contains(c)),
        };
        if is_inline {
            return None;
        }
        // An option that is not known, and may have taken the next word.
        certain &= !word.starts_with("--") || word.contains('=');
        at += 1;
    }
    None
}

/// The place of the program behind `env`, its options and assignments.
fn skip_env(words: &[&str]) -> Option<usize> {
    if base_name(words.first()?) != "env" {
        return Some(0);
    }
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match *word {
            "-u" | "--unset" | "-C" | "--chdir" => at += 2,
            // What follows is split by another rule.
            word if word.starts_with("-S") || word.starts_with("--split-string") => return None,
            word if word.starts_with('-') || word.contains('=') => at += 1,
            _ => return Some(at),
        }
    }
    None
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_found_behind_options_and_none_is_made_up() {
        let certain = |at| Some(Script { at, certain: true });
        for (line, expected) in [
            ("sh x.sh", certain(1)),
            ("/bin/bash -eu x.sh a", certain(2)),
            ("bash -o pipefail x.sh", certain(3)),
            ("bash -lc x.sh", None),
            ("sh -s x.sh", None),
            ("sh", None),
            ("python3 -u x.py --flag", certain(2)),
            ("python3.12 -W ignore x.py", certain(3)),
            ("python -m pytest x.py", None),
            ("node x.js", certain(1)),
            ("node --require a.js x.js", certain(3)),
            ("node --inspect x.js", Some(Script { at: 2, certain: false })),
            ("node --max-old-space-size=64 x.js", certain(2)),
            ("node -e 1 x.js", None),
            ("deno run -A x.ts", certain(3)),
            ("deno fmt x.ts", None),
            ("/usr/bin/env python3 x.py", certain(2)),
            ("env -u A B=1 sh x.sh", certain(5)),
            ("env -S sh x.sh", None),
            ("python3 - x.py", None),
            ("sh -- -x.sh", certain(2)),
            ("grep x.sh", None),
            ("./guard.sh x.sh", None),
        ] {
            let words: Vec<_> = line.split(' ').collect();
            assert_eq!(script(&words), expected, "{line}");
        }
    }
}
