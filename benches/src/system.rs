//! What the measurements ask of the system: priority, and memory that is really there.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Lets nothing else run in between, where that is allowed. Children inherit it.
///
/// Returns whether it is so.
pub(crate) fn take_priority() -> bool {
    let parameters = libc::sched_param { sched_priority: 10 };
    // SAFETY: the parameters live through the call, which copies them.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) == 0 }
}

/// Memory in small pages, every one of them touched.
#[derive(Debug)]
pub(crate) struct Touched {
    start: *mut libc::c_void,
    length: usize,
}

impl Touched {
    /// Takes `length` bytes from the system and writes to every page.
    pub(crate) fn new(length: usize) -> io::Result<Self> {
        // SAFETY: a mapping of its own, wherever the kernel likes.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length.max(1),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let touched = Self { start, length };
        // SAFETY: the mapping is ours and so long. A kernel without huge pages refuses; then its
        // pages are small anyway.
        unsafe { libc::madvise(start, length, libc::MADV_NOHUGEPAGE) };
        for at in (0..length).step_by(4096) {
            // SAFETY: inside the mapping, which nobody else knows.
            unsafe { start.cast::<u8>().add(at).write_volatile(1) };
        }
        Ok(touched)
    }
}

impl Drop for Touched {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing points into it.
        unsafe { libc::munmap(self.start, self.length.max(1)) };
    }
}

/// Makes a fifo that only we may open.
pub(crate) fn make_fifo(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path is a text with its end, and lives through the call.
    if unsafe { libc::mkfifo(path.as_ptr(), 0o600) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// How much memory could be had now, in bytes.
pub(crate) fn available_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")).map(str::trim);
    kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
}
