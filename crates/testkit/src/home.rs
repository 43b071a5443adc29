//! A home and a project that exist for one test.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A temporary home folder with its XDG folders, and a project with a `.git` beside it. Everything is
/// removed with it.
#[derive(Debug)]
pub struct TestHome {
    root: TempDir,
}

impl Default for TestHome {
    fn default() -> Self {
        Self::new()
    }
}

impl TestHome {
    /// Makes the folders.
    pub fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("tenter-test-")
            .tempdir()
            .expect("a temporary folder can be made");
        let home = Self { root };
        let folders = [
            home.config(),
            home.state(),
            home.data(),
            home.cache(),
            home.runtime(),
            home.project().join(".git"),
        ];
        for folder in folders {
            fs::create_dir_all(folder).expect("a folder in a new folder can be made");
        }
        home
    }

    /// The folder that holds everything, with symbolic links resolved.
    pub fn root(&self) -> PathBuf {
        self.root.path().canonicalize().expect("the folder is there until the test ends")
    }

    /// The home folder, `HOME`.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The project: it has a `.git` folder and nothing else.
    pub fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// `XDG_CONFIG_HOME`.
    pub fn config(&self) -> PathBuf {
        self.home().join(".config")
    }

    /// `XDG_STATE_HOME`.
    pub fn state(&self) -> PathBuf {
        self.home().join(".local/state")
    }

    /// `XDG_DATA_HOME`.
    pub fn data(&self) -> PathBuf {
        self.home().join(".local/share")
    }

    /// `XDG_CACHE_HOME`.
    pub fn cache(&self) -> PathBuf {
        self.home().join(".cache")
    }

    /// `XDG_RUNTIME_DIR`.
    pub fn runtime(&self) -> PathBuf {
        self.root().join("run")
    }

    /// The whole environment a program should get in this home: nothing of the real one but a `PATH`
    /// of the system's own folders.
    pub fn env(&self) -> Vec<(String, PathBuf)> {
        [
            ("HOME", self.home()),
            ("XDG_CONFIG_HOME", self.config()),
            ("XDG_STATE_HOME", self.state()),
            ("XDG_DATA_HOME", self.data()),
            ("XDG_CACHE_HOME", self.cache()),
            ("XDG_RUNTIME_DIR", self.runtime()),
            ("PATH", PathBuf::from("/usr/local/bin:/usr/bin:/bin")),
            ("LANG", PathBuf::from("C.UTF-8")),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    /// Writes a file and the folders above it. A relative path is relative to the project.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project().join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("a folder in the test's own folder can be made");
        }
        fs::write(&path, content).expect("a file in the test's own folder can be written");
        path
    }

    /// Writes a file that can be executed.
    pub fn write_script(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.write(path, content);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .expect("the mode of a file of the test's own can be changed");
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_goes_with_the_test() {
        let home = TestHome::new();
        let root = home.root();
        let script = home.write_script("guards/no.sh", "#!/bin/sh\nexit 2\n");
        assert!(script.starts_with(home.project()));
        assert!(home.project().join(".git").is_dir());
        assert!(
            home.env()
                .iter()
                .all(|(name, value)| name == "PATH" || name == "LANG" || value.is_dir())
        );
        drop(home);
        assert!(!root.exists());
    }
}
