//! Which cases run: a text, or a regex between slashes.

use regex::Regex;

use crate::error::CliError;

/// What the name of a case is to hold.
#[derive(Debug)]
pub(crate) enum Filter {
    Text(String),
    Regex(Regex),
}

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// It is a regex that does not compile.
    pub(crate) fn parse(text: &str) -> Result<Self, CliError> {
        let inner = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        match inner {
            None => Ok(Self::Text(text.to_owned())),
            Some(regex) => Regex::new(regex).map(Self::Regex).map_err(|error| {
                let error = error.to_string();
                let what = error.lines().last().unwrap_or_default();
                let what = what.trim_start_matches("error: ");
                CliError::usage(format!("--filter: `{text}` is no regex: {what}"))
                    .hint("leave the slashes out to look for a text")
            }),
        }
    }

    /// Whether a case of a file runs.
    pub(crate) fn matches(&self, file: &str, case: &str) -> bool {
        let name = format!("{file}: {case}");
        match self {
            Self::Text(text) => name.contains(text.as_str()),
            Self::Regex(regex) => regex.is_match(&name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_part_of_the_name_and_slashes_make_a_regex() {
        for (filter, expected) in [
            ("deny", true),
            ("guards.hooktest.toml: exit", true),
            ("Deny", false),
            ("/^guards.*2 den/", true),
            ("/^exit/", false),
            ("/", false),
        ] {
            let filter = Filter::parse(filter).unwrap();
            assert_eq!(
                filter.matches("guards.hooktest.toml", "exit 2 denys"),
                expected,
                "{filter:?}"
            );
        }
        assert_eq!(Filter::parse("/(/").unwrap_err().code, 64);
    }
}
