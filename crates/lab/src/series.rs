//! Repeated runs of one command.

use anyhow::Result;
use lab::measure::Cost;
use serde::Serialize;

use crate::format;
use crate::statistics::{median, quantile};

/// The costs of repeated runs.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Series {
    runs: Vec<Cost>,
}

impl Series {
    /// Runs a command so many times.
    pub(crate) fn of(rounds: usize, mut cost: impl FnMut() -> Result<Cost>) -> Result<Series> {
        Ok(Series { runs: (0..rounds).map(|_| cost()).collect::<Result<_>>()? })
    }

    pub(crate) fn push(&mut self, cost: Cost) {
        self.runs.push(cost);
    }

    fn walls(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.wall).collect()
    }

    /// Returns the median of the wall times in seconds.
    ///
    /// # Panics
    ///
    /// If there was no run; so do [`middle_half`](Self::middle_half) and [`median_processor`](Self::median_processor).
    pub(crate) fn median(&self) -> f64 {
        median(&self.walls())
    }

    /// Returns the quartiles of the wall times in seconds.
    pub(crate) fn middle_half(&self) -> [f64; 2] {
        [0.25, 0.75].map(|part| quantile(&self.walls(), part))
    }

    /// Returns the median of the processor times in seconds.
    pub(crate) fn median_processor(&self) -> f64 {
        median(&self.runs.iter().map(Cost::processor).collect::<Vec<_>>())
    }

    /// Returns the shortest of the wall times in seconds.
    pub(crate) fn min(&self) -> f64 {
        self.runs.iter().map(|run| run.wall).fold(f64::INFINITY, f64::min)
    }

    /// Returns the highest of the memory peaks in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        self.runs.iter().map(|run| run.peak_memory).max().unwrap_or(0)
    }

    /// Returns how many runs there were.
    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }
}

/// Formats seconds with three significant digits: `75.1 s`, `0.312 s`, `2.91 ms`.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        600.0.. => format!("{seconds:.0} s"),
        0.0002.. => format::seconds(seconds),
        _ => format!("{:.1} us", seconds * 1e6),
    }
}

/// Formats the ratio of two times.
pub(crate) fn ratio(slow: f64, quick: f64) -> String {
    match slow / quick {
        ratio @ 10.0.. => format!("{ratio:.0}"),
        ratio => format!("{ratio:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(walls: &[f64]) -> Series {
        let cost = |&wall: &f64| Cost {
            wall,
            user: 0.0,
            system: 0.0,
            peak_memory: (wall * 10.0) as u64,
            code: Some(0),
        };
        Series { runs: walls.iter().map(cost).collect() }
    }

    #[test]
    fn the_median_is_the_middle_one_or_between_the_middle_two() {
        assert_eq!(series(&[9.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(series(&[9.0, 1.0, 2.0, 4.0]).median(), 3.0);
    }

    #[test]
    fn the_middle_half_leaves_a_quarter_out_on_either_side() {
        assert_eq!(series(&[5.0, 1.0, 2.0, 4.0, 3.0]).middle_half(), [2.0, 4.0]);
        assert_eq!(series(&[7.0]).middle_half(), [7.0, 7.0]);
    }

    #[test]
    fn memory_is_the_highest_peak_and_the_minimum_the_shortest_time() {
        let series = series(&[9.0, 1.0, 2.0]);
        assert_eq!((series.min(), series.peak_memory()), (1.0, 90));
    }

    #[test]
    fn times_have_three_digits_that_count() {
        for (time, text) in [(185.4, "185 s"), (75.12, "75.1 s"), (5.5, "5.50 s"), (0.3121, "0.312 s")] {
            assert_eq!(seconds(time), text);
        }
        for (time, text) in [(0.0152, "15.2 ms"), (0.00291, "2.91 ms"), (0.0000341, "34.1 us")] {
            assert_eq!(seconds(time), text);
        }
    }
}
