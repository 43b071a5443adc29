//! What several fuzz targets do alike: how a hook's end is drawn, and what holds for every host's file.

#![forbid(unsafe_code)]

use tenter_core::hook::Handler;
use tenter_core::outcome::Failure;
use tenter_core::verdict::Decision;
use tenter_hosts::codec::{Decoded, Exit};
use tenter_hosts::config::{ConfigFile, ConfigFormat, FileId};

/// A hook's exit, and why it was stopped if it was.
pub fn ended(how: u8) -> (Exit, Option<Failure>) {
    match how % 10 {
        0..=2 => (Exit::Code(0), None),
        3 => (Exit::Code(2), None),
        4 => (Exit::Code(49), None),
        5 => (Exit::Code(1), None),
        6 => (Exit::Code(127), None),
        7 => (Exit::Signal(9), None),
        8 => (Exit::Signal(15), Some(Failure::Timeout)),
        _ => (Exit::Lost, None),
    }
}

/// What a hook printed, up to a NUL and behind it: stdout and stderr.
pub fn printed(bytes: &[u8]) -> (&[u8], &[u8]) {
    let at = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    bytes.split_at(at)
}

/// A failure never carries anything laxer than a denial.
pub fn a_failure_is_no_permission(decoded: &Decoded) {
    if decoded.failed.is_some() {
        let decision = decoded.verdict.decision;
        assert!(matches!(decision, Decision::None | Decision::Deny), "a failure and {decision:?}");
        assert!(decoded.verdict.rewrite().is_none(), "a failure and a rewrite");
    }
}

/// Reads a host's file: what cannot be read is a broken entry that is told, every entry and finding has
/// its place, and what is read twice is the same.
pub fn read_host_file(format: &dyn ConfigFormat, text: &str, file: &FileId<'_>) -> ConfigFile {
    let config = format.read(text, file);
    if !config.parses {
        assert!(config.has_errors() && config.entries.len() == 1);
    }
    for entry in &config.entries {
        assert!(text.get(entry.span.clone()).is_some(), "an entry's span is in the file");
        if let Handler::Broken { .. } = entry.hook.handler {
            assert!(config.has_errors(), "what is broken is told");
        }
    }
    let lines = text.split('\n').count();
    for diagnostic in &config.diagnostics {
        let position = diagnostic.position.as_ref().expect("every finding has a place");
        assert!((1..=lines).contains(&position.line), "line {} of {lines}", position.line);
    }
    assert_eq!(format.read(text, file).diagnostics, config.diagnostics);
    config
}
