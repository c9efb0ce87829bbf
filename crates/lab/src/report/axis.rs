//! Logarithmic axes.

use crate::format::{bytes, rate, seconds, times};

/// The unit of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Seconds,
    Bytes,
    Rate,
    Times,
    Count,
}

impl Scale {
    /// Formats a value.
    pub(super) fn text(self, value: f64) -> String {
        match self {
            Scale::Seconds => seconds(value),
            Scale::Bytes => bytes(value as u64),
            Scale::Rate => rate(value),
            Scale::Times => times(value),
            Scale::Count => value.to_string(),
        }
    }

    /// Formats a power of ten.
    fn tick(self, exponent: i32) -> String {
        let power = |above: i32| 10_f64.powi(exponent - above);
        match (self, exponent) {
            (Scale::Seconds, 0..) => format!("{} s", power(0)),
            (Scale::Seconds, -3..0) => format!("{} ms", power(-3)),
            (Scale::Seconds, _) => format!("{} µs", power(-6)),
            (Scale::Bytes | Scale::Rate, 9..) => format!("{} GB", power(9)),
            (Scale::Bytes | Scale::Rate, 6..9) => format!("{} MB", power(6)),
            (Scale::Bytes | Scale::Rate, _) => format!("{} kB", power(3)),
            (Scale::Times, _) => format!("{}x", power(0)),
            (Scale::Count, 6..) => format!("{} M", power(6)),
            (Scale::Count, 3..6) => format!("{} k", power(3)),
            (Scale::Count, _) => power(0).to_string(),
        }
    }
}

/// A logarithmic axis from a power of ten to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    scale: Scale,
    low: i32,
    high: i32,
    /// The coordinates of its ends.
    from: f64,
    to: f64,
}

impl Axis {
    /// Returns the smallest axis with all values on it.
    pub(super) fn new(scale: Scale, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) = values
            .filter(|value| *value > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        if high == 0.0 {
            return Self { scale, low: 0, high: 1, from, to };
        }
        let low = low.log10().floor() as i32;
        Self { scale, low, high: (high.log10().ceil() as i32).max(low + 1), from, to }
    }

    /// Returns the coordinate of a value.
    pub(super) fn position(&self, value: f64) -> f64 {
        let part =
            (value.max(f64::MIN_POSITIVE).log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        self.from + (self.to - self.from) * part.clamp(0.0, 1.0)
    }

    /// Returns the coordinates of the powers of ten with their names, at most about `most` of them.
    pub(super) fn ticks(&self, most: i32) -> Vec<(f64, String)> {
        let step = ((self.high - self.low + most - 1) / most).max(1) as usize;
        (self.low..=self.high)
            .step_by(step)
            .map(|exponent| (self.position(10_f64.powi(exponent)), self.scale.tick(exponent)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_goes_from_a_power_of_ten_to_another() {
        let axis = Axis::new(Scale::Seconds, [0.02, 3.0].into_iter(), 0.0, 300.0);
        assert_eq!(
            [0.01, 0.1, 1.0, 10.0].map(|value| axis.position(value).round()),
            [0.0, 100.0, 200.0, 300.0]
        );
        let names: Vec<String> = axis.ticks(6).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["10 ms", "100 ms", "1 s", "10 s"]);
    }

    #[test]
    fn a_long_axis_names_fewer_powers() {
        let axis = Axis::new(Scale::Count, [1.0, 1e6].into_iter(), 0.0, 300.0);
        let names: Vec<String> = axis.ticks(3).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["1", "100", "10 k", "1 M"]);
    }

    #[test]
    fn equal_values_have_an_axis_too() {
        let axis = Axis::new(Scale::Times, [1.0].into_iter(), 10.0, 20.0);
        assert_eq!((axis.position(1.0), axis.position(10.0)), (10.0, 20.0));
    }
}
