//! A command line: the analysis ends, says the same twice, and never loses a line that is not empty.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::shell::analyse;

fuzz_target!(|line: &str| {
    let analysis = analyse(line);
    assert_eq!(analysis, analyse(line));
    for command in &analysis.commands {
        assert!(command.span.start <= command.span.end && command.span.end <= line.len());
        let _ = command.matches("rm -rf *");
    }
});
