//! One file, replaced in one step: a reader sees the old one or the new one, and so does whoever
//! looks after a crash.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::error::CliError;

/// The file that a path leads to: a link stays a link.
pub(super) fn target(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Puts a text in the place of a file, with the rights that it had. Folders that are missing are
/// made.
pub(super) fn replace(path: &Path, text: &str, is_program: bool) -> Result<(), CliError> {
    let failed = |error| CliError::unwritable(path, &error);
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|error| CliError::unwritable(folder, &error))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}.new", std::process::id()));
    let written = (|| {
        let _ = fs::remove_file(&temporary);
        let mode = if is_program { 0o777 } else { 0o666 };
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
        if let Ok(before) = fs::metadata(path) {
            let mode = before.permissions().mode() | if is_program { 0o100 } else { 0 };
            file.set_permissions(fs::Permissions::from_mode(mode & 0o7777))?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    written.map_err(|error| {
        let _ = fs::remove_file(&temporary);
        failed(error)
    })
}
