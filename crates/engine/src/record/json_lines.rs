//! Records as lines of JSON in a file that only grows: one write an event, so that a line is there
//! whole or not at all. What was written survives the process; nothing waits for the disk.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Mutex;

use crate::record::{Record, Recorder};

/// Appends records to a file.
#[derive(Debug)]
pub struct JsonLines {
    file: File,
    /// The first failure, until somebody asks for it.
    failure: Mutex<Option<io::Error>>,
}

impl JsonLines {
    /// Opens a file to append to, and makes it and its folder if they are not there, for the user
    /// alone.
    ///
    /// # Errors
    /// The file cannot be opened or made.
    pub fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        Ok(Self { file, failure: Mutex::new(None) })
    }

    /// The first write that failed since the last call, if any. A record that cannot be written
    /// never changes an event, so this is where one hears of it.
    pub fn take_failure(&self) -> Option<io::Error> {
        self.failure.lock().ok()?.take()
    }
}

impl Recorder for JsonLines {
    fn record(&self, record: Record) {
        let written = serde_json::to_vec(&record).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            (&self.file).write_all(&line)
        });
        if let Err(error) = written
            && let Ok(mut failure) = self.failure.lock()
        {
            failure.get_or_insert(error);
        }
    }
}
