//! A home, a project and a managed folder, and the configuration that they add up to.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a helper that cannot go on fails the test")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenter::config::{
    BrokenExplicit, FileState, LoadError, LoadOptions, Loaded, Owners, Places, Surroundings, load,
};
use tenter::trust::{Recorded, Survey, Trust};
use tenter_core::hook::Hook;
use tenter_hosts::native::HOST;
use tenter_testkit::TestHome;

pub(crate) struct World {
    pub(crate) home: TestHome,
    pub(crate) explicit: Vec<PathBuf>,
    pub(crate) config_variable: Option<OsString>,
    pub(crate) broken_explicit: BrokenExplicit,
    pub(crate) trust_project: bool,
}

impl World {
    pub(crate) fn new() -> Self {
        let home = TestHome::new();
        let managed = home.root().join("managed");
        fs::create_dir(&managed).unwrap();
        mode(&managed, 0o755);
        Self {
            home,
            explicit: Vec::new(),
            config_variable: None,
            broken_explicit: BrokenExplicit::Fails,
            trust_project: false,
        }
    }

    /// Whoever runs the test is administrator and user.
    pub(crate) fn owners(&self) -> Owners {
        let user = fs::metadata(self.home.root()).unwrap().uid();
        Owners { root: user, user }
    }

    pub(crate) fn places(&self) -> Places {
        let env = self.home.env();
        let variable = move |name: &str| {
            env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone().into())
        };
        let project = self.home.project();
        let (mut places, said) = Places::find(&Surroundings {
            variable: &variable,
            session_cwd: Some(&project),
            own_cwd: &project,
            project: None,
        });
        assert!(said.is_empty(), "{said:?}");
        places.managed = self.home.root().join("managed");
        places
    }

    pub(crate) fn trust(&self) -> Trust {
        Trust::new(self.places().state_home, self.owners())
    }

    pub(crate) fn managed(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.write(self.home.root().join("managed").join(name), text);
        mode(path.parent().unwrap(), 0o755);
        mode(&path, 0o644);
        path
    }

    pub(crate) fn user(&self, text: &str) -> PathBuf {
        self.home.write(self.places().user_file(), text)
    }

    pub(crate) fn project(&self, text: &str) -> PathBuf {
        self.home.write(".tenter/hooks.toml", text)
    }

    pub(crate) fn private(&self, text: &str) -> PathBuf {
        self.home.write(".tenter/hooks.local.toml", text)
    }

    pub(crate) fn try_load(&self) -> Result<Loaded, LoadError> {
        let options = LoadOptions {
            explicit: self.explicit.clone(),
            only_explicit: false,
            config_variable: self.config_variable.clone(),
            broken_explicit: self.broken_explicit,
            trust_project: self.trust_project,
            owners: self.owners(),
            host: HOST,
            variables: &[],
            placeholders: &[],
        };
        load(&self.places(), &options, &self.trust())
    }

    pub(crate) fn load(&self) -> Loaded {
        self.try_load().unwrap()
    }

    pub(crate) fn survey(&self) -> Survey {
        Survey::of(&self.places().project, &self.load().entries).unwrap()
    }

    /// What `tenter trust` does.
    pub(crate) fn trust_it(&self) -> Recorded {
        self.trust().trust(&self.survey()).unwrap()
    }
}

pub(crate) fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A hook for every tool call that answers with its name.
pub(crate) fn reply(name: &str) -> String {
    format!(
        "[[hook]]\nname = \"{name}\"\nevent = \"PreToolUse\"\nreply = {{ context = \"{name}\" }}\n"
    )
}

pub(crate) fn names(loaded: &Loaded) -> Vec<&str> {
    loaded.hooks.iter().map(|hook| hook.name.as_str()).collect()
}

pub(crate) fn codes(loaded: &Loaded) -> Vec<&str> {
    loaded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

pub(crate) fn hook<'a>(loaded: &'a Loaded, name: &str) -> &'a Arc<Hook> {
    loaded.hooks.iter().find(|hook| hook.name == name).unwrap_or_else(|| panic!("no hook {name}"))
}

pub(crate) fn state(loaded: &Loaded, name: &str) -> FileState {
    let file = loaded.files.iter().find(|file| file.name.ends_with(name));
    file.unwrap_or_else(|| panic!("no file {name} in {:?}", loaded.files)).state.clone()
}
