//! The environment of a hook: built once, shared by all hooks of an event, with a few variables that
//! differ per hook laid over it.
//!
//! It does not read the environment of this process; whoever owns a session says what is in it.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// The variable that every run gets, with a value of its own. It marks the processes of a run so that
/// those which left the group can be found. An inherited value is replaced.
pub const RUN_VARIABLE: &str = "TENTER_RUN";

/// A set of environment variables. Cloning it is cheap, and so is [`with`](Self::with).
///
/// Names and values are bytes. One that a process cannot be given (an empty name, a `=` in a name, a
/// NUL) is kept as it is and makes the start fail with an error that names it.
#[derive(Clone, Default)]
pub struct Environment {
    base: Arc<BTreeMap<OsString, Entry>>,
    /// What was changed since the base was built; `None` hides a variable of the base.
    over: BTreeMap<OsString, Option<Entry>>,
}

/// `NAME=value` in the form that exec wants, or the reason why there is none.
#[derive(Clone)]
struct Entry {
    text: Result<Arc<CStr>, Unusable>,
    value_at: usize,
}

/// Why a variable cannot be given to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// The name is empty or has a `=` in it.
    Name,
    /// The name or the value has a NUL in it.
    Nul,
}

impl Environment {
    /// Returns an environment without any variable.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns this environment with one variable set, in place of any that had this name.
    #[must_use]
    pub fn with(&self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let mut changed = self.clone();
        changed.set(name, value);
        changed
    }

    /// Returns this environment without this variable.
    #[must_use]
    pub fn without(&self, name: impl AsRef<OsStr>) -> Self {
        let mut changed = self.clone();
        changed.unset(name);
        changed
    }

    /// Sets one variable, in place of any that had this name. Clones made before do not change.
    pub fn set(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        let name = name.as_ref();
        self.over.insert(name.to_owned(), Some(Entry::new(name, value.as_ref())));
    }

    /// Removes one variable. Clones made before do not change.
    pub fn unset(&mut self, name: impl AsRef<OsStr>) {
        self.over.insert(name.as_ref().to_owned(), None);
    }

    /// Returns the value of a variable. One that cannot be given to a process has none.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        let name = name.as_ref();
        let entry = match self.over.get(name) {
            Some(over) => over.as_ref()?,
            None => self.base.get(name)?,
        };
        entry.value()
    }

    /// Lists all variables, in no promised order. Those that cannot be given to a process are left
    /// out.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.entries().filter_map(|(name, entry)| Some((name, entry.value()?)))
    }

    /// Returns every variable as `NAME=value`, or the first one that cannot be given to a process.
    pub(crate) fn block(&self) -> Result<Vec<&CStr>, (&OsStr, Unusable)> {
        self.entries()
            .map(|(name, entry)| match &entry.text {
                Ok(text) => Ok(&**text),
                Err(unusable) => Err((name, *unusable)),
            })
            .collect()
    }

    fn entries(&self) -> impl Iterator<Item = (&OsStr, &Entry)> {
        let kept = self.base.iter().filter(|(name, _)| !self.over.contains_key(*name));
        let over = self.over.iter().filter_map(|(name, entry)| Some((name, entry.as_ref()?)));
        kept.chain(over).map(|(name, entry)| (name.as_os_str(), entry))
    }
}

/// Later variables replace earlier ones of the same name.
impl<N: AsRef<OsStr>, V: AsRef<OsStr>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        let base = variables.into_iter().map(|(name, value)| {
            let (name, value) = (name.as_ref(), value.as_ref());
            (name.to_owned(), Entry::new(name, value))
        });
        Self { base: Arc::new(base.collect()), over: BTreeMap::new() }
    }
}

/// Shows names only: values may be secrets, and this ends up in logs.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.entries().map(|(name, _)| name)).finish()
    }
}

impl Entry {
    fn new(name: &OsStr, value: &OsStr) -> Self {
        let value_at = name.len() + 1;
        if name.is_empty() || name.as_bytes().contains(&b'=') {
            return Self { text: Err(Unusable::Name), value_at };
        }
        let mut text = Vec::with_capacity(value_at + value.len() + 1);
        text.extend_from_slice(name.as_bytes());
        text.push(b'=');
        text.extend_from_slice(value.as_bytes());
        let text = CString::new(text).map(Arc::from).map_err(|_| Unusable::Nul);
        Self { text, value_at }
    }

    fn value(&self) -> Option<&OsStr> {
        let text = self.text.as_ref().ok()?;
        text.to_bytes().get(self.value_at..).map(OsStr::from_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(environment: &Environment) -> Vec<String> {
        let block = environment.block().expect("every variable is usable");
        let mut listed: Vec<_> =
            block.iter().map(|text| text.to_string_lossy().into_owned()).collect();
        listed.sort();
        listed
    }

    #[test]
    fn a_change_is_not_seen_by_the_environment_it_was_made_from() {
        let base = Environment::from_iter([("A", "1"), ("B", "2")]);
        let changed = base.with("B", "3").with("C", "4").without("A");
        assert_eq!(listed(&base), ["A=1", "B=2"]);
        assert_eq!(listed(&changed), ["B=3", "C=4"]);
        assert_eq!(changed.get("B"), Some(OsStr::new("3")));
        assert_eq!(changed.get("A"), None);
        assert_eq!(listed(&changed.with("A", "5")), ["A=5", "B=3", "C=4"]);
    }

    #[test]
    fn what_a_process_cannot_be_given_is_named() {
        let base = Environment::from_iter([("A", "1")]);
        let problem = |name: &str, value: &str| {
            base.with(name, value).block().map(|_| ()).map_err(|(name, why)| (name.to_owned(), why))
        };
        assert_eq!(problem("NUL", "a\0b"), Err(("NUL".into(), Unusable::Nul)));
        assert_eq!(problem("", "a"), Err(("".into(), Unusable::Name)));
        assert_eq!(problem("A=B", "a"), Err(("A=B".into(), Unusable::Name)));
        assert_eq!(problem("B", "a=b"), Ok(()));
    }

    #[test]
    fn debug_output_keeps_values_to_itself() {
        let environment = Environment::from_iter([("TOKEN", "secret")]);
        assert_eq!(format!("{environment:?}"), r#"{"TOKEN"}"#);
    }
}
