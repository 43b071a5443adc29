//! All cases, side by side, each on a thread with a runtime of its own, so that a case that computes,
//! blocks or panics holds up no other. A signal ends what runs; what is done stays done.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tenter::CancellationToken;
use tenter::core::exit_code::BUG;
use tokio::runtime::Builder;
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::case::{self, Verdict};
use super::find::Loaded;
use crate::error::CliError;
use crate::runtime;
use crate::signals::Signals;
use crate::world::World;

/// Cases that run at once, at least.
const LEAST_JOBS: usize = 2;
/// How long what was ended may take to be gone.
const SETTLE: Duration = Duration::from_secs(2);

/// Which cases are to run.
#[derive(Debug)]
pub(crate) struct Plan {
    files: Vec<Loaded>,
    /// File and case, in order.
    cases: Vec<(usize, usize)>,
}

impl Plan {
    /// The cases of valid files that are wanted.
    pub(crate) fn of(files: Vec<Loaded>, wanted: impl Fn(&str, &str) -> bool) -> Self {
        let mut cases = Vec::new();
        for (at, loaded) in files.iter().enumerate().filter(|(_, loaded)| !loaded.is_invalid()) {
            let of_file = loaded.file.cases.iter().enumerate();
            let of_file = of_file.filter(|(_, case)| wanted(&loaded.name, &case.name));
            cases.extend(of_file.map(|(case, _)| (at, case)));
        }
        Self { files, cases }
    }

    /// Whether nothing is to run.
    pub(crate) fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// How many cases are to run.
    pub(crate) fn len(&self) -> usize {
        self.cases.len()
    }
}

/// What became of all cases.
#[derive(Debug)]
pub(crate) struct Results {
    plan: Arc<Plan>,
    /// By the place in the plan; `None` for a case that was never begun.
    verdicts: Vec<Option<Verdict>>,
    /// The signal that ended the run early.
    pub(crate) ended_by: Option<SignalKind>,
}

/// One case and what became of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CaseResult<'a> {
    /// The file, as the user would name it.
    pub(crate) file: &'a str,
    /// The line of the case.
    pub(crate) line: usize,
    /// Its name.
    pub(crate) name: &'a str,
    /// What became of it, if it was begun.
    pub(crate) verdict: Option<&'a Verdict>,
}

impl Results {
    /// Every case in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = CaseResult<'_>> {
        self.plan.cases.iter().zip(&self.verdicts).filter_map(|(&(file, case), verdict)| {
            let loaded = self.plan.files.get(file)?;
            let case = loaded.file.cases.get(case)?;
            Some(CaseResult {
                file: &loaded.name,
                line: case.position.line,
                name: &case.name,
                verdict: verdict.as_ref(),
            })
        })
    }

    /// The files, in order.
    pub(crate) fn files(&self) -> &[Loaded] {
        &self.plan.files
    }

    /// How many cases passed.
    pub(crate) fn passed(&self) -> usize {
        self.verdicts.iter().flatten().filter(|verdict| verdict.passed()).count()
    }

    /// How many cases failed.
    pub(crate) fn failed(&self) -> usize {
        let failed = |verdict: &&Verdict| !verdict.passed() && !verdict.interrupted;
        self.verdicts.iter().flatten().filter(failed).count()
    }

    /// How many cases were not begun, or not brought to their end.
    pub(crate) fn unfinished(&self) -> usize {
        self.verdicts.len() - self.passed() - self.failed()
    }
}

/// What the threads share.
struct Shared {
    plan: Arc<Plan>,
    next: AtomicUsize,
    cancel: CancellationToken,
    path: Option<std::ffi::OsString>,
}

/// Runs all cases; `done` hears of each as it ends.
///
/// # Errors
/// The system has no room for a runtime or a thread.
pub(crate) fn all(
    plan: Plan,
    jobs: Option<usize>,
    world: &World,
    mut done: impl FnMut(&Verdict),
) -> Result<Results, CliError> {
    // As when an event is fired from the command line: what a hook starts and leaves is found again.
    let _ = tenter::become_subreaper();
    let plan = Arc::new(plan);
    let shared = Arc::new(Shared {
        plan: Arc::clone(&plan),
        next: AtomicUsize::new(0),
        cancel: CancellationToken::new(),
        path: world.variable("PATH").map(ToOwned::to_owned),
    });
    let jobs = jobs.unwrap_or_else(|| {
        thread::available_parallelism().map_or(LEAST_JOBS, |cores| cores.get().max(LEAST_JOBS))
    });
    let mut verdicts: Vec<Option<Verdict>> = Vec::new();
    verdicts.resize_with(plan.len(), || None);
    let mut ended_by = None;
    let runtime = runtime::current_thread()?;
    runtime.block_on(async {
        // Before any case runs, so that no signal comes too early.
        let mut signals = Signals::listen();
        let (sender, mut results) = unbounded_channel();
        for at in 0..jobs.min(plan.len()) {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            let thread = thread::Builder::new().name(format!("tenter-test-{at}"));
            thread.spawn(move || work(&shared, &sender)).map_err(|error| CliError {
                code: BUG,
                ..CliError::usage(format!("no thread can be made: {error}"))
            })?;
        }
        drop(sender);
        loop {
            tokio::select! {
                biased;
                signal = signals.next() => {
                    let again = ended_by.replace(signal).is_some();
                    shared.cancel.cancel();
                    if again {
                        // Whoever asks twice does not want to wait; the kernel ends the hooks.
                        return Ok(());
                    }
                }
                result = results.recv() => match result {
                    Some((at, verdict)) => {
                        done(&verdict);
                        if let Some(slot) = verdicts.get_mut::<usize>(at) {
                            *slot = Some(verdict);
                        }
                    }
                    None => return Ok(()),
                },
            }
        }
    })?;
    if ended_by.is_some() {
        tenter_process::settle(SETTLE);
    }
    Ok(Results { plan, verdicts, ended_by })
}

/// Takes one case after the other until there is none.
fn work(shared: &Shared, results: &UnboundedSender<(usize, Verdict)>) {
    while !shared.cancel.is_cancelled() {
        let at = shared.next.fetch_add(1, Ordering::Relaxed);
        let Some(&(file, case)) = shared.plan.cases.get(at) else { return };
        let Some(loaded) = shared.plan.files.get(file) else { return };
        let Some(case) = loaded.file.cases.get(case) else { return };
        let run = || match Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => {
                runtime.block_on(case::run(loaded, case, shared.path.clone(), &shared.cancel))
            }
            Err(error) => Verdict::panicked(format!("no runtime can be made: {error}")),
        };
        let verdict = caught(run);
        if results.send((at, verdict)).is_err() {
            return;
        }
    }
}

/// A panic is a bug, and fails the case that it happens in.
fn caught(run: impl FnOnce() -> Verdict) -> Verdict {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|panic| Verdict::panicked(panic_text(&*panic)))
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a text".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::case::Problem;

    #[test]
    fn a_panic_fails_its_case_with_what_it_said() {
        for (verdict, expected) in [
            (caught(|| panic!("out of luck")), "out of luck"),
            (caught(|| panic!("{} of luck", "out")), "out of luck"),
            (caught(|| std::panic::panic_any(7)), "a panic without a text"),
        ] {
            let [Problem::Bug(said)] = &verdict.problems[..] else { panic!("{verdict:?}") };
            assert_eq!((said.as_str(), verdict.passed()), (expected, false));
        }
        assert!(caught(Verdict::default).passed());
    }
}
