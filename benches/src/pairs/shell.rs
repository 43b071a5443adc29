//! What a shell command line would run: a daily command, and a long one beside the parser alone.

use std::hint::black_box;
use std::io::BufReader;

use anyhow::Result;
use tenter_shell::{analyse, limits};

use crate::Args;
use crate::measure::{Case, Rounds, each};
use crate::report::{Bar, Measured};

const DAILY: &str = "sudo -u postgres env A=1 timeout 5 sh -c 'ls -la | wc -l'";

pub(super) fn measure(args: &Args) -> Result<Vec<Measured>> {
    let long = "echo aaaa bbbb 'cccc dddd' \"eeee $f\" ; ".repeat(limits::MAX_BYTES / 39);
    anyhow::ensure!(analyse(&long).unknowns.is_empty(), "the long line is not analysed");
    let parser_alone = || {
        let reader = BufReader::new(black_box(&long).as_bytes());
        let options = brush_parser::ParserOptions::default();
        brush_parser::Parser::new(reader, &options).parse_program().is_ok()
    };
    let cases: Vec<Case<'_>> = vec![
        Box::new(|| each(200, || analyse(black_box(DAILY)))),
        Box::new(|| each(1, parser_alone)),
        Box::new(|| each(1, || analyse(black_box(&long)))),
    ];
    let rounds = Rounds::run(args.rounds(60), cases);
    Ok(vec![
        Measured {
            name: "shell/daily-command".into(),
            bar: Bar::Nanos(20_000.0),
            value: rounds.nanos(0),
            took: rounds.nanos(0).median,
            floor: None,
            allocations: None,
        },
        Measured {
            name: "shell/64-KiB".into(),
            bar: Bar::Times(2.0),
            value: rounds.ratio(2, 1),
            took: rounds.nanos(2).median,
            floor: Some(rounds.nanos(1).median),
            allocations: None,
        },
    ])
}
