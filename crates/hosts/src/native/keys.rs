//! Every key of the hooks file and of test files: its section, its value, its default, one sentence,
//! one example.
//!
//! The reader looks its keys up here, and the JSON Schema and the reference page are generated from
//! here, so that none of them can know a key that the others do not.

use std::fmt::Write as _;

/// A place in the file that has keys of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// The top of the file.
    File,
    /// One `[[hook]]` entry.
    Hook,
    /// The value of a hook's `reply`.
    Reply,
    /// `[permissions]`.
    Permissions,
    /// A rule that is written as a table.
    Rule,
    /// `[policy]`.
    Policy,
    /// `[env]`.
    Env,
    /// The top of a test file.
    TestFile,
    /// One `[[case]]` of a test file.
    Case,
    /// One `[[case.step]]`.
    Step,
    /// One entry of a case's `after`.
    After,
    /// A file of `files` or `home_files` that is more than its text.
    Content,
}

impl Section {
    /// Those of the hooks file, in the order of the reference page.
    pub const ALL: [Self; 7] = [
        Self::File,
        Self::Hook,
        Self::Reply,
        Self::Permissions,
        Self::Rule,
        Self::Policy,
        Self::Env,
    ];
    /// Those that only test files have, in the order of their reference page.
    pub const TEST: [Self; 5] =
        [Self::TestFile, Self::Case, Self::Step, Self::After, Self::Content];

    /// How messages name it, as it stands in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "the file",
            Self::Hook => "`[[hook]]`",
            Self::Reply => "`reply`",
            Self::Permissions => "`[permissions]`",
            Self::Rule => "a rule",
            Self::Policy => "`[policy]`",
            Self::Env => "`[env]`",
            Self::TestFile => "a test file",
            Self::Case => "`[[case]]`",
            Self::Step => "`[[case.step]]`",
            Self::After => "`after`",
            Self::Content => "an entry of `files`",
        }
    }

    /// One sentence on what it is for.
    pub const fn description(self) -> &'static str {
        match self {
            Self::File => "The file itself.",
            Self::Hook => "One hook: the events it is for, and how it runs.",
            Self::Reply => "A fixed answer, given without starting a process.",
            Self::Permissions => "Rules that decide over tool calls without a hook.",
            Self::Rule => {
                "A rule as a table: with examples that `tenter check` tries it on. A rule without \
                 examples is a text."
            }
            Self::Policy => {
                "What files of lower levels may do; at managed level, records also at user level."
            }
            Self::Env => "Which variables of the session hooks are given.",
            Self::TestFile => "What holds for every case of the file.",
            Self::Case => {
                "One case: an event, or several steps, in a home and a project of its own."
            }
            Self::Step => "One of several events on one engine.",
            Self::After => "A command that looks at what is left when the case is over.",
            Self::Content => "A file with a mode, or with a text that is a long repetition.",
        }
    }

    /// Its keys, in the order of the table.
    pub fn keys(self) -> impl Iterator<Item = &'static Key> {
        KEYS.iter().filter(move |key| key.section == self)
    }

    /// The key of a name.
    pub fn key(self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }
}

/// What may stand behind a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// `true` or `false`.
    Flag,
    /// The number of the file's format.
    Version,
    /// A text.
    Text,
    /// A list of texts.
    List,
    /// A text, or a list of texts.
    TextOrList,
    /// Rules: a list of texts or tables.
    Rules,
    /// Rules: one, or a list of them.
    RuleOrRules,
    /// Event names: one or a list.
    Events,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A text with a whole number and a unit of time.
    Duration,
    /// A text with a whole number and a unit of bytes.
    Size,
    /// A table whose values are texts.
    TextTable,
    /// A table that becomes a JSON object.
    Object,
    /// A table with the keys of a section.
    Table(Section),
    /// A list of tables with the keys of a section.
    Tables(Section),
    /// A whole number, not below zero.
    Count,
    /// A table of files: a path, and a text or a table.
    Files,
    /// A table that is a partial match.
    Expectation,
}

impl Value {
    /// What is expected, for messages and the reference page.
    pub fn expected(self) -> String {
        match self {
            Self::Flag => "`true` or `false`".into(),
            Self::Version => "the number `1`".into(),
            Self::Text => "a text".into(),
            Self::List => "a list of texts".into(),
            Self::TextOrList => "a text or a list of texts".into(),
            Self::Rules => "a list of rules".into(),
            Self::RuleOrRules => "a rule or a list of rules".into(),
            Self::Events => "an event or a list of events".into(),
            Self::Word(words) => joined(words, "or"),
            Self::Duration => "a text with a unit (`ms`, `s`, `m`, `h`)".into(),
            Self::Size => "a text with a unit (`B`, `kB`, `KiB`, `MB`, `MiB`)".into(),
            Self::TextTable => "a table of texts".into(),
            Self::Object | Self::Table(_) => "a table".into(),
            Self::Tables(_) => "a list of tables".into(),
            Self::Count => "a whole number".into(),
            Self::Files => "a table of paths and texts".into(),
            Self::Expectation => "a table of what is to match".into(),
        }
    }
}

/// Words in a sentence: `a`, `b` or `c`.
pub(super) fn joined(words: &[&str], last: &str) -> String {
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        match at {
            0 => {}
            _ if at + 1 == words.len() => {
                // Writing to a `String` does not fail.
                let _ = write!(text, " {last} ");
            }
            _ => text.push_str(", "),
        }
        let _ = write!(text, "`{word}`");
    }
    text
}

/// One key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Where it stands.
    pub section: Section,
    /// Its name.
    pub name: &'static str,
    /// What may stand behind it.
    pub value: Value,
    /// What holds without it; empty if nothing does.
    pub default: &'static str,
    /// One sentence on what it does.
    pub doc: &'static str,
    /// A line of the file that uses it.
    pub example: &'static str,
    /// Whether this version can act on it. A key that is kept for later is known, and refused.
    pub usable: bool,
}

const fn key(
    section: Section,
    name: &'static str,
    value: Value,
    default: &'static str,
    doc: &'static str,
    example: &'static str,
) -> Key {
    Key { section, name, value, default, doc, example, usable: true }
}

const fn later(name: &'static str, value: Value, doc: &'static str, example: &'static str) -> Key {
    Key { section: Section::Hook, name, value, default: "", doc, example, usable: false }
}

const FAILURES: Value = Value::Word(&["block", "ask", "allow"]);

/// The keys that say how a hook runs. An entry has one of them.
pub const HANDLERS: [&str; 4] = ["command", "reply", "http", "worker"];

/// The key that test files have beside those of a hook: TOML has no `null`.
pub const REPLY_JSON: Key = key(
    Section::Hook,
    "reply_json",
    Value::Text,
    "",
    "A `reply` as JSON text, which may hold `null`.",
    "reply_json = '{\"patch\":{\"timeout\":null}}'",
);

/// Every key, section by section.
#[rustfmt::skip] // One key a line, so that the table reads as a table.
pub const KEYS: &[Key] = {
    use Section::{After, Case, Content, Env, File, Hook, Permissions, Policy, Reply, Rule, Step, TestFile};
    use Value::{Count, Duration, Events, Expectation, Files, Flag, List, Object, RuleOrRules, Rules, Size, Table, Tables, Text, TextOrList, TextTable, Version, Word};
    &[
        key(File, "version", Version, "1", "The format of the file.", "version = 1"),
        key(File, "hook", Tables(Hook), "", "The hooks, in the order in which they speak.", "hook = [{ event = \"PreToolUse\", matcher = \"Bash\", command = \"./guard.sh\" }]"),
        key(File, "permissions", Table(Permissions), "", "Rules that decide over tool calls without a hook.", "permissions = { deny = [\"Read(**/.env)\"] }"),
        key(File, "policy", Table(Policy), "", "What files of lower levels may do; read at managed level.", "policy = { only_managed = true }"),
        key(File, "env", Table(Env), "", "Which variables of the session hooks are given.", "env = { strip = [\"DATABASE_URL\"] }"),

        key(Hook, "name", Text, "from the handler", "The name in reports and messages.", "name = \"no-force-push\""),
        key(Hook, "event", Events, "", "The event or events it is for.", "event = [\"PreToolUse\", \"PermissionRequest\"]"),
        key(Hook, "matcher", TextOrList, "`*`", "The subjects it is for: names and globs, `A|B` or a list; `/…/` is a regex.", "matcher = \"Edit|mcp__github__*\""),
        key(Hook, "if", RuleOrRules, "", "A rule or a list of rules on the tool call; it runs if any of them may hold.", "if = \"Edit(**/*.lock)\""),
        key(Hook, "command", TextOrList, "", "A program with its arguments as a list, or a text that the shell runs.", "command = [\"./guards/no-force-push.sh\"]"),
        key(Hook, "reply", Table(Reply), "", "A fixed answer, given without starting a process.", "reply = { decision = \"deny\", reason = \"This repository uses pnpm.\" }"),
        later("http", Text, "A URL that is asked.", "http = \"http://127.0.0.1:8080/hook\""),
        later("headers", TextTable, "Headers of the request.", "headers = { authorization = \"Bearer x\" }"),
        later("worker", TextOrList, "A program that stays up and answers event after event.", "worker = [\"./guard-server\"]"),
        key(Hook, "timeout", Duration, "by event", "How long it may take.", "timeout = \"5s\""),
        key(Hook, "on_failure", FAILURES, "by event", "What its failure does.", "on_failure = \"block\""),
        key(Hook, "enabled", Flag, "`true`", "Whether it runs at all.", "enabled = false"),
        key(Hook, "agents", Word(&["all", "main", "subagents"]), "`all`", "The agents it is for.", "agents = \"main\""),
        key(Hook, "order", Word(&["parallel", "sequence"]), "`parallel`", "Whether it runs beside the others, or when all before it have ended, on what they made of the payload.", "order = \"sequence\""),
        key(Hook, "recheck", Flag, "`true`", "Whether it is asked again when others have changed the payload.", "recheck = false"),
        key(Hook, "view", Size, "everything", "How much of each text of the payload it is shown.", "view = \"2KiB\""),
        key(Hook, "on_truncated", FAILURES, "it runs", "What happens instead of running it when its view leaves something out.", "on_truncated = \"block\""),
        key(Hook, "env", TextTable, "", "Variables added to the environment of the command.", "env = { LOG = \"1\" }"),
        key(Hook, "cwd", Word(&["project", "session"]), "`project`", "Where the command starts: in the project, or in the agent's current directory.", "cwd = \"session\""),
        key(Hook, "shell", TextOrList, "`/bin/sh`", "The shell for a `command` that is a text, with its options but without `-c`.", "shell = [\"bash\", \"-eu\"]"),
        key(Hook, "detach", Flag, "`false`", "Whether nobody waits for it; it can then neither decide nor rewrite.", "detach = true"),
        key(Hook, "leftovers", Word(&["leave", "kill"]), "`leave`", "What becomes of processes that it leaves behind after a clean exit.", "leftovers = \"kill\""),
        key(Hook, "scripts", List, "", "Files beside those in the command that trust is to watch.", "scripts = [\"guards/rules.json\"]"),
        key(Hook, "once", Flag, "`false`", "Whether it runs only once in a session.", "once = true"),

        key(Reply, "decision", Word(&["none", "allow", "ask", "defer", "deny"]), "`none`", "What is to become of the action.", "decision = \"ask\""),
        key(Reply, "halt", Flag, "`false`", "Whether the turn ends.", "halt = true"),
        key(Reply, "reason", Text, "", "Why, for the model or the user.", "reason = \"Pushes are reviewed.\""),
        key(Reply, "context", TextOrList, "", "A text for the model.", "context = \"The build server is down.\""),
        key(Reply, "patch", Object, "", "Top-level keys of the payload to replace.", "patch = { timeout = 60000 }"),
        key(Reply, "replace", Object, "", "The payload that stands for the original.", "replace = { command = \"ls\" }"),
        key(Reply, "message", Text, "", "A text for the user.", "message = \"npm was replaced by pnpm\""),

        key(Permissions, "deny", Rules, "", "Rules for calls that never run.", "deny = [\"Read(**/.env)\", \"Edit(.git/**)\"]"),
        key(Permissions, "ask", Rules, "", "Rules for calls that a human decides about.", "ask = [\"WebFetch\"]"),
        key(Permissions, "allow", Rules, "", "Rules for calls that run without asking.", "allow = [\"Read(src/**)\"]"),

        key(Rule, "rule", Text, "", "The rule itself.", "rule = \"Bash(git push *)\""),
        key(Rule, "match", TextOrList, "", "What the rule is to match: texts of the kind that stand in its parentheses, or names of tools.", "match = [\"cd app && git push -f\"]"),
        key(Rule, "not_match", TextOrList, "", "What the rule is not to match.", "not_match = [\"git commit -m 'git push'\"]"),

        key(Policy, "only_managed", Flag, "`false`", "Whether only managed hooks and rules count.", "only_managed = true"),
        key(Policy, "allow_project", Flag, "`true`", "Whether hooks of projects may run once they are trusted.", "allow_project = false"),
        key(Policy, "allow_config_override", Flag, "`true`", "Whether `--config` and `TENTER_CONFIG` may stand for the user's and the project's files.", "allow_config_override = false"),
        key(Policy, "allow_http", Flag, "`true`", "Whether hooks may ask over the network.", "allow_http = false"),
        key(Policy, "min_on_failure", FAILURES, "`allow`", "The least that the failure of any hook does.", "min_on_failure = \"ask\""),
        key(Policy, "keep_originals", Flag, "`false`", "Whether records keep what a hook replaced or withheld; also at user level.", "keep_originals = true"),
        key(Policy, "record_payloads", Flag, "`true`", "Whether records hold payloads; also at user level.", "record_payloads = false"),

        key(Env, "strip", List, "", "Variables that hooks are not given.", "strip = [\"DATABASE_URL\"]"),
        key(Env, "pass", List, "", "Variables that hooks are given though they are left out by default.", "pass = [\"OPENAI_API_KEY\"]"),

        key(TestFile, "profile", Text, "`tenter`", "The host whose rules hold.", "profile = \"tenter\""),
        key(TestFile, "config", Text, "", "A config in that host's format, relative to the test file; it stands for the files of user and project.", "config = \"hooks.toml\""),
        key(TestFile, "hook", Tables(Hook), "", "Hooks with native keys, which count as trusted. Without `hook` and `config`, what is found in the case's home and project counts.", "hook = [{ event = \"PreToolUse\", command = \"exit 2\" }]"),
        key(TestFile, "permissions", Table(Permissions), "", "Rules, as in a hooks file.", "permissions = { deny = [\"Read(**/.env)\"] }"),
        key(TestFile, "env", TextTable, "", "Variables of the session, beside `PATH`, `HOME` and those of the XDG folders.", "env = { CI = \"1\" }"),
        key(TestFile, "files", Files, "", "Files in the project of each case.", "files = { \"src/a.txt\" = \"text\", \"guard.sh\" = { content = \"exit 2\", mode = \"0755\" } }"),
        key(TestFile, "home_files", Files, "", "Files in the home folder of each case.", "home_files = { \".config/tenter/hooks.toml\" = \"version = 1\" }"),
        key(TestFile, "trust_project", Flag, "`false`", "Whether the hooks that are found in the project are trusted.", "trust_project = true"),
        key(TestFile, "case", Tables(Case), "", "The cases.", "case = [{ name = \"passes\", event = { hook_event_name = \"Stop\" }, expect = { decision = \"none\" } }]"),

        key(Case, "name", Text, "", "What the case shows; each of a file has its own.", "name = \"exit 2 denies\""),
        key(Case, "event", Object, "", "The event. A missing `session_id`, `cwd` or `tool_input` is filled in; with a `tool_name` and no `hook_event_name` it is a PreToolUse.", "event = { hook_event_name = \"PreToolUse\", tool_name = \"Bash\", tool_input = { command = \"ls\" } }"),
        key(Case, "event_json", Text, "", "The event as JSON text, which may hold `null`.", "event_json = '{\"hook_event_name\":\"Stop\"}'"),
        key(Case, "expect", Expectation, "", "A partial match on what `tenter fire --json --io` gives.", "expect = { decision = \"deny\", reason = { contains = \"pnpm\" } }"),
        key(Case, "max_ms", Count, "", "How many milliseconds its events may take, until their outcomes are there.", "max_ms = 2000"),
        key(Case, "step", Tables(Step), "", "Several events on one engine, in place of `event`; another `session_id` is another session.", "step = [{ event = { hook_event_name = \"Stop\" }, expect = { decision = \"deny\" } }]"),
        key(Case, "hook", Tables(Hook), "", "Hooks of this case, after those of the file.", "hook = [{ event = \"Stop\", reply = { decision = \"deny\", reason = \"go on\" } }]"),
        key(Case, "permissions", Table(Permissions), "", "Rules of this case, beside those of the file.", "permissions = { ask = [\"Bash(git push *)\"] }"),
        key(Case, "env", TextTable, "", "Variables of the session, over those of the file.", "env = { CI = \"\" }"),
        key(Case, "files", Files, "", "Files in the project, over those of the file.", "files = { \".tenter/hooks.toml\" = \"version = 1\" }"),
        key(Case, "home_files", Files, "", "Files in the home folder, over those of the file.", "home_files = { \".netrc\" = \"\" }"),
        key(Case, "trust_project", Flag, "that of the file", "Whether the hooks that are found in the project are trusted.", "trust_project = true"),
        key(Case, "after", Tables(After), "", "Commands that check files and processes when the case is over.", "after = [{ command = \"test -s audit.log\" }]"),

        key(Step, "event", Object, "", "The event, as in a case.", "event = { hook_event_name = \"Stop\", session_id = \"two\" }"),
        key(Step, "event_json", Text, "", "The event as JSON text, which may hold `null`.", "event_json = '{\"hook_event_name\":\"Stop\"}'"),
        key(Step, "expect", Expectation, "", "A partial match on what `tenter fire --json --io` gives.", "expect = { decision = \"none\" }"),
        key(Step, "max_ms", Count, "", "How many milliseconds this event may take, until its outcome is there.", "max_ms = 500"),

        key(After, "command", Text, "", "What `sh` runs in the project, with the session's variables.", "command = \"grep -q denied audit.log\""),
        key(After, "exit", Count, "`0`", "How it has to exit.", "exit = 1"),

        key(Content, "content", Text, "", "The text of the file.", "content = \"#!/bin/sh\\nexit 2\\n\""),
        key(Content, "mode", Text, "`\"0644\"`", "Its permissions, as an octal number in a text.", "mode = \"0755\""),
    ]
};

/// The reference page of the hooks file, as Markdown.
pub fn reference_markdown() -> String {
    let head = "# The hooks file\n\n\
         Every key of `hooks.toml`. A key that is not listed here is an error.\n";
    page(head, &Section::ALL)
}

/// The reference page of test files, as Markdown; `head` is what stands above the tables.
pub fn test_file_markdown(head: &str) -> String {
    page(head, &Section::TEST)
}

fn page(head: &str, sections: &[Section]) -> String {
    let mut page = String::from(head);
    for &section in sections {
        let title = match section {
            Section::File | Section::TestFile => "Top level",
            Section::Content => "A file",
            other => other.as_str(),
        };
        // Writing to a `String` does not fail.
        let _ = write!(page, "\n## {title}\n\n{}\n\n", section.description());
        page.push_str("| key | value | default | what it does | example |\n");
        page.push_str("|---|---|---|---|---|\n");
        for key in section.keys() {
            let doc = if key.usable {
                cell(key.doc)
            } else {
                format!("{} Kept for a later version: an entry with it is refused.", cell(key.doc))
            };
            let _ = writeln!(
                page,
                "| `{}` | {} | {} | {doc} | `{}` |",
                key.name,
                cell(&key.value.expected()),
                cell(key.default),
                cell(key.example)
            );
        }
    }
    page
}

/// A text in a cell of a table: a bar would end it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_key_stands_twice_and_each_has_its_example() {
        let mut seen = BTreeSet::new();
        for key in KEYS {
            assert!(seen.insert((key.section, key.name)), "{} stands twice", key.name);
            assert!(key.example.starts_with(&format!("{} = ", key.name)), "{}", key.example);
            assert!(key.doc.ends_with('.'), "{}", key.doc);
        }
        for handler in HANDLERS {
            assert!(Section::Hook.key(handler).is_some(), "{handler}");
        }
    }

    #[test]
    fn words_are_listed_as_one_would_say_them() {
        assert_eq!(Value::Word(&["a"]).expected(), "`a`");
        assert_eq!(Value::Word(&["a", "b", "c"]).expected(), "`a`, `b` or `c`");
    }

    #[test]
    fn the_reference_page_reads_well() {
        insta::assert_snapshot!(reference_markdown());
    }
}
