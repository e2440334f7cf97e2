//! Means and their intervals.

use crate::results::Interval;

/// The two-sided 95% quantile of Student's distribution, by degrees of freedom
/// from one.
const STUDENT_95: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// The same for more degrees of freedom than that.
const NORMAL_95: f64 = 1.960;

/// The arithmetic mean; none of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The geometric mean; none of nothing, and none unless all are above zero.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.iter().any(|value| !value.is_finite() || *value <= 0.0) {
        return None;
    }
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    mean(&logarithms).map(f64::exp)
}

/// The mean with its 95% interval; a single value is its own interval.
pub(crate) fn interval(values: &[f64]) -> Option<Interval> {
    let mean = mean(values)?;
    let count = values.len();
    if count == 1 {
        return Some(Interval { mean, low: mean, high: mean });
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
    let student = STUDENT_95.get(count - 2).copied().unwrap_or(NORMAL_95);
    let half = student * (variance / count as f64).sqrt();
    Some(Interval { mean, low: mean - half, high: mean + half })
}

/// How well the ranks of two lists agree, from -1 to 1 (Spearman); none of
/// fewer than two, or where all of one list are alike.
pub(crate) fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let (mean_a, mean_b) = (mean(&a)?, mean(&b)?);
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| a.iter().zip(&b).map(|(a, b)| of(a - mean_a, b - mean_b)).sum::<f64>();
    let spread = (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
    (spread > 0.0).then(|| sum(&|a, b| a * b) / spread)
}

/// The rank of each; those that are alike share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let alike = values.iter().filter(|other| *other == value).count();
        below as f64 + (alike as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_five_values_is_students() {
        let five = interval(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        // Standard deviation sqrt(2.5), over sqrt(5), times 2.776.
        assert_eq!(five.mean, 3.0);
        assert!((five.high - 4.9629).abs() < 1e-3 && (five.low - 1.0371).abs() < 1e-3, "{five:?}");
        assert_eq!(interval(&[7.0]), Some(Interval { mean: 7.0, low: 7.0, high: 7.0 }));
        assert_eq!(interval(&[]), None);
    }

    #[test]
    fn ranks_agree_fully_the_other_way_round_or_in_part() {
        let close = |a: &[f64], b: &[f64], want: f64| {
            let found = rank_correlation(a, b).unwrap();
            assert!((found - want).abs() < 1e-12, "{found} is not {want}");
        };
        close(&[1.0, 2.0, 30.0, 4.0], &[0.1, 0.2, 0.9, 0.3], 1.0);
        close(&[1.0, 2.0, 3.0], &[3.0, 2.0, -1.0], -1.0);
        // By hand: 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15).
        close(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0], 0.8);
        assert_eq!(rank_correlation(&[1.0, 2.0], &[5.0, 5.0]), None);
        assert_eq!(rank_correlation(&[], &[]), None);
    }

    #[test]
    fn means_are_arithmetic_and_geometric() {
        assert_eq!(mean(&[1.0, 4.0]), Some(2.5));
        assert!((geometric_mean(&[1.0, 4.0]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
    }
}
