//! How often the rules that a person would write find what they were written for, and how often they
//! find what only looks like it.
//!
//! Owns reading the data, asking the rules and counting. What the numbers have to be is the business
//! of the test beside it and of `cargo xtask rule-score`, which both use this file.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use tenter_core::hook::Level;
use tenter_core::json::Json;
use tenter_core::rules::{Call, PathPair, Paths, Place, Places, Rule, RuleSet, ShellCall, Truth};
use tenter_core::verdict::Decision;

const ACTIONS: &str = include_str!("../data/spellings.toml");
const CASES: &str = include_str!("../../../shell/tests/data/commands.jsonl");

/// The category of the cases that do no harm.
const HARMLESS: &str = "benign";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    action: Vec<Action>,
}

/// One action; the keys are explained at the top of the data.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
    name: String,
    #[serde(default)]
    deny: Vec<String>,
    #[serde(default)]
    allow: Vec<String>,
    cases: Vec<String>,
    spellings: String,
    mentions: String,
    #[serde(default)]
    known_misses: String,
    #[serde(default)]
    known_wrong: String,
}

#[derive(Deserialize)]
struct Case {
    id: String,
    category: String,
    command: String,
    accept: Vec<String>,
}

/// What the rules of one action did.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// The action.
    pub(crate) name: String,
    /// Commands that do it: the rule matches, may match, does not match.
    pub(crate) spellings: [usize; 3],
    /// Commands that only look like it, in the same order.
    pub(crate) mentions: [usize; 3],
}

/// What is wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The command does the action and the rule does not match.
    Missed,
    /// The command does not do the action and the rule matches.
    Wrong,
    /// The command does not do the action and the rule may match.
    Doubted,
}

/// An answer that is not what it should be.
#[derive(Debug)]
pub(crate) struct Fault {
    /// The action whose rules were asked.
    pub(crate) action: String,
    /// What is wrong.
    pub(crate) kind: Kind,
    /// The command as the data names it: its id, or its text.
    pub(crate) label: String,
    /// The command on one line.
    pub(crate) line: String,
    /// Whether the data says so.
    pub(crate) known: bool,
}

/// All answers.
#[derive(Debug, Default)]
pub(crate) struct Score {
    /// One for each action, in the order of the data, then the harmless cases.
    pub(crate) rows: Vec<Row>,
    /// Every answer that is not what it should be.
    pub(crate) faults: Vec<Fault>,
    /// What the data calls missed or wrong and is not, as `ACTION: COMMAND`.
    pub(crate) mended: Vec<String>,
    /// Cases that must not be allowed and that no action speaks of.
    pub(crate) unused: Vec<String>,
}

impl Score {
    /// Asks every rule about every command.
    ///
    /// # Errors
    /// The data cannot be read.
    pub(crate) fn take() -> Result<Self, String> {
        let data: Data = toml::from_str(ACTIONS).map_err(|error| error.to_string())?;
        let cases: Vec<Case> = CASES
            .lines()
            .map(|line| serde_json::from_str(line).map_err(|error| error.to_string()))
            .collect::<Result<_, _>>()?;
        let mut score = Self::default();
        let mut used = BTreeSet::new();
        let mut harmless = vec![Truth::No; cases.len()];
        for action in &data.action {
            let rules = action.rules()?;
            let claimed = action.claimed(&cases)?;
            used.extend(claimed.iter().map(|index| cases[*index].id.as_str()));
            let begun = score.faults.len();
            let mut row = Row { name: action.name.clone(), ..Row::default() };
            for (label, line) in claimed
                .iter()
                .map(|index| (cases[*index].id.clone(), cases[*index].command.clone()))
                .chain(commands(&action.spellings))
            {
                let truth = rules.catches(&line);
                row.spellings[column(truth)] += 1;
                let kind = (truth == Truth::No).then_some(Kind::Missed);
                score.note(action, kind, label, &line);
            }
            for (label, line) in commands(&action.mentions) {
                let truth = rules.catches(&line);
                row.mentions[column(truth)] += 1;
                score.note(action, mistaken(truth), label, &line);
            }
            // An allow is not meant to hold for every harmless command there is.
            let others = cases.iter().enumerate().filter(|(index, case)| {
                case.category == HARMLESS && !claimed.contains(index) && !action.deny.is_empty()
            });
            for (index, case) in others {
                let truth = rules.catches(&case.command);
                harmless[index] = harmless[index].max(truth);
                score.note(action, mistaken(truth), case.id.clone(), &case.command);
            }
            score.rows.push(row);
            score.find_mended(action, begun);
        }
        let mut row = Row { name: "the harmless cases".to_owned(), ..Row::default() };
        for (case, truth) in cases.iter().zip(harmless) {
            if case.category == HARMLESS {
                row.mentions[column(truth)] += 1;
            } else if !used.contains(case.id.as_str())
                && !case.accept.iter().any(|answer| answer == "allow")
            {
                score.unused.push(case.id.clone());
            }
        }
        score.rows.push(row);
        Ok(score)
    }

    fn note(&mut self, action: &Action, kind: Option<Kind>, label: String, line: &str) {
        let Some(kind) = kind else { return };
        let known = match kind {
            Kind::Missed => &action.known_misses,
            Kind::Wrong => &action.known_wrong,
            Kind::Doubted => "",
        };
        let known = known.lines().any(|one| one == label);
        let line = line.replace('\n', "⏎");
        self.faults.push(Fault { action: action.name.clone(), kind, label, line, known });
    }

    /// What of the action's known faults is not among those found from `begun` on.
    fn find_mended(&mut self, action: &Action, begun: usize) {
        for (list, kind) in
            [(&action.known_misses, Kind::Missed), (&action.known_wrong, Kind::Wrong)]
        {
            for label in list.lines() {
                let mut faults = self.faults.iter().skip(begun);
                if !faults.any(|fault| fault.kind == kind && fault.label == label) {
                    self.mended.push(format!("{}: {label}", action.name));
                }
            }
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut total = Row { name: "all".to_owned(), ..Row::default() };
        writeln!(
            f,
            "{:20} {:>9} {:>7} {:>5} {:>6}   {:>8} {:>5} {:>5}",
            "action", "spellings", "matched", "maybe", "missed", "mentions", "wrong", "maybe"
        )?;
        for row in &self.rows {
            writeln!(f, "{row}")?;
            for column in 0..3 {
                total.spellings[column] += row.spellings[column];
                total.mentions[column] += row.mentions[column];
            }
        }
        write!(f, "{total}")
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [matched, maybe, missed] = self.spellings;
        let [wrong, doubted, silent] = self.mentions;
        let (spellings, mentions) = (matched + maybe + missed, wrong + doubted + silent);
        write!(
            f,
            "{:20} {spellings:9} {matched:7} {maybe:5} {missed:6}   {mentions:8} {wrong:5} {doubted:5}",
            self.name
        )
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Missed => "missed",
            Self::Wrong => "wrong",
            Self::Doubted => "maybe",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { action, kind, label, line, .. } = self;
        if label == line {
            write!(f, "{kind:6}  {action:20}  {line}")
        } else {
            write!(f, "{kind:6}  {action:20}  {line}  ({label})")
        }
    }
}

/// The place of an answer in a row.
const fn column(truth: Truth) -> usize {
    match truth {
        Truth::Yes => 0,
        Truth::Maybe => 1,
        Truth::No => 2,
    }
}

/// What an answer about a mention is.
const fn mistaken(truth: Truth) -> Option<Kind> {
    match truth {
        Truth::Yes => Some(Kind::Wrong),
        Truth::Maybe => Some(Kind::Doubted),
        Truth::No => None,
    }
}

/// The commands of a list, each with the text that names it.
fn commands(list: &str) -> impl Iterator<Item = (String, String)> {
    list.lines().map(|line| (line.to_owned(), line.replace('⏎', "\n")))
}

/// The rules of an action and where they are asked.
struct Asked {
    rules: RuleSet,
    allows: bool,
    places: Places,
}

impl Action {
    fn rules(&self) -> Result<Asked, String> {
        let mut rules = RuleSet::new();
        for text in &self.deny {
            rules.add_deny(rule(text)?, Level::User, "");
        }
        for text in &self.allow {
            rules.add_allow(rule(text)?, Level::User, "");
        }
        if self.deny.is_empty() == self.allow.is_empty() {
            return Err(format!("{}: either `deny` or `allow` names rules", self.name));
        }
        let places = Places {
            project: Place::new("/home/user/app"),
            home: Some(Place::new("/home/user")),
            cwd: "/home/user/app".to_owned(),
        };
        Ok(Asked { rules, allows: self.deny.is_empty(), places })
    }

    /// The cases that do the action.
    fn claimed(&self, cases: &[Case]) -> Result<BTreeSet<usize>, String> {
        let mut claimed = BTreeSet::new();
        for name in &self.cases {
            let before = claimed.len();
            claimed.extend(cases.iter().enumerate().filter_map(|(index, case)| {
                let meant = match name.strip_suffix('*') {
                    Some(begin) => case.id.starts_with(begin) && case.category != HARMLESS,
                    None => case.id == *name,
                };
                meant.then_some(index)
            }));
            if claimed.len() == before {
                return Err(format!("{}: `{name}` names no case that is new", self.name));
            }
        }
        Ok(claimed)
    }
}

fn rule(text: &str) -> Result<Rule, String> {
    Rule::parse(text).map_err(|error| format!("`{text}`: {error}"))
}

impl Asked {
    /// Whether the rules do what they were written for: a deny matches, an allow does not hold.
    fn catches(&self, line: &str) -> Truth {
        let decision = self.decide(line);
        match decision {
            Decision::Allow => Truth::No,
            _ if self.allows => Truth::Yes,
            Decision::Deny => Truth::Yes,
            Decision::None => Truth::No,
            _ => Truth::Maybe,
        }
    }

    fn decide(&self, line: &str) -> Decision {
        let input = Json::from(&serde_json::json!({ "command": line }));
        // No path passes a link.
        let mut lexical = |path: &str| {
            let pairs = self.places.pairs(path)?;
            Some(pairs.iter().map(|pair| PathPair::lexical(pair.given())).collect())
        };
        let shell = ShellCall::of(&input, &mut lexical);
        let call = Call {
            tool: "Bash",
            host_tool: None,
            input: &input,
            paths: Paths::Known(&[]),
            shell: Some(&shell),
            places: &self.places,
        };
        self.rules.judge(&call).map_or(Decision::None, |ruling| ruling.decision)
    }
}
