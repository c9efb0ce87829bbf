//! Statistics of repeated measurements.
//!
//! Nothing here assumes that times are normally distributed: disturbances only make them longer.

use std::collections::BTreeMap;

use serde::Serialize;

/// The number of bootstrap samples of an interval.
const RESAMPLES: usize = 2000;

/// A confidence interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The share of the variance of some values that a factor explains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Effect {
    /// The share of the variance between the factor's levels, from 0 to 1.
    pub(crate) eta_squared: f64,
    /// Its expected value if the factor had no effect.
    pub(crate) by_chance: f64,
}

/// Returns the median.
///
/// # Panics
///
/// If there is none.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Returns a quantile, interpolated linearly (type 7 of R).
///
/// # Panics
///
/// If there is none.
pub(crate) fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile_of_sorted(&sorted, part)
}

fn quantile_of_sorted(sorted: &[f64], part: f64) -> f64 {
    let position = part * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    below + (above - below) * position.fract()
}

/// Returns the arithmetic mean.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the sample standard deviation; 0 for a single value.
pub(crate) fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// Returns the standard deviation divided by the mean.
pub(crate) fn coefficient_of_variation(values: &[f64]) -> f64 {
    deviation(values) / mean(values)
}

impl Interval {
    /// Returns the interval of the median: a percentile bootstrap, which is the same for the same values.
    ///
    /// # Panics
    ///
    /// If there is no value.
    pub(crate) fn of_median(values: &[f64]) -> Interval {
        let mut random = SplitMix64(values.len() as u64);
        let mut medians: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let sample: Vec<f64> = values.iter().map(|_| values[random.below(values.len())]).collect();
                median(&sample)
            })
            .collect();
        medians.sort_by(f64::total_cmp);
        Interval { low: quantile_of_sorted(&medians, 0.025), high: quantile_of_sorted(&medians, 0.975) }
    }

    /// Returns whether it contains a value.
    pub(crate) fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

impl Effect {
    /// Returns the effect of a factor, from pairs of its level and a value.
    pub(crate) fn of<L: Ord>(values: impl IntoIterator<Item = (L, f64)>) -> Effect {
        let mut levels: BTreeMap<L, Vec<f64>> = BTreeMap::new();
        for (level, value) in values {
            levels.entry(level).or_default().push(value);
        }
        let all: Vec<f64> = levels.values().flatten().copied().collect();
        let grand = mean(&all);
        let total: f64 = all.iter().map(|value| (value - grand).powi(2)).sum();
        let between: f64 =
            levels.values().map(|level| level.len() as f64 * (mean(level) - grand).powi(2)).sum();
        let [freedom, values] = [levels.len(), all.len()].map(|count| count.saturating_sub(1) as f64);
        let part = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        Effect { eta_squared: part(between, total), by_chance: part(freedom, values) }
    }
}

/// Returns the slope of the straight line through points on two logarithmic axes: 1 if y grows as x does, 2 if it
/// grows with the square of x. `None` without two different values of x.
pub(crate) fn log_log_slope(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let (xs, ys): (Vec<f64>, Vec<f64>) = logs.iter().copied().unzip();
    let (x_mean, y_mean) = (mean(&xs), mean(&ys));
    let spread: f64 = xs.iter().map(|x| (x - x_mean).powi(2)).sum();
    let common: f64 = logs.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    (spread > 0.0).then(|| common / spread)
}

/// The pseudo-random number generator SplitMix64.
struct SplitMix64(u64);

impl SplitMix64 {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % limit as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9
    }

    #[test]
    fn the_median_is_the_middle_one_or_between_the_middle_two() {
        assert_eq!([median(&[9.0, 1.0, 2.0]), median(&[9.0, 1.0, 2.0, 4.0])], [2.0, 3.0]);
    }

    #[test]
    fn quartiles_are_those_of_r() {
        let values = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        // > quantile(c(1, 2, 4, 8, 16, 32))
        assert_eq!([0.25, 0.75].map(|part| quantile(&values, part)), [2.5, 14.0]);
    }

    #[test]
    fn mean_and_deviation_are_those_of_the_textbook() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), 5.0);
        assert!(is_near(deviation(&values), (32.0_f64 / 7.0).sqrt()));
        assert!(is_near(coefficient_of_variation(&values), (32.0_f64 / 7.0).sqrt() / 5.0));
        assert_eq!(deviation(&[3.0]), 0.0);
    }

    #[test]
    fn the_interval_of_equal_values_is_a_point() {
        assert_eq!(Interval::of_median(&[3.0; 5]), Interval { low: 3.0, high: 3.0 });
    }

    #[test]
    fn the_interval_is_as_wide_as_theory_says() {
        let values: Vec<f64> = (0..=1000).map(f64::from).collect();
        let Interval { low, high } = Interval::of_median(&values);
        // The median of n evenly spread values has a standard error of range / (2 sqrt(n)): 15.8.
        assert!((low - 469.0).abs() < 4.0 && (high - 531.0).abs() < 4.0, "{low} to {high}");
    }

    #[test]
    fn the_interval_of_few_values_lies_within_them() {
        let interval = Interval::of_median(&[5.0, 1.0, 2.0, 4.0, 3.0]);
        assert!(interval.low >= 1.0 && interval.high <= 5.0 && interval.contains(3.0), "{interval:?}");
    }

    #[test]
    fn the_effect_is_the_part_of_the_squares_between_levels() {
        let values = [('a', [1.0, 2.0, 3.0]), ('b', [2.0, 3.0, 4.0]), ('c', [5.0, 6.0, 7.0])];
        let effect = Effect::of(values.iter().flat_map(|(level, values)| values.map(|value| (level, value))));
        // 26 between the levels, 6 within.
        assert!(
            is_near(effect.eta_squared, 26.0 / 32.0) && is_near(effect.by_chance, 2.0 / 8.0),
            "{effect:?}"
        );
    }

    #[test]
    fn a_factor_without_effect_explains_nothing() {
        assert_eq!(Effect::of([('a', 1.0), ('a', 3.0), ('b', 1.0), ('b', 3.0)]).eta_squared, 0.0);
        assert_eq!(Effect::of([('a', 1.0), ('b', 1.0)]).eta_squared, 0.0);
    }

    #[test]
    fn the_slope_of_a_square_is_two() {
        let slope = log_log_slope(&[(10.0, 3.0), (100.0, 300.0), (1000.0, 30000.0)]);
        assert!(is_near(slope.unwrap(), 2.0));
        assert_eq!(log_log_slope(&[(10.0, 3.0)]), None);
    }
}
