//! Examples that a rule carries: calls that it is to match, and calls that it is not to.
//!
//! Owns: what call an example's text stands for, and whether it is what it says. Does not own: who
//! looks at examples; no decision ever does.

use serde_json::json;

use super::{
    Call, PathPair, Paths, Pattern, Place, Places, Rule, RuleSet, SHELL, ShellCall, ToolPaths,
    Truth, paths_of,
};
use crate::diagnostic::Position;
use crate::hook::Level;
use crate::json::Json;
use crate::verdict::Decision;

/// A text that a rule is tried on.
///
/// It is what stands between the parentheses of such rules: a command line, a path, an address, an
/// agent's type; and the name of a tool for a rule without a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The text.
    pub text: Box<str>,
    /// Whether the rule is to match it.
    pub matches: bool,
    /// Where it stands, if it stands in a file.
    pub position: Option<Position>,
}

impl Rule {
    /// The rule with examples.
    #[must_use]
    pub fn with_examples(self, examples: Vec<Example>) -> Self {
        let mut inner = std::sync::Arc::unwrap_or_clone(self.0);
        inner.examples = examples.into();
        Self(std::sync::Arc::new(inner))
    }

    /// Its examples, in the order in which they are written.
    pub fn examples(&self) -> &[Example] {
        &self.0.examples
    }

    /// What the rule does, as one of a list, to the call that a text stands for.
    ///
    /// Of a deny or ask rule (and of a condition, which counts as such) it is how the rule matches. An
    /// allow rule matches only what it would allow by itself.
    pub fn try_on(&self, text: &str, list: Decision, places: &Places) -> Truth {
        let (tool, input) = self.call_of(text);
        let input = Json::from(&input);
        let mut lexical = |path: &str| {
            let pairs = places.pairs(path)?.into_iter();
            Some(pairs.map(|pair| PathPair::lexical(pair.given())).collect::<Vec<_>>())
        };
        let pairs = match paths_of(&tool, &input) {
            ToolPaths::None => Some(Vec::new()),
            ToolPaths::Unreadable => None,
            ToolPaths::Known(given) => {
                let pairs: Option<Vec<_>> = given.iter().map(|path| lexical(path)).collect();
                pairs.map(|pairs| pairs.concat())
            }
        };
        let shell = (tool == SHELL).then(|| ShellCall::of(&input, &mut lexical));
        let call = Call {
            tool: &tool,
            host_tool: None,
            input: &input,
            paths: pairs.as_deref().map_or(Paths::Unreadable, Paths::Known),
            shell: shell.as_ref(),
            places,
        };
        if list != Decision::Allow {
            return self.matches(&call);
        }
        let mut alone = RuleSet::new();
        alone.add_allow(self.clone(), Level::Private, "");
        alone.judge(&call).is_some().into()
    }

    /// The tool and the input that an example's text stands for.
    fn call_of(&self, text: &str) -> (String, serde_json::Value) {
        let named = |fallback: &str| {
            let name = self.0.text.split('(').next().unwrap_or_default().trim();
            let is_name = !name.is_empty() && !name.contains(['*', '?', '[', '{']);
            if is_name { name.to_owned() } else { fallback.to_owned() }
        };
        match &self.0.pattern {
            Pattern::Any => (text.to_owned(), json!({})),
            Pattern::Command(_) => (SHELL.to_owned(), json!({ "command": text })),
            Pattern::Url(_) => ("WebFetch".to_owned(), json!({ "url": text })),
            Pattern::Agent(_) => ("Agent".to_owned(), json!({ "subagent_type": text })),
            Pattern::Path(_) => {
                let tool = named("Read");
                let input = match tool.as_str() {
                    "Glob" | "Grep" => json!({ "pattern": "*", "path": text }),
                    "NotebookEdit" => json!({ "notebook_path": text }),
                    _ => json!({ "file_path": text }),
                };
                (tool, input)
            }
        }
    }
}

impl Places {
    /// Places for trying rules without a file system: a project and a home folder by these paths.
    pub fn lexical(project: &str, home: &str) -> Self {
        Self { project: Place::new(project), home: Some(Place::new(home)), cwd: project.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_what_stands_in_the_parentheses() {
        let places = Places::lexical("/p", "/home/u");
        let (deny, allow) = (Decision::Deny, Decision::Allow);
        for (rule, list, text, truth) in [
            ("Bash(git push *)", deny, "cd x && git push", Truth::Yes),
            ("Bash(git push *)", deny, "curl x | sh", Truth::Maybe),
            ("Bash(git push *)", deny, "git pull", Truth::No),
            ("Bash(ls *)", allow, "ls -l", Truth::Yes),
            ("Bash(ls *)", allow, "ls -l > x", Truth::No),
            ("Read(**/.env)", deny, "a/.env", Truth::Yes),
            ("Edit(src/**)", allow, "src/../x", Truth::No),
            ("NotebookEdit(*.ipynb)", deny, "a.ipynb", Truth::Yes),
            ("Grep(/etc/**)", deny, "/etc/ssh", Truth::Yes),
            ("WebFetch(domain:*.example.com)", deny, "https://a.example.com/x", Truth::Yes),
            ("WebFetch(domain:*.example.com)", deny, "https://example.com.evil.org", Truth::No),
            ("Agent(review*)", deny, "reviewer", Truth::Yes),
            ("mcp__github__*", deny, "mcp__github__get", Truth::Yes),
            ("mcp__github__*", deny, "Bash", Truth::No),
        ] {
            let rule = Rule::parse(rule).unwrap();
            assert_eq!(rule.try_on(text, list, &places), truth, "{rule}: {text}");
        }
    }

    #[test]
    fn a_rule_keeps_its_examples_and_stays_the_same_rule() {
        let rule = Rule::parse("Bash(ls)").unwrap();
        let example = Example { text: "ls".into(), matches: true, position: None };
        let with = rule.clone().with_examples(vec![example.clone()]);
        assert_eq!(with, rule);
        assert_eq!(with.examples(), [example]);
    }
}
