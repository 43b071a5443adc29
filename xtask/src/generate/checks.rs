//! `docs/checks`: a page for each finding of `tenter check` about hosts' files.

use std::fmt::Write as _;

use tenter_hosts::hostfile::{CODES, Code};

/// The list of all findings.
pub(super) fn index() -> String {
    let mut page = "# What `tenter check` finds in hosts' files\n\n\
                    `tenter check PATH` looks at the hooks file of another agent by that agent's rules.\n\n\
                    | finding | what |\n|---|---|\n"
        .to_owned();
    for code in CODES {
        let _ = writeln!(
            page,
            "| [`{code}`]({code}.md) | {what} |",
            code = code.code,
            what = code.what
        );
    }
    page
}

/// A page for each.
pub(super) fn pages() -> impl Iterator<Item = (String, String)> {
    let page = |code: &Code| {
        format!(
            "# `{}`\n\n{}\n\n**What the host does.** {}\n\n**What to do.** {}\n",
            code.code, code.what, code.does, code.mend
        )
    };
    CODES.iter().map(move |code| (format!("docs/checks/{}.md", code.code), page(code)))
}
