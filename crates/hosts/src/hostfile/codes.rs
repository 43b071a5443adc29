//! The findings about hosts' files: each with what it is, what the host does, and what to do.

/// A finding.
#[derive(Debug, Clone, Copy)]
pub struct Code {
    /// The stable name.
    pub code: &'static str,
    /// What is found.
    pub what: &'static str,
    /// What the host does with it.
    pub does: &'static str,
    /// How it is mended.
    pub mend: &'static str,
}

/// All findings.
pub const CODES: &[Code] = &[
    Code {
        code: "host.unreadable",
        what: "The file is not JSON, or its hooks are no object.",
        does: "No hook of it runs. Claude Code 2.1.332 passes over the whole file, its permission rules \
               included.",
        mend: "Mend what stands at the place that is named.",
    },
    Code {
        code: "host.unknown-event",
        what: "No event of the host has this name.",
        does: "Nothing: the entries never run, and most hosts say nothing about it.",
        mend: "Write the name that the host has for it. `docs/hosts.md` lists them.",
    },
    Code {
        code: "host.flat",
        what: "A command stands where the host reads a group with a list of commands.",
        does: "The entry never runs.",
        mend: "Put it into a group: `{ \"hooks\": [ { \"type\": \"command\", \"command\": … } ] }`.",
    },
    Code {
        code: "host.nested",
        what: "A group stands where the host reads a command.",
        does: "Cursor and Copilot skip it; Crush refuses to start.",
        mend: "Write each command of the group as an entry of its own.",
    },
    Code {
        code: "host.timeout-unit",
        what: "The time is in another unit than the host's.",
        does: "Gemini and Qwen count milliseconds: `30` ends a hook after 0.03 s, and the tool runs. The \
               others count seconds: `30000` is more than eight hours.",
        mend: "Write the time in the host's unit.",
    },
    Code {
        code: "host.timeout-type",
        what: "The time is a text.",
        does: "Claude Code 2.1.332 drops the whole file, Copilot the hook; Gemini takes it for \
               milliseconds.",
        mend: "Write a number.",
    },
    Code {
        code: "host.matcher-never",
        what: "The matcher is the name of a tool that the host does not have.",
        does: "The entry never runs.",
        mend: "Write the host's own name of the tool.",
    },
    Code {
        code: "host.exit-1",
        what: "A command before a tool exits with 1 to stop it.",
        does: "All hosts but Copilot take exit 1 for a failure of the hook, and the tool runs.",
        mend: "Exit with 2, with the reason on stderr and nothing on stdout.",
    },
    Code {
        code: "host.duplicate",
        what: "The same command stands twice for an event and a matcher.",
        does: "Claude Code, Gemini and Qwen run it once; Codex, Copilot and Droid run it twice.",
        mend: "Remove one of them.",
    },
    Code {
        code: "host.no-command",
        what: "An entry that is a command has no command line.",
        does: "It never runs; Crush refuses to start.",
        mend: "Add the command line, or remove the entry.",
    },
    Code {
        code: "host.refused-file",
        what: "A key stands at the top of the file that the host does not know there.",
        does: "Codex refuses the whole file, and none of its hooks run.",
        mend: "Remove the key. Codex takes `description` and `hooks` alone.",
    },
    Code {
        code: "host.script-missing",
        what: "The script that a command names does not exist.",
        does: "The shell exits with 127, which is no denial in most hosts: the tool runs.",
        mend: "Correct the path. A relative one is meant from the project.",
    },
    Code {
        code: "host.script-not-executable",
        what: "The script that a command names is not executable.",
        does: "The shell exits with 126, which is no denial in most hosts: the tool runs.",
        mend: "`chmod +x` it, or name the program that runs it.",
    },
    Code {
        code: "host.script-crlf",
        what: "The first line of the script ends with a carriage return.",
        does: "The system looks for an interpreter with that character in its name and finds none: exit \
               126 or 127, and in most hosts the tool runs.",
        mend: "Write the script with line feeds alone.",
    },
];
