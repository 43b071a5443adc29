//! A home, a project, the program in it, and what it said.

use std::fmt;
use std::fs;
use std::io::Write as _;
use std::ops::Deref;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use regex::{Captures, Regex};
use tenter_testkit::TestHome;

/// A temporary home in which the program runs.
pub(crate) struct Home(TestHome);

impl Deref for Home {
    type Target = TestHome;

    fn deref(&self) -> &TestHome {
        &self.0
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        Self(TestHome::new())
    }

    /// With a hooks file in the project.
    pub(crate) fn with_hooks(hooks: &str) -> Self {
        let home = Self::new();
        home.write(".tenter/hooks.toml", hooks);
        home
    }

    /// With a hooks file of the user's, which needs no trust.
    pub(crate) fn with_user_hooks(hooks: &str) -> Self {
        let home = Self::new();
        home.write_user(hooks);
        home
    }

    pub(crate) fn write_user(&self, hooks: &str) {
        let folder = self.config().join("tenter");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("hooks.toml"), hooks).unwrap();
    }

    /// The program with these arguments, in the project, with nothing on stdin.
    pub(crate) fn tenter<'a>(&'a self, args: &[&'a str]) -> Run<'a> {
        Run { home: self, args: args.to_vec(), env: Vec::new(), stdin: String::new() }
    }

    /// The command of a run, for a test that needs more than its output.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tenter"));
        command.args(args).env_clear().envs(self.env()).current_dir(self.project());
        command
    }

    /// Trusts the project as it is.
    pub(crate) fn trust(&self) {
        let shown = self.tenter(&["trust"]).run();
        let digest = shown.digest();
        let trusted = self.tenter(&["trust", "--digest", &digest]).run();
        assert_eq!(trusted.code, 0, "{trusted}");
    }
}

/// The program before it runs.
#[must_use]
pub(crate) struct Run<'a> {
    home: &'a Home,
    args: Vec<&'a str>,
    env: Vec<(&'a str, &'a str)>,
    stdin: String,
}

impl<'a> Run<'a> {
    pub(crate) fn stdin(mut self, stdin: &str) -> Self {
        stdin.clone_into(&mut self.stdin);
        self
    }

    pub(crate) fn env(mut self, name: &'a str, value: &'a str) -> Self {
        self.env.push((name, value));
        self
    }

    pub(crate) fn run(self) -> Said {
        let mut child = self
            .home
            .command(&self.args)
            .envs(self.env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // What does not read its stdin has ended already.
        let _ = child.stdin.take().unwrap().write_all(self.stdin.as_bytes());
        let output = child.wait_with_output().unwrap();
        let root = self.home.root().display().to_string();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said {
            code: output.status.code().expect("the program was not ended by a signal"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
            root,
        }
    }
}

/// What the program said.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    root: String,
}

impl Said {
    /// The digest that it shows.
    pub(crate) fn digest(&self) -> String {
        let digest = Regex::new(r"--digest ([0-9a-f]{32,64})").unwrap();
        let found = digest.captures(&self.stderr).unwrap_or_else(|| panic!("no digest:\n{self}"));
        found[1].to_owned()
    }

    /// stdout as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}:\n{self}"))
    }

    /// stdout with what changes from run to run replaced.
    pub(crate) fn redacted_stdout(&self) -> String {
        redact(&self.stdout, &self.root)
    }
}

/// Everything with what changes from run to run replaced.
impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |f: &mut fmt::Formatter<'_>, name: &str, text: &str| {
            if text.is_empty() {
                Ok(())
            } else {
                write!(f, "--- {name}\n{}", redact(text, &self.root))
            }
        };
        writeln!(f, "exit {}", self.code)?;
        part(f, "stdout", &self.stdout)?;
        part(f, "stderr", &self.stderr)
    }
}

/// Replaces paths, times, digests and sizes. A time keeps its width, so that columns stay.
pub(crate) fn redact(text: &str, root: &str) -> String {
    static REDACTIONS: LazyLock<[(Regex, &str); 5]> = LazyLock::new(|| {
        [
            (r#""duration_ms": [0-9.]+"#, r#""duration_ms": "[MS]""#),
            (r#""stdin": [0-9]+"#, r#""stdin": "[SIZE]""#),
            (r"\b[0-9a-f]{32,64}\b", "[DIGEST]"),
            (r"\(pid [0-9]+\)", "(pid [PID])"),
            (r"tenter 0\.[0-9]+\.[0-9]+", "tenter [VERSION]"),
        ]
        .map(|(pattern, to)| (Regex::new(pattern).unwrap(), to))
    });
    static TIME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r" *\b[0-9]+(\.[0-9]+)? (µs|ms|s)\b").unwrap());
    let mut text = text.replace(root, "[ROOT]");
    for (pattern, to) in REDACTIONS.iter() {
        text = pattern.replace_all(&text, *to).into_owned();
    }
    let time = |found: &Captures<'_>| {
        let width = found[0].chars().count();
        if width < 9 { " [TIME]".to_owned() } else { format!("{:>width$}", "[TIME]") }
    };
    TIME.replace_all(&text, time).into_owned()
}
