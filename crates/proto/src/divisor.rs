//! Division by a number that stays the same for the whole run.

/// A number that others are divided by. Divisions are slow, and most are by a
/// power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Divisor {
    number: u32,
    /// Of a power of two.
    shift: Option<u8>,
}

impl Divisor {
    /// Divides by a number, which is not 0.
    pub(crate) fn new(number: u32) -> Self {
        let shift = number.is_power_of_two().then(|| number.trailing_zeros() as u8);
        Divisor { number, shift }
    }

    /// The number.
    #[inline]
    pub(crate) fn number(self) -> u32 {
        self.number
    }

    /// Quotient and remainder.
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
    fn it_divides() {
        for number in [1, 2, 3, 5, 8, 24, 64, 1000] {
            for dividend in [0, 1, 7, 8, 63, 64, 65, 4_000_000_007] {
                let expected = (dividend / u64::from(number), dividend % u64::from(number));
                assert_eq!(Divisor::new(number).divide(dividend), expected, "{dividend} / {number}");
            }
        }
    }
}
