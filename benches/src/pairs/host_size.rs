//! The same hook in a host that holds 2 GiB and in one that holds nothing.
//!
//! A host that forks to start a hook copies its page tables: at 2 GiB that costs a hundred times the
//! hook. Each host is a process of its own, this program in another role, asked in turn.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result};

use super::spawn::{current_thread, run_well, shell};
use crate::Args;
use crate::measure::{Case, Rounds, nanos};
use crate::report::{Bar, Measured};
use crate::system::{Touched, available_memory};

const LARGE: usize = 2 << 30;

/// The other role: holds memory, and answers each line with the nanoseconds of one hook.
pub(crate) fn serve(bytes: usize) -> Result<()> {
    let memory = Touched::new(bytes)?;
    let runtime = current_thread()?;
    let (command, _) = shell("echo '{}'")?;
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        line?;
        let begun = Instant::now();
        runtime.block_on(run_well(&command))?;
        println!("{}", nanos(begun));
    }
    drop(memory);
    Ok(())
}

/// A host in another process.
#[derive(Debug)]
struct Host {
    process: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Host {
    fn start(args: &Args, bytes: usize) -> Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg("--empty")
            .arg(&args.empty)
            .arg("--tenter")
            .arg(&args.tenter)
            .args(["--serve", &bytes.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let ask = process.stdin.take().context("its stdin is ours")?;
        let answers = BufReader::new(process.stdout.take().context("its stdout is ours")?);
        let mut host = Self { process, ask, answers };
        let ready = host.line()?;
        anyhow::ensure!(ready == "ready", "a host said `{ready}`");
        Ok(host)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn sample(&mut self) -> Result<f64> {
        self.ask.write_all(b"\n")?;
        Ok(self.line()?.parse()?)
    }

    fn end(mut self) -> Result<()> {
        drop(self.ask);
        let status = self.process.wait()?;
        anyhow::ensure!(status.success(), "a host ended with {status}");
        Ok(())
    }
}

pub(super) fn measure(args: &Args) -> Result<Vec<Measured>> {
    let needed = 2 * u64::try_from(LARGE)?;
    if available_memory() < needed {
        println!("host-size: left out, less than {} GiB of memory are free", needed >> 30);
        return Ok(Vec::new());
    }
    let mut small = Host::start(args, 0)?;
    let mut large = Host::start(args, LARGE)?;
    let cases: Vec<Case<'_>> = vec![
        Box::new(|| small.sample().unwrap_or(f64::NAN)),
        Box::new(|| large.sample().unwrap_or(f64::NAN)),
    ];
    let rounds = Rounds::run(args.rounds(300), cases);
    small.end()?;
    large.end()?;
    Ok(vec![Measured {
        name: "host-size/2-GiB".into(),
        bar: Bar::Times(1.05),
        value: rounds.ratio(1, 0),
        took: rounds.nanos(1).median,
        floor: Some(rounds.nanos(0).median),
        allocations: None,
    }])
}
