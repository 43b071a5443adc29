//! The examples that rules carry, tried on their rules.
//!
//! Owns: what is said about an example that is not what it says. Nothing that runs looks at examples.

use tenter_core::diagnostic::Diagnostic;
use tenter_core::rules::{Places, Rule, Truth};
use tenter_core::verdict::Decision;

use super::Loaded;

impl Loaded {
    /// Tries every rule on its examples, in permissions and conditions, and gives one error for each
    /// that is not what it says.
    ///
    /// `places` are those that the rules' paths start at; no link is followed.
    pub fn failed_examples(&self, places: &Places) -> Vec<Diagnostic> {
        let permissions = self.rules.iter().map(|(list, rule, _, _)| (list, rule));
        let conditions = self.hooks.iter().flat_map(|hook| &hook.condition);
        let conditions = conditions.map(|rule| (Decision::Ask, rule));
        permissions.chain(conditions).flat_map(|(list, rule)| failed(list, rule, places)).collect()
    }
}

fn failed(list: Decision, rule: &Rule, places: &Places) -> Vec<Diagnostic> {
    let tried = rule.examples().iter().filter_map(|example| {
        let text = &*example.text;
        let truth = rule.try_on(text, list, places);
        let (message, help) = match (example.matches, truth) {
            (true, Truth::No) if list == Decision::Allow => (
                format!("`{rule}` does not allow `{text}` by itself"),
                "an allow covers every command and every file that is written, and nothing unknown",
            ),
            (true, Truth::No) => (
                format!("`{rule}` does not match `{text}`"),
                "mend the rule, or move the text to `not_match`",
            ),
            (false, Truth::Yes) => {
                (format!("`{rule}` matches `{text}`"), "mend the rule, or move the text to `match`")
            }
            (false, Truth::Maybe) => (
                format!("`{rule}` may match `{text}`"),
                "what is decided when a command runs may be anything; `tenter explain` shows it",
            ),
            _ => return None,
        };
        let said = Diagnostic::error("rule.example", message).help(help);
        Some(match &example.position {
            Some(position) => said.at(position.clone()),
            None => said,
        })
    });
    tried.collect()
}
