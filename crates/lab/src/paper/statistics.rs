//! Computes means and correlations with their 95% confidence intervals.

use crate::results::Interval;

/// The two-sided 95% quantiles of Student's distribution for 1 to 30 degrees of freedom.
const STUDENT_95: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// The two-sided 95% quantile of the normal distribution, which Student's distribution approaches
/// as the degrees of freedom grow.
const NORMAL_95: f64 = 1.959_964;

/// The two-sided 95% quantile of Student's distribution for a number of degrees of freedom, which
/// is at least one. Up to 30 degrees, the quantile comes from the table. Beyond the table, it comes
/// from an expansion around the normal quantile (Abramowitz and Stegun, 26.7.5), which is correct
/// to four decimals there.
fn student(degrees: usize) -> f64 {
    let (z, n) = (NORMAL_95, degrees as f64);
    let beyond =
        || z + (z.powi(3) + z) / (4.0 * n) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n);
    STUDENT_95.get(degrees - 1).copied().unwrap_or_else(beyond)
}

/// The arithmetic mean of the values. `None` for an empty list.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The geometric mean of the values. `None` for an empty list, or if a value is not above zero.
pub(crate) fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.iter().any(|value| !value.is_finite() || *value <= 0.0) {
        return None;
    }
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    mean(&logarithms).map(f64::exp)
}

/// The mean of the values with its 95% confidence interval. With a single value, both ends of the
/// interval are this value.
pub(crate) fn interval(values: &[f64]) -> Option<Interval> {
    let mean = mean(values)?;
    let count = values.len();
    if count == 1 {
        return Some(Interval { mean, low: mean, high: mean });
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
    let half = student(count - 1) * (variance / count as f64).sqrt();
    Some(Interval { mean, low: mean - half, high: mean + half })
}

/// The mean of values that are never negative, with its 95% confidence interval. If the lower end
/// of the interval is below zero, it is replaced by zero.
pub(crate) fn interval_of_amounts(values: &[f64]) -> Option<Interval> {
    interval(values).map(|found| Interval { low: found.low.max(0.0), ..found })
}

/// The number of random samples for the bootstrap, which computes the confidence interval of a
/// correlation.
const RESAMPLES: usize = 10_000;

/// The Spearman rank correlation of two lists of means, with its 95% confidence interval. Each row
/// of `a` and of `b` has the values of one input, one value for each seed. The correlation compares
/// the means of the rows of `a` with the means of the rows of `b`. `None` if the correlation is
/// undefined.
///
/// The interval comes from a bootstrap. For each sample and each input, seeds are drawn with
/// replacement, as many as there are seeds. The values of a drawn seed are taken from both `a` and
/// `b`. With few seeds, the means of samples vary too little. So the distance of a sample's mean
/// from the measured mean is scaled, so that the interval of a single mean would be as wide as
/// Student's interval. Each sample yields a correlation, so the interval lies between -1 and 1.
///
/// Two other methods are not suitable. Student's interval of the correlations of single seeds may
/// leave the range from -1 to 1. Fisher's transformation has no value at the correlation 1, which
/// is frequent with four inputs. The random draws have a fixed seed, so the result is always the
/// same.
pub(crate) fn rank_correlation_of_means(a: &[Vec<f64>], b: &[Vec<f64>]) -> Option<Interval> {
    let means = |rows: &[Vec<f64>]| rows.iter().map(|row| mean(row)).collect::<Option<Vec<f64>>>();
    let (mean_a, mean_b) = (means(a)?, means(b)?);
    let found = rank_correlation(&mean_a, &mean_b)?;
    let seeds = a.first().map_or(0, Vec::len);
    if seeds < 2 {
        return Some(Interval { mean: found, low: found, high: found });
    }
    let (count, degrees) = (seeds as f64, seeds - 1);
    let stretch = student(degrees) / NORMAL_95 * (count / degrees as f64).sqrt();
    let mut state = 0;
    let mut draw = || (next(&mut state) % seeds as u64) as usize;
    let resample = |_| {
        let (mut drawn_a, mut drawn_b) = (Vec::new(), Vec::new());
        for (at, (row_a, row_b)) in a.iter().zip(b).enumerate() {
            let chosen: Vec<usize> = (0..seeds).map(|_| draw()).collect();
            let of = |row: &[f64], mean: f64| {
                let sum: f64 = chosen.iter().map(|&seed| row[seed] - mean).sum();
                mean + stretch * sum / count
            };
            drawn_a.push(of(row_a, mean_a[at]));
            drawn_b.push(of(row_b, mean_b[at]));
        }
        // If all values of a list are equal, the correlation is undefined. The sample counts as no
        // correlation.
        rank_correlation(&drawn_a, &drawn_b).unwrap_or(0.0)
    };
    let mut drawn: Vec<f64> = (0..RESAMPLES).map(resample).collect();
    drawn.sort_by(f64::total_cmp);
    let outside = RESAMPLES / 40;
    let (low, high) = (drawn[outside], drawn[RESAMPLES - 1 - outside]);
    // The interval is widened to contain the measured value.
    Some(Interval { mean: found, low: low.min(found), high: high.max(found) })
}

/// The next number of the random generator SplitMix64. It gives the same numbers on every computer.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The Spearman rank correlation of two lists: the correlation of the ranks of their values, from
/// -1 to 1. `None` for fewer than two values, or if all values of one list are equal.
pub(crate) fn rank_correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let (mean_a, mean_b) = (mean(&a)?, mean(&b)?);
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| a.iter().zip(&b).map(|(a, b)| of(a - mean_a, b - mean_b)).sum::<f64>();
    let spread = (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
    (spread > 0.0).then(|| sum(&|a, b| a * b) / spread)
}

/// The rank of each value in the list. Equal values get the mean of their ranks.
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
        // Half the interval is the standard deviation sqrt(2.5), divided by sqrt(5), times 2.776.
        assert_eq!(five.mean, 3.0);
        assert!((five.high - 4.9629).abs() < 1e-3 && (five.low - 1.0371).abs() < 1e-3, "{five:?}");
        assert_eq!(interval(&[7.0]), Some(Interval { mean: 7.0, low: 7.0, high: 7.0 }));
        assert_eq!(interval(&[]), None);
    }

    #[test]
    fn the_interval_of_amounts_ends_at_zero_and_that_of_changes_does_not() {
        // Half the interval is 12.706, so the lower end is far below zero.
        let (changes, amounts) = (interval(&[1.0, 3.0]).unwrap(), interval_of_amounts(&[1.0, 3.0]).unwrap());
        assert!((changes.low + 10.706).abs() < 1e-9 && (changes.high - 14.706).abs() < 1e-9, "{changes:?}");
        assert_eq!(amounts, Interval { low: 0.0, ..changes });
        let sure = [100.0, 101.0, 102.0];
        assert_eq!(interval_of_amounts(&sure), interval(&sure));
    }

    #[test]
    fn the_quantile_has_no_step_where_the_table_ends() {
        for (degrees, quantile) in [(30, 2.042), (31, 2.0395), (60, 2.0003), (120, 1.9799), (999, 1.9623)] {
            assert!((student(degrees) - quantile).abs() < 5e-4, "{degrees}: {}", student(degrees));
        }
    }

    #[test]
    fn ranks_agree_fully_the_other_way_round_or_in_part() {
        let close = |a: &[f64], b: &[f64], want: f64| {
            let found = rank_correlation(a, b).unwrap();
            assert!((found - want).abs() < 1e-12, "{found} is not {want}");
        };
        close(&[1.0, 2.0, 30.0, 4.0], &[0.1, 0.2, 0.9, 0.3], 1.0);
        close(&[1.0, 2.0, 3.0], &[3.0, 2.0, -1.0], -1.0);
        // Computed by hand: 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15).
        close(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0], 0.8);
        assert_eq!(rank_correlation(&[1.0, 2.0], &[5.0, 5.0]), None);
        assert_eq!(rank_correlation(&[], &[]), None);
    }

    #[test]
    fn the_interval_of_a_correlation_lies_between_minus_one_and_one() {
        let rows = |spread: f64, seeds: usize| -> Vec<Vec<f64>> {
            let of = |input: usize| {
                (0..seeds)
                    .map(move |seed| input as f64 + spread * (seed * (input + 3) % 5) as f64 / 4.0)
                    .collect()
            };
            (0..4).map(of).collect()
        };
        let counts: Vec<Vec<f64>> = (0..4).map(|input| vec![f64::from(input); 5]).collect();
        let of = |spread: f64, seeds: usize| {
            let counts: Vec<Vec<f64>> = counts.iter().map(|row| row[..seeds].to_vec()).collect();
            rank_correlation_of_means(&rows(spread, seeds), &counts).unwrap()
        };
        // The means of the inputs differ much more than the values of a single input, so the
        // correlation is certain.
        let sure = of(0.01, 5);
        assert_eq!((sure.low, sure.mean, sure.high), (1.0, 1.0, 1.0));
        // The means of the inputs differ less than the values of a single input.
        let unsure = of(30.0, 5);
        assert!(-1.0 <= unsure.low && unsure.low < 0.0 && unsure.high <= 1.0, "{unsure:?}");
        assert!(unsure.low <= unsure.mean && unsure.mean <= unsure.high);
        assert_eq!(unsure, of(30.0, 5), "the same every time");
        // Two seeds give a wider interval than five.
        assert!(of(1.5, 2).low < of(1.5, 5).low, "{:?} {:?}", of(1.5, 2), of(1.5, 5));
        // One seed gives no interval.
        let one = of(30.0, 1);
        assert_eq!((one.low, one.high), (one.mean, one.mean));
        assert_eq!(rank_correlation_of_means(&counts, &[vec![1.0], vec![1.0], vec![1.0], vec![1.0]]), None);
    }

    #[test]
    fn means_are_arithmetic_and_geometric() {
        assert_eq!(mean(&[1.0, 4.0]), Some(2.5));
        assert!((geometric_mean(&[1.0, 4.0]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
    }
}
