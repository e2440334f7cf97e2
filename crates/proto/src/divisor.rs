//! Division by a number that does not change in a run.

/// A divisor that does not change. Divisions are slow and most divisors are powers of two, so a
/// division by a power of two is a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Divisor {
    number: u32,
    /// The logarithm of the divisor to base 2, or `None` if the divisor is no power of two.
    shift: Option<u8>,
}

impl Divisor {
    /// The divisor with this value. `number` must not be 0.
    pub(crate) fn new(number: u32) -> Self {
        let shift = number.is_power_of_two().then(|| number.trailing_zeros() as u8);
        Divisor { number, shift }
    }

    /// The value of the divisor.
    #[inline]
    pub(crate) fn number(self) -> u32 {
        self.number
    }

    /// The quotient and the remainder of `dividend` by this divisor.
    #[inline]
    pub(crate) fn divide(self, dividend: u64) -> (u64, u64) {
        let number = u64::from(self.number);
        match self.shift {
            Some(shift) => (dividend >> shift, dividend & (number - 1)),
            None => (dividend / number, dividend % number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_and_remainders_are_those_of_division() {
        for number in [1, 2, 3, 5, 8, 24, 64, 1000] {
            for dividend in [0, 1, 7, 8, 63, 64, 65, 4_000_000_007] {
                let expected = (dividend / u64::from(number), dividend % u64::from(number));
                assert_eq!(Divisor::new(number).divide(dividend), expected, "{dividend} / {number}");
            }
        }
    }
}
