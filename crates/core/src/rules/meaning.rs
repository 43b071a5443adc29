//! Patterns with options, by what the options mean: `rm -Rf /`, `rm / -rf` and `rm --rec --fo /` all
//! are what `rm -rf /` is, and `git push origin +main` is a `git push --force`.
//!
//! Owns: how a pattern is read as options that have to be there and operands, and how a command
//! stands to that. Does not own: which program takes which options (`table`), and the plain
//! comparison of words, which holds beside this one. An allow never looks at meanings.

mod table;

use std::borrow::Cow;

use tenter_shell::{Glob, Match, Piece, Word, matches};

use self::table::{Mark, Operands, ROWS, Row, WHOLE};
use super::{Truth, normalise};

/// A pattern of one command, as options and operands.
#[derive(Debug, Clone)]
pub(super) struct Meaning {
    row: &'static Row,
    program: Box<str>,
    /// Each has to be there, in whatever spelling and place.
    options: Vec<Wanted>,
    /// A pattern over the operands.
    operands: Box<str>,
}

/// An option that a pattern asks for.
#[derive(Debug, Clone)]
struct Wanted {
    name: Name,
    /// The pattern of its value, if it takes one.
    value: Option<Box<str>>,
}

/// The canonical name of an option: its long one without dashes, else as it is written.
type Name = Cow<'static, str>;

/// What a command was given.
#[derive(Debug, Default)]
struct Given {
    options: Vec<(Name, Option<Word>)>,
    operands: Vec<Word>,
    /// A word that is decided at run time may be any option.
    open: bool,
}

impl Meaning {
    /// Reads a pattern; `None` for one whose words say all there is: without options, or without
    /// operands where the options of the program are not known.
    pub(super) fn of(pattern: &str) -> Option<Self> {
        let pattern = match pattern.strip_suffix(":*") {
            Some(start) if !start.ends_with(' ') => format!("{start} *"),
            _ => pattern.to_owned(),
        };
        let words = split(&pattern);
        let (program, rest) = words.split_first()?;
        if program.contains(['*', '\\', '~']) {
            return None;
        }
        let row = ROWS.iter().find(|row| starts_with(&words, row.words)).unwrap_or(&WHOLE);
        let rest = rest.get(row.words.len().saturating_sub(1)..).unwrap_or_default();
        let given = read(row, rest.iter().map(|word| Word::Literal((*word).to_owned())));
        if given.options.iter().any(|(name, _)| name.contains('*')) {
            return None;
        }
        let operands: Vec<String> =
            given.operands.iter().map(|word| row.plain(word).to_string()).collect();
        let named = !row.words.is_empty() && operands.iter().any(|word| word != "*");
        if given.options.is_empty() && !named {
            return None;
        }
        let options = given.options.into_iter();
        Some(Self {
            row,
            program: (*program).into(),
            options: options
                .map(|(name, value)| Wanted {
                    name,
                    value: value.and_then(|value| value.literal().map(Into::into)),
                })
                .collect(),
            operands: operands.join(" ").into(),
        })
    }

    /// How a command stands to the pattern; its program is by its name.
    pub(super) fn matches(&self, words: &[Word]) -> Truth {
        let Some((program, rest)) = words.split_first() else { return Truth::No };
        if program.literal() != Some(&*self.program) {
            return Truth::No;
        }
        let head = self.row.words.get(1..).unwrap_or_default();
        let (verbs, rest) = rest.split_at_checked(head.len()).unwrap_or_default();
        if !verbs.iter().map(Word::literal).eq(head.iter().map(|word| Some(*word))) {
            return Truth::No;
        }
        let given = read(self.row, rest.iter().cloned());
        let options = self.options.iter().map(|wanted| wanted.among(&given)).min();
        options.unwrap_or(Truth::Yes).min(self.operands_match(&given))
    }

    fn operands_match(&self, given: &Given) -> Truth {
        let plain: Vec<Word> = given.operands.iter().map(|word| self.row.plain(word)).collect();
        let joined = truth(matches(&plain, &self.operands));
        if self.row.operands == Operands::Joined || self.operands.contains(' ') {
            return joined;
        }
        let each =
            plain.iter().map(|word| truth(matches(std::slice::from_ref(word), &self.operands)));
        each.max().map_or(joined, |each| each.max(joined))
    }
}

impl Wanted {
    fn among(&self, given: &Given) -> Truth {
        let absent = if given.open { Truth::Maybe } else { Truth::No };
        let found = given.options.iter().filter(|(name, _)| *name == self.name);
        let found = found.map(|(_, value)| match (&self.value, value) {
            (None, _) => Truth::Yes,
            (Some(pattern), Some(value)) => truth(matches(std::slice::from_ref(value), pattern)),
            (Some(_), None) => Truth::No,
        });
        found.max().unwrap_or(Truth::No).max(absent)
    }
}

impl Row {
    /// An operand in its plain form.
    fn plain(&self, word: &Word) -> Word {
        match word {
            Word::Literal(text) if self.is_mode => Word::Literal(plain_mode(text)),
            Word::Literal(text) if self.operands == Operands::Each && text.contains('/') => {
                Word::Literal(normalise(text).into_owned())
            }
            Word::Pattern(_) if self.operands == Operands::Each => word.as_plain_path(),
            _ => word.clone(),
        }
    }
}

fn truth(found: Match) -> Truth {
    match found {
        Match::No => Truth::No,
        Match::Maybe => Truth::Maybe,
        Match::Yes => Truth::Yes,
    }
}

/// The words of a pattern; a `\` keeps the character behind it with its word.
fn split(pattern: &str) -> Vec<&str> {
    let mut escaped = false;
    let words = pattern.split(|character: char| {
        let apart = character == ' ' && !escaped;
        escaped = character == '\\' && !escaped;
        apart
    });
    words.filter(|word| !word.is_empty()).collect()
}

fn starts_with(words: &[&str], head: &[&str]) -> bool {
    words.get(..head.len()).is_some_and(|start| start == head)
}

/// Sorts words into options and operands.
fn read(row: &Row, words: impl Iterator<Item = Word>) -> Given {
    let mut given = Given::default();
    let mut only_operands = false;
    let mut words = words.peekable();
    while let Some(word) = words.next() {
        let prefix = word.known_prefix();
        let is_option = !only_operands && prefix.len() > 1 && prefix.starts_with('-');
        if !is_option {
            if !only_operands && may_be_any(&word) {
                given.open = true;
            }
            if let Some(name) = row.implied(Mark::Operand, prefix) {
                given.options.push((name.into(), None));
            }
            given.operands.push(word);
        } else if word.literal() == Some("--") {
            only_operands = true;
        } else if row.is_mode && is_mode(prefix) {
            given.operands.push(word);
        } else if row.is_kill
            && let Some(name) = signal(prefix)
        {
            let value = if name.is_empty() { words.next() } else { Some(Word::Literal(name)) };
            given.options.push(("signal".into(), value.map(|value| plain_signal(&value))));
        } else if let Some(long) = prefix.strip_prefix("--") {
            let (name, attached) = match long.split_once('=') {
                Some((name, _)) => (name, true),
                None => (long, false),
            };
            given.open |= !attached && word.literal().is_none();
            let value = attached.then(|| word.without_prefix(name.len() + 3));
            long_option(row, name, value, &mut words, &mut given);
        } else if row.clusters {
            cluster(row, &word, &mut words, &mut given);
        } else {
            given.open |= word.literal().is_none();
            given.options.push((prefix.to_owned().into(), None));
        }
    }
    given
}

/// `--name`: the option of that name, else every one that it may be short for.
fn long_option(
    row: &Row,
    name: &str,
    value: Option<Word>,
    words: &mut impl Iterator<Item = Word>,
    given: &mut Given,
) {
    let exact = row.options.iter().find(|option| option.long == name);
    let meant: Vec<_> = match exact {
        Some(option) => vec![option],
        None => row.options.iter().filter(|option| option.long.starts_with(name)).collect(),
    };
    if meant.is_empty() {
        given.options.push((format!("--{name}").into(), value));
        return;
    }
    let takes = meant.iter().all(|option| option.valued);
    let value = if takes { value.or_else(|| words.next()) } else { value };
    for option in meant {
        add(row, option.long, value.clone(), given);
    }
}

/// `-abc`: each letter is an option, up to one that takes the rest or the next word.
fn cluster(row: &Row, word: &Word, words: &mut impl Iterator<Item = Word>, given: &mut Given) {
    let prefix = word.known_prefix();
    given.open |= word.literal().is_none();
    for (at, letter) in prefix.char_indices().skip(1) {
        if let Some((_, names)) = row.shorthands.iter().find(|(short, _)| *short == letter) {
            names.iter().for_each(|name| add(row, name, None, given));
            continue;
        }
        let behind = at + letter.len_utf8();
        match row.options.iter().find(|option| option.letters.contains(letter)) {
            Some(option) if option.valued => {
                let attached = behind < prefix.len() || word.literal().is_none();
                let value = if attached { Some(word.without_prefix(behind)) } else { words.next() };
                return add(row, option.long, value, given);
            }
            Some(option) => add(row, option.long, None, given),
            None => given.options.push((format!("-{letter}").into(), None)),
        }
    }
}

/// Adds an option with what it brings along.
fn add(row: &Row, name: &'static str, value: Option<Word>, given: &mut Given) {
    given.options.push((name.into(), value));
    if let Some(implied) = row.implied(Mark::Option, name) {
        given.options.push((implied.into(), None));
    }
}

/// Whether a word may turn out to be an option.
fn may_be_any(word: &Word) -> bool {
    word.known_prefix().is_empty()
        && word.literal().is_none()
        && matches!(word.pieces().first(), Some(Piece::Any | Piece::Glob(Glob::Set(_))))
}

/// Whether an argument of `chmod` with a dash is a mode.
fn is_mode(text: &str) -> bool {
    text.bytes().skip(1).all(|byte| b"rwxXstugo,+=-".contains(&byte))
}

/// The signal that an argument of `kill` names; empty where the next word does. `-1` may be one, or
/// every process: it counts as a process behind a signal only.
fn signal(text: &str) -> Option<String> {
    let name = text.trim_start_matches('-');
    match name.split_once('=') {
        Some(("signal", name)) => return Some(name.to_owned()),
        _ if matches!(name, "s" | "n" | "signal") => return Some(String::new()),
        _ => {}
    }
    let is_name = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    (is_name && name != "1" && !name.is_empty()).then(|| name.to_owned())
}

/// A signal by its number, where that is the one people write.
fn plain_signal(word: &Word) -> Word {
    let Some(name) = word.literal() else { return word.clone() };
    let number = match name.strip_prefix("SIG").unwrap_or(name) {
        "KILL" => "9",
        "TERM" => "15",
        "INT" => "2",
        "HUP" => "1",
        other => other,
    };
    Word::Literal(number.to_owned())
}

/// Modes that give everything to everybody in one spelling.
fn plain_mode(text: &str) -> String {
    let octal = text.trim_start_matches('0');
    if octal.len() == 3 && octal.bytes().all(|byte| byte.is_ascii_digit()) {
        return octal.to_owned();
    }
    let everybody = ["a", "ugo", "uog", "guo", "gou", "oug", "ogu", ""];
    let opened = text.split_once(['+', '=']).is_some_and(|(who, what)| {
        let all = |letter| what.contains(letter);
        everybody.contains(&who) && what.len() == 3 && all('r') && all('w') && all('x')
    });
    if opened { "777".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests;
