//! Random numbers for the generators. All operations round in the same way on every machine.

use kernel::rng::Rng;

/// 2 to the power of `x`, with a precision of eleven digits. It does not call the function of the
/// system's library, which rounds differently on different machines.
pub(super) fn exp2(x: f64) -> f64 {
    let whole = x.floor().clamp(-1022.0, 1023.0);
    // The series of e^(part ln 2). Its argument is at most ln 2, so 14 terms suffice.
    let part = (x - whole) * core::f64::consts::LN_2;
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..15 {
        term *= part / f64::from(n);
        sum += term;
    }
    sum * f64::from_bits(((whole as i64 + 1023) as u64) << 52)
}

/// A random number that is at least 0 and less than 1.
pub(super) fn unit(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A random number that is nearly normal, with mean 0 and standard deviation 1: a sum of twelve
/// draws.
pub(super) fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| unit(rng)).sum::<f64>() - 6.0
}

/// Shuffles a list with the random numbers of `rng`.
pub(super) fn shuffle<T>(list: &mut [T], rng: &mut Rng) {
    for last in (1..list.len()).rev() {
        list.swap(last, rng.below(last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_right_to_eleven_digits() {
        for x in [-1000.5, -3.25, -1.0, 0.0, 0.1, 0.5, 0.999, 1.0, 17.3, 500.75] {
            let right = f64::exp2(x);
            assert!((exp2(x) / right - 1.0).abs() < 1e-11, "{x}: {} {right}", exp2(x));
        }
        assert_eq!((exp2(3.0), exp2(-2.0)), (8.0, 0.25));
    }

    #[test]
    fn normal_draws_have_mean_0_and_deviation_1() {
        let mut rng = Rng::new(1);
        let draws: Vec<f64> = (0..20_000).map(|_| normal(&mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let square = draws.iter().map(|draw| draw * draw).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.05, "{mean} {square}");
    }

    #[test]
    fn a_shuffled_list_has_the_same_members_in_another_order() {
        let mut list: Vec<u32> = (0..100).collect();
        shuffle(&mut list, &mut Rng::new(2));
        assert!(!list.is_sorted());
        list.sort_unstable();
        assert!(list.into_iter().eq(0..100));
    }
}
