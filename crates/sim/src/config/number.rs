//! Readers for the whole numbers of a machine description. They refuse a fraction, and a number
//! that is out of range; the error states the expected range.

use core::fmt;

use serde::Deserializer;
use serde::de::{Error, Unexpected, Visitor};

/// A reader that accepts a whole number from `min` to `max`.
struct WholeNumber {
    min: u64,
    max: u64,
}

impl WholeNumber {
    fn accept<E: Error>(&self, value: u64) -> Result<u64, E> {
        if (self.min..=self.max).contains(&value) {
            return Ok(value);
        }
        Err(E::invalid_value(Unexpected::Unsigned(value), self))
    }
}

impl Visitor<'_> for WholeNumber {
    type Value = u64;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a whole number from {} to {}", self.min, self.max)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<u64, E> {
        match u64::try_from(value) {
            Ok(value) => self.accept(value),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(value), &self)),
        }
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        self.accept(value)
    }
}

/// Reads a `u32` above zero.
pub(crate) fn positive_u32<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let value = from.deserialize_u64(WholeNumber { min: 1, max: u64::from(u32::MAX) })?;
    Ok(u32::try_from(value).expect("the range was checked"))
}

/// Reads a `u32` above zero, of a key that may be absent.
pub(super) fn some_positive_u32<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    positive_u32(from).map(Some)
}

/// Reads a `u32`. Zero is allowed.
pub(crate) fn whole_u32<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let value = from.deserialize_u64(WholeNumber { min: 0, max: u64::from(u32::MAX) })?;
    Ok(u32::try_from(value).expect("the range was checked"))
}

/// Reads a `u64`. Zero is allowed. The largest allowed value is TOML's largest integer.
pub(super) fn whole_u64<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    from.deserialize_u64(WholeNumber { min: 0, max: i64::MAX as u64 })
}

/// Reads a `u64` above zero. The largest allowed value is TOML's largest integer.
pub(super) fn positive_u64<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    from.deserialize_u64(WholeNumber { min: 1, max: i64::MAX as u64 })
}

/// Reads a `u64` above zero, of a key that may be absent.
pub(super) fn some_positive_u64<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    positive_u64(from).map(Some)
}

/// Whether a number is zero, which is its default value. The text of a machine description leaves
/// such a number out.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_zero(number: &u32) -> bool {
    *number == 0
}
