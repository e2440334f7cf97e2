//! Random inputs of workloads, and the copy of inputs to the machine.

use kernel::rng::Rng;
use kernel::{Array, Host, Word};

/// `count` random words below `end`.
#[must_use]
pub fn words_below(seed: u64, count: u64, end: u64) -> Vec<u32> {
    let mut rng = Rng::new(seed);
    (0..count).map(|_| rng.below(end) as u32).collect()
}

/// Random numbers between -1 and 1. They are multiples of 2^-20, so the sum of any two of them is
/// exact.
#[must_use]
pub fn floats(seed: u64, count: u64) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    (0..count).map(|_| (rng.below(1 << 21) as f32 - (1 << 20) as f32) / (1 << 20) as f32).collect()
}

/// A hash of `x`. Different numbers have different hashes.
#[inline]
#[must_use]
pub const fn mix(x: u32) -> u32 {
    let x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    let x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

/// Writes `value(index)` to each element of an array. The host computes and copies the values in
/// chunks, so that it never holds all values of a large array.
pub async fn fill<T: Word>(host: &Host, array: Array<T>, value: impl Fn(u64) -> T) {
    const CHUNK_ELEMENTS: u64 = 1 << 18;
    let mut first = 0;
    while first < array.len() {
        let end = array.len().min(first + CHUNK_ELEMENTS);
        let chunk: Vec<T> = (first..end).map(&value).collect();
        host.write(array.slice(first..end), &chunk).await;
        first = end;
    }
}
