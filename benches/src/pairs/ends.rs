//! How late a run ends that has to be ended, and how long its processes live on.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use tenter_process::{Command, Limits, Stopped, run};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::spawn::{current_thread, shell};
use crate::Args;
use crate::measure::{Case, Rounds};
use crate::report::{Bar, Measured};
use crate::system::make_fifo;

const TIMEOUT: Duration = Duration::from_millis(40);

pub(super) fn measure(args: &Args) -> Result<Vec<Measured>> {
    let runtime = current_thread()?;
    let folder = tempfile::tempdir()?;
    let fifo = folder.path().join("alive");
    make_fifo(&fifo)?;
    let name = fifo.to_str().context("a temporary folder with a name in UTF-8")?;

    let (obeys, _) = shell("sleep 5")?;
    let limits = Limits { timeout: TIMEOUT, ..Limits::default() };
    let obeys = Command { limits, ..obeys };
    // The shell and both of its children hold the fifo open until they are gone.
    let (refuses, _) = shell(&format!("trap '' TERM; exec 9>'{name}'; sleep 5 & sleep 5"))?;
    let limits = Limits { timeout: TIMEOUT, grace: Duration::ZERO, ..Limits::default() };
    let refuses = Command { limits, ..refuses };

    let late = || {
        let ended = stopped(&runtime, &obeys)?;
        Some(nanos_after_deadline(ended))
    };
    let gone = || {
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let watch = scope.spawn(|| end_of(&fifo));
            let ended = stopped(&runtime, &refuses);
            release(&fifo);
            ended?;
            let gone = watch.join().ok()?.ok()?;
            Some(nanos_after_deadline(gone.duration_since(begun)))
        })
    };
    let cases: Vec<Case<'_>> =
        vec![Box::new(|| late().unwrap_or(f64::NAN)), Box::new(|| gone().unwrap_or(f64::NAN))];
    let rounds = Rounds::run(args.rounds(90), cases);
    let measured = |name: &str, case, bar| Measured {
        name: name.to_owned(),
        bar: Bar::Nanos(bar),
        value: rounds.nanos(case),
        took: rounds.nanos(case).median,
        floor: None,
        allocations: None,
    };
    Ok(vec![measured("ends/late-after-term", 0, 5e6), measured("ends/gone-after-kill", 1, 2e6)])
}

/// How long a run took that its deadline ended, with nothing left of it.
fn stopped(runtime: &Runtime, command: &Command) -> Option<Duration> {
    let ended = runtime.block_on(run(command, &CancellationToken::new())).ok()?;
    (ended.stopped == Some(Stopped::Deadline) && ended.left.is_empty()).then_some(ended.duration)
}

fn nanos_after_deadline(took: Duration) -> f64 {
    (took.as_secs_f64() - TIMEOUT.as_secs_f64()) * 1e9
}

/// Lets a watcher go that nobody ever came to, so that a run that went wrong is no hang.
fn release(fifo: &Path) {
    let mut end = File::options();
    // Without a watcher there is nobody to let go, and the call says so.
    let _ = end.write(true).custom_flags(libc::O_NONBLOCK).open(fifo);
}

/// The moment at which nobody holds a fifo open for writing any more.
fn end_of(fifo: &Path) -> io::Result<Instant> {
    File::open(fifo)?.read_to_end(&mut Vec::new())?;
    Ok(Instant::now())
}
