//! How a hook runs: the one handler of an entry, and the keys that belong to it.

use std::ops::Range;

use tenter_core::contract::{Block, Contract, Rewrites};
use tenter_core::event::EventKind;
use tenter_core::hook::{Command, CommandLine, Cwd, Handler, Leftovers, Level};
use tenter_core::verdict::{Decision, Verdict};
use toml::Spanned;
use toml::de::{DeString, DeValue};

use super::entry::Unknown;
use super::reader::{Item, Reader, Table, Text, shown, text_in};
use super::reply;
use crate::native::keys::{HANDLERS, REPLY_JSON, Section, joined};

/// Words that say how a hook runs in other products, and what is nearest to them here.
const FOREIGN: &[(&str, &str)] = &[
    ("prompt", ""),
    ("agent", ""),
    ("model", ""),
    ("mcp_tool", ""),
    ("mcp", ""),
    ("function", ""),
    ("module", ""),
    ("wasm", ""),
    ("builtin", ""),
    ("uses", ""),
    ("script", "command"),
    ("run", "command"),
    ("exec", "command"),
    ("execute", "command"),
    ("cmd", "command"),
    ("program", "command"),
    ("shell_command", "command"),
    ("bash", "command"),
    ("python", "command"),
    ("url", "command"),
    ("webhook", "command"),
    ("answer", "reply"),
    ("response", "reply"),
    ("decision", "reply"),
];

/// What was read of a handler.
#[derive(Debug)]
pub(super) struct Handling {
    /// The handler, if the entry has exactly one and it can be read.
    pub(super) handler: Option<Handler>,
    /// A name for a hook that has none of its own.
    pub(super) name: String,
    /// Where the reply stands, if it is one.
    reply_span: Range<usize>,
}

impl Handling {
    /// Whether it is a reply that decides or rewrites.
    pub(super) fn decides(&self) -> bool {
        self.verdict().is_some_and(|verdict| {
            verdict.decision != Decision::None || verdict.halt || verdict.rewrite().is_some()
        })
    }

    fn verdict(&self) -> Option<&Verdict> {
        match &self.handler {
            Some(Handler::Reply(verdict)) => Some(verdict),
            _ => None,
        }
    }
}

/// Says that a key, which the entry should not have, is a handler that this version does not
/// know; `false` if it is no such word.
pub(super) fn unknown_handler(
    reader: &mut Reader<'_>,
    name: &Spanned<DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
) -> bool {
    // `type = "prompt"` names its handler in the value.
    let named = match name.get_ref().as_ref() {
        "type" => text_in(value).filter(|text| !HANDLERS.contains(&text.text)),
        word => Some(Text { text: word, span: name.span() }),
    };
    let Some(named) = named else { return false };
    let is_type = name.get_ref() == "type";
    let nearest = match FOREIGN.iter().find(|(word, _)| *word == named.text) {
        Some((_, nearest)) => nearest,
        None if is_type => "",
        None => return false,
    };
    let known = known_handlers("and");
    let help = match nearest {
        "" => format!("known handlers are {known}"),
        nearest => format!("write `{nearest}`; known handlers are {known}"),
    };
    let message = format!("unknown handler `{}`", shown(named.text));
    reader.error("hook.unknown-handler", named.span, message, help);
    true
}

/// The handlers that this version runs, for messages.
fn known_handlers(last: &str) -> String {
    let is_usable = |name: &&str| Section::Hook.key(name).is_some_and(|key| key.usable);
    let usable: Vec<_> = HANDLERS.into_iter().filter(is_usable).collect();
    joined(&usable, last)
}

/// Reads the handler of an entry and the keys that belong to it.
pub(super) fn read(
    reader: &mut Reader<'_>,
    table: &Table<'_, '_>,
    header: &Range<usize>,
    unknown: &Unknown,
) -> Handling {
    let command = table.get("command");
    let reply = table.get("reply");
    let reply_json = table.get(REPLY_JSON.name);
    let http = table.get("http");
    let worker = table.get("worker");
    let options = read_options(reader, table);

    let line = command.as_ref().and_then(|item| read_line(reader, item));
    let verdict = reply
        .as_ref()
        .and_then(|item| reply::read(reader, item))
        .or_else(|| reply_json.as_ref().and_then(|item| reply::read_json(reader, item)));
    reader.text_of(http.as_ref());
    reader.text_table(table.get("headers").as_ref());
    reader.texts(worker.as_ref());
    for item in [&http, &worker].into_iter().flatten() {
        reader.error(
            "hook.unsupported-handler",
            item.key_span.clone(),
            format!("the handler `{}` is not part of this version", item.key.name),
            format!("write {}, or take the entry out", known_handlers("or")),
        );
    }

    let reply_span =
        reply.as_ref().or(reply_json.as_ref()).map(|item| item.value.span()).unwrap_or_default();
    let has_shell_text = matches!(line, Some(CommandLine::Shell(_)));
    let is_command = command.is_some();
    let mut present: Vec<_> =
        [command, reply, reply_json, http, worker].into_iter().flatten().collect();
    present.sort_by_key(|item| item.key_span.start);
    one_handler(reader, &present, header, unknown);
    no_effect(reader, table, present.is_empty(), is_command, has_shell_text);

    let (handler, name) = match (line, verdict) {
        (Some(line), None) => {
            let name = name_of(&line);
            let command = Command { line, ..options };
            (Some(Handler::Command(Box::new(command))), name)
        }
        (None, Some(verdict)) => (Some(Handler::Reply(Box::new(verdict))), "reply".to_owned()),
        (Some(line), Some(_)) => (None, name_of(&line)),
        (None, None) => (None, "hook".to_owned()),
    };
    Handling { handler, name, reply_span }
}

/// An entry has one handler. Whatever stands beside the first is named together with it.
fn one_handler(
    reader: &mut Reader<'_>,
    present: &[Item<'_, '_>],
    header: &Range<usize>,
    unknown: &Unknown,
) {
    let Some((first, others)) = present.split_first() else {
        if !unknown.handler {
            reader.error(
                "hook.no-handler",
                header.clone(),
                "nothing says how the hook runs",
                format!("add {}", known_handlers("or")),
            );
        }
        return;
    };
    let at = reader.position(first.key_span.clone());
    for other in others {
        reader.error(
            "hook.two-handlers",
            other.key_span.clone(),
            format!(
                "the entry has two handlers: `{}` in line {}, column {}, and `{}`",
                first.key.name, at.line, at.column, other.key.name
            ),
            "keep one of them, or make two `[[hook]]` entries",
        );
    }
}

/// Keys that do nothing for the handler that the entry has.
fn no_effect(
    reader: &mut Reader<'_>,
    table: &Table<'_, '_>,
    no_handler: bool,
    is_command: bool,
    has_shell_text: bool,
) {
    if no_handler {
        return;
    }
    let mut say = |name: &'static str, why: &str| {
        if let Some(item) = table.get(name) {
            let message = format!("`{name}` does nothing here: {why}");
            reader.warning("hook.no-effect", item.key_span, message, format!("leave `{name}` out"));
        }
    };
    if !is_command {
        for name in ["env", "cwd", "leftovers", "scripts", "shell"] {
            say(name, "the hook starts no command");
        }
    } else if !has_shell_text {
        say("shell", "a `command` that is a list is run without a shell");
    }
    if table.get("http").is_none() {
        say("headers", "the hook sends no request");
    }
}

/// What runs: a list of words, or a text for the shell.
fn read_line(reader: &mut Reader<'_>, item: &Item<'_, '_>) -> Option<CommandLine> {
    let texts = reader.texts(Some(item))?;
    let words: Vec<String> = texts.iter().map(|text| text.text.to_owned()).collect();
    if words.first().is_none_or(|first| first.trim().is_empty()) {
        reader.error(
            "hook.empty-command",
            item.value.span(),
            "there is no command to run",
            "write a program, as in `command = [\"./guard.sh\"]`",
        );
        return None;
    }
    no_nul(reader, &texts)?;
    if item.value.get_ref().as_str().is_some() {
        return words.into_iter().next().map(CommandLine::Shell);
    }
    if let ([only], [text]) = (words.as_slice(), texts.as_slice())
        && only.contains(char::is_whitespace)
    {
        reader.warning(
            "hook.one-word",
            text.span.clone(),
            "a list is run without a shell, so this whole text is the name of a program",
            "give each argument a text of its own, or write the text without the brackets",
        );
    }
    Some(CommandLine::Argv(words))
}

/// The operating system ends a text at NUL, so none may hold one.
fn no_nul(reader: &mut Reader<'_>, texts: &[Text<'_>]) -> Option<()> {
    let with_nul = texts.iter().find(|text| text.text.contains('\0'));
    if let Some(text) = with_nul {
        reader.error(
            "hook.nul",
            text.span.clone(),
            "the text holds a NUL character, which ends a text for the operating system",
            "take `\\u0000` out",
        );
    }
    with_nul.is_none().then_some(())
}

/// The keys beside `command`.
fn read_options(reader: &mut Reader<'_>, table: &Table<'_, '_>) -> Command {
    let shell = read_shell(reader, table.get("shell").as_ref());
    let env = read_env(reader, table.get("env").as_ref());
    let cwd = reader.word(table.get("cwd").as_ref(), |word| match word {
        "project" => Some(Cwd::Project),
        "session" => Some(Cwd::Session),
        _ => None,
    });
    let leftovers = reader.word(table.get("leftovers").as_ref(), |word| match word {
        "leave" => Some(Leftovers::Leave),
        "kill" => Some(Leftovers::Kill),
        _ => None,
    });
    let scripts = read_scripts(reader, table.get("scripts").as_ref());
    let base = match reader.file.level {
        Level::Managed | Level::User => Some(reader.file.folder.to_owned()),
        Level::Project | Level::Private => None,
    };
    Command {
        line: CommandLine::Argv(Vec::new()),
        shell,
        env,
        cwd: cwd.unwrap_or_default(),
        leftovers: leftovers.unwrap_or_default(),
        scripts,
        base,
    }
}

fn read_shell(reader: &mut Reader<'_>, item: Option<&Item<'_, '_>>) -> Option<Vec<String>> {
    let texts = reader.texts(item)?;
    no_nul(reader, &texts)?;
    let wrong = match (texts.first(), texts.last()) {
        (Some(first), _) if first.text.trim().is_empty() => Some((
            first.span.clone(),
            "there is no shell to run",
            "write its name, as in `shell = \"bash\"`",
        )),
        (Some(first), _) if texts.len() == 1 && first.text.contains(char::is_whitespace) => Some((
            first.span.clone(),
            "the whole text is the name of a program",
            "write the shell and its options as a list, as in `shell = [\"bash\", \"-eu\"]`",
        )),
        (_, Some(last)) if last.text == "-c" => Some((
            last.span.clone(),
            "`-c` is added before the text of the command",
            "leave `-c` out",
        )),
        (None, _) => Some((
            item.map(|item| item.value.span()).unwrap_or_default(),
            "the list is empty",
            "write the shell's name, as in `shell = \"bash\"`",
        )),
        _ => None,
    };
    if let Some((span, message, help)) = wrong {
        reader.error("hook.bad-value", span, message, help);
        return None;
    }
    Some(texts.iter().map(|text| text.text.to_owned()).collect())
}

fn read_env(reader: &mut Reader<'_>, item: Option<&Item<'_, '_>>) -> Vec<(String, String)> {
    let Some(pairs) = reader.text_table(item) else { return Vec::new() };
    let mut env = Vec::with_capacity(pairs.len());
    for (name, value) in pairs {
        if name.text.is_empty() || name.text.contains(['=', '\0']) {
            reader.error(
                "hook.bad-value",
                name.span,
                format!("a variable cannot be named `{}`", shown(name.text)),
                "use letters, digits and `_`",
            );
        } else if no_nul(reader, std::slice::from_ref(&value)).is_some() {
            env.push((name.text.to_owned(), value.text.to_owned()));
        }
    }
    env
}

fn read_scripts(reader: &mut Reader<'_>, item: Option<&Item<'_, '_>>) -> Vec<String> {
    let Some(texts) = reader.list(item) else { return Vec::new() };
    if no_nul(reader, &texts).is_none() {
        return Vec::new();
    }
    if let Some(empty) = texts.iter().find(|text| text.text.trim().is_empty()) {
        reader.error(
            "hook.bad-value",
            empty.span.clone(),
            "the name of a script is empty",
            "write the path of a file, or leave it out",
        );
    }
    texts.iter().map(|text| text.text.to_owned()).collect()
}

/// A name for a command: its program, or the first words of the shell's text.
fn name_of(line: &CommandLine) -> String {
    const WORDS: usize = 3;
    const LONGEST: usize = 40;
    let name = match line {
        CommandLine::Argv(words) => {
            let program = words.first().map(String::as_str).unwrap_or_default();
            program.trim_end_matches('/').rsplit('/').next().unwrap_or_default().trim().to_owned()
        }
        CommandLine::Shell(text) => {
            text.split_whitespace().take(WORDS).collect::<Vec<_>>().join(" ")
        }
    };
    let name: String =
        name.chars().filter(|character| !character.is_control()).take(LONGEST).collect();
    if name.is_empty() { "command".to_owned() } else { name }
}

/// Says what a reply cannot do on any of its events.
pub(super) fn check_effect(reader: &mut Reader<'_>, events: &[EventKind], handling: &Handling) {
    let Some(verdict) = handling.verdict() else { return };
    let Some(first) = events.first() else { return };
    let profile = reader.dialect.profile;
    let mut say = |what: &str, help: &str| {
        let on = match events {
            [_] => format!("{what} on `{first}`"),
            _ => format!("{what} on any of its events"),
        };
        reader.warning("hook.no-effect", handling.reply_span.clone(), on, help.to_owned());
    };
    if verdict.is_silent() {
        say("the reply says nothing", "add a `decision`, a `context` or a `message`");
        return;
    }
    let any =
        |has: &dyn Fn(&Contract) -> bool| events.iter().any(|kind| has(profile.contract(kind)));
    if verdict.decision.restricts() && !any(&|row| row.block != Block::Nothing) {
        say("a reply can hold nothing up", "leave `decision` out");
    }
    if verdict.rewrite().is_some() && !any(&|row| row.rewrites != Rewrites::Nothing) {
        say("a reply can rewrite nothing", "leave `patch` and `replace` out");
    }
    if verdict.context().is_some() && !any(&|row| row.delivers_context) {
        say("no context reaches the model", "leave `context` out, or write a `message`");
    }
}
