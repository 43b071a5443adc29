//! One line a measurement: what it was, its bar, and whether the bar is kept.

use std::fmt;

use crate::measure::Spread;

/// How far over its bar a measurement may be before it fails: the noise of a shared machine.
pub(crate) const TOLERANCE: f64 = 0.15;

/// The head of the table.
pub(crate) const HEAD: &str = "\
measurement                      bar        median     p10        p90        took       floor      allocs";

/// What a measurement is held to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bar {
    /// So many times its floor.
    Times(f64),
    /// So many nanoseconds.
    Nanos(f64),
    /// Nothing: it is only good to know.
    None,
}

/// One measurement.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) bar: Bar,
    /// What is compared with the bar, in the bar's unit.
    pub(crate) value: Spread,
    /// The time it took, in nanoseconds.
    pub(crate) took: f64,
    /// The time that its floor took.
    pub(crate) floor: Option<f64>,
    /// How many times it allocated, where it must not.
    pub(crate) allocations: Option<u64>,
}

impl Measured {
    /// Whether it is not too far over its bar. A measurement that gave no number is not kept.
    pub(crate) fn is_kept(&self) -> bool {
        let within = match self.bar {
            Bar::Times(bar) | Bar::Nanos(bar) => self.value.median <= bar * (1.0 + TOLERANCE),
            Bar::None => true,
        };
        within && self.allocations.is_none_or(|count| count == 0)
    }

    fn is_over(&self) -> bool {
        matches!(self.bar, Bar::Times(bar) | Bar::Nanos(bar) if self.value.median > bar)
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_unit = |value: f64| match self.bar {
            Bar::Times(_) => format!("{value:.3} x"),
            Bar::Nanos(_) | Bar::None => time(value),
        };
        let bar = match self.bar {
            Bar::Times(bar) | Bar::Nanos(bar) => in_unit(bar),
            Bar::None => "-".to_owned(),
        };
        let verdict = match (self.is_kept(), self.is_over()) {
            (false, _) => "MISSED",
            (true, true) => "within tolerance",
            (true, false) => "",
        };
        write!(
            f,
            "{:<32} {:<10} {:<10} {:<10} {:<10} {:<10} {:<10} {:<6} {verdict}",
            self.name,
            bar,
            in_unit(self.value.median),
            in_unit(self.value.p10),
            in_unit(self.value.p90),
            time(self.took),
            self.floor.map_or_else(|| "-".to_owned(), time),
            self.allocations.map_or_else(|| "-".to_owned(), |count| count.to_string()),
        )
    }
}

/// Nanoseconds in a unit that fits.
fn time(nanos: f64) -> String {
    match nanos {
        _ if nanos < 1e3 => format!("{nanos:.1} ns"),
        _ if nanos < 1e6 => format!("{:.2} us", nanos / 1e3),
        _ => format!("{:.2} ms", nanos / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(bar: Bar, median: f64, allocations: Option<u64>) -> Measured {
        let value = Spread { median, p10: median, p90: median };
        Measured { name: "x".into(), bar, value, took: median, floor: None, allocations }
    }

    #[test]
    fn a_bar_is_kept_up_to_its_tolerance() {
        assert!(measured(Bar::Times(2.0), 2.29, None).is_kept());
        assert!(!measured(Bar::Times(2.0), 2.31, None).is_kept());
        assert!(measured(Bar::Nanos(20.0), 20.0, Some(0)).is_kept());
        assert!(measured(Bar::None, 1e12, None).is_kept());
    }

    #[test]
    fn an_allocation_or_a_missing_number_is_never_within_tolerance() {
        assert!(!measured(Bar::Times(2.0), 1.0, Some(1)).is_kept());
        assert!(!measured(Bar::Times(2.0), f64::NAN, None).is_kept());
    }

    #[test]
    fn times_are_in_a_unit_that_fits() {
        assert_eq!([time(1.26), time(1260.0), time(1.26e6)], ["1.3 ns", "1.26 us", "1.26 ms"]);
    }
}
