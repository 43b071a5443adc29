//! A folder of stub programs, and bash run with nothing else on its path.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs of the system that only start others; with stubs alone on the path they are harmless.
const REAL_WRAPPERS: &[&str] =
    &["env", "timeout", "nice", "nohup", "setsid", "stdbuf", "xargs", "find", "bash", "sh", "cat"];

/// A temporary folder with `bin` (the stubs) and `work` (where lines run). Each line's path is a
/// link of its own to `bin`, and a stub logs beside the link it was found by: what a line leaves in
/// the background cannot be taken for another line's.
pub(super) struct Bench {
    root: tempfile::TempDir,
    lines: usize,
}

/// Whether a name of a program may hold this character.
pub(super) fn is_name_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.' | '+')
}

/// Whether a name can be a stub: the real wrappers and `sudo` have their own.
pub(super) fn may_be_stub(name: &str) -> bool {
    !REAL_WRAPPERS.contains(&name)
        && name != "sudo"
        && !name.starts_with(['-', '.'])
        && !name.is_empty()
        && name.chars().all(is_name_char)
}

impl Bench {
    pub(super) fn new(programs: &[&str]) -> Self {
        let bench = Self { root: tempfile::tempdir().unwrap(), lines: 0 };
        let bin = bench.path("bin");
        fs::create_dir(&bin).unwrap();
        fs::create_dir(bench.path("work")).unwrap();
        for file in ["a.txt", "b.txt", "f1", "f2", "x y"] {
            fs::write(bench.path("work").join(file), "l1\nl2 l3\n").unwrap();
        }
        // One write for each start, so that stubs of one pipeline do not mix.
        let logs = "#!/bin/sh\nprintf '%s\\0' \"$#\" \"${0##*/}\" \"$@\" >> \"${0%/*}.log\"\n";
        for program in programs {
            script(&bin.join(program), &format!("{logs}printf 'r1 r2\\n'\n"));
        }
        let sudo = "while :; do case $1 in -u|-g) shift 2;; -E|-n|-H) shift;; --) shift; break;; \
                    *=*) export \"$1\"; shift;; *) break;; esac; done\nexec \"$@\"\n";
        script(&bin.join("sudo"), &format!("{logs}{sudo}"));
        for wrapper in REAL_WRAPPERS {
            let real = ["/usr/bin", "/bin"]
                .iter()
                .map(|folder| Path::new(folder).join(wrapper))
                .find(|path| path.exists());
            symlink(real.unwrap(), bin.join(wrapper)).unwrap();
        }
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Runs a line and gives its number, for [`Bench::starts`].
    pub(super) fn run(&mut self, line: &str) -> usize {
        self.lines += 1;
        let path = self.path(&format!("line{}", self.lines));
        symlink(self.path("bin"), &path).unwrap();
        // Reading both outputs to their end waits for what the line left in the background.
        let output = Command::new("/usr/bin/timeout")
            .args([
                "-k",
                "1",
                "20",
                "/bin/bash",
                "--norc",
                "--noprofile",
                "-c",
                line,
                "name",
                "p1",
                "p 2",
            ])
            .current_dir(self.path("work"))
            .env_clear()
            .env("PATH", &path)
            .env("HOME", self.path("work"))
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert_ne!(output.status.code(), Some(124), "bash did not end: {line}");
        self.lines
    }

    /// The argument lists the stubs of a line were started with. To be asked when all lines have
    /// run, so that what was left in the background has logged too.
    pub(super) fn starts(&self, line: usize) -> Vec<Vec<Vec<u8>>> {
        let log = fs::read(self.path(&format!("line{line}.log"))).unwrap_or_default();
        let mut fields = log.split(|byte| *byte == 0);
        let mut starts = Vec::new();
        while let Some(count) = fields.next() {
            let Ok(count) = String::from_utf8_lossy(count).parse::<usize>() else {
                assert!(count.is_empty(), "a broken log for line {line}");
                break;
            };
            starts.push(fields.by_ref().take(count + 1).map(<[u8]>::to_vec).collect());
        }
        starts
    }
}

fn script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
