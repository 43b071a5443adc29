//! Digests of texts and files, and the marks by which a file is known not to have changed.

use std::fmt;
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};

use crate::config::owner;

/// A change this soon after the last one may leave the times of a file as they were.
const CLOCK_TICK: Duration = Duration::from_millis(100);
/// How often a file is read anew when it changes while it is read.
const TRIES: usize = 3;

/// What a digest is of. Two kinds of content never have one digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Domain {
    Entry,
    File,
    Project,
}

impl Domain {
    const fn prefix(self) -> &'static [u8] {
        match self {
            Self::Entry => b"tenter trust 1 entry\0",
            Self::File => b"tenter trust 1 file\0",
            Self::Project => b"tenter trust 1 project\0",
        }
    }
}

/// The digest of an entry, a file or a whole project.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    pub(super) fn of(domain: Domain, content: &[u8]) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(domain.prefix());
        hasher.update(content);
        Self(hasher.finalize().into())
    }

    /// The beginning of the digest: 32 hexadecimal digits, short enough to be copied by hand and
    /// long enough that nobody finds two projects with one digest.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(32);
        text
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let digits: Vec<u8> = text
            .chars()
            .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()).ok_or(()))
            .collect::<Result<_, _>>()?;
        let bytes: Vec<u8> = digits
            .chunks(2)
            .filter_map(|pair| match pair {
                [high, low] => Some(high << 4 | low),
                _ => None,
            })
            .collect();
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| ())?;
        if digits.len() == 64 { Ok(Self(bytes)) } else { Err(()) }
    }
}

/// What changes whenever a file does: which file it is, its size and its times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stat {
    pub(super) fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    /// Whether a later change would be sure to show. Times move in ticks, so a file that was
    /// changed just now may be changed once more without them telling.
    fn is_settled(&self, now: SystemTime) -> bool {
        let (Ok(seconds), Ok(nanos)) =
            (u64::try_from(self.changed.0), u32::try_from(self.changed.1))
        else {
            return false;
        };
        let changed = UNIX_EPOCH.checked_add(Duration::new(seconds, nanos));
        // A time in the future is another machine's clock: there is no telling.
        changed.and_then(|at| now.duration_since(at).ok()).is_some_and(|age| age > CLOCK_TICK)
    }
}

impl fmt::Display for Stat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, inode, size, modified, changed } = self;
        write!(
            f,
            "{device}:{inode}:{size}:{}.{}:{}.{}",
            modified.0, modified.1, changed.0, changed.1
        )
    }
}

impl FromStr for Stat {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let parts: Vec<_> = text.split(':').collect();
        let [device, inode, size, modified, changed] = parts.as_slice() else { return Err(()) };
        let number = |text: &str| text.parse::<u64>().map_err(|_| ());
        let time = |text: &str| {
            let (seconds, nanos) = text.split_once('.').ok_or(())?;
            Ok((seconds.parse().map_err(|_| ())?, nanos.parse().map_err(|_| ())?))
        };
        Ok(Self {
            device: number(device)?,
            inode: number(inode)?,
            size: number(size)?,
            modified: time(modified)?,
            changed: time(changed)?,
        })
    }
}

/// The content of a file, as far as trust has to know it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Content {
    pub(super) digest: Digest,
    /// The mark of this very content; `None` if the file may change without the mark telling.
    pub(super) stat: Option<Stat>,
}

/// Reads a regular file, wherever links lead. `None` if there is no such file.
pub(super) fn read(path: &Path) -> io::Result<Option<Content>> {
    let mut content = None;
    for _ in 0..TRIES {
        let mut file = match owner::open(path) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(None),
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let before = Stat::of(&file.metadata()?);
        let mut hasher = Sha256::new();
        hasher.update(Domain::File.prefix());
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let count = file.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            hasher.update(buffer.get(..count).unwrap_or_default());
        }
        let after = Stat::of(&file.metadata()?);
        let digest = Digest(hasher.finalize().into());
        let stat = (before == after && after.is_settled(SystemTime::now())).then_some(after);
        content = Some(Content { digest, stat });
        if before == after {
            break;
        }
    }
    Ok(content)
}

/// The mark of a regular file, wherever links lead. `None` if there is no such file.
pub(super) fn stat(path: &Path) -> io::Result<Option<Stat>> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(Some(Stat::of(&found))),
        Ok(_) => Ok(None),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Errors that mean that nothing of that name can be there.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_as_entry_and_as_file_have_two_digests() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "x").unwrap();
        let file = read(&path).unwrap().unwrap().digest;
        assert_eq!(file, Digest::of(Domain::File, b"x"));
        assert_ne!(file, Digest::of(Domain::Entry, b"x"));
    }

    #[test]
    fn digests_and_marks_survive_being_written_down() {
        let digest = Digest::of(Domain::Entry, b"x");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert!(digest.to_string().starts_with(&digest.short()));
        for wrong in ["", "abc", &"g".repeat(64), &"a".repeat(65), &"é".repeat(32)] {
            assert_eq!(wrong.parse::<Digest>(), Err(()));
        }
        let stat = stat(Path::new("/proc/self/exe")).unwrap().unwrap();
        assert_eq!(stat.to_string().parse(), Ok(stat));
        assert_eq!("1:2:3:4:5".parse::<Stat>(), Err(()));
    }

    #[test]
    fn a_file_that_was_written_just_now_has_no_mark_yet() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "x").unwrap();
        let stat = stat(&path).unwrap().unwrap();
        let changed = UNIX_EPOCH
            + Duration::new(stat.changed.0.unsigned_abs(), u32::try_from(stat.changed.1).unwrap());
        assert!(!stat.is_settled(changed));
        assert!(!stat.is_settled(changed - Duration::from_secs(1)));
        assert!(stat.is_settled(changed + Duration::from_secs(1)));
    }

    #[test]
    fn what_is_no_regular_file_has_no_content() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).unwrap().is_none());
        assert!(read(&folder.path().join("gone")).unwrap().is_none());
        assert!(stat(Path::new("/dev/null")).unwrap().is_none());
        assert!(read(&folder.path().join("x".repeat(300))).unwrap().is_none());
    }
}
