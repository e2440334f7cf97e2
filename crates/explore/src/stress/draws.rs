//! Pseudorandom numbers from a seed.

/// A sequence of pseudorandom numbers (SplitMix64).
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws(u64);

impl Draws {
    pub(super) fn new(seed: u64) -> Draws {
        Draws(seed)
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draws a number below `count`, which must not be 0.
    #[inline]
    pub(super) fn below(&mut self, count: usize) -> usize {
        (((self.next() >> 32) * count as u64) >> 32) as usize
    }

    /// Draws true with probability `of_256` / 256.
    #[inline]
    pub(super) fn chance(&mut self, of_256: u64) -> bool {
        self.next() >> 56 < of_256
    }
}
