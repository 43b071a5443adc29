//! How anything is measured: rounds of all cases in random order, and ratios within a round.
//!
//! A machine is never quiet, and never equally fast for long. So nothing is compared over time: each
//! round takes one sample of every case, in shuffled order and after a run that does not count, and
//! a ratio is the median of the ratios of the rounds.

use std::hint::black_box;
use std::time::Instant;

/// One thing to measure. A call is one sample and returns nanoseconds an operation.
pub(crate) type Case<'a> = Box<dyn FnMut() -> f64 + 'a>;

/// A median and what lies around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) p10: f64,
    pub(crate) p90: f64,
}

impl Spread {
    /// Of values in any order; not a number if there are none.
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |part: usize| {
            let last = values.len().saturating_sub(1);
            values.get(last * part / 10).copied().unwrap_or(f64::NAN)
        };
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) && middle > 0 {
            f64::midpoint(values[middle - 1], values[middle])
        } else {
            at(5)
        };
        Self { median, p10: at(1), p90: at(9) }
    }
}

/// The samples of all rounds.
#[derive(Debug)]
pub(crate) struct Rounds {
    rows: Vec<Vec<f64>>,
}

impl Rounds {
    /// Takes one sample of each case in each of `count` rounds.
    pub(crate) fn run(count: usize, mut cases: Vec<Case<'_>>) -> Self {
        let mut order: Vec<usize> = (0..cases.len()).collect();
        let mut shuffle = Shuffle::new();
        let mut rows = Vec::with_capacity(count);
        for _ in 0..count {
            shuffle.apply(&mut order);
            let mut row = vec![0.0; cases.len()];
            for at in &order {
                let case = &mut cases[*at];
                case();
                row[*at] = case();
            }
            rows.push(row);
        }
        Self { rows }
    }

    /// One case, in nanoseconds an operation.
    pub(crate) fn nanos(&self, case: usize) -> Spread {
        Spread::of(self.rows.iter().map(|row| row[case]).collect())
    }

    /// One case to another, round by round.
    pub(crate) fn ratio(&self, case: usize, floor: usize) -> Spread {
        Spread::of(self.rows.iter().map(|row| row[case] / row[floor]).collect())
    }
}

/// Times `times` calls in a row, for what is too short to be timed alone.
pub(crate) fn each<T>(times: u32, mut operation: impl FnMut() -> T) -> f64 {
    let begun = Instant::now();
    for _ in 0..times {
        black_box(operation());
    }
    nanos(begun) / f64::from(times)
}

/// Nanoseconds since a moment.
pub(crate) fn nanos(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e9
}

/// A small generator of random orders; it need not be good, only not regular.
#[derive(Debug)]
struct Shuffle(u64);

impl Shuffle {
    fn new() -> Self {
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        Self(u64::from(now.subsec_nanos()) << 20 | 0x9e37_79b9)
    }

    fn apply(&mut self, order: &mut [usize]) {
        for at in (1..order.len()).rev() {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            let other = usize::try_from(self.0 >> 33).unwrap_or_default() % (at + 1);
            order.swap(at, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle_and_not_the_mean() {
        let spread = Spread::of(vec![1000.0, 1.0, 2.0, 3.0, 4.0]);
        assert!((spread.median - 3.0).abs() < 1e-9);
        assert!((Spread::of(vec![1.0, 2.0]).median - 1.5).abs() < 1e-9);
        assert!(Spread::of(Vec::new()).median.is_nan());
    }

    #[test]
    fn a_ratio_is_taken_within_a_round() {
        // The machine became ten times slower half way: no ratio may notice.
        let mut speed = [1.0, 1.0, 1.0, 10.0, 10.0, 10.0].into_iter();
        let rows = std::iter::from_fn(|| speed.next().map(|speed| vec![speed, 2.0 * speed]));
        let rounds = Rounds { rows: rows.collect() };
        let ratio = rounds.ratio(1, 0);
        assert!((ratio.median - 2.0).abs() < 1e-9 && (ratio.p90 - 2.0).abs() < 1e-9);
    }

    #[test]
    fn every_case_runs_twice_a_round_and_counts_once() {
        let calls = std::cell::Cell::new(0.0);
        let case = || {
            calls.set(calls.get() + 1.0);
            calls.get()
        };
        let rounds = Rounds::run(3, vec![Box::new(case)]);
        assert!((calls.get() - 6.0).abs() < 1e-9);
        assert_eq!(rounds.rows, [[2.0], [4.0], [6.0]]);
    }
}
