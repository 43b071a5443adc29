//! Finds the scripted hook program, and builds it where no build has made it yet.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

const NAME: &str = "tenter-scripted-hook";

/// Returns the path of the scripted hook, which is a program that does what its arguments say.
///
/// Building a test does not build the programs of its dependencies, so the first call builds it if it
/// is missing or older than its source.
///
/// Its words are done in order, and it exits with 0 after the last one:
///
/// | word | what it does |
/// |---|---|
/// | `read-stdin` | reads stdin to its end |
/// | `read-stdin-to PATH` | the same, and puts it into a file, which appears when it is whole |
/// | `echo-stdin` | copies stdin to stdout |
/// | `close-stdin` | closes stdin |
/// | `close-output` | closes stdout and stderr |
/// | `out TEXT`, `err TEXT` | writes to stdout, to stderr |
/// | `out-hex HEX` | writes bytes to stdout |
/// | `flood-out BYTES`, `flood-err BYTES` | writes that many bytes |
/// | `ready PATH` | writes its pid into a file, which appears when it is whole |
/// | `append PATH TEXT` | adds a line to a file in one write |
/// | `wait-file PATH` | waits until a file exists |
/// | `sleep MS` | sleeps |
/// | `hang` | sleeps for five minutes, which no test should see the end of, and fails |
/// | `ignore-term` | does nothing about SIGTERM from here on |
/// | `on-term exit N` | exits with N at SIGTERM from here on |
/// | `env NAME` | writes `NAME=value`, or `NAME` if it is not set, and a newline |
/// | `cwd` | writes the current directory and a newline |
/// | `fds` | writes the open descriptors, e.g. `0 1 2 60`, and a newline |
/// | `signals` | writes the lines `SigBlk` and `SigIgn` of its status |
/// | `ids` | writes its pid, group and session, and a newline |
/// | `setsid` | makes its own session |
/// | `spawn KIND -- WORDS… ;` | starts another one of itself, see below, and does not wait for it |
/// | `exit N`, `signal N` | exits with N, ends itself by signal N |
///
/// KIND is how far the new process goes: `group` stays in the group, `setpgid` makes its own group,
/// `setsid` its own session, `double-setsid` does so and is then orphaned by a second start,
/// `bare-env-setsid` makes its own session and has an empty environment, `lost-setsid` also lets go of
/// the lifeline. Output is inherited unless `,null` follows, as in `setsid,null`. Spawns may be nested.
pub fn scripted_hook() -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(find).clone()
}

fn find() -> PathBuf {
    let own = env::current_exe().expect("a test knows its own path");
    // Tests lie in `PROFILE/deps`, examples in `PROFILE/examples`, programs in `PROFILE`.
    let profile = own
        .ancestors()
        .skip(1)
        .find(|folder| !folder.ends_with("deps") && !folder.ends_with("examples"))
        .expect("a test lies in a target folder");
    let program = profile.join(NAME);
    if is_current(&program) {
        return program;
    }
    let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", "--package", "tenter-testkit", "--bin", NAME]);
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    if let Some(target) = profile.parent() {
        build.arg("--target-dir").arg(target);
    }
    match profile.file_name().and_then(|name| name.to_str()) {
        None | Some("debug") => {}
        Some(name) => {
            build.args(["--profile", name]);
        }
    }
    let status = build.status().expect("cargo can be started");
    assert!(status.success(), "building `{NAME}` failed: {status}");
    assert!(program.exists(), "`{}` was not built", program.display());
    program
}

fn is_current(program: &Path) -> bool {
    let changed = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/scripted_hook.rs");
    let source: Option<SystemTime> = changed(&source);
    changed(program).is_some_and(|built| source.is_none_or(|source| built >= source))
}
