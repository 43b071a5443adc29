//! Editors, debuggers, database shells and small languages: their scripts are no shell text, and may
//! start programs.
//!
//! Owns: which of them read a script, and which texts plainly start nothing. Does not own: general
//! interpreters (`interpreters`).

use super::unknown;
use crate::analysis::{Span, UnknownReason};
use crate::walk::{Input, Walker};
use crate::word::Word;

/// What a program takes for a script of its own language.
struct Script {
    programs: &'static [&'static str],
    /// How an argument begins that is a script, or has one behind it.
    begins: &'static [&'static str],
    /// Arguments that are such an option as a whole.
    exact: &'static [&'static str],
    /// Whether any argument may be a script.
    arguments: bool,
    /// Whether its standard input is one.
    input: bool,
    /// What a script has to hold to start anything; nothing for one that always may.
    starts: &'static [&'static str],
}

impl Script {
    const PLAIN: Self =
        Self { programs: &[], begins: &[], exact: &[], arguments: false, input: true, starts: &[] };
}

const SCRIPTS: &[Script] = &[
    Script { programs: &["ed", "red"], ..Script::PLAIN },
    Script {
        programs: &["ex"],
        begins: &["+"],
        exact: &["-c", "--cmd", "-S", "-s", "-u"],
        ..Script::PLAIN
    },
    Script {
        programs: &["vim", "vi", "nvim", "view", "gvim", "vimdiff"],
        begins: &["+"],
        exact: &["-c", "--cmd", "-S", "-s", "-u", "-es"],
        input: false,
        ..Script::PLAIN
    },
    Script {
        programs: &["emacs", "emacsclient"],
        begins: &["--eval", "-eval"],
        exact: &["-e", "-l", "--load", "-f", "--funcall", "--batch", "--script"],
        input: false,
        ..Script::PLAIN
    },
    Script { programs: &["expect"], arguments: true, ..Script::PLAIN },
    Script {
        programs: &["gdb", "lldb"],
        begins: &["--eval-command=", "--command=", "--one-line=", "--source="],
        exact: &[
            "-ex",
            "-o",
            "-x",
            "-s",
            "--args",
            "-ix",
            "-iex",
            "-O",
            "-S",
            "-k",
            "-K",
            "--one-line",
            "--source",
            "--batch",
            "-batch",
            "--command",
            "--eval-command",
        ],
        ..Script::PLAIN
    },
    Script {
        programs: &["sqlite3"],
        arguments: true,
        starts: &[".sh", ".sy", ".re", ".load", ".im", ".o", ".e", "|", "load_extension"],
        ..Script::PLAIN
    },
    Script {
        programs: &["psql", "mysql", "mariadb"],
        arguments: true,
        starts: &[
            "\\!", "\\o", "\\g", "\\i", "\\copy", "system", "PROGRAM", "program", "Program",
            "source", "pager",
        ],
        ..Script::PLAIN
    },
    Script { programs: &["dc"], arguments: true, starts: &["!"], ..Script::PLAIN },
    Script {
        programs: &["m4", "gm4"],
        arguments: true,
        starts: &["syscmd", "include", "changecom", "changequote", "builtin", "indir", "patsubst"],
        ..Script::PLAIN
    },
    Script {
        programs: &["less", "more", "most", "zless"],
        begins: &["+"],
        input: false,
        ..Script::PLAIN
    },
];

/// Reads what such a program is given; `false` if this is none.
pub(super) fn run(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) -> bool {
    let Some(script) = SCRIPTS.iter().find(|script| script.programs.contains(&name)) else {
        return false;
    };
    for (at, arg) in args.iter().enumerate() {
        let text = arg.known_prefix();
        let is_script = script.begins.iter().any(|begin| text.starts_with(begin))
            || script.exact.contains(&text)
            || (script.arguments && may_start(script, arg))
            || (arg.literal().is_none() && !arg.is_one());
        if is_script {
            let text = args.get(at..).unwrap_or_default();
            unknown(walker, UnknownReason::OtherLanguage, text, span);
            return true;
        }
    }
    if script.input {
        input(walker, name, script, span);
    }
    true
}

/// Whether a text may start a program; one that is decided at run time may where its known parts
/// do not speak against it.
fn may_start(script: &Script, text: &Word) -> bool {
    let shown = text.to_string();
    script.starts.is_empty() || script.starts.iter().any(|start| shown.contains(start))
}

fn input(walker: &mut Walker<'_>, name: &str, script: &Script, span: Span) {
    match walker.input.clone() {
        // A person types, or nothing is there.
        Input::Inherited => {}
        Input::Text(text) => {
            if text.literal().is_none() || may_start(script, &text) {
                unknown(walker, UnknownReason::OtherLanguage, &[text], span);
            }
        }
        Input::File(path) => {
            walker.runs_file(&path, span);
            unknown(walker, UnknownReason::RunsInput, &[path], span);
        }
        Input::Dynamic => walker.unknown(span, UnknownReason::RunsInput, name),
    }
}
