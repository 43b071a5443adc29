//! `docs/hosts.md`: what tenter can do in each host, from the same data that `tenter hook` uses.

use std::fmt::Write as _;

use tenter_hosts::bridge::{self, Bridge, Power};
use tenter_hosts::install::{Closed, Form, Install, Position, Spot, Unit, Wait};

/// What was seen in runs of the hosts, for people.
const SEEN: &str = include_str!("hosts_seen.md");

const INTRO: &str = "\
# Hosts

`tenter install HOST` makes tenter a hook of another agent, and `tenter hook HOST` is what that agent then
runs. The hooks are those of `.tenter/hooks.toml`, the same for every agent; what an agent lets a hook do
is its own. What it cannot carry becomes the stricter thing, and is said: an ask becomes a denial, a changed
input a denial that names the input, an end of the turn a denial, a changed result the end of the turn
where a hook can end it. Context that does not arrive is lost, and that is said on stderr.

";

/// The page.
pub(super) fn page() -> String {
    let mut page = INTRO.to_owned();
    page.push_str("| host | facts from | your file | a project's file |\n|---|---|---|---|\n");
    for bridge in bridge::all() {
        let files = |spots: fn(&Install) -> &'static [Spot], home: &str| {
            let Some(install) = bridge.install else { return "by hand".to_owned() };
            let files: Vec<String> = spots(&install).iter().map(|spot| path(spot, home)).collect();
            if files.is_empty() { "–".to_owned() } else { files.join(", else ") }
        };
        let _ = writeln!(
            page,
            "| [`{name}`](#{name}) | {} {} | {} | {} |",
            bridge.title,
            bridge.seen,
            files(|install| install.user, "~/"),
            files(|install| install.project, ""),
            name = bridge.name,
        );
    }
    page.push('\n');
    page.push_str(SEEN);
    for bridge in bridge::all() {
        section(&mut page, bridge);
    }
    page
}

fn path(spot: &Spot, home: &str) -> String {
    let folder = if spot.folder.is_empty() { String::new() } else { format!("{}/", spot.folder) };
    let path = format!("`{home}{folder}{}`", spot.file);
    match spot.variable {
        Some(variable) => format!("{path} (`${variable}`)"),
        None => path,
    }
}

fn section(page: &mut String, bridge: &Bridge) {
    let _ = writeln!(page, "\n## `{}`\n\n{} ({}).", bridge.name, bridge.title, bridge.seen);
    if let Some(install) = &bridge.install {
        let _ = writeln!(page, "\n{}", how(install));
    }
    page.push_str("\n| event | is |");
    for power in Power::ALL {
        let _ = write!(page, " {} |", power.as_str());
    }
    page.push_str(" installed |\n|---|---|");
    for _ in Power::ALL {
        page.push_str("---|");
    }
    page.push_str("---|\n");
    for row in bridge.events {
        let kind = row.kind.map_or("its own".to_owned(), |kind| format!("`{}`", kind.name()));
        let _ = write!(page, "| `{}` | {kind} |", row.own);
        for power in Power::ALL {
            let _ = write!(page, " {} |", if row.can(power) { "✓" } else { "" });
        }
        let _ = writeln!(page, " {} |", if row.installed { "✓" } else { "" });
    }
}

/// How entries are written, in words.
fn how(install: &Install) -> String {
    let closed = match install.closed {
        Closed::Itself => "The host itself stops a call if tenter does not run.".to_owned(),
        Closed::Text(key, word) => {
            format!("A call is stopped if tenter does not run: `{key}` is `{word}`.")
        }
        Closed::True(key) => format!("A call is stopped if tenter does not run: `{key}` is true."),
        Closed::Shell | Closed::AnyShell => {
            "A call is stopped if tenter does not run: the shell makes exit 2 of any other end."
                .to_owned()
        }
        Closed::Answer => {
            "A call is stopped if tenter does not run: the shell gives the host's no in its place."
                .to_owned()
        }
    };
    let wait = match (install.wait, install.unit) {
        (Wait::Fixed(time), _) => format!("The host waits {} s, always.", time.as_secs()),
        (Wait::Written, Unit::Seconds) => "Its times are in seconds.".to_owned(),
        (Wait::Written, Unit::Milliseconds) => "Its times are in milliseconds.".to_owned(),
    };
    let position = match (install.form, install.position) {
        (Form::Programs, _) => " Each event has one file, which the host runs.",
        (_, Position::First) => {
            " tenter stands before other hooks: the first decision counts there."
        }
        (_, Position::Last) => "",
    };
    let trust =
        install.trust.map_or_else(String::new, |trust| format!(" Before it runs: {trust}."));
    format!("{closed} {wait}{position}{trust}")
}
