//! Nothing that bash really starts is missing from the analysis.
//!
//! Harmless lines run under a real bash whose `PATH` holds stub programs only. Each stub logs the
//! arguments it was started with; each logged list must be one that a command of the analysis may
//! become, or the analysis must say that a part of the line is unknown.
//!
//! `TENTER_SOUND_LINES=20000` runs more generated lines than the 2,000 of a normal run, and
//! `TENTER_SOUND_SEED` other ones.

mod bench;
mod generator;

use std::collections::{BTreeMap, BTreeSet};

use bench::Bench;
use generator::Generator;
use tenter_shell::{Analysis, UnknownReason, analyse};

const REAL: &str = include_str!("../data/harmless.txt");

/// What a run of many lines showed.
#[derive(Debug, Default)]
struct Tally {
    lines: usize,
    started: usize,
    with_unknowns: usize,
    by_unknown: usize,
    reasons: BTreeMap<UnknownReason, usize>,
    misses: Vec<String>,
}

/// Runs the lines and compares. With `TENTER_SOUND_SHOW` set, prints every unknown and its line.
#[expect(clippy::print_stdout, reason = "for a person who looks into unknowns")]
fn check(bench: &mut Bench, lines: &[String]) -> Tally {
    let mut tally = Tally::default();
    let numbers: Vec<usize> = lines.iter().map(|line| bench.run(line)).collect();
    for (line, number) in lines.iter().zip(numbers) {
        let analysis = analyse(line);
        tally.lines += 1;
        tally.with_unknowns += usize::from(!analysis.unknowns.is_empty());
        for unknown in &analysis.unknowns {
            *tally.reasons.entry(unknown.reason).or_default() += 1;
            if std::env::var_os("TENTER_SOUND_SHOW").is_some() {
                println!("{:?} {:?} in {line}\n", unknown.reason, unknown.text);
            }
        }
        compare(line, &analysis, bench.starts(number), &mut tally);
    }
    tally
}

fn compare(line: &str, analysis: &Analysis, starts: Vec<Vec<Vec<u8>>>, tally: &mut Tally) {
    for argv in starts {
        tally.started += 1;
        if analysis.commands.iter().any(|command| command.may_become(&argv)) {
            continue;
        }
        if !analysis.unknowns.is_empty() {
            tally.by_unknown += 1;
            continue;
        }
        let argv: Vec<_> = argv.iter().map(|arg| String::from_utf8_lossy(arg)).collect();
        let found: Vec<String> = analysis
            .commands
            .iter()
            .map(|command| {
                let words: Vec<String> =
                    command.argv.iter().map(|word| format!("[{word}]")).collect();
                words.join(" ")
            })
            .collect();
        tally.misses.push(format!("line: {line}\nstarted: {argv:?}\nfound: {found:#?}\n"));
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
#[expect(clippy::print_stdout, reason = "the tally is for a person to read")]
fn everything_bash_starts_for_generated_lines_is_in_the_analysis() {
    let lines = number("TENTER_SOUND_LINES", 2000);
    let seed = number("TENTER_SOUND_SEED", 1);
    let workers = 2_u8;
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..u64::from(workers))
            .map(|worker| {
                scope.spawn(move || {
                    let mut bench = Bench::new(generator::PROGRAMS);
                    let lines: Vec<String> = (worker..lines)
                        .step_by(usize::from(workers))
                        .map(|index| Generator::new((seed << 32) + index).line())
                        .collect();
                    check(&mut bench, &lines)
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    let mut all = Tally::default();
    for tally in tallies {
        all.lines += tally.lines;
        all.started += tally.started;
        all.with_unknowns += tally.with_unknowns;
        all.by_unknown += tally.by_unknown;
        for (reason, count) in tally.reasons {
            *all.reasons.entry(reason).or_default() += count;
        }
        all.misses.extend(tally.misses);
    }
    println!(
        "{} lines, {} programs started, {} lines with unknowns, {} starts covered by those only\n{:?}",
        all.lines, all.started, all.with_unknowns, all.by_unknown, all.reasons
    );
    assert!(
        all.misses.is_empty(),
        "{} misses, the first:\n{}",
        all.misses.len(),
        all.misses.iter().take(8).cloned().collect::<Vec<_>>().join("\n")
    );
    // The test would say nothing if little ran, or if unknowns covered it all.
    assert!(all.started > all.lines, "{} starts for {} lines", all.started, all.lines);
    assert!(all.with_unknowns * 3 < all.lines, "{} lines with unknowns", all.with_unknowns);
}

/// The lines of the file.
fn real_lines() -> Vec<String> {
    REAL.lines()
        .filter(|line| !line.is_empty() && !line.starts_with("##"))
        .map(|line| line.replace("⏎", "\n"))
        .collect()
}

#[test]
#[expect(clippy::print_stdout, reason = "the tally is for a person to read")]
fn everything_bash_starts_for_real_lines_is_in_the_analysis() {
    let lines = real_lines();
    assert!(lines.len() >= 500, "{} lines", lines.len());
    // Every word that could name a program is a stub, whatever the analysis says of it; nothing
    // else is on the path.
    let programs: BTreeSet<&str> = lines
        .iter()
        .flat_map(|line| line.split(|char: char| !bench::is_name_char(char)))
        .filter(|name| bench::may_be_stub(name))
        .collect();
    let programs: Vec<&str> = programs.into_iter().collect();
    let tally = check(&mut Bench::new(&programs), &lines);
    println!(
        "{} lines, {} programs started, {} lines with unknowns, {} starts covered by those only\n{:?}",
        tally.lines, tally.started, tally.with_unknowns, tally.by_unknown, tally.reasons
    );
    assert!(tally.misses.is_empty(), "{}", tally.misses.join("\n"));
    assert!(tally.started > tally.lines, "{} starts", tally.started);
}
