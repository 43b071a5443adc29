//! Durations and sizes. A slow second implementation agrees on what is one and on how long it is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tenter_core::units::{parse_duration, parse_size};

const DURATIONS: &[(&str, u128)] = &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];
const SIZES: &[(&str, u128)] =
    &[("B", 1), ("kB", 1_000), ("KiB", 1 << 10), ("MB", 1_000_000), ("MiB", 1 << 20)];

/// Tries every unit; numbers that are too large for the result are for the caller to refuse.
fn slow(text: &str, units: &[(&str, u128)]) -> Option<u128> {
    units.iter().find_map(|(unit, factor)| {
        let digits = text.trim().strip_suffix(unit)?.trim_end();
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number: u128 = plain.then(|| digits.parse().ok())??;
        number.checked_mul(*factor).filter(|product| *product > 0)
    })
}

fuzz_target!(|text: &str| {
    let expected = slow(text, DURATIONS).filter(|ms| *ms <= u128::from(u64::MAX));
    assert_eq!(parse_duration(text).ok().map(|duration| duration.as_millis()), expected);
    let expected = slow(text, SIZES).and_then(|bytes| usize::try_from(bytes).ok());
    assert_eq!(parse_size(text).ok(), expected);
});
