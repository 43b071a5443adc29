//! Durations and sizes as people write them in configuration: a whole number and a unit.
//!
//! A number without a unit is refused. Products differ in what it means, and a limit that is a
//! thousand times too large is no limit.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// Why a text is not a duration or a size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitError {
    /// What is wrong, a lower-case fragment.
    pub message: String,
    /// What to write instead.
    pub help: Cow<'static, str>,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UnitError {}

/// One kind of quantity: its name, an example, and its units with their size in the smallest.
struct Quantity {
    name: &'static str,
    example: &'static str,
    units: &'static [(&'static str, u64)],
    /// The unit that a number alone is most likely to mean.
    usual: &'static str,
}

const DURATION: Quantity = Quantity {
    name: "duration",
    example: "5s",
    units: &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)],
    usual: "s",
};

const SIZE: Quantity = Quantity {
    name: "size",
    example: "2KiB",
    units: &[("B", 1), ("kB", 1_000), ("KiB", 1 << 10), ("MB", 1_000_000), ("MiB", 1 << 20)],
    usual: "B",
};

/// Reads a duration: a whole number and `ms`, `s`, `m` or `h`, such as `5s`.
///
/// # Errors
/// It has no unit or an unknown one, is not a whole number, or is zero.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    parse(text, &DURATION).map(Duration::from_millis)
}

/// Reads a size in bytes: a whole number and `B`, `kB`, `KiB`, `MB` or `MiB`, such as `2KiB`.
///
/// # Errors
/// It has no unit or an unknown one, is not a whole number, is zero, or is more than this machine
/// can address.
pub fn parse_size(text: &str) -> Result<usize, UnitError> {
    let bytes = parse(text, &SIZE)?;
    usize::try_from(bytes).map_err(|_| too_large(text, &SIZE))
}

fn parse(text: &str, quantity: &Quantity) -> Result<u64, UnitError> {
    let Quantity { name, example, units, usual } = quantity;
    let trimmed = text.trim();
    let digits_end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (digits, unit) = trimmed.split_at(digits_end);
    let fail = |message: String, help: String| Err(UnitError { message, help: help.into() });
    if digits.is_empty() {
        return fail(format!("`{text}` is not a {name}"), format!("write `{example}`"));
    }
    let unit = match unit.trim() {
        "" if digits.bytes().all(|digit| digit == b'0') => usual,
        "" => {
            return fail(
                format!("the {name} `{text}` has no unit"),
                format!("write `{digits}{usual}`, if that is meant; units are {}", names(units)),
            );
        }
        unit => unit,
    };
    if unit.starts_with(['.', ',']) {
        return fail(
            format!("the {name} `{text}` is not a whole number"),
            "write a whole number in a smaller unit, as in `1500ms` or `1536B`".into(),
        );
    }
    let Some((_, factor)) = units.iter().find(|(known, _)| *known == unit) else {
        let meant = units.iter().find(|(known, _)| known.eq_ignore_ascii_case(unit));
        return fail(
            format!("the {name} `{text}` has the unknown unit `{unit}`"),
            meant.map_or_else(
                || format!("units are {}", names(units)),
                |(known, _)| format!("write `{digits}{known}`"),
            ),
        );
    };
    match digits.parse::<u64>().ok().and_then(|number| number.checked_mul(*factor)) {
        Some(0) => fail(
            format!("the {name} `{text}` is nothing"),
            format!("write a limit such as `{example}`; there is no word for none"),
        ),
        Some(value) => Ok(value),
        None => Err(too_large(text, quantity)),
    }
}

fn too_large(text: &str, quantity: &Quantity) -> UnitError {
    UnitError {
        message: format!("the {} `{text}` is too large", quantity.name),
        help: "write a smaller one".into(),
    }
}

fn names(units: &[(&str, u64)]) -> String {
    units.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_and_a_unit_are_read() {
        for (text, milliseconds) in
            [("250ms", 250), ("5s", 5_000), (" 2m ", 120_000), ("1h", 3_600_000), ("5 s", 5_000)]
        {
            assert_eq!(
                parse_duration(text).unwrap(),
                Duration::from_millis(milliseconds),
                "{text}"
            );
        }
        for (text, bytes) in
            [("1B", 1), ("2KiB", 2048), ("2kB", 2000), ("1MiB", 1 << 20), ("3MB", 3_000_000)]
        {
            assert_eq!(parse_size(text).unwrap(), bytes, "{text}");
        }
    }

    #[test]
    fn what_is_refused_says_what_to_write() {
        for (text, message, help) in [
            ("", "`` is not a duration", "write `5s`"),
            ("-5s", "`-5s` is not a duration", "write `5s`"),
            (
                "30",
                "the duration `30` has no unit",
                "write `30s`, if that is meant; units are `ms`, `s`, `m`, `h`",
            ),
            (
                "0s",
                "the duration `0s` is nothing",
                "write a limit such as `5s`; there is no word for none",
            ),
            (
                "0",
                "the duration `0` is nothing",
                "write a limit such as `5s`; there is no word for none",
            ),
            (
                "1.5s",
                "the duration `1.5s` is not a whole number",
                "write a whole number in a smaller unit, as in `1500ms` or `1536B`",
            ),
            ("5S", "the duration `5S` has the unknown unit `S`", "write `5s`"),
            (
                "5sec",
                "the duration `5sec` has the unknown unit `sec`",
                "units are `ms`, `s`, `m`, `h`",
            ),
            (
                "99999999999999999999s",
                "the duration `99999999999999999999s` is too large",
                "write a smaller one",
            ),
        ] {
            let error = parse_duration(text).unwrap_err();
            assert_eq!((error.message.as_str(), &*error.help), (message, help), "{text}");
        }
        assert_eq!(parse_size("2kib").unwrap_err().help, "write `2KiB`");
        assert_eq!(
            parse_size("2048").unwrap_err().help,
            "write `2048B`, if that is meant; units are `B`, `kB`, `KiB`, `MB`, `MiB`"
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,10}|[0-9]{0,25}[a-zA-Z. ]{0,4}") {
            prop_assert!(parse_duration(&text).map_or(true, |duration| !duration.is_zero()));
            prop_assert!(parse_size(&text).map_or(true, |size| size > 0));
        }
    }
}
