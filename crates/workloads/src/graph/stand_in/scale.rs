//! The scale of a generated graph: its size relative to the original.

use core::fmt;
use core::str::FromStr;

/// A generated graph's size as a fraction of the size of the original, from 1/1024 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    numerator: u32,
    denominator: u32,
}

/// The error of a text that is not a valid scale.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found the scale `{found}`, expected a fraction from 1/1024 to 1, as `1/16`")]
pub struct BadScale {
    /// The text that was given as a scale.
    pub found: String,
}

impl Scale {
    /// The scale of a stand-in as large as the original graph.
    pub const FULL: Scale = Scale { numerator: 1, denominator: 1 };

    /// The denominator of the smallest scale.
    pub const DENOMINATOR_MAX: u32 = 1024;

    /// The scale `numerator / denominator`.
    ///
    /// # Errors
    /// If the scale is below 1/1024 or above 1.
    pub fn new(numerator: u32, denominator: u32) -> Result<Scale, BadScale> {
        let least = u64::from(denominator).div_ceil(u64::from(Scale::DENOMINATOR_MAX));
        if numerator == 0 || denominator == 0 || numerator > denominator || u64::from(numerator) < least {
            return Err(BadScale { found: format!("{numerator}/{denominator}") });
        }
        Ok(Scale { numerator, denominator })
    }

    /// This fraction of `count`, rounded to a whole number.
    #[must_use]
    pub fn of(self, count: u64) -> u64 {
        let (numerator, denominator) = (u128::from(self.numerator), u128::from(self.denominator));
        ((u128::from(count) * numerator + denominator / 2) / denominator) as u64
    }
}

impl FromStr for Scale {
    type Err = BadScale;

    fn from_str(text: &str) -> Result<Scale, BadScale> {
        let bad = || BadScale {
            found: text.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect(),
        };
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| bad());
        let (numerator, denominator) = match text.split_once('/') {
            Some((numerator, denominator)) => (number(numerator)?, number(denominator)?),
            None => (number(text)?, 1),
        };
        Scale::new(numerator, denominator).map_err(|_| bad())
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_is_parsed_and_other_text_is_named() {
        for (text, of_1000) in [("1", 1000), ("1/16", 63), (" 3 / 4 ", 750), ("1/1024", 1)] {
            assert_eq!(text.parse::<Scale>().map(|scale| scale.of(1000)), Ok(of_1000), "{text}");
        }
        for text in ["0", "2", "1/0", "0/5", "5/4", "1/1025", "0.5", "", "/", "1/2/3", "-1/2"] {
            let error = text.parse::<Scale>().expect_err(text).to_string();
            let want = format!("found the scale `{text}`, expected a fraction from 1/1024 to 1, as `1/16`");
            assert_eq!(error, want);
        }
        assert_eq!("1/16".parse::<Scale>().map(|scale| scale.to_string()), Ok("1/16".to_owned()));
    }
}
