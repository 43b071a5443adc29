//! Tells apart what the system reports as one number: after a start has failed, looks at the program
//! and its first bytes.
//!
//! What is found may have changed since the failure, so the answer is an explanation for people and
//! never decides anything.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;

use crate::{Stage, StartCause};

/// The kernel looks no further for an interpreter.
const HEAD_BYTES: usize = 256;

/// Explains a failed start. `program` is absolute.
pub(crate) fn cause(stage: Stage, errno: i32, program: &Path, cwd: &Path) -> StartCause {
    match (stage, errno) {
        (Stage::Directory, libc::ENOENT) => StartCause::CwdMissing,
        (Stage::Directory, libc::ENOTDIR) => {
            if cwd.exists() {
                StartCause::CwdNotADirectory
            } else {
                StartCause::CwdMissing
            }
        }
        (Stage::Exec, libc::ENOENT | libc::ENOTDIR) => missing(program),
        (Stage::Exec, libc::EACCES) => denied(program),
        (Stage::Exec, libc::ENOEXEC) => StartCause::NoExecFormat,
        (Stage::Exec, libc::E2BIG) => StartCause::ArgumentsTooLong,
        (Stage::Exec, libc::ETXTBSY) => StartCause::Busy,
        _ => StartCause::Other,
    }
}

/// Something did not exist: the program, or what it names as its interpreter.
fn missing(program: &Path) -> StartCause {
    if !program.exists() {
        return StartCause::ProgramMissing;
    }
    let Ok(file) = File::open(program) else { return StartCause::Other };
    let mut head = Vec::new();
    let limit = u64::try_from(HEAD_BYTES).unwrap_or(u64::MAX);
    if (&file).take(limit).read_to_end(&mut head).is_err() {
        return StartCause::Other;
    }
    if let Some(line) = head.strip_prefix(b"#!") {
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        return match line.strip_suffix(b"\r") {
            Some(line) => StartCause::CarriageReturn { name: first_word(line) },
            None => StartCause::InterpreterMissing { name: first_word(line) },
        };
    }
    match elf_loader(&file, &head) {
        Some(name) => StartCause::InterpreterMissing { name },
        None => StartCause::Other,
    }
}

/// Something may not be executed.
fn denied(program: &Path) -> StartCause {
    match fs::metadata(program) {
        Ok(found) if !found.is_file() => StartCause::NotAFile,
        Ok(found) if found.permissions().mode() & 0o111 == 0 => StartCause::NotExecutable,
        _ => StartCause::Other,
    }
}

fn first_word(line: &[u8]) -> String {
    let word = line
        .split(|byte| matches!(byte, b' ' | b'\t'))
        .find(|word| !word.is_empty())
        .unwrap_or_default();
    String::from_utf8_lossy(word).into_owned()
}

/// Reads which loader a 64-bit binary of this machine's byte order asks for.
fn elf_loader(file: &File, head: &[u8]) -> Option<String> {
    const LOADER: u32 = 3;
    let is_64_bit = head.get(..4)? == b"\x7fELF" && *head.get(4)? == 2;
    if !is_64_bit {
        return None;
    }
    let table = word(head, 32)?;
    let (size, count) = (half(head, 54)?, half(head, 56)?);
    for index in 0..u64::from(count) {
        let mut entry = [0; 56];
        file.read_exact_at(&mut entry, table.checked_add(index * u64::from(size))?).ok()?;
        if u32::from_ne_bytes(*entry.first_chunk()?) == LOADER {
            let length = usize::try_from(word(&entry, 32)?).ok()?.min(4096);
            let mut name = vec![0; length];
            file.read_exact_at(&mut name, word(&entry, 8)?).ok()?;
            let name = name.split(|byte| *byte == 0).next()?;
            return Some(String::from_utf8_lossy(name).into_owned());
        }
    }
    None
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}
