//! Options that name a command, as data: which option of which program, and what is done with it.
//!
//! Owns: the table. Does not own: programs whose options need code to be read (`tools`).

use super::{option_values, unknown};
use crate::analysis::{Reach, Span, UnknownReason};
use crate::commands::run_code;
use crate::folder::Move;
use crate::walk::Walker;
use crate::word::Word;

/// What the value of an option is.
#[derive(Clone, Copy)]
enum Value {
    /// Code for a shell of this machine.
    Code,
    /// Code for a shell of another machine, which the program knows.
    Remote,
    /// Something that may hold code, in a way of the program's own.
    Holds(&'static [&'static str]),
}

type Row = (&'static [&'static str], &'static [&'static str], Value);

const OPTIONS: &[Row] = &[
    (&["ag", "bat", "batcat", "delta", "git-delta"], &["--pager"], Value::Code),
    (&["svn"], &["--editor-cmd", "--diff-cmd", "--diff3-cmd"], Value::Code),
    (&["fzf"], &["--preview", "--with-shell"], Value::Code),
    (&["fzf"], &["--bind"], Value::Holds(&["execute", "become", "reload", "transform", "preview"])),
    (&["sg"], &["-c"], Value::Code),
    (&["tox"], &["-x"], Value::Holds(&["command"])),
    (&["rpm"], &["--pipe"], Value::Code),
    (
        &["rpm", "rpmbuild", "rpmspec"],
        &["--eval", "-E", "--define", "-D"],
        Value::Holds(&["%(", "%{"]),
    ),
    (&["vagrant"], &["-c", "--command"], Value::Remote),
    (&["gcloud"], &["--command"], Value::Remote),
    (&["apt", "apt-get", "aptitude"], &["-o", "--option"], Value::Holds(&["::"])),
    (&["hg"], &["--config"], Value::Holds(&["alias", "hooks", "merge-tools", "ui.", "extensions"])),
    (&["rsync"], &["--rsync-path"], Value::Remote),
    (&["nodemon"], &["--exec", "-x"], Value::Code),
    (&["strace"], &["-o"], Value::Holds(&["|", "!"])),
    (&["fly", "flyctl"], &["-C", "--command"], Value::Remote),
    (&["az"], &["--scripts"], Value::Remote),
    (&["lftp"], &["-e", "-c", "-f"], Value::Holds(&[""])),
    (&["sftp"], &["-b"], Value::Holds(&[""])),
    (&["npm", "pnpm", "yarn"], &["--script-shell"], Value::Code),
    (&["npm"], &["--node-options", "--userconfig", "--globalconfig"], Value::Holds(&[""])),
];

/// Runs of words behind which code or a meaning of a name stands.
const MEANINGS: &[(&str, &[&str], UnknownReason)] = &[
    ("aws", &["ssm", "send-command"], UnknownReason::ProgramOption),
    ("gh", &["alias", "set"], UnknownReason::Alias),
    ("gh", &["alias", "import"], UnknownReason::Alias),
    ("gh", &["extension", "exec"], UnknownReason::ProgramOption),
    ("npm", &["pkg", "set"], UnknownReason::ProgramOption),
    ("npm", &["config", "set"], UnknownReason::ProgramOption),
    ("npm", &["set"], UnknownReason::ProgramOption),
    ("pnpm", &["config", "set"], UnknownReason::ProgramOption),
    ("yarn", &["config", "set"], UnknownReason::ProgramOption),
];

/// Options of these programs that name a command; what else the programs do is for others to find.
pub(crate) fn run(walker: &mut Walker<'_>, name: &str, args: &[Word], span: Span) {
    for (_, options, value) in OPTIONS.iter().filter(|(programs, ..)| programs.contains(&name)) {
        for code in option_values(args, options) {
            match value {
                Value::Code => run_code(walker, Reach::Option(name.to_owned()), &code, span),
                Value::Remote => walker.apart_in(&Move::Away, |walker| {
                    run_code(walker, Reach::Remote(name.to_owned()), &code, span);
                }),
                Value::Holds(marks) => {
                    let text = code.to_string();
                    if code.literal().is_none() || marks.iter().any(|mark| text.contains(mark)) {
                        unknown(walker, UnknownReason::ProgramOption, &[code], span);
                    }
                }
            }
        }
    }
    for (program, words, reason) in MEANINGS {
        let given = args.iter().zip(*words).all(|(arg, word)| arg.literal() == Some(word));
        if *program == name && args.len() > words.len() && given {
            unknown(walker, *reason, args, span);
        }
    }
}
