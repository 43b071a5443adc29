//! Cgroups (version 2) that runs can be put into: the only containment nothing escapes from.
//!
//! They are a bonus: containers and login sessions rarely permit them. So nobody gets them without
//! asking, and a run that could not enter one goes on with a note.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The names of our cgroups begin so; a process id and a number follow.
const PREFIX: &str = "tenter-";

/// A pool of cgroups below the one this process is in. A run takes one, and gives it back when it is
/// empty. The directories are removed with the last clone of the pool.
#[derive(Debug, Clone)]
pub struct Cgroups {
    pool: Arc<Pool>,
}

#[derive(Debug)]
struct Pool {
    parent: PathBuf,
    next: AtomicU64,
    idle: Mutex<Vec<Cgroup>>,
}

#[derive(Debug)]
struct Cgroup {
    path: PathBuf,
    /// Open for writing: a process that writes `0` joins.
    procs: File,
}

impl Cgroups {
    /// Finds out whether cgroups can be made below this process's own, and entered and killed.
    ///
    /// # Errors
    ///
    /// Why not: there is no version 2 hierarchy, it is not ours to write, or the kernel is older than
    /// 5.14.
    pub fn detect() -> io::Result<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let parent = own_directory(&mounts, &own).ok_or_else(|| {
            io::Error::new(io::ErrorKind::Unsupported, "no cgroup version 2 hierarchy is mounted")
        })?;
        // Moving a process from here to a child needs this file, which delegation may withhold.
        OpenOptions::new().write(true).open(parent.join("cgroup.procs"))?;
        remove_forsaken(&parent);
        let pool = Pool { parent, next: AtomicU64::new(0), idle: Mutex::default() };
        let first = pool.make()?;
        OpenOptions::new().write(true).open(first.path.join("cgroup.kill"))?;
        pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(first);
        Ok(Self { pool: Arc::new(pool) })
    }

    /// Takes an empty cgroup.
    pub(crate) fn take(&self) -> io::Result<Lease> {
        let idle = self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let cgroup = match idle {
            Some(cgroup) => cgroup,
            None => self.pool.make()?,
        };
        Ok(Lease { cgroup: Some(cgroup), pool: Arc::clone(&self.pool) })
    }
}

impl Pool {
    fn make(&self) -> io::Result<Cgroup> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        match fs::create_dir(&path) {
            // Left by a process that had our number before; if it is still in use, removing it fails,
            // and so does this.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_dir(&path)?;
                fs::create_dir(&path)?;
            }
            made => made?,
        }
        let procs = OpenOptions::new().write(true).open(path.join("cgroup.procs"));
        if procs.is_err() {
            let _ = fs::remove_dir(&path);
        }
        Ok(Cgroup { procs: procs?, path })
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for cgroup in self.idle.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            cgroup.remove();
        }
    }
}

impl Cgroup {
    fn remove(self) {
        // Refused while processes are in it, which then live on there, as they should.
        let _ = fs::remove_dir(&self.path);
    }
}

/// A cgroup that one run has to itself.
#[derive(Debug)]
pub(crate) struct Lease {
    /// There until the lease is dropped.
    cgroup: Option<Cgroup>,
    pool: Arc<Pool>,
}

impl Lease {
    /// The file through which a process joins.
    pub(crate) fn entrance(&self) -> Option<BorrowedFd<'_>> {
        self.cgroup.as_ref().map(|cgroup| cgroup.procs.as_fd())
    }

    /// Kills everything in it, at once and for good.
    pub(crate) fn kill(&self) -> io::Result<()> {
        match &self.cgroup {
            Some(cgroup) => fs::write(cgroup.path.join("cgroup.kill"), "1"),
            None => Ok(()),
        }
    }

    /// Lists the processes in it. Dead ones that nobody has reaped are not listed.
    pub(crate) fn pids(&self) -> Vec<i32> {
        let Some(cgroup) = &self.cgroup else { return Vec::new() };
        let list = fs::read_to_string(cgroup.path.join("cgroup.procs")).unwrap_or_default();
        list.lines().filter_map(|pid| pid.parse().ok()).collect()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(cgroup) = self.cgroup.take() else { return };
        let events = fs::read_to_string(cgroup.path.join("cgroup.events")).unwrap_or_default();
        if events.lines().any(|line| line == "populated 0") {
            self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(cgroup);
        } else {
            cgroup.remove();
        }
    }
}

/// Removes what processes that were killed have left, unless something still runs in it.
fn remove_forsaken(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Works out the directory of this process's own cgroup from the two files that tell.
fn own_directory(mounts: &str, own: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let (root, mount) = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        let (root, mount) = (fields.next()?, fields.next()?);
        (after.split(' ').next()? == "cgroup2").then_some((root, mount))
    })?;
    // In a container the mount may show only a part of the tree.
    let below = Path::new(path).strip_prefix(root).ok()?;
    Some(Path::new(mount).join(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "24 1 0:22 / /sys rw - sysfs sysfs rw\n\
                          31 24 0:27 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";

    #[test]
    fn the_own_cgroup_is_found_below_its_mount() {
        assert_eq!(
            own_directory(MOUNTS, "4:memory:/x\n0::/user/a\n"),
            Some("/sys/fs/cgroup/unified/user/a".into())
        );
        assert_eq!(own_directory(MOUNTS, "0::/\n"), Some("/sys/fs/cgroup/unified/".into()));
    }

    #[test]
    fn without_a_version_2_hierarchy_there_is_no_own_cgroup() {
        assert_eq!(own_directory("", "0::/\n"), None);
        assert_eq!(own_directory(MOUNTS, "4:memory:/x\n"), None);
    }

    #[test]
    fn a_cgroup_outside_of_what_is_mounted_is_not_ours() {
        let mounts = "31 24 0:27 /docker/a /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(own_directory(mounts, "0::/docker/a/b\n"), Some("/sys/fs/cgroup/b".into()));
        assert_eq!(own_directory(mounts, "0::/other\n"), None);
    }
}
