//! Rules about what a crate may do: who may be unsafe, who may know a host, who may touch the world.

use super::Finding;
use super::source::{Source, find_tokens};

/// Where `unsafe` may stand: the crate that starts processes, and the floors that it is measured
/// against.
const UNSAFE: &[&str] = &["crates/process/", "benches/"];

/// Where code runs for us and not for a user.
const CHORES: &[&str] = &["xtask/", "benches/", "crates/testkit/", "fuzz/", "examples/"];

/// The crates that are functions of their arguments.
const PURE: &[&str] = &["crates/shell/src/", "crates/core/src/", "crates/hosts/src/"];

/// Where a host is a value and has no name.
const NAMELESS: &[&str] = &["crates/core/src/", "crates/engine/src/"];

/// The list of credentials that hooks are not given: its names are those of other people.
const NAMES_CREDENTIALS: &[&str] = &["crates/engine/src/environment"];

/// The names of hosts, one word each. Names that are everyday words are left out.
const HOSTS: &[&str] = &[
    "auggie", "claude", "cline", "codex", "copilot", "crush", "gemini", "goose", "hotl", "kiro",
    "mecatl", "opencode", "qwen", "windsurf",
];

fn is_under(source: &Source, folders: &[&str]) -> bool {
    folders.iter().any(|folder| source.path.starts_with(folder))
}

/// `unsafe` stands only where it is allowed, and each time with the reason why it is sound.
pub(super) fn unsafe_is_kept_in_its_place(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        let code = source.code();
        for at in find_tokens(&code, "unsafe") {
            if !is_under(source, UNSAFE) {
                let message = format!("`unsafe` is for {} only", UNSAFE.join(" and "));
                findings.push(Finding::at(source, at, message));
            } else if !declares_function(&code, at) && !has_safety_comment(source, &code, at) {
                let message = "say in a `SAFETY:` comment above why it is sound";
                findings.push(Finding::at(source, at, message));
            }
        }
    }
    findings
}

/// Whether this `unsafe` belongs to a signature. What its callers must know is for its docs, which
/// clippy asks for where it is public; the body has blocks of its own.
fn declares_function(code: &str, at: usize) -> bool {
    let mut words = code[at..].split_whitespace().skip(1);
    match words.next() {
        // Texts are blanked: `extern "C" fn` is `extern fn` here.
        Some("extern") => words.next().is_some_and(|word| word.starts_with("fn")),
        word => word == Some("fn"),
    }
}

/// Whether the statement at `offset` has a comment on its safety on it or right above it.
fn has_safety_comment(source: &Source, code: &str, offset: usize) -> bool {
    let line = source.line(offset) - 1;
    let comments = source.comments();
    let comments: Vec<_> = comments.lines().collect();
    let code: Vec<_> = code.lines().map(str::trim).collect();
    let is_said = |line: usize| {
        comments.get(line).is_some_and(|text| text.contains("SAFETY") || text.contains("# Safety"))
    };
    if is_said(line) {
        return true;
    }
    for above in (0..line).rev() {
        if is_said(above) {
            return true;
        }
        let code = code.get(above).copied().unwrap_or_default();
        let is_comment =
            code.is_empty() && comments.get(above).is_some_and(|text| !text.trim().is_empty());
        let is_attribute = code.starts_with('#');
        let is_same_statement = !code.is_empty() && !code.ends_with([';', '{', '}', ',']);
        if !(is_comment || is_attribute || is_same_statement) {
            return false;
        }
    }
    false
}

/// Each crate but those with `unsafe` forbids it at its root.
pub(super) fn crates_forbid_unsafe(sources: &[Source]) -> Vec<Finding> {
    sources
        .iter()
        .filter(|source| {
            let is_root =
                source.path.ends_with("src/lib.rs") || source.path.ends_with("src/main.rs");
            is_root && !is_under(source, UNSAFE)
        })
        .filter(|source| !source.code().contains("#![forbid(unsafe_code)]"))
        .map(|source| Finding::new(&source.path, "add `#![forbid(unsafe_code)]`"))
        .collect()
}

/// No host is named where a host is a value. Comments may cite one as a source.
pub(super) fn no_host_is_named(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let nameless =
        |source: &&Source| is_under(source, NAMELESS) && !is_under(source, NAMES_CREDENTIALS);
    for source in sources.iter().filter(nameless) {
        let text = source.without_tests(source.code_and_texts());
        for (at, word) in words(&text) {
            if HOSTS.iter().any(|host| word.eq_ignore_ascii_case(host)) {
                let message = format!(
                    "`{word}` is a host: here a host is a value, and its name stands in hosts"
                );
                findings.push(Finding::at(source, at, message));
            }
        }
    }
    findings
}

/// The words of a text and where they begin; `claudeCode`, `ClaudeCode` and `claude_code` are two.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while bytes.get(at).is_some_and(|byte| !byte.is_ascii_alphabetic()) {
            at += 1;
        }
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_alphabetic)
            && !(at > start && bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase())
        {
            at += 1;
        }
        (at > start).then(|| (start, &text[start..at]))
    })
}

/// Parts of `std` that read or change the world. Of `net`, addresses are plain values.
const WORLD: &[&str] = &["fs", "env", "process", "thread", "io", "os"];

/// Names that only somebody with a clock, a socket or a runtime needs.
const WORLDLY: &[&str] = &[
    "tokio",
    "async fn",
    "Instant",
    "SystemTime",
    "TcpStream",
    "TcpListener",
    "UdpSocket",
    "ToSocketAddrs",
];

/// Pure crates do no I/O, read no clock and know no runtime.
pub(super) fn pure_crates_are_pure(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| is_under(source, PURE)) {
        let code = source.shipped_code();
        for name in WORLDLY {
            findings.extend(find_tokens(&code, name).map(|at| {
                Finding::at(source, at, format!("`{name}` has no place in a crate that is pure"))
            }));
        }
        for (at, module) in std_modules(&code) {
            // A recursive parser needs a deep stack for deep lines, and only a thread has one.
            let is_deep_stack =
                module == "thread" && source.path.ends_with("crates/shell/src/deep.rs");
            if WORLD.contains(&module) && !is_deep_stack {
                let message = format!("`std::{module}` has no place in a crate that is pure");
                findings.push(Finding::at(source, at, message));
            }
        }
    }
    findings
}

/// The modules of `std` that code names, as a path or in a group of imports.
fn std_modules(code: &str) -> Vec<(usize, &str)> {
    let mut modules = Vec::new();
    for at in find_tokens(code, "std::") {
        let start = at + "std::".len();
        let rest = &code[start..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0_usize;
            let mut begin = 0;
            for (end, byte) in group.bytes().enumerate() {
                match byte {
                    b'{' => depth += 1,
                    b'}' if depth > 0 => depth -= 1,
                    b',' | b'}' if depth == 0 => {
                        modules.push((start + 1 + begin, first_word(group[begin..end].trim())));
                        begin = end + 1;
                        if byte == b'}' {
                            break;
                        }
                    }
                    _ => {}
                }
            }
        } else {
            modules.push((at, first_word(rest)));
        }
    }
    modules
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Nobody but the process crate starts a program.
pub(super) fn only_process_starts_programs(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        if is_under(source, CHORES) || source.path.starts_with("crates/process/") {
            continue;
        }
        let code = source.shipped_code();
        let named = ["process::Command", "tokio::process", "libc::fork", "posix_spawn"];
        let mut places: Vec<_> = named.iter().flat_map(|name| find_tokens(&code, name)).collect();
        // A group of imports: `use std::process::{Command, Stdio}`.
        places.extend(code.match_indices("std::process::{").map(|(at, _)| at).filter(|at| {
            let group = code[*at..].split('}').next().unwrap_or_default();
            find_tokens(group, "Command").next().is_some()
        }));
        findings.extend(places.into_iter().map(|at| {
            Finding::at(source, at, "only `crates/process` starts a program: use what it offers")
        }));
    }
    findings
}

/// What belongs to a program with a terminal.
const TERMINAL: &[&str] = &[
    "println!",
    "eprintln!",
    "print!",
    "eprint!",
    "process::exit",
    "process::abort",
    "env::args",
    "env::args_os",
    "stdin()",
    "stdout()",
    "stderr()",
];

/// Nobody but the command line reads arguments, prints or exits.
pub(super) fn only_cli_has_a_terminal(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        if is_under(source, CHORES) || source.path.starts_with("crates/cli/") {
            continue;
        }
        let code = source.shipped_code();
        for name in TERMINAL {
            findings.extend(
                find_tokens(&code, name).map(|at| {
                    Finding::at(source, at, format!("`{name}` is for `crates/cli` only"))
                }),
            );
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rule: super::super::SourceRule, path: &str, text: &str) -> Vec<String> {
        rule(&[Source::new(path, text)]).into_iter().map(|finding| finding.place).collect()
    }

    #[test]
    fn unsafe_needs_its_place_and_its_reason() {
        let rule = unsafe_is_kept_in_its_place;
        assert_eq!(
            found(rule, "crates/core/src/a.rs", "// SAFETY: no\nunsafe { x() }"),
            ["crates/core/src/a.rs:2"]
        );
        let path = "crates/process/src/a.rs";
        assert_eq!(found(rule, path, "fn a() {\n    unsafe { x() }\n}"), [format!("{path}:2")]);
        for good in [
            "// SAFETY: x is fine.\nunsafe { x() }",
            "// SAFETY: the descriptor\n// is ours.\nlet a =\n    unsafe { x() };",
            "/// # Safety\n/// Call it once.\n#[inline]\npub unsafe fn a() {}",
            "let a = unsafe { x() }; // SAFETY: x is fine.",
            "// unsafe is only a word here",
            "unsafe fn a() {}",
            "unsafe extern \"C\" fn a() {}",
        ] {
            assert_eq!(found(rule, path, good), [] as [String; 0], "{good}");
        }
        // The comment of another statement does not count.
        let two = "// SAFETY: x is fine.\nunsafe { x() };\nunsafe { y() };";
        assert_eq!(found(rule, path, two), [format!("{path}:3")]);
    }

    #[test]
    fn a_crate_that_does_not_forbid_unsafe_is_found() {
        let rule = crates_forbid_unsafe;
        assert_eq!(found(rule, "crates/core/src/lib.rs", "//! x"), ["crates/core/src/lib.rs"]);
        assert!(found(rule, "crates/core/src/lib.rs", "#![forbid(unsafe_code)]").is_empty());
        assert!(found(rule, "crates/process/src/lib.rs", "//! x").is_empty());
    }

    #[test]
    fn a_host_in_code_or_text_is_found_and_in_a_comment_is_not() {
        let rule = no_host_is_named;
        let path = "crates/core/src/a.rs";
        for bad in ["fn claude_code() {}", "struct CodexHost;", "let a = \"goose\";", "GEMINI_DIR"]
        {
            assert_eq!(found(rule, path, bad), [format!("{path}:1")], "{bad}");
        }
        for good in ["// as Claude Code does", "let decline = mongoose;", "let hotlink = crushed;"]
        {
            assert!(found(rule, path, good).is_empty(), "{good}");
        }
        assert!(found(rule, "crates/hosts/src/claude.rs", "const CLAUDE: u8 = 1;").is_empty());
    }

    #[test]
    fn the_world_in_a_pure_crate_is_found() {
        let rule = pure_crates_are_pure;
        let path = "crates/core/src/a.rs";
        for bad in [
            "use std::fs;",
            "use std::{fmt, io::{self, Read}};",
            "let a = std::env::var(\"X\");",
            "let a = std::time::Instant::now();",
            "use tokio::sync::Mutex;",
            "std::net::TcpStream::connect(a)",
        ] {
            assert_eq!(found(rule, path, bad), [format!("{path}:1")], "{bad}");
        }
        for good in [
            "use std::time::Duration;",
            "use std::net::Ipv4Addr;",
            "use std::{fmt, sync::Arc};",
            "// std::fs",
            "#[cfg(test)]\nmod tests { use std::fs; }",
        ] {
            assert!(found(rule, path, good).is_empty(), "{good}");
        }
    }

    #[test]
    fn a_program_that_is_started_elsewhere_is_found() {
        let rule = only_process_starts_programs;
        let path = "crates/engine/src/a.rs";
        for bad in ["std::process::Command::new(\"x\")", "use std::process::{Command, Stdio};"] {
            assert_eq!(found(rule, path, bad), [format!("{path}:1")], "{bad}");
        }
        assert!(found(rule, path, "use tenter_process::{Command, run};").is_empty());
        assert!(found(rule, path, "use std::process::ExitCode;").is_empty());
        assert!(found(rule, "crates/testkit/src/a.rs", "std::process::Command::new").is_empty());
    }

    #[test]
    fn a_terminal_outside_the_command_line_is_found() {
        let rule = only_cli_has_a_terminal;
        let path = "crates/engine/src/a.rs";
        for bad in ["println!(\"x\")", "std::process::exit(1)", "std::env::args()"] {
            assert_eq!(found(rule, path, bad), [format!("{path}:1")], "{bad}");
        }
        assert!(found(rule, path, "writeln!(text, \"x\")").is_empty());
        assert!(found(rule, "crates/cli/src/main.rs", "println!(\"x\")").is_empty());
    }
}
