//! The last line of defence: a panic is a bug, is said in one line, and has an exit code of its own.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

use tenter::core::exit_code::BUG;

thread_local! {
    /// What the last panic of this thread said: only such a panic is caught here.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs the program; a panic becomes an exit code, and the one line that tells of it.
pub(crate) fn guarded(program: impl FnOnce() -> u8) -> Result<u8, (u8, String)> {
    // The default hook writes several lines, and from every thread.
    panic::set_hook(Box::new(remember));
    panic::catch_unwind(AssertUnwindSafe(program)).map_err(|_| {
        let last = LAST.take();
        let said = last.unwrap_or_else(|| "a panic".into());
        let version = env!("CARGO_PKG_VERSION");
        (BUG, format!("this is a bug in tenter {version}, please report it: {said}"))
    })
}

fn remember(info: &PanicHookInfo<'_>) {
    let text = info.payload_as_str().unwrap_or("a panic without a text");
    let at = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
    let line = format!("{}{}", text.replace('\n', " "), at.unwrap_or_default());
    LAST.set(Some(line));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_one_line_and_exit_code_70() {
        let before = panic::take_hook();
        let ended = guarded(|| panic!("two\nlines"));
        panic::set_hook(before);
        let (code, line) = ended.unwrap_err();
        assert_eq!(code, 70);
        assert!(
            !line.contains('\n') && line.contains("two lines (crates/cli/src/bug.rs:"),
            "{line}"
        );
        assert_eq!(guarded(|| 3), Ok(3));
    }
}
