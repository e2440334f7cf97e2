//! Compares measured numbers with published numbers and finds the status of claims, by the rules of
//! `claims/README.md`.

use super::claims::{Claim, Kind, Unit};
use super::expr::Relation;
use crate::results::{Interval, Status};

/// A change counts as no change if the absolute value of its effect is smaller than this number.
/// The function `effect` defines the effect.
const NO_SIGN_BELOW: f64 = 0.005;
/// A measured change agrees with the published change if their effects differ by at most this
/// fraction of the published effect. The function `effect` defines the effect.
const SHARE: f64 = 0.25;
/// If the effects of a measured and a published change differ by at most this absolute amount, the
/// changes agree even if [`SHARE`] is exceeded. The function `effect` defines the effect.
const CLOSE: f64 = 0.02;
/// The relative tolerance of the comparisons `~` (alike), `>=` and `<=` in a claim about an order.
const ALIKE: f64 = 0.02;

/// The effect of a change: the size of the change on a scale where zero means no change. For a
/// ratio or a count, the effect is the logarithm of the number. For a fraction, the effect is the
/// number itself.
fn effect(unit: Unit, figure: f64) -> f64 {
    match unit {
        Unit::Ratio | Unit::Count => figure.ln(),
        Unit::Fraction => figure,
    }
}

fn sign(effect: f64) -> i32 {
    if effect.is_nan() || effect.abs() < NO_SIGN_BELOW { 0 } else { effect.signum() as i32 }
}

/// Finds the status of a claim from a mean over seeds with its confidence interval. The claim must
/// not be of the kind `order`.
pub(crate) fn mean_figure(claim: &Claim, found: Interval) -> Status {
    let status = figure(claim, found.mean);
    if found.low.is_nan() || found.high.is_nan() {
        return status;
    }
    // Values that count as reproduced lie around the published value. Values that count as
    // contradicted lie beyond them, on one side or both. So three values of the interval suffice to
    // find both kinds: its two ends, and the value nearest to the published one.
    let nearest = match (claim.value, claim.low, claim.high) {
        (Some(value), ..) => value.clamp(found.low, found.high),
        (None, Some(low), Some(high)) => {
            let inner = found.mean.clamp(low.min(high), high.max(low));
            inner.clamp(found.low, found.high)
        }
        _ => return status,
    };
    let seen = [found.low, nearest, found.high].map(|value| figure(claim, value));
    both_ways(status, &seen)
}

/// The distance of a measured number from the published number or range. Zero if the claim has
/// neither, or must hold exactly.
pub(crate) fn distance(claim: &Claim, measured: f64) -> f64 {
    match (claim.kind, claim.value, claim.low, claim.high) {
        (Kind::Exact, ..) => 0.0,
        (_, Some(value), ..) => (measured - value).abs(),
        (_, None, Some(low), Some(high)) => (low - measured).max(measured - high).max(0.0),
        _ => 0.0,
    }
}

/// Returns `Inconclusive` if `seen` contains both `Reproduced` and `Contradicted`, and `status`
/// otherwise.
fn both_ways(status: Status, seen: &[Status]) -> Status {
    match seen.contains(&Status::Reproduced) && seen.contains(&Status::Contradicted) {
        true => Status::Inconclusive,
        false => status,
    }
}

/// Finds the status of the claim that a correlation is positive. The status depends on the mean of
/// the correlation and on both ends of its confidence interval.
pub(crate) fn positive(found: Interval) -> Status {
    let status = |value: f64| match sign(value) {
        1 => Status::Reproduced,
        _ => Status::Contradicted,
    };
    both_ways(status(found.mean), &[status(found.low), status(found.high)])
}

/// Finds the status of a claim from one measured number. The claim must not be of the kind `order`.
pub(crate) fn figure(claim: &Claim, measured: f64) -> Status {
    let holds = |holds: bool| if holds { Status::Reproduced } else { Status::Contradicted };
    // The nearest number of a published range. It equals a measured value inside of the range.
    let published = match (claim.value, claim.low, claim.high) {
        (Some(value), _, _) => value,
        (None, Some(low), Some(high)) => measured.clamp(low.min(high), high.max(low)),
        _ => return Status::NotRun,
    };
    match claim.kind {
        Kind::Exact => holds(measured == published),
        Kind::AtLeast => holds(measured >= published),
        Kind::AtMost => holds(measured <= published),
        Kind::Number if claim.value.is_some() => number(claim.unit, published, measured),
        Kind::Number if measured == published => Status::Reproduced,
        Kind::Number => outside(claim.unit, published, measured),
        Kind::Order => Status::NotRun,
    }
}

fn number(unit: Unit, published: f64, measured: f64) -> Status {
    let (published, measured) = (effect(unit, published), effect(unit, measured));
    // If the paper claims that nothing changes, the signs are not compared.
    let says_none = published.abs() < NO_SIGN_BELOW;
    if !says_none && sign(measured) != published.signum() as i32 {
        return Status::Contradicted;
    }
    match (published - measured).abs() <= (SHARE * published.abs()).max(CLOSE) {
        true => Status::Reproduced,
        false if says_none => Status::Contradicted,
        false => Status::Direction,
    }
}

/// Finds the status of a measured value outside of a published range. `end` is the nearest end of
/// the range. A range has no tolerance, so the value never counts as reproduced.
fn outside(unit: Unit, end: f64, measured: f64) -> Status {
    let (end, measured) = (sign(effect(unit, end)), sign(effect(unit, measured)));
    if end != 0 && measured == end { Status::Direction } else { Status::Contradicted }
}

/// The smallest and the largest count that agree with the published count of a claim. Counts are
/// compared by their logarithms, so the range is wide. `None` if the claim is not about a count
/// with a published number.
pub(crate) fn close_counts(claim: &Claim) -> Option<[f64; 2]> {
    let published = claim.value.filter(|_| (claim.kind, claim.unit) == (Kind::Number, Unit::Count))?;
    let effect = effect(Unit::Count, published);
    let room = (SHARE * effect.abs()).max(CLOSE);
    Some([(effect - room).exp().ceil(), (effect + room).exp().floor()])
}

/// Finds the status of a comparison of two means. `difference` is the left value minus the right
/// value of the same seed: the mean over the seeds, with its confidence interval. The status is
/// `Reproduced` if the comparison holds for all differences in the interval, and `Contradicted` if
/// it holds for none. `size` is the larger of the absolute values of the two means. Two limits are
/// shares of `size`: the tolerance of `~`, `>=` and `<=`, and the smallest difference that counts
/// for `<` and `>`.
pub(crate) fn compare(difference: Interval, relation: Relation, size: f64) -> Status {
    let (allowed, least) = (ALIKE * size, NO_SIGN_BELOW * size);
    let Interval { low, high, .. } = difference;
    let (all, none) = match relation {
        Relation::Less => (high < -least, low >= -least),
        Relation::Greater => (low > least, high <= least),
        Relation::AtLeast => (low >= -allowed, high < -allowed),
        Relation::AtMost => (high <= allowed, low > allowed),
        Relation::Alike => (low >= -allowed && high <= allowed, low > allowed || high < -allowed),
    };
    match (all, none) {
        (true, _) => Status::Reproduced,
        (false, true) => Status::Contradicted,
        (false, false) => Status::Inconclusive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(kind: Kind, unit: Unit, value: f64) -> Claim {
        Claim {
            id: "x".to_owned(),
            place: String::new(),
            says: String::new(),
            metric: String::new(),
            kind,
            unit,
            value: Some(value),
            low: None,
            high: None,
        }
    }

    #[test]
    fn a_number_is_scored_by_the_size_of_its_effect() {
        let ratio =
            |published: f64, measured: f64| figure(&claim(Kind::Number, Unit::Ratio, published), measured);
        // For the published ratio 1.29, the tolerance of the effect is a quarter of ln 1.29, which
        // is 0.0637.
        assert_eq!(ratio(1.29, 1.29), Status::Reproduced);
        assert_eq!(ratio(1.29, 1.22), Status::Reproduced);
        assert_eq!(ratio(1.29, 1.20), Status::Direction);
        assert_eq!(ratio(1.29, 1.004), Status::Contradicted, "no sign");
        assert_eq!(ratio(1.29, 0.9), Status::Contradicted);
        assert_eq!(ratio(1.29, f64::NAN), Status::Contradicted);
        // For a small effect, the tolerance is 0.02, which is more than a quarter of the effect.
        assert_eq!(ratio(0.96, 0.98), Status::Direction);
        assert_eq!(ratio(0.96, 0.979), Status::Reproduced);
        assert_eq!(ratio(0.96, 1.0), Status::Contradicted);
        assert_eq!(ratio(1.0, 1.0), Status::Reproduced);
        assert_eq!(ratio(1.0, 1.1), Status::Contradicted);
        let share = |published, measured| figure(&claim(Kind::Number, Unit::Fraction, published), measured);
        assert_eq!(share(0.4, 0.31), Status::Reproduced);
        assert_eq!(share(0.4, 0.2), Status::Direction);
        assert_eq!(share(-0.4, 0.4), Status::Contradicted);
    }

    #[test]
    fn counts_within_the_bounds_are_reproduced() {
        let bytes = claim(Kind::Number, Unit::Count, 24_576.0);
        let [low, high] = close_counts(&bytes).unwrap();
        // The tolerance is a factor of the fourth root of 24,576, which is 12.5206.
        assert_eq!([low, high], [1963.0, 307_708.0]);
        assert_eq!([low, high].map(|count| figure(&bytes, count)), [Status::Reproduced; 2]);
        assert_eq!([low - 1.0, high + 1.0].map(|count| figure(&bytes, count)), [Status::Direction; 2]);
        assert_eq!(close_counts(&claim(Kind::Number, Unit::Ratio, 2.0)), None);
        assert_eq!(close_counts(&claim(Kind::Exact, Unit::Count, 2.0)), None);
    }

    #[test]
    fn bounds_ranges_and_exact_figures_hold_or_do_not() {
        let of = |kind, measured| figure(&claim(kind, Unit::Ratio, 40.0), measured);
        assert_eq!(of(Kind::AtLeast, 40.0), Status::Reproduced);
        assert_eq!(of(Kind::AtLeast, 39.9), Status::Contradicted);
        assert_eq!(of(Kind::AtMost, 40.1), Status::Contradicted);
        assert_eq!(of(Kind::Exact, 40.0), Status::Reproduced);
        assert_eq!(of(Kind::Exact, 40.000_001), Status::Contradicted);
        let range =
            Claim { value: None, low: Some(1.2), high: Some(1.4), ..claim(Kind::Number, Unit::Ratio, 0.0) };
        assert_eq!(figure(&range, 1.3), Status::Reproduced);
        assert_eq!(figure(&range, 2.0), Status::Direction);
        assert_eq!(figure(&range, 0.9), Status::Contradicted);
    }

    #[test]
    fn a_range_is_reproduced_inside_only() {
        let range = |unit, low, high| Claim {
            value: None,
            low: Some(low),
            high: Some(high),
            ..claim(Kind::Number, unit, 0.0)
        };
        // A published number 102 would agree with 143, because a quarter of its logarithm is 1.16.
        let queue = range(Unit::Count, 0.5, 102.0);
        assert_eq!([0.5, 1.0, 102.0].map(|count| figure(&queue, count)), [Status::Reproduced; 3]);
        assert_eq!([0.49, 102.001, 143.0].map(|count| figure(&queue, count)), [Status::Direction; 3]);
        let gain = range(Unit::Ratio, 1.03, 1.1);
        assert_eq!([1.02, 1.029, 1.101].map(|ratio| figure(&gain, ratio)), [Status::Direction; 3]);
        // No change has no sign.
        assert_eq!([0.9, 1.0, 1.004].map(|ratio| figure(&gain, ratio)), [Status::Contradicted; 3]);
        assert_eq!(figure(&gain, f64::NAN), Status::Contradicted);
        // The end 0 says that nothing changes, so every value beyond it has another sign.
        let share = range(Unit::Fraction, 0.0, 0.2);
        assert_eq!([0.0, 0.2].map(|value| figure(&share, value)), [Status::Reproduced; 2]);
        assert_eq!([-0.1, 0.3].map(|value| figure(&share, value)), [Status::Contradicted, Status::Direction]);
    }

    #[test]
    fn an_order_needs_differences_of_one_sign_and_likeness_two_percent() {
        use Status::{Contradicted, Inconclusive, Reproduced};
        let of = |mean: f64, half: f64, relation| {
            compare(Interval { mean, low: mean - half, high: mean + half }, relation, 1.0)
        };
        assert_eq!(of(-0.3, 0.2, Relation::Less), Reproduced);
        assert_eq!(of(-0.3, 0.4, Relation::Less), Inconclusive);
        assert_eq!(of(0.3, 0.2, Relation::Less), Contradicted);
        assert_eq!(of(0.0, 0.0, Relation::Less), Contradicted);
        // A difference of less than half a percent does not count.
        assert_eq!(of(-0.004, 0.0, Relation::Less), Contradicted);
        assert_eq!(of(-0.006, 0.0, Relation::Less), Reproduced);
        assert_eq!(of(0.004, 0.0, Relation::Greater), Contradicted);
        assert_eq!(of(0.3, 0.2, Relation::Greater), Reproduced);
        assert_eq!(of(-0.01, 0.0, Relation::AtLeast), Reproduced);
        assert_eq!(of(-0.03, 0.0, Relation::AtLeast), Contradicted);
        assert_eq!(of(-0.01, 0.05, Relation::AtLeast), Inconclusive);
        assert_eq!(of(0.01, 0.0, Relation::AtMost), Reproduced);
        assert_eq!(of(0.01, 0.5, Relation::AtMost), Inconclusive);
        assert_eq!(of(0.03, 0.0, Relation::AtMost), Contradicted);
        assert_eq!(of(-0.01, 0.0, Relation::Alike), Reproduced);
        assert_eq!(of(0.03, 0.0, Relation::Alike), Contradicted);
        assert_eq!(of(0.0, 0.03, Relation::Alike), Inconclusive);
    }

    #[test]
    fn an_interval_with_both_outcomes_is_inconclusive() {
        let at = |low: f64, mean: f64, high: f64| Interval { mean, low, high };
        let number = claim(Kind::Number, Unit::Ratio, 1.29);
        assert_eq!(mean_figure(&number, at(1.25, 1.27, 1.29)), Status::Reproduced);
        assert_eq!(mean_figure(&number, at(0.9, 1.27, 1.6)), Status::Inconclusive);
        assert_eq!(mean_figure(&number, at(0.9, 1.1, 1.26)), Status::Inconclusive);
        // Three means: one near the published value, a smaller one with the same sign, and one with
        // the opposite sign.
        assert_eq!(mean_figure(&number, at(1.1, 1.3, 1.6)), Status::Reproduced);
        assert_eq!(mean_figure(&number, at(0.9, 1.05, 1.1)), Status::Direction);
        assert_eq!(mean_figure(&number, at(0.8, 0.9, 1.0)), Status::Contradicted);
        let bound = claim(Kind::AtLeast, Unit::Ratio, 1.2);
        assert_eq!(mean_figure(&bound, at(1.1, 1.25, 1.4)), Status::Inconclusive);
        assert_eq!(mean_figure(&bound, at(1.2, 1.25, 1.4)), Status::Reproduced);
        let none = claim(Kind::Number, Unit::Ratio, 1.0);
        assert_eq!(mean_figure(&none, at(0.9, 1.0, 1.1)), Status::Inconclusive);
        let range =
            Claim { value: None, low: Some(1.03), high: Some(1.1), ..claim(Kind::Number, Unit::Ratio, 0.0) };
        assert_eq!(mean_figure(&range, at(1.0, 1.01, 1.02)), Status::Direction);
        assert_eq!(mean_figure(&range, at(1.0, 1.01, 1.03)), Status::Inconclusive);
        assert_eq!(mean_figure(&range, at(0.98, 0.99, 1.0)), Status::Contradicted);
        assert_eq!(mean_figure(&range, at(1.0, 1.2, 1.4)), Status::Inconclusive);
        assert_eq!(mean_figure(&range, at(1.04, 1.05, 1.06)), Status::Reproduced);
    }

    #[test]
    fn a_correlation_that_may_have_either_sign_is_inconclusive() {
        let at = |low: f64, mean: f64, high: f64| Interval { mean, low, high };
        assert_eq!(positive(at(0.4, 0.8, 1.0)), Status::Reproduced);
        assert_eq!(positive(at(-0.4, 0.8, 1.0)), Status::Inconclusive);
        assert_eq!(positive(at(-1.0, -0.8, 0.2)), Status::Inconclusive);
        assert_eq!(positive(at(-1.0, -0.8, -0.2)), Status::Contradicted);
        assert_eq!(positive(at(0.0, 0.0, 0.0)), Status::Contradicted, "no sign");
    }
}
